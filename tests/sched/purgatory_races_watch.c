/*
 * purgatory_races_watch.c - scenarios: what happens while an operation is about
 * to be watched is not lost, and one that is refused is the caller's again.
 */
#include "purgatory_races.h"

#include "purgatory_actors.h"
#include "purgatory_scene.h"

static void watch_a(struct request *request)
{
    request_watch(request, KEY_A, SCENE_FAR);
}

static void watch_a_and_b(struct request *request)
{
    request_watch(request, KEY_A | KEY_B, SCENE_FAR);
}

static void watch_for_no_time(struct request *request)
{
    request_watch(request, KEY_A, 0);
}

static struct request *one_to_come(void)
{
    stage_open((struct stage_config){.shards = 2});
    return &stage.requests[0];
}

/* The condition becomes true and the key is checked, anywhere between its two
 * tries: neither finds it in vain (KAFKA-6653). */
void check_against_watch(void)
{
    struct request *request = one_to_come();
    stage_race(request, watch_a, meet_and_check, NULL);
    sched_require(request->answer >= 0);
    end_completed(request);
}

void check_of_the_last_key_against_watch(void)
{
    struct request *request = one_to_come();
    stage_race(request, watch_a_and_b, meet_and_check_b, NULL);
    sched_require(request->answer >= 0);
    end_completed(request);
}

void check_of_two_keys_against_watch(void)
{
    struct request *request = one_to_come();
    stage_race(request, watch_a_and_b, meet_and_check, meet_and_check_b);
    sched_require(request->answer >= 0);
    end_completed(request);
}

/* Who checks in vain leaves the request as it was. */
void check_in_vain_against_watch(void)
{
    struct request *request = one_to_come();
    stage_race(request, watch_a_and_b, check_a, check_b);
    sched_require(request->answer == 0);
    sched_require(request->completed == 0);
    sched_require(request->tried >= 2);
    stage_check();
    meet_and_check_b(request);
    end_completed(request);
}

/* Its time has come before it is there. */
void expire_against_watch(void)
{
    struct request *request = one_to_come();
    stage_race(request, watch_for_no_time, expire, NULL);
    sched_require(request->answer >= 0);
    expire(NULL);
    sched_require(request->expired == 1);
    end_completed(request);
}

void expire_against_watch_and_check(void)
{
    struct request *request = one_to_come();
    stage_race(request, watch_for_no_time, meet_and_check, expire);
    sched_require(request->answer >= 0);
    expire(NULL);
    end_completed(request);
}

/* The driver is there at once. */
void watch_for_no_time_against_the_driver(void)
{
    stage_open((struct stage_config){.has_driver = true});
    struct request *request = &stage.requests[0];
    watch_for_no_time(request);
    scene_settle();
    sched_require(request->answer >= 0);
    sched_require(request->expired == 1);
    end_completed(request);
}

/* That it is in is known by its having been tried. */
static void force_if_in(struct request *request)
{
    SYNC_POINT();
    if (request->tried > 0)
        request_complete(request);
}

static void force_if_in_held(struct request *request)
{
    force_if_in(request);
    request_unhold(request);
}

/* Who watches it may have released it before the other is back. */
void complete_against_watch(void)
{
    stage_open((struct stage_config){.shards = 2, .is_guarded = true});
    struct request *request = &stage.requests[0];
    stage_race(request, watch_a_and_b, force_if_in, NULL);
    sched_require(request->answer >= 0);
    sched_require(request->completed == request->forced);
    stage_end();
}

/* The same, while a check is at it. */
void complete_against_watch_and_check(void)
{
    struct request *request = one_to_come();
    request_hold(request);
    stage_race(request, watch_a, force_if_in_held, meet_and_check);
    sched_require(request->answer >= 0);
    end_completed(request);
}

/* By force, in its own try. */
void complete_inside_against_watch(void)
{
    struct request *request = one_to_come();
    request->in_try = complete_itself;
    stage_race(request, watch_a, meet_and_check, NULL);
    sched_require(request->answer >= 0);
    end_completed(request);
}

/* Whatever it takes out is out for good; or it was missed. */
void cancel_against_watch(void)
{
    struct request *request = one_to_come();
    stage_race(request, watch_a_and_b, cancel_a, NULL);
    sched_require(request->answer == 0);
    stage_check();
    if (!request_is_over(request))
        sched_require(cancel_key(KEY_B) == 1);
    sched_require(request->cancelled == 1);
    stage_end_empty();
}

void cancel_of_two_keys_against_watch(void)
{
    struct request *request = one_to_come();
    stage_race(request, watch_a_and_b, cancel_a, cancel_b);
    sched_require(request->answer == 0);
    sched_require(request->cancelled <= 1);
    stage_end();
}

static void watch_second(struct request *request)
{
    watch_a(request + 1);
}

/* On a key that neither is the first to know. */
void watch_against_watch(void)
{
    struct request *first = one_to_come();
    stage_race(first, watch_a, watch_second, NULL);
    stage_check();
    first[0].is_met = true;
    first[1].is_met = true;
    sched_require(notify_key(KEY_A) == 2);
    stage_end_empty();
}

