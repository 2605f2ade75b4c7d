/*
 * service/loop_scenes_end.c - a service and an event loop that part, or stop,
 * or cannot be brought together: nothing is called, nothing is lost, and the
 * loop sleeps.
 */
#include "loop_scenes.h"

void closing_the_loop_leaves_timers_pending_to_be_handed_back(void **state)
{
    struct stage stage;
    struct probe done = {0}, due = {0}, later = {0};
    stage_open(&stage, *state);
    probe_arm(&stage.scene, &done, 50);
    probe_arm(&stage.scene, &due, 100);
    probe_arm(&stage.scene, &later, HOUR);
    stage_go(&stage, 1050);
    tkw_manual_clock_set(stage.scene.manual, 1100);
    stage.kind->detach(stage.loop);
    assert_int_equal(tkw_service_count(stage.scene.service), 2);
    scene_close(&stage.scene); /* counts them, too */
    stage.kind->close(stage.loop);
    assert_int_equal(ran(&done), 1);
    assert_int_equal(ran(&due), 0);
    assert_int_equal(ran(&later), 0);
    assert_int_equal(dropped(&done), 0);
    assert_int_equal(dropped(&due), 1);
    assert_int_equal(dropped(&later), 1);
}

/* Other events go on; the timers are still the service's. */
void a_loop_closed_in_a_callback_calls_no_more(void **state)
{
    struct stage stage;
    struct other other = {0};
    struct probe closer = {.act = detach_the_loop}, later = {0};
    stage_open(&stage, *state);
    other_open(&other, &stage);
    other_ring(&other);
    probe_arm(&stage.scene, &closer, 100);
    probe_arm(&stage.scene, &later, 200);
    tkw_manual_clock_set(stage.scene.manual, 1100);
    for (int turns = 0; ran(&closer) == 0; turns++) {
        assert_true(turns < TURNS_MAX);
        stage.kind->turn(stage.loop, true);
    }
    tkw_manual_clock_set(stage.scene.manual, 1200);
    unsigned before = other.calls;
    for (int turns = 0; turns < 10; turns++)
        stage.kind->turn(stage.loop, true);
    assert_int_equal(other.calls - before, 10);
    assert_int_equal(ran(&later), 0);
    assert_int_equal(scene_rest(&stage.scene), 1);
    assert_int_equal(ran(&later), 1);
    other_close(&other);
    scene_close(&stage.scene);
    stage.kind->close(stage.loop);
}

void a_loop_closed_is_opened_again(void **state)
{
    struct stage stage;
    struct probe probes[3] = {0};
    stage_open(&stage, *state);
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        probe_arm(&stage.scene, &probes[i], 100);
        stage.kind->detach(stage.loop);
        stage.kind->turn(stage.loop, false);
        tkw_manual_clock_advance(stage.scene.manual, 100);
        stage.kind->turn(stage.loop, false);
        assert_int_equal(ran(&probes[i]), 0);
        stage_attach(&stage);
        stage_rest(&stage);
        assert_int_equal(ran(&probes[i]), 1);
    }
    stage_close(&stage);
}

static void stop_the_service(struct probe *probe)
{
    tkw_service_stop(probe->scene->service);
}

/* What is due is never called: it must not keep the descriptor readable. */
void a_stopped_service_lets_the_loop_sleep(void **state)
{
    for (int by_callback = 0; by_callback < 2; by_callback++) {
        struct stage stage;
        struct probe stopper = {.act = stop_the_service}, due = {0};
        stage_open(&stage, *state);
        if (by_callback)
            probe_arm(&stage.scene, &stopper, 100);
        probe_arm(&stage.scene, &due, 100);
        tkw_manual_clock_set(stage.scene.manual, 1100);
        if (!by_callback)
            tkw_service_stop(stage.scene.service);
        stage_rest(&stage);
        stage_go(&stage, 1200);
        assert_int_equal(ran(&due), 0);
        assert_int_equal(tkw_service_count(stage.scene.service), 1);
        stage_close(&stage);
        assert_int_equal(dropped(&due), 1);
    }
}

/* The last timer, which tells the loop so. */
struct ringer {
    struct probe probe;
    const struct other *other;
};

static void ring(struct probe *probe)
{
    other_ring(TKW_CONTAINER(probe, struct ringer, probe)->other);
}

/* L13: what there is no room for stays pending and does not keep the descriptor
   readable; when there is room, the loop is woken. */
void workers_without_room_let_the_loop_sleep(void **state)
{
    struct stage stage = {.kind = *state};
    struct gate gate;
    struct other other = {0};
    struct probe held = {.act = gate_hold, .gate = &gate}, waiting[3] = {0};
    struct ringer last = {.probe = {.act = ring}, .other = &other};
    stage.loop = stage.kind->open();
    scene_open(&stage.scene, 1000,
               (struct tkw_service_config){.tick_ns = 10,
                                           .shards = 1,
                                           .driver = TKW_DRIVER_NONE,
                                           .workers = 1,
                                           .queue_max = 1});
    stage_attach(&stage);
    other_open(&other, &stage);
    gate_init(&gate);
    probe_arm(&stage.scene, &held, 100);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        probe_arm(&stage.scene, &waiting[i], 100);
    probe_arm(&stage.scene, &last.probe, 100);
    stage_go(&stage, 1100);
    gate_await(&gate);
    stage_rest(&stage);
    assert_int_equal(tkw_service_count(stage.scene.service), 4);

    gate_open(&gate);
    for (int turns = 0; other.calls == 0; turns++) {
        assert_true(turns < TURNS_MAX);
        stage.kind->turn(stage.loop, true);
    }
    assert_int_equal(tkw_service_count(stage.scene.service), 0);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        assert_int_equal(ran(&waiting[i]), 1);
    tkw_service_stop(stage.scene.service);
    other_close(&other);
    gate_done(&gate);
    stage_close(&stage);
}

/* And nothing is left in the loop: closing it would say so. */
void a_service_with_a_driver_is_refused(void **state)
{
    const struct loop_kind *kind = *state;
    struct scene scene;
    struct probe probe = {0};
    void *loop = kind->open();
    scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
    assert_int_equal(kind->attach(loop, scene.service), -EINVAL);
    probe_arm(&scene, &probe, 100);
    assert_int_equal(scene_go(&scene, 1100), 1);
    kind->close(loop);
    scene_close(&scene);
}

/* The clock of somebody who has never heard of event loops. */
static uint64_t their_now(void *context)
{
    (void)context;
    return 1000;
}

static void their_wait(void *context, uint64_t time)
{
    (void)context;
    (void)time;
}

static void their_wake(void *context)
{
    (void)context;
}

void a_clock_without_a_descriptor_is_refused(void **state)
{
    const struct loop_kind *kind = *state;
    const struct tkw_clock clock = {
        .now = their_now, .wait_until = their_wait, .wake = their_wake};
    struct scene scene;
    void *loop = kind->open();
    scene_open(&scene, 0,
               (struct tkw_service_config){.driver = TKW_DRIVER_NONE,
                                           .clock = &clock});
    assert_int_equal(kind->attach(loop, scene.service), -ENOTSUP);
    kind->close(loop);
    scene_close(&scene);
}
