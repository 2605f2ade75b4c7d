/*
 * service_races_wake.c - scenarios: whatever is armed while the driver falls
 * asleep, it wakes up in time for it; and the clock may do what it likes.
 */
#include "service_races.h"

#include "service_actors.h"
#include "service_scene.h"

/* The next probe that comes due runs, the others do not. */
static void expect_at_turn(struct probe *probe)
{
    unsigned started = scene.started;
    scene_turn(SCENE_TICK);
    sched_require(scene.started == started + 1);
    sched_require(probe->started == 1);
    sched_require(probe->place == scene.started);
}

/* With nothing pending it would sleep for ever. */
void arm_against_falling_asleep(void)
{
    scene_open((struct scene_config){.is_awake = true});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    expect_at_turn(&scene.probes[0]);
    scene_end();
}

/* With something pending it would sleep too long. */
void arm_earlier_against_falling_asleep(void)
{
    scene_open((struct scene_config){0});
    probe_must_arm(&scene.probes[0], SCENE_FAR); /* and it makes a pass */
    probe_must_arm(&scene.probes[1], SCENE_TICK);
    expect_at_turn(&scene.probes[1]);
    scene_end();
}

static void arm_second(struct probe *probe)
{
    probe_must_arm(probe, 2 * SCENE_TICK);
}

/* Two shards, each armed before or after the driver has been there. */
void two_arm_against_falling_asleep(void)
{
    scene_open((struct scene_config){.shards = 2, .is_awake = true});
    unsigned other = scene_spawn(arm_second, &scene.probes[1]);
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    sched_join(other);
    expect_at_turn(&scene.probes[0]);
    expect_at_turn(&scene.probes[1]);
    scene_end();
}

void rearm_earlier_against_falling_asleep(void)
{
    scene_open((struct scene_config){0});
    struct probe *probe = &scene.probes[0];
    probe_must_arm(probe, SCENE_FAR);
    sched_require(tkw_service_rearm(scene.service, probe->handle, SCENE_TICK) ==
                  1);
    expect_at_turn(probe);
    scene_end();
}

static void arm_third(struct probe *probe)
{
    probe_must_arm(probe, 3 * SCENE_TICK);
}

/* It is called for the first timer, and not for those that can wait. */
void arm_later_wakes_nobody(void)
{
    scene_open((struct scene_config){.shards = 2});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    scene_settle();
    struct tkw_service_stats before = tkw_service_read_stats(scene.service);
    sched_require(before.woken == 1);
    unsigned other = scene_spawn(arm_third, &scene.probes[1]);
    probe_must_arm(&scene.probes[2], 2 * SCENE_TICK);
    sched_join(other);
    struct tkw_service_stats after = tkw_service_read_stats(scene.service);
    sched_require(after.woken == before.woken);
    sched_require(after.wakeups == before.wakeups);
    expect_at_turn(&scene.probes[0]);
    expect_at_turn(&scene.probes[2]);
    expect_at_turn(&scene.probes[1]);
    scene_end();
}

/* It turns twice while the driver is at the first: nobody is early, forgotten
 * or out of order. */
void turn_against_pass(void)
{
    scene_open((struct scene_config){0});
    probe_must_arm(&scene.probes[0], 2 * SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_TICK);
    scene_settle();
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK - 1);
    sched_require(scene.probes[0].started == 0);
    tkw_manual_clock_advance(scene.manual, 1);
    scene_settle();
    sched_require(scene.probes[1].place == 1);
    sched_require(scene.probes[0].place == 2);
    scene_end();
}

/* A timer counts from the time it is armed at, before or after the step; the
 * one that was there before waits for its time to come again. */
void set_back_against_arm(void)
{
    struct probe *old = &scene.probes[0], *new = &scene.probes[1];
    struct tkw_outlook outlook;
    scene_open((struct scene_config){.now = 1000, .is_wall = true});
    probe_must_arm(old, 2 * SCENE_TICK);
    scene_settle();
    unsigned other = scene_spawn(set_to_500, NULL);
    probe_must_arm(new, SCENE_TICK);
    tkw_service_query(scene.service, new->handle, &outlook);
    sched_require(outlook.due_ns == 510 || outlook.due_ns == 1010);
    sched_join(other);
    scene_settle();
    sched_require(scene.started == 0);

    bool is_soon = outlook.due_ns == 510;
    tkw_manual_clock_set(scene.manual, 509);
    scene_settle();
    sched_require(scene.started == 0);
    scene_turn(1);
    sched_require(new->started == is_soon);
    tkw_manual_clock_set(scene.manual, 1009);
    scene_settle();
    sched_require(new->started == is_soon);
    scene_turn(1);
    sched_require(new->started == 1);
    sched_require(old->started == 0);
    scene_turn(SCENE_TICK);
    sched_require(old->started == 1);
    scene_end();
}

/* It runs by the time that it was, or waits until that comes again. */
void set_back_against_fire(void)
{
    struct probe *probe = &scene.probes[0];
    scene_open((struct scene_config){.now = 1000, .is_wall = true});
    probe_must_arm(probe, SCENE_TICK);
    scene_settle();
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    set_to_500(NULL);
    scene_settle();
    check_set_back(probe);
}

/* What is left of a batch when it is set back waits like all others. */
void set_back_after_a_part_of_a_batch(void)
{
    scene_open((struct scene_config){
        .now = 1000, .is_wall = true, .has_no_driver = true});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    sched_require(tkw_service_run(scene.service, 1) == 1);
    tkw_manual_clock_set(scene.manual, 500);
    sched_require(tkw_service_run(scene.service, 0) == 0);
    sched_require(tkw_service_next(scene.service) <= 1010);
    tkw_manual_clock_set(scene.manual, 1010);
    sched_require(tkw_service_run(scene.service, 0) == 1);
    scene_end();
}

static void arm_next(struct probe *probe)
{
    probe_must_arm(probe + 1, SCENE_TICK);
}

/* Callbacks hold no lock: they arm while others do. */
void callback_arms_against_arm(void)
{
    scene_open((struct scene_config){0});
    scene.probes[0].act = arm_next;
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    scene_settle();
    scene_race(&scene.probes[2], arm_second, NULL);
    scene_settle();
    sched_require(scene.started == 1);
    scene_turn(2 * SCENE_TICK);
    sched_require(scene.probes[1].started == 1);
    sched_require(scene.probes[2].started == 1);
    scene_end();
}

/* By ticks, whatever shard they are in and whenever the clock is read. */
void two_shards_keep_ticks_in_order(void)
{
    scene_open((struct scene_config){.shards = 2});
    sched_join(scene_spawn(arm_second, &scene.probes[1]));
    probe_must_arm(&scene.probes[0], 3 * SCENE_TICK);
    probe_must_arm(&scene.probes[2], SCENE_TICK);
    scene_settle();
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, 2 * SCENE_TICK);
    scene_settle();
    sched_require(scene.probes[2].place == 1);
    sched_require(scene.probes[1].place == 2);
    sched_require(scene.probes[0].place == 3);
    scene_end();
}
