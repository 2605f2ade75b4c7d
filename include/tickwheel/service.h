/*
 * service.h - timers in real time, from any thread.
 *
 * You arm a timer with a delay and a callback.  When the delay has passed, a
 * thread of the service calls the callback.  Any thread may arm, cancel or move
 * any timer at any time, also inside a callback.  Cancel takes no lock, and its
 * result is final: if it returns 1, the callback does not run.
 *
 *     void hang_up(void *connection, const struct tkw_firing *firing);
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
 * It is not for hard real time, and timers end with the process.  wheel.h and
 * pool.h have timers without threads and without a clock.
 *
 * Words.  A *tick* is the unit to which the service rounds times up, 100 us by
 * default.  The *driver* is the thread that waits until timers are due.  An
 * *executor* runs callbacks: the driver, worker threads of the service, or
 * threads of yours.  A *shard* is a part of an executor's timers with its own
 * lock.  A timer is *pending* from its arming until its callback starts.
 *
 * Promises, beyond those of pool.h:
 *   - never early: a callback starts when the service's clock shows its time,
 *     or later, by less than a tick if the machine allows;
 *   - one outcome per arming: the callback runs, or a cancel ends the arming,
 *     or tkw_service_close() hands the timer back;
 *   - callbacks run with no lock held, and with TKW_ON_DRIVER one at a time;
 *   - each executor receives callbacks in the order of their ticks, and those
 *     of one tick in arming order if one thread armed them for one owner, or
 *     all without an owner;
 *   - the driver sleeps unless timers are due or have to move to a lower level
 *     of the wheel.  Arming wakes the driver only if it would wake too late.
 *
 * Limits:
 *   - a slow callback delays the others of its thread: run slow ones on workers
 *     or through `submit`;
 *   - while the queue of the workers is full, their timers stay pending;
 *   - each shard allocates more than 1 MB when the service is opened, and about
 *     2 MB with its first timer, most of it untouched while there are few
 *     timers.  Set fewer `shards` where that is too much;
 *   - with TKW_ROUNDS and a short tick, a jump of the clock costs time: the
 *     driver makes a turn of the ring for every `size` ticks of the jump.
 *
 * Caveats:
 *   - a child of fork() must not use or close the service: its threads are in
 *     the parent only;
 *   - signal handlers must not call any function of this header;
 *   - the service's threads block all signals;
 *   - two callbacks that cancel each other by tkw_service_cancel_sync() block
 *     for ever;
 *   - a C++ exception or a longjmp() out of a callback leaves the service
 *     unusable.
 *
 * Threads: each function says *owner*, or *any thread*, which includes
 * callbacks, or *any thread, not in a callback* of this service.
 */
#ifndef TICKWHEEL_SERVICE_H
#define TICKWHEEL_SERVICE_H

#include <tickwheel/clock.h>
#include <tickwheel/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tkw_service;

/* The most shards that an executor of a service can have. */
#define TKW_SHARDS_MAX 16

/* Describes a call of a callback.  Later versions may add fields. */
struct tkw_firing {
    struct tkw_service *service;
    tkw_handle handle;
    uint64_t due_ns;   /* when the timer was due, with jitter and slack ... */
    uint64_t now_ns;   /* ... and when the call began */
    uint64_t overruns; /* of a repeating timer: periods missed; see
                          tkw_service_arm_plan() */
};

/* The functions of a timer: see struct tkw_task. */
typedef void tkw_callback(void *argument, const struct tkw_firing *firing);
typedef void tkw_drop(void *argument);

/* The functions that a timer calls, and their argument. */
struct tkw_task {
    tkw_callback *callback; /* called when the timer is due */
    void *argument;         /* passed to all functions of the timer */
    /*
     * NULL: none.  Called once, with no lock held, if an arming ends without
     * its callback: by the thread that cancels, before cancel returns; if the
     * callback was running, by its thread, when it has returned; or by
     * tkw_service_close().  For a repeating timer, called once when the timer
     * ends, for any reason.
     */
    tkw_drop *drop;
};

/* Where callbacks run. */
enum tkw_executor {
    TKW_ANYWHERE,   /* for a timer: as for the service; for the service: by
                      `submit` if there is one, else on workers if there are
                      any, else on the driver */
    TKW_ON_DRIVER,  /* one at a time: in the driver, or in a thread beside it if
                      there are other executors; in tkw_service_run() if there
                      is no driver */
    TKW_ON_WORKERS, /* in the service's worker threads */
    TKW_BY_SUBMIT,  /* in the thread that calls tkw_job_run() */
};

