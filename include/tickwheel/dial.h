/*
 * dial.h - where on the clock face: geometry, placement, which slot is next.
 *
 * A dial is the part every timing wheel shares.  It knows the levels, their
 * slots, the current tick and which slots are occupied; it holds no timers.
 * Level 1 has slots of one tick; a slot of level n+1 is as long as all slots
 * of level n together.  A deadline is filed in the lowest level whose window
 * reaches it, and falls to a lower level when its slot comes round:
 *
 *     sizes {20, 20, 20}, now 0, deadline 445
 *
 *     level 3, slot 1    covers 400..799    falls at 400
 *     level 2, slot 2    covers 440..459    falls at 440
 *     level 1, slot 5    covers 445         due at 445
 *
 * Most programs need from here only `tkw_tick`, `struct tkw_geometry` and the
 * rounding functions; the wheel does the rest.  `struct tkw_dial` is public
 * for those who draw, simulate or explain: it is the part of this library that
 * may change between versions.
 *
 * Time is a number that the caller passes in: nothing here reads a clock,
 * allocates, locks or calls back.
 *
 * Threads: *owner* - one thread at a time, for everything in this header that
 * does not say *any thread*.
 */
#ifndef TICKWHEEL_DIAL_H
#define TICKWHEEL_DIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tickwheel/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A point on the wheel's time line, or a distance on it. */
typedef uint64_t tkw_tick;

/* The largest tick, and the only deadline that never comes. */
#define TKW_NEVER UINT64_MAX

/* Sizes a geometry can give, and levels that reach the end of 64-bit time. */
#define TKW_SIZES_MAX 16
#define TKW_LEVELS_MAX 64

/* Slots of all levels together: more is refused. */
#define TKW_SLOTS_MAX (UINT32_C(1) << 28)

/*
 * What happens to deadlines past the last level given.
 *
 * TKW_GROW adds levels of the last size, as many as 64-bit time needs; a level
 * costs nothing but its slots until something is filed there.
 *
 * TKW_ROUNDS keeps such deadlines in the last level: the hand passes over them
 * once a turn until theirs has come.  With one level this is the hashed wheel.
 */
enum tkw_beyond {
    TKW_GROW,
    TKW_ROUNDS,
};

/*
 * The shape of a dial.  All zero means the default: sizes {128, 512, 64},
 * growing.  No sizes but TKW_ROUNDS means the default sizes, going round.
 *
 *     struct tkw_geometry kafka = {.sizes = {20}};
 *     struct tkw_geometry clock = {.sizes = {60, 60, 12}};
 *     struct tkw_geometry netty = {.sizes = {512}, .beyond = TKW_ROUNDS};
 */
struct tkw_geometry {
    uint32_t sizes[TKW_SIZES_MAX]; /* slots per level, lowest first, 2 or more
                                      each; the first 0 ends the list */
    enum tkw_beyond beyond;
};

/* A cell of the dial, as told by tkw_dial_where(). */
struct tkw_spot {
    uint32_t level;      /* 1 is the lowest; 0 means due now, in no slot */
    uint32_t slot;       /* 0 to size-1 within the level */
    tkw_tick expiration; /* the tick at which the slot begins */
    uint64_t rounds;     /* whole turns of the level until then */
};

/* One level.  All fields are read-only. */
struct tkw_level {
    tkw_tick tick;       /* length of a slot, in ticks */
    tkw_tick start;      /* where the current slot begins */
    uint64_t hand;       /* the current slot: start / tick */
    uint64_t *occupancy; /* private: a bit a slot, and summaries above */
    uint32_t size;       /* slots */
    uint32_t first;      /* number of this level's slot 0 among all slots */
    uint32_t size_mask;  /* private: size-1 where size is a power of two */
    uint8_t tick_shift;  /* private: log2(tick), or TKW_NO_SHIFT */
};

/* Private. */
#define TKW_NO_SHIFT UINT8_MAX

