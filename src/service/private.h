/*
 * service/private.h - struct tkw_service, for the files of this folder.
 *
 *     any thread             shard                   runner       crew
 *     arm, move --lock--> [ intake, pool ] --pop--> [ batch ] --> callback
 *     cancel --- swap --> [ job's word ] <----- swap: "I run it" ---'
 *
 * One name for each thing:
 *
 *     timer   what the user arms, and has a handle of
 *     job     what the service keeps of a timer (service/job.h)
 *     shard   a mutex, a pool and jobs (service/shard.h)
 *     crew    where callbacks run (service/crew.h)
 *     worker  a thread of a crew
 *     driver  the service's own thread that makes passes, if it has one
 *     runner  the thread that makes a pass over all shards, and hands jobs that
 *             are due to their crew: the driver, or the caller of
 *             tkw_service_run() (service/run.c)
 *
 * os/lock_order.h has the order of the locks, docs/internals/concurrency.md the
 * races.
 */
#ifndef TKW_SERVICE_PRIVATE_H
#define TKW_SERVICE_PRIVATE_H

#include <tickwheel/service.h>

#include "crew.h"
#include "histogram.h"
#include "job.h"
#include "os/frame.h"
#include "recorder.h"
#include "shard.h"

enum {
    CREWS = 3, /* in the order of enum tkw_executor, from TKW_ON_DRIVER on */
    QUEUE_ROOM = 1024,    /* by default */
    TICK_NS = 100 * 1000, /* by default */
};

#define THREAD_NAME "tickwheel" /* by default */

struct tkw_service {
    uint64_t tick_ns;
    uint32_t shard_count; /* in all crews ... */
    uint32_t crew_shards; /* ... and in each */
    bool has_driver;
    bool has_system_clock;
    struct tkw_clock clock;
    struct tkw_allocator allocator;
    size_t timers_max;
    void (*thread_start)(void *context);
    void (*log)(void *context, const char *message);
    void *context;
    tkw_submit *submit;
    void *submit_context;
    struct crew *crew; /* for timers that name no executor */
    struct crew crews[CREWS];
    struct sync_thread driver;
    uint64_t read_ns;  /* the last reading of the clock; the runner's */
    uint64_t shown_ns; /* the time that pools were advanced to; the runner's */

    struct sync_mutex mutex;
    struct sync_cond quiet; /* no callback, pass or submitted job is left */
    struct sync_cond ended; /* a callback that a thread waits for ended */
    uint32_t running_count; /* callbacks outside of the runner; mutex */
    uint64_t out_count;     /* jobs that submit() has taken, not ended; mutex */
    bool is_closing;        /* threads of crews must end; mutex */
    uint64_t aimed_ns;      /* the descriptor's time; mutex */
    uint64_t slowest_ns;    /* time of the slowest callback; written under the
                               mutex, read by any thread */
    tkw_callback *slowest;  /* that callback; mutex */
    struct recorder recorder;

    /* Atomics.  service/wakeup.c explains the first four. */
    char gap[64];
    _Alignas(8) tkw_tick earliest;
    bool is_asleep;
    bool is_active;
    bool has_fd;
    bool is_stopping;              /* run nothing, arm nothing */
    bool is_recording;             /* record every operation */
    _Alignas(8) uint64_t last_ns;  /* the latest time given to a thread */
    _Alignas(8) uint64_t shift_ns; /* total of a wall clock's steps back */
    _Alignas(8) uint64_t pending;  /* counted only if timers_max is set */
    _Alignas(8) uint64_t wakeups;
    _Alignas(8) uint64_t woken;
    _Alignas(8) uint64_t steps_back;
    _Alignas(8) uint64_t overruns;
    char gap_behind[64];

    struct shard *shards[CREWS * TKW_SHARDS_MAX];
    struct histogram late_direct; /* of callbacks in the runner; the runner's */
    struct histogram late;        /* of all others; atomic */
};

_Static_assert(CREWS *TKW_SHARDS_MAX <= 1 << (32 - JOB_INDEX_BITS),
               "a handle has bits for each shard");

/* service/time.c */
uint64_t tkw__time_clamp(struct tkw_service *service, uint64_t now);
tkw_tick tkw__time_tick(struct tkw_service *service, uint64_t due_ns);
uint64_t tkw__time_of(struct tkw_service *service, tkw_tick tick);
struct due_time tkw__time_due(struct tkw_service *service, uint64_t now,
                              uint64_t due_ns);
struct due_time tkw__time_due_at(struct tkw_service *service, uint64_t time_ns);
struct due_time tkw__time_due_after(struct tkw_service *service,
                                    uint64_t delay_ns);

/* service/wall.c */
uint64_t tkw__wall_read(struct tkw_service *service, uint64_t *now);
void tkw__wall_refile(struct tkw_service *service, const struct due_job *due);

/* service/wakeup.c */
bool tkw__wakeup_lower(struct tkw_service *service, tkw_tick tick);
void tkw__wakeup_wake(struct tkw_service *service, tkw_tick tick);
void tkw__wakeup_announce(struct tkw_service *service, struct shard *shard,
                          tkw_tick deadline);
void tkw__wakeup_sleep(struct tkw_service *service);
void tkw__wakeup_aim(struct tkw_service *service);
void tkw__wakeup_mute(struct tkw_service *service);

/* service/jobs.c */
struct job *tkw__job_find(const struct tkw_service *service, tkw_handle handle);
bool tkw__service_count_in(struct tkw_service *service);

/* service/arm.c */
int tkw__job_arm(struct tkw_service *service, struct shard *shard,
                 tkw_handle *handle, struct due_time when, uint64_t phase_ns,
                 const struct tkw_plan *plan);

/* service/move.c */
int tkw__job_arm_again(struct tkw_service *service, struct shard *shard,
                       uint32_t index, uint64_t word, tkw_tick deadline);

/* service/plan.c */
void tkw__repeat_arm(struct tkw_service *service, const struct due_job *due,
                     const struct tkw_firing *firing);

/* service/run.c */
void *tkw__service_drive(void *service);

/* service/fire.c */
void tkw__due_discard(const struct due_job *due);
bool tkw__job_fire(struct tkw_service *service, const struct due_job *due,
                   uint64_t *now);

static inline void service_lock(struct tkw_service *service)
{
    order_lock(&service->mutex, ORDER_SERVICE);
}

static inline void service_unlock(struct tkw_service *service)
{
    order_unlock(&service->mutex, ORDER_SERVICE);
}

/* Return the shard of a handle that tkw__job_find() has accepted. */
static inline struct shard *shard_of(const struct tkw_service *service,
                                     tkw_handle handle)
{
    return service->shards[(uint32_t)handle >> JOB_INDEX_BITS];
}

/* Record an operation, if the service is recording. */
static inline void service_note(struct tkw_service *service,
                                enum recorded_kind kind, tkw_handle handle,
                                uint64_t due_ns)
{
    if (sync_glance(&service->is_recording))
        tkw__service_note_recorded(service, kind, handle, due_ns);
}

/* Count one more pending timer.  Returns false if `timers_max` are pending. */
static inline bool count_in(struct tkw_service *service)
{
    return service->timers_max == 0 || tkw__service_count_in(service);
}

/* Count one pending timer less. */
static inline void count_out(struct tkw_service *service)
{
    if (service->timers_max != 0)
        sync_add_relaxed(&service->pending, (uint64_t)-1);
}

#endif
