/*
 * service/intake.c - filing jobs in the pool, through the intake.
 *
 * A job that is armed waits in the shard's intake until that is full, or until
 * the runner or a move needs the pool to be complete.  Then all jobs of the
 * intake are filed, in the order of arming.  Most timers are timeouts of
 * operations that succeed soon.  A timer that is cancelled before its intake is
 * filed costs the pool nothing.
 *
 * The pool has memory in reserve for a whole intake, so filing it cannot fail.
 * If the pool cannot reserve that much, the intake has room for one job.  If
 * the pool cannot reserve memory for one, arming fails.
 *
 * A move within the pool files the intake first, for two reasons: the move must
 * not take the memory that is in reserve for the intake; and it must put the
 * job behind all jobs that were armed before.
 *
 * Some jobs must be able to return to the pool after they have left it:
 *   - those that repeat;
 *   - those that submit() may return;
 *   - those that are armed again while a worker runs them;
 *   - all jobs of a service with a wall clock.
 * The entry that such a job leaves behind is not enough, because the pool may
 * have used its place: for a dead entry, or for the gap between two queues that
 * were joined (pool/memory.c).  So the pool keeps memory for one entry and one
 * record in reserve for each of these jobs, until the job is freed: see
 * tkw__job_reserve().  The job needs the record if its tags are used up.
 */
#include <errno.h>

#include "pool/ahead.h"
#include "private.h"

/* File all jobs of the intake, and free those that were given up. */
void tkw__shard_file_intake(struct shard *shard)
{
    for (uint32_t i = 0; i < shard->intake_count; i++) {
        const struct intake_entry *entry = &shard->intake[i];
        if (entry->job == NULL)
            continue;
        /* Acquire: the cancelling thread has read the job. */
        if (sync_get_acquire(&entry->job->word) & JOB_GIVEN_UP) {
            tkw__pool_free(shard->pool, entry->index, true);
            continue;
        }
        int error =
            tkw__pool_arm_taken(shard->pool, entry->index, entry->deadline);
        TKW_ASSERT(error == 0); /* memory was reserved */
        (void)error;
    }
    shard->intake_count = 0;
    shard->intake_room = 0;
}

/* Reserve memory in the pool to file `count` jobs, besides those that have a
 * reservation.  If the allocator refuses, the pool makes up to `steps` steps to
 * find some.  Returns false if there is none. */
bool tkw__shard_reserve(struct shard *shard, uint32_t count, size_t steps)
{
    size_t reserved = shard->reserved;
    return tkw__pool_reserve(shard->pool, reserved + count, reserved, steps) ==
           0;
}

/* Reserve memory in the pool to file one job that has no reservation. */
static bool reserve_one(struct shard *shard)
{
    return tkw__shard_reserve(shard, 1, POOL_RECLAIM_STEPS);
}

/* Reserve memory for a job's return to the pool, until the job is freed.
 * Returns 0 or -ENOMEM. */
int tkw__job_reserve(struct shard *shard, struct job *job)
{
    if (job->is_reserved)
        return 0;
    shard->reserved++;
    if (!tkw__shard_reserve(shard, TKW_INTAKE, POOL_RECLAIM_STEPS)) {
        shard->reserved--;
        return -ENOMEM;
    }
    job->is_reserved = true;
    return 0;
}

/* File all jobs of the intake, and reserve memory for those that come next: for
 * a whole intake, or else for one job.  `is_reserved`: that one has a
 * reservation.  Returns 0 or -ENOMEM. */
int tkw__shard_empty_intake(struct shard *shard, bool is_reserved)
{
    tkw__shard_file_intake(shard);
    /* 0 steps: a large intake saves time, but is not worth a sweep. */
    if (tkw__shard_reserve(shard, TKW_INTAKE, 0)) {
        shard->intake_room = TKW_INTAKE;
        return 0;
    }
    if (!is_reserved && !reserve_one(shard))
        return -ENOMEM;
    shard->intake_room = 1;
    return 0;
}

/* Remove a job from the intake, if it is there. */
void tkw__job_unfile(struct shard *shard, struct job *job)
{
    if (!job_is_in_intake(shard, job))
        return;
    shard->intake[job->place].job = NULL;
    if (job->place == shard->intake_count - 1)
        shard->intake_count--;
}

int tkw__job_refile(struct shard *shard, uint32_t index, tkw_tick deadline)
{
    struct job *job = job_at(shard, index);
    if (job_is_in_intake(shard, job)) {
        /* The memory that the intake has for it serves again. */
        shard->intake[job->place].job = NULL;
        if (shard->intake_count == shard->intake_room)
            tkw__shard_empty_intake(shard, true);
        intake_put(shard, index, deadline);
        return 1;
    }
    if (!job_is_in_pool(job))
        return 0;
    tkw_handle timer = (job->record.word & WORD_GENERATION) | index;
    tkw__shard_file_intake(shard);
    if (shard->reserved > 0 && !reserve_one(shard))
        return -ENOMEM;
    return tkw_pool_rearm(shard->pool, timer, deadline);
}

int tkw__job_postpone(struct shard *shard, uint32_t index, tkw_tick deadline)
{
    struct job *job = job_at(shard, index);
    if (job_is_in_intake(shard, job)) {
        struct intake_entry *entry = &shard->intake[job->place];
        if (deadline < entry->deadline)
            return tkw__job_refile(shard, index, deadline);
        entry->deadline = deadline;
        return 1;
    }
    if (!job_is_in_pool(job))
        return 0;
    /* tkw_pool_postpone() rearms a timer that is due, or about to be.  That
     * takes memory, which tkw__job_refile() reserves first. */
    tkw_tick before = tkw__pool_deadline(shard->pool, index);
    if (deadline < before || before <= shard->target)
        return tkw__job_refile(shard, index, deadline);
    tkw_handle timer = (job->record.word & WORD_GENERATION) | index;
    return tkw_pool_postpone(shard->pool, timer, deadline);
}