/* How a repeating timer treats periods that ended before its callback had
 * returned. */
enum tkw_missed {
    TKW_SKIP,  /* no call for them; the next call is at the next whole period */
    TKW_BURST, /* one call for each, one after the other; without end if calls
                  take longer than the period; without a driver, one call in
                  each tkw_service_run() */
    TKW_DELAY, /* no call for them; the next call is a period from now, and
                  later ones follow that; a call that is late by less than a
                  period moves nothing (unlike tokio's Delay) */
};

/*
 * Return the time of the service's clock at which to call a timer again, after
 * a call that began at `now_ns` and was due at `due_ns` (without jitter and
 * slack).  A time that has passed means at once.  UINT64_MAX ends the timer.
 *
 * The thread of the callback calls this function after the callback, with no
 * lock held, unless the timer was armed again or cancelled meanwhile.
 */
typedef uint64_t tkw_next_time(void *argument, uint64_t due_ns,
                               uint64_t now_ns);

/*
 * An owner of timers of one service, a member of your connection, for example:
 * tkw_service_cancel_owner() cancels all of them.  Zero it before use.  It must
 * stay at its address until tkw_service_cancel_owner() has returned.
 */
struct tkw_owner {
    uint32_t first[4]; /* private */
};

/* All settings of a timer.  Zero means the default, for all but `task`. */
struct tkw_plan {
    struct tkw_task task;
    uint64_t when_ns; /* a delay; with `is_time`, a time of the clock */
    bool is_time;
    enum tkw_executor executor;
    enum tkw_missed missed;  /* only with a period */
    uint64_t period_ns;      /* 0: call once; else the time between calls */
    tkw_next_time *next;     /* NULL: none; else it returns when to call again;
                                not with a period */
    uint64_t jitter_ns;      /* 0: none; adds less than this to each call, at
                                random */
    uint64_t slack_ns;       /* 0: none; may add up to this to each call, to
                                share a tick with others */
    struct tkw_owner *owner; /* NULL: none */
    uint64_t reserved[2];    /* must be 0 */
};

/*
 * A timer that is due, as `submit` gets it.  You may copy it.  Run or return it
 * exactly once.
 */
struct tkw_job {
    struct tkw_service *service;
    uint64_t due_ns;
    uint64_t word;     /* private */
    uint32_t place[2]; /* private */
};

/*
 * Accept a job, to run or return it in any thread at any later time.  The
 * driver or tkw_service_run() calls this function, with no lock held; all
 * timers wait until it returns.  It may do all that a callback may.  Returns
 *   0         the job is accepted;
 *   non-zero  there is no room: the service calls again after a job has run, or
 *             a tick later.
 */
typedef int tkw_submit(void *context, const struct tkw_job *job);

/* The thread that waits for timers and starts their callbacks. */
enum tkw_driver {
    TKW_DRIVER_THREAD, /* a thread of the service */
    TKW_DRIVER_NONE,   /* none: you call tkw_service_run() */
};

/* Zero means the default for every field: {0} is a good configuration. */
struct tkw_service_config {
    uint64_t tick_ns;             /* 0: 100 us; the length of a tick */
    struct tkw_geometry geometry; /* {0}: the default; see dial.h */
    uint32_t shards;              /* 0: one for each processor, up to 16; the
                                     shards of each executor */
    enum tkw_driver driver;
    enum tkw_clock_kind clock_kind;
    const struct tkw_clock *clock; /* NULL: the system's, of clock_kind; else it
                                      must outlive the service */
    const struct tkw_allocator *allocator; /* NULL: malloc and free; else it
                                              must outlive the service, and any
                                              thread may call it */
    size_t timers_max;                     /* 0: no limit; reject more pending
                                              timers */
    const char *thread_name;               /* NULL: "tickwheel"; the driver's
                                              name, cut to 15 bytes.  Workers
                                              are "tickwheel/w1" and so on, the
                                              separate thread of TKW_ON_DRIVER
                                              "tickwheel/d1", cut to 10 bytes
                                              before the /.  Copied */
    void (*thread_start)(void *context);   /* NULL: none; each thread of the
                                              service calls it first */
    void (*log)(void *context, const char *message); /* NULL: none; called when
                                                        the clock went back, by
                                                        the driver or by
                                                        tkw_service_run(); it
                                                        may do all that a
                                                        callback may */
    void *context;                                   /* for these two */
    uint32_t workers;           /* 0: none; threads for callbacks, up to
                                   1,024 */
    uint32_t queue_max;         /* 0: 1,024; callbacks that can wait for the
                                   workers, up to 2^24 */
    tkw_submit *submit;         /* NULL: none */
    void *submit_context;       /* for submit */
    enum tkw_executor executor; /* of timers without one of their own */
    uint64_t reserved[4];       /* must be 0 */
};

