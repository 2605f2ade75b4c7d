/*
 * service/move.c - giving a timer another time.
 *
 * Moving takes the mutex of the job's shard.  A job that is in the pool is
 * moved there.  A job that has left the pool, because it is due or because its
 * callback is running, is filed again, and its word gets another epoch.  The
 * runner or worker that holds it as a due_job then fails to claim it.
 */
#include <tickwheel/service.h>

#include <errno.h>

#include "private.h"

enum move {
    MOVE_REARM,
    MOVE_POSTPONE,
};

/*
 * File a job again that has left the pool; `word` is the job's word.  Returns
 * 1; 0 if the word has changed meanwhile; or an error.
 */
int tkw__job_arm_again(struct tkw_service *service, struct shard *shard,
                       uint32_t index, uint64_t word, tkw_tick deadline)
{
    struct job *job = job_at(shard, index);
    bool is_new = (word & JOB_ARMED) == 0;
    /* A job that repeats stays counted while its callback is running. */
    bool counts = is_new && (word & JOB_REPEATS) == 0;
    if (counts && !count_in(service))
        return -EAGAIN;
    /* It may be due before its callback has returned: see batch_add(). */
    bool may_be_late = (word & JOB_RUNNING) && !shard->crew->is_direct;
    int result = may_be_late || tkw__pool_needs_record(shard->pool, index)
                     ? tkw__job_reserve(shard, job)
                     : 0;
    uint64_t again = (word + JOB_EPOCH) & JOB_EPOCHS;
    again |= word & (JOB_GENERATION | JOB_RUNNING | JOB_WAITED | JOB_REPEATS);
    again |= JOB_ARMED;
    if ((word & JOB_HAS_MORE) || job->is_reserved)
        again |= JOB_HAS_MORE;
    if (result == 0)
        result = shard_make_room(shard, job);
    /* The swap fails if another thread cancels, claims or ends the job. */
    if (result == 0)
        result = sync_replace_ordered(&job->word, &word, again);
    if (result == 1) {
        intake_put(shard, index, deadline);
        shard->armed += is_new;
    } else if (counts) {
        count_out(service);
    }
    return result;
}

/* Move a job that is filed.  Returns the pool's result. */
static int move_filed(struct shard *shard, uint32_t index, tkw_tick deadline,
                      enum move move)
{
    return move == MOVE_REARM ? tkw__job_refile(shard, index, deadline)
                              : tkw__job_postpone(shard, index, deadline);
}

/* Move a job.  The caller holds the shard's mutex.  Returns 1, 0 or an
 * error. */
static int move_job(struct tkw_service *service, struct shard *shard,
                    struct job *job, tkw_handle handle, tkw_tick deadline,
                    enum move move)
{
    uint32_t index = handle_index(handle);
    for (;;) {
        /* Acquire: pairs with the release in arm_in(). */
        uint64_t word = sync_get_acquire(&job->word);
        if (!word_is_of(word, handle))
            return 0;
        bool can_start = move == MOVE_REARM && (word & JOB_RUNNING);
        if ((word & JOB_ARMED) == 0 && !can_start)
            return 0;
        if (word & JOB_CANCELLED)
            return 0; /* a cancel has ended it for good */

        int result = 0;
        if (word & JOB_ARMED)
            result = move_filed(shard, index, deadline, move);
        if (result == 0) /* it has left the pool */
            result = tkw__job_arm_again(service, shard, index, word, deadline);
        if (result != 0)
            return result;
    }
}

static int move_to(struct tkw_service *service, tkw_handle handle,
                   struct due_time when, enum move move)
{
    if (sync_get_relaxed(&service->is_stopping))
        return -ESHUTDOWN;
    struct job *job = tkw__job_find(service, handle);
    if (job == NULL)
        return 0;
    struct shard *shard = shard_of(service, handle);
    shard_lock(shard);
    shard_reap(shard, REAPED_BY_ARMING);
    int result = move_job(service, shard, job, handle, when.tick, move);
    if (result == -ENOMEM && tkw__shard_reap_for_memory(shard))
        result = move_job(service, shard, job, handle, when.tick, move);
    if (result == 1) {
        sync_put_relaxed(&job->due_ns, when.ns);
        if (job->plan != 0)
            sync_put_relaxed(&plan_of(shard, job)->phase_ns, when.ns);
        service_note(service,
                     move == MOVE_REARM ? RECORDED_ARM : RECORDED_POSTPONE,
                     handle, when.ns);
        tkw__wakeup_announce(service, shard, when.tick);
    }
    shard_unlock(shard);
    return result;
}

int tkw_service_rearm(struct tkw_service *service, tkw_handle handle,
                      uint64_t delay_ns)
{
    return move_to(service, handle, tkw__time_due_after(service, delay_ns),
                   MOVE_REARM);
}

int tkw_service_rearm_at(struct tkw_service *service, tkw_handle handle,
                         uint64_t time_ns)
{
    return move_to(service, handle, tkw__time_due_at(service, time_ns),
                   MOVE_REARM);
}

int tkw_service_postpone(struct tkw_service *service, tkw_handle handle,
                         uint64_t delay_ns)
{
    return move_to(service, handle, tkw__time_due_after(service, delay_ns),
                   MOVE_POSTPONE);
}

int tkw_service_postpone_at(struct tkw_service *service, tkw_handle handle,
                            uint64_t time_ns)
{
    return move_to(service, handle, tkw__time_due_at(service, time_ns),
                   MOVE_POSTPONE);
}
