/*
 * service/batch_test.c - arming many at once.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

static struct many many;
static struct probe *const probes = many.probes;
static struct tkw_plan *const plans = many.plans;
static tkw_handle *const handles = many.handles;

/* All at one tick: they run in the order of the array, each by its handle. */
static void many_are_armed_in_their_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        scene_open_tens(&scene, 1000, both[i]);
        many_prepare(&many, &scene, MANY, 500);
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles, plans, MANY), MANY);
        assert_int_equal(tkw_service_count(scene.service), MANY);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, MANY);
        for (size_t k = 0; k < MANY; k++)
            assert_int_equal(due_of(&scene, handles[k]), 1500);
        assert_int_equal(scene_go(&scene, 1499), 0);
        assert_int_equal(scene_go(&scene, 1500), MANY);
        for (size_t k = 0; k < MANY; k++) {
            assert_int_equal(probes[k].place, k + 1);
            assert_int_equal(probes[k].firing.handle, handles[k]);
        }
        scene_close(&scene);
    }
}

/* Different times: each at its own; what one thread arms alone and in batches
   is still in order. */
static void many_times_are_each_their_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe before = {0}, after = {0};
        scene_open_tens(&scene, 0, both[i]);
        many_prepare(&many, &scene, MANY, 0);
        for (size_t k = 0; k < MANY; k++) {
            plans[k].when_ns = 10 * (1 + k * 7919 % MANY);
            plans[k].is_time = k % 2;
        }
        probe_arm(&scene, &before, plans[5].when_ns);
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles, plans, MANY), MANY);
        probe_arm(&scene, &after, plans[5].when_ns);
        for (uint64_t now = 0; now <= 10 * MANY; now += 1000)
            scene_go(&scene, now);
        for (size_t k = 0; k < MANY; k++) {
            assert_int_equal(ran(&probes[k]), 1);
            assert_int_equal(probes[k].firing.due_ns, plans[k].when_ns);
        }
        assert_int_equal(probes[5].place, before.place + 1);
        assert_int_equal(after.place, before.place + 2);
        scene_close(&scene);
    }
}

/* What one thread arms for one tick starts in its order, if it is for nobody or
   for one owner, however many shards there are. */
static void what_is_for_one_owner_is_in_order(void **state)
{
    (void)state;
    static struct tkw_owner owners[200];
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        unsigned last[201] = {0};
        memset(owners, 0, sizeof owners);
        scene_open(&scene, 0,
                   (struct tkw_service_config){
                       .tick_ns = 10, .shards = 4, .driver = both[i]});
        many_prepare(&many, &scene, MANY, 100);
        for (size_t k = 0; k < MANY; k++)
            if (k * 7 % 201 < 200)
                plans[k].owner = &owners[k * 7 % 201];
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles, plans, MANY), MANY);
        assert_int_equal(scene_go(&scene, 100), MANY);
        for (size_t k = 0; k < MANY; k++) {
            assert_true(probes[k].place > last[k * 7 % 201]);
            last[k * 7 % 201] = probes[k].place;
        }
        scene_close(&scene);
    }
}

/* Nobody wants the handles; or nothing at all is wanted. */
static void handles_need_not_be_asked_for(void **state)
{
    (void)state;
    struct scene scene;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    many_prepare(&many, &scene, 100, 10);
    assert_int_equal(tkw_service_arm_many(scene.service, NULL, plans, 100),
                     100);
    assert_int_equal(tkw_service_arm_many(scene.service, handles, plans, 0), 0);
    assert_int_equal(tkw_service_arm_many(scene.service, NULL, NULL, 0), 0);
    assert_int_equal(handles[0], 0);
    assert_int_equal(scene_go(&scene, 10), 100);
    scene_close(&scene);
}

/* A clock that is one later each time it is read. */
static uint64_t read_and_tick(void *context)
{
    return ++*(uint64_t *)context;
}

static void wait_for_nothing(void *context, uint64_t time)
{
    (void)context;
    (void)time;
}

static void wake_nobody(void *context)
{
    (void)context;
}

/* From one reading of the clock: equal delays are equal times. */
static void the_clock_is_read_once_for_all(void **state)
{
    (void)state;
    uint64_t now = 1000;
    struct tkw_clock clock = {.now = read_and_tick,
                              .wait_until = wait_for_nothing,
                              .wake = wake_nobody,
                              .context = &now};
    struct scene scene;
    scene_open(&scene, 0,
               (struct tkw_service_config){
                   .tick_ns = 10, .driver = TKW_DRIVER_NONE, .clock = &clock});
    many_prepare(&many, &scene, 500, HOUR);
    assert_int_equal(tkw_service_arm_many(scene.service, handles, plans, 500),
                     500);
    uint64_t due = due_of(&scene, handles[0]);
    for (size_t k = 1; k < 500; k++)
        assert_int_equal(due_of(&scene, handles[k]), due);
    scene_close(&scene);
}

/* As many as allowed, and the next call tells why not more. */
static void a_full_service_takes_a_part(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct tkw_owner owner = {{0}};
        scene_open(&scene, 0,
                   (struct tkw_service_config){
                       .tick_ns = 10, .timers_max = 60, .driver = both[i]});
        many_prepare(&many, &scene, 100, 100);
        for (size_t k = 0; k < 100; k++)
            plans[k].owner = &owner;
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles, plans, 100), 60);
        for (size_t k = 0; k < 100; k++)
            assert_int_equal(handles[k] != 0, k < 60);
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles + 60, plans + 60, 40),
            -EAGAIN);
        assert_int_equal(handles[60], 0);
        assert_int_equal(tkw_service_count(scene.service), 60);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, 60);
        assert_int_equal(scene_go(&scene, 100), 60);
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles + 60, plans + 60, 40),
            40);
        assert_int_equal(tkw_service_cancel_owner(scene.service, &owner), 40);
        for (size_t k = 0; k < 100; k++)
            assert_int_equal(dropped(&probes[k]), k >= 60);
        scene_close(&scene);
    }
}