/* When a timer is due; UINT64_MAX means never. */
struct tkw_outlook {
    uint64_t due_ns;       /* by the service's clock */
    uint64_t remaining_ns; /* from now; 0 if the timer is due */
};

/* A timer that was pending when the service was closed. */
struct tkw_pending_timer {
    tkw_handle handle;
    uint64_t due_ns;
    struct tkw_task task;
};

/* Called by tkw_service_close() for each pending timer. */
typedef void tkw_pending_each(void *context,
                              const struct tkw_pending_timer *timer);

/*
 * Counters of a service, and how late its callbacks started.  While other
 * threads use the service, calls in progress may be counted in part.  At rest
 *
 *     armed = fired + cancelled + handed_back + pending
 *
 * A callback is late by the time from when its timer was due to its start.  The
 * percentiles are rounded up by at most a sixteenth.
 */
struct tkw_service_stats {
    uint64_t armed;       /* armings; arming a running timer again is one,
                             moving a pending timer is not */
    uint64_t fired;       /* callbacks started */
    uint64_t cancelled;   /* armings ended by a cancel */
    uint64_t handed_back; /* armings ended by tkw_service_close() so far */
    uint64_t pending;     /* timers */
    uint64_t wakeups;     /* searches for due timers, by the driver or
                             by tkw_service_run() */
    uint64_t woken;       /* times that an arming, or room in a full queue,
                             woke the driver or the loop that polls the
                             descriptor */
    uint64_t steps_back;  /* times that the clock was seen to go back */
    uint64_t falls;       /* timers moved to a lower level of their wheel */
    uint64_t overruns;    /* periods skipped by TKW_SKIP and TKW_DELAY */
    uint64_t late_p50_ns;
    uint64_t late_p90_ns;
    uint64_t late_p99_ns;
    uint64_t late_p999_ns;
    uint64_t late_max_ns;
    uint64_t late_sum_ns;
    uint64_t slowest_ns;            /* time of the slowest callback ... */
    tkw_callback *slowest_callback; /* ... and that callback, or NULL */
};

/* Return a short static text that describes an error in `config`, or NULL if
 * there is none.  *Any thread*. */
TKW_EXPORT const char *
tkw_service_config_fault(const struct tkw_service_config *config);

/*
 * Open a service and start its threads.  NULL means {0}.  *Any thread*.
 *
 * Returns 0 and stores the service in `*service`, or leaves `*service` as it is
 * and returns
 *   -EINVAL  the configuration is wrong: see tkw_service_config_fault();
 *   -ENOMEM  there is no memory;
 *   -EAGAIN, -EMFILE, -ENFILE  there are no more threads or descriptors.
 */
TKW_EXPORT int tkw_service_open(struct tkw_service **service,
                                const struct tkw_service_config *config);

/*
 * Arm a new timer that calls `task.callback` when `delay_ns` have passed.  With
 * a delay of 0 the executor makes the call as soon as possible.  If the time
 * does not fit into 64 bits, the timer is never due.  *Any thread*.
 *
 * Returns 0 and stores the handle in `*handle` (`handle` may be NULL) before
 * the callback can start; or changes nothing and returns
 *   -EINVAL     there is no callback;
 *   -ENOMEM     there is no memory;
 *   -EAGAIN     `timers_max` timers are pending, or the shard holds some 67
 *               million;
 *   -ESHUTDOWN  the service was stopped.
 */
TKW_EXPORT int tkw_service_arm(struct tkw_service *service, tkw_handle *handle,
                               uint64_t delay_ns, struct tkw_task task);

/* Like tkw_service_arm(), but the timer belongs to `owner`: see
 * tkw_service_cancel_owner().  `owner` may be NULL: the timer has none.  *Any
 * thread*. */
TKW_EXPORT int tkw_service_arm_owned(struct tkw_service *service,
                                     tkw_handle *handle, uint64_t delay_ns,
                                     struct tkw_task task,
                                     struct tkw_owner *owner);

