/*
 * service/order_test.c - in which order callbacks start (L4), which thread they
 * run in, running without a driver, and what is next.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

/* What one thread armed for one tick starts in the order it was armed, whatever
   levels it fell through; ticks come in order. */
static void equal_ticks_start_in_arming_order(void **state)
{
    (void)state;
    static struct probe probes[600];
    for (size_t i = 0; i < COUNT_OF(both) * 2; i++) {
        struct scene scene;
        memset(probes, 0, sizeof probes);
        scene_open(&scene, 0,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = i < 2 ? 1 : 4,
                                               .driver = both[i % 2]});
        for (size_t k = 0; k < COUNT_OF(probes); k++) {
            if (k == 300)
                scene_go(&scene, 5000);
            probe_arm_at(&scene, &probes[k], 10 * (1000 + k % 3));
        }
        assert_int_equal(scene_go(&scene, 20000), 600);
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            assert_int_equal(probes[k].place, 1 + k % 3 * 200 + k / 3);
        scene_close(&scene);
    }
}

/* L5.  What has passed already goes behind what is ready. */
static void past_times_go_behind_what_is_ready(void **state)
{
    (void)state;
    struct scene scene;
    struct probe ready[3] = {{0}}, past = {0}, zero = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 3; i++)
        probe_arm_at(&scene, &ready[i], 1100);
    tkw_manual_clock_set(scene.manual, 1100);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    probe_arm_at(&scene, &past, 5);
    probe_arm(&scene, &zero, 0);
    scene_rest(&scene);
    assert_int_equal(ready[2].place, 3);
    assert_int_equal(past.place, 4);
    assert_int_equal(zero.place, 5);
    scene_close(&scene);
}

#define ARMERS 4
#define PER_ARMER 200

struct armer {
    struct scene *scene;
    struct probe probes[PER_ARMER];
    uint64_t step;
};

static void *arm_many(void *argument)
{
    struct armer *armer = argument;
    for (uint64_t k = 0; k < PER_ARMER; k++)
        tkw_service_arm_at(armer->scene->service, &armer->probes[k].handle,
                           1000 + 10 * (k * armer->step % 40),
                           probe_task(armer->scene, &armer->probes[k]));
    return NULL;
}

static void assert_in_order(struct armer *armers)
{
    static struct probe *by_place[1 + ARMERS * PER_ARMER];
    for (size_t a = 0; a < ARMERS; a++) {
        for (size_t k = 0; k < PER_ARMER; k++) {
            struct probe *probe = &armers[a].probes[k];
            assert_int_equal(ran(probe), 1);
            by_place[probe->place] = probe;
            for (size_t j = 0; j < k; j++)
                if (armers[a].probes[j].firing.due_ns == probe->firing.due_ns)
                    assert_true(armers[a].probes[j].place < probe->place);
        }
    }
    for (size_t p = 2; p <= ARMERS * PER_ARMER; p++)
        assert_true(by_place[p - 1]->firing.due_ns <=
                    by_place[p]->firing.due_ns);
}

/* Several threads, a shard each: by ticks over all shards, and each thread's
   own in the order it armed them. */
static void shards_start_by_ticks(void **state)
{
    (void)state;
    static struct armer armers[ARMERS];
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        pthread_t threads[ARMERS];
        memset(armers, 0, sizeof armers);
        scene_open(&scene, 0,
                   (struct tkw_service_config){
                       .tick_ns = 10, .shards = ARMERS, .driver = both[i]});
        for (size_t a = 0; a < ARMERS; a++) {
            armers[a].scene = &scene;
            armers[a].step = 2 * a + 1;
            threads[a] = thread_start(arm_many, &armers[a]);
        }
        for (size_t a = 0; a < ARMERS; a++)
            thread_join(threads[a]);
        assert_int_equal(tkw_service_count(scene.service), ARMERS * PER_ARMER);
        assert_int_equal(scene_go(&scene, 999), 0);
        assert_int_equal(scene_go(&scene, 1190), ARMERS * PER_ARMER / 2);
        assert_int_equal(scene_go(&scene, 9000), ARMERS * PER_ARMER / 2);
        assert_in_order(armers);
        scene_close(&scene);
    }
}

/* At most so many, and the rest later: none lost, none out of order. */
static void run_keeps_to_its_budget(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[10] = {{0}};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 10; i++)
        probe_arm(&scene, &probes[i], 10 * (1 + i / 5));
    assert_int_equal(tkw_service_run(scene.service, 3), 0);
    tkw_manual_clock_set(scene.manual, 100);
    assert_int_equal(tkw_service_run(scene.service, 3), 3);
    assert_true(tkw_service_next(scene.service) <= 100);
    assert_int_equal(tkw_service_count(scene.service), 7);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    assert_int_equal(tkw_service_run(scene.service, 5), 5);
    assert_int_equal(tkw_service_run(scene.service, 5), 1);
    assert_int_equal(tkw_service_run(scene.service, 0), 0);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(probes[i].place, i + 1);
    scene_close(&scene);
}

