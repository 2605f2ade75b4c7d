/*
 * service_scene.h - a service for scenarios: its driver is a thread of the
 * scheduler, its clock is turned by hand, and its timers write down what
 * becomes of them.
 *
 * A scenario opens the scene, lets threads do something at once, and ends the
 * scene.  Whatever it does, callbacks see to it that they are never early, not
 * more at a time than there are threads for them, never one timer's twice at a
 * time, and not after a promise that they would not come; and at the end every
 * arming must have had one outcome, the same by the timers' notes as by the
 * service's counters, and a timer that repeats must be dropped once.  What a
 * scenario checks itself is what its calls returned.
 *
 * With workers callbacks run there (without a driver, most of the time, for
 * there are fewer threads and orders then); with room for jobs they are
 * submitted, and the scene keeps the jobs until a scenario takes them.
 *
 * A tick is 10 ns, and time begins at 0 unless the scene says otherwise.
 *
 * Threads: those of the scheduler.
 */
#ifndef SCHED_SERVICE_SCENE_H
#define SCHED_SERVICE_SCENE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tickwheel/service.h>

#include "os/sync.h"
#include "sched.h"

enum { SCENE_PROBES = 3, SCENE_ACTORS = 2, SCENE_JOBS = 8 };

#define SCENE_TICK UINT64_C(10)
#define SCENE_FAR UINT64_C(1000) /* no scenario gets there */

/* A timer. */
struct probe {
    tkw_handle handle;
    void (*act)(struct probe *probe); /* called in the callback, or NULL */
    void (*act_on_drop)(struct probe *probe);
    bool repeats;      /* then armings are not counted */
    int answer;        /* what an actor was told; see scene_race() ... */
    int second;        /* ... another who did the same ... */
    int moved;         /* ... one who moved it ... */
    int again;         /* ... its callback, starting it again */
    unsigned armings;  /* that succeeded: first ones, and starting again */
    unsigned started;  /* callbacks ... */
    unsigned returned; /* ... that have come to their end */
    unsigned dropped;
    unsigned handed_back;
    unsigned place;       /* the how-manieth callback it was, last time */
    uint64_t due_ns;      /* as the callback was told, last time */
    uint64_t not_before;  /* it was promised not to start earlier */
    unsigned started_max; /* it was promised not to start more often; 0: not */
    bool is_over;         /* it was promised not to start */
    bool is_inside;       /* its callback is running */
};

/* A thread that a scenario started. */
struct actor {
    void (*run)(struct probe *probe);
    struct probe *probe;
    uint32_t number; /* its sync_self's */
};

/* The one there is, new in each schedule. */
struct scene {
    struct tkw_manual_clock *manual;
    struct tkw_clock clock; /* the hand's, with a descriptor of ours */
    struct tkw_service *service;
    struct probe probes[SCENE_PROBES];
    struct actor actors[SCENE_ACTORS];
    unsigned actor_count;
    unsigned started;    /* callbacks of all */
    unsigned inside;     /* callbacks that are running ... */
    unsigned inside_max; /* ... and how many may be */
    bool is_inside;      /* one is */
    bool is_quiet;       /* it was promised that none starts */
    bool has_no_driver;
    bool is_wall;
    uint32_t workers;
    uint64_t passes; /* that thread 0 made, without a driver */
    size_t timers_max;
    struct tkw_job jobs[SCENE_JOBS]; /* that were submitted */
    unsigned job_count;
    unsigned job_room; /* refuse more than this */
    bool runs_at_once; /* what is submitted */
    uint64_t aimed;    /* what the descriptor was last aimed at */
    struct sync_mutex mutex;
    struct sync_cond has_changed; /* one of these, under the mutex: */
    unsigned thread_count;        /* of the service, that have started */
    bool is_held;                 /* the driver is to wait */
    struct tkw_owner owner;
    size_t stopped; /* of the owner's timers */
};

extern struct scene scene;

struct scene_config {
    uint64_t now;
    uint32_t shards;   /* 0 means 1 */
    size_t timers_max; /* 0 means SCENE_PROBES */
    bool is_wall;
    bool has_no_driver;
    bool is_awake; /* go on without waiting for the driver to fall asleep */
    bool is_held;  /* with workers: the driver begins at scene_resume() */
    uint32_t workers;
    uint32_t queue_max;
    unsigned job_room; /* for jobs submitted; 0: callbacks run elsewhere */
};

void scene_open(struct scene_config config);

void scene_resume(void);

/* Turn the clock, and let all that is due happen: until the driver sleeps and
 * the workers have nothing to do.  Without a driver, thread 0 runs it all. */
void scene_turn(uint64_t ns);
void scene_settle(void);

/* Wait only until the workers have nothing to do. */
void scene_wait_for_workers(void);

/* Run a job that was submitted, or return it; each once.  `at` counts them. */
bool scene_run_job(unsigned at);
void scene_return_job(unsigned at);

/* At rest: every arming has one outcome or is pending, and all counts agree. */
void scene_check(void);

/* Close, with whatever is under way: all that did not end is handed back. */
void scene_close(void);

/* Settle, unless it was stopped; check, also that as many more can be armed as
 * are not pending; and close. */
void scene_end(void);

/* Start a thread.  The how-manieth it is tells its shard: the first arms in
 * shard 1, thread 0 in shard 0. */
unsigned scene_spawn(void (*run)(struct probe *probe), struct probe *probe);

/*
 * Turn the clock by a tick while others act: the driver, and one or two threads
 * that are given a probe.  Thread 0 only waits for them, so that between them
 * no preemption is spent on getting anybody started; but without a driver it is
 * the one who runs what is due.
 */
void scene_race(struct probe *probe, void (*first)(struct probe *probe),
                void (*second)(struct probe *probe));

/* Arm a probe, and write down that it succeeded.  Returns what arm does. */
int probe_arm(struct probe *probe, uint64_t delay_ns);

/* The same, and it must succeed. */
void probe_must_arm(struct probe *probe, uint64_t delay_ns);

/* Arm it as planned, but for the task, and it must succeed. */
int probe_arm_plan(struct probe *probe, struct tkw_plan plan);
void probe_must_plan(struct probe *probe, struct tkw_plan plan);

/* Cancel it, and check what can be told at once.  Returns what cancel does. */
int probe_cancel(struct probe *probe);
int probe_cancel_sync(struct probe *probe);

enum tkw_state probe_state(const struct probe *probe);

/* At rest: every arming has one outcome or is pending.  Returns how many are
 * pending. */
unsigned probe_check(const struct probe *probe);

#endif
