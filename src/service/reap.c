/*
 * service/reap.c - freeing jobs that a thread without the mutex has ended.
 *
 * A job with a plan or a reservation cannot be given up: these must be freed
 * under the mutex.  So the thread that cancels such a job puts it on a list of
 * its shard.  A worker does so, too, with a job that it has run, and with a job
 * that was given up while it was in the queue.  Threads that take the mutex for
 * another operation reap some jobs of the list:
 *
 *     cancel, worker --swap--> ended[] --exchange--> reaping[] --> free
 *     any thread                 |          under the mutex
 *
 * Jobs without plan and reservation are not reaped: see service/job.h.
 */
#include <tickwheel/service.h>

#include "private.h"

/* Put a job that has ended on a list.  For any thread. */
void tkw__shard_push(struct shard *shard, struct job *job, uint32_t index)
{
    uint32_t *list = &shard->ended[index % TKW_STACKS];
    uint32_t before = sync_get_relaxed(list);
    do
        job->next = before;
    while (!sync_replace_ordered(list, &before, index + 1));
}

/* Free the next job of a list, if there is one, and prefetch the one behind
 * it. */
static void reap_one(struct shard *shard, unsigned which)
{
    uint32_t *reaping = &shard->reaping[which];
    if (*reaping == 0) {
        if (sync_get_relaxed(&shard->ended[which]) == 0)
            return;
        /* Acquire: pairs with the swap in tkw__shard_push(), which writes
         * `next` before the list. */
        *reaping = sync_exchange_acquire(&shard->ended[which], 0);
    }
    uint32_t index = *reaping - 1;
    struct job *job = job_at(shard, index);
    *reaping = job->next;
    job_prefetch(shard, *reaping);
    tkw__job_free(shard, job, index);
}

/*
 * Reap at most `most` jobs.  The caller holds the mutex.
 *
 * Most jobs have left the cache.  So there are two lists, reaped in turn: while
 * a job of one is freed, the next one of the other is being fetched.
 */
void tkw__shard_reap_some(struct shard *shard, uint32_t most)
{
    for (uint32_t i = 0; i < most; i++)
        reap_one(shard, i % TKW_STACKS);
}

/*
 * Free jobs because the allocator has refused memory, so that the pool can use
 * theirs: up to TKW_REAPED that have ended, and those that were given up in the
 * intake.  (The pool has swept for those that were given up later.)  Returns
 * false if there are none: then a retry is of no use.
 */
bool tkw__shard_reap_for_memory(struct shard *shard)
{
    if (!shard_has_ended(shard) && tkw__pool_count_given_up(shard->pool) == 0)
        return false;
    tkw__shard_reap_some(shard, TKW_REAPED);
    tkw__shard_file_intake(shard);
    return true;
}