/* No bound calls all that is due in one go, in the calling thread. */
static void run_without_bound_calls_all_that_is_due(void **state)
{
    (void)state;
    static struct probe probes[3000];
    struct scene scene;
    memset(probes, 0, sizeof probes);
    scene_open(&scene, 0,
               (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
    for (size_t i = 0; i < 3000; i++)
        probe_arm(&scene, &probes[i], i * TKW_MILLISECOND);
    tkw_manual_clock_set(scene.manual, 2000 * TKW_MILLISECOND);
    assert_int_equal(tkw_service_run(scene.service, 0), 2001);
    assert_int_equal(ran(&probes[2000]), 1);
    assert_int_equal(ran(&probes[2001]), 0);
    scene_close(&scene);
}

static void run_inside(struct probe *probe)
{
    probe->answer = tkw_service_run(probe->scene->service, 0);
}

/* A pass inside a pass is refused, and calls nothing. */
static void run_inside_a_callback_is_refused(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {.act = run_inside}, second = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    probe_arm(&scene, &first, 0);
    probe_arm(&scene, &second, 0);
    assert_int_equal(tkw_service_run(scene.service, 0), 2);
    assert_int_equal(first.answer, -EDEADLK);
    assert_int_equal(second.place, 2);
    scene_close(&scene);
}

static void *run_once(void *argument)
{
    struct scene *scene = argument;
    tkw_service_run(scene->service, 0);
    return NULL;
}

/* Two threads at once: the second is told so, and may try again. */
static void run_in_two_threads_is_refused_for_one(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {.act = gate_hold, .gate = &gate}, after = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    gate_init(&gate);
    probe_arm(&scene, &held, 0);
    pthread_t thread = thread_start(run_once, &scene);
    gate_await(&gate);
    assert_int_equal(tkw_service_run(scene.service, 0), -EBUSY);
    assert_int_equal(tkw_service_run(scene.service, 1), -EBUSY);
    gate_open(&gate);
    thread_join(thread);
    probe_arm(&scene, &after, 0);
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    gate_done(&gate);
    scene_close(&scene);
}

/* Fewer than none is no budget. */
static void a_negative_budget_is_refused(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    probe_arm(&scene, &probe, 0);
    assert_int_equal(tkw_service_run(scene.service, -1), -EINVAL);
    assert_int_equal(ran(&probe), 0);
    assert_int_equal(tkw_service_run(scene.service, 0), 1);
    scene_close(&scene);
}

/* With a driver there is nothing for others to run. */
static void run_is_not_for_a_service_with_a_driver(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {.act = run_inside};
    scene_open_tens(&scene, 0, TKW_DRIVER_THREAD);
    assert_int_equal(tkw_service_run(scene.service, 0), -EINVAL);
    assert_int_equal(tkw_service_run(scene.service, 1), -EINVAL);
    probe_arm(&scene, &probe, 100);
    scene_go(&scene, 100);
    assert_true(probe.answer == -EDEADLK || probe.answer == -EINVAL);
    scene_close(&scene);
}

/* L8.  Who sleeps until `next` and runs is never late, and not often awake. */
static void sleeping_until_next_fires_everything_on_time(void **state)
{
    (void)state;
    static const uint64_t delays[] = {1, 10, 1280, 1281, 655360, 20 * HOUR};
    struct scene scene;
    struct probe probes[COUNT_OF(delays)] = {{0}};
    unsigned wakes = 0;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    assert_int_equal(tkw_service_next(scene.service), UINT64_MAX);
    for (size_t i = 0; i < COUNT_OF(delays); i++)
        probe_arm(&scene, &probes[i], delays[i]);
    for (uint64_t next = 0; next != UINT64_MAX; wakes++) {
        assert_true(wakes < 200);
        next = tkw_service_next(scene.service);
        if (next != UINT64_MAX && next > tkw_manual_clock_now(scene.manual))
            tkw_manual_clock_set(scene.manual, next);
        tkw_service_run(scene.service, 0);
    }
    for (size_t i = 0; i < COUNT_OF(delays); i++) {
        assert_int_equal(ran(&probes[i]), 1);
        assert_true(probes[i].firing.now_ns >= delays[i]);
        assert_true(probes[i].firing.now_ns < delays[i] + 10);
    }
    scene_close(&scene);
}

/* Callbacks come one at a time, from whatever shard. */
static atomic_int inside;

static void enter_and_leave(struct probe *probe)
{
    probe->answer = atomic_fetch_add(&inside, 1);
    have_patience();
    atomic_fetch_sub(&inside, 1);
}

static void callbacks_run_one_at_a_time(void **state)
{
    (void)state;
    static struct armer armers[ARMERS];
    struct scene scene;
    pthread_t threads[ARMERS];
    memset(armers, 0, sizeof armers);
    scene_open(&scene, 0,
               (struct tkw_service_config){.tick_ns = 10, .shards = ARMERS});
    for (size_t a = 0; a < ARMERS; a++) {
        armers[a].scene = &scene;
        armers[a].step = 1;
        for (size_t k = 0; k < PER_ARMER; k += 20)
            armers[a].probes[k].act = enter_and_leave;
        threads[a] = thread_start(arm_many, &armers[a]);
    }
    for (size_t a = 0; a < ARMERS; a++)
        thread_join(threads[a]);
    assert_int_equal(scene_go(&scene, 9000), ARMERS * PER_ARMER);
    for (size_t a = 0; a < ARMERS; a++)
        for (size_t k = 0; k < PER_ARMER; k++)
            assert_int_equal(armers[a].probes[k].answer, 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_ticks_start_in_arming_order),
        cmocka_unit_test(past_times_go_behind_what_is_ready),
        cmocka_unit_test(shards_start_by_ticks),
        cmocka_unit_test(run_keeps_to_its_budget),
        cmocka_unit_test(run_without_bound_calls_all_that_is_due),
        cmocka_unit_test(run_inside_a_callback_is_refused),
        cmocka_unit_test(run_in_two_threads_is_refused_for_one),
        cmocka_unit_test(a_negative_budget_is_refused),
        cmocka_unit_test(run_is_not_for_a_service_with_a_driver),
        cmocka_unit_test(sleeping_until_next_fires_everything_on_time),
        cmocka_unit_test(callbacks_run_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
