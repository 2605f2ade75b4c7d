/*
 * service/move_test.c - moving timers: arming again and postponing, by a delay
 * and to a time, of timers in every state.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

/* The four ways to move a timer to a time, when the clock shows `now`. */
static int move(struct scene *scene, unsigned way, tkw_handle handle,
                uint64_t time)
{
    struct tkw_service *service = scene->service;
    uint64_t delay = time - tkw_service_now(service);
    switch (way) {
    case 0:
        return tkw_service_rearm(service, handle, delay);
    case 1:
        return tkw_service_rearm_at(service, handle, time);
    case 2:
        return tkw_service_postpone(service, handle, delay);
    default:
        return tkw_service_postpone_at(service, handle, time);
    }
}

#define WAYS 4

/* Earlier or later, it fires at the new time and only then; and a move is no
   arming. */
static void a_pending_timer_moves_to_any_time(void **state)
{
    (void)state;
    static const uint64_t times[] = {1010, 1490, 1500, 1510, 9000, HOUR};
    for (unsigned way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < COUNT_OF(times) * COUNT_OF(both); i++) {
            struct scene scene;
            struct probe probe = {0};
            struct tkw_outlook outlook = {0, 0};
            uint64_t time = times[i / 2];
            scene_open_tens(&scene, 1000, both[i % 2]);
            tkw_handle handle = probe_arm_at(&scene, &probe, 1500);
            assert_int_equal(move(&scene, way, handle, time), 1);
            assert_int_equal(tkw_service_query(scene.service, handle, &outlook),
                             TKW_PENDING);
            assert_int_equal(outlook.due_ns, time);
            assert_int_equal(outlook.remaining_ns, time - 1000);
            assert_int_equal(scene_go(&scene, time - 1), 0);
            assert_int_equal(scene_go(&scene, time), 1);
            assert_int_equal(probe.firing.due_ns, time);
            assert_int_equal(probe.firing.handle, handle);
            assert_int_equal(scene_go(&scene, 2 * HOUR), 0);
            assert_int_equal(tkw_service_read_stats(scene.service).armed, 1);
            scene_close(&scene);
            assert_int_equal(ran(&probe), 1);
            assert_int_equal(dropped(&probe), 0);
        }
    }
}

/* Moved a thousand times it is still one timer, due once. */
static void a_timer_moved_often_fires_once(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        tkw_handle handle = probe_arm(&scene, &probe, 300);
        for (uint64_t now = 0; now < 10000; now += 10) {
            assert_int_equal(scene_go(&scene, now), 0);
            assert_int_equal(move(&scene, way, handle, now + 300), 1);
            assert_int_equal(tkw_service_count(scene.service), 1);
        }
        assert_int_equal(scene_go(&scene, 10289), 0);
        assert_int_equal(scene_go(&scene, 10290), 1);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        scene_close(&scene);
    }
}

/* To a time that has passed: at once.  To the end of time: never. */
static void a_move_reaches_both_ends_of_time(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        struct scene scene;
        struct probe soon = {0}, never = {0};
        scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
        probe_arm(&scene, &soon, HOUR);
        probe_arm(&scene, &never, 100);
        assert_int_equal(move(&scene, way, soon.handle, 1000), 1);
        assert_int_equal(scene_rest(&scene), 1);
        assert_int_equal(ran(&soon), 1);
        assert_int_equal(move(&scene, way, never.handle, UINT64_MAX), 1);
        assert_int_equal(scene_go(&scene, UINT64_MAX - 1), 0);
        assert_int_equal(scene_go(&scene, UINT64_MAX), 0);
        assert_int_equal(tkw_service_cancel(scene.service, never.handle), 1);
        scene_close(&scene);
    }
}

/* Sums saturate here, too. */
static void a_move_by_a_huge_delay_does_not_wrap(void **state)
{
    (void)state;
    struct scene scene;
    struct probe again = {0}, later = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    probe_arm(&scene, &again, 100);
    probe_arm(&scene, &later, 100);
    assert_int_equal(
        tkw_service_rearm(scene.service, again.handle, UINT64_MAX - 999), 1);
    assert_int_equal(
        tkw_service_postpone(scene.service, later.handle, UINT64_MAX), 1);
    assert_int_equal(scene_go(&scene, UINT64_MAX), 0);
    assert_int_equal(tkw_service_count(scene.service), 2);
    scene_close(&scene);
}

