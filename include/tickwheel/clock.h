/*
 * clock.h - the clock that a service reads, and a manual clock for tests.
 *
 * A service reads a clock of the system unless its configuration names another
 * one.  A manual clock is for tests of code that uses timers: its time changes
 * only when the test advances it, and the test can wait until the service has
 * run everything that is due.
 *
 *     struct tkw_manual_clock *clock;
 *     tkw_manual_clock_open(&clock, 0);
 *     struct tkw_service_config config = {
 *         .clock = tkw_manual_clock_source(clock),
 *     };
 *     tkw_service_open(&service, &config);
 *     ...
 *     tkw_manual_clock_advance(clock, 3600 * TKW_SECOND);
 *     tkw_manual_clock_settle(clock);
 *
 * A time is a number of nanoseconds since an origin that the clock chooses.
 * UINT64_MAX means never.
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
    TKW_MONOTONIC, /* never set; stops while the machine is suspended */
    TKW_BOOTTIME,  /* never set; runs on while the machine is suspended */
    TKW_WALL,      /* the time of day, since 1970; can be set; for calendars */
};

/*
 * A clock of your own.  `now`, `wait_until` and `wake` are required.  Any
 * thread may call the functions, but only one thread at a time calls
 * wait_until().  The service calls all but wait_until() with locks held: these
 * functions must not call the service.
 */
struct tkw_clock {
    /* Return the time.  It may go back; see `is_wall`. */
    uint64_t (*now)(void *context);
    /* Block until `time_ns` (UINT64_MAX: for ever) or until wake() is called.
     * Return at once if wake() was called since the last wait ended.  Returning
     * early for other reasons is allowed. */
    void (*wait_until)(void *context, uint64_t time_ns);
    /* End the current wait or, if no thread waits, the next one. */
    void (*wake)(void *context);
    void *context;
    /*
     * true: when the clock goes back, pending timers wait until their time
     * comes again, and those of equal times lose their arming order.
     * false: the service's time then stands still until the clock has caught
     * up.
     */
    bool is_wall;
    /*
     * For event loops; both or neither.  fd() always returns one descriptor,
     * or a negative errno.  aim() makes it unreadable until `time_ns`
     * (UINT64_MAX: for ever) or until the clock is set, and readable then.
     */
    int (*fd)(void *context);
    void (*aim)(void *context, uint64_t time_ns);
};

struct tkw_manual_clock;

/*
 * Open a clock that shows `now_ns` until tkw_manual_clock_advance() or
 * tkw_manual_clock_set() changes it.  It can be the clock of one service, and
 * must outlive that service.  *Any thread*.  Returns 0 or -ENOMEM.
 */
TKW_EXPORT int tkw_manual_clock_open(struct tkw_manual_clock **clock,
                                     uint64_t now_ns);

/* Free the clock.  Close the service that uses it first.  `clock` may be NULL:
 * the call does nothing.  *Owner*: no other thread may use the clock during the
 * call or after it. */
TKW_EXPORT void tkw_manual_clock_close(struct tkw_manual_clock *clock);

/* Return the clock in the form that the configuration of a service takes.  It
 * is valid until the manual clock is closed. */
TKW_EXPORT const struct tkw_clock *
tkw_manual_clock_source(const struct tkw_manual_clock *clock);

/* Set `is_wall` of the clock; see struct tkw_clock.  A new clock has false.
 * *Owner*: before a service is opened with it. */
TKW_EXPORT void tkw_manual_clock_set_wall(struct tkw_manual_clock *clock,
                                          bool is_wall);

/* Return the time that the clock shows. */
TKW_EXPORT uint64_t tkw_manual_clock_now(struct tkw_manual_clock *clock);

/* Move the time forward by `ns`, to UINT64_MAX at most. */
TKW_EXPORT void tkw_manual_clock_advance(struct tkw_manual_clock *clock,
                                         uint64_t ns);

/* Set the time, forward or back. */
TKW_EXPORT void tkw_manual_clock_set(struct tkw_manual_clock *clock,
                                     uint64_t now_ns);

/*
 * Wait until the driver of the service sleeps again.  By then all callbacks
 * that were due have returned; callbacks that run on workers or by `submit`
 * were handed over, as far as there was room.  *Any thread, not in a callback*.
 *
 * The call never returns if the service has no driver or was stopped.  Called
 * by a callback that the driver runs, it never returns either.
 *
 * Callbacks on workers may still be running when the call returns, and a
 * repeating timer misses the periods that the test advances over meanwhile.
 * Wait for such callbacks by a semaphore; or configure no workers but a
 * `submit` that calls tkw_job_run() at once: then every callback has returned
 * when this call does.
 */
TKW_EXPORT void tkw_manual_clock_settle(struct tkw_manual_clock *clock);

#ifdef __cplusplus
}
#endif

#endif
