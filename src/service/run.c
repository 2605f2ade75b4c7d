/*
 * service/run.c - a pass of the runner: it finds the jobs that are due, and
 * runs them or hands them to their crew.
 *
 *     read the clock -> visit every shard -> run, the earliest tick first
 *                       fill its batch       refill a batch that is empty
 *
 * The runner is the driver thread, or the caller of tkw_service_run().  It
 * takes due jobs from the pool of each shard, a batch at a time.  Of all
 * batches of a crew it serves the job with the earliest tick first, so that
 * ticks are in order over all shards of the crew.
 *
 * If a callback arms a job for now, that pass does not run it, so every pass
 * ends.  The arming lowers `earliest` (service/wakeup.c), and the next pass
 * runs the job.
 *
 * After each callback the runner reads the clock once more, so that the next
 * job's lateness is true however long the pass takes.
 */
#include <tickwheel/service.h>

#include <errno.h>
#include <limits.h>

#include "os/probes.h"
#include "private.h"

enum { MOVED_AT_ONCE = 2048 }; /* timers moved per shard lock */

#define LATE_AGAIN_NS TKW_SECOND /* see batch_add() */

/* Free the jobs that the runner has run. */
static void free_finished(struct shard *shard)
{
    while (shard->finished != 0) {
        uint32_t index = shard->finished - 1;
        struct job *job = job_at(shard, index);
        shard->finished = job->next;
        tkw__job_free(shard, job, index);
    }
}

/*
 * Put a job that has left the pool into the batch.
 *
 * A job whose callback is still running goes back into the pool, marked as
 * late.  The thread that runs it will then move it to now, when its callback
 * has returned: see move_to_now().  If the pool has no memory for that move,
 * the job comes by itself, LATE_AGAIN_NS later.
 */
static void batch_add(struct tkw_service *service, struct shard *shard,
                      const struct taken_timer *timer)
{
    struct job *job = job_at(shard, timer->index);
    uint64_t word = sync_get_acquire(&job->word);
    while (word & JOB_RUNNING && word & JOB_ARMED) {
        if (!sync_replace_ordered(&job->word, &word, word | JOB_LATE))
            continue;
        tkw_tick again =
            saturating_add(shard->target, 1 + LATE_AGAIN_NS / service->tick_ns);
        int error = shard_make_room(shard, job);
        TKW_ASSERT(error == 0); /* reserved by tkw__job_arm_again() */
        (void)error;
        intake_put(shard, timer->index, again);
        tkw__wakeup_lower(service, again);
        return;
    }
    if (word & JOB_GIVEN_UP)
        tkw__job_free(shard, job, timer->index);
    if ((word & JOB_ARMED) == 0)
        return; /* cancelled: if not given up, it will be reaped */
    if (word & JOB_REPEATS) {
        const struct job_plan *plan = plan_of(shard, job);
        __builtin_prefetch(plan, 1);
        __builtin_prefetch(&plan->older, 1);
    }
    shard->batch[shard->batch_count++] =
        (struct due_job){shard, job, word, timer->deadline, timer->index};
}

/* Fill the batch with jobs that are due.  Returns whether the pool may have
 * more. */
static bool fill_batch(struct tkw_service *service, struct shard *shard)
{
    struct taken_timer timers[TKW_BATCH];
    size_t count = tkw__pool_take_due(shard->pool, timers, TKW_BATCH);
    for (size_t i = 0; i < count; i++)
        batch_add(service, shard, &timers[i]);
    return count == TKW_BATCH;
}

/*
 * Advance the pool of a shard to `tick`, and fill the shard's batch.  If more
 * timers have to move on the way than MOVED_AT_ONCE, the pool stops in between,
 * and the shard is marked as behind: the pass serves it again after others.
 *
 * A pool that has arrived at the pass's tick is not advanced again in that
 * pass.  So tkw_pool_pop_due() keeps back jobs that callbacks of the pass arm
 * for now, and the next pass runs them.
 */
