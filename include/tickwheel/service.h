/*
 * service.h - timers in real time, from any thread.
 *
 * You arm a timer with a delay and a function; when the time has come a thread
 * of the service calls the function.  Any thread may arm, cancel and move any
 * timer at any time, callbacks included.  Cancel takes no lock and tells the
 * truth: if it says that it stopped the timer, its callback will not run.
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
 * Promises, beyond those of pool.h:
 *   - never early: a callback starts when its time has come by the service's
 *     clock, or later, by less than a tick if the machine allows;
 *   - one outcome per arming: its callback runs, or it is cancelled, or it is
 *     handed back when the service closes;
 *   - callbacks run with no lock held and, on the driver, one at a time, by
 *     ticks, and those that one thread armed for one tick, for nobody or for
 *     one owner, in the order they were armed (unless there are more threads
 *     than one to a shard: then in the order of the shard); in the same order
 *     they come to workers and to `submit`;
 *   - it sleeps while nothing is due, and is woken only for a timer that is to
 *     run before all others.
 *
 * A callback that takes long delays those that run where it does, and no
 * others: slow ones belong on workers, or wherever `submit` puts them.  While
 * as many wait for the workers as may, timers of theirs that are due stay where
 * they are, pending; nothing is lost.  Without a driver all wait for whoever
 * calls run.  With TKW_ROUNDS and a short tick a jump of the clock is dear: the
 * driver makes a turn of the ring for every `size` ticks that have passed.
 *
 * Each shard allocates more than 1 MB when the service is opened and about 2 MB
 * with its first timer, most of it untouched while there are few: where that is
 * much, ask for fewer `shards`.
 *
 * Caveats.  A child of fork() must not use the service, nor close it: its
 * threads are not there.  Nothing here may be called from a signal handler.
 * The service's threads take no signals.  Two callbacks that wait for each
 * other's end, by tkw_service_cancel_sync(), wait for ever.  Callbacks return:
 * a C++ exception or a longjmp() out of one leaves the service unusable.
 *
 * Threads: each function says *owner*, or *any thread*, which means in
 * callbacks as well, or *any thread, not in a callback* of the same service.
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
#define TKW_SHARDS_MAX 16

/* What a callback is told.  It may grow. */
struct tkw_firing {
    struct tkw_service *service;
    tkw_handle handle;
    uint64_t due_ns; /* when it was to be called, jitter and slack added ... */
    uint64_t now_ns; /* ... and when it was: the difference is how late */
    uint64_t overruns; /* of a timer that repeats: periods missed; see
                          tkw_service_arm_plan() */
};

/* What a timer calls, and what is called instead of it: see struct tkw_task. */
typedef void tkw_callback(void *argument, const struct tkw_firing *firing);
typedef void tkw_drop(void *argument);

/* What to do when the time has come. */
struct tkw_task {
    tkw_callback *callback;
    void *argument;
    /*
     * Called once if an arming ends without its callback: by whoever cancels,
     * before cancel returns; by the thread of the callback, when that has
     * returned, if it was running; or by close.  With no lock held.  For a
     * timer that repeats, called once when it is over, however it ends.  NULL:
     * nobody.
     */
    tkw_drop *drop;
};

/* Where callbacks run. */
enum tkw_executor {
    TKW_ANYWHERE,   /* where the service says; for the service: by `submit` if
                      there is one, else on workers if there are any */
    TKW_ON_DRIVER,  /* one at a time, by the driver or, if there are others
                      beside it, a thread for it; without a driver, by the
                      caller of run */
    TKW_ON_WORKERS, /* in the service's workers */
    TKW_BY_SUBMIT,  /* wherever `submit` puts them */
};

/* What becomes of periods in which a timer could not be called. */
enum tkw_missed {
    TKW_SKIP,  /* nothing; the next call is at the next whole period */
    TKW_BURST, /* each gets its call, one after the other, until all had it;
                  if they take longer than the period, for ever; without a
                  driver, one in each tkw_service_run() */
    TKW_DELAY, /* the next call is a period from now, and all others follow,
                  if a whole period or more was missed; a call that is late by
                  less than a period moves nothing (tokio's Delay moves all
                  calls to come in that case, too) */
};

