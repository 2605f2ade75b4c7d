/*
 * census.c - how many timers each slot holds, for drawing.
 */
#define _POSIX_C_SOURCE 200809L

#include "census.h"

#include "stopwatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Time between two counts, in multiples of what one takes. */
static const double pause_factor = 4;

int census_open(struct census *census, const struct tkw_wheel *wheel)
{
    *census = (struct census){0};
    census->slots =
        calloc(tkw_wheel_dial(wheel)->slot_count, sizeof *census->slots);
    return census->slots != NULL ? 0 : -ENOMEM;
}

void census_close(struct census *census)
{
    free(census->slots);
    *census = (struct census){0};
}

static void count(struct census *census, const struct tkw_wheel *wheel)
{
    const struct tkw_dial *dial = tkw_wheel_dial(wheel);
    struct tkw_wheel_cursor walk = {0};

    memset(census->slots, 0, dial->slot_count * sizeof *census->slots);
    memset(census->levels, 0, sizeof census->levels);
    while (tkw_wheel_walk(wheel, &walk) != NULL) {
        if (walk.level == 0)
            continue;
        census->slots[dial->levels[walk.level - 1].first + walk.slot]++;
        census->levels[walk.level - 1]++;
        if (walk.level > census->highest)
            census->highest = walk.level;
    }
}

void census_update(struct census *census, const struct tkw_wheel *wheel)
{
    struct tkw_wheel_stats stats = tkw_wheel_read_stats(wheel);
    double began = stopwatch_ns();

    /* A postponed timer keeps its slot until it is refiled: nothing moves
       that the counters do not tell. */
    if (memcmp(&stats, &census->stats, sizeof stats) == 0) {
        census->taken_ns = began;
        return;
    }
    if (began < census->taken_ns + census->cost_ns * pause_factor)
        return;
    count(census, wheel);
    census->stats = stats;
    census->taken_ns = stopwatch_ns();
    census->cost_ns = census->taken_ns - began;
}
