/*
 * engine/jobs.c - all jobs, by number and by id.
 *
 * Jobs live in segments that never move.  A job's number is its place in them;
 * numbers of freed jobs are used again.
 *
 * The index from ids to jobs is a linear hash table: it grows by one bucket for
 * each job, which splits one bucket in two.  So no call moves many jobs.  With
 * n buckets, 2^k <= n < 2^(k+1), a job is in bucket h mod 2^(k+1) if there is
 * one, else in h mod 2^k:
 *
 *     buckets 0 .. n-2^k-1       are split: k+1 bits of the hash
 *     buckets n-2^k .. 2^k-1     are not split yet: k bits
 *     buckets 2^k .. n-1         are the other halves: k+1 bits
 */
#include <assert.h>
#include <string.h>

#include "private.h"

enum {
    SEGMENT_BITS = 9, /* jobs of a segment */
    SEGMENT_JOBS = 1 << SEGMENT_BITS,
    FIRST_BITS = 10, /* buckets in the first segment of buckets */
    FIRST_HEADS = 1 << FIRST_BITS,
    HEAD_SEGMENTS = 32 - FIRST_BITS,
};

static uint32_t hash(const struct jobs *jobs, uint64_t id)
{
    uint64_t mixed = (id ^ jobs->seed) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mixed >> 32);
}

/* Return the largest k with 2^k <= n. */
static unsigned log2_of(uint32_t n)
{
    return 31 - (unsigned)__builtin_clz(n);
}

/* The segment of a bucket: segment 0 has the first 2^FIRST_BITS, segment s > 0
 * has as many as all before it. */
static unsigned segment_of(uint32_t bucket)
{
    return bucket < FIRST_HEADS ? 0 : log2_of(bucket) - FIRST_BITS + 1;
}

static size_t segment_bytes(unsigned segment)
{
    size_t heads =
        segment == 0 ? FIRST_HEADS : (size_t)FIRST_HEADS << (segment - 1);
    return heads * sizeof(uint32_t);
}

static uint32_t *head_of(const struct jobs *jobs, uint32_t bucket)
{
    unsigned segment = segment_of(bucket);
    uint32_t first = segment == 0 ? 0 : (uint32_t)FIRST_HEADS << (segment - 1);
    return &jobs->heads[segment][bucket - first];
}

static uint32_t bucket_of(const struct jobs *jobs, uint64_t id)
{
    uint32_t half = UINT32_C(1) << log2_of(jobs->buckets);
    uint32_t bucket = hash(jobs, id) & (2 * half - 1);
    return bucket < jobs->buckets ? bucket : bucket & (half - 1);
}

void tkd__jobs_open(struct jobs *jobs, uint64_t seed)
{
    memset(jobs, 0, sizeof *jobs);
    jobs->seed = seed;
    jobs->free = NO_JOB;
}

struct job *tkd__job_at(const struct jobs *jobs, uint32_t number)
{
    assert(number < jobs->used);
    return &jobs->segments[number >> SEGMENT_BITS][number & (SEGMENT_JOBS - 1)];
}

struct job *tkd__job_find(const struct jobs *jobs, uint64_t id)
{
    if (jobs->buckets == 0)
        return NULL;
    uint32_t number = *head_of(jobs, bucket_of(jobs, id));
    while (number != NO_JOB) {
        struct job *job = tkd__job_at(jobs, number);
        if (job->id == id)
            return job;
        number = job->chain;
    }
    return NULL;
}

static bool add_heads(struct tkd_engine *engine, unsigned segment)
{
    struct jobs *jobs = &engine->jobs;
    if (jobs->heads == NULL) {
        size_t bytes = HEAD_SEGMENTS * sizeof *jobs->heads;
        jobs->heads = tkd__allocate(engine, bytes);
        if (jobs->heads == NULL)
            return false;
        memset(jobs->heads, 0, bytes);
    }
    jobs->heads[segment] = tkd__allocate(engine, segment_bytes(segment));
    return jobs->heads[segment] != NULL;
}

/* Begin with the first segment of buckets. */
static bool add_first_buckets(struct tkd_engine *engine)
{
    struct jobs *jobs = &engine->jobs;
    if (!add_heads(engine, 0))
        return false;
    for (uint32_t i = 0; i < FIRST_HEADS; i++)
        jobs->heads[0][i] = NO_JOB;
    jobs->buckets = FIRST_HEADS;
    return true;
}