/*
 * When a timer is to be called next, having been called at `now_ns` for
 * `due_ns` (jitter and slack not added): a time of the service's clock, at once
 * if that has passed.  UINT64_MAX: never again.  Called after each callback
 * that has neither armed nor cancelled its timer, in the same thread, with no
 * lock held.
 */
typedef uint64_t tkw_next_time(void *argument, uint64_t due_ns,
                               uint64_t now_ns);

/*
 * An owner of timers of one service, to cancel all of them by: a member of your
 * connection, say.  Zeroed, it is ready for use.  It must stay at its address
 * until tkw_service_cancel_owner() has let go of it.
 */
struct tkw_owner {
    uint32_t first[4]; /* private */
};

/* All that can be said of a timer.  Zero means the default, everywhere. */
struct tkw_plan {
    struct tkw_task task;
    uint64_t when_ns; /* a delay from now; if `is_time`, a time of the clock */
    bool is_time;
    enum tkw_executor executor;
    enum tkw_missed missed; /* with a period */
    uint64_t period_ns;     /* call it again and again, so far apart; 0: once */
    tkw_next_time *next; /* call it again whenever this says; no period then */
    uint64_t jitter_ns;  /* each call is later, by a random time below this */
    uint64_t slack_ns;   /* each may be later, by up to this, to be at the same
                            tick as others that may */
    struct tkw_owner *owner; /* NULL: nobody */
    uint64_t reserved[2];    /* must be 0 */
};

/*
 * A timer whose time has come, on its way through an executor of yours.  Copy
 * it as you like, but run or return it once.
 */
struct tkw_job {
    struct tkw_service *service;
    uint64_t due_ns;
    uint64_t word;     /* private */
    uint32_t place[2]; /* private */
};

/*
 * Take a job, to be run by tkw_job_run() in any thread at any time, or given
 * back by tkw_job_return().  Called by the driver, which all timers wait for,
 * with no lock held; it may do what a callback may.  Returns 0, or anything
 * else if there is no room: then it will be asked again when a job has been
 * run, or a tick later.
 */
typedef int tkw_submit(void *context, const struct tkw_job *job);

/* Who finds what is due. */
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
    const char *thread_name;               /* NULL: "tickwheel"; workers are
                                              "tickwheel/w1" and so on, and the
                                              thread of TKW_ON_DRIVER beside
                                              them is "tickwheel/d1"; cut to 15
                                              bytes, before the / to 10; open
                                              copies it */
    void (*thread_start)(void *context);   /* called first by each thread */
    void (*log)(void *context, const char *message); /* of what is odd: that
                                                        the clock went back,
                                                        each time; by who finds
                                                        what is due; it may do
                                                        what a callback may */
    void *context;                                   /* for these two */
    uint32_t workers;           /* threads to run callbacks in, up to 1,024 */
    uint32_t queue_max;         /* callbacks that wait for them, up to 2^24; 0:
                                   1,024 */
    tkw_submit *submit;         /* NULL: none */
    void *submit_context;       /* for submit */
    enum tkw_executor executor; /* of timers that do not say */
    uint64_t reserved[4];       /* must be 0 */
};

/* A time and how far away it is: 0 if it has come, UINT64_MAX if it never
 * does. */
struct tkw_outlook {
    uint64_t due_ns;
    uint64_t remaining_ns;
};

/* A timer that was pending when the service was closed, as it is handed back:
 * it has not run since it was armed, or if it repeats, since its last call. */
struct tkw_rest {
    tkw_handle handle;
    uint64_t due_ns;
    struct tkw_task task;
};

/* What close() tells of each. */
typedef void tkw_rest_each(void *context, const struct tkw_rest *rest);

/*
 * What a service has done.  At rest armed = fired + cancelled + handed back +
 * pending; while others use it, it may be off by the calls in flight.
 */
struct tkw_service_figures {
    uint64_t armed; /* moving a timer is no arming, starting one again is */
    uint64_t fired; /* callbacks that were started */
    uint64_t cancelled;
    uint64_t handed_back; /* by close, so far */
    uint64_t pending;
    uint64_t wakeups;    /* of the driver, for whatever reason; without a
                            driver: passes made by tkw_service_run() */
    uint64_t woken;      /* times that arming woke the driver, or the loop that
                            watches the descriptor */
    uint64_t steps_back; /* times that the clock was seen to have gone back */
};

