/*
 * wheel.h - a hierarchical timing wheel whose timers are members of your
 * objects.
 *
 * A wheel holds timers and a current tick, a number.  You advance the tick,
 * then pop the timers that have expired.  Arming and cancelling cost O(1),
 * however many timers are armed.  Arming cannot fail.  The wheel never
 * allocates, locks, reads a clock or calls back.  It is for event loops and for
 * code close to a kernel, with one thread (or one lock) per wheel.  It does not
 * know how long a tick is.
 *
 *     struct connection {
 *         int fd;
 *         struct tkw_timer idle;
 *     };
 *
 *     struct tkw_wheel *wheel = malloc(tkw_wheel_bytes(NULL));
 *     tkw_wheel_init(wheel, tkw_wheel_bytes(NULL), NULL, clock_ns() / ms);
 *
 *     tkw_wheel_arm(wheel, &connection->idle,
 *                   tkw_tick_deadline(clock_ns() + 30 * second, ms));
 *     ...
 *     tkw_wheel_advance(wheel, tkw_tick_now(clock_ns(), ms));
 *     for (struct tkw_timer *t; (t = tkw_wheel_pop(wheel)) != NULL;)
 *         hang_up(TKW_CONTAINER(t, struct connection, idle));
 *     sleep_until(tkw_wheel_next(wheel));
 *
 * (examples/poll_loop.c is a whole program.)
 *
 * Words.  A timer is *idle*, or it is armed: *pending* until its deadline, then
 * *ready* until it is popped.  Pending timers are in *slots* of several
 * *levels*; a slot of a higher level covers more ticks.  When that slot begins,
 * its timers *fall* to lower levels: see dial.h.
 *
 * Promises:
 *   - never early: a timer is not popped before the wheel is advanced to its
 *     deadline;
 *   - complete: after an advance all timers that are due are ready, however
 *     many ticks it skips;
 *   - ordered: timers are popped by deadline, and those of equal deadlines in
 *     arming order.  tkw_wheel_arm() and tkw_wheel_postpone() name the
 *     exceptions;
 *   - O(1) to arm, cancel and postpone; a timer falls at most levels-1 times;
 *   - no empty ticks: skipping a million ticks without timers costs as much as
 *     skipping one (but see tkw_wheel_advance() for TKW_ROUNDS), and an empty
 *     wheel needs no wake-up;
 *   - one outcome per arming: popped, cancelled or drained.
 *
 * All timers of a slot fall in one advance.  That takes milliseconds if they
 * are millions; tkw_wheel_advance_some() bounds it.
 *
 * Threads: *owner* - one thread at a time, for everything in this header that
 * does not say *any thread*.
 */
#ifndef TICKWHEEL_WHEEL_H
#define TICKWHEEL_WHEEL_H

#include <tickwheel/base.h>
#include <tickwheel/dial.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Private. */
struct tkw_link {
    struct tkw_link *next;
    struct tkw_link *prev;
};

/* A timer, a member of your object.  Zero-filled means idle.  It takes 32 bytes
 * where pointers take 8. */
struct tkw_timer {
    struct tkw_link link; /* private */
    tkw_tick deadline;    /* read-only: of the current arming, or the last */
    uint32_t home;        /* private: the number of its slot, and a flag */
    uint32_t turn;        /* private: its place in a queue */
};

/* Private: lists that timers join in turn; see src/wheel/queue.h. */
#define TKW_LANES 4

struct tkw_queue {
    struct tkw_link lanes[TKW_LANES];
    uint32_t turn;
};

/* Private. */
struct tkw_slot {
    struct tkw_queue fallen; /* from other slots: armed before ... */
    struct tkw_queue direct; /* ... what was armed straight into the slot */
};

/* The wheel; its slots follow it in memory.  All fields are private. */
struct tkw_wheel {
    tkw_tick now;           /* the last finished tick */
    tkw_tick wake;          /* no slot begins before this; 0: not known, or
                               a tick is not finished */
    struct tkw_slot *slot;  /* slots of all levels, lowest first */
    struct tkw_link ready;  /* expired by the last advance, to be popped ... */
    struct tkw_link fresh;  /* ... before these: armed since then for a tick
                               that had come already */
    struct tkw_link never;  /* armed for TKW_NEVER */
    struct tkw_link due;    /* expired, on a tick that is not finished ... */
    struct tkw_link late;   /* ... and armed for it only then */
    struct tkw_slot moving; /* taken from a slot, to be filed or due */
    uint32_t levels_left;   /* not yet emptied in an unfinished tick */
    uint32_t is_mid_tick;   /* dial.now is not finished: a budget ran out */
    struct tkw_wheel_stats stats;
    struct tkw_dial dial;
};

/*
 * Return the size in bytes of a wheel of `geometry` with its slots.  NULL means
 * the default geometry.  *Any thread*.
 *
 * Returns 0 if
 *   - the geometry is wrong: see tkw_geometry_fault();
 *   - the size does not fit into a size_t of 32 bits.
 */