static void refill(struct tkw_service *service, struct shard *shard,
                   tkw_tick tick)
{
    shard->batch_at = 0;
    shard->batch_count = 0;
    shard_lock(shard);
    free_finished(shard);
    shard_reap(shard, TKW_REAPED);
    tkw__shard_file_intake(shard);
    shard->target = tick;
    shard->has_arrived =
        shard->has_arrived ||
        tkw_pool_advance_some(shard->pool, tick, MOVED_AT_ONCE);
    bool is_more = shard->has_arrived && fill_batch(service, shard);
    shard->next = tkw_pool_next(shard->pool);
    shard_unlock(shard);

    /* If all popped jobs were cancelled, more may be due. */
    shard->is_behind =
        !shard->has_arrived || (is_more && shard->batch_count == 0);
    if (shard->is_behind)
        sync_yield(); /* a thread that waits for the mutex goes first */
}

/* Return the shard of a crew that is behind, or else the one whose next job has
 * the earliest tick; NULL if all batches are empty.  Store in `*until` the
 * earliest tick of the other shards. */
static struct shard *first_shard(const struct crew *crew, tkw_tick *until)
{
    const struct tkw_service *service = crew->service;
    struct shard *first = NULL;
    tkw_tick earliest = TKW_NEVER;
    *until = TKW_NEVER;
    for (uint32_t i = 0; i < service->crew_shards; i++) {
        struct shard *shard = service->shards[crew->first_shard + i];
        if (shard->is_behind)
            return shard;
        if (shard->batch_at == shard->batch_count)
            continue;
        tkw_tick deadline = shard->batch[shard->batch_at].deadline;
        if (first == NULL || deadline < earliest) {
            *until = earliest;
            first = shard;
            earliest = deadline;
        } else if (deadline < *until) {
            *until = deadline;
        }
    }
    return first;
}

/* Advance a shard that still has jobs of an earlier pass in its batch.  So the
 * pass leaves jobs that its callbacks arm for now to the next pass. */
static void advance_unfinished(struct shard *shard, tkw_tick tick)
{
    shard_lock(shard);
    tkw__shard_file_intake(shard);
    shard->target = tick;
    shard->has_arrived =
        tkw_pool_advance_some(shard->pool, tick, MOVED_AT_ONCE);
    shard_unlock(shard);
}

/* Visit every shard once.  Relaxed: a thread that must see this write of
 * `earliest` locks a shard after the runner did. */
static void visit_all(struct tkw_service *service, tkw_tick tick)
{
    sync_put_relaxed(&service->earliest, TKW_NEVER);
    for (uint32_t i = 0; i < service->shard_count; i++) {
        struct shard *shard = service->shards[i];
        shard->has_arrived = false;
        if (shard->batch_at == shard->batch_count) {
            refill(service, shard, tick);
            continue;
        }
        advance_unfinished(shard, tick);
    }
}

/* Return a tick that has begun, so that the next pass begins at once: `tick`,
 * or 0 on a wall clock, which may have been set back behind `tick`. */
static tkw_tick at_once(const struct tkw_service *service, tkw_tick tick)
{
    return service->clock.is_wall ? 0 : tick;
}

/* Return the tick at which a shard needs its next visit.  If its crew has no
 * room, return TKW_NEVER for a crew of threads, which wake the runner when
 * there is room, and the next tick for submit(). */
static tkw_tick next_of(struct tkw_service *service, const struct shard *shard,
                        tkw_tick tick)
{
    if (shard->is_behind)
        return at_once(service, tick);
    if (shard->batch_at == shard->batch_count)
        return shard->next > tick ? shard->next : at_once(service, tick);
    if (!shard->crew->is_refusing)
        return at_once(service, tick);
    return shard->crew->threads != NULL ? TKW_NEVER : tick + 1;
}

/* The progress of a pass. */
struct pass {
    tkw_tick tick;   /* run jobs that are due by this tick */
    uint64_t clock;  /* the last reading of the clock; 0: too old */
    int count;       /* jobs run or handed over ... */
    int most;        /* ... and their limit */
    bool is_refused; /* submit() has refused: do not call it again */
};

/* Run the next job of a crew, or hand over some.  Returns false if no job is
 * due or the crew has no room. */
