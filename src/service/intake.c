/*
 * service/intake.c - a job's timer in its shard's pool, or on its way there.
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
 *
 * Some timers that leave the pool must be able to get back: they repeat, or
 * were submitted and may be returned, or are armed again while a crew runs
 * them. That there is a place where one was is not enough: what it leaves may
 * be taken up by a dead entry, or by the gaps of joined queues.  So the pool
 * has memory in reserve for all of these, as long as they live, and nobody
 * else takes of it.
 */
#include <errno.h>

#include "pool/ahead.h"
#include "private.h"

/* File everything that waits. */
void tkw__timer_file_all(struct shard *shard)
{
    for (uint32_t i = 0; i < shard->intake_count; i++) {
        if (i % POOL_PREFETCHED == 0)
            tkw__pool_prefetch_free(shard->pool);
        if (shard->intake[i].job == 0)
            continue;
        struct job *job = job_at(shard, shard->intake[i].job - 1);
        int error =
            tkw_pool_arm(shard->pool, &job->timer, shard->intake[i].deadline,
                         (struct tkw_user){.pointer = job});
        TKW_ASSERT(error == 0); /* reserved */
        (void)error;
    }
    shard->intake_count = 0;
    shard->intake_room = 0;
}

/* Is there memory for `count` more timers, and for those that are owed a place?
 * If the allocator refuses, the pool makes up to `steps` steps to find some. */
bool tkw__timer_is_room(struct shard *shard, uint32_t count, size_t steps)
{
    return tkw__pool_reserve(shard->pool, (size_t)shard->owed + count, steps) ==
           0;
}

/* Can one more timer get into the pool, besides those that are owed a place? */
static bool make_room(struct shard *shard)
{
    return tkw__timer_is_room(shard, 1, POOL_RECLAIM_STEPS);
}

/* Make sure that a job can get back into the pool, until it is given back.
 * Returns 0 or -ENOMEM. */
int tkw__timer_owe(struct shard *shard, struct job *job)
{
    if (job->is_owed)
        return 0;
    /* Also for what waits. */
    if (!tkw__timer_is_room(shard, TKW_INTAKE + 1, POOL_RECLAIM_STEPS))
        return -ENOMEM;
    shard->owed++;
    job->is_owed = true;
    return 0;
}

/* Arm, the intake being full: make room there, or in the pool. */
int tkw__timer_arm_full(struct shard *shard, struct job *job, tkw_tick deadline)
{
    tkw__timer_file_all(shard);
    /* Without sweeping: the intake saves time, and the pool will do. */
    if (tkw__timer_is_room(shard, TKW_INTAKE, 0)) {
        shard->intake_room = TKW_INTAKE;
        return timer_arm(shard, job, deadline);
    }
    if (shard->owed > 0 && !job->is_owed && !make_room(shard))
        return -ENOMEM;
    return tkw_pool_arm(shard->pool, &job->timer, deadline,
                        (struct tkw_user){.pointer = job});
}

void tkw__timer_cancel(struct shard *shard, struct job *job)
{
    if (!timer_is_waiting(shard, job)) {
        tkw_pool_cancel(shard->pool, job->timer);
        return;
    }
    shard->intake[job->timer].job = 0;
    if (job->timer == shard->intake_count - 1)
        shard->intake_count--;
}

int tkw__timer_rearm(struct shard *shard, struct job *job, tkw_tick deadline)
{
    if (timer_is_waiting(shard, job)) {
        bool was_owed = job->is_owed;
        shard->intake[job->timer].job = 0;
        job->is_owed = true; /* its old place was reserved */
        int error = timer_arm(shard, job, deadline);
        TKW_ASSERT(error == 0);
        job->is_owed = was_owed;
        return error == 0;
    }
    tkw__timer_file_all(shard);
    if (shard->owed > 0 && !make_room(shard))
        return -ENOMEM;
    return tkw_pool_rearm(shard->pool, job->timer, deadline);
}

int tkw__timer_postpone(struct shard *shard, struct job *job, tkw_tick deadline)
{
    if (timer_is_waiting(shard, job)) {
        struct arrival *arrival = &shard->intake[job->timer];
        if (deadline < arrival->deadline)
            return tkw__timer_rearm(shard, job, deadline);
        arrival->deadline = deadline;
        return 1;
    }
    /* What is due, or about to be, is armed again by the pool as well. */
    struct tkw_shot shot = {.deadline = 0};
    tkw_pool_query(shard->pool, job->timer, &shot);
    if (deadline < shot.deadline || shot.deadline <= shard->target)
        return tkw__timer_rearm(shard, job, deadline);
    return tkw_pool_postpone(shard->pool, job->timer, deadline);
}
