/*
 * service/owner.c - cancelling many at once.
 *
 * The timers of an owner are in one shard of each crew, which its address
 * tells, and on a list there, under that shard's mutex.  They leave it when
 * their job is given back, or when the owner lets go of them.
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

/* The list of an owner that a shard guards. */
static uint32_t *list_of(const struct shard *shard, struct tkw_owner *owner)
{
    return &owner->first[shard->crew - shard->crew->service->crews];
}

void tkw__owner_link(struct shard *shard, struct job *job,
                     struct tkw_owner *owner)
{
    uint32_t *first = list_of(shard, owner);
    struct extra *extra = extra_of(shard, job);
    extra->owner = owner;
    extra->older = *first;
    if (*first != 0)
        extra_of(shard, job_at(shard, *first - 1))->newer = job->index + 1;
    *first = job->index + 1;
}

void tkw__owner_unlink(struct shard *shard, struct job *job)
{
    struct extra *extra = extra_of(shard, job);
    if (extra->newer != 0)
        extra_of(shard, job_at(shard, extra->newer - 1))->older = extra->older;
    else
        *list_of(shard, extra->owner) = extra->older;
    if (extra->older != 0)
        extra_of(shard, job_at(shard, extra->older - 1))->newer = extra->newer;
    extra->owner = NULL;
    extra->newer = 0;
    extra->older = 0;
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

/* List the first of an owner's timers.  Returns how many. */
static size_t list_some(struct shard *shard, struct tkw_owner *owner,
                        tkw_handle *handles)
{
    size_t count = 0;
    sync_lock(&shard->mutex);
    uint32_t at = *list_of(shard, owner);
    for (; at != 0 && count < CANCELLED_AT_ONCE; count++) {
        struct job *job = job_at(shard, at - 1);
        /* Relaxed: the generation cannot change while we have the mutex. */
        handles[count] = job_handle(shard, job, sync_get_relaxed(&job->word));
        at = extra_of(shard, job)->older;
    }
    sync_unlock(&shard->mutex);
    return count;
}

/* Let an owner go of them, but for those that it has lost meanwhile. */
static void let_go(struct tkw_service *service, struct shard *shard,
                   const struct tkw_owner *owner, const tkw_handle *handles,
                   size_t count)
{
    sync_lock(&shard->mutex);
    for (size_t i = 0; i < count; i++) {
        struct job *job = tkw__job_find(service, handles[i]);
        uint64_t word = sync_get_relaxed(&job->word);
        if (word_is_of(word, handles[i]) && job->extra != 0 &&
            extra_of(shard, job)->owner == owner)
            tkw__owner_unlink(shard, job);
    }
    sync_unlock(&shard->mutex);
}

typedef int cancel(struct tkw_service *service, tkw_handle handle);

static size_t cancel_each(struct tkw_service *service,
                          const tkw_handle *handles, size_t count,
                          cancel *cancel_one)
{
    size_t stopped = 0;
    for (size_t i = 0; i < count; i++) {
        int answer = cancel_one(service, handles[i]);
        if (answer == -EDEADLK) /* it is the caller's own timer */
            answer = tkw_service_cancel(service, handles[i]);
        stopped += answer == 1;
    }
    return stopped;
}

/* They leave the list when they are cancelled, not before: whoever finds it
 * empty need not wait for anybody. */
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
            let_go(service, shard, owner, handles, count);
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
