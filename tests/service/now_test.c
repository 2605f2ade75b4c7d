/*
 * service/now_test.c - timers that are armed for now while callbacks run: the
 * next pass calls them, and a timer that arms itself for now keeps no other
 * timer waiting.  And timers at the other end, in the last tick of all.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

enum { CALLS_MAX = 100000 }; /* lest a test that fails does not end */

static void arm_itself_for_now(struct probe *probe)
{
    probe->answer =
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 0);
}

/* Until the two others have run. */
static void arm_itself_until_both_ran(struct probe *probe)
{
    struct probe *others = probe->other;
    if (ran(probe) < CALLS_MAX && ran(&others[0]) + ran(&others[1]) < 2)
        arm_itself_for_now(probe);
}

/* A run that called it again and again would return only when the clock has
 * moved to the next tick. */
static void a_timer_that_arms_itself_for_now_is_called_once_a_run(void **state)
{
    (void)state;
    struct scene scene;
    struct probe itself = {.act = arm_itself_for_now}, beside = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    probe_arm(&scene, &itself, 0);
    for (unsigned runs = 1; runs <= 10; runs++) {
        assert_true(tkw_service_next(scene.service) <= 1000);
        assert_int_equal(tkw_service_run(scene.service, 0), 1);
        assert_int_equal(ran(&itself), runs);
    }
    probe_arm(&scene, &beside, 0);
    assert_int_equal(tkw_service_run(scene.service, 0), 2);
    scene_close(&scene);
}

/* The address of an owner decides in which shard its timers are armed: with 64
 * owners there are timers in every shard. */
static void arm_another_for_now(struct probe *probe)
{
    static struct tkw_owner owners[64];
    if (ran(probe) == 0)
        for (size_t i = 0; i < COUNT_OF(owners); i++)
            assert_int_equal(
                tkw_service_arm_owned(probe->scene->service, NULL, 0,
                                      probe_task(probe->scene, probe->other),
                                      &owners[i]),
                0);
    if (ran(probe) < 3)
        probe->answer =
            tkw_service_rearm(probe->scene->service, probe->firing.handle, 0);
}

/* A pass visits every shard: those armed for now in any shard are called in the
 * next pass, not when the tick is over. */
static void every_shard_is_visited_before_it_is_called_again(void **state)
{
    (void)state;
    struct scene scene;
    struct probe others = {0};
    struct probe itself = {.act = arm_another_for_now, .other = &others};
    scene_open(&scene, 1000,
               (struct tkw_service_config){.tick_ns = TKW_SECOND,
                                           .shards = 4,
                                           .driver = TKW_DRIVER_NONE});
    probe_arm(&scene, &itself, 0);
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    assert_int_equal(tkw_service_run(scene.service, 0), 1 + 64);
    assert_int_equal(ran(&others), 64);
    scene_close(&scene);
}

/* A batch that a budget has left is no reason to call a timer twice. */
static void once_a_run_also_after_a_budget_ran_out(void **state)
{
    (void)state;
    struct scene scene;
    struct probe one = {.act = arm_itself_for_now}, two = one;
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    probe_arm(&scene, &one, 0);
    probe_arm(&scene, &two, 0);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    for (unsigned runs = 1; runs <= 3; runs++) {
        assert_int_equal(tkw_service_run(scene.service, 0), 2);
        assert_int_equal(ran(&one), 1 + runs);
        assert_int_equal(ran(&two), runs);
    }
    scene_close(&scene);
}

/* A clock that counts what is asked of the one behind it. */
struct counting_clock {
    struct tkw_clock clock;
    const struct tkw_clock *behind;
    atomic_uint waits;
    atomic_uint aims;
};

static uint64_t counting_now(void *context)
{
    const struct tkw_clock *behind = ((struct counting_clock *)context)->behind;
    return behind->now(behind->context);
}

static void counting_wait(void *context, uint64_t time)
{
    struct counting_clock *self = context;
    atomic_fetch_add(&self->waits, 1);
    self->behind->wait_until(self->behind->context, time);
}

static void counting_wake(void *context)
{
    const struct tkw_clock *behind = ((struct counting_clock *)context)->behind;
    behind->wake(behind->context);
}

static int counting_fd(void *context)
{
    const struct tkw_clock *behind = ((struct counting_clock *)context)->behind;
    return behind->fd(behind->context);
}

