/*
 * service/change.c - what any thread may do to a timer that has a handle: move
 * it, cancel it, ask for it.
 *
 * Moving takes the mutex of the shard, cancelling takes none: it swaps the word
 * of the job, and puts the job on a stack for whoever has the mutex next.
 */
#include <tickwheel/service.h>

#include <errno.h>

#include "os/probes.h"
#include "private.h"

/* The job of a handle, whatever has become of it; NULL if there never was. */
struct job *tkw__job_find(const struct tkw_service *service, tkw_handle handle)
{
    uint32_t number = (uint32_t)handle >> JOB_INDEX_BITS;
    if (number >= service->shard_count)
        return NULL;
    const struct shard *shard = service->shards[number];
    uint32_t index = (uint32_t)handle & JOB_INDEX_MASK;
    /* Acquire: a job is made before it is counted. */
    if (index >= sync_get_acquire(&shard->used))
        return NULL;
    return job_at(shard, index);
}

static struct shard *shard_of(const struct tkw_service *service,
                              tkw_handle handle)
{
    return service->shards[(uint32_t)handle >> JOB_INDEX_BITS];
}

/* Hand a job that is over to whoever holds the mutex next; `cancelled` is 1 if
 * it was cancelled before it ran, else 0. */
void tkw__job_push(struct shard *shard, struct job *job, uint32_t cancelled)
{
    uint64_t *stack = &shard->cancelled[job->index % TKW_STACKS];
    uint64_t after;
    uint64_t before = sync_get_relaxed(stack);
    do {
        job->next = (uint32_t)before;
        after = ((before >> CANCELLED_SHIFT) + cancelled) << CANCELLED_SHIFT;
        after |= job->index + 1;
    } while (!sync_replace_ordered(stack, &before, after));
}

/*
 * Put a timer that is not in the pool there again, its word being `word`.
 * Returns 1; 0 if the word has changed meanwhile; or an error.
 */
int tkw__job_arm_again(struct tkw_service *service, struct shard *shard,
                       struct job *job, uint64_t word, tkw_tick deadline)
{
    bool is_new = (word & JOB_ARMED) == 0;
    /* One that repeats has kept its place. */
    bool counts = is_new && (word & JOB_REPEATS) == 0;
    if (counts && !count_in(service))
        return -EAGAIN;
    /* Its time may come before its callback has returned; see batch_add(). */
    bool may_be_late = (word & JOB_RUNNING) && !shard->crew->is_direct;
    int result = may_be_late ? tkw__timer_owe(shard, job) : 0;
    uint64_t again = (word + JOB_EPOCH) & JOB_EPOCHS;
    again |= word & (JOB_GENERATION | JOB_RUNNING | JOB_WAITED | JOB_REPEATS);
    again |= JOB_ARMED;
    /* Who is owed a place in the pool will get it: no need to take it back. */
    bool is_owed = job->is_owed;
    if (result == 0 && !is_owed)
        result = timer_arm(shard, job, deadline);
    if (result == 0) {
        /* Against cancel, and against the runner who begins or ends. */
        if (sync_replace_ordered(&job->word, &word, again))
            result = 1;
        else if (!is_owed)
            tkw__timer_cancel(shard, job);
    }
    if (result == 1) {
        int error = is_owed ? timer_arm(shard, job, deadline) : 0;
        TKW_ASSERT(error == 0);
        (void)error;
        shard->armed += is_new;
    } else if (counts) {
        count_out(service);
    }
    return result;
}

typedef int move(struct shard *shard, struct job *job, tkw_tick deadline);

/* Move a job, by arming it again or by postponing, under the shard's mutex. */
static int move_job(struct tkw_service *service, struct shard *shard,
                    struct job *job, tkw_handle handle, tkw_tick deadline,
                    move *move_timer)
{
    for (;;) {
        /* Acquire: `timer` was written before the word. */
        uint64_t word = sync_get_acquire(&job->word);
        if (!word_is_of(word, handle))
            return 0;
        bool can_start = move_timer == tkw__timer_rearm && (word & JOB_RUNNING);
        if ((word & JOB_ARMED) == 0 && !can_start)
            return 0;
        if (word & JOB_CANCELLED)
            return 0; /* cancel has said that it will not run again */

        int result = 0;
        if (word & JOB_ARMED)
            result = move_timer(shard, job, deadline);
        if (result == 0) /* it has left the pool */
            result = tkw__job_arm_again(service, shard, job, word, deadline);
        if (result != 0)
            return result;
    }
}

