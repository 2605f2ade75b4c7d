/*
 * support/executor.h - what the tests of workers and of `submit` share, beside
 * service_support.h: timers that say where they run, workers that are held, and
 * an executor that takes jobs and keeps them until it is told what to do.
 */
#ifndef TESTS_SUPPORT_EXECUTOR_H
#define TESTS_SUPPORT_EXECUTOR_H

#include "service.h"

#include <dirent.h>
#include <poll.h>
#include <sched.h>

/* Jobs that were submitted and neither run nor returned, first come first. */
struct tray {
    pthread_mutex_t lock;
    struct tkw_job jobs[1024];
    size_t first;
    size_t count;
    size_t room;  /* it refuses when it holds so many */
    size_t asked; /* calls of submit so far */
};

static inline void tray_init(struct tray *tray, size_t room)
{
    memset(tray, 0, sizeof *tray);
    pthread_mutex_init(&tray->lock, NULL);
    tray->room = room < COUNT_OF(tray->jobs) ? room : COUNT_OF(tray->jobs);
}

/* A tkw_submit. */
static inline int tray_submit(void *context, const struct tkw_job *job)
{
    struct tray *tray = context;
    pthread_mutex_lock(&tray->lock);
    tray->asked++;
    bool is_full = tray->count >= tray->room;
    if (!is_full) {
        tray->jobs[(tray->first + tray->count) % COUNT_OF(tray->jobs)] = *job;
        tray->count++;
    }
    pthread_mutex_unlock(&tray->lock);
    return is_full ? -EAGAIN : 0;
}

/* Take the job that has waited longest.  Returns whether there was one. */
static inline bool tray_take(struct tray *tray, struct tkw_job *job)
{
    pthread_mutex_lock(&tray->lock);
    bool is_there = tray->count > 0;
    if (is_there) {
        *job = tray->jobs[tray->first];
        tray->first = (tray->first + 1) % COUNT_OF(tray->jobs);
        tray->count--;
    }
    pthread_mutex_unlock(&tray->lock);
    return is_there;
}

static inline size_t tray_count(struct tray *tray)
{
    pthread_mutex_lock(&tray->lock);
    size_t count = tray->count;
    pthread_mutex_unlock(&tray->lock);
    return count;
}

static inline size_t tray_asked(struct tray *tray)
{
    pthread_mutex_lock(&tray->lock);
    size_t asked = tray->asked;
    pthread_mutex_unlock(&tray->lock);
    return asked;
}

static inline void tray_resize(struct tray *tray, size_t room)
{
    pthread_mutex_lock(&tray->lock);
    tray->room = room;
    pthread_mutex_unlock(&tray->lock);
}

/* Run all that is in it, in this thread.  Returns how many did run. */
static inline unsigned tray_run_all(struct tray *tray)
{
    unsigned count = 0;
    for (struct tkw_job job; tray_take(tray, &job);)
        count += tkw_job_run(&job);
    return count;
}

/* One shard, a tick of 10, and so many hands; NULL: no submit. */
static inline struct tkw_service_config
hands(uint32_t workers, uint32_t queue_max, struct tray *tray)
{
    return (struct tkw_service_config){
        .tick_ns = 10,
        .shards = 1,
        .workers = workers,
        .queue_max = queue_max,
        .submit = tray != NULL ? tray_submit : NULL,
        .submit_context = tray,
    };
}

/* Arm it for an executor; it must not fail. */
static inline tkw_handle probe_arm_on(struct scene *scene, struct probe *probe,
                                      enum tkw_executor executor,
                                      uint64_t delay)
{
    struct tkw_plan plan = {.task = probe_task(scene, probe),
                            .when_ns = delay,
                            .executor = executor};
    assert_int_equal(
        tkw_service_arm_plan(scene->service, &probe->handle, &plan), 0);
    assert_int_not_equal(probe->handle, 0);
    return probe->handle;
}

/* Move it to this time, in one of the four ways there are. */
static inline int move_to(struct scene *scene, tkw_handle handle, unsigned way,
                          uint64_t time)
{
    uint64_t delay = time - tkw_manual_clock_now(scene->manual);
    switch (way) {
    case 0:
        return tkw_service_rearm(scene->service, handle, delay);
    case 1:
        return tkw_service_rearm_at(scene->service, handle, time);
    case 2:
        return tkw_service_postpone(scene->service, handle, delay);
    default:
        return tkw_service_postpone_at(scene->service, handle, time);
    }
}

/* Until it has run so often; the last callback may not have returned. */
static inline void probe_await(struct probe *probe, unsigned times)
{
    while (ran(probe) < times)
        sched_yield();
}

/* Until its callback has returned. */
static inline void probe_await_end(struct probe *probe)
{
    while (tkw_service_query(probe->scene->service, probe->handle, NULL) ==
           TKW_RUNNING)
        sched_yield();
}

/* Keep so many workers busy, in callbacks that are held in one gate. */
static inline void workers_hold(struct scene *scene, struct probe *held,
                                struct gate *gate, unsigned count)
{
    gate_init(gate);
    for (unsigned i = 0; i < count; i++) {
        held[i].act = gate_hold;
        held[i].gate = gate;
        probe_arm_on(scene, &held[i], TKW_ON_WORKERS, 0);
    }
    for (unsigned i = 0; i < count; i++)
        gate_await(gate);
}

static inline void workers_release(struct gate *gate, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gate_open(gate);
}

/* A thread that runs one job of a tray. */
struct runner {
    struct tray *tray;
    struct tkw_job job;
    pthread_t thread;
    bool did_run;
};

static inline void *run_job(void *argument)
{
    struct runner *runner = argument;
    runner->did_run = tkw_job_run(&runner->job);
    return NULL;
}

/* A timer whose job is being run in a thread, held in the gate. */
static inline void job_hold(struct scene *scene, struct probe *probe,
                            struct gate *gate, struct runner *runner)
{
    gate_init(gate);
    probe->act = gate_hold;
    probe->gate = gate;
    probe_arm_on(scene, probe, TKW_BY_SUBMIT, 0);
    scene_rest(scene);
    assert_true(tray_take(runner->tray, &runner->job));
    runner->thread = thread_start(run_job, runner);
    gate_await(gate);
}

/* Until the one worker has done all that it was given: callbacks come to it in
   order, and one that comes now is the last. */
static inline void worker_flush(struct scene *scene)
{
    struct probe last = {0};
    probe_arm_on(scene, &last, TKW_ON_WORKERS, 0);
    probe_await(&last, 1);
    probe_await_end(&last);
}

static inline int thread_count(void)
{
    int count = -2; /* . and .. */
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while (readdir(tasks) != NULL)
        count++;
    closedir(tasks);
    return count;
}

/* How many threads there are once those that were joined are listed no more:
   for a while, none goes. */
static inline int threads_at_rest(void)
{
    int count = thread_count();
    for (int rounds = 0; rounds < 50; rounds++) {
        poll(NULL, 0, 2);
        int now = thread_count();
        rounds = now == count ? rounds : 0;
        count = now;
    }
    return count;
}

/* The process has so many threads.  One that was joined may be listed a little
   longer. */
static inline void assert_threads(int count)
{
    for (int i = 0; i < 1000 && thread_count() != count; i++)
        have_patience();
    assert_int_equal(thread_count(), count);
}

#endif