/* Move jobs from the bucket that is next to be split into bucket `added`. */
static void split_into(struct jobs *jobs, uint32_t added)
{
    uint32_t half = UINT32_C(1) << log2_of(added);
    uint32_t *from = head_of(jobs, added - half);
    uint32_t *to = head_of(jobs, added);
    uint32_t number = *from;
    *from = NO_JOB;
    *to = NO_JOB;
    while (number != NO_JOB) {
        struct job *job = tkd__job_at(jobs, number);
        uint32_t next = job->chain;
        uint32_t *head = hash(jobs, job->id) & half ? to : from;
        job->chain = *head;
        *head = number;
        number = next;
    }
}

/* Add a bucket if there are as many jobs as buckets.  Returns false if the
 * allocator refuses. */
static bool add_bucket(struct tkd_engine *engine)
{
    struct jobs *jobs = &engine->jobs;
    if (jobs->buckets == 0)
        return add_first_buckets(engine);
    if (jobs->count < jobs->buckets || jobs->buckets > UINT32_MAX / 2)
        return true;
    unsigned segment = segment_of(jobs->buckets);
    if (jobs->heads[segment] == NULL && !add_heads(engine, segment))
        return false;
    split_into(jobs, jobs->buckets);
    jobs->buckets++;
    return true;
}

static bool add_segment(struct tkd_engine *engine)
{
    struct jobs *jobs = &engine->jobs;
    uint32_t index = jobs->used >> SEGMENT_BITS;
    if (!tkd__grow(engine, &jobs->segments, &jobs->segment_count, index + 1,
                   sizeof *jobs->segments))
        return false;
    jobs->segments[index] =
        tkd__allocate(engine, SEGMENT_JOBS * sizeof(struct job));
    return jobs->segments[index] != NULL;
}

/* Return a number that no job has, or NO_JOB. */
static uint32_t take_number(struct tkd_engine *engine)
{
    struct jobs *jobs = &engine->jobs;
    uint32_t number = jobs->free;
    if (number != NO_JOB) {
        jobs->free = tkd__job_at(jobs, number)->chain;
        return number;
    }
    if (jobs->used == NO_JOB)
        return NO_JOB;
    if (jobs->used % SEGMENT_JOBS == 0 && !add_segment(engine))
        return NO_JOB;
    return jobs->used++;
}

struct job *tkd__job_new(struct tkd_engine *engine, uint64_t id)
{
    struct jobs *jobs = &engine->jobs;
    if (!add_bucket(engine))
        return NULL;
    uint32_t number = take_number(engine);
    if (number == NO_JOB)
        return NULL;
    struct job *job = tkd__job_at(jobs, number);
    memset(job, 0, sizeof *job);
    job->id = id;
    job->number = number;
    link_init(&job->askers);
    uint32_t *head = head_of(jobs, bucket_of(jobs, id));
    job->chain = *head;
    *head = number;
    jobs->count++;
    engine->memory += sizeof *job;
    return job;
}

void tkd__job_free(struct tkd_engine *engine, struct job *job)
{
    struct jobs *jobs = &engine->jobs;
    uint32_t *at = head_of(jobs, bucket_of(jobs, job->id));
    while (*at != job->number)
        at = &tkd__job_at(jobs, *at)->chain;
    *at = job->chain;
    tkd__job_drop_body(engine, job);
    job->id = 0;
    job->chain = jobs->free;
    jobs->free = job->number;
    jobs->count--;
    engine->memory -= sizeof *job;
}

void tkd__jobs_close(struct tkd_engine *engine)
{
    struct jobs *jobs = &engine->jobs;
    for (uint32_t i = 0; i < jobs->used; i++)
        tkd_body_release(&engine->allocator, tkd__job_at(jobs, i)->body);
    for (uint32_t i = 0; i < jobs->used; i += SEGMENT_JOBS)
        tkd__release(engine, jobs->segments[i >> SEGMENT_BITS],
                     SEGMENT_JOBS * sizeof(struct job));
    tkd__release(engine, jobs->segments,
                 jobs->segment_count * sizeof *jobs->segments);
    if (jobs->heads == NULL)
        return;
    for (unsigned i = 0; i < HEAD_SEGMENTS; i++)
        tkd__release(engine, jobs->heads[i], segment_bytes(i));
    tkd__release(engine, jobs->heads, HEAD_SEGMENTS * sizeof *jobs->heads);
}
