/*
 * service/reserve_test.c - timers that have left their pool and must get back
 * into it, when the pool cannot grow any more: those that repeat, and one whose
 * time comes while it is running.
 */
#include "service/private.h"
#include "support/executor.h"

/* An allocator that refuses.  Memory for jobs and records comes in pieces of a
   megabyte or more, what is in slots in smaller ones. */
struct starved {
    struct tkw_allocator allocator;
    atomic_size_t from; /* pieces of this size on are not to be had ... */
    atomic_size_t to;   /* ... up to this one, excluded; at first none */
};

static void *starved_allocate(void *context, size_t bytes)
{
    struct starved *starved = context;
    if (bytes >= atomic_load(&starved->from) &&
        bytes < atomic_load(&starved->to))
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

#define SLOTS 0, LARGE          /* what is in slots is refused */
#define RECORDS LARGE, SIZE_MAX /* records and jobs are */
#define LARGE ((size_t)1 << 20)

static void nothing(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
}

/* Arm until there is no memory.  Returns the last one that was armed. */
static tkw_handle fill(struct scene *scene, struct starved *starved,
                       size_t from, size_t to)
{
    atomic_store(&starved->from, from);
    atomic_store(&starved->to, to);
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

/* Arm until there is no memory in slots, then move one timer until there is
   none for that either: each move leaves a dead entry behind. */
static void fill_by_moving(struct scene *scene, struct starved *starved)
{
    tkw_handle last = fill(scene, starved, SLOTS);
    int result = 1;
    for (unsigned i = 0; result == 1 && i < 10000; i++)
        result = tkw_service_rearm(scene->service, last, HOUR);
    assert_int_equal(result, -ENOMEM);
}

/* Open a starved scene with one worker, whose callback waits at the gate. */
static void scene_open_held(struct scene *scene, struct starved *starved,
                            struct gate *gate, struct probe *probe)
{
    *probe = (struct probe){.gate = gate, .act = gate_hold};
    gate_init(gate);
    scene_open_starved(scene, starved, 1);
    probe_arm_on(scene, probe, TKW_ON_WORKERS, 0);
    gate_await(gate);
    probe->act = NULL;
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
        fill_by_moving(&scene, &starved);
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
    struct probe probe;
    scene_open_held(&scene, &starved, &gate, &probe);
    assert_int_equal(tkw_service_rearm(scene.service, probe.handle, 0), 1);
    tkw_manual_clock_settle(scene.manual);
    fill_by_moving(&scene, &starved);
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

/* An anchor that is due later keeps the driver asleep, so that no pass sees the
   late timer in the pool.  The driver must wake for the late timer all the
   same, or the timer would wait for the anchor. */
static void the_driver_wakes_for_what_is_late_in_a_full_pool(void **state)
{
    (void)state;
    struct scene scene;
    struct starved starved;
    struct gate gate;
    struct probe probe;
    scene_open_held(&scene, &starved, &gate, &probe);
    assert_int_equal(tkw_service_arm(scene.service, NULL, HOUR / 2,
                                     (struct tkw_task){.callback = nothing}),
                     0);
    tkw_manual_clock_settle(scene.manual);
    uint64_t anchor = tkw_service_next(scene.service);
    assert_true(anchor > 1000 + 2 * TKW_SECOND);
    assert_int_equal(tkw_service_rearm(scene.service, probe.handle, 0), 1);
    tkw_manual_clock_settle(scene.manual);
    uint64_t passes = tkw_service_read_stats(scene.service).wakeups;
    fill_by_moving(&scene, &starved);
    gate_open(&gate);
    probe_await_end(&probe);
    tkw_manual_clock_settle(scene.manual);
    assert_state(&scene, probe.handle, TKW_READY);
    assert_int_equal(tkw_service_read_stats(scene.service).wakeups, passes);
    assert_true(tkw_service_next(scene.service) <= 1000 + 2 * TKW_SECOND);
    scene_go(&scene, 1000 + 2 * TKW_SECOND);
    probe_await(&probe, 2);
    scene_close(&scene);
    gate_done(&gate);
}

/* Having been moved it leaves more behind in the pool than it takes out: there
   is memory for it all the same, as much as for its first time. */
static void what_repeats_and_was_moved_goes_on_without_memory(void **state)
{
    (void)state;
    struct scene scene;
    struct starved starved;
    struct probe probe = {0};
    scene_open_starved(&scene, &starved, 0);
    struct tkw_plan plan = {.task = probe_task(&scene, &probe),
                            .when_ns = 1000 * TKW_SECOND,
                            .period_ns = 100};
    assert_int_equal(tkw_service_arm_plan(scene.service, &probe.handle, &plan),
                     0);
    tkw_manual_clock_settle(scene.manual);
    assert_int_equal(tkw_service_rearm(scene.service, probe.handle, 100), 1);
    fill(&scene, &starved, RECORDS);
    for (uint64_t i = 1; i <= 50; i++)
        assert_int_equal(scene_go(&scene, 1000 + 100 * i), 1);
    scene_close(&scene);
}

/* The same of a job that is returned. */
static void what_is_returned_comes_again_without_memory(void **state)
{
    (void)state;
    static struct tray tray;
    struct scene scene;
    struct starved starved;
    struct probe probe = {0};
    struct tkw_job job;
    struct tkw_service_config config = hands(0, 0, &tray);
    tray_init(&tray, SIZE_MAX);
    starved_init(&starved);
    config.allocator = &starved.allocator;
    scene_open(&scene, 1000, config);
    probe.handle = probe_arm(&scene, &probe, 1000 * TKW_SECOND);
    tkw_manual_clock_settle(scene.manual);
    assert_int_equal(tkw_service_rearm(scene.service, probe.handle, 100), 1);
    fill(&scene, &starved, RECORDS);
    scene_go(&scene, 1100);
    for (uint64_t i = 1; i <= 20; i++) {
        assert_true(tray_take(&tray, &job));
        tkw_job_return(&job);
        scene_go(&scene, 1100 + 10 * i);
    }
    assert_int_equal(tray_run_all(&tray), 1);
    assert_int_equal(ran(&probe), 1);
    scene_close(&scene);
}

/* Nothing has to be allocated to fire; on a wall clock neither. */
static void on_a_wall_clock_without_memory_what_is_due_runs(void **state)
{
    (void)state;
    struct scene scene;
    struct starved starved;
    struct tkw_service_config config = hands(0, 0, NULL);
    starved_init(&starved);
    config.driver = TKW_DRIVER_NONE;
    config.allocator = &starved.allocator;
    scene_open_wall(&scene, 1000, config);
    fill(&scene, &starved, SLOTS);
    size_t pending = tkw_service_count(scene.service);
    tkw_manual_clock_set(scene.manual, 2 * HOUR);
    assert_int_equal(tkw_service_run(scene.service, 0), pending);
    assert_int_equal(tkw_service_count(scene.service), 0);
    scene_close(&scene);
}

/* Before anything has run, moving what is due takes nobody's place. */
static void postponing_before_the_first_run_loses_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct starved starved;
    enum { COUNT = 12800 };
    static tkw_handle handles[COUNT];
    struct tkw_service_config config = hands(0, 0, NULL);
    starved_init(&starved);
    config.driver = TKW_DRIVER_NONE;
    config.allocator = &starved.allocator;
    scene_open(&scene, 1000, config);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(
            tkw_service_arm(scene.service, &handles[i], 0,
                            (struct tkw_task){.callback = nothing}),
            0);
    atomic_store(&starved.to, LARGE);
    int result = 1;
    for (size_t i = 0; result == 1 && i < COUNT; i++)
        result = tkw_service_postpone(scene.service, handles[i], 50);
    tkw_manual_clock_set(scene.manual, 2000);
    assert_int_equal(tkw_service_run(scene.service, 0), COUNT);
    scene_close(&scene);
}

/* Its time may come before its callback has returned, and then it must get back
   into the pool: if that is not sure, it is refused. */
static void arming_again_in_a_worker_needs_room(void **state)
{
    (void)state;
    struct scene scene;
    struct starved starved;
    struct gate gate;
    struct probe probe;
    scene_open_held(&scene, &starved, &gate, &probe);
    fill(&scene, &starved, SLOTS);
    size_t pending = tkw_service_count(scene.service);
    assert_int_equal(tkw_service_rearm(scene.service, probe.handle, 0),
                     -ENOMEM);
    assert_int_equal(tkw_service_count(scene.service), pending);
    gate_open(&gate);
    probe_await_end(&probe);
    assert_state(&scene, probe.handle, TKW_DONE);
    scene_close(&scene);
    gate_done(&gate);
}

/* There is no room in the workers' queue for two timers that are due; then the
   clock is set back to between their times, and the pool has no memory but what
   is reserved for them.  The first runs, the second waits for its time. */
static void a_step_back_in_a_full_pool_makes_nothing_early(void **state)
{
    (void)state;
    struct scene scene;
    struct starved starved;
    struct gate gate;
    struct probe held = {.gate = &gate, .act = gate_hold};
    struct probe waits[2] = {{0}}, first = {0}, second = {0};
    struct tkw_service_config config = hands(1, 2, NULL);
    gate_init(&gate);
    starved_init(&starved);
    config.driver = TKW_DRIVER_NONE;
    config.allocator = &starved.allocator;
    scene_open_wall(&scene, 1000, config);
    probe_arm(&scene, &held, 0);
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    gate_await(&gate);
    probe_arm(&scene, &waits[0], 0);
    probe_arm(&scene, &waits[1], 0);
    assert_int_equal(tkw_service_run(scene.service, 0), 2);
    probe_arm_at(&scene, &first, 1500);
    probe_arm_at(&scene, &second, 5000);
    tkw_manual_clock_set(scene.manual, 6000);
    assert_int_equal(tkw_service_run(scene.service, 0), 0);
    fill(&scene, &starved, SLOTS);
    tkw_manual_clock_set(scene.manual, 2000);
    tkw_service_run(scene.service, 0);
    gate_open(&gate);
    while (ran(&first) == 0 || ran(&waits[1]) == 0)
        assert_true(tkw_service_run(scene.service, 0) >= 0);
    have_patience();
    assert_int_equal(ran(&second), 0);
    tkw_manual_clock_set(scene.manual, 5000);
    while (ran(&second) == 0)
        assert_true(tkw_service_run(scene.service, 0) >= 0);
    scene_close(&scene);
    gate_done(&gate);
}

/* Entries that the service's pool has looked at so far. */
static uint64_t reads(const struct scene *scene)
{
    return tkw_pool_read_stats(scene->service->shards[0]->pool).reads;
}

/* A pass that files all timers anew, because a wall clock was set back, does
 * not sweep for each of them when memory is refused. */
static void a_clock_is_followed_without_sweeping_for_memory(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    static tkw_handle handles[COUNT];
    struct scene scene;
    struct starved starved;
    struct tkw_service_config config = hands(0, 0, NULL);
    starved_init(&starved);
    config.driver = TKW_DRIVER_NONE;
    config.allocator = &starved.allocator;
    scene_open_wall(&scene, HOUR, config);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(
            tkw_service_arm(scene.service, &handles[i], HOUR,
                            (struct tkw_task){.callback = nothing}),
            0);
    fill(&scene, &starved, SLOTS);
    for (size_t i = 0; i < COUNT; i += 100)
        assert_int_equal(tkw_service_cancel(scene.service, handles[i]), 1);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(tkw_service_run(scene.service, 0), 0);
    uint64_t before = reads(&scene);
    tkw_manual_clock_set(scene.manual, HOUR / 2);
    assert_int_equal(tkw_service_run(scene.service, 0), 0);
    assert_in_range(reads(&scene) - before, 0, COUNT);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_repeats_gets_its_place_back_in_a_full_pool),
        cmocka_unit_test(what_is_late_in_a_full_pool_comes_by_itself),
        cmocka_unit_test(the_driver_wakes_for_what_is_late_in_a_full_pool),
        cmocka_unit_test(what_repeats_and_was_moved_goes_on_without_memory),
        cmocka_unit_test(what_is_returned_comes_again_without_memory),
        cmocka_unit_test(on_a_wall_clock_without_memory_what_is_due_runs),
        cmocka_unit_test(postponing_before_the_first_run_loses_nothing),
        cmocka_unit_test(arming_again_in_a_worker_needs_room),
        cmocka_unit_test(a_step_back_in_a_full_pool_makes_nothing_early),
        cmocka_unit_test(a_clock_is_followed_without_sweeping_for_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
