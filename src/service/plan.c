/*
 * service/plan.c - timers that are more than a delay and a function: those that
 * repeat, that have an owner, that need not or should not be exact.
 *
 * What is to be known of them later is in an extra beside the job.  A timer
 * that repeats is armed again when its callback has returned, by whoever ran
 * it:
 *
 *     phase      0        period       2 periods    3 periods
 *     jitter     |--x     |-----x      |-x          |----x
 *     slack         |...o       |..o     |....o          |.o
 *
 * Its phase moves by whole periods; jitter and slack are added anew each time,
 * and never add up.
 */
#include <tickwheel/service.h>

#include <errno.h>

#include "executor.h"
#include "os/random.h"
#include "private.h"

enum { ARMED_AT_ONCE = 64 }; /* while a shard is locked */

/* Find room for an extra: it is taken only by tkw__extra_attach(). */
int tkw__extra_peek(struct tkw_service *service, struct shard *shard,
                    uint32_t *index)
{
    *index = shard->extras_free;
    if (*index != 0)
        return 0;
    struct extra **segment =
        &shard->extras[shard->extras_used >> TKW_JOB_SEGMENT_BITS];
    if (*segment == NULL) {
        const struct tkw_allocator *allocator = &service->allocator;
        *segment = allocator->allocate(allocator->context, EXTRA_SEGMENT_BYTES);
        if (*segment == NULL)
            return -ENOMEM;
    }
    *index = shard->extras_used + 1;
    return 0;
}

void tkw__extra_attach(struct shard *shard, struct job *job, uint32_t index,
                       const struct tkw_plan *plan, uint64_t phase_ns)
{
    job->extra = index;
    struct extra *extra = extra_of(shard, job);
    if (index > shard->extras_used)
        shard->extras_used = index;
    else
        shard->extras_free = extra->older;
    *extra = (struct extra){
        .phase_ns = phase_ns,
        .period_ns = plan->period_ns,
        .next = plan->next,
        .jitter_ns = plan->jitter_ns,
        .slack_ns = plan->slack_ns,
        .missed = plan->missed,
    };
    if (plan->owner != NULL)
        tkw__owner_link(shard, job, plan->owner);
}

void tkw__extra_detach(struct shard *shard, struct job *job)
{
    struct extra *extra = extra_of(shard, job);
    if (extra->owner != NULL)
        tkw__owner_unlink(shard, job);
    extra->older = shard->extras_free;
    shard->extras_free = job->extra;
    job->extra = 0;
}

/*
 * The time from `due_ns` on, but not more than `slack_ns` later, that most
 * others would choose too: the tick that is a multiple of the largest power of
 * two.
 */
static uint64_t gather(const struct tkw_service *service, uint64_t due_ns,
                       uint64_t slack_ns)
{
    if (due_ns == UINT64_MAX)
        return due_ns; /* never */
    uint64_t tick_ns = service->tick_ns;
    tkw_tick first = due_ns / tick_ns + (due_ns % tick_ns != 0);
    tkw_tick last = saturating_add(due_ns, slack_ns) / tick_ns;
    if (first == 0 || first >= last)
        return due_ns;
    /* The highest bit in which they differ, and those above. */
    int bit = 63 - __builtin_clzll((first - 1) ^ last);
    return (last >> bit << bit) * tick_ns;
}

static struct aim aim_in_phase(struct tkw_service *service, uint64_t now,
                               uint64_t phase_ns, uint64_t jitter_ns,
                               uint64_t slack_ns)
{
    uint64_t due_ns = phase_ns;
    if (jitter_ns != 0)
        due_ns = saturating_add(due_ns, random_draw(now) % jitter_ns);
    due_ns = gather(service, due_ns, slack_ns);
    return tkw__service_aim_from(service, now, due_ns);
}

/* Who runs callbacks there; NULL if nobody does. */
static const struct crew *crew_of(const struct tkw_service *service,
                                  enum tkw_executor executor)
{
    if ((unsigned)executor > TKW_BY_SUBMIT)
        return NULL;
    const struct crew *crew = service->crew;
    if (executor != TKW_ANYWHERE)
        crew = &service->crews[executor - TKW_ON_DRIVER];
    return crew->service != NULL ? crew : NULL;
}

bool tkw__service_has(const struct tkw_service *service,
                      enum tkw_executor executor)
{
    return crew_of(service, executor) != NULL;
}

/* The shard to arm a plan in; NULL if the plan is wrong. */
static struct shard *shard_for(struct tkw_service *service,
                               const struct tkw_plan *plan)
{
    if (plan->task.callback == NULL || (unsigned)plan->missed > TKW_DELAY ||
        (plan->period_ns != 0 && plan->next != NULL) ||
        (plan->period_ns == 0 && plan->missed != TKW_SKIP) ||
        (plan->reserved[0] | plan->reserved[1]) != 0)
        return NULL;
    const struct crew *crew = crew_of(service, plan->executor);
    if (crew == NULL)
        return NULL;
    return plan->owner != NULL ? tkw__owner_shard(crew, plan->owner)
                               : tkw__crew_own_shard(crew);
}

