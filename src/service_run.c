/*
 * service_run.c - who runs the callbacks: the driver, or the caller of run().
 *
 * A pass reads the clock once to see what is due, visits every shard, and takes
 * that from its pool, a batch at a time; of the batches, the timer with the
 * earliest tick is run next, so that ticks are in order over all shards.
 * Whatever is armed meanwhile in a shard that has been visited is announced
 * through `earliest`.  For each callback the clock is read once more: a pass
 * can be long, and how late a timer is should be true.
 */
#include <tickwheel/service.h>

#include <errno.h>
#include <limits.h>

#include "service_inner.h"

enum {
    MOVED_AT_ONCE = 2048, /* timers that move while a shard is locked */
    REAPED_AT_ONCE = 256,
};

/* File everything in a shard anew, a wall clock having been set back.  If there
 * is no memory for that, what comes too early is held back; see is_held(). */
static void file_anew(struct tkw_service *service, struct shard *shard)
{
    sync_lock(&shard->mutex);
    for (uint32_t at = 0; at < shard->used; at++) {
        struct job *job = job_at(shard, at);
        uint64_t word = sync_get_acquire(&job->word);
        if ((word & JOB_ARMED) == 0)
            continue;
        tkw_tick deadline = service_tick_of(service, job->due_ns);
        if (timer_rearm(shard, job, deadline) == 0)
            job_arm_again(service, shard, job, word, deadline);
    }
    sync_unlock(&shard->mutex);
}

/* What the log hook does counts as done in a callback. */
static void tell_log(struct tkw_service *service, const char *message)
{
    if (service->log == NULL)
        return;
    struct sync_self *self = sync_self();
    struct sync_frame frame = {.service = service, .outer = self->inside};
    self->inside = &frame;
    service->log(service->context, message);
    self->inside = frame.outer;
}

/*
 * Read the clock.  Returns the time as the pools are to see it, which never
 * goes back; `*now` is what a wall clock says.
 */
static uint64_t see_clock(struct tkw_service *service, uint64_t *now)
{
    uint64_t read = service->clock.now(service->clock.context);
    if (read < service->read_ns) {
        sync_add_relaxed(&service->steps_back, 1);
        tell_log(service, "the clock went back");
    }
    service->read_ns = read;
    if (!service->clock.is_wall) {
        *now = service_tell(service, read);
        return *now;
    }

    *now = read;
    uint64_t shift = sync_get_relaxed(&service->shift_ns); /* ours alone */
    uint64_t time = saturating_add(read, shift);
    if (time < service->shown_ns) {
        shift += service->shown_ns - time;
        sync_put_relaxed(&service->shift_ns, shift);
        for (uint32_t i = 0; i < service->shard_count; i++)
            file_anew(service, service->shards[i]);
        return service->shown_ns;
    }
    service->shown_ns = time;
    return time;
}

/* When by the clock a tick begins. */
static uint64_t time_of(struct tkw_service *service, tkw_tick tick)
{
    if (tick > UINT64_MAX / service->tick_ns)
        return UINT64_MAX;
    uint64_t time = tick * service->tick_ns;
    uint64_t shift = sync_get_relaxed(&service->shift_ns);
    return time > shift ? time - shift : 0;
}

/* Let go of the jobs that have run. */
static void give_back_finished(struct shard *shard)
{
    while (shard->finished != 0) {
        struct job *job = job_at(shard, shard->finished - 1);
        shard->finished = job->next;
        /* It was armed again, then cancelled. */
        if (sync_get_relaxed(&job->word) & JOB_CANCELLED)
            timer_cancel(shard, job);
        job_give_back(shard, job);
    }
}

/* Put a timer that has left the pool into the batch. */
static void batch_add(struct shard *shard, const struct tkw_shot *shot)
{
    struct job *job = shot->user.pointer;
    uint64_t word = sync_get_acquire(&job->word);
    if (word & JOB_ARMED) /* otherwise cancelled, and to be reaped */
        shard->batch[shard->batch_count++] =
            (struct due){job, word, shot->deadline};
}

/* Take what is due out of a pool, all jobs being sent for before the first is
 * looked at. */
static void take_many(struct shard *shard)
{
    struct tkw_shot shots[TKW_BATCH];
    size_t count = tkw_pool_pop_many(shard->pool, shots, TKW_BATCH);
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(shots[i].user.pointer, 1);
    for (size_t i = 0; i < count; i++)
        batch_add(shard, &shots[i]);
    shard->next = tkw_pool_next(shard->pool);
}

/*
 * The same one by one.  On a wall clock there are timers whose time has not
 * come: those that were armed between its being set back and our seeing it.
 * They go back into the pool, for which there must be memory.
 */
