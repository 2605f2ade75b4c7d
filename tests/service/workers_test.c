/*
 * service/workers_test.c - callbacks in the service's workers: waiting for one
 * is not running (L10), what runs can be waited for, order, and a queue that is
 * full.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"

#include <sys/prctl.h>

typedef int cancel_function(struct tkw_service *, tkw_handle);
static cancel_function *const ways[] = {tkw_service_cancel,
                                        tkw_service_cancel_sync};

/* As many at the same time as there are workers, and no more. */
static void as_many_run_at_once_as_there_are_workers(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 5; workers++) {
        struct scene scene;
        struct gate gate;
        struct probe held[5] = {{0}}, next = {0};
        scene_open(&scene, 1000, hands(workers, 0, NULL));
        workers_hold(&scene, held, &gate, workers);
        probe_arm(&scene, &next, 0);
        scene_rest(&scene);
        have_patience();
        assert_int_equal(atomic_load(&scene.turns), workers);
        assert_state(&scene, next.handle, TKW_READY);
        workers_release(&gate, 1);
        probe_await(&next, 1);
        workers_release(&gate, workers - 1);
        scene_close(&scene);
        for (uint32_t i = 0; i < workers; i++)
            assert_int_equal(ran(&held[i]), 1);
        gate_done(&gate);
    }
}

/* 1: it waits for a worker, it has not started, and now never does. */
static void cancel_of_what_waits_for_a_worker_says_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct scene scene;
        struct gate gate;
        struct probe held = {0}, victim = {0}, witness = {0};
        scene_open(&scene, 1000, hands(1, 0, NULL));
        workers_hold(&scene, &held, &gate, 1);
        probe_arm(&scene, &victim, 100);
        probe_arm(&scene, &witness, 100);
        scene_go(&scene, 1100);
        assert_state(&scene, victim.handle, TKW_READY);
        assert_int_equal(tkw_service_count(scene.service), 2);
        assert_int_equal(ways[i](scene.service, victim.handle), 1);
        assert_int_equal(dropped(&victim), 1);
        assert_state(&scene, victim.handle, TKW_CANCELLED);
        assert_int_equal(ways[i](scene.service, victim.handle), 0);
        assert_int_equal(tkw_service_count(scene.service), 1);
        workers_release(&gate, 1);
        probe_await(&witness, 1);
        worker_flush(&scene);
        assert_int_equal(ran(&victim), 0);
        scene_close(&scene);
        assert_int_equal(dropped(&victim), 1);
        gate_done(&gate);
    }
}

/* It waits for a worker, and is moved: it runs once, at its new time. */
static void what_waits_for_a_worker_can_be_moved(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 4; way++) {
        struct scene scene;
        struct gate gate;
        struct probe held = {0}, moved = {0};
        struct tkw_outlook outlook;
        scene_open(&scene, 1000, hands(1, 0, NULL));
        workers_hold(&scene, &held, &gate, 1);
        probe_arm(&scene, &moved, 100);
        scene_go(&scene, 1100);
        assert_state(&scene, moved.handle, TKW_READY);
        assert_int_equal(move_to(&scene, moved.handle, way, 1500), 1);
        assert_int_equal(
            tkw_service_query(scene.service, moved.handle, &outlook),
            TKW_PENDING);
        assert_int_equal(outlook.due_ns, 1500);
        assert_int_equal(outlook.remaining_ns, 400);
        assert_int_equal(tkw_service_count(scene.service), 1);
        workers_release(&gate, 1);
        worker_flush(&scene);
        scene_go(&scene, 1499);
        worker_flush(&scene);
        assert_int_equal(ran(&moved), 0);
        scene_go(&scene, 1500);
        worker_flush(&scene);
        scene_go(&scene, 3000);
        worker_flush(&scene);
        assert_int_equal(ran(&moved), 1);
        assert_int_equal(moved.firing.due_ns, 1500);
        assert_int_equal(moved.firing.now_ns, 1500);
        scene_close(&scene);
        assert_int_equal(dropped(&moved), 0);
        gate_done(&gate);
    }
}

/* Moved to now it is the last of those that wait, and still runs once. */
static void what_is_armed_again_for_now_goes_behind(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0}, probes[4] = {{0}};
    scene_open(&scene, 1000, hands(1, 0, NULL));
    workers_hold(&scene, &held, &gate, 1);
    for (size_t i = 0; i < 4; i++)
        probe_arm(&scene, &probes[i], 0);
    scene_rest(&scene);
    for (int i = 0; i < 50; i++)
        assert_int_equal(tkw_service_rearm(scene.service, probes[1].handle, 0),
                         1);
    scene_rest(&scene);
    assert_int_equal(tkw_service_count(scene.service), 4);
    workers_release(&gate, 1);
    worker_flush(&scene);
    assert_int_equal(probes[0].place, 2);
    assert_int_equal(probes[2].place, 3);
    assert_int_equal(probes[3].place, 4);
    assert_int_equal(probes[1].place, 5);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(ran(&probes[i]), 1);
    assert_int_equal(tkw_service_read_stats(scene.service).armed, 6);
    scene_close(&scene);
    gate_done(&gate);
}

