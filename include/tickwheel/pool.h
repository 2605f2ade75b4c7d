/*
 * pool.h - a hierarchical timing wheel that owns its timers and runs at the
 * speed of memory.
 *
 * You arm a timer and get a handle, a 64-bit number; with it go a pointer and a
 * word of yours.  The handle of a timer that is gone is a defined answer from
 * every call, never another timer.  Cancelling and postponing touch the timer's
 * own cache line and nothing else; falling from level to level touches no timer
 * at all.  For hundreds of thousands to tens of millions of timers, in one
 * thread (or under one lock).  It is not a thread-safe service, it calls nobody
 * back, and it does not know what a second is: you say what time it is, then
 * pop what has expired.
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
 *     for (struct tkw_shot shot; tkw_pool_pop(pool, &shot);)
 *         hang_up(shot.user.pointer);
 *     sleep_until(tkw_pool_next(pool));
 *
 * Promises, beyond those of wheel.h (never early, complete, ordered, O(1), no
 * empty ticks, one outcome per arming):
 *   - no stalls: a crowded slot falls in shares over the ticks before it is
 *     needed.  So an advance of one tick, or to tkw_pool_next(), handles the
 *     timers of that tick and few others (see "Limits" below);
 *   - advancing never allocates and never fails; arming says -ENOMEM, with
 *     nothing changed;
 *   - the memory of cancelled timers is used again.  Arming and advancing
 *     collect it in small steps, so that the pool never holds more dead timers
 *     than armed ones, plus a constant.  If the allocator refuses, arming looks
 *     at about a thousand entries, and collects those of cancelled timers,
 *     before it returns -ENOMEM.  The next call goes on where it stopped: where
 *     few timers were cancelled, several calls may be refused before one
 *     succeeds.
 *
 * Limits.  Cancelling and postponing leave an 8-byte entry in the timer's slot.
 * On the lowest level the slot of a tick is handled as a whole when that tick
 * comes, with the entries of timers that were cancelled or postponed while they
 * were on the lowest level (with the default geometry: in the last 128 ticks
 * before their deadline, 256 for a crowd).  An advance can therefore spend some
 * nanoseconds on each of them though nothing is due: milliseconds if they are a
 * million.  Where that is too long, bound it by tkw_pool_advance_some(), as the
 * service does.
 *
 * A slot whose timers were all cancelled asks for one wake-up, or one for every
 * thousand of them, where the wheel asks for none.
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

/* Names a timer of one pool.  0 is none, ever. */
typedef uint64_t tkw_handle;

/* Armed timers a pool can hold at most. */
#define TKW_POOL_TIMERS_MAX ((UINT32_C(1) << 27) - 1)

/* Zero means the default, everywhere: {0} is a good configuration. */
struct tkw_pool_config {
    struct tkw_geometry geometry;          /* {0}: the default */
    tkw_tick start;                        /* where time stands at first */
    const struct tkw_allocator *allocator; /* NULL: malloc and free; else it
                                              must outlive the pool */
    size_t timers_max;    /* refuse to arm more; 0: TKW_POOL_TIMERS_MAX */
    uint64_t reserved[4]; /* must be 0 */
};

/* What a timer carries for you.  The pool never looks at it. */
struct tkw_user {
    void *pointer;
    uint64_t word;
};

/* A timer as the pool tells of it. */
struct tkw_shot {
    tkw_handle handle;
    tkw_tick deadline; /* after all moves */
    struct tkw_user user;
};

/* What a pool has done, and what it holds. */
struct tkw_pool_figures {
    struct tkw_wheel_figures work; /* as of a wheel; see base.h */
    uint64_t entries; /* now in slots and queues, those of no use included */
    uint64_t dead;    /* of these, of timers that were cancelled or moved */
    uint64_t looks;   /* timers looked at by falling and by sweeping ... */
    uint64_t sweeps;  /* ... and pieces of a slot swept */
    uint64_t shares;  /* times that a crowded slot fell in part */
    uint64_t bytes;   /* allocated now */
    uint64_t retired; /* places whose generations have run out */
};

struct tkw_pool;

/* Say what is wrong with a configuration, in a few words; NULL: nothing.
 * *Any thread*. */
TKW_EXPORT const char *
tkw_pool_config_fault(const struct tkw_pool_config *config);

/*
 * Open a pool.  NULL is the configuration {0}.  *Any thread*.
 *
 * Returns 0 and the pool in `*pool`, or with `*pool` untouched:
 *   -EINVAL  something in the configuration is wrong: the function above says
 *            what;
 *   -ENOMEM  there is no memory.
 */
TKW_EXPORT int tkw_pool_open(struct tkw_pool **pool,
                             const struct tkw_pool_config *config);

/*
 * Free all memory of a pool, whatever is pending.  To hear of what never ran,
 * drain first.  NULL is fine.
 */
TKW_EXPORT void tkw_pool_close(struct tkw_pool *pool);

/*
 * Arm a new timer to expire at the absolute tick `deadline`.  A deadline that
 * has come makes it ready at once, last in line; TKW_NEVER never comes.
 *
 * Returns 0 and the handle in `*handle` (may be NULL), or with nothing changed:
 *   -ENOMEM  there is no memory;
 *   -EAGAIN  as many timers as allowed are armed.
 */
TKW_EXPORT int tkw_pool_arm(struct tkw_pool *pool, tkw_handle *handle,
                            tkw_tick deadline, struct tkw_user user);

/*
 * Arm a timer again under its handle: move one that is armed, to any deadline,
 * or start one that was popped and kept.  Among equals it is the last.
 *
 * Returns 1, or 0 if the handle stands for neither, or with nothing changed
 * -ENOMEM, or -EAGAIN for a kept one when as many as allowed are armed.
 */
