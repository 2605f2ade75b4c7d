/*
 * service/wishes_test.c - what users of other timers asked for, by the issue
 * they filed: nobody should have to ask again.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"

#include <time.h>

/* Memory of a callback, written by it until it returns. */
struct connection {
    char bytes[64];
};

static void scribble(void *argument, const struct tkw_firing *firing)
{
    struct connection *connection = argument;
    (void)firing;
    for (int i = 0; i < 200; i++)
        memset(connection->bytes, i, sizeof connection->bytes);
}

/* zephyr 113143, FreeRTOS-Kernel 1469, folly: after cancel_sync what the
   callback uses can be freed, whether it ran or not. */
static void memory_can_be_freed_after_cancel_sync(void **state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, 0, (struct tkw_service_config){.tick_ns = 1});
    for (unsigned i = 0; i < 3000; i++) {
        struct connection *connection = malloc(sizeof *connection);
        struct tkw_task task = {scribble, connection, NULL};
        tkw_handle handle;
        assert_non_null(connection);
        assert_int_equal(tkw_service_arm(scene.service, &handle, i % 3, task),
                         0);
        tkw_manual_clock_advance(scene.manual, 1);
        int answer = tkw_service_cancel_sync(scene.service, handle);
        assert_true(answer == 0 || answer == 1);
        free(connection);
    }
    scene_rest(&scene);
    scene_close(&scene);
}

/* Netty 2541: a cancelled timer is let go at once, not when its time comes. */
static void cancel_drops_at_once(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    for (unsigned i = 0; i < 100; i++) {
        tkw_handle handle = probe_arm(&scene, &probe, 1000 * HOUR);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
        assert_int_equal(dropped(&probe), i + 1);
        assert_int_equal(tkw_service_count(scene.service), 0);
    }
    scene_close(&scene);
}

static void next_period(struct probe *probe)
{
    tkw_service_rearm_at(probe->scene->service, probe->firing.handle,
                         probe->firing.due_ns + probe->delay_ns);
}

/* Netty 1631, 6669; akka 26910: the same object, period after period, with no
   drift although every callback is late. */
static void a_period_does_not_drift(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {.act = next_period, .delay_ns = 1000};
        scene_open_tens(&scene, 0, both[i]);
        tkw_handle handle = probe_arm(&scene, &probe, 1000);
        for (uint64_t period = 1; period <= 100; period++) {
            assert_int_equal(scene_go(&scene, period * 1000 + 340), 1);
            assert_int_equal(probe.firing.due_ns, period * 1000);
            assert_int_equal(probe.firing.now_ns, period * 1000 + 340);
        }
        assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
        assert_int_equal(scene_go(&scene, HOUR), 0);
        assert_int_equal(ran(&probe), 100);
        scene_close(&scene);
    }
}

struct exact {
    sem_t done;
    atomic_uint early;
};

static void compare_clock(void *argument, const struct tkw_firing *firing)
{
    struct exact *exact = argument;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((uint64_t)now.tv_sec * TKW_SECOND + (uint64_t)now.tv_nsec <
        firing->due_ns)
        atomic_fetch_add(&exact->early, 1);
    if (firing->now_ns < firing->due_ns)
        atomic_fetch_add(&exact->early, 1);
    sem_post(&exact->done);
}

/* libuv 4773, 1105; node 26578; Netty 8277; tokio 5021: below a millisecond,
   and never early; in real time. */
static void below_a_millisecond_and_never_early(void **state)
{
    (void)state;
    struct tkw_service_config config = {.tick_ns = 50 * TKW_MICROSECOND};
    struct tkw_service *service;
    struct exact exact = {.early = 0};
    sem_init(&exact.done, 0, 0);
    assert_int_equal(tkw_service_open(&service, &config), 0);
    for (uint64_t i = 0; i < 500; i++) {
        struct tkw_task task = {compare_clock, &exact, NULL};
        assert_int_equal(
            tkw_service_arm(service, NULL, i * 61 * TKW_MICROSECOND + i, task),
            0);
    }
    for (int i = 0; i < 500; i++)
        while (sem_wait(&exact.done) != 0)
            continue;
    assert_int_equal(atomic_load(&exact.early), 0);
    assert_int_equal(tkw_service_close(service, NULL, NULL), 0);
    sem_destroy(&exact.done);
}