TKW_EXPORT size_t tkw_wheel_bytes(const struct tkw_geometry *geometry);

/*
 * The result of tkw_wheel_bytes(NULL), for static memory:
 *
 *     static union {
 *         struct tkw_wheel wheel;
 *         char bytes[TKW_WHEEL_DEFAULT_BYTES];
 *     } memory;
 */
#define TKW_WHEEL_DEFAULT_BYTES                                  \
    (sizeof(struct tkw_wheel) + 1152 * sizeof(struct tkw_slot) + \
     20 * sizeof(uint64_t))

/*
 * Make a wheel with the current tick `start` in your memory: `bytes` bytes from
 * `wheel` on.  The wheel must stay at its address.  It needs no closing: you
 * may free the memory when no timer is armed.  O(slots).
 *
 * Returns 0, or leaves the memory as it is and returns
 *   -EINVAL  tkw_wheel_bytes() returns 0 for `geometry`, or `wheel` is not
 *            aligned as a struct tkw_wheel must be;
 *   -ENOSPC  `bytes` is less than tkw_wheel_bytes().
 */
TKW_EXPORT int tkw_wheel_init(struct tkw_wheel *wheel, size_t bytes,
                              const struct tkw_geometry *geometry,
                              tkw_tick start);

/*
 * Arm `timer` to expire at the absolute tick `deadline`.  If it is armed
 * already, the call moves it.
 *
 *   - a `deadline` that has come makes the timer ready at once, behind all
 *     ready timers (see also tkw_wheel_pop_due());
 *   - with TKW_NEVER the timer stays pending until it is moved, cancelled or
 *     drained.
 *
 * The timer must stay at its address, and the wheel must outlive it, until the
 * timer is popped, cancelled or drained.  Move, postpone and cancel an armed
 * timer only through its own wheel.
 */
TKW_EXPORT void tkw_wheel_arm(struct tkw_wheel *wheel, struct tkw_timer *timer,
                              tkw_tick deadline);

/*
 * Move the deadline of an armed timer, for timeouts that are extended often.  A
 * later deadline is only stored: the timer stays in its slot until that slot
 * begins.  With an earlier deadline, or if the timer is in no slot (ready, due
 * at an unfinished tick, or armed for TKW_NEVER), the call arms it as
 * tkw_wheel_arm() does.  A postponed timer may be popped at any place among
 * timers of equal deadline.
 *
 * Returns true, or false if the timer is idle; then it stays idle.
 */
TKW_EXPORT bool tkw_wheel_postpone(struct tkw_wheel *wheel,
                                   struct tkw_timer *timer, tkw_tick deadline);

/* Cancel `timer`.  Returns true if the timer was pending or ready, so that this
 * call ended its arming; false if it was idle. */
TKW_EXPORT bool tkw_wheel_cancel(struct tkw_wheel *wheel,
                                 struct tkw_timer *timer);

/* Return whether `timer` is armed: pending or ready. */
TKW_EXPORT bool tkw_timer_is_armed(const struct tkw_timer *timer);

/* Return whether `timer` is ready: its deadline has come, and tkw_wheel_pop()
 * will return it.  If the timer is armed, `wheel` must be its wheel. */
TKW_EXPORT bool tkw_wheel_is_ready(const struct tkw_wheel *wheel,
                                   const struct tkw_timer *timer);

/*
 * Advance the wheel to the tick `now`.  All timers that are due by then become
 * ready.  `now` may be the current tick.  An earlier `now` is a bug: an
 * assertion fails or, without assertions, time does not go back.
 *
 * The cost depends on the timers that fall or expire, not on the ticks skipped.
 * With TKW_ROUNDS it also depends on the turns of the last level: each passes
 * over all timers there.
 */
TKW_EXPORT void tkw_wheel_advance(struct tkw_wheel *wheel, tkw_tick now);

/*
 * Like tkw_wheel_advance(), but move at most `budget` timers, which may be 0.
 * Returns true if `now` is reached; false if the budget ran out within a tick,
 * which is unfinished then:
 *   - tkw_wheel_now() and tkw_wheel_next() return the tick before it, and all
 *     timers due by that are ready;
 *   - you may call every function;
 *   - each further advance, even to tkw_wheel_now(), continues the unfinished
 *     tick.
 */
TKW_EXPORT bool tkw_wheel_advance_some(struct tkw_wheel *wheel, tkw_tick now,
                                       size_t budget);

/* Pop the next ready timer.  Returns the timer, which is idle then, or NULL if
 * no timer is ready. */
TKW_EXPORT struct tkw_timer *tkw_wheel_pop(struct tkw_wheel *wheel);

/*
 * Like tkw_wheel_pop(), but do not pop timers that were armed after the last
 * advance, for a tick that had come already.  The next advance, even to the
 * current tick, makes them available.
 *
 * A loop over tkw_wheel_pop() does not end if each timer is armed again for the
 * current tick.  A loop over tkw_wheel_pop_due() ends: it pops each timer that
 * was due at the advance once, as libuv and h2o do:
 *
 *     tkw_wheel_advance(wheel, tkw_tick_now(clock_ns(), ms));
 *     for (struct tkw_timer *t; (t = tkw_wheel_pop_due(wheel)) != NULL;)
 *         call_and_arm_again(t);
 *
 * While timers are left over, tkw_wheel_next() returns the current tick.
 */
