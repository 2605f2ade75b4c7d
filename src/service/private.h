/*
 * service/private.h - what a service is made of, for the files that make it.
 *
 *     any thread             shard                   runner       crew
 *     arm, move --lock--> [ intake, pool ] --pop--> [ batch ] --> callback
 *     cancel --- swap --> [ job's word ] <----- swap: "I run it" ---'
 *
 * A timer is a job: a line of memory that says what to call, and a word that
 * says what has become of it.  The pool of the job's shard tells when.  The
 * word alone decides between cancelling and running, by compare-and-swap; so
 * cancel needs no lock.  All else about a job, and the pool, is guarded by the
 * mutex of its shard.
 *
 * A cancelled job is still armed in the pool.  Whoever cancels it puts it on a
 * stack of cancelled jobs of its shard, and whoever holds the mutex next takes
 * some of them out: see shard_reap().
 *
 * A crew is where callbacks run: the runner itself, or threads of ours behind a
 * queue, or whatever `submit` does.  Each crew has shards of its own, so that
 * its timers can stay where they are while it is busy.
 *
 * Locks: a shard's mutex before the service's, never two shards'; the
 * recorder's after a shard's, and none after it.
 *
 * docs/internals/concurrency.md has the stories of what may race.
 */
#ifndef TKW_SERVICE_PRIVATE_H
#define TKW_SERVICE_PRIVATE_H

#include <tickwheel/service.h>

#include "base/assertion.h"
#include "base/attributes.h"
#include "histogram.h"
#include "os/frame.h"
#include "os/sync.h"

/* Jobs of a segment, and bits of an index; those above name the shard. */
#ifndef TKW_JOB_SEGMENT_BITS
#define TKW_JOB_SEGMENT_BITS 15
#endif
#define JOB_INDEX_BITS 26
#define JOB_SEGMENT (UINT32_C(1) << TKW_JOB_SEGMENT_BITS)
#define JOB_SEGMENTS (1 << (JOB_INDEX_BITS - TKW_JOB_SEGMENT_BITS))
#define JOB_ALIGNMENT 64
#define JOB_SEGMENT_BYTES (JOB_SEGMENT * sizeof(struct job) + JOB_ALIGNMENT)
#define EXTRA_SEGMENT_BYTES (JOB_SEGMENT * sizeof(struct extra))
#define JOB_INDEX_MASK ((UINT32_C(1) << JOB_INDEX_BITS) - 1)

/* Timers that wait to be filed in a pool. */
#ifndef TKW_INTAKE
#define TKW_INTAKE 64
#endif

/* Cancelled timers taken out of a pool by one arming: twice as many as it
 * makes, so that none pile up. */
enum { REAPED_BY_ARMING = 2 };

/* Stacks where they wait for it: see tkw__shard_reap_some(). */
#ifndef TKW_STACKS
#define TKW_STACKS 2
#endif

/* Taken at most, by anyone at a time. */
#ifndef TKW_REAPED
#define TKW_REAPED 256
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
#define JOB_REPEATS UINT64_C(32)  /* it is armed again after its callback */
#define JOB_LATE UINT64_C(64)     /* its time came while it was running */
#define JOB_EPOCH (UINT64_C(1) << 8)
#define JOB_EPOCHS (UINT64_C(0xffffff) << 8)
#define JOB_GENERATION_SHIFT 32
#define JOB_GENERATION (~UINT64_C(0) << JOB_GENERATION_SHIFT)
#define JOB_LASTING (JOB_GENERATION | JOB_EPOCHS | JOB_REPEATS)

struct job {
    _Alignas(JOB_ALIGNMENT) uint64_t word; /* atomic */
    uint64_t due_ns; /* written under the mutex, read by anyone */
    tkw_drop *drop;  /* the same */
    void *argument;  /* the same */
    tkw_callback *callback;
    tkw_handle timer; /* in the pool, or the place in the intake; or once
                         there; mutex */
    uint32_t extra;   /* index + 1, or 0: it is a plain timer; mutex */
    bool is_owed;     /* it must be able to get back into the pool; mutex */
    uint32_t next;    /* on a list of jobs: index + 1, or 0 */
    uint32_t index;
};

_Static_assert(sizeof(struct job) == JOB_ALIGNMENT, "a job takes one line");

/* What else there is to a timer that repeats or has an owner.  Written under
 * the mutex; where it says "plan", not while the timer lives. */
struct extra {
    _Alignas(8)
        uint64_t phase_ns; /* when it is due, without jitter and slack; read by
                            the crew */
    uint64_t overruns;     /* to be told to the next call; the crew's */
    uint64_t period_ns;    /* plan, as are the next four */
    tkw_next_time *next;   /* instead of a period */
    uint64_t jitter_ns;
    uint64_t slack_ns;
    enum tkw_missed missed;
    struct tkw_owner *owner; /* NULL: nobody, or it has let go */
    uint32_t newer;          /* jobs of the same owner: index + 1, or 0 */
    uint32_t older;          /* the same; and of extras, on the free list */
};

