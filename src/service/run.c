/*
 * service/run.c - the runner: the driver, or the caller of run().
 *
 * It runs callbacks, or hands them to crews that do.  A pass reads the clock
 * once to see what is due, visits every shard, and takes that from its pool, a
 * batch at a time; of the batches, the timer with the earliest tick is next,
 * so that ticks are in order over all shards of a crew.  Whatever is armed
 * meanwhile in a shard that has been visited is announced through `earliest`,
 * and run by a later pass: so a pass ends, whatever its callbacks arm.
 * After each callback the clock is read once more: a pass can be long, and how
 * late the next one is should be true.
 */
#include <tickwheel/service.h>

#include <errno.h>
#include <limits.h>

#include "os/probes.h"
#include "private.h"

enum { MOVED_AT_ONCE = 2048 }; /* timers that move while a shard is locked */

#define LATE_AGAIN_NS TKW_SECOND /* see batch_add() */

/*
 * File everything in a shard anew, a wall clock having been set back.  If there
 * is no memory for that, what comes too early is held back; see is_held(); but
 * not what a crew has already.  The pool does not sweep for memory here: that
 * would take its time for each of the timers, with the lock held.
 */
static void file_anew(struct tkw_service *service, struct shard *shard)
{
    sync_lock(&shard->mutex);
    for (uint32_t at = 0; at < shard->used; at++) {
        struct job *job = job_at(shard, at);
        uint64_t word = sync_get_acquire(&job->word);
        if ((word & JOB_ARMED) == 0)
            continue;
        if (!timer_is_waiting(shard, job) && !tkw__timer_is_room(shard, 1, 0))
            continue;
        tkw_tick deadline = tkw__service_tick_of(service, job->due_ns);
        if (tkw__timer_rearm(shard, job, deadline) == 0)
            tkw__job_arm_again(service, shard, job, word, deadline);
    }
    sync_unlock(&shard->mutex);
}

/* What the log hook does counts as done in a callback. */
static void tell_log(struct tkw_service *service, const char *message)
{
    if (service->log == NULL)
        return;
    struct frame frame;
    frame_enter(&frame, service, 0);
    service->log(service->context, message);
    frame_leave(&frame);
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
        *now = tkw__service_tell(service, read);
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

/* When by the clock a tick begins; UINT64_MAX if that is after the end of
 * time. */
static uint64_t time_of(struct tkw_service *service, tkw_tick tick)
{
    if (tick == TKW_NEVER || tick > UINT64_MAX / service->tick_ns)
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
        tkw__job_give_back(shard, job);
    }
}

/*
 * Put a timer that has left the pool into the batch.  If its callback is still
 * running it goes back into the pool, marked, and whoever runs it will hurry it
 * up; the time until then is for the case that there is no memory to do so.
 */
static void batch_add(struct tkw_service *service, struct shard *shard,
                      const struct tkw_shot *shot)
{
    struct job *job = shot->user.pointer;
    uint64_t word = sync_get_acquire(&job->word);
    while (word & JOB_RUNNING && word & JOB_ARMED) {
        if (!sync_replace_ordered(&job->word, &word, word | JOB_LATE))
            continue;
        tkw_tick again =
            saturating_add(shard->target, 1 + LATE_AGAIN_NS / service->tick_ns);
        int error = timer_arm(shard, job, again);
        TKW_ASSERT(error == 0); /* who armed it has seen to that */
        (void)error;
        tkw__service_lower(service, again);
        return;
    }
    if ((word & JOB_ARMED) == 0)
        return; /* cancelled, and to be reaped */
    if (word & JOB_REPEATS) {
        const struct extra *extra = extra_of(shard, job);
        __builtin_prefetch(extra, 1);
        __builtin_prefetch(&extra->older, 1);
    }
    shard->batch[shard->batch_count++] =
        (struct due){shard, job, word, shot->deadline};
}

/* Take a batch of what is due out of a pool, all jobs being prefetched before
 * the first is looked at.  Returns whether there may be more. */
static bool take_many(struct tkw_service *service, struct shard *shard)
{
    struct tkw_shot shots[TKW_BATCH];
    size_t count = tkw_pool_pop_due(shard->pool, shots, TKW_BATCH);
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch(shots[i].user.pointer, 1);
    for (size_t i = 0; i < count; i++)
        batch_add(service, shard, &shots[i]);
    return count == TKW_BATCH;
}

/*
 * The same one by one.  On a wall clock there are timers whose time has not
 * come: those that were armed between its being set back and our seeing it.
 * They go back into the pool if there is memory, or are held in the batch.
 */