/*
 * The same and how well it did.  Late is the time from when a timer was due to
 * the start of its callback; all but the largest are rounded up by at most a
 * sixteenth.
 */
struct tkw_service_report {
    struct tkw_service_figures figures;
    uint64_t falls;    /* timers that moved down a level of their wheel */
    uint64_t overruns; /* periods left out, by TKW_SKIP and TKW_DELAY */
    uint64_t late_p50_ns;
    uint64_t late_p90_ns;
    uint64_t late_p99_ns;
    uint64_t late_p999_ns;
    uint64_t late_max_ns;
    uint64_t late_sum_ns;
    uint64_t slowest_ns;            /* the callback that took longest ... */
    tkw_callback *slowest_callback; /* ... or NULL */
};

/* Say what is wrong with a configuration, in a few words; NULL: nothing.
 * *Any thread*. */
TKW_EXPORT const char *
tkw_service_config_fault(const struct tkw_service_config *config);

/*
 * Open a service and start its threads.  NULL is the configuration {0}.
 * *Any thread*.
 *
 * Returns 0 and the service in `*service`, or with `*service` untouched:
 *   -EINVAL  something in the configuration is wrong: the function above says
 *            what;
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
 *               thread has as many as it can, some 67 million;
 *   -ESHUTDOWN  the service was stopped.
 */
TKW_EXPORT int tkw_service_arm(struct tkw_service *service, tkw_handle *handle,
                               uint64_t delay_ns, struct tkw_task task);

/*
 * Like tkw_service_arm(), but the timer belongs to `owner` (NULL: it has no
 * owner), so that tkw_service_cancel_owner() cancels it with the owner's other
 * timers.
 * *Any thread*.
 */
TKW_EXPORT int tkw_service_arm_owned(struct tkw_service *service,
                                     tkw_handle *handle, uint64_t delay_ns,
                                     struct tkw_task task,
                                     struct tkw_owner *owner);

/* Like tkw_service_arm(), but at a time of the service's clock; one that has
 * passed is a delay of 0, but is late since then, and UINT64_MAX never comes.
 * *Any thread*. */
TKW_EXPORT int tkw_service_arm_at(struct tkw_service *service,
                                  tkw_handle *handle, uint64_t time_ns,
                                  struct tkw_task task);

/*
 * Arm a timer as planned.  *Any thread*.  Returns what tkw_service_arm() does;
 * -EINVAL also if the plan contradicts itself (a period and a `next`, `missed`
 * without a period), names an executor that the service does not have, or has
 * something in a reserved field.
 *
 * A timer that repeats keeps its handle until it is over: cancelled, or ended
 * by its `next`.  Its calls are `period_ns` apart from the first on, however
 * long they take or are late (TKW_DELAY alone moves them): it does not drift,
 * and it never runs twice at the same time.  When its callback has returned,
 * those periods that have passed meanwhile are missed.  With TKW_SKIP and
 * TKW_DELAY the next call is told by `overruns` how many; with TKW_BURST it
 * tells how many are due now besides this one.  To move it moves all calls to
 * come, the next one to just that time.  It counts as one timer in
 * `timers_max`, also while its callback is running.
 *
 * Jitter spreads those that would be due at the same time, slack gathers those
 * that need not be exact; neither makes a timer early.
 */
TKW_EXPORT int tkw_service_arm_plan(struct tkw_service *service,
                                    tkw_handle *handle,
                                    const struct tkw_plan *plan);

/*
 * Arm many, in this order, from one reading of the clock.  `handles` may be
 * NULL.  *Any thread*.
 *
 * Returns how many were armed, or if it was not even the first, why: to learn
 * why it was not all, call again with the rest.
 */
TKW_EXPORT ptrdiff_t tkw_service_arm_many(struct tkw_service *service,
                                          tkw_handle *handles,
                                          const struct tkw_plan *plans,
                                          size_t count);

