/*
 * service/cancel_test.c - cancelling (L10): what it answers in each state of a
 * timer, and that the answer is the truth, whatever runs meanwhile.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

typedef int cancel_function(struct tkw_service *, tkw_handle);
static cancel_function *const ways[] = {tkw_service_cancel,
                                        tkw_service_cancel_sync};

/* 1: it was pending, never runs, and was dropped before cancel returned. */
static void a_pending_timer_is_stopped_and_dropped(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(ways); i++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open_tens(&scene, 1000, both[i % 2]);
        tkw_handle handle = probe_arm(&scene, &probe, 100);
        assert_int_equal(ways[i / 2](scene.service, handle), 1);
        assert_int_equal(dropped(&probe), 1);
        assert_int_equal(tkw_service_count(scene.service), 0);
        assert_state(&scene, handle, TKW_CANCELLED);
        assert_int_equal(scene_go(&scene, 2000), 0);
        assert_int_equal(ran(&probe), 0);
        assert_int_equal(tkw_service_read_stats(scene.service).cancelled, 1);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), 1);
    }
}

/* 0: cancelled before.  It is neither dropped nor counted once more. */
static void cancelling_twice_does_nothing_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
        tkw_handle handle = probe_arm(&scene, &probe, 100);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
        assert_int_equal(ways[i](scene.service, handle), 0);
        assert_int_equal(ways[i](scene.service, handle), 0);
        assert_int_equal(dropped(&probe), 1);
        assert_state(&scene, handle, TKW_CANCELLED);
        assert_int_equal(tkw_service_read_stats(scene.service).cancelled, 1);
        assert_int_equal(tkw_service_count(scene.service), 0);
        scene_close(&scene);
    }
}

/* 0: it is done, and query says that this is why. */
static void cancelling_what_is_done_does_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(ways); i++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open_tens(&scene, 1000, both[i % 2]);
        tkw_handle handle = probe_arm(&scene, &probe, 100);
        scene_go(&scene, 1100);
        assert_int_equal(ways[i / 2](scene.service, handle), 0);
        assert_state(&scene, handle, TKW_DONE);
        assert_int_equal(dropped(&probe), 0);
        assert_int_equal(tkw_service_read_stats(scene.service).cancelled, 0);
        scene_close(&scene);
    }
}

/* A number names the live timer only if it is its handle, to the last bit. */
static void assert_names_nothing(struct scene *scene, tkw_handle handle)
{
    struct tkw_outlook outlook = {7, 7};
    assert_int_equal(tkw_service_query(scene->service, handle, &outlook),
                     TKW_STALE);
    assert_int_equal(outlook.due_ns, 7);
    assert_int_equal(tkw_service_cancel(scene->service, handle), 0);
    assert_int_equal(tkw_service_cancel_sync(scene->service, handle), 0);
    assert_int_equal(tkw_service_rearm(scene->service, handle, 5), 0);
    assert_int_equal(tkw_service_rearm_at(scene->service, handle, 5), 0);
    assert_int_equal(tkw_service_postpone(scene->service, handle, 5), 0);
    assert_int_equal(tkw_service_postpone_at(scene->service, handle, 5), 0);
}

/* Any number is fine: none, forged ones, shards that are not there. */
static void forged_handles_are_stale(void **state)
{
    (void)state;
    static const uint32_t shards[] = {1, 3, TKW_SHARDS_MAX};
    for (size_t i = 0; i < COUNT_OF(shards); i++) {
        struct scene scene;
        struct probe probe = {0};
        uint64_t random = 88172645463325252;
        scene_open(&scene, 1000,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = shards[i],
                                               .driver = TKW_DRIVER_NONE});
        assert_names_nothing(&scene, 1);
        tkw_handle handle = probe_arm(&scene, &probe, 100);
        assert_names_nothing(&scene, 0);
        assert_names_nothing(&scene, UINT64_MAX);
        for (unsigned bit = 0; bit < 64; bit++)
            for (unsigned other = 0; other <= bit; other++)
                assert_names_nothing(
                    &scene, handle ^ UINT64_C(1) << bit ^
                                (other == bit ? 0 : UINT64_C(1) << other));
        for (int k = 0; k < 20000; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if (random != handle)
                assert_names_nothing(&scene, random);
        }
        assert_state(&scene, handle, TKW_PENDING);
        assert_int_equal(scene_go(&scene, 1100), 1);
        scene_close(&scene);
    }
}

/* Once its place is used again a handle is stale, and never another timer. */
static void a_handle_used_again_is_stale(void **state)
{
    (void)state;
    for (int fires = 0; fires < 2; fires++) {
        struct scene scene;
        struct probe old = {0};
        scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
        tkw_handle handle = probe_arm(&scene, &old, 0);
        if (fires)
            scene_rest(&scene);
        else
            assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
        scene_rest(&scene); /* frees it */
        assert_state(&scene, handle, fires ? TKW_DONE : TKW_CANCELLED);
        struct probe next = {0};
        tkw_handle other = probe_arm(&scene, &next, 0);
        assert_int_not_equal(other, handle);
        assert_int_equal((uint32_t)other, (uint32_t)handle);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 0);
        scene_rest(&scene);
        assert_int_equal(ran(&next), 1);
        assert_names_nothing(&scene, handle);
        scene_close(&scene);
    }
}

static void cancel_itself(struct probe *probe)
{
    probe->answer =
        tkw_service_cancel(probe->scene->service, probe->firing.handle);
}

