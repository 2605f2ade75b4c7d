/*
 * reproducer.h - a program that the model test has written, as a trace.
 */
#ifndef SIM_REPRODUCER_H
#define SIM_REPRODUCER_H

#include "lines.h"

/*
 * Read one, from its first line on.  `trace` is empty but for its unit.
 *
 * Returns 0, or as trace_read() does, with the complaint written; what was read
 * until then is in `trace`.
 */
int reproducer_read(struct trace *trace, struct lines *lines);

#endif
