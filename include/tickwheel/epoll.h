/*
 * epoll.h - timers of a service in an epoll loop of yours.
 *
 * The service's descriptor is watched with your others, and what is due is
 * called where you say so, in the loop's thread: callbacks may use what the
 * loop uses, without a lock.  Timers are armed, cancelled and moved as always,
 * by any thread: the loop is woken when it must be.
 *
 *     struct tkw_service_config config = {.driver = TKW_DRIVER_NONE};
 *     error = tkw_service_open(&service, &config);
 *     error = tkw_epoll_add(service, epoll, (epoll_data_t){.ptr = service});
 *     ...
 *     int count = epoll_wait(epoll, events, 64, -1);
 *     bool has_timers = false;
 *     for (int i = 0; i < count; i++)
 *         if (events[i].data.ptr == service)
 *             has_timers = true;
 *         else
 *             serve(events[i].data.ptr);
 *     if (has_timers)
 *         tkw_service_run(service, 256);
 *     ...
 *     tkw_epoll_remove(service, epoll);
 *     tkw_service_close(service, NULL, NULL);
 *
 * Call tkw_service_run() after the loop has served all events, as above: a
 * timer's callback may free a connection whose event comes later in `events`.
 *
 * Bound what one wake-up calls, as above: then many that are due at once do not
 * keep the loop from its other events.  What is left keeps the descriptor
 * readable.  No timeout of epoll_wait() is needed, and none is as exact.
 *
 * Promises: those of service.h; and a loop that has nothing to do sleeps,
 * however many timers are pending.
 *
 * Threads: *any thread*; but let one loop in one thread do the running: in a
 * second one tkw_service_run() says -EBUSY.  A loop inside a callback that it
 * has called runs no timers, and sleeps.
 */
#ifndef TICKWHEEL_EPOLL_H
#define TICKWHEEL_EPOLL_H

#include <errno.h>
#include <sys/epoll.h>

#include <tickwheel/service.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Have `epoll` tell, with `data`, when tkw_service_run() should be called,
 * until tkw_epoll_remove(): call that before the service is closed, or close
 * `epoll`.
 *
 * Returns 0, or with nothing changed what tkw_service_fd() does: -EINVAL if the
 * service has a driver, for one; or what epoll_ctl() says: -EEXIST if it was
 * added already, -EBADF, -EINVAL, -ENOMEM, -ENOSPC.
 */
TKW_INLINE int tkw_epoll_add(struct tkw_service *service, int epoll,
                             epoll_data_t data)
{
    struct epoll_event event;
    int fd = tkw_service_fd(service);
    if (fd < 0)
        return fd;
    event.events = EPOLLIN;
    event.data = data;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

/*
 * Have it tell no longer.  Fine in a callback, too; but an event that
 * epoll_wait() has brought already is still in your hands.  What is pending
 * stays so.
 *
 * Returns 0, or with nothing changed -ENOENT if it was not added, or the other
 * errors of tkw_epoll_add().
 */
TKW_INLINE int tkw_epoll_remove(struct tkw_service *service, int epoll)
{
    int fd = tkw_service_fd(service);
    if (fd < 0)
        return fd;
    return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL) == 0 ? 0 : -errno;
}

#ifdef __cplusplus
}
#endif

#endif