static void take_by_wall(struct tkw_service *service, struct shard *shard,
                         uint64_t now)
{
    while (shard->batch_count < TKW_BATCH) {
        struct tkw_shot shot;
        if (tkw_pool_reserve(shard->pool, 1) != 0) {
            shard->next = tkw_pool_now(shard->pool) + 1;
            return;
        }
        if (!tkw_pool_pop(shard->pool, &shot))
            break;
        struct job *job = shot.user.pointer;
        if (job->due_ns <= now) {
            batch_add(shard, &shot);
            continue;
        }
        job->deadline = service_tick_of(service, job->due_ns);
        tkw_pool_arm(shard->pool, &job->timer, job->deadline, shot.user);
    }
    shard->next = tkw_pool_next(shard->pool);
}

/* A later time is taken; that the clock went back, the next pass will see. */
static void look_again(struct tkw_service *service, uint64_t *now)
{
    uint64_t read = service->clock.now(service->clock.context);
    if (read > *now)
        *now = read;
}

/* Advance a shard and fill its batch; on a wall clock, by the latest time. */
static void refill(struct tkw_service *service, struct shard *shard,
                   tkw_tick tick, uint64_t *now)
{
    bool is_there;
    bool is_wall = service->clock.is_wall;
    shard->batch_at = 0;
    shard->batch_count = 0;
    for (;;) {
        sync_lock(&shard->mutex);
        give_back_finished(shard);
        shard_reap(shard, REAPED_AT_ONCE);
        timer_file_all(shard);
        shard->target = tick;
        is_there = tkw_pool_advance_some(shard->pool, tick, MOVED_AT_ONCE);
        if (is_wall)
            look_again(service, now);
        if (is_there && is_wall)
            take_by_wall(service, shard, *now);
        else if (is_there)
            take_many(shard);
        sync_unlock(&shard->mutex);
        if (is_there || sync_get_ordered(&service->is_stopping))
            return;
        sync_yield(); /* a long way: whoever waits for the lock goes first */
    }
}

/* The callback has returned, and is armed again or not. */
static void end_job(struct tkw_service *service, struct shard *shard,
                    struct job *job)
{
    bool is_dropped = false;
    uint64_t after;
    uint64_t word = sync_get_acquire(&job->word);
    do {
        after = word & (JOB_GENERATION | JOB_EPOCHS);
        if (word & JOB_DROP) {
            /* While it counts as running: who waits may free the argument. */
            if (!is_dropped && job->drop != NULL)
                job->drop(job->argument);
            is_dropped = true;
            after |= JOB_CANCELLED;
        } else {
            after |= word & JOB_ARMED;
        }
    } while (!sync_replace_ordered(&job->word, &word, after));

    if (word & JOB_WAITED) {
        sync_lock(&service->mutex);
        sync_broadcast(&service->ended);
        sync_unlock(&service->mutex);
    }
    if ((word & JOB_ARMED) == 0) {
        job->next = shard->finished;
        shard->finished = job->index + 1;
    }
}

/* Run the first timer of a batch, if it is still to be run. */
static bool run_first(struct tkw_service *service, struct shard *shard)
{
    struct due due = shard->batch[shard->batch_at++];
    struct job *job = due.job;
    uint64_t running = (due.word & (JOB_GENERATION | JOB_EPOCHS)) | JOB_RUNNING;
    /* Before it can be armed again, for another time. */
    uint64_t due_ns = sync_get_relaxed(&job->due_ns);
    /* Against cancel, and against arming again. */
    if (!sync_replace_ordered(&job->word, &due.word, running))
        return false;

    /* Before the callback: who sees what it did finds it counted. */
    sync_put_relaxed(&shard->fired, shard->fired + 1);
    count_out(service);
    /* Its time has come, even if a wall clock was set back just now. */
    uint64_t now = tkw_service_now(service);
    struct tkw_firing firing = {
        .service = service,
        .handle = job_handle(shard, job, running),
        .due_ns = due_ns,
        .now_ns = now > due_ns ? now : due_ns,
    };
    struct sync_self *self = sync_self();
    struct sync_frame frame = {service, firing.handle, self->inside};
    self->inside = &frame;
    job->callback(job->argument, &firing);
    end_job(service, shard, job); /* which may drop, and that may stop */
    self->inside = frame.outer;
    return true;
}

/*
 * Is the first timer of a batch to wait, and the shard with it?  It is if it
 * was taken before a wall clock was set back, and there was no memory to file
 * it anew.
 */
static bool is_held(const struct tkw_service *service,
                    const struct shard *shard, uint64_t now)
{
    if (!service->clock.is_wall)
        return false;
    const struct due *due = &shard->batch[shard->batch_at];
    uint64_t word = sync_get_acquire(&due->job->word);
    return word == due->word && sync_get_relaxed(&due->job->due_ns) > now;
}

