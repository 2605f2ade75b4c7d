/*
 * service/arm.c - arming a timer: when it is due, the job that it becomes, and
 * who has to hear of it.
 *
 * A job that was cancelled is still in the pool: here, where one is needed, two
 * of those are taken out and used again.
 */
#include <tickwheel/service.h>

#include <errno.h>

#include "os/probes.h"
#include "pool/ahead.h"
#include "private.h"

/* After so many armings tkw_pool_next() is asked whether a crowd has grown.
 * (Tests that try every order of threads ask less often.) */
#ifndef TKW_ARMINGS_A_LOOK
#define TKW_ARMINGS_A_LOOK TKW_WAKE_SHARE
#endif

/*
 * The time, as it is told.  A clock that goes back stands still for us: what
 * anybody has been told stays.  The clocks of the system do not go back, but
 * for the wall's.
 */
uint64_t tkw__service_tell(struct tkw_service *service, uint64_t now)
{
    if (service->has_system_clock || service->clock.is_wall)
        return now;
    uint64_t last = sync_get_relaxed(&service->last_ns);
    do
        if (now <= last)
            return last;
    while (!sync_replace_ordered(&service->last_ns, &last, now));
    return now;
}

uint64_t tkw_service_now(struct tkw_service *service)
{
    return tkw__service_tell(service,
                             service->clock.now(service->clock.context));
}

/* Where a time is, in ns of the pools. */
static uint64_t shifted(struct tkw_service *service, uint64_t time_ns)
{
    if (!service->clock.is_wall)
        return time_ns;
    /* Any value will do: see take_by_wall(). */
    return saturating_add(time_ns, sync_get_relaxed(&service->shift_ns));
}

/* The first tick at which a time has come. */
tkw_tick tkw__service_tick_of(struct tkw_service *service, uint64_t due_ns)
{
    if (due_ns == UINT64_MAX)
        return TKW_NEVER;
    uint64_t time = shifted(service, due_ns);
    return time / service->tick_ns + (time % service->tick_ns != 0);
}

/*
 * What has come needs not wait for the next tick: it is due in the present one,
 * though that has begun.  Not in an earlier one, or it could be run over and
 * over before the clock is read again.
 */
struct aim tkw__service_aim_from(struct tkw_service *service, uint64_t now,
                                 uint64_t due_ns)
{
    tkw_tick deadline = due_ns <= now && due_ns != UINT64_MAX
                            ? shifted(service, now) / service->tick_ns
                            : tkw__service_tick_of(service, due_ns);
    return (struct aim){due_ns, deadline};
}

struct aim tkw__service_aim_at(struct tkw_service *service, uint64_t time_ns)
{
    return tkw__service_aim_from(service, tkw_service_now(service), time_ns);
}

struct aim tkw__service_aim_after(struct tkw_service *service,
                                  uint64_t delay_ns)
{
    uint64_t now = tkw_service_now(service);
    return tkw__service_aim_from(service, now, saturating_add(now, delay_ns));
}

/* The shard of a crew that the calling thread arms in, always the same. */
struct shard *tkw__crew_own_shard(const struct crew *crew)
{
    const struct tkw_service *service = crew->service;
    uint32_t at = sync_number() % service->crew_shards;
    return service->shards[crew->first_shard + at];
}

/* Make sure of memory for a job that was never used. */
static int provide_job(struct tkw_service *service, struct shard *shard)
{
    uint32_t at = shard->used >> TKW_JOB_SEGMENT_BITS;
    if (at == JOB_SEGMENTS - 1) /* fewer jobs than the pool can have timers */
        return -EAGAIN;
    if (shard->segments[at] != NULL)
        return 0;
    const struct tkw_allocator *allocator = &service->allocator;
    char *memory = allocator->allocate(allocator->context, JOB_SEGMENT_BYTES);
    if (memory == NULL)
        return -ENOMEM;
    shard->memory[at] = memory;
    memory += (0 - (uintptr_t)memory) % JOB_ALIGNMENT;
    shard->segments[at] = (struct job *)(void *)memory;
    return 0;
}

/* The job that the next arming will use: it is taken only when all else has
 * succeeded. */
static int peek_job(struct tkw_service *service, struct shard *shard,
                    struct job **job)
{
    uint32_t index = shard->free - 1;
    if (shard->free == 0) {
        index = shard->used;
        int error = provide_job(service, shard);
        if (error != 0)
            return error;
        *job_at(shard, index) = (struct job){.index = index};
    }
    *job = job_at(shard, index);
    return 0;
}

