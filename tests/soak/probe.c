/*
 * probe.c - a timer's callback, drop and next functions: each looks whether it
 * may be called at all, here and now.
 */
#include "scene.h"

#include <errno.h>
#include <inttypes.h>

#include "watch.h"

/* Callbacks that the calling thread is in. */
static _Thread_local unsigned depth;

#define FORMAT "%s, timer %" PRIu32 ": "
#define ARGUMENTS(probe) kind_name((probe)->scene->kind), (probe)->number

/* What the next call is not due before: `floor`, or so much more than it was;
 * if nobody is about to move the timer, see ops_move.c. */
static void raise_floor(struct probe *probe, uint64_t floor, uint64_t more)
{
    pthread_mutex_t *stripe = &probe->scene->stripes[probe->number % STRIPES];
    if (probe->mover == MOVED_BY_ALL || pthread_mutex_trylock(stripe) != 0)
        return;
    if (more != 0)
        floor = atomic_load(&probe->floor) + more;
    atomic_store(&probe->floor, floor);
    pthread_mutex_unlock(stripe);
}

/* It is not early: by the clock, and by what was asked for.  Of a wall clock it
 * is known only how far it can have been set back. */
static void check_time(struct probe *probe, const struct tkw_firing *firing)
{
    struct scene *scene = probe->scene;
    uint64_t due = firing->due_ns;
    DEMAND(firing->now_ns >= due,
           FORMAT "called at %" PRIu64 " for %" PRIu64 ": early",
           ARGUMENTS(probe), firing->now_ns, due);
    uint64_t now = tkw_service_now(scene->service);
    if (scene->is_on_wall && scene->kind == KIND_WALL)
        now = monotonic_ns() + STEPPED_LEAST + STEPPED_RANGE;
    if (!scene->is_on_wall || scene->kind == KIND_WALL)
        DEMAND(now >= due,
               FORMAT "the clock shows %" PRIu64 ", it was due at %" PRIu64
                      ": early",
               ARGUMENTS(probe), now, due);
    uint64_t floor = atomic_load(&probe->floor);
    DEMAND(due >= floor,
           FORMAT "due at %" PRIu64 ", asked for %" PRIu64
                  " or later (call %u, period %" PRIu64 ", %u moves)",
           ARGUMENTS(probe), due, floor, atomic_load(&probe->started),
           probe->period_ns, atomic_load(&probe->moved));
    DEMAND(probe->repeats || firing->overruns == 0,
           FORMAT "overruns of a timer that does not repeat", ARGUMENTS(probe));

    uint64_t late = firing->now_ns - due;
    uint64_t most = atomic_load(&tally.late_max_ns);
    if (!scene->is_on_wall && scene->kind != KIND_STEPPED && !probe->repeats &&
        late > most)
        atomic_compare_exchange_strong(&tally.late_max_ns, &most, late);

    /* The next call is due a period later. */
    if (probe->period_ns != 0)
        raise_floor(probe, 0, probe->period_ns);
}

/* Where it runs, and with how many others there. */
static void check_place(struct probe *probe)
{
    struct scene *scene = probe->scene;
    bool is_job = crew_is_at_job();
    DEMAND(is_job == (probe->executor == TKW_BY_SUBMIT),
           FORMAT "run by the wrong executor", ARGUMENTS(probe));
    unsigned beside = atomic_fetch_add(&scene->running[probe->executor], 1);
    if (probe->executor == TKW_ON_DRIVER)
        DEMAND(beside == 0, FORMAT "two callbacks at once on the driver",
               ARGUMENTS(probe));
    if (probe->executor == TKW_ON_WORKERS)
        DEMAND(beside < scene->config.workers,
               FORMAT "more callbacks at once than workers", ARGUMENTS(probe));
}

/* Returns which call of the probe it is, from 1. */
static unsigned enter(struct probe *probe, const struct tkw_firing *firing)
{
    struct scene *scene = probe->scene;
    DEMAND(!atomic_exchange(&probe->is_running, true),
           FORMAT "runs twice at the same time", ARGUMENTS(probe));
    unsigned call = atomic_fetch_add(&probe->started, 1) + 1;
    DEMAND(!atomic_load(&scene->has_stopped),
           FORMAT "a callback starts after stop has returned",
           ARGUMENTS(probe));
    DEMAND(!atomic_load(&probe->is_over),
           FORMAT "runs after a cancel that said it would not",
           ARGUMENTS(probe));
    DEMAND(call <= atomic_load(&probe->calls_max),
           FORMAT "runs again, call %u, after a cancel that found it running",
           ARGUMENTS(probe), call);
    DEMAND(atomic_load(&probe->dropped) == 0, FORMAT "runs after its drop",
           ARGUMENTS(probe));
    DEMAND(firing->service == scene->service, FORMAT "of another service",
           ARGUMENTS(probe));
    tkw_handle handle = atomic_load(&probe->handle);
    DEMAND(handle == 0 || handle == firing->handle, FORMAT "of another handle",
           ARGUMENTS(probe));
    check_place(probe);
    check_time(probe, firing);
    if (call == 1)
        atomic_store(&probe->first_due, firing->due_ns);
    tally_add(&tally.callbacks, 1);
    return call;
}

