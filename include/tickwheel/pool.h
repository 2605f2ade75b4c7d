/*
 * pool.h - a hierarchical timing wheel that owns its timers, for millions of
 * them.
 *
 * You arm a timer with a deadline, a pointer and a word of yours, and get a
 * handle, a 64-bit number.  A handle never names a second timer: for a timer
 * that has ended, every call returns a defined result.  Cancelling and
 * postponing access only the timer's own cache line and the pool's counters.
 * When thousands of timers fall to a lower level, the pool mostly moves them
 * without reading them.  A pool is for one thread (or one lock).  It is not a
 * thread-safe service, it does not call back, and it does not know how long a
 * tick is: you advance it, then pop the timers that have expired.
 *
 *     struct tkw_pool *pool;
 *     int error = tkw_pool_open(&pool, NULL);
 *
 *     tkw_handle handle;
 *     error = tkw_pool_arm(pool, &handle, now + 30000,
 *                          (struct tkw_user){.pointer = connection});
 *     ...
 *     tkw_pool_postpone(pool, handle, now + 30000);
 *     ...
 *     tkw_pool_advance(pool, now);
 *     for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);)
 *         hang_up(timer.user.pointer);
 *     sleep_until(tkw_pool_next(pool));
 *
 * Words, beyond those of wheel.h.  An *entry* is the 8-byte number that a slot
 * stores for a timer.  An entry is *dead* when its timer was cancelled, drained
 * or armed again.  A slot is *crowded* if it has some 500 entries or more.
 *
 * Promises, beyond those of wheel.h (never early, complete, ordered, O(1), no
 * empty ticks, one outcome per arming):
 *   - no stalls: a crowded slot falls in shares over the ticks before it
 *     begins.  So an advance of one tick, or to tkw_pool_next(), handles the
 *     timers of that tick and few others (see "Limits" below);
 *   - advancing never allocates and never fails; arming may return -ENOMEM, and
 *     then changes nothing;
 *   - the pool uses the memory of dead entries again.  Arming and advancing
 *     collect them in small steps while they are more than three quarters of
 *     the armed timers, plus 4,096.  If the allocator refuses, arming reads
 *     about a thousand entries, and collects the dead ones, before it returns
 *     -ENOMEM.  The next call continues there: where few entries are dead,
 *     several calls may fail before one succeeds.
 *
 * Limits.  A cancelled or postponed timer leaves its entry in its slot.  An
 * advance handles a slot of the lowest level as a whole, with the entries of
 * timers that were cancelled or postponed there: with the default geometry, in
 * the last 128 ticks before their deadline, 256 for a crowd.  That takes some
 * nanoseconds for each entry though no timer is due: milliseconds for a
 * million.  tkw_pool_advance_some() bounds the time.
 *
 * A slot whose timers were all cancelled causes one wake-up, or one for every
 * thousand of them, where wheel.h has none.
 *
 * Threads: *owner* - one thread at a time, for everything in this header that
 * does not say *any thread*.
 */
#ifndef TICKWHEEL_POOL_H
#define TICKWHEEL_POOL_H

#include <tickwheel/base.h>
#include <tickwheel/dial.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names a timer of one pool.  0 never names a timer. */
typedef uint64_t tkw_handle;

/* The most timers that can be armed in a pool. */
#define TKW_POOL_TIMERS_MAX ((UINT32_C(1) << 27) - 1)

/* Zero means the default for every field: {0} is a good configuration. */
struct tkw_pool_config {
    struct tkw_geometry geometry;          /* {0}: the default */
    tkw_tick start;                        /* the first current tick */
    const struct tkw_allocator *allocator; /* NULL: malloc and free; else it
                                              must outlive the pool */
    size_t timers_max;    /* 0: TKW_POOL_TIMERS_MAX; reject more armed timers */
    uint64_t reserved[4]; /* must be 0 */
};

/* Your data of a timer.  The pool only copies it. */
struct tkw_user {
    void *pointer;
    uint64_t word;
};

/* A timer, as pop, query, walk and drain store it. */
struct tkw_pool_timer {
    tkw_handle handle;
    tkw_tick deadline; /* after all moves */
    struct tkw_user user;
};

/* Counters of a pool. */
struct tkw_pool_stats {
    struct tkw_wheel_stats work; /* as of a wheel; see base.h */
    uint64_t entries; /* in slots and queues now, the dead ones included */
    uint64_t dead;    /* the dead ones of these */
    uint64_t reads;   /* timers read to fall or to collect dead entries */
    uint64_t sweeps;  /* steps of collecting dead entries */
    uint64_t shares;  /* parts of crowded slots that fell ahead of time */
    uint64_t bytes;   /* allocated now */
    uint64_t retired; /* places of timers that have no unused handle left */
};

struct tkw_pool;

/* Return a short static text that describes an error in `config`, or NULL if
 * there is none.  *Any thread*. */
TKW_EXPORT const char *
tkw_pool_config_fault(const struct tkw_pool_config *config);