/* Armed again it is the last among its equals. */
static void among_equals_a_rearmed_timer_is_the_last(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probes[3] = {{0}};
        scene_open_tens(&scene, 1000, both[i]);
        for (size_t k = 0; k < 3; k++)
            probe_arm(&scene, &probes[k], 100);
        assert_int_equal(
            tkw_service_rearm_at(scene.service, probes[0].handle, 1100), 1);
        scene_go(&scene, 1100);
        assert_int_equal(probes[1].place, 1);
        assert_int_equal(probes[2].place, 2);
        assert_int_equal(probes[0].place, 3);
        scene_close(&scene);
    }
}

/* Due, but the thread is busy: it has not started, so it can be moved. */
static void what_is_due_but_not_started_can_be_moved(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        struct scene scene;
        struct gate gate;
        struct probe held = {.act = gate_hold, .gate = &gate};
        struct probe moved = {0};
        scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
        gate_init(&gate);
        probe_arm(&scene, &held, 100);
        probe_arm(&scene, &moved, 100);
        tkw_manual_clock_set(scene.manual, 1100);
        gate_await(&gate);
        assert_int_equal(move(&scene, way, moved.handle, 1300), 1);
        assert_int_equal(tkw_service_count(scene.service), 1);
        gate_open(&gate);
        scene_rest(&scene);
        assert_int_equal(ran(&moved), 0);
        assert_int_equal(scene_go(&scene, 1299), 0);
        assert_int_equal(scene_go(&scene, 1300), 1);
        assert_int_equal(ran(&moved), 1);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, 2);
        gate_done(&gate);
        scene_close(&scene);
    }
}

/* The same without a driver: due, one of two called, the other moved. */
static void what_is_left_of_a_budget_can_be_moved(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        struct scene scene;
        struct probe first = {0}, moved = {0};
        scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
        probe_arm(&scene, &first, 100);
        probe_arm(&scene, &moved, 100);
        tkw_manual_clock_set(scene.manual, 1100);
        assert_int_equal(tkw_service_run(scene.service, 1), 1);
        assert_int_equal(move(&scene, way, moved.handle, 1300), 1);
        assert_int_equal(scene_go(&scene, 1299), 0);
        assert_int_equal(scene_go(&scene, 1300), 1);
        scene_close(&scene);
    }
}

static void retry_with_back_off(struct probe *probe)
{
    probe->delay_ns *= 2;
    if (ran(probe) < 3)
        probe->answer += tkw_service_rearm(
            probe->scene->service, probe->firing.handle, probe->delay_ns);
}

/* In its own callback a timer starts itself again, under its handle: a retry
   with back-off.  Each start is an arming. */
static void a_callback_starts_itself_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {.act = retry_with_back_off, .delay_ns = 100};
        scene_open_tens(&scene, 1000, both[i]);
        tkw_handle handle = probe_arm(&scene, &probe, 100);
        assert_int_equal(scene_go(&scene, 1100), 1);
        assert_state(&scene, handle, TKW_PENDING);
        assert_int_equal(scene_go(&scene, 1299), 0);
        assert_int_equal(scene_go(&scene, 1300), 1);
        assert_int_equal(scene_go(&scene, 1699), 0);
        assert_int_equal(scene_go(&scene, 1700), 1);
        assert_int_equal(scene_go(&scene, 2500), 1);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        assert_int_equal(probe.answer, 3);
        assert_int_equal(probe.firing.handle, handle);
        assert_state(&scene, handle, TKW_DONE);
        struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
        assert_int_equal(stats.armed, 4);
        assert_int_equal(stats.fired, 4);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), 0);
    }
}

static void rearm_at_twice(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    if (ran(probe) > 0)
        return;
    probe->answer = tkw_service_rearm_at(service, probe->firing.handle, 5000);
    probe->second = tkw_service_rearm_at(service, probe->firing.handle, 1200);
}

