/*
 * service/plan.c - timers that repeat, that have an owner, or that have jitter
 * or slack.
 *
 * A job keeps its part of the plan in a job_plan.  A timer that repeats is
 * armed again when its callback has returned, by the thread that ran it:
 *
 *     phase      0        period       2 periods    3 periods
 *     jitter     |--x     |-----x      |-x          |----x
 *     slack         |...o       |..o     |....o          |.o
 *
 * The phase moves by whole periods.  Jitter and slack are added anew each time,
 * and do not accumulate.
 */
#include <tickwheel/service.h>

#include <errno.h>

#include "executor.h"
#include "os/random.h"
#include "private.h"

enum { ARMED_AT_ONCE = 64 }; /* plans armed while a shard is locked */

/*
 * Return a time from `due_ns` to `due_ns + slack_ns` that most other timers
 * would choose, too: the tick that is a multiple of the largest power of two.
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
    /* Keep the highest bit in which they differ, and the bits above. */
    int bit = 63 - __builtin_clzll((first - 1) ^ last);
    return (last >> bit << bit) * tick_ns;
}

static struct due_time due_in_phase(struct tkw_service *service, uint64_t now,
                                    uint64_t phase_ns, uint64_t jitter_ns,
                                    uint64_t slack_ns)
{
    uint64_t due_ns = phase_ns;
    if (jitter_ns != 0)
        due_ns = saturating_add(due_ns, random_draw(now) % jitter_ns);
    due_ns = gather(service, due_ns, slack_ns);
    return tkw__time_due(service, now, due_ns);
}

/* Return the crew of `executor`; NULL if the service has none. */
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

/* Return the shard to arm `plan` in; NULL if the plan is invalid. */
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

/* Arm plans from `*at` on, while they belong in `shard`.  Returns 0 or an
 * error. */
static int arm_some(struct tkw_service *service, struct shard *shard,
                    uint64_t now, tkw_handle *handles,
                    const struct tkw_plan *plans, size_t count, size_t *at)
{
    if (sync_get_relaxed(&service->is_stopping))
        return -ESHUTDOWN;
    int error;
    shard_lock(shard);
    do {
        const struct tkw_plan *plan = &plans[*at];
        tkw_handle *handle = handles != NULL ? &handles[*at] : NULL;
        uint64_t phase_ns =
            plan->is_time ? plan->when_ns : saturating_add(now, plan->when_ns);
        struct due_time when = due_in_phase(service, now, phase_ns,
                                            plan->jitter_ns, plan->slack_ns);
        shard_reap(shard, REAPED_BY_ARMING);
        error = tkw__job_arm(service, shard, handle, when, phase_ns, plan);
        if (error == -ENOMEM && tkw__shard_reap_for_memory(shard))
            error = tkw__job_arm(service, shard, handle, when, phase_ns, plan);
        *at += error == 0;
    } while (error == 0 && *at < count && *at % ARMED_AT_ONCE != 0 &&
             shard_for(service, &plans[*at]) == shard);
    shard_unlock(shard);
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

/* Return the next phase, and store the number of skipped periods. */
static uint64_t next_phase(const struct job_plan *plan, uint64_t now,
                           uint64_t *overruns)
{
    uint64_t phase_ns = plan->phase_ns;
    uint64_t period_ns = plan->period_ns;
    /* A wall clock may have been set back. */
    uint64_t missed = now > phase_ns ? (now - phase_ns) / period_ns : 0;
    *overruns = plan->missed != TKW_BURST ? missed : 0;
    if (*overruns == 0)
        return saturating_add(phase_ns, period_ns);
    if (plan->missed == TKW_DELAY)
        return saturating_add(now, period_ns);
    return saturating_add(phase_ns + missed * period_ns, period_ns);
}

/*
 * Arm a timer that repeats for its next time, after its callback has returned,
 * unless it was armed or cancelled meanwhile, or is over.
 */
void tkw__repeat_arm(struct tkw_service *service, const struct due_job *due,
                     const struct tkw_firing *firing)
{
    struct shard *shard = due->shard;
    struct job *job = due->job;
    struct job_plan *plan = plan_of(shard, job);
    uint64_t overruns = 0;
    /* Acquire: this reads the phase before the word, and a move writes the word
     * first.  So if the word is not armed, the callback ran for this phase. */
    uint64_t phase_ns = sync_get_acquire(&plan->phase_ns);
    uint64_t word = sync_get_acquire(&job->word);
    if (word & (JOB_ARMED | JOB_CANCELLED))
        return;
    if (plan->next != NULL) {
        phase_ns = plan->next(job->argument, phase_ns, firing->now_ns);
        if (phase_ns == UINT64_MAX)
            return;
    }

    uint64_t now = tkw_service_now(service);
    shard_lock(shard);
    if (plan->next == NULL)
        phase_ns = next_phase(plan, now, &overruns);
    struct due_time when =
        due_in_phase(service, now, phase_ns, plan->jitter_ns, plan->slack_ns);
    word = sync_get_acquire(&job->word);
    while ((word & (JOB_ARMED | JOB_CANCELLED)) == 0) {
        if (tkw__job_arm_again(service, shard, due->index, word, when.tick) ==
            1) {
            sync_put_relaxed(&job->due_ns, when.ns);
            sync_put_relaxed(&plan->phase_ns, phase_ns);
            plan->overruns = overruns;
            sync_add_relaxed(&service->overruns, overruns);
            service_note(service, RECORDED_ARM, firing->handle, when.ns);
            tkw__wakeup_announce(service, shard, when.tick);
            break;
        }
        word = sync_get_acquire(&job->word);
    }
    shard_unlock(shard);
}