TKW_EXPORT int tkw_pool_rearm(struct tkw_pool *pool, tkw_handle handle,
                              tkw_tick deadline);

/*
 * Move the deadline of an armed timer, cheaply and without fail if it moves to
 * a later tick: the timer is filed anew only when its old slot comes round.  An
 * earlier deadline, or a timer whose tick has come (ready, or about to be when
 * an unfinished tick is), is armed again.  Among timers of equal deadline a
 * postponed one may be popped at any place.
 *
 * Returns 1, or 0 if the timer is not armed, or -ENOMEM with nothing changed.
 */
TKW_EXPORT int tkw_pool_postpone(struct tkw_pool *pool, tkw_handle handle,
                                 tkw_tick deadline);

/*
 * Disarm a timer.  Returns whether it was armed, i.e. whether you stopped it;
 * if not, tkw_pool_query() tells why.  A kept timer is let go (and false
 * returned).
 */
TKW_EXPORT bool tkw_pool_cancel(struct tkw_pool *pool, tkw_handle handle);

/*
 * Tell what a handle stands for; any number is fine.  `shot` (may be NULL) is
 * filled in for timers that are armed or kept.
 */
TKW_EXPORT enum tkw_state tkw_pool_query(const struct tkw_pool *pool,
                                         tkw_handle handle,
                                         struct tkw_shot *shot);

/*
 * Move time forward to `now`.  Whatever is due by then becomes ready.  Time
 * standing still is fine; back is a bug, ignored where assertions are off.
 */
TKW_EXPORT void tkw_pool_advance(struct tkw_pool *pool, tkw_tick now);

/*
 * The same, but move or touch at most `budget` timers; 0 is legal.  Returns
 * whether `now` has been reached; if not, any further advance goes on, and
 * anything may be called in between.  See tkw_wheel_advance_some().  (What is
 * due at the end of a tick is queued then: up to some 8,000 numbers are
 * copied.)
 */
TKW_EXPORT bool tkw_pool_advance_some(struct tkw_pool *pool, tkw_tick now,
                                      size_t budget);

/*
 * Take the next expired timer.  Returns whether there was one, told in `*shot`;
 * its handle is done with.
 */
TKW_EXPORT bool tkw_pool_pop(struct tkw_pool *pool, struct tkw_shot *shot);

/* The same for up to `count` at once.  Returns how many were stored. */
TKW_EXPORT size_t tkw_pool_pop_many(struct tkw_pool *pool,
                                    struct tkw_shot *shots, size_t count);

/*
 * Like tkw_pool_pop_many(), but stop before a timer that was armed after the
 * last advance, for a tick that had come already.  See tkw_wheel_pop_due() for
 * what it is good for.
 */
TKW_EXPORT size_t tkw_pool_pop_due(struct tkw_pool *pool,
                                   struct tkw_shot *shots, size_t count);

/*
 * The same as tkw_pool_pop(), but keep the timer: idle, under its handle, until
 * tkw_pool_rearm() starts it again or tkw_pool_cancel() lets it go.
 */
TKW_EXPORT bool tkw_pool_pop_keep(struct tkw_pool *pool, struct tkw_shot *shot);

/*
 * Tell when to advance next: at the earliest deadline or before it, for a slot
 * that has to fall, that falls in shares, or whose timers were cancelled or
 * postponed.  The present tick while anything is ready or a tick is unfinished;
 * TKW_NEVER if there is nothing to wake up for.  O(levels).
 */
TKW_EXPORT tkw_tick tkw_pool_next(const struct tkw_pool *pool);

/* The tick that time was last advanced to. */
TKW_EXPORT tkw_tick tkw_pool_now(const struct tkw_pool *pool);

/* Armed timers, ready ones included, kept ones not. */
TKW_EXPORT size_t tkw_pool_count(const struct tkw_pool *pool);

TKW_EXPORT struct tkw_pool_figures
tkw_pool_counters(const struct tkw_pool *pool);

/* The pool's dial, for tkw_dial_where().  It knows of no occupied slots. */
TKW_EXPORT const struct tkw_dial *tkw_pool_dial(const struct tkw_pool *pool);

/*
 * Make sure that the next `n` armings, first or again, cannot fail for lack of
 * memory.  Returns 0 or -ENOMEM.  It asks for somewhat more than `n` armings
 * take, so at the limit of memory it may return -ENOMEM though an arming still
 * succeeds.  Where the allocator refuses it looks at about `n` entries, and a
 * thousand more, to collect those of cancelled timers.
 */
TKW_EXPORT int tkw_pool_reserve(struct tkw_pool *pool, size_t n);

/*
 * Visit every armed timer, in no particular order:
 *
 *     struct tkw_pool_cursor walk = {0};
 *     for (struct tkw_shot shot; tkw_pool_walk(pool, &walk, &shot);)
 *         printf("due at %llu\n", (unsigned long long)shot.deadline);
 *
 * Meanwhile timers may be cancelled, and armed: new ones may be missed.
 */
struct tkw_pool_cursor {
    uint32_t next; /* private */
    uint32_t end;  /* private: lest what is armed meanwhile keeps it going */
};

TKW_EXPORT bool tkw_pool_walk(const struct tkw_pool *pool,
                              struct tkw_pool_cursor *walk,
                              struct tkw_shot *shot);

/*
 * Take any armed timer out: for handing everything back at the end.  Returns
 * whether there was one.
 */
TKW_EXPORT bool tkw_pool_drain(struct tkw_pool *pool, struct tkw_shot *shot);

/*
 * Walk everything and say whether it is as it must be: for tests and for
 * assertions of the suspicious.  O(slots + timers).
 */
TKW_EXPORT bool tkw_pool_check(const struct tkw_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