/* Up to the first bad one. */
static void a_bad_plan_ends_the_batch(void **state)
{
    (void)state;
    struct scene scene;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    many_prepare(&many, &scene, 10, 100);
    plans[4].task.callback = NULL;
    assert_int_equal(tkw_service_arm_many(scene.service, handles, plans, 10),
                     4);
    assert_int_equal(handles[4], 0);
    assert_int_equal(
        tkw_service_arm_many(scene.service, handles + 4, plans + 4, 6),
        -EINVAL);
    assert_int_equal(
        tkw_service_arm_many(scene.service, handles + 5, plans + 5, 5), 5);
    assert_int_equal(scene_go(&scene, 100), 9);
    scene_close(&scene);
}

/* No memory: a part of them, -ENOMEM for the rest, and none is lost. */
static void without_memory_a_part_is_armed(void **state)
{
    (void)state;
    struct scene scene;
    ptrdiff_t sum = 0, armed = 0;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    many_prepare(&many, &scene, MANY, 0);
    for (size_t k = 0; k < MANY; k++)
        plans[k].when_ns = 10 + k * 100000;
    account_fail(&scene.account, 0, FOR_EVER);
    for (unsigned batch = 0; batch < 1000; batch++) {
        armed = tkw_service_arm_many(scene.service, NULL, plans, MANY);
        if (armed < 0)
            break;
        sum += armed;
    }
    assert_int_equal(armed, -ENOMEM);
    assert_int_equal(tkw_service_count(scene.service), sum);
    account_fail(&scene.account, 0, 0);
    assert_int_equal(tkw_service_arm_many(scene.service, NULL, plans, 100),
                     100);
    assert_int_equal(scene_go(&scene, HOUR), sum + 100);
    scene_close(&scene);
}

/* Once stopped, none. */
static void a_stopped_service_takes_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        scene_open_tens(&scene, 0, both[i]);
        many_prepare(&many, &scene, 10, 100);
        tkw_service_stop(scene.service);
        assert_int_equal(
            tkw_service_arm_many(scene.service, handles, plans, 10),
            -ESHUTDOWN);
        assert_int_equal(handles[0], 0);
        assert_int_equal(
            tkw_service_arm_plan(scene.service, &handles[0], &plans[0]),
            -ESHUTDOWN);
        assert_int_equal(handles[0], 0);
        scene_close(&scene);
        assert_int_equal(ran(&probes[0]) + dropped(&probes[0]), 0);
    }
}

/* One batch for several owners and executors, some of them repeating. */
static void a_batch_may_be_mixed(void **state)
{
    (void)state;
    struct scene scene;
    struct tkw_owner owners[3] = {{{0}}};
    scene_open(
        &scene, 0,
        (struct tkw_service_config){.tick_ns = 10, .shards = 2, .workers = 2});
    many_prepare(&many, &scene, 600, 100);
    for (size_t k = 0; k < 600; k++) {
        plans[k].owner = k % 4 == 3 ? NULL : &owners[k % 4];
        plans[k].executor = k % 2 == 0 ? TKW_ON_WORKERS : TKW_ON_DRIVER;
        plans[k].period_ns = k % 3 == 0 ? 100 : 0;
        plans[k].when_ns = k % 4 == 1 ? HOUR : 100;
    }
    assert_int_equal(tkw_service_arm_many(scene.service, handles, plans, 600),
                     600);
    scene_go(&scene, 100);
    while (tkw_service_read_stats(scene.service).pending != 150 + 150 ||
           atomic_load(&scene.turns) < 450)
        have_patience();
    for (size_t k = 0; k < 600; k++)
        while (ran(&probes[k]) != (k % 4 != 1))
            have_patience();
    /* Of each owner's 150, a third repeats; of the second's, none has run. */
    assert_int_equal(tkw_service_cancel_owner_sync(scene.service, &owners[1]),
                     150);
    assert_true(tkw_service_cancel_owner_sync(scene.service, &owners[0]) <= 50);
    assert_true(tkw_service_cancel_owner_sync(scene.service, &owners[2]) <= 50);
    for (size_t k = 0; k < 600; k++)
        if (k % 4 != 3)
            assert_int_equal(dropped(&probes[k]), k % 3 == 0 || k % 4 == 1);
    assert_int_equal(tkw_service_count(scene.service), 50);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_are_armed_in_their_order),
        cmocka_unit_test(many_times_are_each_their_own),
        cmocka_unit_test(what_is_for_one_owner_is_in_order),
        cmocka_unit_test(handles_need_not_be_asked_for),
        cmocka_unit_test(the_clock_is_read_once_for_all),
        cmocka_unit_test(a_full_service_takes_a_part),
        cmocka_unit_test(a_bad_plan_ends_the_batch),
        cmocka_unit_test(without_memory_a_part_is_armed),
        cmocka_unit_test(a_stopped_service_takes_none),
        cmocka_unit_test(a_batch_may_be_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
