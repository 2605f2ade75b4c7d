/*
 * act.c - what callbacks do: arm, cancel and move themselves and others, take
 * long, ask for what is an error, stop their service.
 */
#include "ops.h"

#include <errno.h>
#include <inttypes.h>

#include "watch.h"

/* One in this many callbacks that may stops the service, ... */
enum { STOPS_EACH = 4000, SLOW_EACH = 400 };

static void cancel_self(struct probe *probe, tkw_handle handle)
{
    int answer = tkw_service_cancel(probe->scene->service, handle);
    DEMAND(answer == -EBUSY, "%s: timer %" PRIu32 " cancels itself: %d",
           kind_name(probe->scene->kind), probe->number, answer);
    probe_note_cancel(probe, false, answer);
    /* This call has begun: no other may. */
    atomic_store(&probe->calls_max, atomic_load(&probe->started));
    atomic_store(&probe->has_ended_itself, true);
}

/* What cannot be, from in here. */
static void expect_errors(struct probe *probe, tkw_handle handle)
{
    struct scene *scene = probe->scene;
    int answer = tkw_service_cancel_sync(scene->service, handle);
    DEMAND(answer == -EDEADLK, "a callback waits for itself: %d", answer);
    answer = tkw_service_close(scene->service, NULL, NULL);
    DEMAND(answer == -EDEADLK, "a callback closes its service: %d", answer);
    answer = tkw_service_run(scene->service, 0);
    int expected = scene->config.driver == TKW_DRIVER_NONE ? -EDEADLK : -EINVAL;
    DEMAND(answer == expected, "a callback runs its service: %d", answer);
    enum tkw_state state = tkw_service_query(scene->service, handle, NULL);
    DEMAND(state == TKW_RUNNING, "a callback is not running: %d", (int)state);
}

static void at(struct probe *probe, const char *where)
{
    atomic_store(&probe->where, where);
}

/* Those that may wait for other callbacks. */
static void act_waiting(struct probe *probe, struct random *random)
{
    struct scene *scene = probe->scene;
    switch (random_below(random, 4)) {
    case 0:
        at(probe, "in cancel_owner");
        op_cancel_owner(scene, random, probe);
        break;
    case 1:
        at(probe, "helping the crew");
        if (scene->config.submit != NULL)
            crew_help(&scene->crew);
        break;
    default:
        at(probe, "in cancel_sync");
        op_cancel_sync(scene, random, probe);
        break;
    }
}

static void act_once(struct probe *probe, tkw_handle handle,
                     struct random *random, unsigned depth)
{
    struct scene *scene = probe->scene;
    switch (random_below(random, 16)) {
    case 0:
    case 1:
        at(probe, "arming");
        op_arm(scene, random);
        break;
    case 2:
        at(probe, "in cancel");
        op_cancel(scene, random);
        break;
    case 3:
        if (depth == 1)
            act_waiting(probe, random);
        break;
    case 4:
        at(probe, "moving another");
        op_move(scene, random);
        break;
    case 5:
    case 6:
        at(probe, "reviving itself");
        if (atomic_load(&probe->started) < probe->lives)
            op_revive_self(probe, handle, random);
        break;
    case 7:
        at(probe, "asking for errors");
        expect_errors(probe, handle);
        break;
    case 8:
        at(probe, "in cancel_many");
        op_cancel_many(scene, random);
        break;
    default:
        break;
    }
}

/* Nothing repeats for ever, or those that make up for what they have missed
 * would be all there is to do; one with a next function ends by that. */
static bool has_lived(const struct probe *probe, unsigned call)
{
    return probe->period_ns != 0 && call >= probe->lives;
}

void probe_act(struct probe *probe, tkw_handle handle, unsigned call,
               unsigned depth)
{
    struct scene *scene = probe->scene;
    struct random random = {handle * 31 + call};
    /* This callback was counted as inside before: see scene_calm(). */
    bool is_calm = atomic_load(&scene->is_calm);
    if (!is_calm)
        act_once(probe, handle, &random, depth);
    if (has_lived(probe, call) ||
        (probe->repeats && random_below(&random, 64) == 0))
        cancel_self(probe, handle);
    if (is_calm)
        return;
    if (random_below(&random, SLOW_EACH) == 0) {
        at(probe, "being slow");
        tally_add(&tally.slow, 1);
        sleep_ns(random_log(&random, 24));
    }
    if (random_below(&random, STOPS_EACH) == 0) {
        at(probe, "in stop");
        op_stop(scene, true);
    }
}
