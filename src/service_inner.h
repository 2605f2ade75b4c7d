/*
 * service_inner.h - what a service is made of, for the files that make it.
 *
 *     any thread             shard                         one runner
 *     arm, move --lock--> [ intake, pool ] --pop--> [ batch ] --> callback
 *     cancel --- swap --> [ job's word ] <-- swap: "I run it" ---'
 *
 * A timer is a job: a line of memory that says what to call, and a word that
 * says what has become of it.  The pool of the job's shard tells when.  The
 * word alone decides between cancelling and running, by compare-and-swap; so
 * cancel needs no lock.  All else about a job, and the pool, is guarded by the
 * mutex of its shard.
 *
 * A cancelled job is still armed in the pool.  Whoever cancels it puts it on
 * the shard's stack of cancelled jobs, and whoever holds the mutex next takes
 * some of them out: see shard_reap().
 *
 * docs/concurrency.md has the stories of what may race.
 */
#ifndef TKW_SERVICE_INNER_H
#define TKW_SERVICE_INNER_H

#include <tickwheel/service.h>

#include "assertion.h"
#include "sync.h"

/* Jobs of a segment, and bits of an index; those above name the shard. */
#ifndef TKW_JOB_SEGMENT_BITS
#define TKW_JOB_SEGMENT_BITS 15
#endif
#define JOB_INDEX_BITS 27
#define JOB_SEGMENT (UINT32_C(1) << TKW_JOB_SEGMENT_BITS)
#define JOB_SEGMENTS (1 << (JOB_INDEX_BITS - TKW_JOB_SEGMENT_BITS))
#define JOB_ALIGNMENT 64
#define JOB_SEGMENT_BYTES (JOB_SEGMENT * sizeof(struct job) + JOB_ALIGNMENT)
#define JOB_INDEX_MASK ((UINT32_C(1) << JOB_INDEX_BITS) - 1)

/* Timers that wait to be filed in a pool. */
#ifndef TKW_INTAKE
#define TKW_INTAKE 64
#endif

/* Timers taken from a pool at a time. */
#ifndef TKW_BATCH
#define TKW_BATCH 64
#endif

/*
 * The word of a job:
 *
 *      63          32 31         8 7      0
 *     [  generation  |   epoch    | flags  ]
 *
 * A handle has the same generation, and the shard and the index below it.  The
 * epoch counts how often a timer was armed again that had left the pool, so
 * that the runner, who may still hold it in a batch, sees that it is not his.
 */
#define JOB_ARMED UINT64_C(1)     /* pending: the callback is yet to start */
#define JOB_RUNNING UINT64_C(2)   /* the callback is running */
#define JOB_CANCELLED UINT64_C(4) /* the last arming was ended by a cancel */
#define JOB_WAITED UINT64_C(8)    /* somebody waits for the callback's end */
#define JOB_DROP UINT64_C(16)     /* to be dropped at the callback's end */
#define JOB_EPOCH (UINT64_C(1) << 8)
#define JOB_EPOCHS (UINT64_C(0xffffff) << 8)
#define JOB_GENERATION_SHIFT 32
#define JOB_GENERATION (~UINT64_C(0) << JOB_GENERATION_SHIFT)

struct job {
    _Alignas(JOB_ALIGNMENT) uint64_t word; /* atomic */
    uint64_t due_ns; /* written under the mutex, read by anyone */
    tkw_drop *drop;  /* the same */
    void *argument;  /* the same */
    tkw_callback *callback;
    tkw_handle timer;  /* in the pool, or the place in the intake; or once
                          there; mutex */
    tkw_tick deadline; /* mutex */
    uint32_t next;     /* on a list of jobs: index + 1, or 0 */
    uint32_t index;
};

_Static_assert(sizeof(struct job) == JOB_ALIGNMENT, "a job takes one line");

/* A list of jobs is its first one's index + 1, or 0; of those that were
 * cancelled, with their number above. */
#define CANCELLED_SHIFT 32

/* A timer taken from the pool, to be run if its word is still this. */
struct due {
    struct job *job;
    uint64_t word;
    tkw_tick deadline;
};

struct shard {
    struct sync_mutex mutex;
    struct tkw_pool *pool; /* from here to `armed`: mutex */
    uint32_t free;         /* a list of jobs */
    uint32_t reaping;      /* a list of jobs that were cancelled */
    uint64_t reaped;       /* how many of them there ever were */
    uint64_t announced;    /* timers armed or moved */
    uint32_t intake_count; /* see service_timer.c */
    uint32_t intake_room;
    uint32_t used; /* jobs that were ever used; read by anyone */
    uint64_t armed;
    uint32_t number;

    /* The runner's alone. */
    uint64_t fired;    /* read by anyone */
    uint32_t finished; /* a list of jobs that have run */
    uint32_t batch_at;
    uint32_t batch_count;
    tkw_tick next;   /* when the pool is to be advanced next */
    tkw_tick target; /* what it was advanced to, or is being; mutex */
    struct due batch[TKW_BATCH];

    uint32_t intake[TKW_INTAKE]; /* jobs: index + 1, or 0; mutex */

    /* They neither move nor go before the service is closed: a stale handle
     * may ask for a job at any time.  Written under the mutex, before `used`
     * is. */
    struct job *segments[JOB_SEGMENTS + 1]; /* the last is NULL */
    void *memory[JOB_SEGMENTS];             /* that they lie in */

