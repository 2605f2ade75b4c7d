/*
 * libevent.h - timers of a service in a libevent loop.
 *
 * The loop watches the service's descriptor and calls the callbacks that are
 * due, in its own thread.  So callbacks may use the event base and its events.
 * Any thread may arm, cancel and move timers; the service wakes the loop if
 * needed, without evthread_use_pthreads().  All timers of a service together
 * are one event of the loop.
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
 * Promises, beyond those of service.h:
 *   - an idle loop sleeps;
 *   - one wake-up calls at most `budget` callbacks.  Then the loop serves its
 *     other events before it calls the rest.
 *
 * Caveats:
 *   - a loop that runs inside a timer's callback calls no timers, and sleeps;
 *   - event_base_dispatch() does not return by itself while a `struct
 *     tkw_event` is open, also without timers.
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

/* Connects a service to a loop.  It must stay at its address until it is
 * closed. */
struct tkw_event {
    struct event *event;         /* read-only; for event_priority_set() */
    struct tkw_service *service; /* read-only */
    int budget; /* public: the most callbacks in one wake-up; open sets 256; 0
                   or less: no limit */
};

/* Private. */
static inline void tkw_event_on_readable(evutil_socket_t fd, short what,
                                         void *context)
{
    const struct tkw_event *event = (const struct tkw_event *)context;
    (void)fd;
    (void)what;
    /* A callback may close and free `*event`: do not use it after this. */
    (void)tkw_service_run(event->service,
                          event->budget > 0 ? event->budget : 0);
}

/*
 * Connect the service to the loop of `base`, which then calls its timers, also
 * those armed before.
 *
 * Returns 0, or changes nothing but `*event` and returns
 *   -EINVAL  the service has a driver;
 *   -ENOMEM  there is no memory;
 *   others   see tkw_service_fd(), or as errno after event_add().
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
 * Disconnect the service from the loop.  Pending timers stay pending.  You may
 * free `*event` and close the service when the call has returned.
 *
 * If a timer's callback makes the call, the loop may still call other timers
 * that are due before it serves other events; tkw_service_stop() prevents that.
 */
static inline void tkw_event_close(struct tkw_event *event)
{
    event_free(event->event);
}

#ifdef __cplusplus
}
#endif

#endif