static void counting_aim(void *context, uint64_t time)
{
    struct counting_clock *self = context;
    atomic_fetch_add(&self->aims, 1);
    self->behind->aim(self->behind->context, time);
}

static void scene_open_counting(struct scene *scene,
                                struct counting_clock *counting,
                                enum tkw_driver driver)
{
    struct tkw_manual_clock *manual;
    assert_int_equal(tkw_manual_clock_open(&manual, 1000), 0);
    *counting =
        (struct counting_clock){.behind = tkw_manual_clock_source(manual)};
    counting->clock = (struct tkw_clock){.now = counting_now,
                                         .wait_until = counting_wait,
                                         .wake = counting_wake,
                                         .fd = counting_fd,
                                         .aim = counting_aim,
                                         .context = counting};
    scene_open(scene, 1000,
               (struct tkw_service_config){.tick_ns = 10,
                                           .shards = 1,
                                           .driver = driver,
                                           .clock = &counting->clock});
    scene->manual = manual;
}

enum { CHAIN = 1000 };

static void arm_itself_a_thousand_times(struct probe *probe)
{
    if (ran(probe) + 1 < CHAIN)
        arm_itself_for_now(probe);
    else
        sem_post(&probe->gate->entered);
}

/* Each link of a chain of zero delays is a pass of its own.  A driver that
 * slept between two passes, until a time that has come, would take 100 times as
 * long. */
static void a_chain_of_zero_delays_does_not_sleep(void **state)
{
    (void)state;
    struct scene scene;
    struct counting_clock counting;
    struct gate gate;
    struct probe chain = {.act = arm_itself_a_thousand_times, .gate = &gate};
    gate_init(&gate);
    scene_open_counting(&scene, &counting, TKW_DRIVER_THREAD);
    probe_arm(&scene, &chain, 0);
    gate_await(&gate);
    assert_in_range(atomic_load(&counting.waits), 0, 10);
    scene_close(&scene);
}

/* Nor is the descriptor aimed anew for each of them. */
static void a_chain_of_zero_delays_leaves_the_descriptor_alone(void **state)
{
    (void)state;
    struct scene scene;
    struct counting_clock counting;
    struct gate gate;
    struct probe chain = {.act = arm_itself_a_thousand_times, .gate = &gate};
    gate_init(&gate);
    scene_open_counting(&scene, &counting, TKW_DRIVER_NONE);
    int fd = tkw_service_fd(scene.service);
    probe_arm(&scene, &chain, 0);
    for (unsigned runs = 0; runs < CHAIN; runs++) {
        assert_true(is_readable(fd));
        assert_int_equal(tkw_service_run(scene.service, 0), 1);
    }
    assert_false(is_readable(fd));
    assert_in_range(atomic_load(&counting.aims), 2, 10);
    scene_close(&scene);
}

static void *arm_for_now(void *argument)
{
    struct probe *probe = argument;
    probe_arm(probe->scene, probe, 0);
    return NULL;
}

/* The clock stands still, in the middle of a tick of a second, and one timer
 * arms itself for now until a timer that another thread armed has run. */
static void a_busy_shard_keeps_no_other_waiting_for_the_next_tick(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct scene scene;
        struct probe others[2] = {{.scene = &scene}, {.scene = &scene}};
        struct probe itself = {.act = arm_itself_until_both_ran,
                               .other = others};
        scene_open(
            &scene, 1500 * TKW_MILLISECOND,
            (struct tkw_service_config){.tick_ns = TKW_SECOND, .shards = 2});
        probe_arm(&scene, &itself, 0);
        pthread_t threads[2];
        for (size_t i = 0; i < COUNT_OF(threads); i++)
            threads[i] = thread_start(arm_for_now, &others[i]);
        for (size_t i = 0; i < COUNT_OF(threads); i++)
            thread_join(threads[i]);
        scene_rest(&scene);
        assert_int_equal(ran(&others[0]), 1);
        assert_int_equal(ran(&others[1]), 1);
        assert_true(ran(&itself) < CALLS_MAX);
        scene_close(&scene);
    }
}

/* A timer that is due after the last tick has begun waits for the next one,
 * which does not come: for tkw_service_next() that is never. */
