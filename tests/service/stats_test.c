/*
 * service/stats_test.c - what a service tells of itself: counts, how late, the
 * slowest callback.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

/* A service that has done nothing has nothing to tell. */
static void at_first_all_is_zero(void **state)
{
    (void)state;
    struct scene scene;
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
    assert_int_equal(stats.armed + stats.fired + stats.cancelled +
                         stats.handed_back + stats.pending,
                     0);
    assert_int_equal(stats.falls + stats.overruns, 0);
    assert_int_equal(stats.late_p50_ns + stats.late_p90_ns + stats.late_p99_ns +
                         stats.late_p999_ns + stats.late_max_ns +
                         stats.late_sum_ns,
                     0);
    assert_int_equal(stats.slowest_ns, 0);
    assert_null((void *)(uintptr_t)stats.slowest_callback);
    scene_close(&scene);
}

/* Netty 65, 6681, 10962: what has been done, and what is to be done. */
static void stats_count_each_outcome(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probes[20] = {{0}}, steady = {0};
        scene_open_tens(&scene, 0, both[i]);
        for (size_t k = 0; k < 20; k++)
            probe_arm(&scene, &probes[k], k < 8 ? 100 : HOUR);
        arm_plan(&scene, &steady,
                 (struct tkw_plan){.when_ns = 50, .period_ns = 50});
        for (size_t k = 0; k < 10; k++)
            tkw_service_cancel(scene.service, probes[2 * k].handle);
        scene_go(&scene, 50);
        scene_go(&scene, 100);
        struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
        assert_int_equal(stats.armed, 21 + 2);
        assert_int_equal(stats.fired, 4 + 2);
        assert_int_equal(stats.cancelled, 10);
        assert_int_equal(stats.handed_back, 0);
        assert_int_equal(stats.pending, 6 + 1);
        assert_int_equal(tkw_service_count(scene.service), 6 + 1);
        scene_close(&scene);
    }
}

struct watch {
    struct tkw_service *service;
    uint64_t seen;
    uint64_t wrong;
};

static void watch_rest(void *context, const struct tkw_pending_timer *rest)
{
    struct watch *watch = context;
    struct tkw_service_stats stats = tkw_service_read_stats(watch->service);
    (void)rest;
    if (stats.armed !=
        stats.fired + stats.cancelled + stats.handed_back + stats.pending)
        watch->wrong++;
    if (stats.handed_back != watch->seen &&
        stats.handed_back != watch->seen + 1)
        watch->wrong++;
    watch->seen++;
}

/* While close hands back, each is counted when it is its turn. */
static void close_tells_how_many_were_handed_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probes[30] = {{0}};
        scene_open(&scene, 0,
                   (struct tkw_service_config){
                       .tick_ns = 10, .shards = 3, .driver = both[i]});
        for (size_t k = 0; k < 30; k++)
            arm_plan(&scene, &probes[k],
                     (struct tkw_plan){.when_ns = 100 * k + 100,
                                       .period_ns = k % 2 * 100});
        scene_go(&scene, 350);
        struct watch watch = {.service = scene.service};
        assert_int_equal(tkw_service_close(scene.service, watch_rest, &watch),
                         0);
        assert_int_equal(watch.seen, 28); /* of the first three, one repeats */
        assert_int_equal(watch.wrong, 0);
        tkw_manual_clock_close(scene.manual);
        account_done(&scene.account);
    }
}

/* X1: a timer for tick 445 in wheels of 20 moves down twice. */
static void falls_are_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {0}, near = {0};
        scene_open(&scene, 0,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = 1,
                                               .geometry = {.sizes = {20}},
                                               .driver = both[i]});
        probe_arm(&scene, &near, 190);
        for (uint64_t tick = 0; tick <= 19; tick++)
            scene_go(&scene, tick * 10);
        assert_int_equal(tkw_service_read_stats(scene.service).falls, 0);
        scene_close(&scene);
        scene_open(&scene, 0,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = 1,
                                               .geometry = {.sizes = {20}},
                                               .driver = both[i]});
        probe_arm(&scene, &probe, 4450);
        for (uint64_t tick = 0; tick <= 445; tick++)
            scene_go(&scene, tick * 10);
        assert_int_equal(ran(&probe), 1);
        assert_int_equal(tkw_service_read_stats(scene.service).falls, 2);
        scene_close(&scene);
    }
}

/* Rounded up, by a sixteenth at most. */
static void assert_about(uint64_t measured, uint64_t exact)
{
    assert_true(measured >= exact);
    assert_true(measured <= exact + exact / 16 + 1);
}

/* Known to be so late: a little more than half by a, up to a little more than
   90% by b, 99% by c, 99.9% by d, and one by e. */
static void assert_lateness(enum tkw_driver driver, const uint64_t *late)
{
    static const unsigned counts[] = {1010, 800, 172, 17, 1};
    struct scene scene;
    struct probe probe = {0};
    uint64_t end = 10 * (UINT64_C(1) << 56), sum = 0;
    scene_open_tens(&scene, 0, driver);
    for (unsigned k = 0; k < 2000; k++) {
        unsigned left = k * 7 % 2000, which = 0; /* in no order */
        while (left >= counts[which])
            left -= counts[which++];
        probe_arm_at(&scene, &probe, end - late[which]);
        sum += late[which];
    }
    assert_int_equal(scene_go(&scene, end), 2000);
    struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
    assert_about(stats.late_p50_ns, late[0]);
    assert_about(stats.late_p90_ns, late[1]);
    assert_about(stats.late_p99_ns, late[2]);
    assert_about(stats.late_p999_ns, late[3]);
    assert_int_equal(stats.late_max_ns, late[4]);
    assert_int_equal(stats.late_sum_ns, sum);
    scene_close(&scene);
}