static void take_by_wall(struct tkw_service *service, struct shard *shard,
                         uint64_t now)
{
    while (shard->batch_count < TKW_BATCH) {
        struct tkw_shot shot;
        if (tkw_pool_pop_due(shard->pool, &shot, 1) == 0)
            break;
        struct job *job = shot.user.pointer;
        if (job->due_ns <= now || !tkw__timer_is_room(shard, 1, 0))
            batch_add(service, shard, &shot);
        else
            tkw_pool_arm(shard->pool, &job->timer,
                         tkw__service_tick_of(service, job->due_ns), shot.user);
    }
}

/* A later time is taken; that the clock went back is for see_step(). */
static void look_again(struct tkw_service *service, uint64_t *now)
{
    uint64_t read = service->clock.now(service->clock.context);
    if (read > *now)
        *now = read;
}

/*
 * Advance a shard and fill its batch; on a wall clock, by the latest time.  If
 * that is a long way it is gone in part, and the shard is left behind: it comes
 * again, when others had their turn.
 *
 * A shard that has arrived at the pass's tick is not advanced again in that
 * pass.  So the pool keeps back what callbacks of the pass arm for now: the
 * next pass runs it, after all other shards were visited.
 */
static void refill(struct tkw_service *service, struct shard *shard,
                   tkw_tick tick, uint64_t *now)
{
    bool is_wall = service->clock.is_wall;
    shard->batch_at = 0;
    shard->batch_count = 0;
    sync_lock(&shard->mutex);
    give_back_finished(shard);
    shard_reap(shard, TKW_REAPED);
    tkw__timer_file_all(shard);
    shard->target = tick;
    shard->has_arrived =
        shard->has_arrived ||
        tkw_pool_advance_some(shard->pool, tick, MOVED_AT_ONCE);
    bool is_more = false;
    if (is_wall)
        look_again(service, now);
    if (shard->has_arrived && is_wall)
        take_by_wall(service, shard, *now);
    else if (shard->has_arrived)
        is_more = take_many(service, shard);
    shard->next = tkw_pool_next(shard->pool);
    sync_unlock(&shard->mutex);

    /* All that was taken may have been cancelled, and there be more. */
    shard->is_behind =
        !shard->has_arrived || (is_more && shard->batch_count == 0);
    if (shard->is_behind)
        sync_yield(); /* whoever waits for the lock goes first */
}

/* Is the first timer of a batch to wait, and the shard with it? */
static bool is_held(const struct tkw_service *service,
                    const struct shard *shard, uint64_t now)
{
    return due_is_held(service, &shard->batch[shard->batch_at], now);
}

/* The shard of a crew that is behind, or whose next timer has the earliest
 * tick; NULL if there is none.  No other one has an earlier tick than
 * `*until`. */