/* All fields are read-only. */
struct tkw_dial {
    tkw_tick now;
    uint64_t busy; /* bit i is set: level i+1 has an occupied slot */
    uint32_t level_count;
    uint32_t slot_count;
    enum tkw_beyond beyond;
    uint8_t lowest[65]; /* private: by bit length of the distance, the index of
                           the lowest level that could take it */
    struct tkw_level levels[TKW_LEVELS_MAX];
};

/*
 * Say what is wrong with a geometry, in words fit for an error message, or
 * return NULL if a dial can be made of it.  NULL stands for the default.
 *
 * Wrong are: a size of 1, a size after the 0 that ends the list, an unknown
 * `beyond`, slots that lie wholly past the end of 64-bit time, and more than
 * TKW_SLOTS_MAX slots in all.  *Any thread*.
 */
TKW_EXPORT const char *tkw_geometry_fault(const struct tkw_geometry *geometry);

/*
 * Return how many 64-bit words of occupancy a dial of this geometry needs, or
 * 0 if the geometry is wrong.  For engines: a dial to ask needs none.  *Any
 * thread*.
 */
TKW_EXPORT size_t tkw_dial_words(const struct tkw_geometry *geometry);

/*
 * Set up `dial` at the tick `start`, which may be any.  `words` is the
 * caller's memory, tkw_dial_words() of it, in use as long as the dial is; NULL
 * makes a dial that answers where() but on which nothing can be occupied.
 *
 * Returns 0, or -EINVAL if the geometry is wrong, leaving `dial` untouched.
 */
TKW_EXPORT int tkw_dial_init(struct tkw_dial *dial,
                             const struct tkw_geometry *geometry,
                             tkw_tick start, uint64_t *words);

/*
 * Tell where a deadline would be filed now, without filing anything.  Costs
 * O(levels) at worst.  (TKW_NEVER, too, has a place on the dial; a wheel keeps
 * timers armed for it aside.)
 */
TKW_EXPORT struct tkw_spot tkw_dial_where(const struct tkw_dial *dial,
                                          tkw_tick deadline);

/*
 * Tell when the next occupied slot begins: never later than the earliest
 * deadline filed.  TKW_NEVER if no slot is occupied.  O(levels).  While a tick
 * of a wheel is unfinished it says nothing of that: ask tkw_wheel_next().
 */
TKW_EXPORT tkw_tick tkw_dial_next(const struct tkw_dial *dial);

/* Tell whether a slot of a level (1 is the lowest) is occupied. */
TKW_EXPORT bool tkw_dial_is_occupied(const struct tkw_dial *dial,
                                     uint32_t level, uint32_t slot);

/*
 * Move the dial to `now`.  Only for dials that stand alone: a wheel turns its
 * own.  Time standing still is fine; back is a bug.
 */
TKW_EXPORT void tkw_dial_turn(struct tkw_dial *dial, tkw_tick now);

/* Compare the dial with what can be derived anew, and say whether it holds. */
TKW_EXPORT bool tkw_dial_check(const struct tkw_dial *dial);

/*
 * The tick `delay` after `now`; TKW_NEVER where the sum would pass it.
 *
 * For time that is counted in ticks.  A delay that begins at a reading of a
 * finer clock must be added to that reading, and the sum rounded up:
 * tkw_tick_deadline(clock + delay, unit).  To add it to the tick the reading
 * lies in would be up to a tick early.  *Any thread*.
 */
TKW_EXPORT tkw_tick tkw_tick_after(tkw_tick now, tkw_tick delay);

/*
 * Convert a time in any unit to ticks of `unit` of them.  The clock's reading
 * is rounded down (tick 6 has begun at 123 if ticks are 20 long), a deadline
 * is rounded up: that way nothing fires before its time.  The largest time of
 * all is TKW_NEVER as a deadline, whatever the unit.  A `unit` of 0 is a bug.
 * *Any thread*.
 */
TKW_EXPORT tkw_tick tkw_tick_now(uint64_t time, uint64_t unit);
TKW_EXPORT tkw_tick tkw_tick_deadline(uint64_t time, uint64_t unit);

#ifdef __cplusplus
}
#endif

#endif
