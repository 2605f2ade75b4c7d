/*
 * idle/monitor_open_test.c - what a monitor cannot be opened with, and what it
 * does without memory: nothing is lost and nothing leaks.
 */
#include "support/idle.h"

/* What is wrong is told in words, and nothing is opened. */
static void a_wrong_configuration_is_refused(void **state)
{
    (void)state;
    struct stage stage;
    const struct tkw_allocator lacking = {.allocate = no_memory};
    struct tkw_monitor *const mark = (struct tkw_monitor *)(void *)&stage;
    stage_open(&stage, 1);
    struct tkw_monitor_config wrong[12];
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        wrong[i] = stage_config(&stage);
    wrong[0].on_silent = NULL;
    wrong[1].idle.start_ns = 1;
    wrong[2].idle.reserved[2] = 1;
    wrong[3].idle.geometry.sizes[0] = 1;
    wrong[4].idle.allocator = &lacking;
    wrong[5].idle.keys_max = SIZE_MAX;
    wrong[6].shards = UINT32_MAX;
    for (size_t i = 0; i < 4; i++)
        wrong[7 + i].reserved[i] = 1;
    wrong[11].executor = (enum tkw_executor)(TKW_BY_SUBMIT + 1);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct tkw_monitor *monitor = mark;
        const char *fault = tkw_monitor_config_fault(&wrong[i]);
        assert_non_null(fault);
        assert_int_not_equal(strlen(fault), 0);
        assert_int_equal(
            tkw_monitor_open(&monitor, stage.scene.service, &wrong[i]),
            -EINVAL);
        assert_ptr_equal(monitor, mark);
    }
    stage_close(&stage);
    assert_int_equal(tkw_monitor_close(NULL), 0);
}

/* Open and close a monitor of two shards on this stage.  Returns what open
   said; if not 0, nothing is left of it. */
static int try_to_open(struct stage *stage, enum tkw_executor executor)
{
    struct tkw_monitor *const mark = (struct tkw_monitor *)(void *)stage;
    struct tkw_monitor *monitor = mark;
    struct tkw_monitor_config config = stage_config(stage);
    config.shards = 2;
    config.executor = executor;
    assert_null(tkw_monitor_config_fault(&config));
    int error = tkw_monitor_open(&monitor, stage->scene.service, &config);
    if (error == 0)
        assert_int_equal(tkw_monitor_close(monitor), 0);
    else
        assert_ptr_equal(monitor, mark);
    assert_int_equal(account_bytes(&stage->account), 0);
    assert_int_equal(tkw_service_count(stage->scene.service), 0);
    return error;
}

/* An executor, timers, being there at all. */
static void an_error_of_the_service_is_returned(void **state)
{
    (void)state;
    for (size_t most = 1; most <= 2; most++) {
        struct stage stage;
        stage_set(&stage, (struct tkw_service_config){
                              .timers_max = most, .driver = TKW_DRIVER_NONE});
        assert_int_equal(try_to_open(&stage, TKW_ON_WORKERS), -EINVAL);
        assert_int_equal(try_to_open(&stage, TKW_BY_SUBMIT), -EINVAL);
        for (size_t i = 0; i < 20; i++) /* closed, it gives its timers back */
            assert_int_equal(try_to_open(&stage, TKW_ON_DRIVER),
                             most == 2 ? 0 : -EAGAIN);
        tkw_service_stop(stage.scene.service);
        assert_int_equal(try_to_open(&stage, TKW_ANYWHERE), -ESHUTDOWN);
        account_done(&stage.account);
        scene_close(&stage.scene);
    }
}

/* Each allocation in turn, the monitor's and the service's. */
static void an_open_that_fails_leaks_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        int error = -ENOMEM;
        uint64_t k = 0;
        for (; error != 0; k++) {
            struct stage stage;
            stage_set(&stage,
                      (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
            struct account *account =
                i % 2 == 0 ? &stage.account : &stage.scene.account;
            account_fail(account, k, i / 2 == 0 ? 1 : FOR_EVER);
            error = try_to_open(&stage, TKW_ANYWHERE);
            assert_true(error == 0 || error == -ENOMEM);
            account_fail(account, 0, 0);
            assert_int_equal(try_to_open(&stage, TKW_ANYWHERE), 0);
            account_done(&stage.account);
            scene_close(&stage.scene);
        }
        assert_true(k > 1 || i % 2 == 1);
    }
}

/* Adding can fail, and then has changed nothing; refreshing and looking for the
   silent take no memory, neither of the monitor nor of the service. */
static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    struct stage stage;
    size_t failed = 0;
    stage_set(&stage, (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
    struct tkw_monitor_config config = stage_config(&stage);
    config.shards = 2;
    config.idle.keys_max = 900; /* what failed takes no room */
    stage_open_monitor(&stage, config);
    for (uint32_t i = 0; i < 900; i++) {
        account_fail(i / 2 % 2 == 0 ? &stage.account : &stage.scene.account,
                     i % 3, FOR_EVER);
        int answer = tkw_monitor_touch(stage.monitor, mixed_key(i));
        account_fail(&stage.account, 0, 0);
        account_fail(&stage.scene.account, 0, 0);
        if (answer == 1)
            continue;
        assert_int_equal(answer, -ENOMEM);
        assert_int_equal(tkw_monitor_count(stage.monitor), i);
        assert_false(tkw_monitor_query(stage.monitor, mixed_key(i), NULL));
        stage_add(&stage, i, 1);
        failed++;
    }
    assert_true(failed > 0);
    account_fail(&stage.account, 0, FOR_EVER);
    account_fail(&stage.scene.account, 0, FOR_EVER);
    stage_go(&stage, 500);
    for (uint32_t i = 0; i < 900; i += 2)
        assert_int_equal(tkw_monitor_touch(stage.monitor, mixed_key(i)), 0);
    assert_int_equal(stage_go(&stage, LIMIT), 450);
    assert_int_equal(stage_go(&stage, LIMIT + 499), 0);
    assert_int_equal(stage_go(&stage, LIMIT + 500), 450);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_configuration_is_refused),
        cmocka_unit_test(an_error_of_the_service_is_returned),
        cmocka_unit_test(an_open_that_fails_leaks_nothing),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
