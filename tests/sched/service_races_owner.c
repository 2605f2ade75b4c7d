/*
 * service_races_owner.c - scenarios: timers of an owner.
 *
 * Whoever cancels an owner's timers may reuse the owner's memory when that has
 * returned: nobody else reads or writes it any more.
 */
#include "service_races.h"

#include "service_actors.h"
#include "service_scene.h"

/* Two timers of an owner that are due at the next turn of a tick. */
static void two_owned(struct scene_config config)
{
    scene_open(config);
    for (int i = 0; i < 2; i++)
        probe_must_plan(&scene.probes[i], (struct tkw_plan){
                                              .when_ns = SCENE_TICK,
                                              .owner = &scene.owner,
                                          });
    scene_settle();
}

/* It was let go: from now on nobody else may read or write it. */
static void spoil_owner(void)
{
    for (int i = 0; i < 4; i++) {
        sched_require(scene.owner.first[i] == 0);
        scene.owner.first[i] = 0xdddddddd;
    }
}

static void check_spoiled(void)
{
    for (int i = 0; i < 4; i++)
        sched_require(scene.owner.first[i] == 0xdddddddd);
}

static void cancel_owner(struct probe *unused)
{
    (void)unused;
    scene.stopped += tkw_service_cancel_owner(scene.service, &scene.owner);
}

static void cancel_owner_and_spoil(struct probe *unused)
{
    cancel_owner(unused);
    spoil_owner();
}

/* It tells how many it stopped; the others run. */
static void check_stopped(void)
{
    scene_settle();
    unsigned started = scene.probes[0].started + scene.probes[1].started;
    sched_require(scene.stopped + started == 2);
    sched_require(scene.probes[0].dropped + scene.probes[1].dropped ==
                  scene.stopped);
}

void cancel_owner_against_fire(void)
{
    two_owned((struct scene_config){0});
    scene_race(NULL, cancel_owner_and_spoil, NULL);
    check_stopped();
    scene_turn(SCENE_TICK);
    check_spoiled();
    scene_end();
    check_spoiled();
}

void cancel_owner_against_a_worker(void)
{
    two_owned((struct scene_config){
        .workers = 1, .queue_max = 1, .has_no_driver = true});
    scene_race(NULL, cancel_owner_and_spoil, NULL);
    check_stopped();
    scene_end();
    check_spoiled();
}

static void arm_third(struct probe *unused)
{
    (void)unused;
    probe_must_arm(&scene.probes[2], SCENE_FAR);
}

/* Arming gives back what has run, and takes it from its owner's list. */
void cancel_owner_against_giving_back(void)
{
    two_owned((struct scene_config){
        .workers = 1, .queue_max = 2, .has_no_driver = true});
    scene_turn(SCENE_TICK);
    sched_require(scene.started == 2);
    unsigned other = scene_spawn(cancel_owner_and_spoil, NULL);
    arm_third(NULL);
    sched_join(other);
    sched_require(scene.stopped == 0);
    scene_end();
    check_spoiled();
}

static void arm_another(struct probe *unused)
{
    (void)unused;
    probe_must_plan(&scene.probes[2], (struct tkw_plan){
                                          .when_ns = SCENE_FAR,
                                          .owner = &scene.owner,
                                      });
}

/* It is among those, or else there to be cancelled next time. */
void cancel_owner_against_arm(void)
{
    two_owned((struct scene_config){0});
    unsigned other = scene_spawn(cancel_owner, NULL);
    arm_another(NULL);
    sched_join(other);
    size_t before = scene.stopped;
    sched_require(before == 2 || before == 3);
    cancel_owner_and_spoil(NULL);
    sched_require(scene.stopped == 3);
    scene_turn(SCENE_TICK);
    sched_require(scene.started == 0);
    scene_end();
    check_spoiled();
}

static void cancel_first(struct probe *unused)
{
    (void)unused;
    struct probe *probe = &scene.probes[0];
    probe->answer = probe_cancel(probe);
    sched_require(probe->answer == 0 || probe->answer == 1);
}

