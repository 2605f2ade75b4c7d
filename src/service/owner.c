/*
 * service/owner.c - cancelling many timers at once.
 *
 * The timers of an owner are in one shard of each crew, which a hash of the
 * owner's address selects.  They are on a list of the owner there, under the
 * shard's mutex.  A timer leaves the list when its job is freed, or when the
 * owner's timers have been cancelled.
 */
#include <tickwheel/service.h>

#include <errno.h>

#include "private.h"

enum {
    CANCELLED_AT_ONCE = 64,
    CANCEL_AHEAD = 8, /* handles whose jobs are prefetched */
};

struct shard *tkw__owner_shard(const struct crew *crew,
                               const struct tkw_owner *owner)
{
    uint64_t hash = (uintptr_t)owner * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 32) % crew->service->crew_shards;
    return crew->service->shards[crew->first_shard + at];
}

/* Return the owner's list that the mutex of `shard` guards. */
static uint32_t *list_of(const struct shard *shard, struct tkw_owner *owner)
{
    return &owner->first[shard->crew - shard->crew->service->crews];
}

void tkw__owner_link(struct shard *shard, uint32_t index,
                     struct tkw_owner *owner)
{
    uint32_t *first = list_of(shard, owner);
    struct job_plan *plan = plan_of(shard, job_at(shard, index));
    plan->owner = owner;
    plan->older = *first;
    if (*first != 0)
        plan_of(shard, job_at(shard, *first - 1))->newer = index + 1;
    *first = index + 1;
}

void tkw__owner_unlink(struct shard *shard, struct job *job)
{
    struct job_plan *plan = plan_of(shard, job);
    if (plan->newer != 0)
        plan_of(shard, job_at(shard, plan->newer - 1))->older = plan->older;
    else
        *list_of(shard, plan->owner) = plan->older;
    if (plan->older != 0)
        plan_of(shard, job_at(shard, plan->older - 1))->newer = plan->newer;
    plan->owner = NULL;
    plan->newer = 0;
    plan->older = 0;
}

size_t tkw_service_cancel_many(struct tkw_service *service,
                               const tkw_handle *handles, size_t count,
                               int *answers)
{
    size_t stopped = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + CANCEL_AHEAD < count)
            __builtin_prefetch(
                tkw__job_find(service, handles[i + CANCEL_AHEAD]), 1);
        int answer = tkw_service_cancel(service, handles[i]);
        stopped += answer == 1;
        if (answers != NULL)
            answers[i] = answer;
    }
    return stopped;
}

/* Store up to CANCELLED_AT_ONCE handles of an owner's timers.  Returns how
 * many. */
static size_t list_some(struct shard *shard, struct tkw_owner *owner,
                        tkw_handle *handles)
{
    size_t count = 0;
    shard_lock(shard);
    uint32_t at = *list_of(shard, owner);
    for (; at != 0 && count < CANCELLED_AT_ONCE; count++) {
        struct job *job = job_at(shard, at - 1);
        /* Relaxed: no thread changes the generation without the mutex. */
        handles[count] =
            job_handle(shard, at - 1, sync_get_relaxed(&job->word));
        at = plan_of(shard, job)->older;
    }
    shard_unlock(shard);
    return count;
}

/* Take timers off the owner's list, except those that have left it
 * meanwhile. */
static void unlink_cancelled(struct tkw_service *service, struct shard *shard,
                             const struct tkw_owner *owner,
                             const tkw_handle *handles, size_t count)
{
    shard_lock(shard);
    for (size_t i = 0; i < count; i++) {
        struct job *job = tkw__job_find(service, handles[i]);
        uint64_t word = sync_get_relaxed(&job->word);
        if (word_is_of(word, handles[i]) && job_is_in_use(job) &&
            plan_of(shard, job)->owner == owner)
            tkw__owner_unlink(shard, job);
    }
    shard_unlock(shard);
}

typedef int cancel(struct tkw_service *service, tkw_handle handle);

static size_t cancel_each(struct tkw_service *service,
                          const tkw_handle *handles, size_t count,
                          cancel *cancel_one)
{
    size_t stopped = 0;
    for (size_t i = 0; i < count; i++) {
        int answer = cancel_one(service, handles[i]);
        if (answer == -EDEADLK) /* the caller is this timer's callback */
            answer = tkw_service_cancel(service, handles[i]);
        stopped += answer == 1;
    }
    return stopped;
}

/* Cancel all timers of an owner.  A timer leaves the list after `cancel_one`
 * has returned, so a thread that finds the list empty has none to wait for. */
static size_t cancel_owner(struct tkw_service *service, struct tkw_owner *owner,
                           cancel *cancel_one)
{
    size_t stopped = 0;
    for (size_t i = 0; i < CREWS; i++) {
        if (service->crews[i].service == NULL || owner == NULL)
            continue;
        struct shard *shard = tkw__owner_shard(&service->crews[i], owner);
        tkw_handle handles[CANCELLED_AT_ONCE];
        size_t count;
        while ((count = list_some(shard, owner, handles)) > 0) {
            stopped += cancel_each(service, handles, count, cancel_one);
            unlink_cancelled(service, shard, owner, handles, count);
        }
    }
    return stopped;
}

size_t tkw_service_cancel_owner(struct tkw_service *service,
                                struct tkw_owner *owner)
{
    return cancel_owner(service, owner, tkw_service_cancel);
}

size_t tkw_service_cancel_owner_sync(struct tkw_service *service,
                                     struct tkw_owner *owner)
{
    return cancel_owner(service, owner, tkw_service_cancel_sync);
}
