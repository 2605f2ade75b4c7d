/*
 * service/stop_test.c - the two verbs of the end (L12): stop, from anywhere and
 * as often as you like; close, which hands back exactly what never ran.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

/* A service that was never used stops and closes; twice is as good as once. */
static void an_unused_service_stops_any_number_of_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        scene_open_tens(&scene, 1000, both[i]);
        tkw_service_stop(scene.service);
        tkw_service_stop(scene.service);
        tkw_service_stop(scene.service);
        scene_close(&scene);
        scene_open_tens(&scene, 1000, both[i]);
        assert_int_equal(tkw_service_close(scene.service, NULL, NULL), 0);
        tkw_manual_clock_close(scene.manual);
        account_done(&scene.account);
    }
}

/* After stop every way to arm is refused, with nothing changed. */
static void after_stop_arming_and_moving_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {0}, refused = {0};
        tkw_handle handle = 77;
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &probe, 100);
        tkw_service_stop(scene.service);
        struct tkw_task task = probe_task(&scene, &refused);
        struct tkw_service *service = scene.service;
        assert_int_equal(tkw_service_arm(service, &handle, 5, task),
                         -ESHUTDOWN);
        assert_int_equal(tkw_service_arm_at(service, &handle, 5, task),
                         -ESHUTDOWN);
        assert_int_equal(handle, 77);
        assert_int_equal(tkw_service_rearm(service, probe.handle, 5),
                         -ESHUTDOWN);
        assert_int_equal(tkw_service_rearm_at(service, probe.handle, 5),
                         -ESHUTDOWN);
        assert_int_equal(tkw_service_postpone(service, probe.handle, 500),
                         -ESHUTDOWN);
        assert_int_equal(tkw_service_postpone_at(service, probe.handle, 5000),
                         -ESHUTDOWN);
        assert_state(&scene, probe.handle, TKW_PENDING);
        assert_int_equal(tkw_service_count(service), 1);
        assert_int_equal(tkw_service_read_stats(service).armed, 1);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), 1);
        assert_int_equal(dropped(&refused), 0);
    }
}

/* What is pending stays so, however late it gets, and can be cancelled. */
static void after_stop_nothing_starts_and_cancel_works(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe pending = {0}, stopped = {0}, synced = {0};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &pending, 100);
        probe_arm(&scene, &stopped, 100);
        probe_arm(&scene, &synced, 100);
        tkw_service_stop(scene.service);
        tkw_manual_clock_set(scene.manual, HOUR);
        if (both[i] == TKW_DRIVER_NONE)
            assert_int_equal(tkw_service_run(scene.service, 0), 0);
        have_patience();
        assert_int_equal(atomic_load(&scene.turns), 0);
        assert_int_equal(tkw_service_cancel(scene.service, stopped.handle), 1);
        assert_int_equal(tkw_service_cancel_sync(scene.service, synced.handle),
                         1);
        assert_int_equal(dropped(&stopped) + dropped(&synced), 2);
        assert_int_equal(tkw_service_count(scene.service), 1);
        scene_close(&scene);
        assert_int_equal(dropped(&pending), 1);
        assert_int_equal(dropped(&stopped) + dropped(&synced), 2);
        assert_int_equal(atomic_load(&scene.turns), 0);
    }
}

static void stop_and_try_to_go_on(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    tkw_service_stop(service);
    tkw_service_stop(service);
    probe->answer = tkw_service_rearm(service, probe->firing.handle, 0);
    probe->second = tkw_service_arm(service, NULL, 0,
                                    probe_task(probe->scene, probe->other));
}

/* A callback may ask for stop: it returns, and nothing else starts. */
static void stop_from_a_callback_returns_and_is_the_last(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe next = {0};
        struct probe last = {.act = stop_and_try_to_go_on, .other = &next};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &last, 100);
        probe_arm(&scene, &next, 100);
        tkw_manual_clock_set(scene.manual, 1100);
        if (both[i] == TKW_DRIVER_NONE)
            assert_int_equal(tkw_service_run(scene.service, 0), 1);
        while (ran(&last) == 0)
            have_patience();
        tkw_service_stop(scene.service);
        assert_int_equal(last.answer, -ESHUTDOWN);
        assert_int_equal(last.second, -ESHUTDOWN);
        assert_int_equal(ran(&next), 0);
        scene_close(&scene);
        assert_int_equal(ran(&next), 0);
        assert_int_equal(dropped(&next), 1);
        assert_int_equal(dropped(&last), 0);
    }
}

struct stopper {
    struct scene *scene;
    struct gate *gate;
    bool had_passed; /* the callback was over when stop returned */
    atomic_bool returned;
};

static void *stop_and_note(void *argument)
{
    struct stopper *stopper = argument;
    tkw_service_stop(stopper->scene->service);
    stopper->had_passed = atomic_load(&stopper->gate->passed);
    atomic_store(&stopper->returned, true);
    return NULL;
}