/* -EBUSY, at once, and nothing is dropped. */
static void cancel_of_what_runs_on_a_worker_is_busy(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held[2] = {{0}};
    scene_open(&scene, 1000, hands(2, 0, NULL));
    workers_hold(&scene, held, &gate, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_state(&scene, held[i].handle, TKW_RUNNING);
        assert_int_equal(tkw_service_cancel(scene.service, held[i].handle),
                         -EBUSY);
        assert_int_equal(tkw_service_rearm(scene.service, held[i].handle, 0),
                         0);
        assert_int_equal(
            tkw_service_postpone(scene.service, held[i].handle, 100), 0);
    }
    assert_int_equal(tkw_service_count(scene.service), 0);
    workers_release(&gate, 2);
    for (size_t i = 0; i < 2; i++) {
        probe_await_end(&held[i]);
        assert_int_equal(tkw_service_cancel(scene.service, held[i].handle), 0);
    }
    scene_close(&scene);
    assert_int_equal(ran(&held[0]) + ran(&held[1]), 2);
    assert_int_equal(dropped(&held[0]) + dropped(&held[1]), 0);
    gate_done(&gate);
}

static void cancel_sync_the_other(struct probe *probe)
{
    sem_post(&probe->gate->entered);
    probe->answer =
        tkw_service_cancel_sync(probe->scene->service, probe->other->handle);
    probe->second = atomic_load(&probe->other->gate->passed);
}

/* A callback on another worker, or on the driver, may wait for one that runs
   on a worker; it returns only when that one has. */
static void callbacks_may_wait_for_what_runs_on_another_worker(void **state)
{
    (void)state;
    static const enum tkw_executor places[] = {TKW_ON_WORKERS, TKW_ON_DRIVER};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct scene scene;
        struct gate gate, entrance;
        struct probe held = {0};
        struct probe waiter = {
            .act = cancel_sync_the_other, .other = &held, .gate = &entrance};
        scene_open(&scene, 1000, hands(2, 0, NULL));
        gate_init(&entrance);
        workers_hold(&scene, &held, &gate, 1);
        probe_arm_on(&scene, &waiter, places[i], 0);
        gate_await(&entrance);
        have_patience();
        assert_int_equal(ran(&waiter), 0);
        workers_release(&gate, 1);
        probe_await(&waiter, 1);
        assert_int_equal(waiter.answer, 0);
        assert_true(waiter.second);
        assert_int_equal(ran(&held), 1);
        scene_close(&scene);
        gate_done(&gate);
        gate_done(&entrance);
    }
}

/* Waiting for oneself is an error that changes nothing. */
static void cancel_sync_of_itself_on_a_worker_is_an_error(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {.act = rearm_then_cancel_sync_itself};
    scene_open(&scene, 1000, hands(1, 0, NULL));
    probe_arm(&scene, &probe, 0);
    probe_await(&probe, 1);
    probe_await_end(&probe);
    assert_int_equal(probe.second, 1);
    assert_int_equal(probe.answer, -EDEADLK);
    scene_go(&scene, 1099);
    worker_flush(&scene);
    assert_int_equal(ran(&probe), 1);
    scene_go(&scene, 1100);
    probe_await(&probe, 2);
    scene_close(&scene);
    assert_int_equal(dropped(&probe), 0);
}

/* One worker: callbacks start by ticks, and within one as they were armed, also
   when there are more than may wait. */
static void one_worker_starts_them_in_order(void **state)
{
    (void)state;
    static struct probe probes[600];
    static const uint32_t queues[] = {0, 1, 7};
    for (size_t i = 0; i < COUNT_OF(queues); i++) {
        struct scene scene;
        memset(probes, 0, sizeof probes);
        scene_open(&scene, 0, hands(1, queues[i], NULL));
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            probe_arm_at(&scene, &probes[k], 1000 + 10 * (k % 3));
        scene_go(&scene, 2000);
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            probe_await(&probes[k], 1);
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            assert_int_equal(probes[k].place, 1 + k % 3 * 200 + k / 3);
        scene_close(&scene);
    }
}

/* What is moved away from a full queue, over and over, does not stay in it:
   when the worker is free all run, once. */
