/*
 * purgatory_races_close.c - scenarios: close ends what is left, and waits until
 * all is released, whatever its timeouts are at.
 *
 * The stages are guarded, and the purgatory's memory is spoiled when it is
 * freed: a timeout that comes after that is seen.
 */
#include "purgatory_races.h"

#include "purgatory_actors.h"
#include "purgatory_scene.h"

/* One that is due, and one that is far away. */
static struct request *one_due_and_one_far(bool has_driver)
{
    stage_open((struct stage_config){
        .shards = 2, .is_guarded = true, .has_driver = has_driver});
    must_watch(0, KEY_A, SCENE_TICK);
    must_watch(1, KEY_A | KEY_B, SCENE_FAR);
    if (has_driver)
        scene_settle();
    stage_turn(SCENE_TICK);
    return &stage.requests[0];
}

/* Close it, completing what is left.  All is released then. */
static void close_completing(struct request *unused)
{
    (void)unused;
    sched_require(tkw_purgatory_close(stage.purgatory, NULL, NULL) == 0);
    for (int i = 0; i < STAGE_REQUESTS; i++) {
        const struct request *request = &stage.requests[i];
        sched_require(request->released == request->lives);
        sched_require(request->completed == request->lives);
    }
    sched_require(tkw_service_count(scene.service) == 0);
}

/* Close it, handing back what is left. */
static void close_handing_back(struct request *unused)
{
    (void)unused;
    stage_close_purgatory();
    sched_require(tkw_service_count(scene.service) == 0);
}

void close_against_expire(void)
{
    struct request *request = one_due_and_one_far(false);
    stage_race(NULL, close_completing, expire, NULL);
    sched_require(request[1].expired == 0);
    scene_close();
}

/* Here it is the timeout that goes first. */
void close_handing_back_against_expire(void)
{
    struct request *request = one_due_and_one_far(false);
    stage_race(NULL, expire, close_handing_back, NULL);
    sched_require(request->completed == request->expired);
    sched_require(request[1].cancelled == 1);
    scene_close();
}

void close_against_the_driver(void)
{
    one_due_and_one_far(true);
    close_completing(NULL);
    scene_settle();
    scene_close();
}

void close_handing_back_against_the_driver(void)
{
    struct request *request = one_due_and_one_far(true);
    close_handing_back(NULL);
    scene_settle();
    sched_require(request->completed == request->expired);
    scene_close();
}

/* Two are due, and run one after the other. */
void close_between_two_expiries(void)
{
    one_due_and_one_far(false);
    must_watch(2, KEY_B, 0);
    stage_race(NULL, close_handing_back, expire, NULL);
    scene_close();
}

static void close_inside(struct request *request)
{
    (void)request;
    sched_require(tkw_purgatory_close(stage.purgatory, NULL, NULL) == -EDEADLK);
}

/* Refused in callbacks, wherever they run, and nothing has changed. */
void close_inside_callbacks(void)
{
    struct request *request = one_due_and_one_far(false);
    request->in_complete = close_inside;
    request->in_expire = close_inside;
    request[1].in_complete = close_inside;
    unsigned other = stage_spawn(expire, NULL);
    meet_and_check_b(&request[1]);
    sched_join(other);
    sched_require(request->expired == 1);
    stage_end_empty();
}

static void watch_third(struct request *request)
{
    int answer = request_watch(&stage.requests[2], KEY_A, SCENE_FAR);
    sched_require(answer == 0 || answer == -ESHUTDOWN);
    request->second = answer;
}

/* Watched in time and ended by close, or refused. */
void close_against_watch_inside(void)
{
    struct request *request = one_due_and_one_far(false);
    request->in_expire = watch_third;
    stage_race(NULL, close_handing_back, expire, NULL);
    sched_require(stage.requests[2].lives ==
                  (request->expired == 1 && request->second == 0));
    scene_close();
}

/* One that is due on B; who is watched by its callback, on A first. */
static struct request *one_due_on_b(size_t timers_max)
{
    stage_open((struct stage_config){
        .shards = 2, .is_guarded = true, .timers_max = timers_max});
    must_watch(0, KEY_B, SCENE_TICK);
    stage_turn(SCENE_TICK);
    return &stage.requests[0];
}

static void watch_on_two_keys(struct request *request)
{
    request->second =
        request_watch(&stage.requests[2], KEY_A | KEY_B, SCENE_FAR);
}

/* Refused at its second key, when close waits for it already. */
void close_against_half_a_watch_inside(void)
{
    struct request *request = one_due_on_b(0);
    request->in_expire = watch_on_two_keys;
    stage_race(NULL, close_handing_back, expire, NULL);
    sched_require(request->second == 0 || request->second == -ESHUTDOWN);
    scene_close();
}

static void fill_and_watch_on_two_keys(struct request *request)
{
    stage_fill();
    watch_on_two_keys(request);
}

/* The same when it gets no timer. */
void close_against_refused_inside(void)
{
    struct request *request = one_due_on_b(1);
    request->in_expire = fill_and_watch_on_two_keys;
    unsigned other = stage_spawn(expire, NULL);
    stage_close_purgatory();
    sched_join(other);
    sched_require(request->second == 0 || request->second == -ESHUTDOWN ||
                  request->second == -EAGAIN);
    scene_close();
}

static void meet_second_and_check(struct request *request)
{
    meet_and_check_b(request + 1);
}

/* Completed by the check of a callback, or handed back. */
void close_against_check_inside(void)
{
    struct request *request = one_due_and_one_far(false);
    request->in_complete = meet_second_and_check;
    stage_race(NULL, close_handing_back, expire, NULL);
    sched_require(request[1].completed == stage.checked);
    scene_close();
}

static void force_second(struct request *request)
{
    request_complete(request + 1);
    request_unhold(request + 1);
}

static void unhold_second(struct request *request)
{
    request_unhold(request + 1);
}

/* Completed by force in a callback, or by close. */
void close_against_complete_inside(void)
{
    struct request *request = one_due_and_one_far(false);
    request_hold(&request[1]);
    request->in_expire = force_second;
    request->in_cancel = unhold_second;
    stage_race(NULL, close_handing_back, expire, NULL);
    sched_require(request[1].completed == request[1].forced);
    scene_close();
}

/* Handed back once, by either. */
void close_against_cancel_inside(void)
{
    struct request *request = one_due_and_one_far(false);
    request->in_expire = cancel_b;
    stage_race(NULL, close_handing_back, expire, NULL);
    sched_require(request[1].cancelled == 1);
    scene_close();
}

/* Timeouts that will never run are nobody to wait for. */
void close_against_stop(void)
{
    one_due_and_one_far(false);
    stage_race(NULL, close_completing, stop_service, NULL);
    scene_close();
}

void close_against_stop_and_the_driver(void)
{
    one_due_and_one_far(true);
    stage_race(NULL, close_completing, stop_service, NULL);
    scene_close();
}
