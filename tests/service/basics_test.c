/*
 * service/basics_test.c - a timer of a service from arming to its callback:
 * rounding up, the ends of time, what a callback and a question are told, and
 * what is counted.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

/* L1.  It fires when its time has come and not a nanosecond before. */
static void fires_when_its_time_has_come_and_not_before(void **state)
{
    (void)state;
    static const uint64_t delays[] = {10, 20, 1280, 99990, HOUR, 77 * HOUR};
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(delays); i++) {
        struct scene scene;
        struct probe probe = {0};
        uint64_t due = 1000 + delays[i / COUNT_OF(both)];
        scene_open_tens(&scene, 1000, both[i % COUNT_OF(both)]);
        tkw_handle handle = probe_arm(&scene, &probe, due - 1000);
        assert_int_equal(scene_rest(&scene), 0);
        assert_int_equal(scene_go(&scene, due - 1), 0);
        assert_state(&scene, handle, TKW_PENDING);
        assert_int_equal(scene_go(&scene, due), 1);
        assert_int_equal(ran(&probe), 1);
        assert_int_equal(dropped(&probe), 0);
        assert_state(&scene, handle, TKW_DONE);
        assert_int_equal(scene_go(&scene, due + 77 * HOUR), 0);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), 0);
    }
}

/* A callback is told its service, handle and time; arm and arm_at agree. */
static void a_callback_receives_its_handle_and_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe after = {0}, at = {0};
        scene_open_tens(&scene, 1000, both[i]);
        tkw_handle first = probe_arm(&scene, &after, 500);
        tkw_handle second = probe_arm_at(&scene, &at, 1500);
        assert_int_not_equal(first, second);
        scene_go(&scene, 1620);
        assert_ptr_equal(after.firing.service, scene.service);
        assert_int_equal(after.firing.handle, first);
        assert_int_equal(after.firing.due_ns, 1500);
        assert_int_equal(after.firing.now_ns, 1620);
        assert_int_equal(at.firing.handle, second);
        assert_int_equal(at.firing.due_ns, 1500);
        assert_int_equal(at.firing.now_ns, 1620);
        scene_close(&scene);
    }
}

struct rounding {
    const char *row;
    uint64_t tick, start, at, fires;
    uint32_t size, beyond;
};

/* X20 to X22, and the numbers of the hashed wheel: the deadline is rounded up
   to a tick, and ticks are counted from 0 of the clock. */
static void a_time_is_rounded_up_to_a_tick(void **state)
{
    (void)state;
    static const uint64_t ms = TKW_MILLISECOND;
    static const struct rounding rows[] = {
        {"X20", 10, 1000, 1020, 1020, 5, TKW_GROW},
        {"X20", 10, 1000, 1005, 1010, 5, TKW_GROW},
        {"X20", 10, 1000, 1001, 1010, 5, TKW_GROW},
        {"X21", 10, 1000, 1060, 1060, 5, TKW_GROW},
        {"X21", 10, 1000, 1061, 1070, 5, TKW_GROW},
        {"X22", 20, 123, 130, 140, 20, TKW_GROW},
        {"X22", 20, 123, 141, 160, 20, TKW_GROW},
        {"hashed 10", 100 * ms, 0, 10 * ms, 100 * ms, 512, TKW_ROUNDS},
        {"hashed 100", 100 * ms, 0, 100 * ms, 100 * ms, 512, TKW_ROUNDS},
        {"hashed 60 s", 100 * ms, 0, 60000 * ms, 60000 * ms, 512, TKW_ROUNDS},
    };
    for (size_t i = 0; i < COUNT_OF(rows) * COUNT_OF(both); i++) {
        const struct rounding *row = &rows[i / COUNT_OF(both)];
        struct scene scene;
        struct probe at = {0}, after = {0};
        scene_open(
            &scene, row->start,
            (struct tkw_service_config){
                .tick_ns = row->tick,
                .shards = 1,
                .driver = both[i % COUNT_OF(both)],
                .geometry = {.sizes = {row->size}, .beyond = row->beyond}});
        probe_arm_at(&scene, &at, row->at);
        probe_arm(&scene, &after, row->at - row->start);
        assert_int_equal(scene_go(&scene, row->at - 1), 0);
        assert_int_equal(scene_go(&scene, row->fires), 2);
        assert_true(at.firing.due_ns >= row->at);
        assert_true(at.firing.due_ns <= row->fires);
        assert_int_equal(after.firing.due_ns, at.firing.due_ns);
        scene_close(&scene);
    }
}

