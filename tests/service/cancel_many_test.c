/*
 * service/cancel_many_test.c - cancelling many at once, and what is left among
 * many that were cancelled.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

static struct many many;
static struct probe *const probes = many.probes;
static struct tkw_plan *const plans = many.plans;
static tkw_handle *const handles = many.handles;
static int answers[MANY];

/* Nothing to do is done. */
static void cancelling_none_stops_none(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    probe_arm(&scene, &probe, 100);
    assert_int_equal(tkw_service_cancel_many(scene.service, NULL, 0, NULL), 0);
    assert_int_equal(scene_go(&scene, 100), 1);
    scene_close(&scene);
}

/* The answers are those of cancel, one by one; the sum is of those stopped. */
static void cancel_many_answers_for_each(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    many_prepare(&many, &scene, 7, 100);
    plans[4].when_ns = 0;
    assert_int_equal(tkw_service_arm_many(scene.service, handles, plans, 7), 7);
    scene_rest(&scene);
    tkw_handle running = gate_enter(&scene, &held, &gate);
    assert_int_equal(tkw_service_cancel(scene.service, handles[3]), 1);
    const tkw_handle list[] = {
        handles[0], handles[1], handles[0], /* twice */
        handles[3],                         /* cancelled before */
        handles[4],                         /* done */
        running,    0,          UINT64_MAX, handles[2] ^ UINT64_C(1) << 40,
        handles[2], handles[2], running};
    static const int expected[] = {1, 1, 0, 0, 0, -EBUSY,
                                   0, 0, 0, 1, 0, -EBUSY};
    int results[COUNT_OF(list) + 1] = {0};
    results[COUNT_OF(list)] = 77;
    assert_int_equal(
        tkw_service_cancel_many(scene.service, list, COUNT_OF(list), results),
        3);
    assert_memory_equal(results, expected, sizeof expected);
    assert_int_equal(results[COUNT_OF(list)], 77);
    for (size_t k = 0; k < 7; k++)
        assert_int_equal(dropped(&probes[k]), k < 4);
    gate_open(&gate);
    assert_int_equal(tkw_service_cancel_many(scene.service, handles, 7, NULL),
                     2);
    scene_go(&scene, HOUR);
    assert_int_equal(ran(&probes[5]) + ran(&probes[6]), 0);
    assert_int_equal(tkw_service_read_stats(scene.service).cancelled, 6);
    gate_done(&gate);
    scene_close(&scene);
}

/* Ten thousand, some of them repeating, every second one twice in the list. */
static void ten_thousand_are_cancelled_at_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        scene_open(&scene, 0,
                   (struct tkw_service_config){
                       .tick_ns = 10, .shards = 3, .driver = both[i]});
        many_prepare(&many, &scene, MANY, 100);
        for (size_t k = 0; k < MANY; k++)
            plans[k].period_ns = k % 5 == 0 ? 100 : 0;
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles, plans, MANY), MANY);
        for (size_t k = 1; k < MANY; k += 2)
            handles[k] = handles[k - 1];
        assert_int_equal(
            tkw_service_cancel_many(scene.service, handles, MANY, answers),
            MANY / 2);
        for (size_t k = 0; k < MANY; k++) {
            assert_int_equal(answers[k], k % 2 == 0);
            assert_int_equal(dropped(&probes[k]), k % 2 == 0);
        }
        assert_int_equal(scene_go(&scene, 100), MANY / 2);
        assert_conserved(&scene);
        scene_close(&scene);
    }
}

/* Most of ten thousand were cancelled one by one: the few that are left are
   called all the same, by one run. */
static void what_is_left_among_many_cancelled_is_called(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        scene_open_tens(&scene, 0, both[i]);
        many_prepare(&many, &scene, MANY, 100);
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles, plans, MANY), MANY);
        for (size_t k = 0; k < MANY; k++)
            if (k % 1000 != 999)
                tkw_service_cancel(scene.service, handles[k]);
        assert_int_equal(scene_go(&scene, 100), 10);
        scene_close(&scene);
    }
}

static struct probe later;

static void *arm_the_later(void *argument)
{
    struct scene *scene = argument;
    tkw_service_arm(scene->service, NULL, 200, probe_task(scene, &later));
    return NULL;
}

/* By ticks, over all shards: what is left in one is not overtaken by what is
   due later in another. */
static void what_is_left_is_not_overtaken(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        memset(&later, 0, sizeof later);
        scene_open(&scene, 0,
                   (struct tkw_service_config){
                       .tick_ns = 10, .shards = 2, .driver = both[i]});
        many_prepare(&many, &scene, MANY, 100);
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles, plans, MANY), MANY);
        thread_join(thread_start(arm_the_later, &scene));
        tkw_service_cancel_many(scene.service, handles, MANY - 1, NULL);
        scene_go(&scene, 300);
        assert_int_equal(ran(&later), 1);
        assert_int_equal(ran(&probes[MANY - 1]), 1);
        assert_int_equal(probes[MANY - 1].place, 1);
        assert_int_equal(later.place, 2);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelling_none_stops_none),
        cmocka_unit_test(cancel_many_answers_for_each),
        cmocka_unit_test(ten_thousand_are_cancelled_at_once),
        cmocka_unit_test(what_is_left_among_many_cancelled_is_called),
        cmocka_unit_test(what_is_left_is_not_overtaken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
