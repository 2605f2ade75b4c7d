/*
 * service_races_cancel.c - scenarios: cancel tells the truth, and handles never
 * stand for another timer.
 *
 * In a race the driver wakes up, advances and runs what is due meanwhile.
 */
#include "service_races.h"

#include "service/private.h"
#include "service_actors.h"
#include "service_scene.h"

/* A timer that is due at the next turn of a tick, the driver sleeping. */
static struct probe *one_due(void)
{
    return one_pending(SCENE_TICK);
}

/* 1: it never runs; 0 or -EBUSY: it runs once. */
void cancel_against_fire(void)
{
    struct probe *probe = one_due();
    scene_race(probe, cancel_it_alone, NULL);
    scene_settle();
    check_answer(probe, probe->answer);
    sched_require(probe_cancel(probe) == 0);
    scene_end();
}

/* One of two stops it. */
void cancel_against_cancel(void)
{
    struct probe *probe = one_due();
    unsigned other = scene_spawn(cancel_it, probe);
    int answer = probe_cancel(probe);
    sched_join(other);
    sched_require(answer + probe->answer == 1);
    sched_require(answer == 0 || answer == 1);
    scene_turn(SCENE_TICK);
    sched_require(probe->started == 0);
    sched_require(probe->dropped == 1);
    scene_end();
}

/* One of two stops it, or none and it runs. */
void cancel_against_cancel_and_fire(void)
{
    struct probe *probe = one_due();
    scene_race(probe, cancel_it, cancel_it_too);
    sched_require(probe->answer != 1 || probe->second != 1);
    scene_settle();
    check_answer(probe, probe->second == 1 ? 1 : probe->answer);
    scene_end();
}

static uint32_t place_of(const struct probe *probe)
{
    return (uint32_t)probe->handle;
}

/* Both are counted, and cleared away: their places are used again. */
void cancel_against_cancel_of_another(void)
{
    struct probe *first = one_due(), *second = &scene.probes[1];
    probe_must_arm(second, SCENE_FAR);
    uint32_t places[] = {place_of(first), place_of(second)};
    unsigned other = scene_spawn(cancel_it, first);
    sched_require(probe_cancel(second) == 1);
    sched_join(other);
    sched_require(first->answer == 1);
    scene_turn(SCENE_TICK);
    scene_check();

    struct probe *third = &scene.probes[2];
    probe_must_arm(third, SCENE_FAR);
    sched_require(place_of(third) == places[0] || place_of(third) == places[1]);
    scene_end();
}

void cancel_sync_against_fire(void)
{
    struct probe *probe = one_due();
    scene_race(probe, cancel_it_sync, NULL);
    check_answer(probe, probe->answer);
    scene_end();
}

static void cancel_it_sync_too(struct probe *probe)
{
    probe->second = probe_cancel_sync(probe);
}

/* Two wait for the same callback. */
void cancel_sync_twice_against_fire(void)
{
    struct probe *probe = one_due();
    scene_race(probe, cancel_it_sync, cancel_it_sync_too);
    sched_require(probe->answer + probe->second <= 1);
    check_answer(probe, probe->answer + probe->second);
    scene_end();
}

/* Start again for the next tick; to wait for itself is refused. */
static void arm_itself(struct probe *probe)
{
    sched_require(tkw_service_cancel_sync(scene.service, probe->handle) ==
                  -EDEADLK);
    int answer = tkw_service_rearm(scene.service, probe->handle, SCENE_TICK);
    sched_require(answer == 0 || answer == 1);
    probe->again = answer;
    probe->armings += (unsigned)answer;
}

/* A timer that starts itself again has no end but this one. */
void cancel_sync_against_arming_itself(void)
{
    struct probe *probe = one_due();
    probe->act = arm_itself;
    scene_race(probe, cancel_it_sync, NULL);
    unsigned started = probe->started;
    if (probe->answer == 0)
        sched_require(started == 1);
    sched_require(started + probe->dropped == probe->armings);
    scene_turn(SCENE_TICK);
    sched_require(probe->started == started);
    sched_require(tkw_service_count(scene.service) == 0);
    scene_end();
}

static void arm_itself_and_cancel(struct probe *probe)
{
    arm_itself(probe);
    int answer = tkw_service_cancel(scene.service, probe->handle);
    sched_require(answer == -EBUSY);
}

static void let_others_go_on(struct probe *probe)
{
    (void)probe;
    SYNC_POINT();
}

/* Its drop function is running when somebody begins to wait for its end: that
 * is after the drop, which is once. */
void cancel_sync_against_dropping(void)
{
    struct probe *probe = one_due();
    probe->act = arm_itself_and_cancel;
    probe->act_on_drop = let_others_go_on;
    scene_race(probe, cancel_it_sync, NULL);
    sched_require(probe->started + probe->dropped == probe->armings);
    sched_require(tkw_service_count(scene.service) == 0);
    scene_end();
}

/*
 * If cancel finds the callback running it ends what that has armed, or keeps it
 * from arming; in either case it does not run again.
 */
void cancel_against_arming_itself(void)
{
    struct probe *probe = one_due();
    probe->act = arm_itself;
    scene_race(probe, cancel_it, NULL);
    sched_require(probe->answer == 1 || probe->answer == -EBUSY);
    scene_settle();
    sched_require(tkw_service_count(scene.service) == 0);
    sched_require(probe->started <= 1);
    if (probe->answer == -EBUSY)
        sched_require(probe->started == 1);
    sched_require(probe->dropped == probe->armings - probe->started);
    probe->is_over = true;
    scene_turn(SCENE_TICK);
    scene_end();
}