/* The promise is less than a tick late, whatever the clock stands at. */
static void is_less_than_a_tick_late_from_everywhere(void **state)
{
    (void)state;
    struct scene scene;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (uint64_t now = 0; now < 3000;
         now = tkw_manual_clock_now(scene.manual) + 7) {
        struct probe probe = {0};
        scene_go(&scene, now);
        uint64_t due = now + now % 37;
        probe_arm(&scene, &probe, due - now);
        while (ran(&probe) == 0) {
            scene_rest(&scene);
            assert_true(tkw_manual_clock_now(scene.manual) < due + 10);
            tkw_manual_clock_advance(scene.manual, 1);
        }
        assert_true(probe.firing.now_ns >= due);
        assert_true(probe.clock_ns >= due);
    }
    scene_close(&scene);
}

/* Zero, past and present are called as soon as possible, but not by arm. */
static void what_has_passed_fires_at_once_but_not_inside_arm(void **state)
{
    (void)state;
    static const uint64_t times[] = {0, 1, 990, 999, 1000};
    struct scene scene;
    struct probe zero = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    probe_arm(&scene, &zero, 0);
    assert_int_equal(ran(&zero), 0);
    assert_int_equal(tkw_service_count(scene.service), 1);
    assert_true(tkw_service_next(scene.service) <= 1000);
    assert_int_equal(scene_rest(&scene), 1);
    assert_int_equal(ran(&zero), 1);
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct probe past = {0};
        probe_arm_at(&scene, &past, times[i]);
        assert_int_equal(ran(&past), 0);
        assert_int_equal(scene_rest(&scene), 1);
        assert_int_equal(ran(&past), 1);
    }
    scene_close(&scene);
}

/* As soon as possible is now, not the next tick: the clock may stand anywhere
   within a tick, and a test that has settled expects it to be over. */
static void what_has_passed_does_not_wait_for_the_next_tick(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe zero = {0}, past = {0}, moved = {0};
        scene_open_tens(&scene, 1005, both[i]);
        probe_arm(&scene, &zero, 0);
        scene_rest(&scene);
        assert_int_equal(ran(&zero), 1);
        probe_arm_at(&scene, &past, 1003);
        scene_rest(&scene);
        assert_int_equal(ran(&past), 1);
        probe_arm(&scene, &moved, HOUR);
        assert_int_equal(tkw_service_rearm(scene.service, moved.handle, 0), 1);
        scene_rest(&scene);
        assert_int_equal(ran(&moved), 1);
        scene_close(&scene);
    }
}

/* L5, bug 6.  Sums beyond the end of time never come, and never wrap. */
static void a_delay_past_the_end_of_time_never_comes(void **state)
{
    (void)state;
    static const uint64_t ticks[] = {1, 10, TKW_MILLISECOND, HOUR};
    static const uint64_t starts[] = {1, 1000003, UINT64_C(1) << 63,
                                      UINT64_MAX - 2 * HOUR};
    for (size_t i = 0; i < COUNT_OF(ticks) * COUNT_OF(starts); i++) {
        struct scene scene;
        struct probe never = {0}, wraps = {0}, sure = {0};
        uint64_t start = starts[i / COUNT_OF(ticks)];
        scene_open(
            &scene, start,
            (struct tkw_service_config){.tick_ns = ticks[i % COUNT_OF(ticks)],
                                        .driver = TKW_DRIVER_NONE});
        tkw_handle handle = probe_arm(&scene, &never, UINT64_MAX);
        probe_arm(&scene, &wraps, UINT64_MAX - start + 1);
        probe_arm_at(&scene, &sure, UINT64_MAX);
        assert_int_equal(scene_rest(&scene), 0);
        assert_int_equal(tkw_service_next(scene.service), UINT64_MAX);
        assert_int_equal(scene_go(&scene, UINT64_MAX - 1), 0);
        assert_int_equal(scene_go(&scene, UINT64_MAX), 0);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
        assert_int_equal(dropped(&never), 1);
        scene_close(&scene);
        assert_int_equal(dropped(&sure), 1);
    }
}