/*
 * Open a pool.  NULL means {0}.  *Any thread*.
 *
 * Returns 0 and stores the pool in `*pool`, or leaves `*pool` as it is and
 * returns
 *   -EINVAL  the configuration is wrong: see tkw_pool_config_fault();
 *   -ENOMEM  there is no memory.
 */
TKW_EXPORT int tkw_pool_open(struct tkw_pool **pool,
                             const struct tkw_pool_config *config);

/*
 * Close a pool and free its memory, with all its timers.  To get those that are
 * armed, call tkw_pool_drain() first.  `pool` may be NULL: the call does
 * nothing.
 */
TKW_EXPORT void tkw_pool_close(struct tkw_pool *pool);

/*
 * Arm a new timer to expire at the absolute tick `deadline`.  A deadline that
 * has come makes the timer ready at once, behind all ready timers.  With
 * TKW_NEVER the timer stays pending.
 *
 * Returns 0 and stores the handle in `*handle` (`handle` may be NULL); or
 * changes nothing and returns
 *   -ENOMEM  there is no memory;
 *   -EAGAIN  `timers_max` timers are armed.
 */
TKW_EXPORT int tkw_pool_arm(struct tkw_pool *pool, tkw_handle *handle,
                            tkw_tick deadline, struct tkw_user user);

/*
 * Arm a timer again under its handle: an armed timer, which moves to any
 * deadline, or a kept one (see tkw_pool_pop_keep()).  The timer becomes the
 * last among those of equal deadline.
 *
 * Returns 1, or changes nothing and returns
 *   0        the timer is neither armed nor kept;
 *   -ENOMEM  there is no memory;
 *   -EAGAIN  the timer is kept, and `timers_max` timers are armed.
 */
TKW_EXPORT int tkw_pool_rearm(struct tkw_pool *pool, tkw_handle handle,
                              tkw_tick deadline);

/*
 * Move the deadline of an armed timer.  A later deadline is only stored, which
 * cannot fail: the timer's entry stays in its slot until the pool empties that
 * slot.  With an earlier deadline, or if the timer is ready or due at an
 * unfinished tick, the call is tkw_pool_rearm().  A postponed timer may be
 * popped at any place among timers of equal deadline.
 *
 * Returns 1, or changes nothing and returns
 *   0        the timer is not armed;
 *   -ENOMEM  there is no memory.
 */
TKW_EXPORT int tkw_pool_postpone(struct tkw_pool *pool, tkw_handle handle,
                                 tkw_tick deadline);

/*
 * Cancel an armed timer, or free a kept one.  Returns true if the timer was
 * armed, so that this call ended its arming; else false, and tkw_pool_query()
 * returns the reason.
 */
TKW_EXPORT bool tkw_pool_cancel(struct tkw_pool *pool, tkw_handle handle);

/*
 * Ask the processor to fetch the timer that `handle` names.  A later call with
 * that handle then need not wait for memory.  `handle` may be any number.
 *
 * For callers that know several handles in advance.  With ten million timers,
 * prefetching eight handles ahead saves a third of the time of cancelling, and
 * three quarters of the time of moving a timer (docs/guide/tuning.md).
 */
TKW_EXPORT void tkw_pool_prefetch(const struct tkw_pool *pool,
                                  tkw_handle handle);

/*
 * Return the state of the timer that `handle` names; base.h lists the states.
 * `handle` may be any number.  Stores the timer in `*timer` (may be NULL) if it
 * is armed or kept.
 */
TKW_EXPORT enum tkw_state tkw_pool_query(const struct tkw_pool *pool,
                                         tkw_handle handle,
                                         struct tkw_pool_timer *timer);

/*
 * Advance the pool to the tick `now`.  All timers that are due by then become
 * ready.  `now` may be the current tick.  An earlier `now` is a bug: an
 * assertion fails or, without assertions, time does not go back.
 */
TKW_EXPORT void tkw_pool_advance(struct tkw_pool *pool, tkw_tick now);

/*
 * Like tkw_pool_advance(), but handle at most `budget` entries, which may be 0.
 * Returns true if `now` is reached.  Returns false if the budget is used up
 * before: any later advance goes on where this one stopped, as after
 * tkw_wheel_advance_some().  In addition each call may copy up to some 12,000
 * entries of due timers, which the budget does not count.
 */
TKW_EXPORT bool tkw_pool_advance_some(struct tkw_pool *pool, tkw_tick now,
                                      size_t budget);

/*
 * Pop the next ready timer, and free it.  Returns true and stores the timer in
 * `*timer`, or returns false if no timer is ready.  The handle names no timer
 * any more.
 */
TKW_EXPORT bool tkw_pool_pop(struct tkw_pool *pool,
                             struct tkw_pool_timer *timer);

/* Like tkw_pool_pop(), but pop up to `count` timers.  Returns how many it
 * stored. */
TKW_EXPORT size_t tkw_pool_pop_many(struct tkw_pool *pool,
                                    struct tkw_pool_timer *timers,
                                    size_t count);

