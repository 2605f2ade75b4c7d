/*
 * service/wake_test.c - who wakes the sleeper (L14) and how often it wakes
 * (L7), seen by the counters and by a clock that writes down every wait.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

/* A clock of our own: a hand clock with a witness. */
struct witness {
    struct tkw_clock clock;
    const struct tkw_clock *inner;
    atomic_uint waits;
    atomic_uint wakes;
    _Atomic uint64_t until; /* of the last wait */
    atomic_uint spurious;   /* so many waits end for no reason */
};

static uint64_t witness_now(void *context)
{
    struct witness *witness = context;
    return witness->inner->now(witness->inner->context);
}

static void witness_wait(void *context, uint64_t time)
{
    struct witness *witness = context;
    atomic_store(&witness->until, time);
    atomic_fetch_add(&witness->waits, 1);
    if (atomic_load(&witness->spurious) > 0) {
        atomic_fetch_sub(&witness->spurious, 1);
        return;
    }
    witness->inner->wait_until(witness->inner->context, time);
}

static void witness_wake(void *context)
{
    struct witness *witness = context;
    atomic_fetch_add(&witness->wakes, 1);
    witness->inner->wake(witness->inner->context);
}

static void open_witnessed(struct scene *scene, struct witness *witness,
                           unsigned spurious, uint32_t shards)
{
    struct tkw_manual_clock *manual;
    memset(witness, 0, sizeof *witness);
    assert_int_equal(tkw_manual_clock_open(&manual, 0), 0);
    witness->inner = tkw_manual_clock_source(manual);
    witness->clock = (struct tkw_clock){.now = witness_now,
                                        .wait_until = witness_wait,
                                        .wake = witness_wake,
                                        .context = witness};
    atomic_store(&witness->spurious, spurious);
    scene_open(scene, 0,
               (struct tkw_service_config){.clock = &witness->clock,
                                           .shards = shards});
    scene->manual = manual;
    scene_rest(scene);
}

static uint64_t calls(struct scene *scene)
{
    scene_rest(scene);
    return tkw_service_read_stats(scene->service).woken;
}

static uint64_t wakeups(struct scene *scene)
{
    scene_rest(scene);
    return tkw_service_read_stats(scene->service).wakeups;
}

/* L14.  A new earliest wakes the sleeper, no other arming does. */
static void only_a_new_earliest_wakes_the_sleeper(void **state)
{
    (void)state;
    struct scene scene;
    struct witness witness;
    struct probe probes[6] = {{0}};
    open_witnessed(&scene, &witness, 0, 1);
    assert_int_equal(calls(&scene), 0);
    probe_arm(&scene, &probes[0], 2 * HOUR);
    assert_int_equal(calls(&scene), 1);
    probe_arm(&scene, &probes[1], 3 * HOUR);
    assert_int_equal(calls(&scene), 1);
    probe_arm(&scene, &probes[2], 2 * HOUR);
    assert_int_equal(calls(&scene), 1);
    probe_arm(&scene, &probes[3], UINT64_MAX);
    assert_int_equal(calls(&scene), 1);
    probe_arm(&scene, &probes[4], HOUR / 4);
    assert_int_equal(calls(&scene), 2);
    probe_arm(&scene, &probes[5], 0);
    assert_int_equal(calls(&scene), 3);
    assert_int_equal(atomic_load(&witness.wakes), 3);
    assert_int_equal(ran(&probes[5]), 1);
    scene_close(&scene);
}

/* Only an earlier one: what is moved later or cancelled wakes nobody now. */
static void moves_wake_only_to_an_earlier_time(void **state)
{
    (void)state;
    struct scene scene;
    struct witness witness;
    struct probe first = {0}, second = {0};
    open_witnessed(&scene, &witness, 0, 1);
    probe_arm(&scene, &first, HOUR);
    probe_arm(&scene, &second, 2 * HOUR);
    assert_int_equal(calls(&scene), 1);
    tkw_service_postpone(scene.service, first.handle, 3 * HOUR);
    tkw_service_rearm(scene.service, second.handle, 4 * HOUR);
    assert_int_equal(calls(&scene), 1);
    tkw_service_rearm(scene.service, second.handle, TKW_SECOND);
    assert_int_equal(calls(&scene), 2);
    tkw_service_cancel(scene.service, second.handle);
    assert_int_equal(calls(&scene), 2);
    assert_int_equal(atomic_load(&witness.wakes), 2);
    tkw_service_postpone(scene.service, first.handle, TKW_SECOND / 2);
    assert_int_equal(calls(&scene), 3);
    assert_int_equal(scene_go(&scene, TKW_SECOND / 2), 1);
    scene_close(&scene);
}

static void *arm_hour_later(void *argument)
{
    struct probe *probe = argument;
    tkw_service_arm(probe->scene->service, &probe->handle, probe->delay_ns,
                    probe_task(probe->scene, probe));
    return NULL;
}

