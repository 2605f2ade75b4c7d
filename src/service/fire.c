/*
 * service/fire.c - one timer's callback, from the claim to what comes after.
 *
 * Whoever runs it claims the timer first, by a swap of its word; until then it
 * can be cancelled and moved, wherever it waits.  While it is running its word
 * says so, and nobody else can claim it: if its time comes again meanwhile it
 * goes back into the pool and is marked as late, and whoever ran it sees to it.
 */
#include <tickwheel/service.h>

#include "os/probes.h"
#include "private.h"

/* Its time came while it was running: now it has not to wait any longer.  If
 * there is no memory to move it, it comes by itself; see batch_add(). */
static void hurry(struct tkw_service *service, struct shard *shard,
                  struct job *job, uint64_t expected)
{
    sync_lock(&shard->mutex);
    uint64_t word = sync_get_acquire(&job->word);
    if (word == expected) {
        uint64_t now = tkw_service_now(service);
        struct aim aim = tkw__service_aim_from(service, now, job->due_ns);
        if (tkw__timer_rearm(shard, job, aim.deadline) == 1)
            tkw__service_announce(service, shard, aim.deadline);
    }
    sync_unlock(&shard->mutex);
}

/* Drop the argument, and give up the place of one that repeats, while the timer
 * counts as running: who waits for its end may free what drop() uses, and take
 * the place. */
static void drop(struct tkw_service *service, struct job *job)
{
    if (job->drop != NULL)
        job->drop(job->argument);
    if (sync_get_relaxed(&job->word) & JOB_REPEATS)
        count_out(service);
}

/*
 * The callback has returned, and is armed again or not.  Returns the word that
 * the job has now, and in `*before` what it had.
 */
static uint64_t end_run(struct tkw_service *service, struct job *job,
                        uint64_t *before)
{
    bool is_dropped = false;
    bool is_over = false; /* it repeated, and ended by itself */
    uint64_t after;
    uint64_t word = sync_get_acquire(&job->word);
    do {
        if ((word & (JOB_REPEATS | JOB_ARMED | JOB_DROP)) == JOB_REPEATS) {
            /* From here on nobody can arm it. */
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

static void end_job(struct tkw_service *service, struct shard *shard,
                    struct job *job)
{
    uint64_t word;
    uint64_t after = end_run(service, job, &word);
    if (word & JOB_WAITED) {
        sync_lock(&service->mutex);
        sync_broadcast(&service->ended);
        sync_unlock(&service->mutex);
    }
    if (after & JOB_ARMED) {
        if (word & JOB_LATE)
            hurry(service, shard, job, after);
        return;
    }
    if (shard->crew->is_direct) {
        job->next = shard->finished;
        shard->finished = job->index + 1;
    } else {
        tkw__job_push(shard, job, 0);
    }
}

/* Take note of how late a callback was. */
static void note_late(struct tkw_service *service, struct shard *shard,
                      uint64_t late)
{
    /* Before the callback: who sees what it did finds it counted. */
    if (shard->crew->is_direct) {
        sync_put_relaxed(&shard->fired, shard->fired + 1);
        histogram_add(&service->late_direct, late);
    } else {
        sync_add_relaxed(&shard->fired, 1);
        histogram_add_shared(&service->late, late);
    }
}

/* Take note of how long a callback took. */
static void note_slow(struct tkw_service *service, tkw_callback *callback,
                      uint64_t took)
{
    if (took <= sync_get_relaxed(&service->slowest_ns))
        return;
    sync_lock(&service->mutex);
    if (took > service->slowest_ns) {
        sync_put_relaxed(&service->slowest_ns, took);
        service->slowest = callback;
    }
    sync_unlock(&service->mutex);
}

/* Periods that were left out, and are told once; or that have passed and will
 * be made up for. */
static uint64_t tell_overruns(struct extra *extra, uint64_t now)
{
    uint64_t overruns = extra->overruns;
    extra->overruns = 0;
    /* Relaxed: whoever moves it just now may come before us or after. */
    uint64_t phase_ns = sync_get_relaxed(&extra->phase_ns);
    if (extra->missed == TKW_BURST && now > phase_ns)
        overruns = (now - phase_ns) / extra->period_ns;
    return overruns;
}

/*
 * Run a timer if it is still to be run.  Returns whether it was.  `*now` is the
 * time if that is known, else 0, and then the time that the callback returned.
 */
bool tkw__job_fire(struct tkw_service *service, const struct due *due,
                   uint64_t *now)
{
    struct shard *shard = due->shard;
    struct job *job = due->job;
    uint64_t word = due->word;
    uint64_t running = (word & JOB_LASTING) | JOB_RUNNING;
    /* Before it can be armed again, for another time. */
    uint64_t due_ns = sync_get_relaxed(&job->due_ns);
    /* Against cancel, and against arming again. */
    if (!sync_replace_ordered(&job->word, &word, running))
        return false;

    if ((word & JOB_REPEATS) == 0)
        count_out(service);
    if (*now == 0)
        *now = tkw_service_now(service);
    /* Its time has come, even if a wall clock was set back just now. */
    uint64_t began = *now > due_ns ? *now : due_ns;
    struct tkw_firing firing = {
        .service = service,
        .handle = job_handle(shard, job, running),
        .due_ns = due_ns,
        .now_ns = began,
    };
    if (word & JOB_REPEATS)
        firing.overruns = tell_overruns(extra_of(shard, job), began);
    note_late(service, shard, began - due_ns);

    struct frame frame;
    frame_enter(&frame, service, firing.handle);
    tkw_callback *callback = job->callback;
    PROBE4(fire, service, firing.handle, callback, began - due_ns);
    callback(job->argument, &firing);
    *now = tkw_service_now(service);
    uint64_t took = *now > began ? *now - began : 0;
    PROBE4(done, service, firing.handle, callback, took);
    note_slow(service, callback, took);
    if (word & JOB_REPEATS)
        tkw__repeat_arm(service, shard, job, &firing);
    end_job(service, shard, job); /* which may drop, and that may stop */
    frame_leave(&frame);
    return true;
}