/*
 * Arm a timer again under its handle: move one that is pending, to any time; or
 * start one again whose callback is running, in the callback or elsewhere.
 * Among equals it is the last.  *Any thread*.
 *
 * Returns 1, or 0 if the timer is neither, or is running and was cancelled:
 * then nothing has changed, and nothing is called or dropped because of this;
 * or with nothing changed -ENOMEM, -EAGAIN or -ESHUTDOWN.
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
 * and not having been armed again included; or with nothing changed -ENOMEM or
 * -ESHUTDOWN.
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
 *           If it had been, or if it repeats, its drop function is called
 *           when the callback has returned.  Otherwise the argument is the
 *           callback's.
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
 * Stop many timers.  Each is cancelled as by tkw_service_cancel(), the answer
 * in `answers` (may be NULL).  *Any thread*.  Returns how many it stopped.
 */
TKW_EXPORT size_t tkw_service_cancel_many(struct tkw_service *service,
                                          const tkw_handle *handles,
                                          size_t count, int *answers);

/*
 * Stop all timers of an owner (NULL has none), and let go of it: its memory is
 * yours, if nobody else arms for it.  Those that others arm meanwhile may or
 * may not be among them; a drop function must not, nor free the owner.  Each
 * is cancelled as by tkw_service_cancel(), or with _sync, as by
 * tkw_service_cancel_sync(): then no callback of the owner's timers is running
 * when it returns, but for the one that calls it and those that were let go of
 * before.  Takes locks, a short while.  *Any thread*.  Returns how many it
 * stopped.
 *
 * A callback may cancel its own owner, with _sync as well.  The timer of that
 * callback is then cancelled as by tkw_service_cancel(), which does not wait:
 * it does not run again, even if it repeats, and it is not counted.
 */
TKW_EXPORT size_t tkw_service_cancel_owner(struct tkw_service *service,
                                           struct tkw_owner *owner);
TKW_EXPORT size_t tkw_service_cancel_owner_sync(struct tkw_service *service,
                                                struct tkw_owner *owner);

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

/* Timers whose callback is yet to start.  Takes the lock of each shard in turn.
 * *Any thread*. */
TKW_EXPORT size_t tkw_service_count(struct tkw_service *service);

/* *Any thread*. */
TKW_EXPORT struct tkw_service_figures
tkw_service_counters(struct tkw_service *service);

/* The same and more, some microseconds long.  *Any thread*. */
TKW_EXPORT struct tkw_service_report
tkw_service_stats(struct tkw_service *service);

/*
 * Write the stats as text that Prometheus reads, ended by a 0.  `labels` go
 * with each: `service="mail"`, say; NULL: none.  Lines that begin with a # are
 * to be there once: leave out those of a second service.  *Any thread*.
 *
 * Returns how long the text is, without the 0.  If that is not less than `size`
 * it was cut off there; with 0 nothing is written.
 */
TKW_EXPORT size_t tkw_service_prometheus(struct tkw_service *service,
                                         const char *labels, char *text,
                                         size_t size);

/*
 * Record what is asked of the service, to play it again: `tickwheel sim` tells
 * which geometry would have been best for it.  Up to `operations` are kept, of
 * some 40 bytes each, until tkw_service_trace() takes them; while there are as
 * many, more are left out and counted.  To begin anew forgets what was not
 * taken.  0: record no more; what there is can still be taken, and its memory
 * is freed when the service is closed.  Costs a branch while nothing is
 * recorded, and a lock and a look at the clock while something is.  *Any
 * thread*.
 *
 * Returns 0, or -ENOMEM with nothing changed.
 */
TKW_EXPORT int tkw_service_record(struct tkw_service *service,
                                  size_t operations);

/*
 * Take what was recorded, the oldest first, as lines of text, ended by a 0:
 *
 *     # tick 1000000
 *     time,operation,key,deadline
 *     81034000120,arm,4294967296,81064000120
 *     81034801377,cancel,4294967296,
 *
 * Times are of the service's clock, in ns, a key is a handle; a deadline has
 * jitter and slack added.  To move a timer, and to call one again that repeats,
 * is to arm it, but for a postpone.  Calls that change nothing are not in it,
 * nor are timers that fire: that they do follows.  Of timers that were armed
 * before it began, only what is done to them is.  What two threads do to one
 * timer at the same moment may be in either order.  *Any thread*, one at a
 * time.
 *
 *     char text[4096];
 *     size_t n;
 *     while ((n = tkw_service_trace(service, text, sizeof text)) > 0)
 *         fwrite(text, 1, n, file);
 *
 * Returns how long the text is, without the 0; or 0 if there is no more, or if
 * `size` is less than 256.
 */
