/*
 * purgatory_races_cancel.c - scenarios: what is cancelled was not completed and
 * never will be, and is gone from its other keys, too (P4).
 */
#include "purgatory_races.h"

#include "purgatory_actors.h"
#include "purgatory_scene.h"

/* At rest, of the only one there is: one outcome, of two. */
static void end_either(const struct request *request)
{
    sched_require(request->completed + request->cancelled == 1);
    stage_end_empty();
}

static void end_cancelled(const struct request *request)
{
    sched_require(request->cancelled == 1);
    stage_end_empty();
}

void cancel_key_against_check(void)
{
    struct request *request = one_watched(KEY_A);
    stage_race(request, cancel_a, meet_and_check, NULL);
    sched_require(stage.taken + stage.checked == 1);
    end_either(request);
}

/* It is handed back while another may still be trying it, and released when
 * nobody is. */
void cancel_key_against_check_in_vain(void)
{
    struct request *request = one_watched(KEY_A);
    stage_race(request, cancel_a, check_a, NULL);
    end_cancelled(request);
}

void cancel_key_against_two_checks(void)
{
    struct request *request = one_watched(KEY_A);
    stage_race(request, cancel_a, check_a, meet_and_check);
    sched_require(stage.taken + stage.checked == 1);
    end_either(request);
}

void cancel_key_against_check_of_another(void)
{
    stage_open((struct stage_config){.shards = 2});
    struct request *request = must_watch(0, KEY_A | KEY_B, SCENE_FAR);
    stage_race(request, cancel_a, meet_and_check_b, NULL);
    sched_require(stage.taken + stage.checked == 1);
    end_either(request);
}

void cancel_key_against_expire(void)
{
    struct request *request = one_due(KEY_A | KEY_B);
    stage_race(request, expire, cancel_a, NULL);
    sched_require(stage.taken + request->expired == 1);
    end_either(request);
}

void cancel_key_against_the_driver(void)
{
    stage_open((struct stage_config){.has_driver = true});
    struct request *request = must_watch(0, KEY_A, SCENE_TICK);
    scene_settle();
    unsigned other = stage_spawn(cancel_a, request);
    stage_turn(SCENE_TICK);
    sched_join(other);
    scene_settle();
    sched_require(stage.taken + request->expired == 1);
    end_either(request);
}

void cancel_key_against_complete(void)
{
    struct request *request = one_watched(KEY_A | KEY_B);
    request_hold(request);
    stage_race(request, cancel_a, force_held, NULL);
    sched_require(stage.taken + request->forced == 1);
    end_either(request);
}

/* While a check tries it in vain. */
void cancel_key_against_complete_and_check(void)
{
    struct request *request = one_watched(KEY_A);
    request_hold(request);
    stage_race(request, cancel_a, force_held, check_a);
    sched_require(stage.taken + request->forced == 1);
    end_either(request);
}

void cancel_key_against_check_and_expire(void)
{
    struct request *request = one_due(KEY_A);
    stage_race(request, expire, cancel_a, meet_and_check);
    sched_require(stage.taken + stage.checked + request->expired == 1);
    end_either(request);
}

/* Each of two is handed back by one of them. */
void cancel_key_against_cancel_key(void)
{
    one_watched(KEY_A);
    must_watch(1, KEY_A, SCENE_FAR);
    stage_race(NULL, cancel_a, cancel_a, NULL);
    sched_require(stage.taken == 2);
    stage_end_empty();
}

/* From both ends. */
void cancel_of_two_keys(void)
{
    stage_open((struct stage_config){.shards = 2});
    must_watch(0, KEY_A | KEY_B, SCENE_FAR);
    must_watch(1, KEY_B | KEY_C, SCENE_FAR);
    stage_race(NULL, cancel_a, cancel_b, NULL);
    sched_require(stage.taken == 2);
    stage_end_empty();
}

static void watch_next(struct request *request)
{
    sched_require(request_watch(request + 1, KEY_A, SCENE_FAR) == 0);
}

/* Who is handed back makes another, on the key that is being cancelled. */
void watch_inside_cancel_against_check(void)
{
    struct request *first = one_watched(KEY_A);
    first->in_cancel = watch_next;
    stage_race(first, cancel_a, meet_and_check, NULL);
    sched_require(first->completed + first->cancelled == 1);
    sched_require(first[1].lives == first->cancelled);
    stage_end();
}

/* A completion cancels the key it was completed by: all but itself. */
void cancel_inside_a_check(void)
{
    struct request *first = one_watched(KEY_A);
    must_watch(1, KEY_A, SCENE_FAR);
    must_watch(2, KEY_A | KEY_B, SCENE_FAR);
    first->in_complete = cancel_a;
    first[2].is_met = true;
    stage_race(first, meet_and_check, check_b, NULL);
    sched_require(first->completed == 1);
    sched_require(first[1].cancelled == 1);
    sched_require(first[2].completed + first[2].cancelled == 1);
    stage_end_empty();
}