/* The earliest of all shards counts, not of each. */
static void a_later_timer_of_another_thread_wakes_nobody(void **state)
{
    (void)state;
    struct scene scene;
    struct witness witness;
    struct probe probe = {0}, others[8] = {{0}};
    open_witnessed(&scene, &witness, 0, 4);
    probe_arm(&scene, &probe, HOUR);
    assert_int_equal(calls(&scene), 1);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        others[i].scene = &scene;
        others[i].delay_ns = (i + 2) * HOUR;
        thread_join(thread_start(arm_hour_later, &others[i]));
    }
    assert_int_equal(calls(&scene), 1);
    assert_int_equal(scene_go(&scene, HOUR), 1);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_int_equal(scene_go(&scene, (i + 2) * HOUR), 1);
    scene_close(&scene);
}

static void arm_from_inside(struct probe *probe)
{
    tkw_service_arm(probe->scene->service, NULL, 0,
                    probe_task(probe->scene, probe->other));
    tkw_service_arm(probe->scene->service, NULL, TKW_SECOND,
                    probe_task(probe->scene, probe->other));
}

/* In a callback the driver is awake: nobody has to be woken. */
static void arming_in_a_callback_wakes_nobody(void **state)
{
    (void)state;
    struct scene scene;
    struct witness witness;
    struct probe other = {0};
    struct probe probe = {.act = arm_from_inside, .other = &other};
    open_witnessed(&scene, &witness, 0, 1);
    probe_arm(&scene, &probe, HOUR);
    assert_int_equal(calls(&scene), 1);
    scene_go(&scene, HOUR);
    assert_int_equal(ran(&other), 1);
    assert_int_equal(calls(&scene), 1);
    assert_int_equal(scene_go(&scene, HOUR + TKW_SECOND), 1);
    scene_close(&scene);
}

/* L7.  Nothing pending: not one wake-up, however long. */
static void nothing_pending_wakes_nobody(void **state)
{
    (void)state;
    struct scene scene;
    struct witness witness;
    struct probe probe = {0};
    open_witnessed(&scene, &witness, 0, 0);
    uint64_t before = wakeups(&scene);
    for (unsigned i = 1; i <= 500; i++)
        scene_go(&scene, i * HOUR);
    assert_int_equal(wakeups(&scene), before);
    assert_int_equal(atomic_load(&witness.until), UINT64_MAX);
    probe_arm(&scene, &probe, TKW_SECOND);
    scene_go(&scene, 501 * HOUR);
    assert_int_equal(ran(&probe), 1);
    before = wakeups(&scene);
    for (unsigned i = 502; i <= 1000; i++)
        scene_go(&scene, i * HOUR);
    assert_int_equal(wakeups(&scene), before);
    assert_int_equal(atomic_load(&witness.until), UINT64_MAX);
    assert_int_equal(tkw_service_read_stats(scene.service).steps_back, 0);
    scene_close(&scene);
}

/* L7.  One timer for a day: once per level, not once per tick. */
static void one_timer_pending_wakes_once_per_level(void **state)
{
    (void)state;
    struct scene scene;
    struct witness witness;
    struct probe probe = {0};
    open_witnessed(&scene, &witness, 0, 1);
    probe_arm(&scene, &probe, 24 * HOUR + TKW_MILLISECOND);
    uint64_t before = wakeups(&scene);
    for (uint64_t minute = 1; minute <= 24 * 60; minute++)
        assert_int_equal(scene_go(&scene, minute * 60 * TKW_SECOND), 0);
    assert_int_equal(scene_go(&scene, 24 * HOUR + TKW_MILLISECOND), 1);
    assert_true(wakeups(&scene) - before <= 5);
    scene_close(&scene);
}

/* L7.  A slot whose timers were all cancelled wakes once at most. */
static void cancelled_timers_wake_at_most_once(void **state)
{
    (void)state;
    struct scene scene;
    struct witness witness;
    struct probe probe = {0};
    open_witnessed(&scene, &witness, 0, 1);
    for (unsigned i = 0; i < 500; i++) {
        tkw_handle handle = probe_arm(&scene, &probe, 100 * TKW_MILLISECOND);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
    }
    uint64_t before = wakeups(&scene);
    for (uint64_t ms = 1; ms < 300; ms++)
        scene_go(&scene, ms * TKW_MILLISECOND);
    assert_true(wakeups(&scene) - before <= 1);
    assert_int_equal(ran(&probe), 0);
    scene_close(&scene);
}

/* The pool moves a crowd in shares before the crowd's slot begins.  A driver
   that slept until then would move the whole crowd at once, and what is due
   meanwhile would be late. */