static bool serve(struct crew *crew, struct pass *pass)
{
    struct tkw_service *service = crew->service;
    tkw_tick until;
    if ((crew->is_submit && pass->is_refused) ||
        sync_get_ordered(&service->is_stopping))
        return false;
    struct shard *shard = first_shard(crew, &until);
    if (shard == NULL)
        return false;
    if (shard->is_behind) {
        refill(service, shard, pass->tick);
        pass->clock = 0;
        return true;
    }
    if (crew->is_direct) {
        const struct due_job due = shard->batch[shard->batch_at++];
        pass->count += tkw__job_fire(service, &due, &pass->clock);
    } else {
        const struct portion portion = {until, pass->most - pass->count};
        pass->clock = 0;
        if (!tkw__crew_hand_over(crew, shard, &portion, &pass->count)) {
            pass->is_refused |= crew->is_submit;
            return false;
        }
    }
    if (shard->batch_at == shard->batch_count) {
        refill(service, shard, pass->tick);
        pass->clock = 0;
    }
    return true;
}

/* Make a pass that runs or hands over at most `most` jobs.  Returns their
 * number. */
static int make_pass(struct tkw_service *service, int most)
{
    struct pass pass = {.most = most};
    uint64_t began;
    pass.tick = tkw__wall_read(service, &began) / service->tick_ns;
    visit_all(service, pass.tick);
    for (int i = 0; i < CREWS; i++) /* there may be room by now */
        sync_put_ordered(&service->crews[i].is_refusing, false);

    bool is_busy;
    do {
        is_busy = false;
        for (int i = 0; i < CREWS && pass.count < pass.most; i++)
            if (service->crews[i].service != NULL)
                is_busy |= serve(&service->crews[i], &pass);
    } while (is_busy && pass.count < pass.most);

    for (uint32_t i = 0; i < service->shard_count; i++)
        tkw__wakeup_lower(service,
                          next_of(service, service->shards[i], pass.tick));
    /* If a wall clock was set back during the pass, the ticks above may lie far
     * ahead of it.  The next pass begins at once and files all jobs anew. */
    if (service->clock.is_wall &&
        service->clock.now(service->clock.context) < began)
        tkw__wakeup_lower(service, 0);
    return pass.count;
}

/*
 * Begin a pass.  Returns false if another thread is making one.  Ordered:
 *
 *     tkw_service_stop()                 runner
 *     is_stopping = true                 is_active = true
 *     reads is_active, waits             reads is_stopping, runs nothing
 *
 * One of the two sees what the other wrote.
 */
static bool begin_pass(struct tkw_service *service)
{
    bool was_active = false;
    return sync_replace_ordered(&service->is_active, &was_active, true);
}

static void end_pass(struct tkw_service *service)
{
    sync_put_ordered(&service->is_active, false);
    tkw__wakeup_aim(service);
    if (sync_get_ordered(&service->is_stopping)) {
        service_lock(service);
        sync_broadcast(&service->quiet);
        service_unlock(service);
    }
}

void *tkw__service_drive(void *argument)
{
    struct tkw_service *service = argument;
    tkw__sync_be_punctual();
    if (service->thread_start != NULL)
        service->thread_start(service->context);
    while (!sync_get_relaxed(&service->is_stopping)) {
        begin_pass(service);
        make_pass(service, INT_MAX);
        end_pass(service);
        tkw__wakeup_sleep(service);
    }
    return NULL;
}

/* Make the descriptor unreadable, and return `answer`. */
static RARE int refuse_to_run(struct tkw_service *service, int answer)
{
    tkw__wakeup_mute(service);
    return answer;
}

int tkw_service_run(struct tkw_service *service, int budget)
{
    if (service->has_driver || budget < 0)
        return -EINVAL;
    if (frame_is_inside(service))
        return refuse_to_run(service, -EDEADLK);
    if (sync_get_relaxed(&service->is_stopping))
        return refuse_to_run(service, 0);
    if (!begin_pass(service))
        return refuse_to_run(service, -EBUSY);
    int count = make_pass(service, budget == 0 ? INT_MAX : budget);
    end_pass(service);
    sync_add_relaxed(&service->wakeups, 1);
    return count;
}