/*
 * Like tkw_pool_pop_many(), but stop before a timer that was armed after the
 * last advance, for a tick that had come already.  tkw_wheel_pop_due() explains
 * the use.
 */
TKW_EXPORT size_t tkw_pool_pop_due(struct tkw_pool *pool,
                                   struct tkw_pool_timer *timers, size_t count);

/* Like tkw_pool_pop(), but keep the timer: it is idle, under its handle, until
 * tkw_pool_rearm() arms it or tkw_pool_cancel() frees it. */
TKW_EXPORT bool tkw_pool_pop_keep(struct tkw_pool *pool,
                                  struct tkw_pool_timer *timer);

/*
 * Return the tick to advance to next.  O(levels).  It is
 *   - the current tick while a timer is ready or a tick is unfinished;
 *   - TKW_NEVER if there is nothing to wake up for;
 *   - else the earliest deadline, or an earlier tick at which a slot has to
 *     fall, in whole or in part, or has entries of timers that were cancelled
 *     or postponed.
 */
TKW_EXPORT tkw_tick tkw_pool_next(const struct tkw_pool *pool);

/* Return the current tick, as tkw_wheel_now() does. */
TKW_EXPORT tkw_tick tkw_pool_now(const struct tkw_pool *pool);

/* Return the number of armed timers: ready ones are included, kept ones are
 * not. */
TKW_EXPORT size_t tkw_pool_count(const struct tkw_pool *pool);

/* Return the counters of the pool. */
TKW_EXPORT struct tkw_pool_stats
tkw_pool_read_stats(const struct tkw_pool *pool);

/* Return the pool's dial, for tkw_dial_where(), valid until the pool is closed.
 * All its slots show as not occupied. */
TKW_EXPORT const struct tkw_dial *tkw_pool_dial(const struct tkw_pool *pool);

/*
 * Reserve memory for the next `n` armings, by tkw_pool_arm() or
 * tkw_pool_rearm(): they cannot return -ENOMEM.  The call asks for somewhat
 * more than `n` armings take.  If the allocator refuses, the call reads about
 * `n` + 1,000 entries, and collects the dead ones.
 *
 * Returns 0, or -ENOMEM; an arming may still succeed then.
 */
TKW_EXPORT int tkw_pool_reserve(struct tkw_pool *pool, size_t n);

/*
 * Visit every armed timer, in no particular order:
 *
 *     struct tkw_pool_cursor walk = {0};
 *     for (struct tkw_pool_timer timer; tkw_pool_walk(pool, &walk, &timer);)
 *         printf("due at %llu\n", (unsigned long long)timer.deadline);
 *
 * Returns true and stores the next timer, or returns false at the end.  During
 * the walk you may arm and cancel timers.  It may miss timers that are armed
 * meanwhile.
 */
struct tkw_pool_cursor {
    uint32_t next; /* private */
    uint32_t end;  /* private: where the timers ended when the walk began */
};

TKW_EXPORT bool tkw_pool_walk(const struct tkw_pool *pool,
                              struct tkw_pool_cursor *walk,
                              struct tkw_pool_timer *timer);

/*
 * Store in `counts` the number of entries in each slot of `level`, from slot 0
 * on, for at most `room` slots.  1 is the lowest level.  `counts` may be NULL
 * if `room` is 0.  O(slots): the call reads no entries.
 *
 * Returns the number of slots of the level, which may be more than `room`, or 0
 * if the pool does not have the level.
 *
 *   - slots have the numbers that tkw_dial_where() returns;
 *   - an armed timer has one entry.  Dead entries that are not yet collected
 *     count, too: `dead` of tkw_pool_read_stats() is their number in the whole
 *     pool;
 *   - a postponed timer counts in the slot where its entry still is;
 *   - timers in no slot are not counted: those that are ready, armed for
 *     TKW_NEVER, or due at an unfinished tick;
 *   - timers of a crowded slot that fell ahead of time count in the slots below
 *     that the next turn reaches.  The count of a slot is the sum of this turn
 *     and the next.
 */
TKW_EXPORT size_t tkw_pool_occupancy(const struct tkw_pool *pool,
                                     uint32_t level, uint32_t *counts,
                                     size_t room);

/* Take any armed timer out of the pool, for a shutdown.  Returns true and
 * stores the timer in `*timer`, or returns false if no timer is armed. */
TKW_EXPORT bool tkw_pool_drain(struct tkw_pool *pool,
                               struct tkw_pool_timer *timer);

/*
 * Verify all invariants of the pool, and return whether they hold; for tests
 * and debug assertions.  O(slots + timers).
 */
TKW_EXPORT bool tkw_pool_check(const struct tkw_pool *pool);

/*
 * Like tkw_pool_check(), but return true if an invariant is broken, and
 * describe the first one found in `*fault`, with level, slot and numbers (see
 * base.h).  If none is broken, `*fault` stays as it is.
 */
TKW_EXPORT bool tkw_pool_find_fault(const struct tkw_pool *pool,
                                    struct tkw_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