/* A list of jobs is its first one's index + 1, or 0; of those that were
 * cancelled, with their number above. */
#define CANCELLED_SHIFT 32

/* A timer taken from the pool, to be run if its word is still this. */
struct due {
    struct shard *shard;
    struct job *job;
    uint64_t word;
    tkw_tick deadline;
};

/* What of a shard's batch is to be handed over. */
struct portion {
    tkw_tick until;  /* up to this tick ... */
    uint64_t now_ns; /* ... and what a wall clock says ... */
    int most;        /* ... and so many */
};

/* A timer that waits to be filed. */
struct arrival {
    uint32_t job; /* index + 1, or 0: cancelled */
    tkw_tick deadline;
};

struct shard {
    struct sync_mutex mutex;
    struct crew *crew;
    struct tkw_pool *pool; /* from here to `armed`: mutex */
    uint32_t owed;         /* jobs that must be able to get back into it */
    uint32_t extras_free;  /* a list of extras */
    uint32_t extras_used;
    uint32_t free;                /* a list of jobs */
    uint32_t reaping[TKW_STACKS]; /* lists of jobs that were cancelled */
    uint64_t reaped;              /* how many of them there ever were */
    uint32_t prefetched_count;    /* see tkw__shard_reap_some() */
    uint64_t announced;           /* timers armed or moved */
    uint32_t intake_count;        /* see service/intake.c */
    uint32_t intake_room;
    uint32_t used; /* jobs that were ever used; read by anyone */
    uint64_t armed;
    uint64_t handed_back;
    uint32_t number;

    /* The runner's alone. */
    uint64_t fired;    /* by the crew; read by anyone */
    uint32_t finished; /* a list of jobs that the runner has run */
    bool is_behind;    /* there is more to be done for this tick */
    bool has_arrived;  /* the pass has advanced the pool to its tick */
    uint32_t batch_at;
    uint32_t batch_count;
    tkw_tick next;   /* when the pool is to be advanced next */
    tkw_tick target; /* what it was advanced to, or is being; mutex */
    struct due batch[TKW_BATCH];

    struct arrival intake[TKW_INTAKE]; /* mutex, as is the next */
    struct job *prefetched[TKW_REAPED];

    /* They neither move nor go before the service is closed: a stale handle
     * may ask for a job at any time.  Written under the mutex, before `used`
     * is. */
    struct job *segments[JOB_SEGMENTS + 1]; /* the last is NULL */
    void *memory[JOB_SEGMENTS];             /* that they lie in */
    struct extra *extras[JOB_SEGMENTS + 1]; /* mutex; the last is NULL */

    /* Where cancelling threads write, apart from the rest. */
    char gap[64];
    _Alignas(8) uint64_t
        cancelled[TKW_STACKS]; /* atomic: how many, and the list of them */
    _Alignas(8) uint64_t
        cancelled_running; /* atomic: how many had been armed again */
    char gap_behind[64];
};

/* Where callbacks run. */
struct crew {
    struct tkw_service *service;
    bool is_direct;   /* in the runner, when it comes to them */
    bool is_submit;   /* wherever the user puts them */
    bool is_refusing; /* it took no more; the runner's, read by anyone */
    uint32_t first_shard;

    /* Threads and their queue; from here on: the service's mutex. */
    uint32_t thread_count;
    uint32_t threads_room;
    struct sync_thread *threads; /* NULL: none */
    struct sync_cond work;       /* there is some, or no more to come */
    struct due *queue;           /* a ring */
    uint32_t queue_room;
    uint32_t queue_at;
    uint32_t queue_count;
    uint32_t idle_count; /* threads that wait for work */
    bool is_full;        /* the runner is to be told when there is room */
};

/* An operation, as it is recorded: see service/record.c. */
enum recorded_kind {
    RECORDED_ARM,
    RECORDED_POSTPONE,
    RECORDED_CANCEL,
    RECORDED_NONE, /* but some were left out */
};

struct recorded {
    uint64_t time_ns;
    uint64_t due_ns;
    tkw_handle handle;
    uint64_t left_out; /* operations before it that there was no room for */
    enum recorded_kind kind;
};

struct recorder {
    struct sync_mutex mutex; /* taken last, and alone; for all of it */
    struct recorded *ring;   /* NULL: nothing was ever recorded */
    size_t room;
    size_t at; /* the oldest */
    size_t count;
    uint64_t last_ns;
    uint64_t left_out; /* since the newest */
    bool has_head;     /* what the trace begins with is yet to be taken */
};