/* What was cancelled is not handed back, be the driver wherever it is. */
void cancel_joined_then_close(void)
{
    struct probe *probe = one_due();
    scene_race(probe, cancel_it, NULL);
    scene_close();
    if (probe->answer == 1)
        sched_require(probe->handed_back == 0 && probe->started == 0);
    else
        sched_require(probe->handed_back == 0 && probe->started == 1);
}

/* How far a timer is that was due at 10 and is not cancelled. */
static unsigned progress(const struct probe *probe)
{
    struct tkw_outlook outlook = {0};
    switch (tkw_service_query(scene.service, probe->handle, &outlook)) {
    case TKW_PENDING:
        sched_require(outlook.due_ns == SCENE_TICK);
        sched_require(outlook.remaining_ns == SCENE_TICK);
        return 0;
    case TKW_READY:
        sched_require(outlook.due_ns == SCENE_TICK);
        sched_require(outlook.remaining_ns == 0);
        return 1;
    case TKW_RUNNING:
        return 2;
    case TKW_DONE:
        sched_require(probe->returned == 1);
        return 3;
    case TKW_STALE: /* only if another has its place */
        sched_require(place_of(&scene.probes[1]) == place_of(probe));
        return 4;
    default:
        sched_fail(__FILE__, __LINE__, "a state that it can have");
    }
}

static void ask_twice(struct probe *probe)
{
    unsigned first = progress(probe);
    sched_require(progress(probe) >= first);
}

/* States only go on, and the next timer's time is never told as this one's. */
void query_against_fire_and_reuse(void)
{
    struct probe *probe = one_due();
    unsigned other = scene_spawn(ask_twice, probe);
    scene_turn(SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_FAR);
    sched_require(place_of(&scene.probes[1]) == place_of(probe));
    sched_join(other);
    sched_require(probe_state(probe) == TKW_STALE);
    scene_end();
}

static void count(struct probe *unused)
{
    (void)unused;
    struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
    sched_require(stats.armed == 2);
    sched_require(stats.cancelled == 1);
    sched_require(stats.pending == 1 - stats.fired);
}

/* What was cancelled stays counted, once, while the driver clears it away. */
void count_against_clearing(void)
{
    struct probe *probe = one_due();
    struct probe *far = &scene.probes[1];
    probe_must_arm(far, SCENE_FAR);
    sched_require(probe_cancel(far) == 1);
    scene_race(probe, count, NULL);
    scene_settle();
    sched_require(probe->started == 1);
    scene_end();
}

static void cancel_stale(struct probe *probe)
{
    probe->answer = tkw_service_cancel(scene.service, probe->handle);
    if (probe->answer == 0)
        probe->answer =
            tkw_service_postpone(scene.service, probe->handle, SCENE_FAR);
}

static void arm_next(struct probe *probe)
{
    probe_must_arm(probe + 1, 2 * SCENE_TICK);
}

/* Whoever comes too late for a timer must not hit the next in its place. */
void stale_cancel_against_reuse(void)
{
    struct probe *probe = one_due();
    struct probe *next = &scene.probes[1];
    scene_race(probe, cancel_stale, arm_next);
    scene_settle();
    sched_require(probe->started == (probe->answer == 1 ? 0 : 1));
    sched_require(probe->dropped == (probe->answer == 1 ? 1 : 0));
    sched_require(next->started == 0);
    scene_turn(2 * SCENE_TICK);
    sched_require(next->started == 1);
    scene_end();
}

/* The handle that the next use of its place will have. */
static void cancel_a_guess(struct probe *probe)
{
    tkw_handle guess = probe->handle + (UINT64_C(1) << 32);
    probe->answer = tkw_service_cancel(scene.service, guess);
}

static void arm_all(struct probe *probe)
{
    (void)probe;
    for (int i = 0; i < SCENE_PROBES; i++)
        probe_must_arm(&scene.probes[i], SCENE_FAR);
}

/* Who cancels by a guessed handle stops that timer, or none; but nothing else
 * is lost: the places that are free stay so. */
void guess_against_arm(void)
{
    scene_open((struct scene_config){0});
    arm_all(NULL);
    for (int i = 0; i < SCENE_PROBES; i++)
        sched_require(probe_cancel(&scene.probes[i]) == 1);
    scene_turn(SCENE_TICK); /* they are cleared away */
    for (int i = 0; i < SCENE_PROBES; i++)
        scene.probes[i].is_over = false;
    struct probe *last = &scene.probes[0];
    scene_race(last, cancel_a_guess, arm_all);
    unsigned dropped = 0;
    for (int i = 0; i < SCENE_PROBES; i++)
        dropped += scene.probes[i].dropped;
    sched_require(dropped == SCENE_PROBES + (unsigned)last->answer);
    sched_require(scene.service->shards[0]->used <= 2 * SCENE_PROBES);
    scene_end();
}

static void cancel_then_arm_next(struct probe *probe)
{
    cancel_it(probe);
    arm_next(probe);
}

/* The driver, running one of two, has the other in hand: who takes its place
 * must not be run for it. */
void reuse_against_a_batch(void)
{
    struct probe *old = &scene.probes[1], *new = &scene.probes[2];
    scene_open((struct scene_config){0});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    probe_must_arm(old, SCENE_TICK);
    scene_settle();
    scene_race(old, cancel_then_arm_next, NULL);
    scene_settle();
    sched_require(scene.probes[0].started == 1);
    sched_require(old->started == (old->answer == 1 ? 0 : 1));
    sched_require(new->started == 0);
    scene_turn(2 * SCENE_TICK);
    sched_require(new->started == 1);
    scene_end();
}
