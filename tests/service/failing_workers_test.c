/*
 * service/failing_workers_test.c - a service with workers when memory and
 * threads are not to be had: each in turn while it is opened, and memory when
 * it has work to hand over.
 *
 * pthread_create() is wrapped by the linker.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"

static struct {
    unsigned until; /* threads that can be started; the next can not */
    bool is_for_ever;
    unsigned count; /* so far */
} fate;

/* The linker wants these names. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    unsigned number = fate.count++;
    if (fate.is_for_ever ? number >= fate.until : number == fate.until)
        return EAGAIN;
    return __real_pthread_create(thread, attributes, run, argument);
}

/* NOLINTEND(bugprone-reserved-identifier) */

static void fate_be_kind(void)
{
    fate.is_for_ever = false;
    fate.until = UINT32_MAX;
}

static void *do_nothing(void *argument)
{
    return argument;
}

/* Each thread that cannot be started is told, and no other is left, nor any
   memory or descriptor. */
static void opening_without_threads_leaves_nothing_behind(void **state)
{
    (void)state;
    /* A sanitizer may have a thread of its own, from the first one on. */
    fate_be_kind();
    thread_join(thread_start(do_nothing, NULL));
    int threads = threads_at_rest();
    for (unsigned i = 0; i < 4; i++) {
        bool has_driver = i % 2 == 0;
        /* Workers, the driver, and a thread for the driver's callbacks. */
        unsigned needed = has_driver ? 5 : 3, refused = 0;
        for (unsigned until = 0; until <= needed; until++) {
            struct account account;
            struct tkw_service *service = NULL;
            int descriptors = open_descriptors();
            account_init(&account);
            struct tkw_service_config config = {
                .workers = 3,
                .driver = has_driver ? TKW_DRIVER_THREAD : TKW_DRIVER_NONE,
                .allocator = &account.allocator};
            fate.until = until;
            fate.is_for_ever = i / 2 != 0;
            fate.count = 0;
            int error = tkw_service_open(&service, &config);
            fate_be_kind();
            assert_int_equal(error, until < needed ? -EAGAIN : 0);
            assert_true((service == NULL) == (error != 0));
            refused += error != 0;
            tkw_service_close(service, NULL, NULL);
            account_done(&account);
            assert_threads(threads);
            assert_int_equal(open_descriptors(), descriptors);
        }
        assert_int_equal(refused, needed);
    }
}

/* Each piece of memory that is not there is told, and all is given back. */
static void opening_without_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    fate_be_kind();
    int threads = threads_at_rest();
    for (unsigned i = 0; i < 4; i++) {
        int error = -1;
        for (uint64_t skip = 0; error != 0; skip++) {
            struct account account;
            struct tkw_service *service = NULL;
            account_init(&account);
            account_fail(&account, skip, i % 2 == 0 ? 1 : FOR_EVER);
            struct tkw_service_config config = {
                .workers = 2,
                .queue_max = i / 2 == 0 ? 5 : 5000,
                .shards = 2,
                .allocator = &account.allocator};
            error = tkw_service_open(&service, &config);
            assert_true(error == 0 || error == -ENOMEM);
            assert_true((service == NULL) == (error != 0));
            assert_true(skip < 100);
            account_fail(&account, 0, 0);
            tkw_service_close(service, NULL, NULL);
            account_done(&account);
            assert_threads(threads);
        }
    }
}

static struct tray tray;

/* Once armed, a timer needs no memory to be handed over, refused, submitted
   again, returned, and run. */
static void handing_over_needs_no_memory(void **state)
{
    (void)state;
    static struct probe probes[900];
    struct scene scene;
    fate_be_kind();
    memset(probes, 0, sizeof probes);
    tray_init(&tray, 7);
    scene_open(&scene, 1000, hands(2, 5, &tray));
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_arm_on(&scene, &probes[i], (enum tkw_executor)(1 + i % 3),
                     10 * (i % 7));
    account_fail(&scene.account, 0, FOR_EVER);
    for (unsigned turn = 0; tkw_service_count(scene.service) > 0; turn++) {
        struct tkw_job job;
        scene_go(&scene, 1000 + 10 * turn);
        if (turn % 5 == 0 && tray_take(&tray, &job))
            tkw_job_return(&job);
        tray_run_all(&tray);
    }
    tkw_service_stop(scene.service);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        assert_int_equal(ran(&probes[i]), 1);
    scene_close(&scene);
}

/* Arming for a worker that finds no memory has changed nothing. */
static void arming_for_workers_without_memory_changes_nothing(void **state)
{
    (void)state;
    static struct probe probes[3000];
    struct scene scene;
    size_t refused = 0;
    fate_be_kind();
    memset(probes, 0, sizeof probes);
    scene_open(&scene, 1000, hands(2, 5, NULL));
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        tkw_handle handle = 77;
        struct tkw_plan plan = {.task = probe_task(&scene, &probes[i]),
                                .executor = TKW_ON_WORKERS,
                                .when_ns = 1000 * (1 + i)};
        account_fail(&scene.account, 0, FOR_EVER);
        int error = tkw_service_arm_plan(scene.service, &handle, &plan);
        account_fail(&scene.account, 0, 0);
        if (error == 0)
            continue;
        refused++;
        assert_int_equal(error, -ENOMEM);
        assert_int_equal(handle, 77);
        assert_int_equal(tkw_service_count(scene.service), i);
        assert_int_equal(tkw_service_arm_plan(scene.service, &handle, &plan),
                         0);
    }
    assert_true(refused > 0);
    tkw_manual_clock_advance(scene.manual, HOUR);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_await(&probes[i], 1);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_without_threads_leaves_nothing_behind),
        cmocka_unit_test(opening_without_memory_leaves_nothing_behind),
        cmocka_unit_test(handing_over_needs_no_memory),
        cmocka_unit_test(arming_for_workers_without_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
