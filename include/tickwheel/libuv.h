/*
 * libuv.h - timers of a service in a libuv loop.
 *
 * The loop watches the service's descriptor and calls the callbacks that are
 * due, in its own thread.  So callbacks may use the loop and its handles.  Any
 * thread may arm, cancel and move timers; the service wakes the loop if needed.
 * All timers of a service together are one handle of the loop.
 *
 *     struct tkw_service_config config = {.driver = TKW_DRIVER_NONE};
 *     error = tkw_service_open(&service, &config);
 *
 *     struct tkw_uv timers;
 *     error = tkw_uv_open(&timers, loop, service);
 *     tkw_service_arm(service, NULL, 30 * TKW_SECOND, task);
 *     uv_run(loop, UV_RUN_DEFAULT);
 *     ...
 *     tkw_uv_close(&timers, NULL);
 *     tkw_service_close(service, NULL, NULL);
 *     uv_run(loop, UV_RUN_DEFAULT);
 *
 * After the last uv_run() you may free `timers`.
 *
 * Promises, beyond those of service.h:
 *   - an idle loop sleeps;
 *   - one wake-up calls at most `budget` callbacks.  Then the loop serves its
 *     other handles before it calls the rest.
 *
 * Differences from uv_timer_t:
 *   - callbacks run in the poll phase of the loop: after prepare callbacks,
 *     among the callbacks of other descriptors, before check callbacks;
 *   - uv_run() with UV_RUN_ONCE can return though it called no timer: the loop
 *     also wakes up to move timers to a lower level of their wheel.  Call it
 *     again until your event has happened.
 * As in libuv, a timer that arms itself with a delay of 0 is called once in
 * each turn of the loop.
 *
 * Caveats:
 *   - a loop that runs inside a timer's callback calls no timers, and sleeps;
 *   - an open `struct tkw_uv` keeps the loop alive, also without timers; call
 *     uv_unref((uv_handle_t *)&timers.poll) to prevent it;
 *   - uv.h needs names of POSIX: with -std=c11, define _POSIX_C_SOURCE as
 *     200809L before the first include.
 *
 * Threads: *owner* - the loop's thread opens and closes.
 */
#ifndef TICKWHEEL_LIBUV_H
#define TICKWHEEL_LIBUV_H

#include <uv.h>

#include <tickwheel/service.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tkw_uv;

/* Called by the loop when `*uv` is closed and you may free it. */
typedef void tkw_uv_closed(struct tkw_uv *uv);

/* Connects a service to a loop.  It must stay at its address until it is
 * closed. */
struct tkw_uv {
    uv_poll_t poll;              /* read-only */
    struct tkw_service *service; /* read-only */
    int budget; /* public: the most callbacks in one wake-up; open sets 256; 0
                   or less: no limit */
    void *data; /* public: yours */
    tkw_uv_closed *closed; /* private */
};

/* Private. */
static inline void tkw_uv_on_readable(uv_poll_t *poll, int status, int events)
{
    const struct tkw_uv *uv = (const struct tkw_uv *)poll->data;
    (void)status;
    (void)events;
    (void)tkw_service_run(uv->service, uv->budget > 0 ? uv->budget : 0);
}

/* Private. */
static inline void tkw_uv_on_close(uv_handle_t *handle)
{
    struct tkw_uv *uv = (struct tkw_uv *)handle->data;
    if (uv->closed != NULL)
        uv->closed(uv);
}

/*
 * Connect the service to `loop`, which then calls its timers, also those armed
 * before.
 *
 * Returns 0, or changes nothing but `*uv` and returns
 *   UV_EINVAL  the service has a driver;
 *   UV_EEXIST  the service is connected to the loop already;
 *   others     see tkw_service_fd() and uv_poll_init().
 */
static inline int tkw_uv_open(struct tkw_uv *uv, uv_loop_t *loop,
                              struct tkw_service *service)
{
    int error, fd = tkw_service_fd(service);
    if (fd < 0)
        return fd;
    error = uv_poll_init(loop, &uv->poll, fd);
    if (error != 0)
        return error;
    uv->poll.data = uv;
    uv->service = service;
    uv->budget = 256;
    uv->closed = NULL;
    /* It fails only if another handle has the descriptor: uv_poll_init() has
     * excluded that. */
    return uv_poll_start(&uv->poll, UV_READABLE, tkw_uv_on_readable);
}

/*
 * Disconnect the service from the loop.  Pending timers stay pending.  You may
 * close the service when the call has returned, and free `*uv` when the loop
 * has called `closed` (may be NULL), in a later turn.
 *
 * If a timer's callback makes the call, the loop may still call other timers
 * that are due before it serves other events; tkw_service_stop() prevents that.
 */
static inline void tkw_uv_close(struct tkw_uv *uv, tkw_uv_closed *closed)
{
    uv->closed = closed;
    uv_close((uv_handle_t *)&uv->poll, tkw_uv_on_close);
}

#ifdef __cplusplus
}
#endif

#endif
