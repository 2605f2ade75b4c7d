/*
 * service/shard.h - a shard: a mutex, a pool, and the jobs of its timers.
 *
 *     arm --> [ intake ] --file--> [ pool ] --take--> [ batch ] --> crew
 *
 * A thread arms in one shard of a crew only.  Jobs wait in the intake until it
 * is full or the runner visits the shard (service/intake.c).  The runner takes
 * jobs that are due out of the pool, a batch at a time (service/run.c).
 * service/job.h says how a cancelled job leaves the shard.
 */
#ifndef TKW_SERVICE_SHARD_H
#define TKW_SERVICE_SHARD_H

#include "base/assertion.h"
#include "base/attributes.h"
#include "job.h"
#include "os/lock_order.h"
#include "os/sync.h"

struct crew;

/* Jobs that an intake holds. */
#ifndef TKW_INTAKE
#define TKW_INTAKE 64
#endif

/* Jobs that one arming reaps: two for the one it makes, so that none
 * accumulate. */
enum { REAPED_BY_ARMING = 2 };

/* Lists of jobs to reap: see tkw__shard_reap_some(). */
#ifndef TKW_STACKS
#define TKW_STACKS 2
#endif

/* The most jobs that one pass reaps in a shard. */
#ifndef TKW_REAPED
#define TKW_REAPED 256
#endif

/* Jobs taken from a pool at a time. */
#ifndef TKW_BATCH
#define TKW_BATCH 64
#endif

/* A list of jobs is its first one's index + 1, or 0. */

/* A job that has left the pool.  It runs if its word still equals `word`. */
struct due_job {
    struct shard *shard;
    struct job *job;
    uint64_t word;
    tkw_tick deadline;
    uint32_t index;
};

/* A job that waits to be filed in the pool. */
struct intake_entry {
    struct job *job; /* NULL: it was freed or moved */
    tkw_tick deadline;
    uint32_t index;
};

struct shard {
    struct sync_mutex mutex;
    struct crew *crew;
    struct tkw_pool *pool; /* from here to `armed`: mutex */
    char *const *segments; /* the pool's; each is an array of jobs */
    uint32_t reserved;     /* jobs that the pool keeps memory in reserve for */
    uint32_t plans_free;   /* a list of job plans */
    uint32_t plans_used;
    uint32_t reaping[TKW_STACKS]; /* lists of jobs to reap */
    uint64_t announced;           /* timers armed or moved */
    uint32_t intake_count;
    uint32_t intake_room; /* entries that the pool has a reserve for */
    uint32_t used;        /* jobs ever used; read by any thread */
    uint64_t armed;
    uint64_t handed_back;
    uint32_t number;

    /* Only the runner uses these, unless a field says otherwise. */
    uint64_t fired;    /* callbacks started; atomic, see note_late() */
    uint32_t finished; /* a list of jobs that the runner has run */
    bool is_behind;    /* the pass has more to do here for its tick */
    bool has_arrived;  /* the pass has advanced the pool to its tick */
    uint32_t batch_at;
    uint32_t batch_count;
    tkw_tick next;   /* when the pool must be advanced next */
    tkw_tick target; /* the tick that the pool is advanced to; mutex */
    struct due_job batch[TKW_BATCH];

    struct intake_entry intake[TKW_INTAKE];    /* mutex, as is the next */
    struct job_plan *plans[PLAN_SEGMENTS + 1]; /* the last is NULL */

    /* Cancelling threads write here, on cache lines of their own.  Atomic. */
    char gap[64];
    _Alignas(8) uint64_t given_up;  /* jobs that were given up */
    _Alignas(8) uint64_t cancelled; /* jobs cancelled without that */
    uint32_t ended[TKW_STACKS];     /* lists of jobs to reap */
    char gap_behind[64];
};

/* service/jobs.c */
int tkw__job_take(struct shard *shard, uint32_t *index, uint64_t *word);
void tkw__job_free(struct shard *shard, struct job *job, uint32_t index);
int tkw__plan_provide(const struct tkw_allocator *allocator,
                      struct shard *shard, uint32_t *index);
void tkw__plan_attach(struct shard *shard, uint32_t of_job, uint32_t index,
                      const struct tkw_plan *plan, uint64_t phase_ns);

/* service/reap.c */
void tkw__shard_push(struct shard *shard, struct job *job, uint32_t index);
void tkw__shard_reap_some(struct shard *shard, uint32_t most);
bool tkw__shard_reap_for_memory(struct shard *shard);