/* Put in what is in, or about to be. */
static void watch_too(struct request *request)
{
    struct tkw_key key = tkw_key_number(KEY_A);
    SYNC_POINT();
    if (request->tried > 0)
        request->second = tkw_purgatory_try_complete_else_watch(
            stage.purgatory, request->operation, &key, 1);
}

void watch_twice(void)
{
    struct request *request = one_to_come();
    request->second = -EBUSY;
    stage_race(request, watch_a_and_b, watch_too, NULL);
    sched_require(request->answer == 0);
    sched_require(request->second == -EBUSY);
    stage_end();
}

/* The key goes with the last that is watched on it, and comes back. */
void watch_against_the_last_leaving(void)
{
    struct request *first = one_to_come();
    must_watch(0, KEY_A, SCENE_FAR);
    stage_race(first, meet_and_check, watch_second, NULL);
    sched_require(first->completed == 1);
    stage_check();
    first[1].is_met = true;
    sched_require(notify_key(KEY_A) == 1);
    stage_end_empty();
}

static void meet_second_and_check(struct request *request)
{
    meet_and_check(request + 1);
}

/* A request that is answered makes another, on the key that is being checked:
 * it does not get lost either. */
void watch_inside_against_check(void)
{
    struct request *first = one_to_come();
    must_watch(0, KEY_A, SCENE_FAR);
    first->in_complete = watch_second;
    stage_race(first, meet_and_check, meet_second_and_check, NULL);
    sched_require(first->completed == 1);
    sched_require(first[1].lives == 1);
    stage_check();
    if (!request_is_over(&first[1]))
        sched_require(notify_key(KEY_A) == 1);
    stage_end_empty();
}

/* One that takes its place each time is tried, but not for ever. */
void watch_inside_a_check_of_two(void)
{
    struct request *first = one_to_come();
    must_watch(0, KEY_A, SCENE_FAR);
    first->in_complete = watch_second;
    first[1].in_complete = watch_second;
    stage_race(first, meet_and_check, meet_second_and_check, check_a);
    sched_require(first->completed == 1);
    sched_require(first[1].lives == 1);
    stage_end();
}

/* The service has as many timers as it may. */
static struct request *one_too_many(void)
{
    stage_open((struct stage_config){
        .shards = 2, .timers_max = 1, .is_guarded = true});
    stage_fill();
    return &stage.requests[0];
}

/* Refused, and nobody has touched it since; or completed just in time. */
static void end_refused(const struct request *request)
{
    bool is_refused = request->answer < 0;
    sched_require(request->answer != 0 || request_is_over(request));
    sched_require(!is_refused || request->answer == -EAGAIN);
    sched_require(request->refused == (is_refused ? 1 : 0));
    sched_require(request->lives == (is_refused ? 0 : 1));
    stage_end_empty();
}

void refused_against_check(void)
{
    struct request *request = one_too_many();
    stage_race(request, watch_a_and_b, meet_and_check, NULL);
    end_refused(request);
}

void refused_against_checks_in_vain(void)
{
    struct request *request = one_too_many();
    stage_race(request, watch_a_and_b, check_a, check_b);
    sched_require(request->answer == -EAGAIN);
    end_refused(request);
}

void refused_against_complete(void)
{
    struct request *request = one_too_many();
    request_hold(request);
    stage_race(request, watch_a_and_b, force_if_in_held, NULL);
    sched_require(request->completed == request->forced);
    end_refused(request);
}

void refused_against_cancel(void)
{
    struct request *request = one_too_many();
    stage_race(request, watch_a_and_b, cancel_a, NULL);
    sched_require(request->answer == (request->cancelled ? 0 : -EAGAIN));
    end_refused(request);
}

void refused_against_cancel_and_check(void)
{
    struct request *request = one_too_many();
    stage_race(request, watch_a_and_b, cancel_a, meet_and_check_b);
    end_refused(request);
}

/* Another is on the same keys, and leaves them. */
void refused_against_leaving(void)
{
    stage_open((struct stage_config){
        .shards = 2, .timers_max = 1, .is_guarded = true});
    struct request *first = must_watch(0, KEY_A | KEY_B, SCENE_FAR);
    unsigned other = stage_spawn(watch_a_and_b, &first[1]);
    meet_and_check(first);
    sched_join(other);
    sched_require(first->completed == 1);
    sched_require(first[1].answer == 0 || first[1].answer == -EAGAIN);
    stage_end();
}

static void run_out_and_watch(struct request *request)
{
    stage.fails = true;
    watch_a_and_b(request + 1);
    stage.fails = false;
}

/* There is no memory for another. */
void out_of_memory_against_check(void)
{
    stage_open((struct stage_config){.shards = 2, .is_guarded = true});
    struct request *first = must_watch(0, KEY_A, SCENE_FAR);
    stage_race(first, meet_and_check, run_out_and_watch, NULL);
    sched_require(first->completed == 1);
    sched_require(first[1].answer == -ENOMEM);
    stage_end_empty();
}

/* Watched, or refused because there will be no timeouts any more. */
void stop_against_watch(void)
{
    struct request *request = one_to_come();
    stage_race(request, watch_a_and_b, stop_service, NULL);
    sched_require(request->answer == 0 || request->answer == -ESHUTDOWN);
    sched_require(request_watch(&request[1], KEY_A, SCENE_FAR) == -ESHUTDOWN);
    stage_end();
}
