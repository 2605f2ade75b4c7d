/*
 * idle/monitor_close_test.c - closing a monitor while on_silent runs, in its
 * own callback or in another thread's; and a service that was stopped.
 */
#include "support/idle.h"

static void close_from_inside(struct stage *stage,
                              const struct tkw_idle_key *silent, size_t count)
{
    (void)silent;
    (void)count;
    stage->answer = tkw_monitor_close(stage->monitor);
}

static void close_is_refused_inside_on_silent(void **state)
{
    (void)state;
    for (unsigned driver = 0; driver < 2; driver++) {
        struct stage stage;
        stage_set(&stage, (struct tkw_service_config){
                              .driver = (enum tkw_driver)driver});
        struct tkw_monitor_config config = stage_config(&stage);
        config.shards = 2;
        stage_open_monitor(&stage, config);
        stage.act = close_from_inside;
        stage_add(&stage, 0, 100);
        assert_int_equal(stage_go(&stage, LIMIT), 100);
        assert_int_equal(stage.answer, -EDEADLK);
        stage_add(&stage, 0, 1);
        assert_int_equal(stage_go(&stage, 2 * LIMIT), 1);
        stage_close(&stage);
    }
}

static struct gate gate;

static void hold_on_silent(struct stage *stage,
                           const struct tkw_idle_key *silent, size_t count)
{
    if (stage->batches > 1)
        return;
    gate_hold(&(struct probe){.gate = &gate});
    for (size_t i = 0; i < count; i++)
        mixed_index(silent[i].key); /* still there to be read */
}

struct closer {
    struct stage *stage;
    bool had_passed;
    atomic_bool has_returned;
    int answer;
};

static void *close_and_see(void *argument)
{
    struct closer *closer = argument;
    closer->answer = tkw_monitor_close(closer->stage->monitor);
    closer->had_passed = atomic_load(&gate.passed);
    atomic_store(&closer->has_returned, true);
    return NULL;
}

/* In the driver's thread or in a worker: close waits for on_silent, and nobody
   is told afterwards. */
static void close_waits_for_on_silent(void **state)
{
    (void)state;
    for (uint32_t workers = 0; workers < 2; workers++) {
        struct stage stage;
        struct closer closer = {.stage = &stage};
        gate_init(&gate);
        stage_set(&stage, (struct tkw_service_config){.workers = workers});
        stage_open_monitor(&stage, stage_config(&stage));
        stage.act = hold_on_silent;
        stage_add(&stage, 0, 100);
        tkw_manual_clock_set(stage.scene.manual, START + LIMIT);
        gate_await(&gate);
        pthread_t thread = thread_start(close_and_see, &closer);
        have_patience();
        assert_false(atomic_load(&closer.has_returned));
        gate_open(&gate);
        thread_join(thread);
        assert_int_equal(closer.answer, 0);
        assert_true(closer.had_passed);
        size_t reported = stage.count;
        tkw_manual_clock_advance(stage.scene.manual, 9 * LIMIT);
        tkw_manual_clock_settle(stage.scene.manual);
        assert_int_equal(stage.count, reported);
        assert_false(stage.is_wrong);
        account_done(&stage.account);
        scene_close(&stage.scene);
        gate_done(&gate);
    }
}

static void hold_and_touch_all(struct stage *stage,
                               const struct tkw_idle_key *silent, size_t count)
{
    hold_on_silent(stage, silent, count);
    for (uint32_t i = 0; i < 100; i++) {
        tkw_monitor_touch(stage->monitor, mixed_key(i));
        tkw_monitor_query(stage->monitor, mixed_key(i), NULL);
    }
}

/* While close waits for one shard the others must still be there: on_silent may
   ask for any key. */
static void close_leaves_all_shards_to_a_running_on_silent(void **state)
{
    (void)state;
    for (uint32_t key = 0; key < 8; key++) {
        struct stage stage;
        struct closer closer = {.stage = &stage};
        gate_init(&gate);
        stage_set(&stage, (struct tkw_service_config){.workers = 1});
        struct tkw_monitor_config config = stage_config(&stage);
        config.shards = 8;
        stage_open_monitor(&stage, config);
        stage.act = hold_and_touch_all;
        stage_add(&stage, key, 1);
        tkw_manual_clock_set(stage.scene.manual, START + LIMIT);
        gate_await(&gate);
        pthread_t thread = thread_start(close_and_see, &closer);
        have_patience();
        gate_open(&gate);
        thread_join(thread);
        assert_int_equal(closer.answer, 0);
        assert_int_equal(stage.count, 1);
        account_done(&stage.account);
        scene_close(&stage.scene);
        gate_done(&gate);
    }
}

/* What is held stays so and can be asked for, but nobody is told any more; and
   no shard begins to hold. */
static void a_stopped_service_takes_no_first_key(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage, 1);
    stage_add(&stage, 0, 10);
    tkw_service_stop(stage.scene.service);
    assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(0)), 0);
    assert_true(tkw_monitor_query(stage.monitor, mixed_key(9), NULL));
    assert_true(tkw_monitor_forget(stage.monitor, mixed_key(9)));
    assert_int_equal(tkw_monitor_count(stage.monitor), 9);
    assert_int_equal(stage_go(&stage, 3 * LIMIT), 0);
    stage_close(&stage);

    stage_open(&stage, 2);
    tkw_service_stop(stage.scene.service);
    for (uint32_t i = 10; i < 30; i++) {
        assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(i)),
                         -ESHUTDOWN);
        assert_int_equal(
            tkw_monitor_touch_limit(stage.monitor, mixed_key(i), 5),
            -ESHUTDOWN);
        assert_false(tkw_monitor_query(stage.monitor, mixed_key(i), NULL));
    }
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_is_refused_inside_on_silent),
        cmocka_unit_test(close_waits_for_on_silent),
        cmocka_unit_test(close_leaves_all_shards_to_a_running_on_silent),
        cmocka_unit_test(a_stopped_service_takes_no_first_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
