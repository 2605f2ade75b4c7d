/*
 * service_races_repeat.c - scenarios: timers that repeat.
 *
 * A timer that repeats is pending or running until it is over, and it is
 * dropped once then, however that came about.
 */
#include "service_races.h"

#include "service_actors.h"
#include "service_scene.h"

static const struct tkw_plan every_tick = {
    .when_ns = SCENE_TICK,
    .period_ns = SCENE_TICK,
};

/* A timer that is due at the next turn of a tick, and at all that follow. */
static struct probe *one_repeating(struct scene_config config)
{
    scene_open(config);
    probe_must_plan(&scene.probes[0], every_tick);
    scene_settle();
    return &scene.probes[0];
}

/* It is there all the time, so there is something to cancel. */
static void cancel_repeating(struct probe *probe)
{
    cancel_it(probe);
    sched_require(probe->answer == 1 || probe->answer == -EBUSY);
}

/* When it returns the drop function has, too. */
static void cancel_repeating_sync(struct probe *probe)
{
    cancel_it_sync(probe);
    sched_require(probe->dropped == 1);
}

void cancel_against_repeating(void)
{
    struct probe *probe = one_repeating((struct scene_config){0});
    scene_race(probe, cancel_repeating, NULL);
    check_over(probe);
    sched_require(probe_state(probe) == TKW_CANCELLED);
    scene_end();
}

void cancel_sync_against_repeating(void)
{
    struct probe *probe = one_repeating((struct scene_config){0});
    scene_race(probe, cancel_repeating_sync, NULL);
    check_over(probe);
    scene_end();
}

/* One of two stops it, or it was running for the first at least. */
void cancel_twice_against_repeating(void)
{
    struct probe *probe = one_repeating((struct scene_config){0});
    scene_race(probe, cancel_it_too, cancel_it_too);
    check_over(probe);
    scene_end();
}

/* On a worker: over for it, and for whoever hands over. */
void cancel_against_repeating_on_a_worker(void)
{
    struct probe *probe = one_repeating((struct scene_config){
        .workers = 1, .queue_max = 1, .has_no_driver = true});
    scene_race(probe, cancel_repeating, NULL);
    check_over(probe);
    scene_end();
}

void cancel_sync_against_repeating_on_a_worker(void)
{
    struct probe *probe = one_repeating((struct scene_config){
        .workers = 1, .queue_max = 1, .has_no_driver = true});
    scene_race(probe, cancel_repeating_sync, NULL);
    check_over(probe);
    scene_end();
}

/* Whether it was pending, running or armed again already: the next call is at
 * the new time, and all others follow. */
static void check_moved(const struct probe *probe)
{
    unsigned before = probe->started;
    sched_require(probe->moved == 1);
    sched_require(before <= 1);
    scene_turn(SCENE_TICK);
    sched_require(probe->started == before);
    scene_turn(SCENE_TICK);
    sched_require(probe->started == before + 1);
    sched_require(probe->due_ns == NEW_TIME);
    scene_turn(SCENE_TICK);
    sched_require(probe->started == before + 2);
    sched_require(probe->due_ns == NEW_TIME + SCENE_TICK);
}

void rearm_against_repeating(void)
{
    struct probe *probe = one_repeating((struct scene_config){0});
    scene_race(probe, rearm, NULL);
    scene_settle();
    check_moved(probe);
    scene_end();
}

void rearm_against_repeating_on_a_worker(void)
{
    struct probe *probe = one_repeating((struct scene_config){
        .workers = 1, .queue_max = 1, .has_no_driver = true});
    scene_race(probe, rearm, NULL);
    scene_settle();
    check_moved(probe);
    scene_end();
}

/* Its time comes while it runs: once more, after that, and then in time. */
void rearm_for_now_against_repeating(void)
{
    struct probe *probe = one_repeating((struct scene_config){
        .workers = 1, .queue_max = 1, .has_no_driver = true});
    scene_race(probe, rearm_now, NULL);
    sched_require(probe->moved == 1);
    scene_settle();
    unsigned before = probe->started;
    sched_require(before == 1 || before == 2);
    scene_turn(SCENE_TICK);
    sched_require(probe->started == before + 1);
    sched_require(probe->due_ns == 2 * SCENE_TICK);
    scene_end();
}

