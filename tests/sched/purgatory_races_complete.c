/*
 * purgatory_races_complete.c - scenarios: completed once, by whoever gets there
 * first (P2), and never not at all.
 *
 * A request is due where its timeout has come and the service has yet to see
 * it; expire() is who does.
 */
#include "purgatory_races.h"

#include "purgatory_actors.h"
#include "purgatory_scene.h"

void complete_against_expire(void)
{
    struct request *request = one_due(KEY_A);
    request_hold(request);
    stage_race(request, expire, force_held, NULL);
    sched_require(request->forced + request->expired == 1);
    end_completed(request);
}

void check_against_expire(void)
{
    struct request *request = one_due(KEY_A);
    stage_race(request, expire, meet_and_check, NULL);
    sched_require(stage.checked + request->expired == 1);
    end_completed(request);
}

/* Who is trying it calls on_expire, too. */
void check_in_vain_against_expire(void)
{
    struct request *request = one_due(KEY_A);
    stage_race(request, expire, check_a, NULL);
    sched_require(request->expired == 1);
    end_completed(request);
}

void check_against_the_driver(void)
{
    stage_open((struct stage_config){.has_driver = true});
    struct request *request = must_watch(0, KEY_A, SCENE_TICK);
    scene_settle();
    unsigned other = stage_spawn(meet_and_check, request);
    stage_turn(SCENE_TICK);
    sched_join(other);
    scene_settle();
    sched_require(stage.checked + request->expired == 1);
    end_completed(request);
}

void complete_against_check(void)
{
    struct request *request = one_watched(KEY_A);
    request_hold(request);
    stage_race(request, meet_and_check, force_held, NULL);
    sched_require(stage.checked + request->forced == 1);
    end_completed(request);
}

/* Who is trying it calls on_complete, but has not completed it; who has, does
 * not touch it when the other has released it. */
void complete_against_check_in_vain(void)
{
    stage_open((struct stage_config){.is_guarded = true});
    struct request *request = must_watch(0, KEY_A, SCENE_TICK);
    stage_race(request, check_a, force, NULL);
    sched_require(request->forced == 1);
    sched_require(stage.checked == 0);
    end_completed(request);
}

void complete_against_complete(void)
{
    struct request *request = one_watched(KEY_A);
    request_hold(request);
    request_hold(request);
    stage_race(request, force_held, force_held, NULL);
    sched_require(request->forced == 1);
    end_completed(request);
}

void complete_against_check_and_expire(void)
{
    struct request *request = one_due(KEY_A);
    request_hold(request);
    stage_race(request, expire, meet_and_check, force_held);
    sched_require(stage.checked + request->forced + request->expired == 1);
    end_completed(request);
}

void check_against_check(void)
{
    struct request *request = one_watched(KEY_A);
    stage_race(request, meet_and_check, meet_and_check, NULL);
    sched_require(stage.checked == 1);
    end_completed(request);
}

/* What is made true while another tries it in vain is not lost: it tries
 * again. */
void check_against_check_in_vain(void)
{
    struct request *request = one_watched(KEY_A);
    stage_race(request, check_a, meet_and_check, NULL);
    sched_require(stage.checked == 1);
    end_completed(request);
}

/* The same if two have tried in vain, one telling the other. */
void check_against_two_checks_in_vain(void)
{
    struct request *request = one_watched(KEY_A);
    stage_race(request, check_a, meet_and_check, check_a);
    sched_require(stage.checked == 1);
    end_completed(request);
}

static struct request *one_on_two_shards(void)
{
    stage_open((struct stage_config){.shards = 2});
    return must_watch(0, KEY_A | KEY_B, SCENE_TICK);
}

void check_of_two_keys(void)
{
    struct request *request = one_on_two_shards();
    stage_race(request, meet_and_check, meet_and_check_b, NULL);
    sched_require(stage.checked == 1);
    end_completed(request);
}

void check_of_two_keys_against_expire(void)
{
    struct request *request = one_on_two_shards();
    stage_turn(SCENE_TICK);
    stage_race(request, meet_and_check, meet_and_check_b, expire);
    sched_require(stage.checked + request->expired == 1);
    end_completed(request);
}

