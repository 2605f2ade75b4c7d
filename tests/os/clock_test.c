/*
 * os/clock_test.c - the clock that is turned by hand, alone and under a
 * service, and the clocks of the system in real time: never early by any of
 * them.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

#include <time.h>

/* It shows what it was told until it is turned. */
static void a_manual_clock_shows_what_it_was_set_to(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0, 1, 1000, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(starts); i++) {
        struct tkw_manual_clock *manual = NULL;
        assert_int_equal(tkw_manual_clock_open(&manual, starts[i]), 0);
        const struct tkw_clock *clock = tkw_manual_clock_source(manual);
        assert_int_equal(tkw_manual_clock_now(manual), starts[i]);
        assert_int_equal(clock->now(clock->context), starts[i]);
        assert_int_equal(tkw_manual_clock_now(manual), starts[i]);
        tkw_manual_clock_close(manual);
    }
    tkw_manual_clock_close(NULL);
}

/* Turning adds, and stops at the end of time. */
static void turning_stops_at_the_end_of_time(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual;
    assert_int_equal(tkw_manual_clock_open(&manual, 5), 0);
    const struct tkw_clock *clock = tkw_manual_clock_source(manual);
    tkw_manual_clock_advance(manual, 0);
    assert_int_equal(tkw_manual_clock_now(manual), 5);
    tkw_manual_clock_advance(manual, 7);
    assert_int_equal(tkw_manual_clock_now(manual), 12);
    tkw_manual_clock_advance(manual, UINT64_MAX - 13);
    assert_int_equal(tkw_manual_clock_now(manual), UINT64_MAX - 1);
    tkw_manual_clock_advance(manual, 2);
    assert_int_equal(tkw_manual_clock_now(manual), UINT64_MAX);
    tkw_manual_clock_advance(manual, UINT64_MAX);
    assert_int_equal(tkw_manual_clock_now(manual), UINT64_MAX);
    assert_int_equal(clock->now(clock->context), UINT64_MAX);
    tkw_manual_clock_close(manual);
}

/* It can be set forward and back. */
static void a_manual_clock_can_be_set_back(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual;
    assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
    const struct tkw_clock *clock = tkw_manual_clock_source(manual);
    tkw_manual_clock_set(manual, 5000);
    assert_int_equal(clock->now(clock->context), 5000);
    tkw_manual_clock_set(manual, 3);
    assert_int_equal(clock->now(clock->context), 3);
    assert_int_equal(tkw_manual_clock_now(manual), 3);
    tkw_manual_clock_set(manual, UINT64_MAX);
    tkw_manual_clock_set(manual, 0);
    assert_int_equal(tkw_manual_clock_now(manual), 0);
    tkw_manual_clock_close(manual);
}

/* At first timers do not follow it back; that can be said either way. */
static void a_manual_clock_is_no_wall_clock_unless_told(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual;
    assert_int_equal(tkw_manual_clock_open(&manual, 0), 0);
    assert_false(tkw_manual_clock_source(manual)->is_wall);
    tkw_manual_clock_set_wall(manual, true);
    assert_true(tkw_manual_clock_source(manual)->is_wall);
    tkw_manual_clock_set_wall(manual, false);
    assert_false(tkw_manual_clock_source(manual)->is_wall);
    tkw_manual_clock_close(manual);
}

/* A thread that waits for a time, and what the clock showed when it stopped. */
struct sleeper {
    struct tkw_manual_clock *manual;
    uint64_t time;
    uint64_t woke;
    atomic_bool awake;
};

static void *sleep_until(void *argument)
{
    struct sleeper *sleeper = argument;
    const struct tkw_clock *clock = tkw_manual_clock_source(sleeper->manual);
    clock->wait_until(clock->context, sleeper->time);
    sleeper->woke = tkw_manual_clock_now(sleeper->manual);
    atomic_store(&sleeper->awake, true);
    return NULL;
}

/* A wait ends when its time has come, by turning or by setting. */
static void a_wait_ends_when_its_time_has_come(void **state)
{
    (void)state;
    for (int by_turning = 0; by_turning < 2; by_turning++) {
        struct sleeper sleeper = {.time = 100};
        assert_int_equal(tkw_manual_clock_open(&sleeper.manual, 0), 0);
        pthread_t thread = thread_start(sleep_until, &sleeper);
        tkw_manual_clock_set(sleeper.manual, 99);
        have_patience();
        assert_false(atomic_load(&sleeper.awake));
        if (by_turning)
            tkw_manual_clock_advance(sleeper.manual, 1);
        else
            tkw_manual_clock_set(sleeper.manual, 100);
        thread_join(thread);
        assert_int_equal(sleeper.woke, 100);
        tkw_manual_clock_close(sleeper.manual);
    }
}