/* Put a job on the list of those to be used again. */
void tkw__job_give_back(struct shard *shard, struct job *job)
{
    uint64_t word = sync_get_relaxed(&job->word); /* nobody changes it now */
    if (word & JOB_CANCELLED)
        tkw__timer_cancel(shard, job); /* it may still be armed there */
    timer_disown(shard, job);
    if (job->extra != 0)
        tkw__extra_detach(shard, job);
    if (word >> JOB_GENERATION_SHIFT == UINT32_MAX)
        return; /* its next handle would be one given out before */
    job->next = shard->free;
    shard->free = job->index + 1;
}

/* The next job of a stack of those cancelled, or NULL; the one behind it is
 * prefetched. */
static struct job *take_cancelled(struct shard *shard, unsigned which)
{
    uint32_t *reaping = &shard->reaping[which];
    if (*reaping == 0) {
        if (sync_get_relaxed(&shard->cancelled[which]) == 0)
            return NULL;
        /* Acquire: the links were written before the top was. */
        uint64_t taken = sync_exchange_acquire(&shard->cancelled[which], 0);
        *reaping = (uint32_t)taken;
        shard->reaped += taken >> CANCELLED_SHIFT;
    }
    struct job *job = job_at(shard, *reaping - 1);
    *reaping = job->next;
    job_prefetch(shard, *reaping);
    return job;
}

/*
 * Take out of the pool what was cancelled, at most so many.  All that is known
 * of them has left the cache long ago, mostly.  So there are two stacks, and
 * from one to the next look at it the job on its top is on its way; and what
 * the pool knows of a job is prefetched this time, and next time, when it has
 * come, the job is given back.  One that is not in the pool yet is given back
 * at once: it is here.
 */
void tkw__shard_reap_some(struct shard *shard, uint32_t most)
{
    TKW_ASSERT(most <= TKW_REAPED);
    for (uint32_t left = most; left > 0 && shard->prefetched_count > 0; left--)
        tkw__job_give_back(shard, shard->prefetched[--shard->prefetched_count]);
    for (uint32_t i = 0; i < most; i++) {
        struct job *job = take_cancelled(shard, i % TKW_STACKS);
        if (job == NULL)
            continue;
        if (timer_is_waiting(shard, job)) {
            tkw__job_give_back(shard, job);
            continue;
        }
        tkw__pool_prefetch(shard->pool, job->timer);
        TKW_ASSERT(shard->prefetched_count < TKW_REAPED);
        shard->prefetched[shard->prefetched_count++] = job;
    }
}

/*
 * The allocator has refused memory: take up to TKW_REAPED cancelled jobs out of
 * the pool, so that the pool can use their memory again.  (The first call of
 * tkw__shard_reap_some() mostly prefetches, the second gives back.)  Returns
 * false if no job of the shard was cancelled: then trying again is of no use.
 */
bool tkw__shard_reap_for_memory(struct shard *shard)
{
    if (!shard_has_cancelled(shard))
        return false;
    tkw__shard_reap_some(shard, TKW_REAPED);
    tkw__shard_reap_some(shard, TKW_REAPED);
    return true;
}

/* Count one more, if there is room for it; there is a limit. */
bool tkw__service_count_in(struct tkw_service *service)
{
    uint64_t pending = sync_get_relaxed(&service->pending);
    do
        if (pending >= service->timers_max)
            return false;
    while (!sync_replace_ordered(&service->pending, &pending, pending + 1));
    return true;
}

/*
 * The driver is to come at `tick` at the latest.  Returns whether it would have
 * come later.
 */
bool tkw__service_lower(struct tkw_service *service, tkw_tick tick)
{
    uint64_t earliest = sync_get_relaxed(&service->earliest);
    do
        if (tick >= earliest)
            return false;
    while (!sync_replace_ordered(&service->earliest, &earliest, tick));
    return true;
}

/*
 * Wake the driver for a tick, if it sleeps longer.  Called with the mutex of
 * the shard in which a timer was armed for that tick: a driver that has not
 * visited this shard since it last awoke will see the timer itself; to one
 * that has, `earliest` as it was before that visit is not shown any more.
 */
void tkw__service_wake(struct tkw_service *service, tkw_tick tick)
{
    if (!tkw__service_lower(service, tick))
        return;
    /* Ordered, as is lowering: the driver says that it is asleep, then looks
     * at `earliest`; either it sees the new one, or we see it sleeping. */
    if (sync_get_ordered(&service->is_asleep)) {
        sync_add_relaxed(&service->woken, 1);
        service->clock.wake(service->clock.context);
        tkw__service_point_fd(service);
    }
}

