/*
 * purgatory_races_release.c - scenarios: when an operation is released nobody
 * touches it any more; it may be freed there, or be used again (P6).
 *
 * The stages are guarded: to look at what was released is to crash.
 */
#include "purgatory_races.h"

#include "purgatory_actors.h"
#include "purgatory_scene.h"

static struct request *one_guarded(unsigned keys)
{
    stage_open((struct stage_config){.shards = 2, .is_guarded = true});
    return must_watch(0, keys, SCENE_TICK);
}

static struct request *one_guarded_due(unsigned keys)
{
    struct request *request = one_guarded(keys);
    stage_turn(SCENE_TICK);
    return request;
}

void expired_against_check(void)
{
    struct request *request = one_guarded_due(KEY_A);
    stage_race(request, expire, check_a, NULL);
    sched_require(request->released == 1);
    stage_end_empty();
}

void expired_against_checks_of_two_keys(void)
{
    struct request *request = one_guarded_due(KEY_A | KEY_B);
    stage_race(request, expire, check_a, check_b);
    sched_require(request->released == 1);
    stage_end_empty();
}

void checked_against_check(void)
{
    struct request *request = one_guarded(KEY_A | KEY_B);
    stage_race(request, meet_and_check, check_b, NULL);
    sched_require(request->released == 1);
    stage_end_empty();
}

/* The timer that was to be stopped has just gone off. */
void checked_against_expire(void)
{
    struct request *request = one_guarded_due(KEY_A);
    stage_race(request, meet_and_check, expire, NULL);
    sched_require(request->released == 1);
    stage_end_empty();
}

void cancelled_against_check(void)
{
    struct request *request = one_guarded(KEY_A | KEY_B);
    stage_race(request, cancel_a, check_b, NULL);
    sched_require(request->released == 1);
    stage_end_empty();
}

void cancelled_against_expire(void)
{
    struct request *request = one_guarded_due(KEY_A | KEY_B);
    stage_race(request, cancel_a, expire, NULL);
    sched_require(request->released == 1);
    stage_end_empty();
}

void cancelled_against_check_and_expire(void)
{
    struct request *request = one_guarded_due(KEY_A | KEY_B);
    stage_race(request, expire, cancel_a, meet_and_check_b);
    sched_require(request->released == 1);
    stage_end_empty();
}

void checked_against_a_check_on_the_list(void)
{
    stage_open((struct stage_config){.shards = 2, .is_guarded = true});
    struct request *first = must_watch(0, KEY_A, SCENE_FAR);
    must_watch(1, KEY_A | KEY_B, SCENE_FAR);
    must_watch(2, KEY_A, SCENE_FAR);
    stage_race(&first[1], check_a, meet_and_check_b, NULL);
    sched_require(first[1].released == 1);
    stage_end();
}

/* The neighbours on a list go while a check stands between them. */
void neighbours_against_check(void)
{
    stage_open((struct stage_config){.shards = 2, .is_guarded = true});
    must_watch(0, KEY_A | KEY_B, SCENE_FAR);
    must_watch(1, KEY_A, SCENE_FAR);
    must_watch(2, KEY_A | KEY_B, SCENE_FAR);
    stage_race(NULL, check_a, cancel_b, NULL);
    sched_require(stage.taken == 2);
    sched_require(stage.requests[1].tried == 3);
    stage_end();
}

/* Begin a second life, in which it waits for long, unless somebody meets its
 * condition just now. */
static void use_again(struct request *request)
{
    request->in_release = NULL;
    request->is_met = false;
    sched_require(request_watch(request, KEY_A | KEY_B, SCENE_FAR) >= 0);
}

/* Whoever still held on to it would do to the second life what was meant for
 * the first. */
void used_again_against_check(void)
{
    struct request *request = one_guarded(KEY_A | KEY_B);
    request->in_release = use_again;
    stage_race(request, meet_and_check, check_b, NULL);
    sched_require(request->lives == 2);
    sched_require(request->completed == 1);
    stage_end();
}

void used_again_against_expire(void)
{
    struct request *request = one_guarded_due(KEY_A);
    request->in_release = use_again;
    stage_race(request, expire, meet_and_check, NULL);
    sched_require(request->lives == 2);
    sched_require(request->completed >= 1);
    sched_require(request->expired <= 1);
    stage_end();
}

/* A cancel of the one may take the other out as well. */
void used_again_against_cancel(void)
{
    struct request *request = one_guarded_due(KEY_A);
    request->in_release = use_again;
    stage_race(request, expire, cancel_a, NULL);
    sched_require(request->lives == 2);
    sched_require(request->expired <= 1);
    sched_require(request->cancelled <= 2);
    stage_end();
}

void used_again_against_all(void)
{
    struct request *request = one_guarded_due(KEY_A | KEY_B);
    request->in_release = use_again;
    stage_race(request, expire, cancel_a, meet_and_check_b);
    sched_require(request->lives == 2);
    stage_end();
}
