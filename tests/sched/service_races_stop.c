/*
 * service_races_stop.c - scenarios: after stop nothing starts, close hands back
 * the rest, and the limit is one.
 */
#include "service_races.h"

#include "service_actors.h"
#include "service_scene.h"

/* Two that are due at the next turn of a tick, and one that is far away. */
static void two_due(void)
{
    scene_open((struct scene_config){0});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_TICK);
    probe_must_arm(&scene.probes[2], SCENE_FAR);
    scene_settle();
}

/* And then arming and moving are refused, but cancelling is not. */
void stop_against_fire(void)
{
    struct probe *probe = &scene.probes[2];
    two_due();
    scene_race(NULL, stop, NULL);
    sched_require(tkw_service_rearm(scene.service, probe->handle, 0) ==
                  -ESHUTDOWN);
    sched_require(tkw_service_postpone(scene.service, probe->handle,
                                       2 * SCENE_FAR) == -ESHUTDOWN);
    sched_require(probe_state(probe) == TKW_PENDING);
    sched_require(probe_cancel(probe) == 1);
    scene_end();
    sched_require(probe->handed_back == 0);
}

/* It returns at once, and what is due with it is handed back. */
void stop_inside_the_callback(void)
{
    two_due();
    scene.probes[0].act = stop_inside;
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    scene_close();
    sched_require(scene.probes[1].handed_back == 1);
    sched_require(scene.probes[2].handed_back == 1);
}

void stop_inside_against_stop(void)
{
    two_due();
    scene.probes[0].act = stop_inside;
    scene_race(NULL, stop, NULL);
    sched_require(scene.probes[1].started == 0);
    scene_end();
}

void stop_against_stop(void)
{
    two_due();
    scene_race(NULL, stop, stop);
    scene_end();
}

static void arm_now(struct probe *probe)
{
    probe->answer = probe_arm(probe, 0);
    sched_require(probe->answer == 0 || probe->answer == -ESHUTDOWN);
}

/* Refused, or run, or handed back. */
void stop_against_arm(void)
{
    struct probe *probe = &scene.probes[0];
    scene_open((struct scene_config){0});
    unsigned other = scene_spawn(arm_now, probe);
    stop(NULL);
    sched_join(other);
    sched_require(probe_arm(&scene.probes[1], 0) == -ESHUTDOWN);
    scene_end();
    if (probe->answer == 0)
        sched_require(probe->started + probe->handed_back == 1);
}

static void move_sooner(struct probe *probe)
{
    probe->answer =
        tkw_service_rearm_at(scene.service, probe->handle, SCENE_TICK);
}

/* Moved, or refused with nothing changed. */
void stop_against_rearm(void)
{
    struct probe *probe = one_pending(SCENE_FAR);
    struct tkw_outlook outlook = {0};
    unsigned other = scene_spawn(move_sooner, probe);
    stop(NULL);
    sched_join(other);
    sched_require(probe->answer == 1 || probe->answer == -ESHUTDOWN);
    sched_require(tkw_service_query(scene.service, probe->handle, &outlook) ==
                  TKW_PENDING);
    sched_require(outlook.due_ns ==
                  (probe->answer == 1 ? SCENE_TICK : SCENE_FAR));
    scene_end();
    sched_require(probe->handed_back == 1);
}

static void arm_itself(struct probe *probe)
{
    int answer = tkw_service_rearm(scene.service, probe->handle, SCENE_TICK);
    probe->again = answer;
    probe->armings += answer == 1;
}

static void stop_in_drop(struct probe *probe)
{
    probe->act_on_drop = NULL;
    tkw_service_stop(scene.service);
}

/*
 * A timer that is cancelled while it runs and has started itself again is
 * dropped by the driver, who must not wait for itself.
 */
void stop_inside_the_drop(void)
{
    struct probe *probe = one_pending(SCENE_TICK);
    probe->act = arm_itself;
    probe->act_on_drop = stop_in_drop;
    scene_race(probe, cancel_it, NULL);
    scene_close();
}

/* Each has run or is handed back, be the driver wherever it is. */
void close_against_fire(void)
{
    two_due();
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    scene_close();
    for (int i = 0; i < SCENE_PROBES; i++) {
        const struct probe *probe = &scene.probes[i];
        sched_require(probe->started + probe->handed_back == 1);
    }
    sched_require(scene.probes[0].started >= scene.probes[1].started);
    sched_require(scene.probes[2].handed_back == 1);
}

/* Without a driver: one of two is at it, and all is run. */
void run_against_run(void)
{
    scene_open((struct scene_config){.has_no_driver = true});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    unsigned other = scene_spawn(run_all, &scene.probes[0]);
    run_all(&scene.probes[1]);
    sched_join(other);
    int first = scene.probes[0].answer, second = scene.probes[1].answer;
    sched_require(first >= 0 || second >= 0);
    sched_require((first > 0 ? first : 0) + (second > 0 ? second : 0) == 2);
    sched_require(scene.started == 2);
    scene_end();
}

void run_against_stop(void)
{
    scene_open((struct scene_config){.has_no_driver = true});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    unsigned other = scene_spawn(stop, NULL);
    run_all(&scene.probes[0]);
    sched_join(other);
    sched_require(scene.probes[0].answer == (int)scene.started);
    scene_end();
}

/* In two shards, whose mutexes do not keep them apart. */
void limit_against_two_arming(void)
{
    scene_open((struct scene_config){.shards = 2, .timers_max = 1});
    unsigned other = scene_spawn(arm_far, &scene.probes[0]);
    arm_far(&scene.probes[1]);
    sched_join(other);
    sched_require(scene.probes[0].armings + scene.probes[1].armings == 1);
    scene_end();
}

/* Cancelling makes room, for one. */
void limit_against_cancel(void)
{
    scene_open((struct scene_config){.shards = 2, .timers_max = 1});
    probe_must_arm(&scene.probes[0], SCENE_FAR);
    unsigned other = scene_spawn(arm_far, &scene.probes[1]);
    sched_require(probe_cancel(&scene.probes[0]) == 1);
    arm_far(&scene.probes[2]);
    sched_join(other);
    sched_require(scene.probes[1].armings + scene.probes[2].armings == 1);
    scene_end();
}

/* So does the start of a callback. */
void limit_against_fire(void)
{
    struct probe *probe = &scene.probes[0];
    scene_open((struct scene_config){.timers_max = 1});
    probe_must_arm(probe, SCENE_TICK);
    scene_settle();
    scene_race(&scene.probes[1], arm_far, NULL);
    scene_settle();
    sched_require(probe->started == 1);
    scene_check();
    arm_far(&scene.probes[2]);
    sched_require(scene.probes[1].armings + scene.probes[2].armings == 1);
    scene_end();
}

/* A callback that starts its timer again needs room like all others. */
void limit_against_starting_again(void)
{
    struct probe *probe = &scene.probes[0];
    scene_open((struct scene_config){.timers_max = 1});
    probe->act = arm_itself;
    probe_must_arm(probe, SCENE_TICK);
    scene_settle();
    scene_race(&scene.probes[1], arm_far, NULL);
    scene_settle();
    sched_require(probe->started == 1);
    sched_require(probe->again == 1 || probe->again == -EAGAIN);
    sched_require((probe->again == 1) == (scene.probes[1].answer != 0));
    scene_end();
}