static void moving_what_waits_does_not_choke_the_queue(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0}, moved[4] = {{0}}, after = {0};
    scene_open(&scene, 1000, hands(1, 2, NULL));
    workers_hold(&scene, &held, &gate, 1);
    for (size_t i = 0; i < 4; i++)
        probe_arm(&scene, &moved[i], 0);
    for (uint64_t turn = 0; turn < 200; turn++) {
        scene_go(&scene, 1000 + 10 * turn);
        assert_int_equal(
            tkw_service_rearm(scene.service, moved[turn % 4].handle, turn % 2),
            1);
    }
    probe_arm(&scene, &after, 0);
    scene_go(&scene, 5000);
    assert_int_equal(atomic_load(&scene.turns), 1);
    workers_release(&gate, 1);
    probe_await(&after, 1);
    for (size_t i = 0; i < 4; i++)
        probe_await(&moved[i], 1);
    scene_close(&scene);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(ran(&moved[i]), 1);
    gate_done(&gate);
}

/* A limit counts what has not started: also what waits for a worker. */
static void what_waits_for_a_worker_counts_against_the_limit(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0}, waiting[3] = {{0}};
    struct tkw_service_config config = hands(1, 2, NULL);
    config.timers_max = 3;
    scene_open(&scene, 1000, config);
    workers_hold(&scene, &held, &gate, 1);
    for (size_t i = 0; i < 3; i++)
        probe_arm(&scene, &waiting[i], 0);
    scene_rest(&scene);
    struct tkw_task task = probe_task(&scene, &waiting[0]);
    assert_int_equal(tkw_service_arm(scene.service, NULL, 0, task), -EAGAIN);
    assert_int_equal(tkw_service_cancel(scene.service, waiting[0].handle), 1);
    assert_int_equal(tkw_service_arm(scene.service, NULL, 0, task), 0);
    assert_int_equal(tkw_service_arm(scene.service, NULL, 0, task), -EAGAIN);
    workers_release(&gate, 1);
    probe_await(&waiting[0], 1);
    scene_close(&scene);
    gate_done(&gate);
}

static char thread_name[16];

static void note_name(struct probe *probe)
{
    probe->answer = prctl(PR_GET_NAME, thread_name);
}

/* Threads can be told apart, by the name that was asked for. */
static void workers_have_names(void **state)
{
    (void)state;
    static const struct {
        const char *asked;
        const char *workers;
        const char *drivers;
    } cases[] = {
        {NULL, "tickwheel/w1", "tickwheel/d1"},
        {"mail", "mail/w1", "mail/d1"},
        {"a name that is too long", "a name tha/w1", "a name tha/d1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scene scene;
        struct probe probe = {.act = note_name};
        struct tkw_service_config config = hands(1, 0, NULL);
        config.thread_name = cases[i].asked;
        scene_open(&scene, 1000, config);
        probe_arm_on(&scene, &probe, TKW_ON_WORKERS, 0);
        probe_await(&probe, 1);
        probe_await_end(&probe);
        assert_int_equal(probe.answer, 0);
        assert_string_equal(thread_name, cases[i].workers);
        probe_arm_on(&scene, &probe, TKW_ON_DRIVER, 0);
        probe_await(&probe, 2);
        probe_await_end(&probe);
        assert_string_equal(thread_name, cases[i].drivers);
        scene_close(&scene);
    }
}

/* What is handed over counts: a budget bounds it exactly. */
static void a_budget_bounds_what_is_handed_over(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[10] = {{0}};
    struct tkw_service_config config = hands(1, 100, NULL);
    config.driver = TKW_DRIVER_NONE;
    scene_open(&scene, 1000, config);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_arm(&scene, &probes[i], 10);
    tkw_manual_clock_set(scene.manual, 1010);
    assert_int_equal(tkw_service_run(scene.service, 4), 4);
    probe_await(&probes[3], 1);
    assert_int_equal(ran(&probes[4]), 0);
    assert_int_equal(tkw_service_run(scene.service, 0), 6);
    probe_await(&probes[9], 1);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_run_at_once_as_there_are_workers),
        cmocka_unit_test(cancel_of_what_waits_for_a_worker_says_1),
        cmocka_unit_test(what_waits_for_a_worker_can_be_moved),
        cmocka_unit_test(what_is_armed_again_for_now_goes_behind),
        cmocka_unit_test(cancel_of_what_runs_on_a_worker_is_busy),
        cmocka_unit_test(callbacks_may_wait_for_what_runs_on_another_worker),
        cmocka_unit_test(cancel_sync_of_itself_on_a_worker_is_an_error),
        cmocka_unit_test(one_worker_starts_them_in_order),
        cmocka_unit_test(moving_what_waits_does_not_choke_the_queue),
        cmocka_unit_test(what_waits_for_a_worker_counts_against_the_limit),
        cmocka_unit_test(workers_have_names),
        cmocka_unit_test(a_budget_bounds_what_is_handed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