/* Like tkw_service_arm(), but for the time `time_ns` of the service's clock.  A
 * time that has passed is due at once, and late since `time_ns`.  UINT64_MAX is
 * never due.  *Any thread*. */
TKW_EXPORT int tkw_service_arm_at(struct tkw_service *service,
                                  tkw_handle *handle, uint64_t time_ns,
                                  struct tkw_task task);

/*
 * Arm a timer with all settings of `plan`, which is copied.  *Any thread*.
 * Returns the values of tkw_service_arm(), and -EINVAL also if
 *   - there are a period and a `next`, or `missed` without a period;
 *   - the service does not have the executor;
 *   - an enum is out of range, or a reserved field is not 0.
 *
 * A repeating timer, with a period or a `next`, keeps its handle until it is
 * cancelled or `next` ends it.  It never runs twice at a time.  It counts as
 * one timer in `timers_max`, also while its callback runs.
 *
 * Calls are due `period_ns` apart: late or slow calls do not shift later ones,
 * except with TKW_DELAY.  Periods that end before a callback has returned are
 * missed.  With TKW_SKIP and TKW_DELAY, `firing->overruns` counts the periods
 * skipped before this call; with TKW_BURST, the calls that are due besides this
 * one.  Moving a repeating timer sets its next call, and later calls follow
 * that.
 *
 * Jitter spreads timers that would be due together.  Slack gathers timers that
 * need not be exact.  Neither makes a timer early.
 */
TKW_EXPORT int tkw_service_arm_plan(struct tkw_service *service,
                                    tkw_handle *handle,
                                    const struct tkw_plan *plan);

/*
 * Arm `count` timers in the order of `plans`, from one reading of the clock,
 * each as by tkw_service_arm_plan().  `handles` may be NULL.  *Any thread*.
 *
 * Returns the number of timers armed, or if the first one failed, its error.
 * For the error of a later one, call again with the rest.
 */
TKW_EXPORT ptrdiff_t tkw_service_arm_many(struct tkw_service *service,
                                          tkw_handle *handles,
                                          const struct tkw_plan *plans,
                                          size_t count);

/*
 * Arm a timer again under its handle: move a pending timer to any time, or
 * restart a timer while its callback runs, in the callback or in another
 * thread.  The timer is then the last one armed for its tick.  *Any thread*.
 *
 * Returns 1, or changes nothing and returns
 *   0           the timer is neither pending nor running, or was cancelled
 *               while running;
 *   -ENOMEM     there is no memory;
 *   -EAGAIN     `timers_max` timers are pending;
 *   -ESHUTDOWN  the service was stopped.
 */
TKW_EXPORT int tkw_service_rearm(struct tkw_service *service, tkw_handle handle,
                                 uint64_t delay_ns);
TKW_EXPORT int tkw_service_rearm_at(struct tkw_service *service,
                                    tkw_handle handle, uint64_t time_ns);

/*
 * Move a pending timer, cheaply if to a later time.  Its place among the timers
 * of one tick is then not defined.  The call also moves a running timer that
 * was armed again.  *Any thread*.
 *
 * Returns 1, or changes nothing and returns
 *   0           the timer is neither pending nor armed again;
 *   -ENOMEM     there is no memory;
 *   -ESHUTDOWN  the service was stopped.
 */
TKW_EXPORT int tkw_service_postpone(struct tkw_service *service,
                                    tkw_handle handle, uint64_t delay_ns);
TKW_EXPORT int tkw_service_postpone_at(struct tkw_service *service,
                                       tkw_handle handle, uint64_t time_ns);

/*
 * Cancel a timer, without a lock.  *Any thread*.  Returns
 *   1       the timer was pending, and its callback does not run;
 *   0       nothing has changed: the timer has run, was cancelled before, or
 *           the handle is stale; tkw_service_query() returns which;
 *   -EBUSY  the callback is running.  It does not run again: an arming made
 *           meanwhile is cancelled, and later ones are rejected.  If there was
 *           such an arming, or if the timer repeats, its drop function is
 *           called after the callback; otherwise the callback owns the
 *           argument.
 */
TKW_EXPORT int tkw_service_cancel(struct tkw_service *service,
                                  tkw_handle handle);

/*
 * Like tkw_service_cancel(), but if the callback is running, block until it has
 * returned: then you may free its data.  Do not hold a lock that the callback
 * takes.  *Any thread*.  Returns
 *   1         as tkw_service_cancel();
 *   0         the callback was running and has returned, or there was nothing
 *             to cancel;
 *   -EDEADLK  the calling thread is inside the callback of this timer; nothing
 *             has changed.
 *
 * If another thread has cancelled the timer, this call does not wait for the
 * drop function that the other thread calls.
 */
