/*
 * epoll.h - timers of a service in your epoll loop.
 *
 * Your epoll instance watches the service's descriptor.  When it is readable,
 * you call tkw_service_run(), and the loop's thread calls the callbacks that
 * are due.  So callbacks may use the loop's data without a lock.  Any thread
 * may arm, cancel and move timers; the service wakes the loop if needed.
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
 * callback may free a connection whose event comes later in `events`.
 *
 * Give tkw_service_run() a budget, as above, so that many due timers do not
 * delay other events.  The descriptor stays readable while timers are due.
 * epoll_wait() needs no timeout for timers.
 *
 * Promises: those of service.h; and an idle loop sleeps, with any number of
 * pending timers.
 *
 * Threads: *any thread*; but call tkw_service_run() in one thread only: during
 * one call, a second thread gets -EBUSY.  A loop that runs inside a timer's
 * callback calls no timers, and sleeps.
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
 * Add the service's descriptor to `epoll`: epoll_wait() then reports an EPOLLIN
 * event with `data` when tkw_service_run() should be called.  Call
 * tkw_epoll_remove(), or close `epoll`, before you close the service.
 *
 * Returns 0, or changes nothing and returns an error of tkw_service_fd(), such
 * as -EINVAL if the service has a driver, or of epoll_ctl():
 *   -EEXIST  the service was added to `epoll` before;
 *   -EBADF, -EINVAL  `epoll` is not an epoll descriptor;
 *   -ENOMEM, -ENOSPC  the kernel has no memory, or too many watches.
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
 * Remove the service's descriptor from `epoll`.  Pending timers stay pending.
 * An event that epoll_wait() has returned before stays in your array.
 *
 * Returns 0, or changes nothing and returns -ENOENT if the service was not
 * added, or another error of tkw_epoll_add().
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
