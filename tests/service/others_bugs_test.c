/*
 * service/others_bugs_test.c - bugs that other timers shipped.
 * Each is a test that fails when we have the bug.  See also others_bugs_test.c
 * and pool_others_bugs_test.c; and service_wishes_test.c for what their users
 * asked for.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

/* 1 (Linux 2020).  Arming what is long past must not move time back. */
static void arming_the_past_leaves_others_on_time(void **state)
{
    (void)state;
    struct scene scene;
    struct probe other = {0}, past = {0};
    scene_open_tens(&scene, 100000, TKW_DRIVER_NONE);
    probe_arm(&scene, &other, 5000);
    probe_arm_at(&scene, &past, 3);
    assert_int_equal(scene_rest(&scene), 1);
    assert_int_equal(scene_go(&scene, 104999), 0);
    assert_int_equal(scene_go(&scene, 105000), 1);
    scene_close(&scene);
}

/* 3 (tokio 8334).  Twelve days of uptime hide no near timer. */
static void weeks_of_uptime_hide_no_near_timer(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, 0,
               (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
    for (uint64_t day = 1; day <= 60; day++) {
        struct probe near = {0}, far = {0};
        uint64_t now = day * 24 * HOUR;
        scene_go(&scene, now);
        probe_arm(&scene, &far, 23 * HOUR);
        probe_arm(&scene, &near, TKW_MILLISECOND);
        assert_int_equal(scene_go(&scene, now + TKW_MILLISECOND), 1);
        assert_int_equal(ran(&near), 1);
        assert_int_equal(scene_go(&scene, now + 23 * HOUR), 1);
    }
    scene_close(&scene);
}

/* 4 (tokio 2473, 3270).  Cancelling what is due on the current tick. */
static void a_timer_of_the_current_tick_can_be_cancelled(void **state)
{
    (void)state;
    struct scene scene;
    struct probe now = {0}, zero = {0};
    scene_open_tens(&scene, 1280, TKW_DRIVER_NONE);
    probe_arm_at(&scene, &now, 1280);
    probe_arm(&scene, &zero, 0);
    assert_int_equal(tkw_service_cancel(scene.service, now.handle), 1);
    assert_int_equal(scene_rest(&scene), 1);
    assert_int_equal(ran(&now), 0);
    scene_close(&scene);
}

static void *arm_in_this_thread(void *argument)
{
    struct probe *probe = argument;
    tkw_service_arm_at(probe->scene->service, &probe->handle, probe->delay_ns,
                       probe_task(probe->scene, probe));
    return NULL;
}

/* 5 (tokio 6682).  The wake-up is computed from all shards, in any order. */
static void the_earliest_of_any_shard_wakes_the_driver(void **state)
{
    (void)state;
    for (unsigned up = 0; up < 2; up++) {
        struct scene scene;
        struct probe probes[16] = {{0}};
        scene_open(&scene, 0, (struct tkw_service_config){.shards = 8});
        for (size_t i = 0; i < 16; i++) {
            probes[i].scene = &scene;
            probes[i].delay_ns = (up ? i + 1 : 16 - i) * TKW_SECOND;
            thread_join(thread_start(arm_in_this_thread, &probes[i]));
        }
        for (uint64_t second = 1; second <= 16; second++) {
            assert_int_equal(scene_go(&scene, second * TKW_SECOND - 1), 0);
            assert_int_equal(scene_go(&scene, second * TKW_SECOND), 1);
        }
        scene_close(&scene);
    }
}

/* 6 (Netty 1959, 7760).  The largest delays neither fire nor hide others. */
static void huge_delays_do_not_overflow(void **state)
{
    (void)state;
    static const uint64_t delays[] = {UINT64_MAX, UINT64_MAX - 1,
                                      UINT64_MAX / 2, UINT64_C(1) << 63,
                                      INT64_MAX};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe huge[COUNT_OF(delays)] = {{0}}, near = {0};
        scene_open(&scene, 1 + HOUR,
                   (struct tkw_service_config){.driver = both[i]});
        for (size_t k = 0; k < COUNT_OF(delays); k++)
            probe_arm(&scene, &huge[k], delays[k]);
        probe_arm(&scene, &near, HOUR);
        assert_int_equal(scene_go(&scene, 2 * HOUR + TKW_MILLISECOND), 1);
        assert_int_equal(ran(&near), 1);
        assert_int_equal(scene_go(&scene, 100000 * HOUR), 0);
        assert_int_equal(tkw_service_count(scene.service), COUNT_OF(delays));
        scene_close(&scene);
    }
}

static void cancel_all_of_them(struct probe *probe)
{
    probe->answer =
        tkw_service_cancel(probe->scene->service, probe->firing.handle);
    for (struct probe *other = probe->other; other != NULL;
         other = other->other)
        probe->second +=
            tkw_service_cancel(probe->scene->service, other->handle) == 1;
}

/* 7 (Netty 14959).  Cancelling during expiry, oneself and the neighbours, takes
   each off the count once. */
