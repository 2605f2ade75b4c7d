/*
 * dial/inline.h - the dial's hot paths, inlined in the wheel and the pool.
 */
#ifndef TKW_DIAL_INLINE_H
#define TKW_DIAL_INLINE_H

#include <tickwheel/dial.h>

#include "base/assertion.h"
#include "base/bits.h"

/* Return the number of the level's slot that contains `tick`, counted from tick
 * 0. */
static inline uint64_t level_number(const struct tkw_level *level,
                                    tkw_tick tick)
{
    if (level->tick_shift != TKW_NO_SHIFT)
        return tick >> level->tick_shift;
    return tick / level->tick;
}

/* Return the slot of the level that has `number`. */
static inline uint32_t level_slot(const struct tkw_level *level,
                                  uint64_t number)
{
    if (level->size_mask != 0)
        return (uint32_t)number & level->size_mask;
    return (uint32_t)(number % level->size);
}

/*
 * Return the tick at which the next occupied slot begins, in a level that has
 * one.  The current slot can only hold timers of the next turn.
 */
static inline tkw_tick level_next(const struct tkw_level *level)
{
    uint32_t here = level_slot(level, level->hand);
    uint32_t ahead = bits_ahead(level->occupancy, level->size, here);
    return (level->hand + ahead) * level->tick;
}

/*
 * Return the level for `deadline`, which is after `now`: the lowest whose
 * current slot is less than `size` slots before the deadline's.  The distance
 * in slots is the distance in ticks over the slot's length, rounded down or up.
 * `lowest` has the first level that is not too small if rounded down, so that
 * the loop tries one or two more.  Nothing is too far for the last level.
 */
static inline const struct tkw_level *
dial_level(const struct tkw_dial *dial, tkw_tick deadline, uint64_t *number)
{
    TKW_ASSERT(deadline > dial->now);
    unsigned bits = 64 - (unsigned)__builtin_clzll(deadline - dial->now);
    const struct tkw_level *level = &dial->levels[dial->lowest[bits]];

    for (;; level++) {
        *number = level_number(level, deadline);
        if (*number - level->hand < level->size ||
            level == &dial->levels[dial->level_count - 1])
            return level;
    }
}

static inline void dial_occupy(struct tkw_dial *dial,
                               const struct tkw_level *level, uint32_t slot)
{
    bits_add(level->occupancy, level->size, slot);
    dial->busy |= UINT64_C(1) << (level - dial->levels);
}

static inline void dial_vacate(struct tkw_dial *dial,
                               const struct tkw_level *level, uint32_t slot)
{
    if (bits_remove(level->occupancy, level->size, slot))
        dial->busy &= ~(UINT64_C(1) << (level - dial->levels));
}

/* Return the tick at which the next occupied slot begins. */
static inline tkw_tick dial_next(const struct tkw_dial *dial)
{
    tkw_tick next = TKW_NEVER;
    for (uint64_t busy = dial->busy; busy != 0; busy &= busy - 1) {
        tkw_tick begin = level_next(&dial->levels[__builtin_ctzll(busy)]);
        if (begin < next)
            next = begin;
    }
    return next;
}

/* Move the hands above the lowest level.  If one does not move, none above it
 * does. */
static inline void dial_turn_upper(struct tkw_dial *dial, tkw_tick now)
{
    for (uint32_t i = 1; i < dial->level_count; i++) {
        struct tkw_level *level = &dial->levels[i];
        if (now - level->start < level->tick)
            return;
        level->hand = level_number(level, now);
        level->start = level->hand * level->tick;
    }
}

/* Move every hand to `now`.  A slot of the lowest level is a tick. */
static inline void dial_turn(struct tkw_dial *dial, tkw_tick now)
{
    TKW_ASSERT(now >= dial->now);
    TKW_ASSERT(dial->levels[0].tick == 1);
    dial->now = now;
    dial->levels[0].hand = now;
    dial->levels[0].start = now;
    dial_turn_upper(dial, now);
}

/* Return the number of levels, from the lowest on, whose current slot begins
 * now. */
static inline uint32_t dial_beginning(const struct tkw_dial *dial)
{
    uint32_t count = 0;
    while (count < dial->level_count && dial->levels[count].start == dial->now)
        count++;
    return count;
}

/* Return the level of slot `home`, slots being counted over all levels. */
static inline const struct tkw_level *dial_level_of(const struct tkw_dial *dial,
                                                    uint32_t home)
{
    TKW_ASSERT(home < dial->slot_count);
    const struct tkw_level *level = dial->levels;
    while (home - level->first >= level->size)
        level++;
    return level;
}

#endif