static void a_crowd_wakes_the_sleeper_before_its_slot_begins(void **state)
{
    (void)state;
    enum { CROWD = 10000 };
    struct scene scene;
    struct witness witness;
    struct probe probe = {0};
    open_witnessed(&scene, &witness, 0, 1);
    probe_arm(&scene, &probe, HOUR);
    scene_rest(&scene);
    uint64_t begin = atomic_load(&witness.until);
    for (unsigned i = 1; i < CROWD; i++)
        probe_arm(&scene, &probe, HOUR);
    scene_rest(&scene);
    assert_true(atomic_load(&witness.until) < begin);

    uint64_t before = wakeups(&scene);
    while (atomic_load(&witness.until) < begin)
        assert_int_equal(scene_go(&scene, atomic_load(&witness.until)), 0);
    assert_true(wakeups(&scene) - before >= 3);
    assert_int_equal(scene_go(&scene, HOUR), CROWD);
    scene_close(&scene);
}

/* The sleeper never sleeps past a deadline, and waits until a deadline or for a
   fall, not a tick at a time. */
static void the_wait_ends_no_later_than_the_earliest(void **state)
{
    (void)state;
    static const uint64_t delays[] = {TKW_MILLISECOND, TKW_SECOND, HOUR,
                                      100 * HOUR};
    for (size_t i = 0; i < COUNT_OF(delays); i++) {
        struct scene scene;
        struct witness witness;
        struct probe probe = {0};
        open_witnessed(&scene, &witness, 0, 2);
        probe_arm(&scene, &probe, delays[i]);
        scene_rest(&scene);
        assert_true(atomic_load(&witness.until) <= delays[i]);
        assert_true(atomic_load(&witness.until) >= delays[i] / 1000);
        scene_close(&scene);
    }
}

/* A wait that ends for no reason makes nothing early, and nothing lost. */
static void a_wait_may_end_for_no_reason(void **state)
{
    (void)state;
    struct scene scene;
    struct witness witness;
    struct probe probe = {0};
    open_witnessed(&scene, &witness, 500, 1);
    assert_int_equal(atomic_load(&witness.spurious), 0);
    probe_arm(&scene, &probe, 10 * TKW_MILLISECOND);
    scene_rest(&scene);
    atomic_store(&witness.spurious, 500);
    assert_int_equal(scene_go(&scene, 10 * TKW_MILLISECOND - 1), 0);
    witness.clock.wake(&witness);
    scene_rest(&scene);
    assert_int_equal(ran(&probe), 0);
    assert_int_equal(scene_go(&scene, 10 * TKW_MILLISECOND), 1);
    scene_close(&scene);
}

/* Without a driver the clock's wait is not used at all; but who sleeps until
   what next told is to hear of a timer that is earlier. */
static void without_a_driver_the_clock_is_woken_for_a_new_earliest(void **state)
{
    (void)state;
    struct scene scene;
    struct witness witness = {0};
    struct tkw_manual_clock *manual;
    struct probe probe = {0};
    assert_int_equal(tkw_manual_clock_open(&manual, 0), 0);
    witness.inner = tkw_manual_clock_source(manual);
    witness.clock = (struct tkw_clock){.now = witness_now,
                                       .wait_until = witness_wait,
                                       .wake = witness_wake,
                                       .context = &witness};
    scene_open(&scene, 0,
               (struct tkw_service_config){.clock = &witness.clock,
                                           .driver = TKW_DRIVER_NONE});
    scene.manual = manual;
    probe_arm(&scene, &probe, HOUR);
    assert_int_equal(tkw_service_read_stats(scene.service).woken, 1);
    probe_arm(&scene, &probe, 2 * HOUR);
    assert_int_equal(tkw_service_read_stats(scene.service).woken, 1);
    probe_arm(&scene, &probe, HOUR / 2);
    assert_int_equal(tkw_service_read_stats(scene.service).woken, 2);
    assert_true(tkw_service_next(scene.service) <= HOUR / 2);
    assert_int_equal(scene_go(&scene, HOUR), 2);
    assert_int_equal(atomic_load(&witness.waits), 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_new_earliest_wakes_the_sleeper),
        cmocka_unit_test(moves_wake_only_to_an_earlier_time),
        cmocka_unit_test(a_later_timer_of_another_thread_wakes_nobody),
        cmocka_unit_test(arming_in_a_callback_wakes_nobody),
        cmocka_unit_test(nothing_pending_wakes_nobody),
        cmocka_unit_test(one_timer_pending_wakes_once_per_level),
        cmocka_unit_test(cancelled_timers_wake_at_most_once),
        cmocka_unit_test(a_crowd_wakes_the_sleeper_before_its_slot_begins),
        cmocka_unit_test(the_wait_ends_no_later_than_the_earliest),
        cmocka_unit_test(a_wait_may_end_for_no_reason),
        cmocka_unit_test(
            without_a_driver_the_clock_is_woken_for_a_new_earliest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