static struct shard *first_shard(const struct crew *crew, uint64_t now,
                                 tkw_tick *until)
{
    const struct tkw_service *service = crew->service;
    struct shard *first = NULL;
    tkw_tick earliest = TKW_NEVER;
    *until = TKW_NEVER;
    for (uint32_t i = 0; i < service->crew_shards; i++) {
        struct shard *shard = service->shards[crew->first_shard + i];
        if (shard->is_behind)
            return shard;
        if (shard->batch_at == shard->batch_count ||
            is_held(service, shard, now))
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

/* Try again to file anew what is held, and what is held up by it. */
static void file_held(struct tkw_service *service, struct shard *shard)
{
    sync_lock(&shard->mutex);
    for (uint32_t i = shard->batch_at; i < shard->batch_count; i++) {
        const struct due *due = &shard->batch[i];
        if (sync_get_acquire(&due->job->word) == due->word)
            tkw__job_arm_again(service, shard, due->job, due->word,
                               tkw__service_tick_of(service, due->job->due_ns));
    }
    sync_unlock(&shard->mutex);
}

/* Advance a shard whose batch an earlier pass has left: what its callbacks arm
 * for now is for the next pass. */
static void advance_rest(struct shard *shard, tkw_tick tick)
{
    sync_lock(&shard->mutex);
    tkw__timer_file_all(shard);
    shard->target = tick;
    shard->has_arrived =
        tkw_pool_advance_some(shard->pool, tick, MOVED_AT_ONCE);
    sync_unlock(&shard->mutex);
}

/* Visit every shard once.  Relaxed: whoever is to see that `earliest` is new
 * locks a shard after we did. */
static void visit_all(struct tkw_service *service, tkw_tick tick, uint64_t *now)
{
    sync_put_relaxed(&service->earliest, TKW_NEVER);
    for (uint32_t i = 0; i < service->shard_count; i++) {
        struct shard *shard = service->shards[i];
        shard->has_arrived = false;
        if (shard->batch_at == shard->batch_count) {
            refill(service, shard, tick, now);
            continue;
        }
        if (is_held(service, shard, *now))
            file_held(service, shard);
        advance_rest(shard, tick);
    }
}

/* A tick that has begun, to be visited at once.  That of now would not do where
 * a wall clock may have been set back behind it. */
static tkw_tick at_once(const struct tkw_service *service, tkw_tick tick)
{
    return service->clock.is_wall ? 0 : tick;
}

/* When a shard needs to be visited next; what is held, with every tick; what
 * there is no room for, when there is. */
static tkw_tick next_of(struct tkw_service *service, const struct shard *shard,
                        tkw_tick tick, uint64_t now)
{
    if (shard->is_behind)
        return at_once(service, tick);
    if (shard->batch_at == shard->batch_count)
        return shard->next > tick ? shard->next : at_once(service, tick);
    if (is_held(service, shard, now))
        return tick + 1;
    if (!shard->crew->is_refusing)
        return at_once(service, tick);
    return shard->crew->threads != NULL ? TKW_NEVER : tick + 1;
}

/* A pass, as far as it is. */
struct pass {
    tkw_tick tick;   /* what is due by then is to run */
    uint64_t now;    /* the same on a wall clock */
    uint64_t clock;  /* what it said last, if that is known, else 0 */
    int count;       /* callbacks that were run or handed over ... */
    int most;        /* ... and how many may be */
    bool is_refused; /* a job was; there is no use in asking again */
    bool is_over;    /* a wall clock was set back: see see_step() */
};

/*
 * Look whether a wall clock was set back since the pass began.  Then what its
 * time has not come for is not due any more; nothing more is taken from the
 * pools, and the next pass, which is to follow at once, files it anew.
 */
static void see_step(const struct tkw_service *service, struct pass *pass)
{
    if (pass->clock == 0)
        pass->clock = service->clock.now(service->clock.context);
    if (pass->clock < pass->now)
        pass->is_over = true;
    pass->now = pass->clock;
}

/* The shard to be served next; NULL if there is none. */
static struct shard *choose_shard(const struct crew *crew, struct pass *pass,
                                  tkw_tick *until)
{
    const struct tkw_service *service = crew->service;
    struct shard *shard = first_shard(crew, pass->now, until);
    if (shard == NULL || !service->clock.is_wall)
        return shard;
    see_step(service, pass);
    if (!pass->is_over)
        return shard;
    shard = first_shard(crew, pass->now, until);
    return shard != NULL && !shard->is_behind ? shard : NULL;
}

/* Run the next timer of a crew, or hand over some.  Returns whether there was
 * anything to do and could be done. */
static bool serve(struct crew *crew, struct pass *pass)
{
    struct tkw_service *service = crew->service;
    tkw_tick until;
    if ((crew->is_submit && pass->is_refused) ||
        sync_get_ordered(&service->is_stopping))
        return false;
    struct shard *shard = choose_shard(crew, pass, &until);
    if (shard == NULL)
        return false;
    if (shard->is_behind) {
        refill(service, shard, pass->tick, &pass->now);
        pass->clock = 0;
        return true;
    }
    if (crew->is_direct) {
        const struct due due = shard->batch[shard->batch_at++];
        pass->count += tkw__job_fire(service, &due, &pass->clock);
    } else {
        const struct portion portion = {until, pass->now,
                                        pass->most - pass->count};
        pass->clock = 0;
        if (!tkw__crew_hand_over(crew, shard, &portion, &pass->count)) {
            pass->is_refused = crew->is_submit;
            return false;
        }
    }
    if (shard->batch_at == shard->batch_count && !pass->is_over) {
        refill(service, shard, pass->tick, &pass->now);
        pass->clock = 0;
    }
    return true;
}

/* Run what is due, at most so many.  Returns how many were run. */
static int make_pass(struct tkw_service *service, int most)
{
    struct pass pass = {.most = most};
    pass.tick = see_clock(service, &pass.now) / service->tick_ns;
    visit_all(service, pass.tick, &pass.now);
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
        tkw__service_lower(
            service, next_of(service, service->shards[i], pass.tick, pass.now));
    /* After a refusal next_of() asks for the tick after this pass's.  If a wall
     * clock was set back meanwhile, that tick lies too far ahead. */
    if (pass.is_refused && service->clock.is_wall) {
        pass.clock = 0;
        see_step(service, &pass);
    }
    if (pass.is_over)
        tkw__service_lower(service, 0); /* at once */
    return pass.count;
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
    tkw__service_point_fd(service);
    if (sync_get_ordered(&service->is_stopping)) {
        sync_lock(&service->mutex);
        sync_broadcast(&service->quiet);
        sync_unlock(&service->mutex);
    }
}

/* Sleep, unless the time has come: a wait that ends at once takes many times as
 * long as a pass. */
static void sleep_until(struct tkw_service *service, uint64_t time)
{
    if (time != UINT64_MAX && /* never, even at the end of time */
        time <= service->clock.now(service->clock.context))
        return;
    PROBE2(sleep, service, time);
    service->clock.wait_until(service->clock.context, time);
    PROBE1(wake, service);
}

void *tkw__service_drive(void *argument)
{
    struct tkw_service *service = argument;
    tkw__sync_be_punctual();
    if (service->thread_start != NULL)
        service->thread_start(service->context);
    while (!sync_get_relaxed(&service->is_stopping)) {
        enter(service);
        make_pass(service, INT_MAX);
        leave(service);

        /* Ordered: see tkw__service_wake(). */
        sync_put_ordered(&service->is_asleep, true);
        tkw_tick tick = sync_get_ordered(&service->earliest);
        if (!sync_get_ordered(&service->is_stopping))
            sleep_until(service, time_of(service, tick));
        sync_put_relaxed(&service->is_asleep, false);
        sync_add_relaxed(&service->wakeups, 1);
    }
    return NULL;
}

/*
 * Aim the descriptor, with the service's mutex.  A descriptor that is readable
 * because its time has come stays as it is if the new time has come, too: it
 * saves a system call for each pass.  (Not on a wall clock: that may have been
 * set back.)
 */
static void aim_fd(struct tkw_service *service, uint64_t time)
{
    if (!service->clock.is_wall && time != UINT64_MAX) {
        uint64_t now = service->clock.now(service->clock.context);
        if (time <= now && service->aimed_ns <= now)
            return;
    }
    service->aimed_ns = time;
    service->clock.aim(service->clock.context, time);
}

/*
 * Who may not run now need not be told again and again that he should: a loop
 * inside a callback, or in another thread, or of a service that was stopped.
 * With the mutex: who runs aims anew after he has said that he does not any
 * more, and at never once it is stopped.
 */
static RARE int refuse_to_run(struct tkw_service *service, int answer)
{
    if (sync_get_ordered(&service->has_fd)) {
        sync_lock(&service->mutex);
        if (sync_get_ordered(&service->is_active) ||
            sync_get_ordered(&service->is_stopping))
            aim_fd(service, UINT64_MAX);
        sync_unlock(&service->mutex);
    }
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
    if (!enter(service))
        return refuse_to_run(service, -EBUSY);
    int count = make_pass(service, budget == 0 ? INT_MAX : budget);
    leave(service);
    sync_add_relaxed(&service->wakeups, 1);
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

int tkw_service_poll_timeout(struct tkw_service *service)
{
    uint64_t next = tkw_service_next(service);
    if (next == UINT64_MAX)
        return -1;
    uint64_t now = tkw_service_now(service);
    uint64_t left = next > now ? next - now : 0;
    uint64_t ms = left / TKW_MILLISECOND + (left % TKW_MILLISECOND != 0);
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

/*
 * Have the descriptor, if it is in use, readable when run is to be called
 * next. While somebody is at running there is no need to: he will do it.
 * Ordered: who arms says for when, then looks whether anybody runs; who has
 * run says that he does not any more, then looks for when.
 */
void tkw__service_point_fd(struct tkw_service *service)
{
    if (!sync_get_ordered(&service->has_fd) ||
        sync_get_ordered(&service->is_active))
        return;
    /* With the mutex: the last who aims is the last who looked. */
    sync_lock(&service->mutex);
    tkw_tick earliest = sync_get_ordered(&service->earliest);
    if (sync_get_ordered(&service->is_stopping))
        earliest = TKW_NEVER;
    aim_fd(service, time_of(service, earliest));
    sync_unlock(&service->mutex);
}

int tkw_service_fd(struct tkw_service *service)
{
    if (service->has_driver)
        return -EINVAL;
    if (service->clock.fd == NULL)
        return -ENOTSUP;
    sync_lock(&service->mutex);
    int fd = service->clock.fd(service->clock.context);
    sync_unlock(&service->mutex);
    if (fd >= 0) {
        sync_put_ordered(&service->has_fd, true);
        tkw__service_point_fd(service);
    }
    return fd;
}