TKW_EXPORT int tkw_service_cancel_sync(struct tkw_service *service,
                                       tkw_handle handle);

/*
 * Cancel `count` timers, each as by tkw_service_cancel(), and store its return
 * values in `answers` (may be NULL).  *Any thread*.  Returns how many of them
 * are 1.
 */
TKW_EXPORT size_t tkw_service_cancel_many(struct tkw_service *service,
                                          const tkw_handle *handles,
                                          size_t count, int *answers);

/*
 * Cancel all timers of an owner, each as by tkw_service_cancel().  Then you may
 * free the owner, if no thread arms for it meanwhile.  `owner` may be NULL: the
 * call does nothing.  O(timers of the owner); takes locks, each for a short
 * time.  *Any thread*.  Returns how many pending timers it cancelled.
 *
 *   - a timer that another thread arms meanwhile may or may not be cancelled;
 *   - a drop function must neither arm for the owner nor free it;
 *   - a callback may cancel its own owner.  Its timer does not run again, even
 *     if it repeats, and is not counted.
 *
 * With _sync, each timer is cancelled as by tkw_service_cancel_sync(): on
 * return no callback of the owner's timers is running, except the calling one
 * and those that tkw_service_cancel_owner() cancelled before.
 */
TKW_EXPORT size_t tkw_service_cancel_owner(struct tkw_service *service,
                                           struct tkw_owner *owner);
TKW_EXPORT size_t tkw_service_cancel_owner_sync(struct tkw_service *service,
                                                struct tkw_owner *owner);

/*
 * Return the state of the timer that `handle` names; base.h lists the states.
 * `handle` may be any number.  A timer is TKW_RUNNING while its callback runs,
 * armed again or not.  Stores in `*outlook` (may be NULL) when the timer is
 * due, if it is TKW_PENDING or TKW_READY.  Takes the lock of the timer's shard.
 * *Any thread*.
 */
TKW_EXPORT enum tkw_state tkw_service_query(struct tkw_service *service,
                                            tkw_handle handle,
                                            struct tkw_outlook *outlook);

/* Return the time of the service's clock.  *Any thread*. */
TKW_EXPORT uint64_t tkw_service_now(struct tkw_service *service);

/* Return the number of pending timers.  Takes the lock of each shard in turn.
 * *Any thread*. */
TKW_EXPORT size_t tkw_service_count(struct tkw_service *service);

/* Return the counters of the service.  Takes some microseconds, and the lock of
 * each shard in turn.  *Any thread*. */
TKW_EXPORT struct tkw_service_stats
tkw_service_read_stats(struct tkw_service *service);

/*
 * Write the counters as text for Prometheus, ended by a 0.  Each sample gets
 * `labels`, such as `service="mail"`; NULL means none.  Lines that begin with #
 * must not come twice on a page: remove those of a second service.  *Any
 * thread*.
 *
 * Returns the length of the whole text, without the 0.  If it is `size` or
 * more, the text was cut.  With a `size` of 0 nothing is written.
 */
TKW_EXPORT size_t tkw_service_prometheus(struct tkw_service *service,
                                         const char *labels, char *text,
                                         size_t size);

/*
 * Record up to `operations` operations on the service, of some 40 bytes each,
 * for `tickwheel sim`, which finds the best geometry for them.  While the
 * record is full, further operations are only counted; tkw_service_trace()
 * makes room.  A second call discards what was not taken.  0 ends the
 * recording: tkw_service_trace() can still take the rest, and
 * tkw_service_close() frees the memory.  Recording costs each operation a lock
 * and a reading of the clock.  *Any thread*.
 *
 * Returns 0, or changes nothing and returns -ENOMEM.
 */
TKW_EXPORT int tkw_service_record(struct tkw_service *service,
                                  size_t operations);

/*
 * Take recorded operations, the oldest first, as lines of text, ended by a 0:
 *
 *     # tick 100000
 *     time,operation,key,deadline
 *     81034000120,arm,4294967296,81064000120
 *     81034801377,cancel,4294967296,
 *
 * Times are of the service's clock, in ns.  A key is a handle.  A deadline
 * includes jitter and slack.  Operations are arm (also a rearm, and each
 * further call of a repeating timer), postpone, and cancel (if it ended an
 * arming).  Calls that changed nothing are not recorded, nor are callbacks, nor
 * armings before the record began.  Operations of two threads on one timer at
 * one moment may be in either order.  *Any thread*, one at a time.
 *
 *     char text[4096];
 *     size_t n;
 *     while ((n = tkw_service_trace(service, text, sizeof text)) > 0)
 *         fwrite(text, 1, n, file);
 *
 * Returns the length of the text, without the 0; or 0 if the record is empty,
 * or if `size` is less than 256.
 */
