/*
 * service/arm.c - arming a timer by a delay or a time.
 *
 * (service/plan.c arms timers that repeat or have an owner.)
 */
#include <tickwheel/service.h>

#include <errno.h>

#include "os/probes.h"
#include "private.h"

/* Return the shard of `crew` in which the calling thread arms. */
struct shard *tkw__crew_own_shard(const struct crew *crew)
{
    const struct tkw_service *service = crew->service;
    uint32_t at = sync_number() % service->crew_shards;
    return service->shards[crew->first_shard + at];
}

/* Returns whether a job may have to return to the pool: see
 * tkw__job_reserve(). */
static inline bool may_return_to_pool(const struct tkw_service *service,
                                      const struct shard *shard, uint64_t flags)
{
    return (flags & JOB_REPEATS) || shard->crew->is_submit ||
           service->clock.is_wall;
}

/* Arm a new timer in `shard`, with the shard's mutex.  `flags` go into the
 * job's word.  Returns 0 and stores the handle and the job's index, or returns
 * an error and changes nothing. */
static inline int arm_in(struct tkw_service *service, struct shard *shard,
                         tkw_handle *stored, struct due_time when,
                         const struct tkw_task *task, uint64_t flags,
                         uint32_t *armed)
{
    uint32_t index;
    uint64_t word;
    int error = tkw__job_take(shard, &index, &word);
    if (error != 0)
        return error;
    struct job *job = job_at(shard, index);
    if (!count_in(service)) {
        tkw__job_free(shard, job, index);
        return -EAGAIN;
    }
    if (may_return_to_pool(service, shard, flags))
        error = tkw__job_reserve(shard, job);
    if (error == 0)
        error = shard_make_room(shard, job);
    if (error != 0) {
        tkw__job_free(shard, job, index);
        count_out(service);
        return error;
    }
    intake_put(shard, index, when.tick);

    /* Relaxed: if a thread reads these with a stale handle, its swap of the
     * word fails. */
    sync_put_relaxed(&job->due_ns, when.ns);
    sync_put_relaxed(&job->drop, task->drop);
    sync_put_relaxed(&job->argument, task->argument);
    job->callback = task->callback;
    word |= JOB_ARMED | flags;
    if (job->is_reserved)
        word |= JOB_HAS_MORE;
    /* Release: pairs with the acquire in tkw_service_cancel(), which then reads
     * the fields above and writes `job->next`. */
    sync_put_release(&job->word, word);
    tkw_handle handle = job_handle(shard, index, word);
    if (stored != NULL)
        *stored = handle;
    *armed = index;
    shard->armed++;
    PROBE3(arm, service, handle, when.ns);
    service_note(service, RECORDED_ARM, handle, when.ns);
    tkw__wakeup_announce(service, shard, when.tick);
    return 0;
}

/* Arm a timer as `plan` says, with the shard's mutex.  Returns 0 or an
 * error. */
int tkw__job_arm(struct tkw_service *service, struct shard *shard,
                 tkw_handle *handle, struct due_time when, uint64_t phase_ns,
                 const struct tkw_plan *plan)
{
    bool repeats = plan->period_ns != 0 || plan->next != NULL;
    uint32_t kept = 0;
    if (repeats || plan->owner != NULL) {
        int error = tkw__plan_provide(&service->allocator, shard, &kept);
        if (error != 0)
            return error;
    }
    uint64_t flags = kept != 0 ? JOB_HAS_MORE : 0;
    flags |= repeats ? JOB_REPEATS : 0;
    uint32_t job;
    int error = arm_in(service, shard, handle, when, &plan->task, flags, &job);
    if (error != 0)
        return error;
    if (kept != 0)
        tkw__plan_attach(shard, job, kept, plan, phase_ns);
    return 0;
}

static inline int arm(struct tkw_service *service, tkw_handle *handle,
                      struct due_time when, const struct tkw_task *task)
{
    if (task->callback == NULL)
        return -EINVAL;
    /* Relaxed: an arming that began before the stop may succeed. */
    if (sync_get_relaxed(&service->is_stopping))
        return -ESHUTDOWN;
    struct shard *shard = tkw__crew_own_shard(service->crew);
    uint32_t job;
    shard_lock(shard);
    shard_reap(shard, REAPED_BY_ARMING);
    int error = arm_in(service, shard, handle, when, task, 0, &job);
    if (error == -ENOMEM && tkw__shard_reap_for_memory(shard))
        error = arm_in(service, shard, handle, when, task, 0, &job);
    shard_unlock(shard);
    return error;
}

int tkw_service_arm(struct tkw_service *service, tkw_handle *handle,
                    uint64_t delay_ns, struct tkw_task task)
{
    return arm(service, handle, tkw__time_due_after(service, delay_ns), &task);
}

int tkw_service_arm_at(struct tkw_service *service, tkw_handle *handle,
                       uint64_t time_ns, struct tkw_task task)
{
    return arm(service, handle, tkw__time_due_at(service, time_ns), &task);
}