/* The shard whose next timer has the earliest tick; NULL if there is none. */
static struct shard *first_shard(const struct tkw_service *service,
                                 uint64_t now)
{
    struct shard *first = NULL;
    tkw_tick earliest = TKW_NEVER;
    for (uint32_t i = 0; i < service->shard_count; i++) {
        struct shard *shard = service->shards[i];
        if (shard->batch_at == shard->batch_count ||
            is_held(service, shard, now))
            continue;
        tkw_tick deadline = shard->batch[shard->batch_at].deadline;
        if (first == NULL || deadline < earliest) {
            first = shard;
            earliest = deadline;
        }
    }
    return first;
}

/* Try again to file anew what is held, and what is held up by it. */
static void file_held(struct tkw_service *service, struct shard *shard)
{
    sync_lock(&shard->mutex);
    for (uint32_t i = shard->batch_at; i < shard->batch_count; i++) {
        const struct due *due = &shard->batch[i];
        if (sync_get_acquire(&due->job->word) == due->word)
            job_arm_again(service, shard, due->job, due->word,
                          service_tick_of(service, due->job->due_ns));
    }
    sync_unlock(&shard->mutex);
}

/* Visit every shard once.  Relaxed: whoever is to see that `earliest` is new
 * locks a shard after we did. */
static void visit_all(struct tkw_service *service, tkw_tick tick, uint64_t *now)
{
    sync_put_relaxed(&service->earliest, TKW_NEVER);
    for (uint32_t i = 0; i < service->shard_count; i++) {
        struct shard *shard = service->shards[i];
        if (shard->batch_at == shard->batch_count)
            refill(service, shard, tick, now);
        else if (is_held(service, shard, *now))
            file_held(service, shard);
    }
}

/* When a shard needs to be visited next; what is held, with every tick. */
static tkw_tick next_of(struct tkw_service *service, const struct shard *shard,
                        tkw_tick tick, uint64_t now)
{
    if (shard->batch_at == shard->batch_count)
        return shard->next;
    return is_held(service, shard, now) ? tick + 1 : tick;
}

/* Run what is due, at most so many.  Returns how many were run. */
static int pass(struct tkw_service *service, int most)
{
    uint64_t now;
    tkw_tick tick = see_clock(service, &now) / service->tick_ns;
    visit_all(service, tick, &now);

    int count = 0;
    struct shard *shard;
    while (count < most && (shard = first_shard(service, now)) != NULL &&
           !sync_get_ordered(&service->is_stopping)) {
        count += run_first(service, shard);
        if (shard->batch_at == shard->batch_count)
            refill(service, shard, tick, &now);
    }

    for (uint32_t i = 0; i < service->shard_count; i++)
        service_lower(service, next_of(service, service->shards[i], tick, now));
    return count;
}

/*
 * Only one at a time runs callbacks.  Ordered: stop says that it stops, then
 * looks whether somebody is at it; we say that we are, then look whether to
 * stop.  One sees the other.
 */
static bool enter(struct tkw_service *service)
{
    bool was_active = false;
    return sync_replace_ordered(&service->is_active, &was_active, true);
}

static void leave(struct tkw_service *service)
{
    sync_put_ordered(&service->is_active, false);
    if (sync_get_ordered(&service->is_stopping)) {
        sync_lock(&service->mutex);
        sync_broadcast(&service->quiet);
        sync_unlock(&service->mutex);
    }
}

void *service_drive(void *argument)
{
    struct tkw_service *service = argument;
    sync_be_punctual();
    if (service->thread_start != NULL)
        service->thread_start(service->context);
    while (!sync_get_relaxed(&service->is_stopping)) {
        enter(service);
        pass(service, INT_MAX);
        leave(service);

        /* Ordered: see call_driver(). */
        sync_put_ordered(&service->is_asleep, true);
        tkw_tick tick = sync_get_ordered(&service->earliest);
        if (!sync_get_ordered(&service->is_stopping))
            service->clock.wait_until(service->clock.context,
                                      time_of(service, tick));
        sync_put_relaxed(&service->is_asleep, false);
        sync_add_relaxed(&service->wakeups, 1);
    }
    return NULL;
}

int tkw_service_run(struct tkw_service *service, int budget)
{
    if (service->has_driver || budget < 0)
        return -EINVAL;
    if (is_in_callback(service))
        return -EDEADLK;
    if (sync_get_relaxed(&service->is_stopping))
        return 0;
    if (!enter(service))
        return -EBUSY;
    int count = pass(service, budget == 0 ? INT_MAX : budget);
    leave(service);
    return count;
}

uint64_t tkw_service_next(struct tkw_service *service)
{
    if (sync_get_relaxed(&service->is_stopping))
        return UINT64_MAX;
    /* While somebody runs callbacks nobody knows, until all is visited. */
    if (sync_get_ordered(&service->is_active))
        return tkw_service_now(service);
    return time_of(service, sync_get_ordered(&service->earliest));
}