static void cancel_during_expiry_counts_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probes[10] = {{0}}, rest = {0};
        scene_open_tens(&scene, 0, both[i]);
        for (size_t k = 0; k < 10; k++) {
            probes[k].act = cancel_all_of_them;
            probes[k].other = k < 9 ? &probes[k + 1] : NULL;
            probe_arm(&scene, &probes[k], 100);
        }
        probe_arm(&scene, &rest, 200);
        assert_int_equal(scene_go(&scene, 100), 1);
        assert_int_equal(probes[0].answer, -EBUSY);
        assert_int_equal(probes[0].second, 9);
        assert_int_equal(tkw_service_count(scene.service), 1);
        assert_int_equal(scene_go(&scene, 200), 1);
        assert_int_equal(tkw_service_count(scene.service), 0);
        scene_close(&scene);
    }
}

/* 8 (Netty 5647).  A limit bounds memory as well. */
static void a_limit_bounds_memory(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    unsigned armed = 0;
    scene_open(&scene, 0,
               (struct tkw_service_config){.timers_max = 1000,
                                           .driver = TKW_DRIVER_NONE});
    for (unsigned i = 0; i < 100000; i++) {
        int error = tkw_service_arm(scene.service, NULL, HOUR,
                                    probe_task(&scene, &probe));
        assert_int_equal(error, armed < 1000 ? 0 : -EAGAIN);
        armed += error == 0;
    }
    uint64_t bytes = account_bytes(&scene.account);
    for (unsigned round = 1; round < 50; round++) {
        scene_go(&scene, round * 2 * HOUR);
        for (armed = 0; armed < 1000; armed++)
            probe_arm(&scene, &probe, HOUR);
    }
    assert_true(account_bytes(&scene.account) <= 2 * bytes);
    scene_close(&scene);
}

/* 9 (msquic 3206).  The earliest is moved later, or the only one earlier: the
   driver wakes for what is there, not for what was. */
static void moving_the_earliest_is_propagated(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {0}, second = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    probe_arm(&scene, &first, 1000);
    probe_arm(&scene, &second, 5000);
    scene_rest(&scene);
    assert_int_equal(tkw_service_rearm(scene.service, first.handle, 9000), 1);
    assert_int_equal(scene_go(&scene, 1000), 0);
    assert_int_equal(scene_go(&scene, 5000), 1);
    assert_int_equal(scene_go(&scene, 8999), 0);
    assert_int_equal(tkw_service_rearm_at(scene.service, first.handle, 20000),
                     1);
    assert_int_equal(scene_go(&scene, 9000), 0);
    assert_int_equal(tkw_service_rearm_at(scene.service, first.handle, 9500),
                     1);
    assert_int_equal(scene_go(&scene, 9500), 1);
    scene_close(&scene);
}

/* 10 (sozu 1369).  60 s are not over after 59.901. */
static void a_minute_is_not_rounded_to_the_nearest_tick(void **state)
{
    (void)state;
    static const uint64_t ms = TKW_MILLISECOND;
    for (uint64_t offset = 0; offset < 100; offset += 7) {
        struct scene scene;
        struct probe probe = {0};
        uint64_t start = 1000000 * ms + offset * ms;
        scene_open(&scene, start,
                   (struct tkw_service_config){.tick_ns = 100 * ms,
                                               .driver = TKW_DRIVER_NONE});
        probe_arm(&scene, &probe, 60000 * ms);
        assert_int_equal(scene_go(&scene, start + 59901 * ms), 0);
        assert_int_equal(scene_go(&scene, start + 60000 * ms - 1), 0);
        assert_int_equal(scene_go(&scene, start + 60100 * ms - 1), 1);
        scene_close(&scene);
    }
}

/* 13 (tgstation 38994).  A callback that arms itself for now, for ever, must
   not keep a bounded pass from ending, nor others from their turn. */
static void rearm_for_now(struct probe *probe)
{
    tkw_service_rearm(probe->scene->service, probe->firing.handle, 0);
}

static void rearming_for_now_leaves_others_their_turn(void **state)
{
    (void)state;
    struct scene scene;
    struct probe greedy = {.act = rearm_for_now}, other = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    probe_arm(&scene, &greedy, 0);
    probe_arm(&scene, &other, 0);
    for (int i = 0; i < 10; i++)
        assert_true(tkw_service_run(scene.service, 3) <= 3);
    assert_int_equal(ran(&other), 1);
    assert_true(ran(&greedy) >= 10);
    assert_int_equal(tkw_service_cancel(scene.service, greedy.handle), 1);
    scene_close(&scene);
}

/* 16 (hertzbeat 4201).  Armed again it keeps its handle: there is no orphan
   that nobody can cancel. */
static void rearming_keeps_the_handle(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    tkw_handle handle = probe_arm(&scene, &probe, 100);
    for (uint64_t i = 1; i < 100; i++) {
        assert_int_equal(tkw_service_rearm(scene.service, handle, 100 * i), 1);
        assert_state(&scene, handle, TKW_PENDING);
    }
    assert_int_equal(tkw_service_count(scene.service), 1);
    assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
    assert_int_equal(scene_go(&scene, HOUR), 0);
    scene_close(&scene);
}

