/*
 * service/drop_test.c - timers that are armed again while they run, and then
 * cancelled; and the drop function: when, how often, and what it may do.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

static void rearm_then_cancel(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    probe->second = tkw_service_rearm(service, probe->firing.handle, 0);
    probe->answer = tkw_service_cancel(service, probe->firing.handle);
    probe->place = dropped(probe);
}

/* -EBUSY stops what was armed again; its drop waits for the callback. */
static void what_was_armed_again_is_stopped_and_dropped_later(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {.act = rearm_then_cancel};
        scene_open_tens(&scene, 1000, both[i]);
        tkw_handle handle = probe_arm(&scene, &probe, 100);
        scene_go(&scene, 1100);
        assert_int_equal(probe.second, 1);
        assert_int_equal(probe.answer, -EBUSY);
        assert_int_equal(probe.place, 0); /* not while it was running */
        assert_int_equal(dropped(&probe), 1);
        assert_int_equal(scene_go(&scene, 1100 + HOUR), 0);
        assert_int_equal(ran(&probe), 1);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 0);
        struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
        assert_int_equal(stats.armed, 2);
        assert_int_equal(stats.fired, 1);
        assert_int_equal(stats.cancelled, 1);
        assert_int_equal(stats.pending, 0);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), 1);
    }
}

/* The same from another thread, both the arming and the cancelling. */
static void another_thread_can_start_it_again_and_stop_that(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
    tkw_handle handle = gate_enter(&scene, &held, &gate);
    assert_int_equal(tkw_service_rearm(scene.service, handle, 100), 1);
    assert_int_equal(tkw_service_count(scene.service), 1);
    assert_int_equal(tkw_service_cancel(scene.service, handle), -EBUSY);
    assert_int_equal(tkw_service_count(scene.service), 0);
    assert_int_equal(dropped(&held), 0);
    tkw_manual_clock_set(scene.manual, 2000);
    gate_open(&gate);
    scene_rest(&scene);
    assert_int_equal(ran(&held), 1);
    assert_int_equal(dropped(&held), 1);
    gate_done(&gate);
    scene_close(&scene);
    assert_int_equal(dropped(&held), 1);
}

static void hold_then_rearm(struct probe *probe)
{
    gate_hold(probe);
    probe->answer = tkw_service_rearm(probe->scene->service,
                                      probe->firing.handle, probe->delay_ns);
}

/* A timer that starts itself again at the end of its callback, as periodic
   ones do, was told to stop meanwhile: it will not run again. */
static void a_cancel_while_running_outlasts_the_callback(void **state)
{
    (void)state;
    for (uint64_t delay = 0; delay <= 100; delay += 100) {
        struct scene scene;
        struct gate gate;
        struct probe held = {.act = hold_then_rearm, .delay_ns = delay};
        scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
        tkw_handle handle = gate_enter(&scene, &held, &gate);
        assert_int_equal(tkw_service_cancel(scene.service, handle), -EBUSY);
        gate_open(&gate);
        gate_open(&gate); /* should it come again */
        scene_rest(&scene);
        scene_go(&scene, 1000 + HOUR);
        assert_int_equal(ran(&held), 1);
        assert_int_equal(held.answer, 0);
        assert_int_equal(dropped(&held), 0);
        gate_done(&gate);
        scene_close(&scene);
    }
}

/* After cancel_sync the callback is over for good, armed again or not: what it
   uses may be freed. */
static void cancel_sync_of_what_was_armed_again_ends_it_for_good(void **state)
{
    (void)state;
    for (uint64_t delay = 0; delay <= 100; delay += 100) {
        struct scene scene;
        struct gate gate;
        struct probe held = {0};
        struct canceller canceller = {.held = &held};
        scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
        tkw_handle handle = gate_enter(&scene, &held, &gate);
        assert_int_equal(tkw_service_rearm(scene.service, handle, delay), 1);
        pthread_t thread = thread_start(cancel_and_see, &canceller);
        while (tkw_service_count(scene.service) != 0)
            have_patience();
        assert_false(atomic_load(&canceller.returned));
        gate_open(&gate);
        gate_open(&gate); /* should it come again */
        thread_join(thread);
        assert_true(canceller.answer == 0 || canceller.answer == 1);
        scene_rest(&scene);
        scene_go(&scene, 1000 + HOUR);
        assert_int_equal(ran(&held), 1);
        assert_int_equal(dropped(&held), 1);
        gate_done(&gate);
        scene_close(&scene);
    }
}

static void rearm_twice_over(struct probe *probe)
{
    if (ran(probe) < 2)
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 10);
}

/* A callback that ran was not dropped, however often it was started again;
   the last arming is dropped if that is cancelled. */
static void each_arming_ends_by_callback_or_by_drop(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe runs = {.act = rearm_twice_over};
        struct probe stopped = {.act = rearm_twice_over};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &runs, 10);
        probe_arm(&scene, &stopped, 10);
        scene_go(&scene, 1010);
        scene_go(&scene, 1020);
        assert_int_equal(tkw_service_cancel(scene.service, stopped.handle), 1);
        assert_int_equal(dropped(&stopped), 1);
        scene_go(&scene, 1030);
        scene_go(&scene, 1040);
        assert_int_equal(ran(&runs), 3);
        assert_int_equal(dropped(&runs), 0);
        assert_int_equal(ran(&stopped), 2);
        scene_close(&scene);
        assert_int_equal(dropped(&runs), 0);
        assert_int_equal(dropped(&stopped), 1);
    }
}

