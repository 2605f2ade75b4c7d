/*
 * clock.h - where a service gets its time from, and a clock to turn by hand.
 *
 * A service reads one of the system's clocks unless it is given one of yours.
 * The hand-turned clock is for tests of code that uses timers: an hour passes
 * when the test says so, and the test can wait until all that was due is done.
 *
 *     struct tkw_hand *hand;
 *     tkw_hand_open(&hand, 0);
 *     struct tkw_service_config config = {.clock = tkw_hand_clock(hand)};
 *     tkw_service_open(&service, &config);
 *     ...
 *     tkw_hand_turn(hand, 3600 * TKW_SECOND);
 *     tkw_hand_settle(hand);
 *
 * All times are in nanoseconds since whenever the clock says; UINT64_MAX is
 * never.
 *
 * Threads: *any thread*, for everything in this header that does not say
 * *owner*.
 */
#ifndef TICKWHEEL_CLOCK_H
#define TICKWHEEL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tickwheel/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TKW_MICROSECOND UINT64_C(1000)
#define TKW_MILLISECOND UINT64_C(1000000)
#define TKW_SECOND UINT64_C(1000000000)

/*
 * Convert `count` units of `unit_ns` nanoseconds each to nanoseconds:
 * tkw_duration_ns(timeout_ms, TKW_MILLISECOND).  A product of 2^64 or more
 * becomes UINT64_MAX, which is never, where a plain multiplication would wrap
 * to a short time.
 */
TKW_INLINE uint64_t tkw_duration_ns(uint64_t count, uint64_t unit_ns)
{
    return unit_ns != 0 && count > UINT64_MAX / unit_ns ? UINT64_MAX
                                                        : count * unit_ns;
}

/* The clocks of the system. */
enum tkw_clock_kind {
    TKW_MONOTONIC, /* never steps; stands still while the machine sleeps */
    TKW_BOOTTIME,  /* never steps; goes on while the machine sleeps */
    TKW_WALL, /* since 1970; follows whoever sets it: what calendars want */
};

/*
 * A clock of your own.  All functions may be called from any thread, but only
 * one thread at a time waits.  They are called with locks of the service held,
 * but for wait_until: they must not ask anything of it.
 */
struct tkw_clock {
    /* The time.  It may go back; see `is_wall`. */
    uint64_t (*now)(void *context);
    /* Return when that time has come (UINT64_MAX: never), or at once if wake()
     * was called since the last wait ended, or for no reason. */
    void (*wait_until)(void *context, uint64_t time_ns);
    /* End the wait under way, or if there is none, the next. */
    void (*wake)(void *context);
    void *context;
    /*
     * Whether timers follow when time goes back: those that are pending then
     * wait until their time has come again (those of equal times no longer in
     * the order they were armed).  Otherwise time is taken to stand
     * still until the clock has caught up.
     */
    bool is_wall;
    /*
     * For event loops; both or neither.  A descriptor that is readable from
     * the time on that it was last aimed at (UINT64_MAX: never), and when the
     * clock was set; aiming anew makes it unreadable until then.  Or a
     * negative errno.
     */
    int (*fd)(void *context);
    void (*aim)(void *context, uint64_t time_ns);
};

struct tkw_hand;

/*
 * Make a clock that shows `now_ns` until it is turned.  It can be the clock of
 * one service, and must outlive it.  *Any thread*.  Returns 0 or -ENOMEM.
 */
TKW_EXPORT int tkw_hand_open(struct tkw_hand **hand, uint64_t now_ns);

/* Free it, when no service uses it any more.  NULL is fine.  *Owner*: nobody
 * else may use it meanwhile, and nobody afterwards. */
TKW_EXPORT void tkw_hand_close(struct tkw_hand *hand);

/* The clock, for a service's configuration. */
TKW_EXPORT const struct tkw_clock *tkw_hand_clock(const struct tkw_hand *hand);

/* Make timers follow when it is set back, or not (at first: not).  *Owner*:
 * before a service is opened with it. */
TKW_EXPORT void tkw_hand_be_wall(struct tkw_hand *hand, bool is_wall);

/* The time it shows. */
TKW_EXPORT uint64_t tkw_hand_now(struct tkw_hand *hand);

/* Turn it forward by so much, stopping at UINT64_MAX. */
TKW_EXPORT void tkw_hand_turn(struct tkw_hand *hand, uint64_t ns);

/* Set it, forward or back. */
TKW_EXPORT void tkw_hand_set(struct tkw_hand *hand, uint64_t now_ns);

/*
 * Wait until the service's driver sleeps again: then all callbacks that were
 * due have returned, or if they run elsewhere, were handed over, as far as
 * there was room.  Without a driver, or once the service was stopped, there is
 * nothing to wait for, and this never returns; nor does it inside of a
 * callback.  *Any thread, not in a callback*.
 *
 * Callbacks on workers may still be running then, and a repeating one misses
 * what is turned meanwhile.  Wait for them by a semaphore; or have no workers
 * in the test but a `submit` that calls tkw_job_run() at once: then all has run
 * when this returns.
 */
TKW_EXPORT void tkw_hand_settle(struct tkw_hand *hand);

#ifdef __cplusplus
}
#endif

#endif