/* Each is stopped by one of them. */
void cancel_owner_against_cancel(void)
{
    two_owned((struct scene_config){0});
    unsigned other = scene_spawn(cancel_first, NULL);
    cancel_owner_and_spoil(NULL);
    sched_join(other);
    sched_require(scene.stopped + (size_t)scene.probes[0].answer == 2);
    scene_turn(SCENE_TICK);
    sched_require(scene.started == 0);
    scene_end();
    check_spoiled();
}

void cancel_owner_against_cancel_owner(void)
{
    two_owned((struct scene_config){0});
    unsigned other = scene_spawn(cancel_owner, NULL);
    cancel_owner(NULL);
    sched_join(other);
    sched_require(scene.stopped == 2);
    scene_end();
}

/* Not one is running when it returns. */
static void cancel_owner_sync(struct probe *unused)
{
    (void)unused;
    scene.stopped += tkw_service_cancel_owner_sync(scene.service, &scene.owner);
    for (int i = 0; i < 2; i++) {
        sched_require(scene.probes[i].started == scene.probes[i].returned);
        scene.probes[i].is_over = true;
    }
}

static void cancel_owner_sync_and_spoil(struct probe *unused)
{
    cancel_owner_sync(unused);
    spoil_owner();
}

void cancel_owner_sync_against_fire(void)
{
    two_owned((struct scene_config){0});
    scene_race(NULL, cancel_owner_sync_and_spoil, NULL);
    check_stopped();
    scene_end();
    check_spoiled();
}

void cancel_owner_sync_against_a_worker(void)
{
    two_owned((struct scene_config){
        .workers = 1, .queue_max = 1, .has_no_driver = true});
    scene_race(NULL, cancel_owner_sync_and_spoil, NULL);
    check_stopped();
    scene_end();
    check_spoiled();
}

/* Both wait for what is running. */
void cancel_owner_sync_twice_against_fire(void)
{
    two_owned((struct scene_config){0});
    scene_race(NULL, cancel_owner_sync, cancel_owner_sync);
    check_stopped();
    scene_end();
}

/* Its own timer it does not wait for, but it is not to run again. */
static void cancel_owner_inside(struct probe *probe)
{
    scene.stopped += tkw_service_cancel_owner_sync(scene.service, &scene.owner);
    sched_require(probe_state(probe) == TKW_RUNNING);
    sched_require(tkw_service_rearm(scene.service, probe->handle, 0) == 0);
}

static void cancel_others_sync(struct probe *unused)
{
    (void)unused;
    scene.stopped += tkw_service_cancel_owner_sync(scene.service, &scene.owner);
}

/* One lets go of each, and neither waits for the other for ever. */
void cancel_owner_inside_against_cancel_owner_sync(void)
{
    two_owned((struct scene_config){0});
    scene.probes[0].act = cancel_owner_inside;
    scene_race(NULL, cancel_others_sync, NULL);
    scene_settle();
    sched_require(scene.probes[1].started == 0);
    sched_require(scene.stopped == scene.probes[0].dropped + 1);
    scene_end();
}

/* A timer of the owner that repeats, due at the next turn of a tick. */
static struct probe *one_owned_repeating(void)
{
    scene_open((struct scene_config){0});
    probe_must_plan(&scene.probes[0], (struct tkw_plan){
                                          .when_ns = SCENE_TICK,
                                          .period_ns = SCENE_TICK,
                                          .owner = &scene.owner,
                                      });
    scene_settle();
    return &scene.probes[0];
}

/* It is its owner's in every one of its lives. */
void cancel_owner_against_repeating(void)
{
    struct probe *probe = one_owned_repeating();
    scene_race(NULL, cancel_owner_and_spoil, NULL);
    check_over(probe);
    sched_require(scene.stopped <= 1);
    scene_end();
    check_spoiled();
}

void cancel_owner_sync_against_repeating(void)
{
    struct probe *probe = one_owned_repeating();
    scene_race(NULL, cancel_owner_sync_and_spoil, NULL);
    sched_require(probe->dropped == 1);
    check_over(probe);
    scene_end();
    check_spoiled();
}
