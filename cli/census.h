/*
 * census.h - how many timers each slot holds, for drawing.
 *
 * Counting visits every timer.  So that it never takes more than a fifth of
 * the time, the more there are the rarer it is done; and not at all while no
 * timer has moved.
 */
#ifndef CENSUS_H
#define CENSUS_H

#include <tickwheel/wheel.h>

/* All fields are read-only. */
struct census {
    uint32_t *slots; /* timers by slot, numbered as in struct tkw_level */
    uint64_t levels[TKW_LEVELS_MAX]; /* timers by level */
    uint32_t highest;                /* the highest level that ever held one */
    double taken_ns; /* when it was last true, on the real clock */
    double cost_ns;
    struct tkw_wheel_stats stats; /* what had happened by then */
};

/* Returns 0 or -ENOMEM, with nothing to close. */
int census_open(struct census *census, const struct tkw_wheel *wheel);
void census_close(struct census *census);

/* Count anew if something moved and it has been long enough. */
void census_update(struct census *census, const struct tkw_wheel *wheel);

#endif