static void after_the_last_whole_tick_is_never(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open(&scene, UINT64_MAX - TKW_SECOND,
               (struct tkw_service_config){.tick_ns = TKW_MILLISECOND,
                                           .driver = TKW_DRIVER_NONE});
    probe_arm_at(&scene, &probe, UINT64_MAX - 1);
    assert_int_equal(tkw_service_run(scene.service, 0), 0);
    while (tkw_service_next(scene.service) != UINT64_MAX) {
        tkw_manual_clock_set(scene.manual, tkw_service_next(scene.service));
        assert_int_equal(tkw_service_run(scene.service, 0), 0);
    }
    tkw_manual_clock_set(scene.manual, UINT64_MAX - 1);
    assert_int_equal(tkw_service_run(scene.service, 0), 0);
    scene_close(&scene);
}

/* tkw_service_next() knows of a timer in the last tick that begins before the
 * end of time, as tkw_service_run() does. */
static void the_last_whole_tick_is_not_never(void **state)
{
    (void)state;
    static const uint64_t ticks[] = {1, 10, 999, TKW_MILLISECOND};
    for (size_t i = 0; i < COUNT_OF(ticks); i++) {
        struct scene scene;
        struct probe probe = {0};
        uint64_t last = UINT64_MAX / ticks[i] * ticks[i];
        last -= last == UINT64_MAX; /* which is never */
        scene_open(&scene, last - 5 * TKW_SECOND,
                   (struct tkw_service_config){.tick_ns = ticks[i],
                                               .driver = TKW_DRIVER_NONE});
        probe_arm_at(&scene, &probe, last);
        while (tkw_service_next(scene.service) < last) {
            tkw_manual_clock_set(scene.manual, tkw_service_next(scene.service));
            assert_int_equal(tkw_service_run(scene.service, 0), 0);
        }
        assert_int_equal(tkw_service_next(scene.service), last);
        tkw_manual_clock_set(scene.manual, last);
        assert_int_equal(tkw_service_run(scene.service, 0), 1);
        assert_int_equal(tkw_service_next(scene.service), UINT64_MAX);
        scene_close(&scene);
    }
}

/* Without a driver the passes that run() makes are its wake-ups. */
static void without_a_driver_runs_are_counted(void **state)
{
    (void)state;
    struct scene scene;
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    for (unsigned runs = 1; runs <= 3; runs++) {
        assert_int_equal(tkw_service_run(scene.service, 0), 0);
        assert_int_equal(tkw_service_read_stats(scene.service).wakeups, runs);
    }
    tkw_service_stop(scene.service);
    assert_int_equal(tkw_service_run(scene.service, 0), 0);
    assert_int_equal(tkw_service_read_stats(scene.service).wakeups, 3);
    scene_close(&scene);
}

/* Milliseconds of a user become nanoseconds, and too many of them never. */
static void a_duration_saturates(void **state)
{
    (void)state;
    const uint64_t most = UINT64_MAX / TKW_MILLISECOND;
    assert_int_equal(tkw_duration_ns(0, TKW_SECOND), 0);
    assert_int_equal(tkw_duration_ns(7, 0), 0);
    assert_int_equal(tkw_duration_ns(30, TKW_MILLISECOND), 30000000);
    assert_int_equal(tkw_duration_ns(most, TKW_MILLISECOND),
                     most * TKW_MILLISECOND);
    assert_int_equal(tkw_duration_ns(most + 1, TKW_MILLISECOND), UINT64_MAX);
    assert_int_equal(tkw_duration_ns(UINT64_MAX, TKW_SECOND), UINT64_MAX);
    assert_int_equal(tkw_duration_ns(UINT64_MAX, 1), UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_that_arms_itself_for_now_is_called_once_a_run),
        cmocka_unit_test(once_a_run_also_after_a_budget_ran_out),
        cmocka_unit_test(a_chain_of_zero_delays_does_not_sleep),
        cmocka_unit_test(a_chain_of_zero_delays_leaves_the_descriptor_alone),
        cmocka_unit_test(every_shard_is_visited_before_it_is_called_again),
        cmocka_unit_test(a_busy_shard_keeps_no_other_waiting_for_the_next_tick),
        cmocka_unit_test(the_last_whole_tick_is_not_never),
        cmocka_unit_test(after_the_last_whole_tick_is_never),
        cmocka_unit_test(without_a_driver_runs_are_counted),
        cmocka_unit_test(a_duration_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