/* Both keys are watched by two, in different orders of arrival. */
void check_of_two_keys_of_two(void)
{
    struct request *first = one_on_two_shards();
    struct request *second = must_watch(1, KEY_A | KEY_B, SCENE_TICK);
    second->is_met = true;
    stage_race(first, meet_and_check, meet_and_check_b, NULL);
    sched_require(stage.checked == 2);
    sched_require(first->completed == 1);
    sched_require(second->completed == 1);
    stage_end_empty();
}

/* An operation may say by force that it is complete, and deny it. */
void complete_inside_against_check(void)
{
    struct request *request = one_watched(KEY_A);
    request->in_try = complete_itself;
    stage_race(request, meet_and_check, meet_and_check, NULL);
    end_completed(request);
}

static void check_again(struct request *request)
{
    (void)request;
    notify_key(KEY_A);
    sched_require(tkw_purgatory_read_stats(stage.purgatory).watched <= 2);
}

/* A completion checks the key it was completed by. */
void check_inside_against_check(void)
{
    struct request *first = one_watched(KEY_A);
    must_watch(1, KEY_A | KEY_B, SCENE_FAR);
    first->in_complete = check_again;
    first[1].in_complete = check_again;
    first[1].is_met = true;
    stage_race(first, meet_and_check, check_b, NULL);
    sched_require(stage.checked == 2);
    sched_require(first[1].completed == 1);
    end_completed(first);
}

/* The user's lock is one that a thread may take twice. */
static unsigned lock_holder;

static unsigned self(void)
{
    return sync_self()->number;
}

static void take_lock(struct request *request)
{
    (void)request;
    if (lock_holder == self())
        return;
    sync_lock(&stage.mutex);
    sync_unlock(&stage.mutex);
}

static void meet_and_check_locked(struct request *request)
{
    sync_lock(&stage.mutex);
    lock_holder = self();
    meet_and_check(request);
    lock_holder = 0;
    sync_unlock(&stage.mutex);
}

/* It does not wait for the other, who waits for its lock. */
void check_holding_a_lock_against_check(void)
{
    struct request *request = one_watched(KEY_A);
    lock_holder = 0;
    request->in_try = take_lock;
    stage_race(request, check_a, meet_and_check_locked, NULL);
    sched_require(stage.checked == 1);
    end_completed(request);
}

void check_holding_a_lock_against_expire(void)
{
    struct request *request = one_due(KEY_A);
    lock_holder = 0;
    request->in_try = take_lock;
    stage_race(request, expire, meet_and_check_locked, NULL);
    end_completed(request);
}

/* Three on key A, the one in the middle on B, too. */
static struct request *three_on_a_list(void)
{
    stage_open((struct stage_config){.shards = 2});
    must_watch(0, KEY_A, SCENE_FAR);
    must_watch(1, KEY_A | KEY_B, SCENE_FAR);
    must_watch(2, KEY_A, SCENE_FAR);
    return &stage.requests[1];
}

/* While a check goes along a list, others leave it: it loses nobody. */
void check_against_leaving(void)
{
    struct request *middle = three_on_a_list();
    stage.requests[0].is_met = true;
    stage.requests[2].is_met = true;
    stage_race(middle, check_a, meet_and_check_b, NULL);
    sched_require(stage.requests[0].completed == 1);
    sched_require(stage.requests[2].completed == 1);
    sched_require(stage.checked == 3);
    end_completed(middle);
}

/* The same of those it tries in vain. */
void check_in_vain_against_leaving(void)
{
    struct request *middle = three_on_a_list();
    stage_race(middle, check_a, meet_and_check_b, NULL);
    sched_require(stage.requests[0].tried == 3);
    sched_require(stage.requests[2].tried == 3);
    sched_require(middle->completed == 1);
    stage_end();
}

static void meet_all_and_check(struct request *unused)
{
    (void)unused;
    for (int i = 0; i < STAGE_REQUESTS; i++)
        stage.requests[i].is_met = true;
    notify_key(KEY_A);
}

/* Two go along the same list: each is completed by one of them. */
void check_all_against_check_all(void)
{
    three_on_a_list();
    stage_race(NULL, meet_all_and_check, meet_all_and_check, NULL);
    sched_require(stage.checked == 3);
    stage_end_empty();
}
