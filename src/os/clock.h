/*
 * os/clock.h - opening a clock of the system.
 */
#ifndef TKW_OS_CLOCK_H
#define TKW_OS_CLOCK_H

#include <tickwheel/base.h>
#include <tickwheel/clock.h>

/*
 * Fill in a clock of the system.  Returns 0 or a negative errno.
 * tkw__clock_close() frees its memory and descriptors.
 */
int tkw__clock_open(struct tkw_clock *clock, enum tkw_clock_kind kind,
                    const struct tkw_allocator *allocator);
void tkw__clock_close(struct tkw_clock *clock,
                      const struct tkw_allocator *allocator);

#endif