/* service/intake.c; tkw__job_refile() returns the result of tkw_pool_rearm(),
 * and tkw__job_postpone() that of tkw_pool_postpone(). */
bool tkw__shard_reserve(struct shard *shard, uint32_t count, size_t steps);
int tkw__job_reserve(struct shard *shard, struct job *job);
void tkw__shard_file_intake(struct shard *shard);
int tkw__shard_empty_intake(struct shard *shard, bool is_reserved);
void tkw__job_unfile(struct shard *shard, struct job *job);
int tkw__job_refile(struct shard *shard, uint32_t index, tkw_tick deadline);
int tkw__job_postpone(struct shard *shard, uint32_t index, tkw_tick deadline);

/* service/owner.c */
void tkw__owner_link(struct shard *shard, uint32_t index,
                     struct tkw_owner *owner);
void tkw__owner_unlink(struct shard *shard, struct job *job);

static inline void shard_lock(struct shard *shard)
{
    order_lock(&shard->mutex, ORDER_SHARD);
}

static inline void shard_unlock(struct shard *shard)
{
    order_unlock(&shard->mutex, ORDER_SHARD);
}

static inline struct job *job_at(const struct shard *shard, uint32_t index)
{
    char *segment = shard->segments[index >> TKW_SEGMENT_BITS];
    struct job *jobs = (struct job *)(void *)segment;
    return &jobs[index & (SEGMENT_RECORDS - 1)];
}

/* Return the plan of a job that has one. */
static inline struct job_plan *plan_of(const struct shard *shard,
                                       const struct job *job)
{
    uint32_t index = job->plan - 1;
    return &shard->plans[index >> TKW_PLAN_SEGMENT_BITS]
                        [index & (PLAN_SEGMENT - 1)];
}

static inline tkw_handle job_handle(const struct shard *shard, uint32_t index,
                                    uint64_t word)
{
    return (word & JOB_GENERATION) | shard->number << JOB_INDEX_BITS | index;
}

/* Return the index in a handle that tkw__job_find() has accepted. */
static inline uint32_t handle_index(tkw_handle handle)
{
    return (uint32_t)handle & JOB_INDEX_MASK;
}

/* Prefetch the first job of a list. */
static ALWAYS_INLINE void job_prefetch(const struct shard *shard, uint32_t list)
{
    if (list != 0)
        __builtin_prefetch(job_at(shard, list - 1), 1);
}

/* End the reservation of tkw__job_reserve(), if the job has one. */
static inline void job_unreserve(struct shard *shard, struct job *job)
{
    shard->reserved -= job->is_reserved;
    job->is_reserved = false;
}

/* Make room for a job in the intake.  Returns 0 or -ENOMEM. */
static inline int shard_make_room(struct shard *shard, const struct job *job)
{
    if (shard->intake_count < shard->intake_room)
        return 0;
    return tkw__shard_empty_intake(shard, job->is_reserved);
}

/* Put a job into the intake, which has room. */
static inline void intake_put(struct shard *shard, uint32_t index,
                              tkw_tick deadline)
{
    TKW_ASSERT(shard->intake_count < shard->intake_room);
    struct job *job = job_at(shard, index);
    job->place = shard->intake_count;
    shard->intake[shard->intake_count++] =
        (struct intake_entry){job, deadline, index};
}

/* Returns whether a job is in the intake. */
static inline bool job_is_in_intake(const struct shard *shard,
                                    const struct job *job)
{
    return job->place < shard->intake_count &&
           shard->intake[job->place].job == job;
}

/* Returns whether there is any job to reap. */
static inline bool shard_has_ended(const struct shard *shard)
{
    uint32_t any = 0;
    for (unsigned i = 0; i < TKW_STACKS; i++)
        any |= shard->reaping[i] | sync_get_relaxed(&shard->ended[i]);
    return any != 0;
}

/* Reap jobs if there are any; usually there are none. */
static inline void shard_reap(struct shard *shard, uint32_t most)
{
    if (shard_has_ended(shard))
        tkw__shard_reap_some(shard, most);
}

/* Returns whether a job with `word` was given up after it became `due`.  Then
 * the thread that has `due` frees the job: no other thread knows of it. */
static inline bool due_is_given_up(const struct due_job *due, uint64_t word)
{
    uint64_t given_up = (due->word & ~JOB_ARMED) | JOB_CANCELLED | JOB_GIVEN_UP;
    return word == given_up;
}

#endif