TKW_EXPORT struct tkw_timer *tkw_wheel_pop_due(struct tkw_wheel *wheel);

/*
 * Return the tick to advance to next.  O(levels).  It is
 *   - the current tick while a timer is ready or a tick is unfinished;
 *   - TKW_NEVER if there is nothing to wake up for;
 *   - else the earliest deadline, or an earlier tick at which the wheel has to
 *     move the timers of a slot to a lower level or to their postponed place.
 *
 * If you advance late, the tick may have passed by your clock: then do not
 * sleep.  examples/poll_loop.c computes a timeout from it.
 */
TKW_EXPORT tkw_tick tkw_wheel_next(const struct tkw_wheel *wheel);

/* Return the current tick: the last finished one (see
 * tkw_wheel_advance_some()). */
TKW_EXPORT tkw_tick tkw_wheel_now(const struct tkw_wheel *wheel);

/* Return the number of armed timers, the ready ones included. */
TKW_EXPORT size_t tkw_wheel_count(const struct tkw_wheel *wheel);

/* Return the number of ready timers.  O(ready timers). */
TKW_EXPORT size_t tkw_wheel_ready_count(const struct tkw_wheel *wheel);

/* Return the counters of the wheel. */
TKW_EXPORT struct tkw_wheel_stats
tkw_wheel_read_stats(const struct tkw_wheel *wheel);

/* Return the wheel's dial, for tkw_dial_where() and for drawing.  It is valid
 * as long as the wheel. */
TKW_EXPORT const struct tkw_dial *tkw_wheel_dial(const struct tkw_wheel *wheel);

/*
 * Visit every armed timer, in no particular order:
 *
 *     struct tkw_wheel_cursor walk = {0};
 *     for (struct tkw_timer *t; (t = tkw_wheel_walk(wheel, &walk)) != NULL;)
 *         printf("level %u, slot %u\n", walk.level, walk.slot);
 *
 * Returns the next timer, or NULL at the end.  O(slots + timers) in all.
 * During the walk you may cancel the timer just visited, but not change the
 * wheel otherwise.
 */
struct tkw_wheel_cursor {
    uint32_t level;        /* read-only: 1 is the lowest; 0: in no slot: ready,
                              TKW_NEVER, or in an unfinished tick */
    uint32_t slot;         /* read-only: within the level */
    uint32_t list;         /* private */
    struct tkw_link *next; /* private */
};

TKW_EXPORT struct tkw_timer *tkw_wheel_walk(const struct tkw_wheel *wheel,
                                            struct tkw_wheel_cursor *walk);

/* The largest count that tkw_wheel_occupancy() stores. */
#define TKW_OCCUPANCY_MAX 16

/*
 * Store in `counts` the number of timers in each slot of `level`, from slot 0
 * on, for at most `room` slots.  1 is the lowest level.  A count of
 * TKW_OCCUPANCY_MAX means this number or more.  `counts` may be NULL if `room`
 * is 0.
 *
 * Returns the number of slots of the level, which may be more than `room`, or 0
 * if the wheel does not have the level:
 *
 *     uint32_t counts[512];
 *     for (uint32_t level = 1;; level++) {
 *         size_t slots = tkw_wheel_occupancy(wheel, level, counts, 512);
 *         if (slots == 0)
 *             break;
 *         draw(level, counts, slots < 512 ? slots : 512);
 *     }
 *
 * Slots have the numbers that tkw_dial_where() and tkw_wheel_walk() return.  A
 * postponed timer counts in the slot where it still is.  Timers in no slot are
 * not counted: those that are ready, armed for TKW_NEVER, or part of an
 * unfinished tick.
 *
 * O(slots): the call reads at most TKW_OCCUPANCY_MAX timers of each.
 */
TKW_EXPORT size_t tkw_wheel_occupancy(const struct tkw_wheel *wheel,
                                      uint32_t level, uint32_t *counts,
                                      size_t room);

/* Take any armed timer out of the wheel, for a shutdown.  Returns the timer,
 * which is idle then, or NULL if no timer is armed. */
TKW_EXPORT struct tkw_timer *tkw_wheel_drain(struct tkw_wheel *wheel);

/*
 * Verify all invariants of the wheel, and return whether they hold; for tests
 * and debug assertions.  O(slots + timers).
 */
TKW_EXPORT bool tkw_wheel_check(const struct tkw_wheel *wheel);

/*
 * Like tkw_wheel_check(), but return true if an invariant is broken, and
 * describe the first one found in `*fault` (see base.h).  If none is broken,
 * `*fault` stays as it is.
 */
TKW_EXPORT bool tkw_wheel_find_fault(const struct tkw_wheel *wheel,
                                     struct tkw_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