/* A timer was armed, or moved, in a shard. */
void tkw__service_announce(struct tkw_service *service, struct shard *shard,
                           tkw_tick deadline)
{
    if (deadline < sync_get_relaxed(&service->earliest))
        tkw__service_wake(service, deadline);
    /* The pool wants to move crowds in time. */
    if (++shard->announced % TKW_ARMINGS_A_LOOK == 0)
        tkw__service_wake(service, tkw_pool_next(shard->pool));
}

/* Arm a new timer, its word having these flags as well.  Returns 0, and the
 * handle and the job; or an error. */
static inline int arm_in(struct tkw_service *service, struct shard *shard,
                         tkw_handle *told, struct aim aim,
                         const struct tkw_task *task, uint64_t flags,
                         struct job **armed)
{
    struct job *job;
    int error = peek_job(service, shard, &job);
    if (error != 0)
        return error;
    if (!count_in(service))
        return -EAGAIN;
    if ((flags & JOB_REPEATS) || shard->crew->is_submit)
        error = tkw__timer_owe(shard, job);
    if (error == 0)
        error = timer_arm(shard, job, aim.deadline);
    if (error != 0) {
        timer_disown(shard, job);
        count_out(service);
        return error;
    }

    /* Relaxed: who reads them with a stale handle finds the word changed. */
    sync_put_relaxed(&job->due_ns, aim.due_ns);
    sync_put_relaxed(&job->drop, task->drop);
    sync_put_relaxed(&job->argument, task->argument);
    job->callback = task->callback;
    bool is_fresh = job->index == shard->used;
    if (!is_fresh) {
        shard->free = job->next;
        job_prefetch(shard, shard->free);
    }
    uint64_t word = sync_get_relaxed(&job->word) & JOB_GENERATION;
    word += (UINT64_C(1) << JOB_GENERATION_SHIFT) | JOB_ARMED | flags;
    /* Release: after what cancel reads, and what it writes. */
    sync_put_release(&job->word, word);
    if (is_fresh)
        sync_put_release(&shard->used,
                         shard->used + 1); /* see tkw__job_find() */
    tkw_handle handle = job_handle(shard, job, word);
    if (told != NULL)
        *told = handle;
    *armed = job;
    shard->armed++;
    PROBE3(arm, service, handle, aim.due_ns);
    service_note(service, RECORDED_ARM, handle, aim.due_ns);
    tkw__service_announce(service, shard, aim.deadline);
    return 0;
}

/* Arm as planned, under the shard's mutex. */
int tkw__job_arm(struct tkw_service *service, struct shard *shard,
                 tkw_handle *handle, struct aim aim, uint64_t phase_ns,
                 const struct tkw_plan *plan)
{
    bool repeats = plan->period_ns != 0 || plan->next != NULL;
    uint32_t extra = 0;
    if (repeats || plan->owner != NULL) {
        int error = tkw__extra_peek(service, shard, &extra);
        if (error != 0)
            return error;
    }
    struct job *job;
    int error = arm_in(service, shard, handle, aim, &plan->task,
                       repeats ? JOB_REPEATS : 0, &job);
    if (error != 0)
        return error;
    if (extra != 0)
        tkw__extra_attach(shard, job, extra, plan, phase_ns);
    return 0;
}

static inline int arm(struct tkw_service *service, tkw_handle *handle,
                      struct aim aim, const struct tkw_task *task)
{
    if (task->callback == NULL)
        return -EINVAL;
    /* Relaxed: an arming that began before the stop may go on. */
    if (sync_get_relaxed(&service->is_stopping))
        return -ESHUTDOWN;
    struct shard *shard = tkw__crew_own_shard(service->crew);
    struct job *job;
    sync_lock(&shard->mutex);
    shard_reap(shard, REAPED_BY_ARMING);
    int error = arm_in(service, shard, handle, aim, task, 0, &job);
    if (error == -ENOMEM && tkw__shard_reap_for_memory(shard))
        error = arm_in(service, shard, handle, aim, task, 0, &job);
    sync_unlock(&shard->mutex);
    return error;
}

int tkw_service_arm(struct tkw_service *service, tkw_handle *handle,
                    uint64_t delay_ns, struct tkw_task task)
{
    return arm(service, handle, tkw__service_aim_after(service, delay_ns),
               &task);
}

int tkw_service_arm_at(struct tkw_service *service, tkw_handle *handle,
                       uint64_t time_ns, struct tkw_task task)
{
    return arm(service, handle, tkw__service_aim_at(service, time_ns), &task);
}
