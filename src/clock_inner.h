/*
 * clock_inner.h - the system's clocks, to wait on.
 */
#ifndef TKW_CLOCK_INNER_H
#define TKW_CLOCK_INNER_H

#include <tickwheel/clock.h>
#include <tickwheel/pool.h>

/* A static library shows these names to the linker: let them be ours. */
#define clock_open tkw_inner_clock_open
#define clock_close tkw_inner_clock_close

/*
 * Fill in a clock of the system.  Returns 0 or a negative errno; what was got
 * is given back by clock_close().
 */
int clock_open(struct tkw_clock *clock, enum tkw_clock_kind kind,
               const struct tkw_allocator *allocator);
void clock_close(struct tkw_clock *clock,
                 const struct tkw_allocator *allocator);

#endif
