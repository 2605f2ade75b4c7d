/*
 * service/cancel.c - cancelling a timer, and querying its state.
 *
 * Cancelling takes no lock: it swaps the word of the job.  service/job.h says
 * which thread then frees the job.
 */
#include <tickwheel/service.h>

#include <errno.h>

#include "os/probes.h"
#include "private.h"

/* Return the word of a job that is cancelled while its callback is running.  If
 * the job was armed again meanwhile, that arming ends. */
static uint64_t word_cancelled_running(uint64_t word)
{
    if (word & (JOB_ARMED | JOB_REPEATS))
        return (word & ~JOB_ARMED) | JOB_CANCELLED | JOB_DROP;
    return word | JOB_CANCELLED;
}

/* Return the word of a job that is cancelled before its callback began. */
static uint64_t word_cancelled(uint64_t word)
{
    uint64_t after = (word & ~JOB_ARMED) | JOB_CANCELLED;
    return word & JOB_HAS_MORE ? after : after | JOB_GIVEN_UP;
}

int tkw_service_cancel(struct tkw_service *service, tkw_handle handle)
{
    struct job *job = tkw__job_find(service, handle);
    if (job == NULL)
        return 0;
    struct shard *shard = shard_of(service, handle);

    /* Acquire: pairs with the release in arm_in(), which writes `drop` and
     * `argument` before the word. */
    uint64_t word = sync_get_acquire(&job->word);
    for (;;) {
        if (!word_is_of(word, handle) ||
            (word & (JOB_ARMED | JOB_RUNNING)) == 0)
            return 0;
        tkw_drop *drop = sync_get_relaxed(&job->drop);
        void *argument = sync_get_relaxed(&job->argument);
        bool is_running = (word & JOB_RUNNING) != 0;
        uint64_t after =
            is_running ? word_cancelled_running(word) : word_cancelled(word);
        /* The swap fails if the word has changed since `drop` and `argument`
         * were read. */
        if (!sync_replace_ordered(&job->word, &word, after))
            continue;
        if (word & JOB_ARMED)
            service_note(service, RECORDED_CANCEL, handle, 0);

        if (is_running) {
            if (word & JOB_ARMED)
                sync_add_relaxed(&shard->cancelled, 1);
            /* A timer that repeats stays counted until its callback returns. */
            if ((word & (JOB_ARMED | JOB_REPEATS)) == JOB_ARMED)
                count_out(service);
            return -EBUSY;
        }
        PROBE2(cancel, service, handle);
        count_out(service);
        if (word & JOB_HAS_MORE) {
            sync_add_relaxed(&shard->cancelled, 1);
            tkw__shard_push(shard, job, handle_index(handle));
        } else {
            sync_add_relaxed(&shard->given_up, 1);
        }
        if (drop != NULL)
            drop(argument);
        return 1;
    }
}

int tkw_service_cancel_sync(struct tkw_service *service, tkw_handle handle)
{
    if (handle != 0 && frame_is_inside_timer(service, handle))
        return -EDEADLK;
    int result = tkw_service_cancel(service, handle);
    if (result != -EBUSY)
        return result;

    /* The thread that ends the run clears JOB_RUNNING, then broadcasts under
     * the mutex.  So it cannot broadcast between this read of the word and the
     * wait. */
    struct job *job = tkw__job_find(service, handle);
    service_lock(service);
    uint64_t word = sync_get_acquire(&job->word);
    const uint64_t mask = JOB_GENERATION | JOB_RUNNING;
    while ((word & mask) == ((handle & JOB_GENERATION) | JOB_RUNNING)) {
        if (!sync_replace_ordered(&job->word, &word, word | JOB_WAITED))
            continue;
        sync_wait(&service->ended, &service->mutex);
        word = sync_get_acquire(&job->word);
    }
    service_unlock(service);
    return 0;
}

enum tkw_state tkw_service_query(struct tkw_service *service, tkw_handle handle,
                                 struct tkw_outlook *outlook)
{
    struct job *job = tkw__job_find(service, handle);
    if (job == NULL)
        return TKW_STALE;
    /* Under the mutex, a move changes word and time together. */
    struct shard *shard = shard_of(service, handle);
    shard_lock(shard);
    uint64_t due = sync_get_relaxed(&job->due_ns);
    uint64_t word = sync_get_acquire(&job->word);
    shard_unlock(shard);
    if (!word_is_of(word, handle))
        return TKW_STALE;
    if (word & JOB_RUNNING)
        return TKW_RUNNING;
    if ((word & JOB_ARMED) == 0)
        return word & JOB_CANCELLED ? TKW_CANCELLED : TKW_DONE;

    uint64_t now = tkw_service_now(service);
    uint64_t remaining = due > now ? due - now : 0;
    if (due == UINT64_MAX)
        remaining = UINT64_MAX;
    if (outlook != NULL)
        *outlook = (struct tkw_outlook){due, remaining};
    return remaining > 0 ? TKW_PENDING : TKW_READY;
}