/* From outside stop waits for the callback that is running, whoever else waits
   too; what was due behind it does not start any more. */
static void stop_waits_for_the_running_callback(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0}, next = {0};
    pthread_t threads[2];
    scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
    gate_enter(&scene, &held, &gate);
    probe_arm(&scene, &next, 0);
    struct stopper stoppers[2] = {{.scene = &scene, .gate = &gate},
                                  {.scene = &scene, .gate = &gate}};
    for (size_t i = 0; i < 2; i++)
        threads[i] = thread_start(stop_and_note, &stoppers[i]);
    /* Moving it is refused from when stop has begun. */
    while (tkw_service_rearm(scene.service, next.handle, 0) == 1)
        have_patience();
    have_patience();
    for (size_t i = 0; i < 2; i++)
        assert_false(atomic_load(&stoppers[i].returned));
    gate_open(&gate);
    for (size_t i = 0; i < 2; i++) {
        thread_join(threads[i]);
        assert_true(stoppers[i].had_passed);
    }
    assert_int_equal(ran(&held), 1);
    assert_int_equal(ran(&next), 0);
    gate_done(&gate);
    scene_close(&scene);
    assert_int_equal(ran(&next), 0);
    assert_int_equal(dropped(&next), 1);
}

static void *run_pass(void *argument)
{
    struct scene *scene = argument;
    tkw_service_run(scene->service, 0);
    return NULL;
}

/* The same without a driver: stop waits for the pass in another thread. */
static void stop_waits_for_a_pass_in_another_thread(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {.act = gate_hold, .gate = &gate}, next = {0};
    struct stopper stopper = {.scene = &scene, .gate = &gate};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    gate_init(&gate);
    probe_arm(&scene, &held, 0);
    probe_arm(&scene, &next, 0);
    pthread_t runner = thread_start(run_pass, &scene);
    gate_await(&gate);
    pthread_t thread = thread_start(stop_and_note, &stopper);
    while (tkw_service_rearm(scene.service, next.handle, 0) == 1)
        have_patience();
    assert_false(atomic_load(&stopper.returned));
    gate_open(&gate);
    thread_join(thread);
    assert_true(stopper.had_passed);
    thread_join(runner);
    assert_int_equal(ran(&next), 0);
    gate_done(&gate);
    scene_close(&scene);
}

struct armer {
    struct scene *scene;
    struct probe probe;
    unsigned armed;
    int last;
};

static void *arm_until_refused(void *argument)
{
    struct armer *armer = argument;
    struct tkw_service *service = armer->scene->service;
    struct tkw_task task = probe_task(armer->scene, &armer->probe);
    do {
        armer->last = tkw_service_arm(service, NULL, armer->armed % 3, task);
        armer->armed += armer->last == 0;
        if (armer->armed % 100 == 0)
            have_patience(); /* let the driver have the locks */
    } while (armer->last == 0);
    return NULL;
}

/* Others arm while it stops: all get the same answer in the end, no callback
   starts after it, and every arming that succeeded has its outcome. */
static void stop_while_others_arm_loses_nothing(void **state)
{
    (void)state;
    struct scene scene;
    static struct armer armers[3];
    pthread_t threads[3];
    memset(armers, 0, sizeof armers);
    scene_open(&scene, 0, (struct tkw_service_config){.tick_ns = 1});
    for (size_t i = 0; i < 3; i++) {
        armers[i].scene = &scene;
        threads[i] = thread_start(arm_until_refused, &armers[i]);
    }
    while (atomic_load(&scene.turns) < 100)
        tkw_manual_clock_advance(scene.manual, 1);
    tkw_service_stop(scene.service);
    unsigned turns = atomic_load(&scene.turns);
    tkw_manual_clock_advance(scene.manual, HOUR);
    for (size_t i = 0; i < 3; i++) {
        thread_join(threads[i]);
        assert_int_equal(armers[i].last, -ESHUTDOWN);
    }
    assert_int_equal(atomic_load(&scene.turns), turns);
    scene_close(&scene);
    assert_int_equal(atomic_load(&scene.turns), turns);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ran(&armers[i].probe) + dropped(&armers[i].probe),
                         armers[i].armed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unused_service_stops_any_number_of_times),
        cmocka_unit_test(after_stop_arming_and_moving_are_refused),
        cmocka_unit_test(after_stop_nothing_starts_and_cancel_works),
        cmocka_unit_test(stop_from_a_callback_returns_and_is_the_last),
        cmocka_unit_test(stop_waits_for_the_running_callback),
        cmocka_unit_test(stop_waits_for_a_pass_in_another_thread),
        cmocka_unit_test(stop_while_others_arm_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