static void leave(struct probe *probe)
{
    struct scene *scene = probe->scene;
    DEMAND(!atomic_load(&probe->is_over),
           FORMAT "still runs after a cancel that said it does not",
           ARGUMENTS(probe));
    DEMAND(atomic_load(&probe->dropped) == 0, FORMAT "dropped while it runs",
           ARGUMENTS(probe));
    atomic_store(&probe->where, NULL);
    atomic_fetch_sub(&scene->running[probe->executor], 1);
    atomic_store(&probe->is_running, false);
}

void probe_call(void *argument, const struct tkw_firing *firing)
{
    struct probe *probe = argument;
    struct scene *scene = probe->scene;
    atomic_fetch_add(&scene->inside, 1);
    unsigned call = enter(probe, firing);
    depth++;
    if (depth > 1)
        tally_add(&tally.nested, 1);
    probe_act(probe, firing->handle, call, depth);
    depth--;
    leave(probe);
    atomic_fetch_sub(&scene->inside, 1);
}

void probe_drop(void *argument)
{
    struct probe *probe = argument;
    DEMAND(atomic_fetch_add(&probe->dropped, 1) == 0, FORMAT "dropped twice",
           ARGUMENTS(probe));
    DEMAND(!atomic_load(&probe->is_running), FORMAT "dropped while it runs",
           ARGUMENTS(probe));
    if (probe->repeats)
        atomic_fetch_sub(&probe->scene->repeating, 1);
    tally_add(&tally.dropped, 1);
}

uint64_t probe_next(void *argument, uint64_t due_ns, uint64_t now_ns)
{
    struct probe *probe = argument;
    unsigned call = atomic_load(&probe->started);
    /* If others may arm it meanwhile, the time may be that of their arming. */
    DEMAND(now_ns >= due_ns || probe->mover == MOVED_BY_ALL,
           FORMAT "next of a call that was early", ARGUMENTS(probe));
    DEMAND(!atomic_load(&probe->is_running),
           FORMAT "next before the callback has returned", ARGUMENTS(probe));
    DEMAND(atomic_load(&probe->dropped) == 0, FORMAT "next after its drop",
           ARGUMENTS(probe));
    DEMAND(probe->revived_in != call && !atomic_load(&probe->has_ended_itself),
           FORMAT "next of what its callback has armed or cancelled",
           ARGUMENTS(probe));
    if (call >= probe->lives) {
        /* Others may have armed it just before this is heard. */
        if (probe->mover != MOVED_BY_ALL) {
            atomic_store(&probe->has_ended_itself, true);
            atomic_store(&probe->calls_max, call);
        }
        atomic_store(&probe->has_said_never, true);
        return UINT64_MAX;
    }
    /* Now and then one that has passed. */
    struct random random = {due_ns};
    uint64_t time = due_ns + random_log(&random, 25);
    raise_floor(probe, time, 0);
    return time;
}

/* Whoever asks now finds it over, for good. */
void probe_set_over(struct probe *probe)
{
    atomic_store(&probe->is_over, true);
    DEMAND(!atomic_load(&probe->is_running),
           FORMAT "runs after a cancel that said it does not",
           ARGUMENTS(probe));
}

/* It may be running now; no further call starts. */
void probe_runs_no_more(struct probe *probe)
{
    /* One may have been claimed whose first line is yet to come. */
    unsigned most = atomic_load(&probe->started) + 1;
    unsigned before = atomic_load(&probe->calls_max);
    while (most < before &&
           !atomic_compare_exchange_weak(&probe->calls_max, &before, most))
        continue;
}

static void note_stopped(struct probe *probe)
{
    DEMAND(atomic_fetch_add(&probe->stopped, 1) == 0,
           FORMAT "two cancels say that they stopped it", ARGUMENTS(probe));
    DEMAND(!probe->has_drop || atomic_load(&probe->dropped) == 1,
           FORMAT "cancel returned before the drop", ARGUMENTS(probe));
    probe_set_over(probe);
    tally_add(&tally.cancelled, 1);
}

void probe_note_cancel(struct probe *probe, bool was_over, int answer)
{
    DEMAND(answer == 1 || answer == 0 || answer == -EBUSY,
           FORMAT "cancel says %d", ARGUMENTS(probe), answer);
    DEMAND(!was_over || answer == 0, FORMAT "cancel says %d of what is over",
           ARGUMENTS(probe), answer);
    if (answer == 1)
        note_stopped(probe);
    if (answer != -EBUSY)
        return;
    atomic_fetch_add(&probe->busy, 1);
    probe_runs_no_more(probe);
    tally_add(&tally.caught_running, 1);
}

void probe_note_sync(struct probe *probe, bool was_over, int answer)
{
    DEMAND(answer == 1 || answer == 0, FORMAT "cancel_sync says %d",
           ARGUMENTS(probe), answer);
    DEMAND(!was_over || answer == 0,
           FORMAT "cancel_sync says %d of what is over", ARGUMENTS(probe),
           answer);
    if (answer == 1) {
        note_stopped(probe);
        return;
    }
    /* It may have waited. */
    atomic_fetch_add(&probe->busy, 1);
    probe_set_over(probe);
}