enum {
    CREWS = 3, /* in the order of enum tkw_executor, from TKW_ON_DRIVER on */
    QUEUE_ROOM = 1024, /* by default */
};

#define THREAD_NAME "tickwheel" /* the same */

struct tkw_service {
    uint64_t tick_ns;
    uint32_t shard_count; /* of all crews ... */
    uint32_t crew_shards; /* ... and of each */
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
    struct crew *crew; /* of timers that do not say */
    struct crew crews[CREWS];
    struct sync_thread driver;
    uint64_t read_ns;  /* what the runner read last; the runner's */
    uint64_t shown_ns; /* the time that pools were shown last; the same */

    struct sync_mutex mutex;
    struct sync_cond quiet; /* no callback is running, or no job is out */
    struct sync_cond ended; /* a callback that was waited for has returned */
    uint32_t running_count; /* callbacks, the runner's not counted; mutex */
    uint64_t out_count;     /* jobs that `submit` has taken; mutex */
    bool is_closing;        /* threads of crews are to end; mutex */
    uint64_t aimed_ns;      /* what the descriptor was aimed at last; mutex */
    uint64_t slowest_ns;    /* the callback that took longest; mutex, but read
                               by anyone */
    tkw_callback *slowest;  /* the same; mutex */
    struct recorder recorder;

