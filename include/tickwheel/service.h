/*
 * service.h - timers in real time, from any thread.
 *
 * You arm a timer with a delay and a function; when the time has come a thread
 * of the service calls the function.  Any thread may arm, cancel and move any
 * timer at any time, callbacks included.  Cancel takes no lock and tells the
 * truth: if it says that it stopped the timer, its callback will not run.
 *
 *     static void hang_up(void *connection, const struct tkw_firing *firing)
 *     { ... }
 *
 *     struct tkw_service *service;
 *     int error = tkw_service_open(&service, NULL);
 *
 *     tkw_handle handle;
 *     error = tkw_service_arm(service, &handle, 30 * TKW_SECOND,
 *                             (struct tkw_task){hang_up, connection, NULL});
 *     ...
 *     if (tkw_service_cancel(service, handle) == 1)
 *         free(connection);
 *     ...
 *     tkw_service_close(service, NULL, NULL);
 *
 * Promises, beyond those of pool.h:
 *   - never early: a callback starts when its time has come by the service's
 *     clock, or later, by less than a tick if the machine allows;
 *   - one outcome per arming: its callback runs, or it is cancelled, or it is
 *     handed back when the service closes;
 *   - callbacks run with no lock held, one at a time, by ticks, and those that
 *     one thread armed for one tick in the order they were armed (unless there
 *     are more threads than one to a shard: then in the order of the shard);
 *   - it sleeps while nothing is due, and is woken only for a timer that is to
 *     run before all others.
 *
 * A callback that takes long delays the others: it has the only thread there is
 * for them.  With TKW_ROUNDS and a short tick a jump of the clock is dear: the
 * driver makes a turn of the ring for every `size` ticks that have passed.
 *
 * Caveats.  A child of fork() must not use the service, nor close it: its
 * thread is not there.  Nothing here may be called from a signal handler.  The
 * service's thread takes no signals.
 *
 * Threads: each function says *any thread*, *any thread, not in a callback*
 * (of the same service) or *owner*.
 */
#ifndef TICKWHEEL_SERVICE_H
#define TICKWHEEL_SERVICE_H

#include <tickwheel/clock.h>
#include <tickwheel/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tkw_service;

/* The most shards a service can have. */
#define TKW_SHARDS_MAX 32

/* What a callback is told.  It may grow. */
struct tkw_firing {
    struct tkw_service *service;
    tkw_handle handle;
    uint64_t due_ns; /* when it was to be called, as asked for ... */
    uint64_t now_ns; /* ... and when it was: the difference is how late */
};

typedef void tkw_callback(void *argument, const struct tkw_firing *firing);
typedef void tkw_drop(void *argument);

/* What to do when the time has come. */
struct tkw_task {
    tkw_callback *callback;
    void *argument;
    /*
     * Called once if an arming ends without its callback: by whoever cancels,
     * before cancel returns, or by close; with no lock held.  NULL: nobody.
     */
    tkw_drop *drop;
};

enum tkw_driver {
    TKW_DRIVER_THREAD, /* a thread of the service */
    TKW_DRIVER_NONE,   /* you call tkw_service_run() */
};

/* Zero means the default, everywhere: {0} is a good configuration. */
struct tkw_service_config {
    uint64_t tick_ns;             /* length of a tick; 0: a millisecond */
    struct tkw_geometry geometry; /* {0}: the default */
    uint32_t shards;              /* 0: one for each processor, up to 16 */
    enum tkw_driver driver;
    enum tkw_clock_kind clock_kind;
    const struct tkw_clock *clock; /* NULL: of clock_kind; else with all three
                                      functions, and outliving the service */
    const struct tkw_allocator *allocator; /* NULL: malloc and free; else it
                                              must outlive the service, and be
                                              fit for any thread */
    size_t timers_max;                     /* refuse to arm more; 0: no limit */
    const char *thread_name;               /* NULL: "tickwheel" */
    void (*thread_start)(void *context);   /* called first by its thread */
    void (*log)(void *context, const char *message); /* of what is odd; it may
                                                        do what a callback may
                                                        */
    void *context;                                   /* for these two */
    uint64_t reserved[4];                            /* must be 0 */
};

