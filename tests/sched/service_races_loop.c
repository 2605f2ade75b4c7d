/*
 * service_races_loop.c - scenarios: the descriptor that tells an event loop
 * when to come.
 *
 * There is no driver: a loop sleeps until the time that the descriptor was
 * aimed at, and whoever arms an earlier timer has to aim it anew.
 */
#include "service_races.h"

#include "service_actors.h"
#include "service_scene.h"

static void arm_at_50(struct probe *probe)
{
    probe_must_plan(probe, (struct tkw_plan){.when_ns = 50, .is_time = true});
}

/*
 * At rest: a loop that knows nothing but what the descriptor was aimed at comes
 * in time for a timer.  It may come in vain before, though not for ever.
 */
static void check_aim(struct probe *probe, uint64_t time_ns)
{
    for (int i = 0; i < 8 && probe->started == 0; i++) {
        sched_require(scene.aimed <= time_ns);
        sched_require(scene.aimed == tkw_service_next(scene.service));
        if (scene.aimed > tkw_manual_clock_now(scene.manual))
            tkw_manual_clock_set(scene.manual, scene.aimed);
        run_all(probe);
    }
    sched_require(probe->started == 1);
    sched_require(tkw_manual_clock_now(scene.manual) == time_ns);
    scene_end();
}

/* A timer that runs at 10, and one that is far away. */
static void open_loop(void)
{
    scene_open((struct scene_config){.has_no_driver = true});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_FAR);
    sched_require(tkw_service_fd(scene.service) == 0);
    sched_require(scene.aimed == SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
}

/* Somebody arms a new earliest while the loop is at running, or leaves. */
void arm_against_the_end_of_run(void)
{
    open_loop();
    unsigned other = scene_spawn(arm_at_50, &scene.probes[2]);
    run_all(&scene.probes[0]);
    sched_join(other);
    check_aim(&scene.probes[2], 50);
}

/* A second one, who is told that somebody is at it or runs the rest. */
void two_run_against_arm(void)
{
    open_loop();
    unsigned first = scene_spawn(arm_at_50, &scene.probes[2]);
    unsigned second = scene_spawn(run_all, &scene.probes[1]);
    run_all(&scene.probes[0]);
    sched_join(first);
    sched_join(second);
    check_aim(&scene.probes[2], 50);
}

static void arm_at_70(struct probe *probe)
{
    probe_must_plan(probe, (struct tkw_plan){.when_ns = 70, .is_time = true});
}

/* The earlier of two, whoever aims last. */
void two_arm_against_a_loop(void)
{
    scene_open((struct scene_config){.has_no_driver = true, .shards = 2});
    sched_require(tkw_service_fd(scene.service) == 0);
    sched_require(scene.aimed == UINT64_MAX);
    unsigned other = scene_spawn(arm_at_50, &scene.probes[1]);
    arm_at_70(&scene.probes[2]);
    sched_join(other);
    check_aim(&scene.probes[1], 50);
}

/* What is armed while somebody asks for the descriptor is seen by one of
 * them. */
void fd_against_arm(void)
{
    scene_open((struct scene_config){.has_no_driver = true});
    unsigned other = scene_spawn(arm_at_50, &scene.probes[0]);
    sched_require(tkw_service_fd(scene.service) == 0);
    sched_join(other);
    check_aim(&scene.probes[0], 50);
}

/* A worker that makes room has the loop come at once. */
void room_against_a_loop(void)
{
    scene_open((struct scene_config){
        .has_no_driver = true, .workers = 1, .queue_max = 1});
    sched_require(tkw_service_fd(scene.service) == 0);
    for (int i = 0; i < 2; i++)
        probe_must_arm(&scene.probes[i], SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    run_all(&scene.probes[0]);
    scene_wait_for_workers();
    if (scene.started < 2)
        sched_require(scene.aimed <= SCENE_TICK);
    scene_settle();
    sched_require(scene.started == 2);
    scene_end();
}
