/*
 * service_owed_test.c - timers that have left their pool and must get back into
 * it, when the pool cannot grow any more: those that repeat, and one whose time
 * comes while it is running.
 */
#include "executor_support.h"

/* The memory of jobs is to be had, and nothing smaller. */
struct starved {
    struct tkw_allocator allocator;
    atomic_bool is_starving;
};

static void *starved_allocate(void *context, size_t bytes)
{
    struct starved *starved = context;
    if (atomic_load(&starved->is_starving) && bytes < 1 << 20)
        return NULL;
    return malloc(bytes);
}

static void starved_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

static void starved_init(struct starved *starved)
{
    *starved = (struct starved){.allocator = {.allocate = starved_allocate,
                                              .release = starved_release,
                                              .context = starved}};
}

static void nothing(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
}

/* Arm until there is no memory.  Returns the last one that was armed. */
static tkw_handle fill(struct scene *scene, struct starved *starved)
{
    atomic_store(&starved->is_starving, true);
    tkw_handle last = 0;
    int error = 0;
    for (uint64_t i = 0; error == 0; i++)
        error = tkw_service_arm(scene->service, &last, HOUR + i,
                                (struct tkw_task){.callback = nothing});
    assert_int_equal(error, -ENOMEM);
    assert_int_not_equal(last, 0);
    return last;
}

static void scene_open_starved(struct scene *scene, struct starved *starved,
                               uint32_t workers)
{
    struct tkw_service_config config = hands(workers, 0, NULL);
    starved_init(starved);
    config.allocator = &starved->allocator;
    scene_open(scene, 1000, config);
}

/* While it is running, others take all there is but its place: they are
   refused, and it goes on. */
static void what_repeats_gets_its_place_back_in_a_full_pool(void **state)
{
    (void)state;
    for (uint32_t workers = 0; workers < 2; workers++) {
        struct scene scene;
        struct starved starved;
        struct gate gate;
        struct probe probe = {.gate = &gate, .act = gate_hold};
        gate_init(&gate);
        scene_open_starved(&scene, &starved, workers);
        struct tkw_plan plan = {.task = probe_task(&scene, &probe),
                                .period_ns = 100};
        assert_int_equal(
            tkw_service_arm_plan(scene.service, &probe.handle, &plan), 0);
        gate_await(&gate);
        tkw_handle last = fill(&scene, &starved);
        /* Moving leaves something behind, that takes room as well. */
        int result = 1;
        for (unsigned i = 0; result == 1 && i < 10000; i++)
            result = tkw_service_rearm(scene.service, last, HOUR);
        assert_int_equal(result, -ENOMEM);
        assert_int_equal(
            tkw_service_arm(scene.service, NULL, 50,
                            (struct tkw_task){.callback = nothing}),
            -ENOMEM);
        probe.act = NULL;
        gate_open(&gate);
        for (uint64_t i = 1; i <= 50; i++) {
            probe_await_end(&probe);
            scene_go(&scene, 1000 + 100 * i);
            probe_await(&probe, (unsigned)i + 1);
        }
        probe_await_end(&probe);
        assert_int_equal(tkw_service_cancel_sync(scene.service, probe.handle),
                         1);
        scene_close(&scene);
        gate_done(&gate);
    }
}

/* It was to be called at once when it has returned; there is no memory to move
   it there, so it comes a second later. */
static void what_is_late_in_a_full_pool_comes_by_itself(void **state)
{
    (void)state;
    struct scene scene;
    struct starved starved;
    struct gate gate;
    struct probe probe = {.gate = &gate, .act = gate_hold};
    gate_init(&gate);
    scene_open_starved(&scene, &starved, 1);
    probe_arm_on(&scene, &probe, TKW_ON_WORKERS, 0);
    gate_await(&gate);
    probe.act = NULL;
    assert_int_equal(tkw_service_rearm(scene.service, probe.handle, 0), 1);
    tkw_hand_settle(scene.hand);
    tkw_handle last = fill(&scene, &starved);
    int result = 1;
    for (unsigned i = 0; result == 1 && i < 10000; i++)
        result = tkw_service_rearm(scene.service, last, HOUR);
    assert_int_equal(result, -ENOMEM);
    gate_open(&gate);
    probe_await_end(&probe);
    scene_rest(&scene);
    assert_int_equal(ran(&probe), 1);
    assert_state(&scene, probe.handle, TKW_READY);
    scene_go(&scene, 1000 + 2 * TKW_SECOND);
    probe_await(&probe, 2);
    scene_close(&scene);
    gate_done(&gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_repeats_gets_its_place_back_in_a_full_pool),
        cmocka_unit_test(what_is_late_in_a_full_pool_comes_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
