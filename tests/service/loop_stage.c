/*
 * service/loop_stage.c - a loop with a service attached, and another event for
 * it.
 */
#define _POSIX_C_SOURCE 200809L

#include "loop_stage.h"

#include <unistd.h>

void stage_attach(struct stage *stage)
{
    assert_int_equal(stage->kind->attach(stage->loop, stage->scene.service), 0);
    stage->fd = tkw_service_fd(stage->scene.service);
    assert_true(stage->fd >= 0);
}

void stage_open(struct stage *stage, const struct loop_kind *kind)
{
    stage->kind = kind;
    stage->loop = kind->open();
    scene_open_tens(&stage->scene, 1000, TKW_DRIVER_NONE);
    stage_attach(stage);
}

void stage_rest(struct stage *stage)
{
    for (int turns = 0; is_readable(stage->fd); turns++) {
        assert_true(turns < TURNS_MAX);
        stage->kind->turn(stage->loop, false);
    }
}

void stage_go(struct stage *stage, uint64_t now)
{
    tkw_manual_clock_set(stage->scene.manual, now);
    stage_rest(stage);
}

void stage_close(struct stage *stage)
{
    stage->kind->detach(stage->loop);
    scene_close(&stage->scene);
    stage->kind->close(stage->loop);
}

void detach_the_loop(struct probe *probe)
{
    struct stage *stage = TKW_CONTAINER(probe->scene, struct stage, scene);
    stage->kind->detach(stage->loop);
}

static void other_ready(void *context)
{
    struct other *other = context;
    other->calls++;
    if (other->victim != NULL)
        other->answer = tkw_service_cancel(other->stage->scene.service,
                                           other->victim->handle);
}

void other_open(struct other *other, struct stage *stage)
{
    other->stage = stage;
    assert_int_equal(pipe(other->ends), 0);
    stage->kind->watch(stage->loop, other->ends[0], other_ready, other);
}

void other_ring(const struct other *other)
{
    (void)!write(other->ends[1], "!", 1);
}

void other_close(struct other *other)
{
    other->stage->kind->unwatch(other->stage->loop);
    close(other->ends[0]);
    close(other->ends[1]);
}
