/*
 * dial.h - the geometry of a timing wheel: levels, slots and ticks.
 *
 * Every timing wheel of this library has a dial.  A dial knows the levels,
 * their slots, the current tick, and which slots are occupied.  It holds no
 * timers.  A slot of level 1 is one tick long.  A slot of level n+1 is as long
 * as all slots of level n together.  The *hand* of a level is the slot that
 * contains the current tick.  A deadline is filed in the lowest level in which
 * its slot is fewer than `size` slots after the hand.  When the hand reaches
 * that slot, the deadline falls to a lower level:
 *
 *     sizes {20, 20, 20}, now 0, deadline 445
 *
 *     level 3, slot 1    covers 400..799    falls at 400
 *     level 2, slot 2    covers 440..459    falls at 440
 *     level 1, slot 5    covers 445         due at 445
 *
 * Most programs need only `tkw_tick`, `struct tkw_geometry` and the rounding
 * functions of this header; the wheel does the rest.  `struct tkw_dial` is for
 * programs that draw, simulate or explain a wheel.  It may change between
 * versions.
 *
 * No function of this header reads a clock, allocates, locks or calls back.
 *
 * Threads: *owner* - one thread at a time, for everything in this header that
 * does not say *any thread*.
 */
#ifndef TICKWHEEL_DIAL_H
#define TICKWHEEL_DIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tickwheel/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A point in the time of a wheel, or a distance between two. */
typedef uint64_t tkw_tick;

/* The largest tick.  A timer with this deadline never expires. */
#define TKW_NEVER UINT64_MAX

/* The most sizes of a geometry, and the most levels of a dial. */
#define TKW_SIZES_MAX 16
#define TKW_LEVELS_MAX 64

/* The most slots of a dial, of all levels together. */
#define TKW_SLOTS_MAX (UINT32_C(1) << 28)

/*
 * How a dial treats deadlines that are past the last level of its geometry.
 *
 * TKW_GROW adds levels of the last size until they cover 64-bit time.  A level
 * in which no timer is filed costs only the memory of its slots.
 *
 * TKW_ROUNDS files these deadlines in the last level.  The hand passes over
 * their timers once a turn, which is `size` slots, until the slot of their own
 * turn.  With one level this is the hashed wheel.
 */
enum tkw_beyond {
    TKW_GROW,
    TKW_ROUNDS,
};

/*
 * The shape of a dial.  No sizes means the default sizes {128, 512, 64}, with
 * `beyond` as given.  All zero is the default geometry.
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

/* The slot for a deadline, as tkw_dial_where() returns it. */
struct tkw_spot {
    uint32_t level;      /* 1 is the lowest; 0: in no slot, because it is due */
    uint32_t slot;       /* 0 to size-1 within the level */
    tkw_tick expiration; /* when the slot begins; level 0: the deadline */
    uint64_t rounds;     /* whole turns of the level until then */
};

/* One level.  All fields are read-only. */
struct tkw_level {
    tkw_tick tick;       /* length of a slot, in ticks */
    tkw_tick start;      /* the tick at which the current slot begins */
    uint64_t hand;       /* the current slot, counted from tick 0 */
    uint64_t *occupancy; /* private: one bit per slot, and summaries */
    uint32_t size;       /* the number of slots */
    uint32_t first;      /* the number of this level's slot 0 among all slots */
    uint32_t size_mask;  /* private: size-1 where size is a power of two */
    uint8_t tick_shift;  /* private: log2(tick), or TKW_NO_SHIFT */
};

/* Private. */
#define TKW_NO_SHIFT UINT8_MAX

/* A dial.  All fields are read-only. */
struct tkw_dial {
    tkw_tick now;  /* the current tick */
    uint64_t busy; /* bit i is set: level i+1 has an occupied slot */
    uint32_t level_count;
    uint32_t slot_count;
    enum tkw_beyond beyond;
    uint8_t lowest[65]; /* private: by bit length of the distance, the index of
                           the lowest level that could take it */
    struct tkw_level levels[TKW_LEVELS_MAX];
};

