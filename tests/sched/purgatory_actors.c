/*
 * purgatory_actors.c - what the scenarios of more than one file do.
 */
#include "purgatory_actors.h"

struct request *one_watched(unsigned keys)
{
    stage_open((struct stage_config){0});
    return must_watch(0, keys, SCENE_TICK);
}

struct request *one_due(unsigned keys)
{
    struct request *request = one_watched(keys);
    stage_turn(SCENE_TICK);
    return request;
}

void meet_and_check(struct request *request)
{
    request->is_met = true;
    notify_key(KEY_A);
}

void meet_and_check_b(struct request *request)
{
    request->is_met = true;
    notify_key(KEY_B);
}

void check_a(struct request *unused)
{
    (void)unused;
    notify_key(KEY_A);
}

void check_b(struct request *unused)
{
    (void)unused;
    notify_key(KEY_B);
}

void cancel_a(struct request *unused)
{
    (void)unused;
    cancel_key(KEY_A);
}

void cancel_b(struct request *unused)
{
    (void)unused;
    cancel_key(KEY_B);
}

void force(struct request *request)
{
    request_complete(request);
}

void force_held(struct request *request)
{
    request_complete(request);
    request_unhold(request);
}

void expire(struct request *unused)
{
    (void)unused;
    sched_require(tkw_service_run(scene.service, 0) >= 0);
}

void stop_service(struct request *unused)
{
    (void)unused;
    tkw_service_stop(scene.service);
}

/* It is the check, or the watching, in which this is tried that claims it. */
void complete_itself(struct request *request)
{
    if (request->is_met)
        tkw_purgatory_complete(stage.purgatory, request->operation);
}

void end_completed(const struct request *request)
{
    sched_require(request->completed == 1);
    stage_end_empty();
}