/* Twice in a callback: the second moves what the first started. */
static void starting_again_twice_is_one_arming_and_a_move(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {.act = rearm_at_twice};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &probe, 100);
        scene_go(&scene, 1100);
        assert_int_equal(probe.answer, 1);
        assert_int_equal(probe.second, 1);
        assert_int_equal(tkw_service_count(scene.service), 1);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, 2);
        assert_int_equal(scene_go(&scene, 1199), 0);
        assert_int_equal(scene_go(&scene, 1200), 1);
        assert_int_equal(scene_go(&scene, 9000), 0);
        scene_close(&scene);
    }
}

/* Another thread can start it again while it runs; should its time come before
   the callback has returned, it runs after that, not beside it. */
static void another_thread_starts_a_running_timer_again(void **state)
{
    (void)state;
    for (uint64_t delay = 0; delay <= 500; delay += 500) {
        struct scene scene;
        struct gate gate;
        struct probe held = {0};
        scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
        tkw_handle handle = gate_enter(&scene, &held, &gate);
        assert_int_equal(tkw_service_rearm(scene.service, handle, delay), 1);
        assert_int_equal(tkw_service_count(scene.service), 1);
        have_patience();
        assert_int_equal(atomic_load(&scene.turns), 1);
        gate_open(&gate);
        gate_open(&gate);
        scene_rest(&scene);
        assert_int_equal(ran(&held), delay == 0 ? 2 : 1);
        scene_go(&scene, 1499);
        assert_int_equal(ran(&held), delay == 0 ? 2 : 1);
        scene_go(&scene, 1500);
        assert_int_equal(ran(&held), 2);
        assert_int_equal(held.firing.handle, handle);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, 2);
        gate_done(&gate);
        scene_close(&scene);
    }
}

static void postpone_itself(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    probe->answer = tkw_service_postpone(service, probe->firing.handle, 100);
    probe->second =
        tkw_service_postpone_at(service, probe->firing.handle, 5000);
}

/* Postponing is for what is pending: a running one is not started again. */
static void postponing_a_running_timer_does_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {.act = postpone_itself};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &probe, 100);
        scene_go(&scene, 1100);
        assert_int_equal(probe.answer, 0);
        assert_int_equal(probe.second, 0);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, 1);
        scene_close(&scene);
    }
}

/* 0: what is done or cancelled stays so. */
static void what_has_ended_cannot_be_moved(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        struct scene scene;
        struct probe done = {0}, stopped = {0};
        scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
        probe_arm(&scene, &done, 0);
        probe_arm(&scene, &stopped, 100);
        scene_rest(&scene);
        assert_int_equal(tkw_service_cancel(scene.service, stopped.handle), 1);
        assert_int_equal(move(&scene, way, done.handle, 1200), 0);
        assert_int_equal(move(&scene, way, stopped.handle, 1200), 0);
        assert_state(&scene, done.handle, TKW_DONE);
        assert_state(&scene, stopped.handle, TKW_CANCELLED);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, 2);
        scene_close(&scene);
    }
}

/* A move is rounded up like an arming. */
static void a_move_is_never_early_within_a_tick(void **state)
{
    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        for (uint64_t time = 1001; time < 1050; time++) {
            struct scene scene;
            struct probe probe = {0};
            scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
            probe_arm(&scene, &probe, time % 2 == 0 ? 5 : 45);
            assert_int_equal(move(&scene, way, probe.handle, time), 1);
            assert_int_equal(scene_go(&scene, time - 1), 0);
            assert_int_equal(scene_go(&scene, (time + 9) / 10 * 10), 1);
            scene_close(&scene);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pending_timer_moves_to_any_time),
        cmocka_unit_test(a_timer_moved_often_fires_once),
        cmocka_unit_test(a_move_reaches_both_ends_of_time),
        cmocka_unit_test(a_move_by_a_huge_delay_does_not_wrap),
        cmocka_unit_test(among_equals_a_rearmed_timer_is_the_last),
        cmocka_unit_test(what_is_due_but_not_started_can_be_moved),
        cmocka_unit_test(what_is_left_of_a_budget_can_be_moved),
        cmocka_unit_test(a_callback_starts_itself_again),
        cmocka_unit_test(starting_again_twice_is_one_arming_and_a_move),
        cmocka_unit_test(another_thread_starts_a_running_timer_again),
        cmocka_unit_test(postponing_a_running_timer_does_nothing),
        cmocka_unit_test(what_has_ended_cannot_be_moved),
        cmocka_unit_test(a_move_is_never_early_within_a_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
