/*
 * pauses.h - a child that stops this program for a while, again and again.
 */
#ifndef SOAK_PAUSES_H
#define SOAK_PAUSES_H

#include <stdint.h>

/* Before any thread is started. */
void pauses_start(uint64_t seed);

/* How many there were so far, and how long they took together. */
uint64_t pauses_count(void);
uint64_t pauses_ns(void);

/* Returns when there will be no more. */
void pauses_stop(void);

#endif