/* 17 (akka 1016).  A delay that is a whole number of turns. */
static void a_delay_of_whole_turns_fires_on_time(void **state)
{
    (void)state;
    for (uint32_t beyond = TKW_GROW; beyond <= TKW_ROUNDS; beyond++) {
        for (uint64_t turns = 1; turns <= 5; turns++) {
            struct scene scene;
            struct probe probe = {0};
            scene_open(&scene, 70,
                       (struct tkw_service_config){
                           .tick_ns = 10,
                           .driver = TKW_DRIVER_NONE,
                           .geometry = {.sizes = {8}, .beyond = beyond}});
            probe_arm(&scene, &probe, 80 * turns);
            assert_int_equal(scene_go(&scene, 80 * turns + 69), 0);
            assert_int_equal(scene_go(&scene, 80 * turns + 70), 1);
            scene_close(&scene);
        }
    }
}

static void stop_the_other(struct probe *probe)
{
    probe->answer =
        tkw_service_cancel(probe->scene->service, probe->other->handle);
}

/* 18 (RussellLuo 31).  A cancel during the flush of the very slot is kept. */
static void a_cancel_during_the_flush_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe first = {.act = stop_the_other};
        struct probe same = {0}, next = {0};
        struct probe second = {.act = stop_the_other, .other = &next};
        first.other = &same;
        scene_open_tens(&scene, 0, both[i]);
        probe_arm(&scene, &first, 5000);
        probe_arm(&scene, &second, 5000);
        probe_arm(&scene, &same, 5000);
        probe_arm(&scene, &next, 5010);
        assert_int_equal(scene_go(&scene, 9000), 2);
        assert_int_equal(first.answer, 1);
        assert_int_equal(second.answer, 1);
        assert_int_equal(ran(&same) + ran(&next), 0);
        assert_int_equal(dropped(&same) + dropped(&next), 2);
        scene_close(&scene);
    }
}

static void use_everything(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    struct probe *other = probe->other;
    tkw_service_arm(service, &other->handle, 10,
                    probe_task(probe->scene, other));
    tkw_service_rearm(service, other->handle, 20);
    tkw_service_postpone(service, other->handle, 30);
    probe->answer = tkw_service_cancel(service, other->handle);
    tkw_service_arm(service, &other->handle, 10,
                    probe_task(probe->scene, other));
    probe->second = tkw_service_cancel_sync(service, other->handle);
    tkw_service_arm(service, &other->handle, 50,
                    probe_task(probe->scene, other));
    tkw_service_query(service, probe->firing.handle, NULL);
    tkw_service_read_stats(service);
}

/* 19 (KAFKA-2253..8334; RussellLuo 25, 28, 53).  A callback that uses the
   service in every way does not deadlock. */
static void a_callback_may_use_the_service(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe other = {0};
        struct probe probe = {.act = use_everything, .other = &other};
        scene_open_tens(&scene, 0, both[i]);
        probe_arm(&scene, &probe, 100);
        assert_int_equal(scene_go(&scene, 100), 1);
        assert_int_equal(probe.answer, 1);
        assert_int_equal(probe.second, 1);
        assert_int_equal(dropped(&other), 2);
        assert_int_equal(scene_go(&scene, 150), 1);
        scene_close(&scene);
    }
}

/* 20 (c_timer_wheel).  Due at 4, the clock goes from 3 to 6. */
static void a_skipped_tick_skips_no_timer(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open(&scene, 0,
                   (struct tkw_service_config){.tick_ns = 1,
                                               .driver = both[i],
                                               .geometry = {.sizes = {10}}});
        probe_arm(&scene, &probe, 4);
        assert_int_equal(scene_go(&scene, 3), 0);
        assert_int_equal(scene_go(&scene, 6), 1);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arming_the_past_leaves_others_on_time),
        cmocka_unit_test(weeks_of_uptime_hide_no_near_timer),
        cmocka_unit_test(a_timer_of_the_current_tick_can_be_cancelled),
        cmocka_unit_test(the_earliest_of_any_shard_wakes_the_driver),
        cmocka_unit_test(huge_delays_do_not_overflow),
        cmocka_unit_test(cancel_during_expiry_counts_once),
        cmocka_unit_test(a_limit_bounds_memory),
        cmocka_unit_test(moving_the_earliest_is_propagated),
        cmocka_unit_test(a_minute_is_not_rounded_to_the_nearest_tick),
        cmocka_unit_test(rearming_for_now_leaves_others_their_turn),
        cmocka_unit_test(rearming_keeps_the_handle),
        cmocka_unit_test(a_delay_of_whole_turns_fires_on_time),
        cmocka_unit_test(a_cancel_during_the_flush_is_kept),
        cmocka_unit_test(a_callback_may_use_the_service),
        cmocka_unit_test(a_skipped_tick_skips_no_timer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