/*
 * Return a short static text that describes an error in `geometry`, or NULL if
 * there is none.  A `geometry` of NULL is the default.  *Any thread*.
 *
 * Errors are
 *   - a size of 1;
 *   - a size after the 0 that ends the list;
 *   - an unknown `beyond`;
 *   - slots that lie wholly past the end of 64-bit time;
 *   - more than TKW_SLOTS_MAX slots in all.
 */
TKW_EXPORT const char *tkw_geometry_fault(const struct tkw_geometry *geometry);

/* Return the number of 64-bit words that a dial of `geometry` needs to store
 * which slots are occupied, or 0 if the geometry is wrong.  *Any thread*. */
TKW_EXPORT size_t tkw_dial_words(const struct tkw_geometry *geometry);

/*
 * Make a dial with the current tick `start` in `*dial`.  `words` is memory of
 * yours for tkw_dial_words() words, which must exist as long as the dial.  With
 * NULL no slot can be occupied, which is enough for tkw_dial_where().
 *
 * Returns 0, or leaves `*dial` as it is and returns -EINVAL if the geometry is
 * wrong.
 */
TKW_EXPORT int tkw_dial_init(struct tkw_dial *dial,
                             const struct tkw_geometry *geometry,
                             tkw_tick start, uint64_t *words);

/*
 * Return the slot in which a deadline would be filed now.  The dial does not
 * change.  O(levels) at worst.  TKW_NEVER has a slot, too, but wheels keep
 * timers with this deadline elsewhere.
 */
TKW_EXPORT struct tkw_spot tkw_dial_where(const struct tkw_dial *dial,
                                          tkw_tick deadline);

/*
 * Return the tick at which the next occupied slot begins, or TKW_NEVER if no
 * slot is occupied.  It is never after the earliest deadline filed.  O(levels).
 * For the dial of a wheel call tkw_wheel_next(), which includes ready timers
 * and an unfinished tick.
 */
TKW_EXPORT tkw_tick tkw_dial_next(const struct tkw_dial *dial);

/* Return whether a slot of a level (1 is the lowest) is occupied.  The dial
 * must have the level and the slot. */
TKW_EXPORT bool tkw_dial_is_occupied(const struct tkw_dial *dial,
                                     uint32_t level, uint32_t slot);

/*
 * Advance the dial to the tick `now`, which may be the current one.  An earlier
 * `now` is a bug.  Do not advance the dial of a wheel or a pool.
 */
TKW_EXPORT void tkw_dial_turn(struct tkw_dial *dial, tkw_tick now);

/*
 * Verify all invariants of the dial, and return whether they hold; for tests
 * and debug assertions.  O(slots).
 */
TKW_EXPORT bool tkw_dial_check(const struct tkw_dial *dial);

/*
 * Like tkw_dial_check(), but return true if an invariant is broken, and
 * describe the first one found in `*fault` (see base.h).  If none is broken,
 * `*fault` stays as it is.
 */
TKW_EXPORT bool tkw_dial_find_fault(const struct tkw_dial *dial,
                                    struct tkw_fault *fault);

/*
 * Return the tick `delay` after `now`, or TKW_NEVER if the sum is larger.  *Any
 * thread*.
 *
 * The function is for time that is counted in ticks.  If your clock is finer
 * than a tick, add the delay to the clock's time and round the sum up:
 * tkw_tick_deadline(clock + delay, unit).  tkw_tick_after(tkw_tick_now(clock,
 * unit), ...) would be up to a tick early.
 */
TKW_EXPORT tkw_tick tkw_tick_after(tkw_tick now, tkw_tick delay);

/*
 * Convert `time` to ticks that are `unit` long.  Both arguments are in one unit
 * of your choice, nanoseconds for example.  *Any thread*.
 *
 * tkw_tick_now() is for the time of a clock, and rounds down: with ticks of 20,
 * the time 123 is in tick 6.  tkw_tick_deadline() is for a deadline, and rounds
 * up, so that no timer expires early; UINT64_MAX becomes TKW_NEVER.  A `unit`
 * of 0 is a bug.
 */
TKW_EXPORT tkw_tick tkw_tick_now(uint64_t time, uint64_t unit);
TKW_EXPORT tkw_tick tkw_tick_deadline(uint64_t time, uint64_t unit);

#ifdef __cplusplus
}
#endif

#endif