    /* Atomics. */
    char gap[64];
    _Alignas(8) tkw_tick earliest; /* the driver will come by then */
    bool is_asleep;                /* ... and has to be woken to come earlier */
    bool is_stopping;              /* start nothing, arm nothing */
    bool is_recording;             /* tell the recorder of everything */
    bool is_active;                /* somebody is at running callbacks */
    bool has_fd;                   /* ... and aims the clock's descriptor */
    _Alignas(8) uint64_t last_ns;  /* the latest time that anybody was told */
    _Alignas(8)
        uint64_t shift_ns; /* how far a wall clock was set back, altogether */
    _Alignas(8) uint64_t pending; /* counted only if there is a limit */
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

/* When to fire: by the clock, and for the pool. */
struct aim {
    uint64_t due_ns;
    tkw_tick deadline;
};

/* service/change.c */
int tkw__job_arm_again(struct tkw_service *service, struct shard *shard,
                       struct job *job, uint64_t word, tkw_tick deadline);
struct job *tkw__job_find(const struct tkw_service *service, tkw_handle handle);
void tkw__job_push(struct shard *shard, struct job *job, uint32_t cancelled);

/* service/arm.c */
int tkw__job_arm(struct tkw_service *service, struct shard *shard,
                 tkw_handle *handle, struct aim aim, uint64_t phase_ns,
                 const struct tkw_plan *plan);
void tkw__job_give_back(struct shard *shard, struct job *job);
void tkw__shard_reap_some(struct shard *shard, uint32_t most);
bool tkw__shard_reap_for_memory(struct shard *shard);
struct shard *tkw__crew_own_shard(const struct crew *crew);
struct aim tkw__service_aim_from(struct tkw_service *service, uint64_t now,
                                 uint64_t due_ns);
struct aim tkw__service_aim_at(struct tkw_service *service, uint64_t time_ns);
struct aim tkw__service_aim_after(struct tkw_service *service,
                                  uint64_t delay_ns);
uint64_t tkw__service_tell(struct tkw_service *service, uint64_t now);
tkw_tick tkw__service_tick_of(struct tkw_service *service, uint64_t due_ns);
bool tkw__service_count_in(struct tkw_service *service);
bool tkw__service_lower(struct tkw_service *service, tkw_tick tick);
void tkw__service_wake(struct tkw_service *service, tkw_tick tick);
void tkw__service_announce(struct tkw_service *service, struct shard *shard,
                           tkw_tick deadline);

/* service/intake.c; those that move return what the pool's do. */
bool tkw__timer_is_room(struct shard *shard, uint32_t count, size_t steps);
int tkw__timer_owe(struct shard *shard, struct job *job);
void tkw__timer_file_all(struct shard *shard);
int tkw__timer_arm_full(struct shard *shard, struct job *job,
                        tkw_tick deadline);
void tkw__timer_cancel(struct shard *shard, struct job *job);
int tkw__timer_rearm(struct shard *shard, struct job *job, tkw_tick deadline);
int tkw__timer_postpone(struct shard *shard, struct job *job,
                        tkw_tick deadline);

/* service/plan.c */
int tkw__extra_peek(struct tkw_service *service, struct shard *shard,
                    uint32_t *index);
void tkw__extra_attach(struct shard *shard, struct job *job, uint32_t index,
                       const struct tkw_plan *plan, uint64_t phase_ns);
void tkw__extra_detach(struct shard *shard, struct job *job);
void tkw__repeat_arm(struct tkw_service *service, struct shard *shard,
                     struct job *job, const struct tkw_firing *firing);

/* service/owner.c */
struct shard *tkw__owner_shard(const struct crew *crew,
                               const struct tkw_owner *owner);
void tkw__owner_link(struct shard *shard, struct job *job,
                     struct tkw_owner *owner);
void tkw__owner_unlink(struct shard *shard, struct job *job);

/* service/record.c */
void tkw__service_note_recorded(struct tkw_service *service,
                                enum recorded_kind kind, tkw_handle handle,
                                uint64_t due_ns) RARE;
void tkw__recorder_close(struct tkw_service *service);

/* service/run.c */
void *tkw__service_drive(void *service);
void tkw__service_point_fd(struct tkw_service *service);

/* service/fire.c */
bool tkw__job_fire(struct tkw_service *service, const struct due *due,
                   uint64_t *now);

/* service/crew.c */
int tkw__crew_open(struct crew *crew, const struct tkw_service_config *config,
                   uint32_t threads, char letter);
void tkw__crew_close(struct crew *crew);
bool tkw__crew_hand_over(struct crew *crew, struct shard *shard,
                         const struct portion *portion, int *count);

static inline struct job *job_at(const struct shard *shard, uint32_t index)
{
    return &shard->segments[index >> TKW_JOB_SEGMENT_BITS]
                           [index & (JOB_SEGMENT - 1)];
}

static inline struct extra *extra_of(const struct shard *shard,
                                     const struct job *job)
{
    uint32_t index = job->extra - 1;
    return &shard->extras[index >> TKW_JOB_SEGMENT_BITS]
                         [index & (JOB_SEGMENT - 1)];
}

/* A job need not get back into the pool any more. */
static inline void timer_disown(struct shard *shard, struct job *job)
{
    shard->owed -= job->is_owed;
    job->is_owed = false;
}

/* Arm a job's timer.  Returns 0 or what the pool says. */
static inline int timer_arm(struct shard *shard, struct job *job,
                            tkw_tick deadline)
{
    if (shard->intake_count == shard->intake_room)
        return tkw__timer_arm_full(shard, job, deadline);
    job->timer = shard->intake_count;
    shard->intake[shard->intake_count++] =
        (struct arrival){job->index + 1, deadline};
    return 0;
}

/* Is a job in the intake?  Its place there would be no handle of a pool. */
static inline bool timer_is_waiting(const struct shard *shard,
                                    const struct job *job)
{
    return job->timer < shard->intake_count &&
           shard->intake[job->timer].job == job->index + 1;
}

/* Send for the first job of a list. */
static ALWAYS_INLINE void job_prefetch(const struct shard *shard, uint32_t list)
{
    if (list != 0)
        __builtin_prefetch(job_at(shard, list - 1), 1);
}

static inline tkw_handle job_handle(const struct shard *shard,
                                    const struct job *job, uint64_t word)
{
    return (word & JOB_GENERATION) | shard->number << JOB_INDEX_BITS |
           job->index;
}

/* Is a timer to wait?  It is if it was taken before a wall clock was set back,
 * and there was no memory to file it anew. */
static inline bool due_is_held(const struct tkw_service *service,
                               const struct due *due, uint64_t now)
{
    if (!service->clock.is_wall)
        return false;
    uint64_t word = sync_get_acquire(&due->job->word);
    return word == due->word && sync_get_relaxed(&due->job->due_ns) > now;
}

static inline bool word_is_of(uint64_t word, tkw_handle handle)
{
    return (word ^ handle) >> JOB_GENERATION_SHIFT == 0;
}

static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* Is something cancelled that is still in the pool? */
static inline bool shard_has_cancelled(const struct shard *shard)
{
    uint64_t any = shard->prefetched_count;
    for (unsigned i = 0; i < TKW_STACKS; i++)
        any |= shard->reaping[i] | sync_get_relaxed(&shard->cancelled[i]);
    return any != 0;
}

/* Reaps cancelled jobs if there are any; usually there are none. */
static inline void shard_reap(struct shard *shard, uint32_t most)
{
    if (shard_has_cancelled(shard))
        tkw__shard_reap_some(shard, most);
}

/* Record an operation, if that was asked for. */
static inline void service_note(struct tkw_service *service,
                                enum recorded_kind kind, tkw_handle handle,
                                uint64_t due_ns)
{
    if (sync_glance(&service->is_recording))
        tkw__service_note_recorded(service, kind, handle, due_ns);
}

/* One timer more is pending, if that is allowed. */
static inline bool count_in(struct tkw_service *service)
{
    return service->timers_max == 0 || tkw__service_count_in(service);
}

/* One timer less is pending. */
static inline void count_out(struct tkw_service *service)
{
    if (service->timers_max != 0)
        sync_add_relaxed(&service->pending, (uint64_t)-1);
}

#endif