/* Moved and cancelled, in any order, while it runs and is armed again. */
void rearm_against_cancel_and_repeating(void)
{
    struct probe *probe = one_repeating((struct scene_config){0});
    scene_race(probe, cancel_repeating, rearm);
    check_over(probe);
    sched_require(probe->started <= 1);
    scene_end();
}

/* It is pending at the end, though its callback was the last to run. */
void stop_against_repeating(void)
{
    struct probe *probe = one_repeating((struct scene_config){0});
    scene_race(NULL, stop, NULL);
    scene_end();
    sched_require(probe->handed_back == 1);
}

void stop_against_repeating_on_a_worker(void)
{
    struct probe *probe = one_repeating((struct scene_config){
        .workers = 1, .queue_max = 1, .has_no_driver = true});
    scene_race(NULL, stop, NULL);
    scene_end();
    sched_require(probe->handed_back == 1);
}

/* The clock turns on while it runs. */
void turn_against_repeating(void)
{
    struct probe *probe = one_repeating((struct scene_config){0});
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    scene_settle();
    sched_require(probe->started == 1 || probe->started == 2);
    unsigned before = probe->started;
    scene_turn(SCENE_TICK);
    sched_require(probe->started == before + 1);
    sched_require(probe->due_ns == NEW_TIME);
    scene_end();
}

static void arm_in_vain(struct probe *probe)
{
    sched_require(probe_arm(probe, SCENE_FAR) == -EAGAIN);
}

/* It has its place also while it is running. */
void limit_against_repeating(void)
{
    one_repeating((struct scene_config){.timers_max = 1});
    scene_race(&scene.probes[1], arm_in_vain, NULL);
    scene_settle();
    sched_require(scene.started == 1);
    scene_check();
    scene_turn(SCENE_TICK);
    sched_require(scene.started == 2);
    scene_end();
}

static void cancel_sync_and_arm(struct probe *probe)
{
    cancel_repeating_sync(probe);
    probe_must_arm(probe + 1, SCENE_FAR);
}

/* And when it is over, somebody else has. */
void limit_against_cancel_of_repeating(void)
{
    struct probe *probe = one_repeating((struct scene_config){.timers_max = 1});
    scene_race(probe, cancel_sync_and_arm, NULL);
    scene_settle();
    sched_require(probe->dropped == 1);
    scene_end();
}

static uint64_t never_again(void *argument, uint64_t due_ns, uint64_t now_ns)
{
    (void)argument;
    sched_require(due_ns <= now_ns);
    return UINT64_MAX;
}

/* A timer that could repeat, and says after its first call that it does not. */
static struct probe *one_ending(struct scene_config config)
{
    scene_open(config);
    probe_must_plan(&scene.probes[0], (struct tkw_plan){.when_ns = SCENE_TICK,
                                                        .next = never_again});
    scene_settle();
    return &scene.probes[0];
}

void cancel_against_the_last_call(void)
{
    struct probe *probe = one_ending((struct scene_config){0});
    scene_race(probe, cancel_it_alone, NULL);
    check_over(probe);
    sched_require(probe->started == (probe->answer == 1 ? 0 : 1));
    if (probe->answer == 0)
        sched_require(probe_state(probe) == TKW_DONE);
    scene_end();
}

void cancel_sync_against_the_last_call(void)
{
    struct probe *probe = one_ending((struct scene_config){0});
    scene_race(probe, cancel_repeating_sync, NULL);
    check_over(probe);
    sched_require(probe->started == (probe->answer == 1 ? 0 : 1));
    scene_end();
}

/* It goes on if it was moved before it was over, for one call. */
void rearm_against_the_last_call(void)
{
    struct probe *probe = one_ending((struct scene_config){0});
    scene_race(probe, rearm, NULL);
    scene_settle();
    unsigned before = probe->started;
    sched_require(probe->dropped == (probe->moved == 1 ? 0 : 1));
    sched_require(before == 1 || probe->moved == 1);
    scene_turn(2 * SCENE_TICK);
    sched_require(probe->started == before + (unsigned)probe->moved);
    check_over(probe);
    scene_end();
}

void limit_against_the_last_call(void)
{
    struct probe *probe = one_ending((struct scene_config){.timers_max = 1});
    scene_race(&scene.probes[1], arm_far, NULL);
    scene_settle();
    sched_require(probe->dropped == 1);
    if (scene.probes[1].answer == 0)
        sched_require(probe->started == 1);
    scene_end();
}