/* redisson 1361; dubbo 3276; grpc 28039: one thread, however many shards, and
   none without a driver; gone after close. */
static void a_service_has_one_thread(void **state)
{
    (void)state;
    struct scene scene;
    int before = threads_at_rest();
    scene_open(&scene, 0,
               (struct tkw_service_config){.shards = TKW_SHARDS_MAX});
    scene_rest(&scene);
    assert_threads(before + 1);
    scene_close(&scene);
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    assert_threads(before);
    scene_close(&scene);
}

/* RussellLuo 49, 50: no leak after stop, whatever was under way. */
static void nothing_leaks_after_stop(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        static struct probe probes[1000];
        memset(probes, 0, sizeof probes);
        scene_open_tens(&scene, 0, both[i]);
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            probe_arm(&scene, &probes[k], 10 * k);
        tkw_manual_clock_advance(scene.manual, 5000);
        tkw_service_stop(scene.service);
        scene_close(&scene); /* which looks at the account */
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            assert_int_equal(ran(&probes[k]) + dropped(&probes[k]), 1);
    }
}

/* tokio 3185, go 24595: a machine that slept for a day, one jump of the clock:
   all that was due fires once, in order, the rest on time. */
static void a_day_of_sleep_is_survived(void **state)
{
    (void)state;
    static struct probe probes[300];
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        memset(probes, 0, sizeof probes);
        scene_open(&scene, 0, (struct tkw_service_config){.driver = both[i]});
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            probe_arm(&scene, &probes[k], (k + 1) * HOUR / 10);
        assert_int_equal(scene_go(&scene, 24 * HOUR), 240);
        for (size_t k = 0; k < 240; k++)
            assert_int_equal(probes[k].place, k + 1);
        for (size_t k = 240; k < COUNT_OF(probes); k++)
            assert_int_equal(scene_go(&scene, (k + 1) * HOUR / 10), 1);
        scene_close(&scene);
    }
}

/* akka 19661, tokio 5536: years away, and to the millisecond. */
static void years_away_fires_to_the_tick(void **state)
{
    (void)state;
    for (uint64_t years = 1; years <= 500; years *= 5) {
        struct scene scene;
        struct probe probe = {0};
        uint64_t due = years * 365 * 24 * HOUR;
        scene_open(&scene, 0, (struct tkw_service_config){0});
        probe_arm(&scene, &probe, due);
        assert_int_equal(scene_go(&scene, due - 1), 0);
        assert_int_equal(scene_go(&scene, due), 1);
        scene_close(&scene);
    }
}

/* Netty 65, 6681, 10962: to see inside: how many, what is next, how late. */
static void one_can_see_how_many_what_is_next_and_how_late(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {0}, second = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    probe_arm(&scene, &second, 900);
    probe_arm(&scene, &first, 300);
    assert_int_equal(tkw_service_count(scene.service), 2);
    assert_true(tkw_service_next(scene.service) <= 300);
    assert_int_equal(scene_go(&scene, 450), 1);
    assert_int_equal(first.firing.now_ns - first.firing.due_ns, 150);
    assert_int_equal(tkw_service_read_stats(scene.service).fired, 1);
    assert_true(tkw_service_next(scene.service) <= 900);
    assert_true(tkw_service_next(scene.service) > 450);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_can_be_freed_after_cancel_sync),
        cmocka_unit_test(cancel_drops_at_once),
        cmocka_unit_test(a_period_does_not_drift),
        cmocka_unit_test(below_a_millisecond_and_never_early),
        cmocka_unit_test(a_service_has_one_thread),
        cmocka_unit_test(nothing_leaks_after_stop),
        cmocka_unit_test(a_day_of_sleep_is_survived),
        cmocka_unit_test(years_away_fires_to_the_tick),
        cmocka_unit_test(one_can_see_how_many_what_is_next_and_how_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