/* A time and how far away it is: 0 if it has come, UINT64_MAX if it never
 * does. */
struct tkw_outlook {
    uint64_t due_ns;
    uint64_t remaining_ns;
};

/* A timer that never ran, as it is handed back. */
struct tkw_rest {
    tkw_handle handle;
    uint64_t due_ns;
    struct tkw_task task;
};

typedef void tkw_hand_back(void *context, const struct tkw_rest *rest);

/*
 * What a service has done.  At rest armed = fired + cancelled + pending; while
 * others use it, it may be off by the calls in flight.
 */
struct tkw_service_figures {
    uint64_t armed; /* moving a timer is no arming, starting one again is */
    uint64_t fired; /* callbacks that were started */
    uint64_t cancelled;
    uint64_t pending;
    uint64_t wakeups;    /* of the driver, for whatever reason ... */
    uint64_t calls;      /* ... and how often it was woken by arming */
    uint64_t steps_back; /* times that the clock was seen to have gone back */
};

/*
 * Open a service and start its thread.  NULL is the configuration {0}.
 *
 * Returns 0 and the service in `*service`, or with `*service` untouched:
 *   -EINVAL  something in the configuration is wrong, or a reserved field is
 *            not 0;
 *   -ENOMEM  there is no memory;
 *   -EAGAIN, -EMFILE, -ENFILE  there are no more threads or descriptors.
 */
TKW_EXPORT int tkw_service_open(struct tkw_service **service,
                                const struct tkw_service_config *config);

/*
 * Arm a new timer: call `task` when `delay_ns` have passed from now.  A delay
 * of 0 is called as soon as possible, by the same way as all others.  A sum
 * beyond the end of time never comes.  *Any thread*.
 *
 * Returns 0 and the handle in `*handle` (may be NULL), stored before the
 * callback can start, or with nothing changed:
 *   -EINVAL     there is no callback;
 *   -ENOMEM     there is no memory;
 *   -EAGAIN     as many timers as allowed are pending, or the shard of this
 *               thread has as many as it can, some 134 million;
 *   -ESHUTDOWN  the service was stopped.
 */
TKW_EXPORT int tkw_service_arm(struct tkw_service *service, tkw_handle *handle,
                               uint64_t delay_ns, struct tkw_task task);

/* The same at a time of the service's clock; one that has passed is a delay of
 * 0, and UINT64_MAX never comes.  *Any thread*. */
TKW_EXPORT int tkw_service_arm_at(struct tkw_service *service,
                                  tkw_handle *handle, uint64_t time_ns,
                                  struct tkw_task task);

/*
 * Arm a timer again under its handle: move one that is pending, to any time; or
 * start one again whose callback is running, in the callback or elsewhere.
 * Among equals it is the last.  *Any thread*.
 *
 * Returns 1, or 0 if the timer is neither, or is running and was cancelled:
 * then nothing more is called or dropped; or with nothing changed -ENOMEM,
 * -EAGAIN or -ESHUTDOWN.
 */
TKW_EXPORT int tkw_service_rearm(struct tkw_service *service, tkw_handle handle,
                                 uint64_t delay_ns);
TKW_EXPORT int tkw_service_rearm_at(struct tkw_service *service,
                                    tkw_handle handle, uint64_t time_ns);

/*
 * Move a timer that is pending, cheaply if to a later time; among equals it may
 * then have any place.  *Any thread*.
 *
 * Returns 1, or 0 if the timer is not pending (any more), its callback running
 * included; or with nothing changed -ENOMEM or -ESHUTDOWN.
 */
TKW_EXPORT int tkw_service_postpone(struct tkw_service *service,
                                    tkw_handle handle, uint64_t delay_ns);
TKW_EXPORT int tkw_service_postpone_at(struct tkw_service *service,
                                       tkw_handle handle, uint64_t time_ns);

