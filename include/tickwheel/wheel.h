/*
 * wheel.h - a hierarchical timing wheel whose timers live in your objects.
 *
 * Arming and cancelling cost O(1), however many timers are pending.  Nothing
 * here allocates, fails, locks, reads a clock or calls back: you say what time
 * it is, then pop what has expired.  For event loops, for code close to a
 * kernel, for one thread (or one lock) per wheel.  It is not a thread-safe
 * service, and it does not know what a second is.
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
 * Promises:
 *   - never early: nothing is popped before time was advanced to its deadline;
 *   - complete: all that is due is ready after advancing, however far the jump;
 *   - ordered: by deadline, and equal deadlines in arming order;
 *   - O(1) to arm, cancel and postpone; a timer falls a level at most
 *     levels-1 times;
 *   - no empty ticks: skipping a million of them costs what skipping one does
 *     (with TKW_ROUNDS: per turn of the ring), and an empty wheel asks for no
 *     wake-up;
 *   - one outcome per arming: popped, cancelled or drained.
 *
 * A whole upper slot falls at once.  With millions of timers pending that is
 * milliseconds: bound it with tkw_wheel_advance_some().
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

/*
 * A timer, to be embedded in what it is about.  Zero-filled is valid and idle.
 * 32 bytes where pointers take 8.
 */
struct tkw_timer {
    struct tkw_link link; /* private */
    tkw_tick deadline;    /* read-only: of the arming under way, or the last */
    uint32_t home;        /* private: the number of its slot, and a mark */
    uint32_t turn;        /* private: its place in a queue */
};

/* Private: lists that timers join in turn, see src/queue.h. */
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
    struct tkw_slot *slot;  /* those of all levels, lowest first */
    struct tkw_link ready;  /* expired by the last advance, to be popped ... */
    struct tkw_link fresh;  /* ... before these: armed since then for a tick
                               that had come already */
    struct tkw_link never;  /* armed for TKW_NEVER */
    struct tkw_link due;    /* expired, on a tick that is not finished ... */
    struct tkw_link late;   /* ... and armed for it only then */
    struct tkw_slot moving; /* taken from a slot, to be filed or due */
    uint32_t levels_left;   /* not yet emptied in an unfinished tick */
    uint32_t is_mid_tick;   /* dial.now is not finished: a budget ran out */
    struct tkw_wheel_figures counters;
    struct tkw_dial dial;
};

/*
 * Return the bytes a wheel of this geometry (NULL is the default) takes, its
 * slots included; 0 if the geometry is wrong, and then tkw_geometry_fault()
 * says why.  (0 also where the bytes do not fit a size_t of 32 bits.)  *Any
 * thread*.
 */
TKW_EXPORT size_t tkw_wheel_bytes(const struct tkw_geometry *geometry);

/*
 * What tkw_wheel_bytes(NULL) returns, for static memory:
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
 * Make a wheel at `wheel`, the beginning of `bytes` bytes of your memory, with
 * its time standing at `start`.  There is nothing to undo: forget the memory
 * when no timer is armed.  The wheel must stay at its address.
 *
 * Returns 0, or with the memory untouched:
 *   -EINVAL  the geometry is wrong (tkw_geometry_fault() says how), or the
 *            memory is not aligned as a struct tkw_wheel must be;
 *   -ENOSPC  `bytes` is less than tkw_wheel_bytes() asks for.
 */
TKW_EXPORT int tkw_wheel_init(struct tkw_wheel *wheel, size_t bytes,
                              const struct tkw_geometry *geometry,
                              tkw_tick start);

/*
 * Arm `timer` to expire at the absolute tick `deadline`, moving it if it is
 * armed already.  A deadline that has come makes it ready at once, last in
 * line: a loop that pops and arms again for the present tick does not end,
 * unless it uses tkw_wheel_pop_due().
 * TKW_NEVER never comes: the timer stays pending until cancelled.
 *
 * A timer that is armed must be moved, postponed and cancelled through the
 * wheel it is armed in.
 *
 * The timer must stay at its address, and the wheel must outlive it, until it
 * is popped, cancelled or drained.
 */
TKW_EXPORT void tkw_wheel_arm(struct tkw_wheel *wheel, struct tkw_timer *timer,
                              tkw_tick deadline);

/*
 * Move the deadline of an armed timer, cheaply if it moves to a later tick:
 * the timer itself stays in its slot until that comes round.  For time limits
 * that are pushed back again and again.  An earlier deadline, or a timer that
 * is ready already, is armed anew.  Among timers of equal deadline a postponed
 * one may be popped at any place.
 *
 * Returns whether the timer was armed; if not, it stays idle.
 */
TKW_EXPORT bool tkw_wheel_postpone(struct tkw_wheel *wheel,
                                   struct tkw_timer *timer, tkw_tick deadline);

/*
 * Disarm `timer`.  Returns whether it was armed, i.e. whether you stopped it.
 * One that is ready but not yet popped is armed.
 */
TKW_EXPORT bool tkw_wheel_cancel(struct tkw_wheel *wheel,
                                 struct tkw_timer *timer);

