/*
 * service_timer.c - a job's timer in its shard's pool, or on its way there.
 *
 * What is armed waits in the shard's intake until that is full, or until the
 * runner or anything else needs the pool to be complete: then all of it is
 * filed, in the order it was armed.  Most timers of most programs are timeouts
 * of something that succeeds soon.  Those that are cancelled before their
 * intake is filed cost the pool nothing.
 *
 * The pool has memory in reserve for a whole intake, so that filing it cannot
 * fail: who cannot get the reserve files at once, or is told that there is no
 * memory.  Moving a timer within the pool takes of the same reserve, and comes
 * behind what was armed before: it files the intake first.
 */
#include "service_inner.h"

/* File everything that waits. */
void timer_file_all(struct shard *shard)
{
    for (uint32_t i = 0; i < shard->intake_count; i++) {
        if (shard->intake[i] == 0)
            continue;
        struct job *job = job_at(shard, shard->intake[i] - 1);
        int error = tkw_pool_arm(shard->pool, &job->timer, job->deadline,
                                 (struct tkw_user){.pointer = job});
        TKW_ASSERT(error == 0); /* reserved */
        (void)error;
    }
    shard->intake_count = 0;
    shard->intake_room = 0;
}

/* Arm, the intake being full: make room there, or in the pool. */
int timer_arm_full(struct shard *shard, struct job *job)
{
    timer_file_all(shard);
    if (tkw_pool_reserve(shard->pool, TKW_INTAKE) != 0)
        return tkw_pool_arm(shard->pool, &job->timer, job->deadline,
                            (struct tkw_user){.pointer = job});
    shard->intake_room = TKW_INTAKE;
    return timer_arm(shard, job, job->deadline);
}

/* Is a job in the intake?  Its place there would be no handle of a pool. */
static bool is_waiting(const struct shard *shard, const struct job *job)
{
    return job->timer < shard->intake_count &&
           shard->intake[job->timer] == job->index + 1;
}

void timer_cancel(struct shard *shard, struct job *job)
{
    if (!is_waiting(shard, job)) {
        tkw_pool_cancel(shard->pool, job->timer);
        return;
    }
    shard->intake[job->timer] = 0;
    if (job->timer == shard->intake_count - 1)
        shard->intake_count--;
}

int timer_rearm(struct shard *shard, struct job *job, tkw_tick deadline)
{
    if (is_waiting(shard, job)) {
        shard->intake[job->timer] = 0;
        int error = timer_arm(shard, job, deadline);
        TKW_ASSERT(error == 0); /* its old place was reserved */
        return error == 0;
    }
    timer_file_all(shard);
    int result = tkw_pool_rearm(shard->pool, job->timer, deadline);
    if (result == 1)
        job->deadline = deadline;
    return result;
}

int timer_postpone(struct shard *shard, struct job *job, tkw_tick deadline)
{
    /* What is due, or about to be, is armed again by the pool as well. */
    bool is_due = job->deadline <= shard->target && !is_waiting(shard, job);
    if (deadline < job->deadline || is_due)
        return timer_rearm(shard, job, deadline);
    job->deadline = deadline;
    if (is_waiting(shard, job))
        return 1;
    return tkw_pool_postpone(shard->pool, job->timer, deadline);
}