TKW_EXPORT size_t tkw_service_trace(struct tkw_service *service, char *text,
                                    size_t size);

/*
 * Without a driver: call the callbacks that are due, at most `budget` of them
 * (0: no limit), in the calling thread.  Callbacks of workers and of `submit`
 * are handed over instead, which counts as calling.  Do not close the service
 * before the call has returned.  *Any thread, not in a callback*.
 *
 * The call leaves a timer that a callback arms for now to the next call, so
 * that it ends.  If thousands of timers are due, the call may run such a timer
 * already, but only once.
 *
 * Returns the number of callbacks, 0 if the service was stopped, or
 *   -EINVAL   the service has a driver, or the budget is negative;
 *   -EDEADLK  from inside a callback;
 *   -EBUSY    another thread is in tkw_service_run().
 * After -EDEADLK and -EBUSY the descriptor of tkw_service_fd() is unreadable
 * until the running call has returned, so that a second event loop sleeps.
 */
TKW_EXPORT int tkw_service_run(struct tkw_service *service, int budget);

/*
 * Return the time at which to call tkw_service_run() next, or at which the
 * driver wakes up.  Possibly no timer is due then.  UINT64_MAX means not before
 * a timer is armed, or that the service was stopped.  Returns the current time
 * while callbacks are being called.  The service calls the clock's wake() when
 * an arming makes the time earlier.  *Any thread*.
 */
TKW_EXPORT uint64_t tkw_service_next(struct tkw_service *service);

/*
 * Return the time until tkw_service_next() as a timeout for poll() or
 * epoll_wait(): in milliseconds, rounded up, or -1 for no timeout.  An arming
 * by another thread does not end the wait; use tkw_service_fd() for that.  *Any
 * thread*.
 */
TKW_EXPORT int tkw_service_poll_timeout(struct tkw_service *service);

/*
 * Without a driver: return a descriptor for your event loop, which is readable
 * when tkw_service_run() should be called.  Do not read it: each
 * tkw_service_run() resets it.  Do not close it: the clock does.  *Any thread*.
 *
 * Returns the descriptor, or
 *   -EINVAL   the service has a driver;
 *   -ENOTSUP  the clock of the configuration has no descriptor;
 *   -EMFILE, -ENFILE, -ENOMEM  there are no more descriptors.
 */
TKW_EXPORT int tkw_service_fd(struct tkw_service *service);

/*
 * Run the callback of a submitted job.  The job is used up even if the callback
 * does not run.  *Any thread*.  Returns true if the callback ran, or false if
 *   - its timer was cancelled or moved;
 *   - the wall clock was set back to before its time: the timer is pending;
 *   - the service was stopped: tkw_service_close() hands the timer back.
 */
TKW_EXPORT bool tkw_job_run(const struct tkw_job *job);

/* Hand a submitted job back without running it.  Its timer stays pending, and
 * is submitted again a tick later.  *Any thread*. */
TKW_EXPORT void tkw_job_return(const struct tkw_job *job);

/*
 * Stop the service: start no more callbacks, and reject arming.  Blocks until
 * no callback is running in any thread, unless a callback of this service makes
 * the call.  Do not hold a lock that a callback takes.  Pending timers stay
 * pending, and can be cancelled.  Further calls are allowed.  *Any thread*.
 */
TKW_EXPORT void tkw_service_stop(struct tkw_service *service);

/*
 * Close the service:
 *   - stop it, and block until every submitted job was run or returned;
 *   - end the threads;
 *   - for each pending timer, call `each` (may be NULL), then its drop
 *     function.  Both may cancel and query timers;
 *   - free the service.
 * `service` may be NULL: the call does nothing.
 *
 * *Owner*: no other thread may use the service during the call or after it.  A
 * callback of another service may make the call; `thread_start` must not.
 *
 * Returns 0, or changes nothing and returns -EDEADLK from inside a callback.
 */
TKW_EXPORT int tkw_service_close(struct tkw_service *service,
                                 tkw_pending_each *each, void *context);

#ifdef __cplusplus
}
#endif

#endif