/* Tell whether `timer` is armed: pending in a wheel, or ready to be popped. */
TKW_EXPORT bool tkw_timer_is_armed(const struct tkw_timer *timer);

/*
 * Tell whether `timer` is ready: its deadline has come, and tkw_wheel_pop()
 * will return it.  False if it is pending or idle.  `wheel` is the wheel in
 * which it is armed, if it is.
 */
TKW_EXPORT bool tkw_wheel_is_ready(const struct tkw_wheel *wheel,
                                   const struct tkw_timer *timer);

/*
 * Move time forward to `now`.  Whatever is due by then becomes ready.  Time
 * standing still is fine; back is a bug, ignored where assertions are off.
 * The cost follows the timers that fall or expire, not the ticks skipped; with
 * TKW_ROUNDS also the turns of the ring, each passing over what is there.
 */
TKW_EXPORT void tkw_wheel_advance(struct tkw_wheel *wheel, tkw_tick now);

/*
 * The same, but touch at most `budget` timers; 0 is legal.  Returns whether
 * `now` has been reached.  If not, a tick is unfinished: tkw_wheel_now() is the
 * one before it (what was due by then is ready), and so is tkw_wheel_next().
 * Anything may be called in between; any further advance, even to the same
 * tick, goes on.
 */
TKW_EXPORT bool tkw_wheel_advance_some(struct tkw_wheel *wheel, tkw_tick now,
                                       size_t budget);

/* Take the next expired timer, or NULL.  It comes back idle and yours. */
TKW_EXPORT struct tkw_timer *tkw_wheel_pop(struct tkw_wheel *wheel);

/*
 * Like tkw_wheel_pop(), but return NULL instead of a timer that was armed after
 * the last advance, for a tick that had come already.  The next advance, even
 * to the same tick, makes such timers available.
 *
 * A loop over tkw_wheel_pop() does not end if each timer is armed again for the
 * present tick.  A loop over tkw_wheel_pop_due() runs what was due when time
 * was advanced, once each, and then returns to the caller's other work, as
 * libuv and h2o do:
 *
 *     tkw_wheel_advance(wheel, tkw_tick_now(clock_ns(), ms));
 *     for (struct tkw_timer *t; (t = tkw_wheel_pop_due(wheel)) != NULL;)
 *         call_and_arm_again(t);
 *
 * Timers that are left over keep tkw_wheel_next() at the present tick.
 */
TKW_EXPORT struct tkw_timer *tkw_wheel_pop_due(struct tkw_wheel *wheel);

/*
 * Tell when to advance next: at the earliest deadline or before it, for a slot
 * that has to fall or whose timers were postponed.  The present tick while
 * anything is ready or a tick is unfinished; TKW_NEVER if there is nothing to
 * wake up for.  May lie before your clock: examples/poll_loop.c makes a timeout
 * of it.  O(levels).
 */
TKW_EXPORT tkw_tick tkw_wheel_next(const struct tkw_wheel *wheel);

/* The tick that time was last advanced to (see tkw_wheel_advance_some()). */
TKW_EXPORT tkw_tick tkw_wheel_now(const struct tkw_wheel *wheel);

/* Armed timers, ready ones included. */
TKW_EXPORT size_t tkw_wheel_count(const struct tkw_wheel *wheel);

/* Timers that are ready to be popped.  O(ready timers). */
TKW_EXPORT size_t tkw_wheel_ready_count(const struct tkw_wheel *wheel);

TKW_EXPORT struct tkw_wheel_figures
tkw_wheel_counters(const struct tkw_wheel *wheel);

/* The wheel's dial, for tkw_dial_where() and for drawing. */
TKW_EXPORT const struct tkw_dial *tkw_wheel_dial(const struct tkw_wheel *wheel);

/*
 * Visit every armed timer, in no particular order:
 *
 *     struct tkw_wheel_cursor walk = {0};
 *     for (struct tkw_timer *t; (t = tkw_wheel_walk(wheel, &walk)) != NULL;)
 *         printf("level %u, slot %u\n", walk.level, walk.slot);
 *
 * Meanwhile the timer just visited may be cancelled; nothing else may be
 * called that changes the wheel.
 */
struct tkw_wheel_cursor {
    uint32_t level;        /* read-only: 1 is the lowest; 0: in no slot, being
                              ready, never due, or between two slots */
    uint32_t slot;         /* read-only: within the level */
    uint32_t list;         /* private */
    struct tkw_link *next; /* private */
};

TKW_EXPORT struct tkw_timer *tkw_wheel_walk(const struct tkw_wheel *wheel,
                                            struct tkw_wheel_cursor *walk);

/*
 * Take any armed timer out, or NULL if none is left: for handing everything
 * back at the end.  The timer comes back idle and yours.
 */
TKW_EXPORT struct tkw_timer *tkw_wheel_drain(struct tkw_wheel *wheel);

/*
 * Walk everything and say whether it is as it must be: for tests and for
 * assertions of the suspicious.  O(slots + timers).
 */
TKW_EXPORT bool tkw_wheel_check(const struct tkw_wheel *wheel);

#ifdef __cplusplus
}
#endif

#endif