/* Arm plans from `*at` on that belong in the same shard. */
static int arm_some(struct tkw_service *service, struct shard *shard,
                    uint64_t now, tkw_handle *handles,
                    const struct tkw_plan *plans, size_t count, size_t *at)
{
    if (sync_get_relaxed(&service->is_stopping))
        return -ESHUTDOWN;
    int error;
    sync_lock(&shard->mutex);
    do {
        const struct tkw_plan *plan = &plans[*at];
        tkw_handle *handle = handles != NULL ? &handles[*at] : NULL;
        uint64_t phase_ns =
            plan->is_time ? plan->when_ns : saturating_add(now, plan->when_ns);
        struct aim aim = aim_in_phase(service, now, phase_ns, plan->jitter_ns,
                                      plan->slack_ns);
        shard_reap(shard, REAPED_BY_ARMING);
        error = tkw__job_arm(service, shard, handle, aim, phase_ns, plan);
        if (error == -ENOMEM && tkw__shard_reap_for_memory(shard))
            error = tkw__job_arm(service, shard, handle, aim, phase_ns, plan);
        *at += error == 0;
    } while (error == 0 && *at < count && *at % ARMED_AT_ONCE != 0 &&
             shard_for(service, &plans[*at]) == shard);
    sync_unlock(&shard->mutex);
    return error;
}

ptrdiff_t tkw_service_arm_many(struct tkw_service *service, tkw_handle *handles,
                               const struct tkw_plan *plans, size_t count)
{
    uint64_t now = tkw_service_now(service);
    size_t at = 0;
    int error = 0;
    while (at < count && error == 0) {
        struct shard *shard = shard_for(service, &plans[at]);
        error = shard != NULL
                    ? arm_some(service, shard, now, handles, plans, count, &at)
                    : -EINVAL;
    }
    return at > 0 ? (ptrdiff_t)at : error;
}

int tkw_service_arm_plan(struct tkw_service *service, tkw_handle *handle,
                         const struct tkw_plan *plan)
{
    ptrdiff_t result = tkw_service_arm_many(service, handle, plan, 1);
    return result == 1 ? 0 : (int)result;
}

int tkw_service_arm_owned(struct tkw_service *service, tkw_handle *handle,
                          uint64_t delay_ns, struct tkw_task task,
                          struct tkw_owner *owner)
{
    struct tkw_plan plan = {.task = task, .when_ns = delay_ns, .owner = owner};
    return tkw_service_arm_plan(service, handle, &plan);
}

/* The next time of a period, and how many have been missed. */
static uint64_t next_phase(const struct extra *extra, uint64_t now,
                           uint64_t *overruns)
{
    uint64_t phase_ns = extra->phase_ns;
    uint64_t period_ns = extra->period_ns;
    /* A wall clock may have been set back since. */
    uint64_t missed = now > phase_ns ? (now - phase_ns) / period_ns : 0;
    *overruns = extra->missed != TKW_BURST ? missed : 0;
    if (*overruns == 0)
        return saturating_add(phase_ns, period_ns);
    if (extra->missed == TKW_DELAY)
        return saturating_add(now, period_ns);
    return saturating_add(phase_ns + missed * period_ns, period_ns);
}

/*
 * Arm a timer that repeats for its next time, its callback having returned; or
 * not, if that has armed or cancelled it, or if it is over.
 */
void tkw__repeat_arm(struct tkw_service *service, struct shard *shard,
                     struct job *job, const struct tkw_firing *firing)
{
    struct extra *extra = extra_of(shard, job);
    uint64_t overruns = 0;
    /* Acquire: if nobody has armed it after that, the phase is the one that it
     * was called for. */
    uint64_t phase_ns = sync_get_acquire(&extra->phase_ns);
    uint64_t word = sync_get_acquire(&job->word);
    if (word & (JOB_ARMED | JOB_CANCELLED))
        return;
    if (extra->next != NULL) {
        phase_ns = extra->next(job->argument, phase_ns, firing->now_ns);
        if (phase_ns == UINT64_MAX)
            return;
    }

    uint64_t now = tkw_service_now(service);
    sync_lock(&shard->mutex);
    if (extra->next == NULL)
        phase_ns = next_phase(extra, now, &overruns);
    struct aim aim =
        aim_in_phase(service, now, phase_ns, extra->jitter_ns, extra->slack_ns);
    word = sync_get_acquire(&job->word);
    while ((word & (JOB_ARMED | JOB_CANCELLED)) == 0) {
        if (tkw__job_arm_again(service, shard, job, word, aim.deadline) == 1) {
            sync_put_relaxed(&job->due_ns, aim.due_ns);
            sync_put_relaxed(&extra->phase_ns, phase_ns);
            extra->overruns = overruns;
            sync_add_relaxed(&service->overruns, overruns);
            service_note(service, RECORDED_ARM, firing->handle, aim.due_ns);
            tkw__service_announce(service, shard, aim.deadline);
            break;
        }
        word = sync_get_acquire(&job->word);
    }
    sync_unlock(&shard->mutex);
}