static int move_to(struct tkw_service *service, tkw_handle handle,
                   struct aim aim, move *move_timer)
{
    if (sync_get_relaxed(&service->is_stopping))
        return -ESHUTDOWN;
    struct job *job = tkw__job_find(service, handle);
    if (job == NULL)
        return 0;
    struct shard *shard = shard_of(service, handle);
    sync_lock(&shard->mutex);
    shard_reap(shard, REAPED_BY_ARMING);
    int result =
        move_job(service, shard, job, handle, aim.deadline, move_timer);
    if (result == -ENOMEM && tkw__shard_reap_for_memory(shard))
        result =
            move_job(service, shard, job, handle, aim.deadline, move_timer);
    if (result == 1) {
        sync_put_relaxed(&job->due_ns, aim.due_ns);
        if (job->extra != 0)
            sync_put_relaxed(&extra_of(shard, job)->phase_ns, aim.due_ns);
        service_note(service,
                     move_timer == tkw__timer_rearm ? RECORDED_ARM
                                                    : RECORDED_POSTPONE,
                     handle, aim.due_ns);
        tkw__service_announce(service, shard, aim.deadline);
    }
    sync_unlock(&shard->mutex);
    return result;
}

int tkw_service_rearm(struct tkw_service *service, tkw_handle handle,
                      uint64_t delay_ns)
{
    return move_to(service, handle, tkw__service_aim_after(service, delay_ns),
                   tkw__timer_rearm);
}

int tkw_service_rearm_at(struct tkw_service *service, tkw_handle handle,
                         uint64_t time_ns)
{
    return move_to(service, handle, tkw__service_aim_at(service, time_ns),
                   tkw__timer_rearm);
}

int tkw_service_postpone(struct tkw_service *service, tkw_handle handle,
                         uint64_t delay_ns)
{
    return move_to(service, handle, tkw__service_aim_after(service, delay_ns),
                   tkw__timer_postpone);
}

int tkw_service_postpone_at(struct tkw_service *service, tkw_handle handle,
                            uint64_t time_ns)
{
    return move_to(service, handle, tkw__service_aim_at(service, time_ns),
                   tkw__timer_postpone);
}

/*
 * A timer whose callback is running is not stopped, but it is not to run again:
 * what it has been armed for meanwhile ends, and it is not armed any more.
 */
static uint64_t word_cancelled_running(uint64_t word)
{
    if (word & (JOB_ARMED | JOB_REPEATS))
        return (word & ~JOB_ARMED) | JOB_CANCELLED | JOB_DROP;
    return word | JOB_CANCELLED;
}

int tkw_service_cancel(struct tkw_service *service, tkw_handle handle)
{
    struct job *job = tkw__job_find(service, handle);
    if (job == NULL)
        return 0;
    struct shard *shard = shard_of(service, handle);

    /* Acquire: what is read below was written before the word. */
    uint64_t word = sync_get_acquire(&job->word);
    for (;;) {
        if (!word_is_of(word, handle) ||
            (word & (JOB_ARMED | JOB_RUNNING)) == 0)
            return 0;
        tkw_drop *drop = sync_get_relaxed(&job->drop);
        void *argument = sync_get_relaxed(&job->argument);
        bool is_running = (word & JOB_RUNNING) != 0;
        uint64_t after = is_running ? word_cancelled_running(word)
                                    : (word & ~JOB_ARMED) | JOB_CANCELLED;
        /* If the word is still the same so was all that we have read. */
        if (!sync_replace_ordered(&job->word, &word, after))
            continue;
        if (word & JOB_ARMED)
            service_note(service, RECORDED_CANCEL, handle, 0);

        if (is_running) {
            if (word & JOB_ARMED)
                sync_add_relaxed(&shard->cancelled_running, 1);
            /* One that repeats has its place until its callback returns. */
            if ((word & (JOB_ARMED | JOB_REPEATS)) == JOB_ARMED)
                count_out(service);
            return -EBUSY;
        }
        PROBE2(cancel, service, handle);
        count_out(service);
        tkw__job_push(shard, job, 1);
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

    /* The runner who takes the flag off broadcasts under the mutex: not before
     * we wait. */
    struct job *job = tkw__job_find(service, handle);
    sync_lock(&service->mutex);
    uint64_t word = sync_get_acquire(&job->word);
    const uint64_t mask = JOB_GENERATION | JOB_RUNNING;
    while ((word & mask) == ((handle & JOB_GENERATION) | JOB_RUNNING)) {
        if (!sync_replace_ordered(&job->word, &word, word | JOB_WAITED))
            continue;
        sync_wait(&service->ended, &service->mutex);
        word = sync_get_acquire(&job->word);
    }
    sync_unlock(&service->mutex);
    return 0;
}

enum tkw_state tkw_service_query(struct tkw_service *service, tkw_handle handle,
                                 struct tkw_outlook *outlook)
{
    struct job *job = tkw__job_find(service, handle);
    if (job == NULL)
        return TKW_STALE;
    /* Under the mutex, word and time change together. */
    struct shard *shard = shard_of(service, handle);
    sync_lock(&shard->mutex);
    uint64_t due = sync_get_relaxed(&job->due_ns);
    uint64_t word = sync_get_acquire(&job->word);
    sync_unlock(&shard->mutex);
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