/* Not even when the clock has reached the end is such a timer ready. */
static void a_timer_for_never_is_never_ready(void **state)
{
    (void)state;
    static const uint64_t times[] = {1000, HOUR, UINT64_MAX - 1, UINT64_MAX};
    struct scene scene;
    struct probe never = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    probe_arm(&scene, &never, UINT64_MAX);
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct tkw_outlook outlook = {7, 7};
        assert_int_equal(scene_go(&scene, times[i]), 0);
        assert_int_equal(
            tkw_service_query(scene.service, never.handle, &outlook),
            TKW_PENDING);
        assert_int_equal(outlook.due_ns, UINT64_MAX);
        assert_int_equal(outlook.remaining_ns, UINT64_MAX);
    }
    scene_close(&scene);
}

/* Just before the end they do come: UINT64_MAX is the only never. */
static void the_last_nanosecond_but_one_comes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe last = {0}, half = {0};
        scene_open(
            &scene, 0,
            (struct tkw_service_config){.tick_ns = 1, .driver = both[i]});
        probe_arm(&scene, &last, UINT64_MAX - 1);
        probe_arm(&scene, &half, UINT64_C(1) << 63);
        assert_int_equal(scene_go(&scene, (UINT64_C(1) << 63) - 1), 0);
        assert_int_equal(scene_go(&scene, UINT64_C(1) << 63), 1);
        assert_int_equal(scene_go(&scene, UINT64_MAX - 2), 0);
        assert_int_equal(scene_go(&scene, UINT64_MAX - 1), 1);
        assert_int_equal(ran(&last), 1);
        scene_close(&scene);
    }
}

/* A huge tick rounds up to never rather than round to 0. */
static void rounding_up_past_the_end_of_time_never_fires_early(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open(&scene, 5,
               (struct tkw_service_config){.tick_ns = UINT64_MAX,
                                           .driver = TKW_DRIVER_NONE});
    probe_arm_at(&scene, &probe, UINT64_MAX - 1);
    assert_int_equal(scene_go(&scene, UINT64_MAX - 2), 0);
    scene_close(&scene);
}

static void turn_then_arm(struct probe *probe)
{
    tkw_manual_clock_advance(probe->scene->manual, 300);
    tkw_service_arm(probe->scene->service, &probe->other->handle, 100,
                    probe_task(probe->scene, probe->other));
}

/* L1.  A delay counts from the call, not from the pass the call is made in:
   time went by while the callback worked. */
static void a_delay_counts_from_the_call_and_not_from_the_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe late = {0};
        struct probe slow = {.act = turn_then_arm, .other = &late};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &slow, 100);
        scene_go(&scene, 1100);
        assert_int_equal(tkw_manual_clock_now(scene.manual), 1400);
        assert_int_equal(scene_go(&scene, 1499), 0);
        assert_int_equal(scene_go(&scene, 1500), 1);
        assert_int_equal(late.firing.due_ns, 1500);
        scene_close(&scene);
    }
}

static void ask_about_itself(struct probe *probe)
{
    probe->answer = (int)tkw_service_query(probe->scene->service,
                                           probe->firing.handle, NULL);
    probe->second = (int)tkw_service_count(probe->scene->service);
}