/* -EBUSY: one's own callback is running, and what has begun is not dropped. */
static void cancel_in_the_own_callback_is_busy(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {.act = cancel_itself};
        scene_open_tens(&scene, 1000, both[i]);
        tkw_handle handle = probe_arm(&scene, &probe, 100);
        scene_go(&scene, 1100);
        assert_int_equal(probe.answer, -EBUSY);
        assert_int_equal(dropped(&probe), 0);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 0);
        assert_int_equal(tkw_service_read_stats(scene.service).cancelled, 0);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), 0);
    }
}

/* Waiting for oneself is an error that changes nothing: the timer that was
   armed again still runs. */
static void cancel_sync_in_the_own_callback_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {.act = rearm_then_cancel_sync_itself};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &probe, 100);
        scene_go(&scene, 1100);
        assert_int_equal(probe.second, 1);
        assert_int_equal(probe.answer, -EDEADLK);
        assert_int_equal(scene_go(&scene, 1199), 0);
        assert_int_equal(scene_go(&scene, 1200), 1);
        assert_int_equal(ran(&probe), 2);
        assert_int_equal(dropped(&probe), 0);
        scene_close(&scene);
    }
}

static void cancel_sync_the_other(struct probe *probe)
{
    probe->answer =
        tkw_service_cancel_sync(probe->scene->service, probe->other->handle);
}

/* In another timer's callback it is a cancel like any other. */
static void cancel_sync_of_another_in_a_callback_stops_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe victim = {0};
        struct probe probe = {.act = cancel_sync_the_other, .other = &victim};
        scene_open_tens(&scene, 1000, both[i]);
        probe_arm(&scene, &probe, 100);
        probe_arm(&scene, &victim, 100);
        assert_int_equal(scene_go(&scene, 1100), 1);
        assert_int_equal(probe.answer, 1);
        assert_int_equal(ran(&victim), 0);
        assert_int_equal(dropped(&victim), 1);
        scene_close(&scene);
    }
}

/* -EBUSY from another thread, at once: it does not wait. */
static void cancel_of_a_running_timer_is_busy_and_does_not_wait(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
    tkw_handle handle = gate_enter(&scene, &held, &gate);
    assert_state(&scene, handle, TKW_RUNNING);
    assert_int_equal(tkw_service_cancel(scene.service, handle), -EBUSY);
    assert_int_equal(tkw_service_cancel(scene.service, handle), -EBUSY);
    gate_open(&gate);
    scene_rest(&scene);
    assert_int_equal(ran(&held), 1);
    assert_int_equal(dropped(&held), 0);
    assert_int_equal(tkw_service_cancel(scene.service, handle), 0);
    gate_done(&gate);
    scene_close(&scene);
    assert_int_equal(dropped(&held), 0);
}

/* cancel_sync returns only when the callback has: then memory may go. */
static void cancel_sync_waits_for_a_running_callback(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    struct canceller cancellers[3] = {
        {.held = &held}, {.held = &held}, {.held = &held}};
    pthread_t threads[3];
    scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
    gate_enter(&scene, &held, &gate);
    for (size_t i = 0; i < 3; i++)
        threads[i] = thread_start(cancel_and_see, &cancellers[i]);
    have_patience();
    for (size_t i = 0; i < 3; i++)
        assert_false(atomic_load(&cancellers[i].returned));
    gate_open(&gate);
    for (size_t i = 0; i < 3; i++) {
        thread_join(threads[i]);
        assert_true(cancellers[i].had_passed);
        assert_int_equal(cancellers[i].answer, 0);
    }
    scene_rest(&scene);
    assert_int_equal(dropped(&held), 0);
    gate_done(&gate);
    scene_close(&scene);
}

/* Due, but the thread is busy elsewhere: it has not started, so cancel says 1
   and it never does.  Waiting in line is not running. */
static void what_is_due_but_not_started_can_still_be_cancelled(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct scene scene;
        struct gate gate;
        struct probe held = {.act = gate_hold, .gate = &gate};
        struct probe victim = {0}, witness = {0};
        scene_open_tens(&scene, 1000, TKW_DRIVER_THREAD);
        gate_init(&gate);
        probe_arm(&scene, &held, 100);
        probe_arm(&scene, &victim, 100);
        probe_arm(&scene, &witness, 100);
        tkw_manual_clock_set(scene.manual, 1100);
        gate_await(&gate);
        assert_waiting(&scene, victim.handle);
        assert_int_equal(tkw_service_count(scene.service), 2);
        assert_int_equal(ways[i](scene.service, victim.handle), 1);
        assert_int_equal(dropped(&victim), 1);
        assert_int_equal(tkw_service_count(scene.service), 1);
        gate_open(&gate);
        scene_rest(&scene);
        assert_int_equal(ran(&victim), 0);
        assert_int_equal(ran(&witness), 1);
        gate_done(&gate);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pending_timer_is_stopped_and_dropped),
        cmocka_unit_test(cancelling_twice_does_nothing_more),
        cmocka_unit_test(cancelling_what_is_done_does_nothing),
        cmocka_unit_test(forged_handles_are_stale),
        cmocka_unit_test(a_handle_used_again_is_stale),
        cmocka_unit_test(cancel_in_the_own_callback_is_busy),
        cmocka_unit_test(cancel_sync_in_the_own_callback_changes_nothing),
        cmocka_unit_test(cancel_sync_of_another_in_a_callback_stops_it),
        cmocka_unit_test(cancel_of_a_running_timer_is_busy_and_does_not_wait),
        cmocka_unit_test(cancel_sync_waits_for_a_running_callback),
        cmocka_unit_test(what_is_due_but_not_started_can_still_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
