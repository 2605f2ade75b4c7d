/*
 * libevent.h - timers of a service in a libevent loop.
 *
 * The loop watches the service's descriptor and calls what is due, in its own
 * thread: callbacks may use the event base and its events.  Timers are armed,
 * cancelled and moved as always, by any thread: the loop is woken when it must
 * be, and evthread_use_pthreads() is not needed for that.  However many there
 * are, to the loop they are one event.
 *
 *     struct tkw_service_config config = {.driver = TKW_DRIVER_NONE};
 *     error = tkw_service_open(&service, &config);
 *
 *     struct tkw_event timers;
 *     error = tkw_event_open(&timers, base, service);
 *     tkw_service_arm(service, NULL, 30 * TKW_SECOND, task);
 *     event_base_dispatch(base);
 *     ...
 *     tkw_event_close(&timers);
 *     tkw_service_close(service, NULL, NULL);
 *
 * Promises: those of service.h; a loop that has nothing to do sleeps; and one
 * wake-up calls at most `budget` timers: then the loop sees to its other
 * events, and comes back for the rest.  A loop that is run inside of a
 * callback that it has called runs no timers, and sleeps.
 *
 * While it is open, with timers or without, event_base_dispatch() has something
 * to wait for and does not return by itself.
 *
 * Threads: *owner* - open and close in the loop's thread, or while it does not
 * run.
 */
#ifndef TICKWHEEL_LIBEVENT_H
#define TICKWHEEL_LIBEVENT_H

#include <errno.h>

#include <event2/event.h>

#include <tickwheel/service.h>

#ifdef __cplusplus
extern "C" {
#endif

/* It must stay at its address until it was closed. */
struct tkw_event {
    struct event *event;         /* read-only; to give it a priority, say */
    struct tkw_service *service; /* read-only */
    int budget; /* public: timers called for one wake-up, 0 or less: all that
                   are due; open says 256 */
};

/* Private. */
static inline void tkw_event_on_readable(evutil_socket_t fd, short what,
                                         void *context)
{
    const struct tkw_event *event = (const struct tkw_event *)context;
    (void)fd;
    (void)what;
    /* A callback may close and free it: it is not touched afterwards. */
    (void)tkw_service_run(event->service,
                          event->budget > 0 ? event->budget : 0);
}

/*
 * Let the loop of `base` call the service's timers, those armed before
 * included.
 *
 * Returns 0, or with nothing changed but `*event` what tkw_service_fd() does:
 * -EINVAL if the service has a driver, for one; or -ENOMEM, or whatever else
 * event_add() left in errno.
 */
static inline int tkw_event_open(struct tkw_event *event,
                                 struct event_base *base,
                                 struct tkw_service *service)
{
    int error, fd = tkw_service_fd(service);
    if (fd < 0)
        return fd;
    event->event =
        event_new(base, fd, EV_READ | EV_PERSIST, tkw_event_on_readable, event);
    if (event->event == NULL)
        return -ENOMEM;
    event->service = service;
    event->budget = 256;
    errno = 0;
    if (event_add(event->event, NULL) == 0)
        return 0;
    error = errno != 0 ? -errno : -ENOMEM;
    event_free(event->event);
    return error;
}

/*
 * Let the loop call no more of them; those pending stay so.  From now on the
 * service may be closed.
 *
 * Fine in a callback, too; timers that are due may still be called then, until
 * the loop goes on: tkw_service_stop() prevents it.
 */
static inline void tkw_event_close(struct tkw_event *event)
{
    event_free(event->event);
}

#ifdef __cplusplus
}
#endif

#endif