/* Whoever does not care for the handle need not take it, nor have a drop. */
static void handle_and_drop_may_be_left_out(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    tkw_handle handle;
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    struct tkw_task task = probe_task(&scene, &probe);
    task.drop = NULL;
    assert_int_equal(tkw_service_arm(scene.service, NULL, 10, task), 0);
    assert_int_equal(tkw_service_arm_at(scene.service, NULL, 1020, task), 0);
    assert_int_equal(tkw_service_arm(scene.service, &handle, 30, task), 0);
    assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
    assert_int_equal(tkw_service_arm(scene.service, NULL, 500, task), 0);
    assert_int_equal(scene_go(&scene, 1100), 2);
    scene_close(&scene);
    assert_int_equal(ran(&probe), 2);
}

static void use_the_service(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    probe->answer = tkw_service_cancel(service, probe->handle);
    if (probe->other == NULL)
        return;
    probe->second = tkw_service_arm(service, &probe->other->handle, 50,
                                    probe_task(probe->scene, probe->other));
    tkw_service_count(service);
    tkw_service_query(service, probe->handle, NULL);
}

/* L11.  Drop runs with no lock held: it may arm, ask and cancel. */
static void drop_may_call_the_service(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe other = {0};
        struct probe probe = {.act_on_drop = use_the_service, .other = &other};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &probe, 100);
        assert_int_equal(tkw_service_cancel(scene.service, probe.handle), 1);
        assert_int_equal(probe.answer, 0);
        assert_int_equal(probe.second, 0);
        assert_int_equal(dropped(&probe), 1);
        assert_int_equal(scene_go(&scene, 1050), 1);
        assert_int_equal(ran(&other), 1);
        scene_close(&scene);
    }
}

static void cancel_the_other(struct probe *probe)
{
    if (probe->other != NULL)
        tkw_service_cancel(probe->scene->service, probe->other->handle);
}

/* Drops that cancel in turn unwind like any function: each is called once. */
static void a_chain_of_drops_drops_each_once(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[50] = {{0}};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        probes[i].act_on_drop = cancel_the_other;
        probes[i].other = &probes[(i + 1) % COUNT_OF(probes)];
        probe_arm(&scene, &probes[i], 100);
    }
    assert_int_equal(tkw_service_cancel(scene.service, probes[0].handle), 1);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        assert_int_equal(dropped(&probes[i]), 1);
    assert_int_equal(tkw_service_read_stats(scene.service).cancelled, 50);
    scene_close(&scene);
}

static void *use_it_all(void *argument)
{
    struct probe *probe = argument;
    struct tkw_service *service = probe->scene->service;
    struct probe *other = probe->other;
    tkw_service_arm(service, &other->handle, HOUR,
                    probe_task(probe->scene, other));
    tkw_service_rearm(service, other->handle, 2 * HOUR);
    tkw_service_postpone(service, other->handle, 3 * HOUR);
    tkw_service_query(service, other->handle, NULL);
    tkw_service_now(service);
    tkw_service_count(service);
    tkw_service_read_stats(service);
    if (probe->scene->driver == TKW_DRIVER_NONE)
        tkw_service_next(service);
    tkw_service_query(service, probe->handle, NULL);
    other->answer = tkw_service_cancel(service, other->handle);
    return NULL;
}

static void await_another_thread(struct probe *probe)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, use_it_all, probe) == 0)
        pthread_join(thread, NULL);
}

/* L11.  While a callback, or a drop, waits for another thread, that thread can
   do everything: a lock held would hang here. */
static void callbacks_and_drops_run_with_no_lock_held(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe others[2] = {{0}};
        struct probe called = {.act = await_another_thread,
                               .other = &others[0]};
        struct probe thrown = {.act_on_drop = await_another_thread,
                               .other = &others[1]};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &called, 100);
        probe_arm(&scene, &thrown, 100);
        assert_int_equal(tkw_service_cancel(scene.service, thrown.handle), 1);
        scene_go(&scene, 1100);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(others[k].answer, 1);
            assert_int_equal(dropped(&others[k]), 1);
        }
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_armed_again_is_stopped_and_dropped_later),
        cmocka_unit_test(another_thread_can_start_it_again_and_stop_that),
        cmocka_unit_test(a_cancel_while_running_outlasts_the_callback),
        cmocka_unit_test(cancel_sync_of_what_was_armed_again_ends_it_for_good),
        cmocka_unit_test(each_arming_ends_by_callback_or_by_drop),
        cmocka_unit_test(handle_and_drop_may_be_left_out),
        cmocka_unit_test(drop_may_call_the_service),
        cmocka_unit_test(a_chain_of_drops_drops_each_once),
        cmocka_unit_test(callbacks_and_drops_run_with_no_lock_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