/*
 * Stop a timer.  Takes no lock.  *Any thread*.  Returns
 *   1       it was pending, and its callback will not run: you stopped it;
 *   0       there was nothing to stop: it is done, was cancelled before, or
 *           the handle is stale; tkw_service_query() tells which;
 *   -EBUSY  its callback is running now, and will not run again: what it has
 *           been armed for meanwhile is stopped, and it can not be armed again.
 *           If it had been, its drop function is called when the callback has
 *           returned.  Otherwise the argument is the callback's.
 */
TKW_EXPORT int tkw_service_cancel(struct tkw_service *service,
                                  tkw_handle handle);

/*
 * The same, but if the callback is running, wait until it has returned; then
 * what it uses may be freed.  *Any thread*.  Returns 1 or 0 as above, 0 if it
 * had to wait, or
 *   -EDEADLK  it is the callback of this very timer that asks; nothing has
 *             changed.
 *
 * Do not hold a lock that the callback takes.  A 0 because somebody else has
 * cancelled it does not wait for the drop function that they are calling.
 */
TKW_EXPORT int tkw_service_cancel_sync(struct tkw_service *service,
                                       tkw_handle handle);

/*
 * Tell what a handle stands for; any number is fine.  Between its time and its
 * callback a timer is TKW_READY; while the callback is running, TKW_RUNNING,
 * armed again or not.  `outlook` (may be NULL) is filled in for timers that are
 * pending or ready.  *Any thread*.
 */
TKW_EXPORT enum tkw_state tkw_service_query(struct tkw_service *service,
                                            tkw_handle handle,
                                            struct tkw_outlook *outlook);

/* The time, by the service's clock.  *Any thread*. */
TKW_EXPORT uint64_t tkw_service_now(struct tkw_service *service);

/* Timers whose callback is yet to start.  *Any thread*. */
TKW_EXPORT size_t tkw_service_count(struct tkw_service *service);

/* *Any thread*. */
TKW_EXPORT struct tkw_service_figures
tkw_service_counters(struct tkw_service *service);

/*
 * Without a driver: call what is due, at most `budget` callbacks (0: no bound),
 * in the calling thread.  A callback that arms itself for now over and over
 * keeps it from returning, if nothing else bounds it.  Nothing is called once
 * the service was stopped.  *Any thread, not in a callback*.
 *
 * Returns how many were called, or
 *   -EBUSY   another thread is at it;
 *   -EDEADLK from inside a callback;
 *   -EINVAL  the service has a driver, or the budget is negative.
 */
TKW_EXPORT int tkw_service_run(struct tkw_service *service, int budget);

/*
 * Without a driver: when to call tkw_service_run() next; it may find nothing
 * due then.  UINT64_MAX: not before something is armed; or the service was
 * stopped.  While another thread is at running, that is now.  Whoever sleeps
 * until then hears of an earlier timer by the clock's wake().  *Any thread*.
 */
TKW_EXPORT uint64_t tkw_service_next(struct tkw_service *service);

/*
 * Start no more callbacks, and refuse to arm.  Waits until no callback is
 * running, unless a callback of this service calls it: so do not hold a lock
 * that a callback takes.  What is pending stays so, and can be cancelled, until
 * close hands it back.  Any number of times.  *Any thread*.
 */
TKW_EXPORT void tkw_service_stop(struct tkw_service *service);

/*
 * Stop, end the thread, hand back every timer that is pending, and free the
 * service.  For each of them `each` is called (may be NULL), then its drop
 * function; both may still ask and cancel.  NULL is a service that is fine to
 * close.
 *
 * *Owner*: nobody else may use the service meanwhile, and nobody afterwards; it
 * may be called in a callback of another service, but not of this one, nor by
 * `thread_start`.
 *
 * Returns 0, or -EDEADLK from inside a callback, with nothing changed.
 */
TKW_EXPORT int tkw_service_close(struct tkw_service *service,
                                 tkw_hand_back *each, void *context);

#ifdef __cplusplus
}
#endif

#endif
