/*
 * reproduce.h - write a failed trial as a C program that fails by assertion.
 */
#ifndef MODEL_REPRODUCE_H
#define MODEL_REPRODUCE_H

#include "trial.h"

/*
 * Write a program that does what was done and asserts what must come of it.
 * It needs nothing but the engine's public header.  `title` is its first line
 * of comment.
 */
void reproduce(FILE *out, const struct trial *trial,
               const struct engine *engine, const char *title);

#endif