/* A wait for what has come returns at once: this would hang otherwise. */
static void a_wait_for_the_past_returns_at_once(void **state)
{
    (void)state;
    struct tkw_manual_clock *manual;
    assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
    const struct tkw_clock *clock = tkw_manual_clock_source(manual);
    clock->wait_until(clock->context, 0);
    clock->wait_until(clock->context, 999);
    clock->wait_until(clock->context, 1000);
    tkw_manual_clock_close(manual);
}

/* wake() ends the wait under way, even one for ever. */
static void wake_ends_the_wait_under_way(void **state)
{
    (void)state;
    struct sleeper sleeper = {.time = UINT64_MAX};
    assert_int_equal(tkw_manual_clock_open(&sleeper.manual, 0), 0);
    const struct tkw_clock *clock = tkw_manual_clock_source(sleeper.manual);
    pthread_t thread = thread_start(sleep_until, &sleeper);
    have_patience();
    assert_false(atomic_load(&sleeper.awake));
    clock->wake(clock->context);
    thread_join(thread);
    tkw_manual_clock_close(sleeper.manual);
}

/* A wake() before the wait is not lost, and good for one wait only. */
static void wake_before_the_wait_is_kept_for_one(void **state)
{
    (void)state;
    struct sleeper sleeper = {.time = UINT64_MAX};
    assert_int_equal(tkw_manual_clock_open(&sleeper.manual, 0), 0);
    const struct tkw_clock *clock = tkw_manual_clock_source(sleeper.manual);
    clock->wake(clock->context);
    clock->wake(clock->context);
    clock->wait_until(clock->context, UINT64_MAX);
    pthread_t thread = thread_start(sleep_until, &sleeper);
    have_patience();
    assert_false(atomic_load(&sleeper.awake));
    clock->wake(clock->context);
    thread_join(thread);
    tkw_manual_clock_close(sleeper.manual);
}

/* An hour passes when the test says so; after settle all that was due is done,
   what callbacks armed for now included. */
static void arm_another(struct probe *probe)
{
    if (probe->delay_ns > 0) {
        probe->delay_ns--;
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 0);
    }
}

static void settle_waits_until_all_that_was_due_is_done(void **state)
{
    (void)state;
    static struct probe probes[1000];
    struct scene scene;
    memset(probes, 0, sizeof probes);
    scene_open(&scene, 0, (struct tkw_service_config){.shards = 2});
    tkw_manual_clock_settle(scene.manual);
    tkw_manual_clock_settle(scene.manual);
    for (size_t i = 0; i < COUNT_OF(probes); i++) {
        probes[i].act = arm_another;
        probes[i].delay_ns = i % 3;
        probe_arm(&scene, &probes[i], i * TKW_SECOND);
    }
    tkw_manual_clock_advance(scene.manual, HOUR);
    tkw_manual_clock_settle(scene.manual);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        assert_int_equal(ran(&probes[i]), 1 + i % 3);
    scene_close(&scene);
}

/* Settle waits while a callback is running. */
struct settler {
    struct scene *scene;
    atomic_bool returned;
};

static void *settle(void *argument)
{
    struct settler *settler = argument;
    tkw_manual_clock_settle(settler->scene->manual);
    atomic_store(&settler->returned, true);
    return NULL;
}

static void settle_waits_for_a_running_callback(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    struct settler settlers[2] = {{.scene = &scene}, {.scene = &scene}};
    pthread_t threads[2];
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    gate_enter(&scene, &held, &gate);
    for (size_t i = 0; i < 2; i++)
        threads[i] = thread_start(settle, &settlers[i]);
    have_patience();
    assert_false(atomic_load(&settlers[0].returned));
    assert_false(atomic_load(&settlers[1].returned));
    gate_open(&gate);
    thread_join(threads[0]);
    thread_join(threads[1]);
    assert_int_equal(ran(&held), 1);
    gate_done(&gate);
    scene_close(&scene);
}