    /* Where cancelling threads write, apart from the rest. */
    char gap[64];
    _Alignas(8) uint64_t cancelled; /* atomic: how many, and the list of them */
    _Alignas(8) uint64_t
        cancelled_running; /* atomic: how many had been armed again */
    char gap_behind[64];
};

struct tkw_service {
    uint64_t tick_ns;
    uint32_t shard_count;
    bool has_driver;
    bool has_own_clock;
    struct tkw_clock clock;
    struct tkw_allocator allocator;
    size_t timers_max;
    void (*thread_start)(void *context);
    void (*log)(void *context, const char *message);
    void *context;
    struct sync_thread driver;
    uint64_t read_ns;  /* what the runner read last; the runner's */
    uint64_t shown_ns; /* the time that pools were shown last; the same */

    struct sync_mutex mutex; /* for these two to wait under */
    struct sync_cond quiet;  /* no callback is running */
    struct sync_cond ended;  /* a callback that was waited for has returned */

    /* Atomics. */
    char gap[64];
    _Alignas(8) tkw_tick earliest; /* the driver will come by then */
    bool is_asleep;                /* ... and has to be woken to come earlier */
    bool is_stopping;              /* start nothing, arm nothing */
    bool is_active;                /* somebody is at running callbacks */
    _Alignas(8) uint64_t last_ns;  /* the latest time that anybody was told */
    _Alignas(8)
        uint64_t shift_ns; /* how far a wall clock was set back, altogether */
    _Alignas(8) uint64_t pending; /* counted only if there is a limit */
    _Alignas(8) uint64_t wakeups;
    _Alignas(8) uint64_t calls;
    _Alignas(8) uint64_t steps_back;
    char gap_behind[64];

    struct shard *shards[TKW_SHARDS_MAX];
};

/* A static library shows these names to the linker: let them be ours. */
#define job_give_back tkw_inner_job_give_back
#define job_arm_again tkw_inner_job_arm_again
#define job_find tkw_inner_job_find
#define shard_reap_some tkw_inner_shard_reap_some
#define timer_file_all tkw_inner_timer_file_all
#define timer_arm_full tkw_inner_timer_arm_full
#define timer_cancel tkw_inner_timer_cancel
#define timer_rearm tkw_inner_timer_rearm
#define timer_postpone tkw_inner_timer_postpone
#define service_tell tkw_inner_service_tell
#define service_tick_of tkw_inner_service_tick_of
#define service_drive tkw_inner_service_drive
#define service_lower tkw_inner_service_lower

/* service_arm.c */
void job_give_back(struct shard *shard, struct job *job);
int job_arm_again(struct tkw_service *service, struct shard *shard,
                  struct job *job, uint64_t word, tkw_tick deadline);
struct job *job_find(const struct tkw_service *service, tkw_handle handle);
void shard_reap_some(struct shard *shard, uint32_t most);
uint64_t service_tell(struct tkw_service *service, uint64_t now);
tkw_tick service_tick_of(struct tkw_service *service, uint64_t due_ns);
bool service_lower(struct tkw_service *service, tkw_tick tick);

/* service_timer.c; those that move return what the pool's do. */
void timer_file_all(struct shard *shard);
int timer_arm_full(struct shard *shard, struct job *job);
void timer_cancel(struct shard *shard, struct job *job);
int timer_rearm(struct shard *shard, struct job *job, tkw_tick deadline);
int timer_postpone(struct shard *shard, struct job *job, tkw_tick deadline);

/* service_run.c */
void *service_drive(void *service);

static inline struct job *job_at(const struct shard *shard, uint32_t index)
{
    return &shard->segments[index >> TKW_JOB_SEGMENT_BITS]
                           [index & (JOB_SEGMENT - 1)];
}

/* Arm a job's timer.  Returns 0 or what the pool says. */
static inline int timer_arm(struct shard *shard, struct job *job,
                            tkw_tick deadline)
{
    job->deadline = deadline;
    if (shard->intake_count == shard->intake_room)
        return timer_arm_full(shard, job);
    job->timer = shard->intake_count;
    shard->intake[shard->intake_count++] = job->index + 1;
    return 0;
}

static inline tkw_handle job_handle(const struct shard *shard,
                                    const struct job *job, uint64_t word)
{
    return (word & JOB_GENERATION) | shard->number << JOB_INDEX_BITS |
           job->index;
}

static inline bool word_is_of(uint64_t word, tkw_handle handle)
{
    return (word ^ handle) >> JOB_GENERATION_SHIFT == 0;
}

static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* The same as shard_reap_some(), mostly for nothing. */
static inline void shard_reap(struct shard *shard, uint32_t most)
{
    if (shard->reaping != 0 || sync_get_relaxed(&shard->cancelled) != 0)
        shard_reap_some(shard, most);
}

/* One timer less is pending. */
static inline void count_out(struct tkw_service *service)
{
    if (service->timers_max != 0)
        sync_add_relaxed(&service->pending, (uint64_t)-1);
}

/* The callback of a service that the calling thread is in; else NULL. */
static inline const struct sync_frame *
frame_of(const struct tkw_service *service)
{
    const struct sync_frame *frame = sync_self()->inside;
    while (frame != NULL && frame->service != service)
        frame = frame->outer;
    return frame;
}

/* Is the calling thread inside a callback of this service? */
static inline bool is_in_callback(const struct tkw_service *service)
{
    return frame_of(service) != NULL;
}

#endif