static void lateness_is_reported_to_a_sixteenth(void **state)
{
    (void)state;
    static const uint64_t cases[][5] = {
        {0, 0, 0, 0, 0},
        {0, 1, 2, 3, 4},
        {15, 16, 17, 31, 32},
        {33, 63, 64, 65, 66},
        {100, 1000, 10000, 100000, 1000000},
        {1000000, 1062500, 1062501, 1125001, 1125002},
        {777, 777, 777, 777, 777},
        {0, 0, 0, 0, UINT64_C(1) << 59},
        {65535, 65536, UINT64_C(1) << 32, (UINT64_C(1) << 40) + 1,
         (UINT64_C(1) << 48) - 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t k = 0; k < COUNT_OF(both); k++)
            assert_lateness(both[k], cases[i]);
}

/* All of 1 to 2,000, so that every percentile is another value. */
static void every_percentile_is_its_own(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (uint64_t late = 1; late <= 2000; late++)
        probe_arm_at(&scene, &probe, 10000 - late);
    assert_int_equal(scene_go(&scene, 10000), 2000);
    struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
    assert_about(stats.late_p50_ns, 1000);
    assert_about(stats.late_p90_ns, 1800);
    assert_about(stats.late_p99_ns, 1980);
    assert_about(stats.late_p999_ns, 1998);
    assert_int_equal(stats.late_max_ns, 2000);
    scene_close(&scene);
}

/* How late a timer with slack or jitter is counts from its own time. */
static void what_was_asked_for_is_not_late(void **state)
{
    (void)state;
    struct scene scene;
    struct diary diary = {0};
    uint64_t sum = 0;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    arm_diary(&scene, &diary,
              (struct tkw_plan){.when_ns = 1000,
                                .period_ns = 1000,
                                .jitter_ns = 200,
                                .slack_ns = 100});
    for (uint64_t now = 10; now <= 30000; now += 10)
        if (scene_go(&scene, now) != 0)
            sum += now - diary.probe.firing.due_ns;
    struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
    assert_int_equal(stats.late_sum_ns, sum);
    assert_true(stats.late_max_ns < 10);
    scene_close(&scene);
}

static void take(void *argument, uint64_t ns)
{
    struct scene *scene = argument;
    tkw_manual_clock_advance(scene->manual, ns);
}

static void quick(void *argument, const struct tkw_firing *firing)
{
    (void)firing;
    take(argument, 100);
}

static void slow(void *argument, const struct tkw_firing *firing)
{
    (void)firing;
    take(argument, 12345);
}

static void not_as_slow(void *argument, const struct tkw_firing *firing)
{
    (void)firing;
    take(argument, 12344);
}

/* The one that took longest, exactly, and which function it was. */
static void the_slowest_callback_is_known(void **state)
{
    (void)state;
    static const struct {
        tkw_callback *callback;
        uint64_t slowest_ns;
        tkw_callback *slowest;
    } steps[] = {{quick, 100, quick},
                 {not_as_slow, 12344, not_as_slow},
                 {quick, 12344, not_as_slow},
                 {slow, 12345, slow},
                 {not_as_slow, 12345, slow}};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        scene_open_tens(&scene, 0, both[i]);
        for (size_t k = 0; k < COUNT_OF(steps); k++) {
            struct tkw_task task = {steps[k].callback, &scene, NULL};
            assert_int_equal(tkw_service_arm(scene.service, NULL, 50, task), 0);
            tkw_manual_clock_advance(scene.manual, 60); /* a tick more */
            if (both[i] == TKW_DRIVER_NONE)
                assert_int_equal(tkw_service_run(scene.service, 0), 1);
            else
                scene_rest(&scene);
            struct tkw_service_stats stats =
                tkw_service_read_stats(scene.service);
            assert_int_equal(stats.slowest_ns, steps[k].slowest_ns);
            assert_true(stats.slowest_callback == steps[k].slowest);
        }
        scene_close(&scene);
    }
}

/* The sum of what all timers were told that they missed. */
static void overruns_are_summed_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct diary diaries[5] = {{.count = 0}};
        uint64_t sum = 0;
        scene_open(&scene, 0,
                   (struct tkw_service_config){
                       .tick_ns = 10, .shards = 3, .driver = both[i]});
        for (size_t k = 0; k < 5; k++)
            arm_diary(
                &scene, &diaries[k],
                (struct tkw_plan){.when_ns = 100, .period_ns = 100 + 20 * k});
        scene_go(&scene, 1550);
        scene_go(&scene, 4730);
        for (uint64_t now = 4740; now <= 6000; now += 10)
            scene_go(&scene, now);
        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(diaries[k].count + diaries[k].overruns,
                             (6000 - 100) / (100 + 20 * k) + 1);
            sum += diaries[k].overruns;
        }
        assert_int_equal(tkw_service_read_stats(scene.service).overruns, sum);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_first_all_is_zero),
        cmocka_unit_test(stats_count_each_outcome),
        cmocka_unit_test(close_tells_how_many_were_handed_back),
        cmocka_unit_test(falls_are_counted),
        cmocka_unit_test(lateness_is_reported_to_a_sixteenth),
        cmocka_unit_test(every_percentile_is_its_own),
        cmocka_unit_test(what_was_asked_for_is_not_late),
        cmocka_unit_test(the_slowest_callback_is_known),
        cmocka_unit_test(overruns_are_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
