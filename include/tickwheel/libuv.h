/*
 * libuv.h - timers of a service in a libuv loop.
 *
 * The loop watches the service's descriptor and calls what is due, in its own
 * thread: callbacks may use the loop and its handles.  Timers are armed,
 * cancelled and moved as always, by any thread: the loop is woken when it must
 * be.  However many there are, to the loop they are one handle.
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
 * And then `timers` is yours again.
 *
 * Promises: those of service.h; a loop that has nothing to do sleeps; and one
 * wake-up calls at most `budget` timers: then the loop sees to its other
 * handles, and comes back for the rest.  A loop that is run inside of a
 * callback that it has called runs no timers, and sleeps.
 *
 * What differs from uv_timer_t:
 *   - libuv calls its timers in a phase of their own, at the beginning of a
 *     turn of the loop (and after polling).  Here a poll handle calls them, so
 *     they run in the poll phase: after prepare callbacks, among the callbacks
 *     of other descriptors, and before check callbacks;
 *   - a timer that arms itself with a delay of 0 is called once in each turn of
 *     the loop, as in libuv;
 *   - uv_run() with UV_RUN_ONCE can return though no timer was called: the loop
 *     also wakes up to move timers to a lower level of their wheel.  Call it
 *     again until what you wait for has happened.
 *
 * The loop is alive while it is open, with timers or without:
 * uv_unref((uv_handle_t *)&timers.poll) if it should not be.
 *
 * uv.h needs the names of POSIX: with -std=c11 define _POSIX_C_SOURCE as
 * 200809L before anything is included.
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

/* Told that a `struct tkw_uv` is its owner's again. */
typedef void tkw_uv_closed(struct tkw_uv *uv);

/* It must stay at its address until it was closed. */
struct tkw_uv {
    uv_poll_t poll;              /* read-only */
    struct tkw_service *service; /* read-only */
    int budget; /* public: timers called for one wake-up, 0 or less: all that
                   are due; open says 256 */
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
 * Let `loop` call the service's timers, those armed before included.
 *
 * Returns 0, or with nothing changed but `*uv` what tkw_service_fd() does:
 * -EINVAL (which is UV_EINVAL) if the service has a driver, for one; or what
 * uv_poll_init() says: UV_EEXIST if the loop has the service already.
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
    /* It fails if another handle has the descriptor, and none has: init looked
     * for that. */
    return uv_poll_start(&uv->poll, UV_READABLE, tkw_uv_on_readable);
}

/*
 * Let the loop call no more of them; those pending stay so.  From now on the
 * service may be closed; `*uv` is yours again when the loop has called `closed`
 * (may be NULL), never before this returns.
 *
 * Fine in a callback, too; timers that are due may still be called then, until
 * the loop goes on: tkw_service_stop() prevents it.
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
