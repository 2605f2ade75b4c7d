/*
 * ledger.c - the way down, by the placement rules K2, K4 and K7.
 *
 * A level takes a deadline whose slot is less than `size` slots ahead.  If a
 * level does, so does every level above it: the lowest can be searched for.
 */
#include "ledger.h"

#include <assert.h>
#include <stdlib.h>

void ladder_init(struct ladder *ladder, const struct tkw_geometry *geometry)
{
    static const uint32_t default_sizes[TKW_SIZES_MAX] = {128, 512, 64};
    const uint32_t *sizes =
        geometry->sizes[0] != 0 ? geometry->sizes : default_sizes;
    tkw_tick tick = 1;
    uint32_t size = 0;

    *ladder = (struct ladder){.is_rounds = geometry->beyond == TKW_ROUNDS};
    for (size_t i = 0; ladder->level_count < TKW_LEVELS_MAX; i++) {
        if (i < TKW_SIZES_MAX && sizes[i] != 0)
            size = sizes[i];
        else if (ladder->is_rounds)
            return;
        else
            i = TKW_SIZES_MAX; /* the last size goes on for ever */
        ladder->ticks[ladder->level_count] = tick;
        ladder->sizes[ladder->level_count] = size;
        ladder->level_count++;
        if (tick > UINT64_MAX / size)
            return;
        tick *= size;
    }
}

tkw_tick ladder_turn(const struct ladder *ladder)
{
    tkw_tick tick = ladder->ticks[ladder->level_count - 1];
    uint32_t size = ladder->sizes[ladder->level_count - 1];

    return tick > UINT64_MAX / size ? UINT64_MAX : tick * size;
}

static bool takes(const struct ladder *ladder, uint32_t level, tkw_tick now,
                  tkw_tick deadline)
{
    tkw_tick tick = ladder->ticks[level];

    return deadline / tick - now / tick < ladder->sizes[level];
}

/* The level, counted from 0, where a deadline yet to come is filed. */
static uint32_t find_level(const struct ladder *ladder, tkw_tick now,
                           tkw_tick deadline)
{
    uint32_t low = 0, high = ladder->level_count - 1;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (takes(ladder, middle, now, deadline))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* How often a timer filed so has to fall by `now`. */
static uint64_t count_falls(const struct ladder *ladder, struct filing filing,
                            tkw_tick now)
{
    uint32_t level = find_level(ladder, filing.at, filing.deadline);
    uint64_t falls = 0;

    while (level > 0) {
        tkw_tick tick = ladder->ticks[level];
        tkw_tick begin = filing.deadline / tick * tick;

        if (begin > now || begin == filing.deadline)
            break;
        level--;
        while (level > 0 && takes(ladder, level - 1, begin, filing.deadline))
            level--;
        falls++;
    }
    return falls;
}

/* How often the hand passes over a timer filed so by `now`. */
static uint64_t count_passes(const struct ladder *ladder, struct filing filing,
                             tkw_tick now)
{
    tkw_tick tick = ladder->ticks[ladder->level_count - 1];
    uint64_t size = ladder->sizes[ladder->level_count - 1];
    uint64_t slot = filing.deadline / tick;
    uint64_t turns = (slot - filing.at / tick) / size;

    if (!ladder->is_rounds || turns == 0)
        return 0;
    if ((slot - filing.at / tick) % size == 0)
        turns--; /* the first one would be where it was filed from */

    uint64_t hand = now / tick;
    uint64_t to_come = hand < slot ? (slot - hand - 1) / size : 0;
    return turns > to_come ? turns - to_come : 0;
}

/* After an unfinished jump across all of time the bound is no bound. */
static void allow(uint64_t *sum, uint64_t more)
{
    *sum = more < UINT64_MAX - *sum ? *sum + more : UINT64_MAX;
}

bool ledger_open(struct ledger *ledger, const struct tkw_geometry *geometry,
                 size_t timer_count)
{
    *ledger = (struct ledger){0};
    ladder_init(&ledger->ladder, geometry);
    ledger->filings = calloc(timer_count, sizeof ledger->filings[0]);
    return ledger->filings != NULL;
}

void ledger_close(struct ledger *ledger)
{
    free(ledger->filings);
    ledger->filings = NULL;
}

void ledger_file(struct ledger *ledger, uint64_t id, struct filing filing)
{
    ledger->filings[id] = filing;
}

void ledger_postpone(struct ledger *ledger, uint64_t id, tkw_tick now,
                     tkw_tick deadline)
{
    struct filing *filing = &ledger->filings[id];

    /* Whether it was filed anew cannot be seen: allow for it. */
    if (deadline > now && deadline != TKW_NEVER)
        ledger->falls_max += find_level(&ledger->ladder, now, deadline);
    filing->postpones++;
    ledger->postpones++;
}

void ledger_end(struct ledger *ledger, uint64_t id, tkw_tick now)
{
    const struct ladder *ladder = &ledger->ladder;
    struct filing filing = ledger->filings[id];

    if (filing.deadline > filing.at && filing.deadline != TKW_NEVER) {
        if (filing.is_late || filing.postpones > 0)
            ledger->falls_max += find_level(ladder, filing.at, filing.deadline);
        else
            ledger->falls_max += count_falls(ladder, filing, now);
        allow(&ledger->passes_max, count_passes(ladder, filing, now));
    }
    if (filing.postpones > 0)
        allow(&ledger->passes_max,
              (now - filing.at) / ladder_turn(ladder) + filing.postpones + 1);
}
