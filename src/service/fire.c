/*
 * service/fire.c - running one job: claim, callback, end.
 *
 * The thread that runs a job claims it first: it swaps the job's word to
 * "running".  Until then any thread can cancel or move the job, wherever it
 * waits.  While the word says "running" no other thread can claim the job.  If
 * the job's time comes again meanwhile, the runner puts the job back into the
 * pool and marks it as late (see batch_add()).  The thread that runs it then
 * moves it to now when the callback has returned.
 */
#include <tickwheel/service.h>

#include "os/probes.h"
#include "private.h"

/* Move a job to now whose time came while it was running.  If the pool has no
 * memory for the move, the job runs LATE_AGAIN_NS later: see batch_add(). */
static void move_to_now(struct tkw_service *service, const struct due_job *due,
                        uint64_t expected)
{
    struct shard *shard = due->shard;
    struct job *job = due->job;
    shard_lock(shard);
    uint64_t word = sync_get_acquire(&job->word);
    if (word == expected) {
        uint64_t now = tkw_service_now(service);
        struct due_time when = tkw__time_due(service, now, job->due_ns);
        if (tkw__job_refile(shard, due->index, when.tick) == 1)
            tkw__wakeup_announce(service, shard, when.tick);
    }
    shard_unlock(shard);
}

/* Drop the argument, and count out a job that repeats.  The job still counts as
 * running.  So a thread that waits for its end may then free memory that the
 * drop function uses, and arm another timer in its place. */
static void drop(struct tkw_service *service, struct job *job)
{
    if (job->drop != NULL)
        job->drop(job->argument);
    if (sync_get_relaxed(&job->word) & JOB_REPEATS)
        count_out(service);
}

/* End the run of a job whose callback has returned.  Returns the job's new
 * word, and stores the old one in `*before`. */
static uint64_t end_run(struct tkw_service *service, struct job *job,
                        uint64_t *before)
{
    bool is_dropped = false;
    bool is_over = false; /* the job repeated, and was not cancelled */
    uint64_t after;
    uint64_t word = sync_get_acquire(&job->word);
    do {
        if ((word & (JOB_REPEATS | JOB_ARMED | JOB_DROP)) == JOB_REPEATS) {
            /* From here on no thread can arm the job. */
            is_over = sync_replace_ordered(&job->word, &word,
                                           word | JOB_CANCELLED | JOB_DROP);
            word = sync_get_acquire(&job->word);
        }
        after = word & JOB_LASTING;
        if (word & JOB_DROP) {
            if (!is_dropped)
                drop(service, job);
            is_dropped = true;
            after |= is_over ? 0 : JOB_CANCELLED;
        } else {
            after |= word & JOB_ARMED;
        }
    } while (!sync_replace_ordered(&job->word, &word, after));
    *before = word;
    return after;
}

/* Pass on a job that is over, to be freed under the mutex. */
static void leave_to_free(const struct due_job *due)
{
    struct shard *shard = due->shard;
    if (shard->crew->is_direct) {
        due->job->next = shard->finished;
        shard->finished = due->index + 1;
    } else {
        tkw__shard_push(shard, due->job, due->index);
    }
}

static void end_job(struct tkw_service *service, const struct due_job *due)
{
    uint64_t word;
    uint64_t after = end_run(service, due->job, &word);
    if (word & JOB_WAITED) {
        service_lock(service);
        sync_broadcast(&service->ended);
        service_unlock(service);
    }
    if (after & JOB_ARMED) {
        if (word & JOB_LATE)
            move_to_now(service, due, after);
        return;
    }
    leave_to_free(due);
}

/* End the use of a due_job whose job was cancelled or moved since it left the
 * pool. */
void tkw__due_discard(const struct due_job *due)
{
    if (due_is_given_up(due, sync_get_acquire(&due->job->word)))
        leave_to_free(due);
}

/* Count a callback, and add its lateness to the histogram. */
static void note_late(struct tkw_service *service, struct shard *shard,
                      uint64_t late)
{
    /* Before the callback: a thread that sees its effect finds it counted. */
    if (shard->crew->is_direct) {
        sync_put_relaxed(&shard->fired, shard->fired + 1);
        histogram_add(&service->late_direct, late);
    } else {
        sync_add_relaxed(&shard->fired, 1);
        histogram_add_shared(&service->late, late);
    }
}

/* Store the callback if it took longest of all. */
static void note_slow(struct tkw_service *service, tkw_callback *callback,
                      uint64_t took)
{
    if (took <= sync_get_relaxed(&service->slowest_ns))
        return;
    service_lock(service);
    if (took > service->slowest_ns) {
        sync_put_relaxed(&service->slowest_ns, took);
        service->slowest = callback;
    }
    service_unlock(service);
}

/* Return `overruns` for the callback: the periods skipped since the last call,
 * or with TKW_BURST, the periods due besides this one. */
static uint64_t take_overruns(struct job_plan *plan, uint64_t now)
{
    uint64_t overruns = plan->overruns;
    plan->overruns = 0;
    /* Relaxed: a move at this moment may take effect before or after the
     * call. */
    uint64_t phase_ns = sync_get_relaxed(&plan->phase_ns);
    if (plan->missed == TKW_BURST && now > phase_ns)
        overruns = (now - phase_ns) / plan->period_ns;
    return overruns;
}

/*
 * Run a job, unless it was cancelled or moved since it left the pool.  Returns
 * whether it ran.  `*now` is the time, or 0 if unknown to the caller;
 * tkw__job_fire() stores there the time at which the callback returned.
 */
bool tkw__job_fire(struct tkw_service *service, const struct due_job *due,
                   uint64_t *now)
{
    struct shard *shard = due->shard;
    struct job *job = due->job;
    uint64_t word = due->word;
    uint64_t running = (word & JOB_LASTING) | JOB_RUNNING;
    /* Before the swap: after it another thread can set another time. */
    uint64_t due_ns = sync_get_relaxed(&job->due_ns);
    if (*now == 0)
        *now = tkw_service_now(service);
    if (service->clock.is_wall && due_ns > *now) {
        tkw__wall_refile(service, due);
        return false;
    }
    /* Fails if another thread has cancelled it or armed it again. */
    if (!sync_replace_ordered(&job->word, &word, running)) {
        tkw__due_discard(due);
        return false;
    }

    if ((word & JOB_REPEATS) == 0)
        count_out(service);
    uint64_t began = *now;
    struct tkw_firing firing = {
        .service = service,
        .handle = job_handle(shard, due->index, running),
        .due_ns = due_ns,
        .now_ns = began,
    };
    if (word & JOB_REPEATS)
        firing.overruns = take_overruns(plan_of(shard, job), began);
    note_late(service, shard, began - due_ns);

    struct frame frame;
    order_assert_free();
    frame_enter(&frame, service, firing.handle);
    tkw_callback *callback = job->callback;
    PROBE4(fire, service, firing.handle, callback, began - due_ns);
    callback(job->argument, &firing);
    *now = tkw_service_now(service);
    uint64_t took = *now > began ? *now - began : 0;
    PROBE4(done, service, firing.handle, callback, took);
    note_slow(service, callback, took);
    if (word & JOB_REPEATS)
        tkw__repeat_arm(service, due, &firing);
    end_job(service, due); /* may call drop */
    frame_leave(&frame);
    return true;
}