/* From pending over running to done, and how far away it is. */
static void query_follows_a_timer_through_its_life(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {.act = ask_about_itself};
    struct tkw_outlook outlook = {7, 7};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    tkw_handle handle = probe_arm(&scene, &probe, 500);
    assert_int_equal(tkw_service_query(scene.service, handle, &outlook),
                     TKW_PENDING);
    assert_int_equal(outlook.due_ns, 1500);
    assert_int_equal(outlook.remaining_ns, 500);
    tkw_manual_clock_set(scene.manual, 1499);
    assert_int_equal(tkw_service_query(scene.service, handle, &outlook),
                     TKW_PENDING);
    assert_int_equal(outlook.remaining_ns, 1);
    tkw_manual_clock_set(scene.manual, 1700);
    assert_waiting(&scene, handle);
    tkw_service_query(scene.service, handle, &outlook);
    assert_int_equal(outlook.due_ns, 1500);
    assert_int_equal(outlook.remaining_ns, 0);
    scene_rest(&scene);
    assert_int_equal(probe.answer, TKW_RUNNING);
    assert_int_equal(probe.second, 0);
    outlook = (struct tkw_outlook){7, 7};
    assert_int_equal(tkw_service_query(scene.service, handle, &outlook),
                     TKW_DONE);
    assert_int_equal(outlook.due_ns, 7);
    assert_int_equal(outlook.remaining_ns, 7);
    scene_close(&scene);
}

/* The service's time is that of its clock; arming asks for a callback. */
static void now_is_the_clocks_and_no_callback_is_refused(void **state)
{
    (void)state;
    struct scene scene;
    tkw_handle handle = 77;
    scene_open_tens(&scene, 1003, TKW_DRIVER_NONE);
    assert_int_equal(tkw_service_now(scene.service), 1003);
    tkw_manual_clock_advance(scene.manual, 4);
    assert_int_equal(tkw_service_now(scene.service), 1007);
    assert_int_equal(tkw_service_arm(scene.service, &handle, 5,
                                     (struct tkw_task){NULL, &scene, NULL}),
                     -EINVAL);
    assert_int_equal(tkw_service_arm_at(scene.service, &handle, 5,
                                        (struct tkw_task){NULL, &scene, NULL}),
                     -EINVAL);
    assert_int_equal(handle, 77);
    assert_int_equal(tkw_service_count(scene.service), 0);
    assert_int_equal(tkw_service_read_stats(scene.service).armed, 0);
    assert_int_equal(tkw_service_next(scene.service), UINT64_MAX);
    scene_close(&scene);
}

/* L3.  Every arming is counted once, with its outcome. */
static void what_is_counted_adds_up(void **state)
{
    (void)state;
    static struct probe probes[90];
    memset(probes, 0, sizeof probes);
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        scene_open_tens(&scene, 1000, both[i]);
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            probe_arm(&scene, &probes[k], k % 3 == 0 ? 100 : HOUR);
        for (size_t k = 1; k < COUNT_OF(probes); k += 3)
            assert_int_equal(
                tkw_service_cancel(scene.service, probes[k].handle), 1);
        assert_int_equal(scene_go(&scene, 2000), 30);
        struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
        assert_int_equal(stats.armed, 90);
        assert_int_equal(stats.fired, 30);
        assert_int_equal(stats.cancelled, 30);
        assert_int_equal(stats.pending, 30);
        assert_int_equal(stats.steps_back, 0);
        assert_int_equal(tkw_service_count(scene.service), 30);
        scene_close(&scene);
    }
    for (size_t k = 0; k < COUNT_OF(probes); k++)
        assert_int_equal(ran(&probes[k]) + dropped(&probes[k]), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fires_when_its_time_has_come_and_not_before),
        cmocka_unit_test(a_callback_receives_its_handle_and_times),
        cmocka_unit_test(a_time_is_rounded_up_to_a_tick),
        cmocka_unit_test(is_less_than_a_tick_late_from_everywhere),
        cmocka_unit_test(what_has_passed_fires_at_once_but_not_inside_arm),
        cmocka_unit_test(what_has_passed_does_not_wait_for_the_next_tick),
        cmocka_unit_test(a_delay_past_the_end_of_time_never_comes),
        cmocka_unit_test(a_timer_for_never_is_never_ready),
        cmocka_unit_test(the_last_nanosecond_but_one_comes),
        cmocka_unit_test(rounding_up_past_the_end_of_time_never_fires_early),
        cmocka_unit_test(a_delay_counts_from_the_call_and_not_from_the_pass),
        cmocka_unit_test(query_follows_a_timer_through_its_life),
        cmocka_unit_test(now_is_the_clocks_and_no_callback_is_refused),
        cmocka_unit_test(what_is_counted_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