static const clockid_t system_clocks[] = {
    [TKW_MONOTONIC] = CLOCK_MONOTONIC,
    [TKW_BOOTTIME] = 7, /* of Linux */
    [TKW_WALL] = CLOCK_REALTIME,
};

static uint64_t read_clock(enum tkw_clock_kind kind)
{
    struct timespec now;
    clock_gettime(system_clocks[kind], &now);
    return (uint64_t)now.tv_sec * TKW_SECOND + (uint64_t)now.tv_nsec;
}

struct real {
    enum tkw_clock_kind kind;
    uint64_t due, started;
    sem_t done;
};

static void note_time(void *argument, const struct tkw_firing *firing)
{
    struct real *real = argument;
    real->started = read_clock(real->kind);
    real->due = firing->due_ns;
    sem_post(&real->done);
}

/* In real time, by each clock: not a nanosecond early, and not for ever. */
static void twenty_milliseconds_are_never_less(void **state)
{
    (void)state;
    static const uint64_t ticks[] = {0, 100 * TKW_MICROSECOND, 1};
    for (size_t i = 0; i < 3 * COUNT_OF(ticks); i++) {
        struct real real = {.kind = (enum tkw_clock_kind)(i % 3)};
        struct tkw_service_config config = {.clock_kind = real.kind,
                                            .tick_ns = ticks[i / 3]};
        struct tkw_service *service;
        struct tkw_task task = {note_time, &real, NULL};
        sem_init(&real.done, 0, 0);
        assert_int_equal(tkw_service_open(&service, &config), 0);
        uint64_t before = read_clock(real.kind);
        uint64_t now = tkw_service_now(service);
        assert_true(now >= before);
        assert_true(now <= read_clock(real.kind));
        before = read_clock(real.kind);
        assert_int_equal(
            tkw_service_arm(service, NULL, 20 * TKW_MILLISECOND, task), 0);
        while (sem_wait(&real.done) != 0)
            continue;
        assert_true(real.due >= before + 20 * TKW_MILLISECOND);
        assert_true(real.started >= real.due);
        assert_true(real.started < before + 20 * TKW_SECOND);
        assert_int_equal(tkw_service_arm_at(service, NULL, before + 1, task),
                         0);
        while (sem_wait(&real.done) != 0)
            continue;
        assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
        sem_destroy(&real.done);
    }
}

/* A sleeper that waits for a far timer hears of a near one, in real time. */
static void a_near_timer_wakes_the_sleeper_in_real_time(void **state)
{
    (void)state;
    for (int kind = TKW_MONOTONIC; kind <= TKW_WALL; kind++) {
        struct real real = {.kind = (enum tkw_clock_kind)kind};
        struct tkw_service_config config = {.clock_kind = real.kind};
        struct tkw_service *service;
        struct tkw_task task = {note_time, &real, NULL};
        sem_init(&real.done, 0, 0);
        assert_int_equal(tkw_service_open(&service, &config), 0);
        assert_int_equal(tkw_service_arm(service, NULL, HOUR, task), 0);
        have_patience();
        for (uint64_t i = 1; i < 5; i++) {
            uint64_t before = read_clock(real.kind);
            assert_int_equal(
                tkw_service_arm(service, NULL, i * TKW_MILLISECOND, task), 0);
            while (sem_wait(&real.done) != 0)
                continue;
            assert_true(real.started >= before + i * TKW_MILLISECOND);
        }
        assert_int_equal(tkw_service_count(service), 1);
        assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
        sem_destroy(&real.done);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manual_clock_shows_what_it_was_set_to),
        cmocka_unit_test(turning_stops_at_the_end_of_time),
        cmocka_unit_test(a_manual_clock_can_be_set_back),
        cmocka_unit_test(a_manual_clock_is_no_wall_clock_unless_told),
        cmocka_unit_test(a_wait_ends_when_its_time_has_come),
        cmocka_unit_test(a_wait_for_the_past_returns_at_once),
        cmocka_unit_test(wake_ends_the_wait_under_way),
        cmocka_unit_test(wake_before_the_wait_is_kept_for_one),
        cmocka_unit_test(settle_waits_until_all_that_was_due_is_done),
        cmocka_unit_test(settle_waits_for_a_running_callback),
        cmocka_unit_test(twenty_milliseconds_are_never_less),
        cmocka_unit_test(a_near_timer_wakes_the_sleeper_in_real_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