TKW_EXPORT size_t tkw_service_trace(struct tkw_service *service, char *text,
                                    size_t size);

/*
 * Without a driver: call what is due, at most `budget` callbacks (0: no
 * bound), in the calling thread; or hand it over to workers or to `submit`,
 * which counts as calling it.  Close the service only when this has returned.
 * The call leaves a timer that a callback arms for now to the next call, so
 * that this one ends: a timer that arms itself for now is called once per call
 * (where thousands are due, a timer that another callback arms for now may be
 * called by this call already).  Nothing is called once the service was
 * stopped.
 * *Any thread, not in a callback*.
 *
 * Returns how many were called, or
 *   -EINVAL  the service has a driver, or the budget is negative;
 *   -EDEADLK from inside a callback;
 *   -EBUSY   another thread is at it.
 * After these two the descriptor below is not readable until whoever runs has
 * returned: a loop inside of this, or beside it, sleeps.
 */
TKW_EXPORT int tkw_service_run(struct tkw_service *service, int budget);

/*
 * Without a driver: when to call tkw_service_run() next; it may find nothing
 * due then.  UINT64_MAX: not before something is armed; or the service was
 * stopped.  While somebody is at running, that is now.  Whoever sleeps until
 * then hears of an earlier timer by the clock's wake().  With a driver: when
 * that will wake up.  *Any thread*.
 */
TKW_EXPORT uint64_t tkw_service_next(struct tkw_service *service);

/*
 * Without a driver: the same as a timeout for poll() or epoll_wait(), in
 * milliseconds, rounded up; -1: wait for ever.  Nothing ends that wait when
 * another thread arms an earlier timer: poll the descriptor below then.  *Any
 * thread*.
 */
TKW_EXPORT int tkw_service_poll_timeout(struct tkw_service *service);

/*
 * Without a driver: a descriptor that is readable when tkw_service_run() should
 * be called, for your event loop.  Do not read it: each run makes it ready for
 * the next.  It stays its clock's, which closes it.  *Any thread*.
 *
 * Returns the descriptor, or
 *   -EINVAL   the service has a driver;
 *   -ENOTSUP  its clock is one of yours, without a descriptor;
 *   -EMFILE, -ENFILE, -ENOMEM  there are no more.
 */
TKW_EXPORT int tkw_service_fd(struct tkw_service *service);

/*
 * Run a job that was submitted, unless its timer was cancelled or moved
 * meanwhile, or the service stopped.  *Any thread*; in a callback, too.
 * Returns whether it ran.
 */
TKW_EXPORT bool tkw_job_run(const struct tkw_job *job);

/* Give back a job that was submitted and not run.  Its timer is still pending,
 * and will be submitted again a tick later.  *Any thread*. */
TKW_EXPORT void tkw_job_return(const struct tkw_job *job);

/*
 * Start no more callbacks, and refuse to arm.  Waits until no callback is
 * running, in whatever thread, unless a callback of this service calls it: so
 * do not hold a lock that a callback takes.  What is pending stays so, and can
 * be cancelled, until close hands it back.  Any number of times.  *Any
 * thread*.
 */
TKW_EXPORT void tkw_service_stop(struct tkw_service *service);

/*
 * Stop, wait until every job that was submitted has been run or returned, end
 * the threads, hand back every timer that is pending, and free the service.
 * For each of them `each` is called (may be NULL), then its drop function;
 * both may still ask and cancel.  NULL is a service that is fine to close.
 *
 * *Owner*: nobody else may use the service meanwhile, and nobody afterwards; it
 * may be called in a callback of another service, but not of this one, nor by
 * `thread_start`.
 *
 * Returns 0, or -EDEADLK from inside a callback, with nothing changed.
 */
TKW_EXPORT int tkw_service_close(struct tkw_service *service,
                                 tkw_rest_each *each, void *context);

#ifdef __cplusplus
}
#endif

#endif
