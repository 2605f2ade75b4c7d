/*
 * service/job.h - a job: the service's record of one timer.
 *
 * A job is a record of the shard's pool and its payload, in one cache line
 * (pool/payload.h).  The payload has the due time and a word with the timer's
 * state.  Threads decide between cancelling, moving and running a job by
 * compare-and-swap of that word; so cancelling needs no lock.  The other fields
 * are written under the mutex of the job's shard, except `next`.
 *
 * A job that repeats or has an owner has a job_plan beside it.
 *
 * A job that was cancelled before it ran is in one place, and is freed there:
 * by the pool, when it reads an entry of the job; by a thread that files the
 * intake; or by the thread that has it in a batch or a queue.  A job with a
 * plan or a reservation has more to free.  The cancelling thread puts it on a
 * list, and a thread with the mutex reaps it (service/reap.c).
 */
#ifndef TKW_SERVICE_JOB_H
#define TKW_SERVICE_JOB_H

#include <stddef.h>

#include <tickwheel/service.h>

#include "pool/payload.h"

/* The number of bits in a job's index.  In a handle, the bits above the index
 * are the number of the shard. */
#define JOB_INDEX_BITS PAYLOAD_INDEX_BITS
#define JOB_INDEX_MASK ((UINT32_C(1) << JOB_INDEX_BITS) - 1)

/* The number of job plans in a segment, and of segments. */
#ifndef TKW_PLAN_SEGMENT_BITS
#define TKW_PLAN_SEGMENT_BITS 15
#endif
#define PLAN_SEGMENT (UINT32_C(1) << TKW_PLAN_SEGMENT_BITS)
#define PLAN_SEGMENTS (1 << (JOB_INDEX_BITS - TKW_PLAN_SEGMENT_BITS))
#define PLAN_SEGMENT_BYTES (PLAN_SEGMENT * sizeof(struct job_plan))

/*
 * The word of a job:
 *
 *      63          32 31         9 8      0
 *     [  generation  |   epoch    | flags  ]
 *
 * The generation is that of the pool's record.  A handle has the generation,
 * and below it the numbers of the shard and of the job.  The epoch counts how
 * often the job was armed again after it had left the pool.  The runner
 * compares the word with the one in its batch: they differ if the job was armed
 * again or has ended.
 */
#define JOB_ARMED UINT64_C(1)     /* pending: the callback is yet to start */
#define JOB_RUNNING UINT64_C(2)   /* the callback is running */
#define JOB_CANCELLED UINT64_C(4) /* a cancel ended the last arming */
#define JOB_WAITED UINT64_C(8)    /* a thread waits for the callback's end */
#define JOB_DROP UINT64_C(16)     /* call drop at the callback's end */
#define JOB_REPEATS UINT64_C(32)  /* it is armed again after its callback */
#define JOB_LATE UINT64_C(64)     /* it was due again while running */
#define JOB_GIVEN_UP PAYLOAD_GIVEN_UP /* cancelled; freed where it is */
#define JOB_HAS_MORE UINT64_C(256)    /* it has a plan or a reservation */
#define JOB_EPOCH (UINT64_C(1) << 9)
#define JOB_EPOCHS (UINT64_C(0x7fffff) << 9)
#define JOB_GENERATION_SHIFT 32
#define JOB_GENERATION (~UINT64_C(0) << JOB_GENERATION_SHIFT)
#define JOB_LASTING (JOB_GENERATION | JOB_EPOCHS | JOB_REPEATS | JOB_HAS_MORE)

struct job {
    union {
        struct record record; /* the pool's */
        struct {
            uint64_t record_word;
            uint64_t place; /* in the intake; the deadline while it is armed in
                               the pool; mutex */
            tkw_callback *callback;
            uint32_t plan : 31; /* index + 1 of its job_plan, or 0; mutex */
            uint32_t is_reserved : 1; /* the pool has memory in reserve for it;
                                         mutex */
            uint32_t next;            /* on a list of jobs: index + 1, or 0 */
        };
    };
    uint64_t word;   /* atomic; the pool reads JOB_GIVEN_UP */
    uint64_t due_ns; /* written under the mutex, read by any thread */
    tkw_drop *drop;  /* as due_ns */
    void *argument;  /* as due_ns */
};

_Static_assert(sizeof(struct job) == CELL_BYTES, "a job takes one line");
_Static_assert(offsetof(struct job, word) == sizeof(struct record),
               "the payload begins with the word");
_Static_assert(offsetof(struct job, place) == offsetof(struct record, deadline),
               "the pool and the service use one field in turn");
_Static_assert(offsetof(struct job, callback) >= offsetof(struct record, user),
               "the pool does not use these fields of an armed timer");

/*
 * The part of a tkw_plan that a job keeps.  Written under the mutex; the fields
 * marked "plan" do not change while the timer exists.
 */
struct job_plan {
    _Alignas(8)
        uint64_t phase_ns; /* when it is due, without jitter and slack; read by
                            the crew */
    uint64_t overruns;     /* for the next call; the crew's */
    uint64_t period_ns;    /* plan, as are the next four */
    tkw_next_time *next;   /* used instead of a period */
    uint64_t jitter_ns;
    uint64_t slack_ns;
    enum tkw_missed missed;
    struct tkw_owner *owner; /* NULL: it has none, or has left its list */
    uint32_t newer;          /* jobs of that owner: index + 1, or 0 */
    uint32_t older;          /* likewise; on the free list, the next plan */
};

/* When a timer is due: a time of the clock, and a tick of the pool. */
struct due_time {
    uint64_t ns;
    tkw_tick tick;
};

/* Returns whether `handle` names the timer whose job has `word`. */
static inline bool word_is_of(uint64_t word, tkw_handle handle)
{
    return (word ^ handle) >> JOB_GENERATION_SHIFT == 0;
}

/* Returns whether the pool holds a job. */
static inline bool job_is_in_pool(const struct job *job)
{
    return (job->record.word & WORD_STATE) == IS_ARMED;
}

/* Returns whether a job is in use.  The pool overwrites `callback`, `plan` and
 * `next` of a job that is free. */
static inline bool job_is_in_use(const struct job *job)
{
    uint64_t state = job->record.word & WORD_STATE;
    return state == IS_ARMED || state == IS_KEPT;
}

static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

#endif
