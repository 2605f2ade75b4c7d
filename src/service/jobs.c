/*
 * service/jobs.c - memory for jobs and their plans, and the job of a handle.
 *
 * A job is a record of the pool with its payload, so the pool provides it.
 * Plans lie in segments of their own.
 */
#include <tickwheel/service.h>

#include <errno.h>

#include "private.h"

/* Take a job from the pool.  Store its index, and its word, which has no flags.
 * Returns 0, -ENOMEM or -EAGAIN. */
int tkw__job_take(struct shard *shard, uint32_t *index, uint64_t *word)
{
    int error = tkw__pool_take(shard->pool, shard->reserved, index);
    if (error != 0)
        return error;
    struct job *job = job_at(shard, *index);
    job->plan = 0;
    job->is_reserved = 0;
    *word = job->record.word & JOB_GENERATION;
    sync_put_relaxed(&job->word, *word);
    /* Release: pairs with the acquire in tkw__job_find(). */
    if (*index >= shard->used)
        sync_put_release(&shard->used, *index + 1);
    return 0;
}

/* Put the plan of a job on the free list. */
static void free_plan(struct shard *shard, struct job *job)
{
    struct job_plan *plan = plan_of(shard, job);
    if (plan->owner != NULL)
        tkw__owner_unlink(shard, job);
    plan->older = shard->plans_free;
    shard->plans_free = job->plan;
    job->plan = 0;
}

/* Free a job that is over, with its reservation and its plan, wherever it is
 * filed. */
void tkw__job_free(struct shard *shard, struct job *job, uint32_t index)
{
    tkw__job_unfile(shard, job);
    job_unreserve(shard, job);
    if (job->plan != 0)
        free_plan(shard, job);
    /* Relaxed: no other thread changes the word of a job that is over. */
    uint64_t word = sync_get_relaxed(&job->word);
    tkw__pool_free(shard->pool, index, (word & JOB_GIVEN_UP) != 0);
}

/* Store in `*index` the index + 1 of a free plan: tkw__plan_attach() takes it.
 * Returns 0 or -ENOMEM. */
int tkw__plan_provide(const struct tkw_allocator *allocator,
                      struct shard *shard, uint32_t *index)
{
    *index = shard->plans_free;
    if (*index != 0)
        return 0;
    struct job_plan **segment =
        &shard->plans[shard->plans_used >> TKW_PLAN_SEGMENT_BITS];
    if (*segment == NULL) {
        *segment = allocator->allocate(allocator->context, PLAN_SEGMENT_BYTES);
        if (*segment == NULL)
            return -ENOMEM;
    }
    *index = shard->plans_used + 1;
    return 0;
}

/* Take the plan that tkw__plan_provide() has found, for a job. */
void tkw__plan_attach(struct shard *shard, uint32_t of_job, uint32_t index,
                      const struct tkw_plan *plan, uint64_t phase_ns)
{
    struct job *job = job_at(shard, of_job);
    job->plan = index & ~(UINT32_C(1) << 31);
    struct job_plan *kept = plan_of(shard, job);
    if (index > shard->plans_used)
        shard->plans_used = index;
    else
        shard->plans_free = kept->older;
    *kept = (struct job_plan){
        .phase_ns = phase_ns,
        .period_ns = plan->period_ns,
        .next = plan->next,
        .jitter_ns = plan->jitter_ns,
        .slack_ns = plan->slack_ns,
        .missed = plan->missed,
    };
    if (plan->owner != NULL)
        tkw__owner_link(shard, of_job, plan->owner);
}

/* Return the job that `handle` names or once named; NULL if none ever did. */
struct job *tkw__job_find(const struct tkw_service *service, tkw_handle handle)
{
    uint32_t number = (uint32_t)handle >> JOB_INDEX_BITS;
    if (number >= service->shard_count)
        return NULL;
    const struct shard *shard = service->shards[number];
    uint32_t index = handle_index(handle);
    /* Acquire: pairs with the release in tkw__job_take(). */
    if (index >= sync_get_acquire(&shard->used))
        return NULL;
    return job_at(shard, index);
}

/* Count one more pending timer, in a service that has a limit.  Returns false
 * if `timers_max` are pending. */
bool tkw__service_count_in(struct tkw_service *service)
{
    uint64_t pending = sync_get_relaxed(&service->pending);
    do
        if (pending >= service->timers_max)
            return false;
    while (!sync_replace_ordered(&service->pending, &pending, pending + 1));
    return true;
}
