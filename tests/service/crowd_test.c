/*
 * service/crowd_test.c - many timers and many threads: each arming has exactly
 * one outcome (L3), and memory does not grow with what is gone.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

#define THREADS 4
#define EACH 25000

/* One thread's share.  A timer's outcome is counted in its own byte. */
struct share {
    struct scene *scene;
    atomic_uchar ran[EACH];
    atomic_uchar dropped[EACH];
    unsigned char stopped[EACH]; /* cancel said 1 */
    tkw_handle handles[EACH];
    atomic_uint errors;
    uint64_t random;
};

static struct share shares[THREADS];

static uint64_t random_of(struct share *share)
{
    share->random ^= share->random << 13;
    share->random ^= share->random >> 7;
    share->random ^= share->random << 17;
    return share->random;
}

static void count_run(void *argument, const struct tkw_firing *firing)
{
    (void)firing;
    atomic_fetch_add((atomic_uchar *)argument, 1);
}

static void open_crowd(struct scene *scene, enum tkw_driver driver)
{
    memset(shares, 0, sizeof shares);
    scene_open(scene, 0,
               (struct tkw_service_config){.driver = driver, .shards = 2});
    for (size_t i = 0; i < THREADS; i++) {
        shares[i].scene = scene;
        shares[i].random = 88172645463325252 + i * 7919;
    }
}

static void *arm_share(void *argument)
{
    struct share *share = argument;
    for (size_t k = 0; k < EACH; k++) {
        struct tkw_task task = {count_run, &share->ran[k], NULL};
        uint64_t delay = random_of(share) % (100 * TKW_SECOND);
        if (tkw_service_arm(share->scene->service, NULL, delay, task) != 0)
            atomic_fetch_add(&share->errors, 1);
    }
    return NULL;
}

static void in_all_threads(void *(*function)(void *))
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        threads[i] = thread_start(function, &shares[i]);
    for (size_t i = 0; i < THREADS; i++)
        thread_join(threads[i]);
}

/* A hundred thousand tasks from four threads: each fires exactly once. */
static void a_hundred_thousand_tasks_fire_once_each(void **state)
{
    (void)state;
    struct scene scene;
    open_crowd(&scene, TKW_DRIVER_THREAD);
    in_all_threads(arm_share);
    assert_int_equal(tkw_service_read_stats(scene.service).armed,
                     THREADS * EACH);
    for (uint64_t now = 0; now <= 101; now++)
        scene_go(&scene, now * TKW_SECOND);
    assert_int_equal(tkw_service_count(scene.service), 0);
    assert_int_equal(tkw_service_read_stats(scene.service).fired,
                     THREADS * EACH);
    for (size_t i = 0; i < THREADS * EACH; i++)
        assert_int_equal(shares[i / EACH].ran[i % EACH], 1);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(atomic_load(&shares[i].errors), 0);
    scene_close(&scene);
}

/* In the drop and in the callback the two counters of one timer lie apart by
   the size of one array. */
static void count_drop(void *argument)
{
    atomic_uchar *counter = argument;
    atomic_fetch_add(counter + EACH, 1);
}

_Static_assert(offsetof(struct share, dropped) ==
                   offsetof(struct share, ran) + EACH,
               "count_drop() finds its counter");

static void note_stop(struct share *share, size_t k, int answer)
{
    if (answer == 1)
        share->stopped[k]++;
}

static void *arm_and_cancel(void *argument)
{
    struct share *share = argument;
    struct tkw_service *service = share->scene->service;
    for (size_t k = 0; k < EACH; k++) {
        struct tkw_task task = {count_run, &share->ran[k], count_drop};
        uint64_t dice = random_of(share);
        uint64_t delay = dice % 8 == 0 ? 0 : dice % (50 * TKW_MILLISECOND);
        if (tkw_service_arm(service, &share->handles[k], delay, task) != 0)
            atomic_fetch_add(&share->errors, 1);
        size_t victim = (size_t)(random_of(share) % (k + 1));
        if (dice % 3 == 0)
            victim = k;
        if (dice % 5 == 0)
            tkw_service_rearm(service, share->handles[victim], delay / 2);
        else if (dice % 5 == 1)
            tkw_service_postpone(service, share->handles[victim], 2 * delay);
        else if (dice % 5 == 2)
            note_stop(share, victim,
                      tkw_service_cancel_sync(service, share->handles[victim]));
        else
            note_stop(share, victim,
                      tkw_service_cancel(service, share->handles[victim]));
        if (k % 64 == 0)
            tkw_manual_clock_advance(share->scene->manual, TKW_MILLISECOND);
    }
    return NULL;
}

/* Arming, moving and cancelling while time flies: whoever was told that a timer
   was stopped was told the truth, and at rest everything adds up.  (A rearm may
   catch a timer while it runs: so one may run more often than once.) */
static void outcomes_add_up_whatever_the_threads_do(void **state)
{
    (void)state;
    struct scene scene;
    uint64_t fired = 0, stopped = 0, drops = 0;
    open_crowd(&scene, TKW_DRIVER_THREAD);
    in_all_threads(arm_and_cancel);
    scene_go(&scene, 1000 * HOUR);
    assert_int_equal(tkw_service_count(scene.service), 0);
    for (size_t i = 0; i < THREADS * EACH; i++) {
        struct share *share = &shares[i / EACH];
        size_t k = i % EACH;
        assert_true(share->stopped[k] <= 1);
        assert_true(share->ran[k] + share->dropped[k] >= 1);
        assert_true(share->dropped[k] >= share->stopped[k]);
        fired += share->ran[k];
        stopped += share->stopped[k];
        drops += share->dropped[k];
    }
    struct tkw_service_stats stats = tkw_service_read_stats(scene.service);
    assert_int_equal(stats.fired, fired);
    assert_int_equal(stats.cancelled, drops);
    assert_true(stopped <= drops);
    assert_int_equal(stats.armed, fired + drops);
    assert_true(stats.armed >= THREADS * EACH);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(atomic_load(&shares[i].errors), 0);
    scene_close(&scene);
}

/* Two threads cancel the same timers: for each exactly one of them, or the
   callback, wins. */
static atomic_uint wins[EACH];

static void *cancel_all(void *argument)
{
    struct share *share = argument;
    for (size_t k = 0; k < EACH; k++)
        if (tkw_service_cancel(share->scene->service, shares[0].handles[k]) ==
            1)
            atomic_fetch_add(&wins[k], 1);
    return NULL;
}

static void a_timer_is_stopped_by_one_or_fires(void **state)
{
    (void)state;
    struct scene scene;
    pthread_t threads[2];
    open_crowd(&scene, TKW_DRIVER_THREAD);
    memset(wins, 0, sizeof wins);
    for (size_t k = 0; k < EACH; k++) {
        struct tkw_task task = {count_run, &shares[0].ran[k], count_drop};
        assert_int_equal(tkw_service_arm(scene.service, &shares[0].handles[k],
                                         TKW_MILLISECOND * (k / 100), task),
                         0);
    }
    threads[0] = thread_start(cancel_all, &shares[0]);
    threads[1] = thread_start(cancel_all, &shares[1]);
    for (int i = 0; i < EACH / 100; i++)
        tkw_manual_clock_advance(scene.manual, TKW_MILLISECOND);
    thread_join(threads[0]);
    thread_join(threads[1]);
    scene_rest(&scene);
    for (size_t k = 0; k < EACH; k++) {
        assert_int_equal(atomic_load(&wins[k]) + shares[0].ran[k], 1);
        assert_int_equal(shares[0].dropped[k], atomic_load(&wins[k]));
    }
    scene_close(&scene);
}

/* D3.  A million armed and cancelled, few at a time: memory stays bounded. */
static void what_is_gone_takes_no_memory(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    uint64_t early = 0;
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (unsigned i = 0; i < 1000000; i++) {
        tkw_handle handle = probe_arm(&scene, &probe, 30 * TKW_SECOND);
        assert_int_equal(tkw_service_cancel(scene.service, handle), 1);
        if (i == 100000)
            early = account_bytes(&scene.account);
    }
    assert_true(account_bytes(&scene.account) <= 2 * early);
    assert_true(account_bytes(&scene.account) < 16 << 20);
    scene_close(&scene);
    assert_int_equal(dropped(&probe), 1000000);
}

/* L9.  Jobs of the driver use up the budget of a run, while the runner has
 * moved only a part of the workers' timers.  The service asks for the next run
 * at once. */
static void a_run_that_stops_within_a_crowd_goes_on_at_once(void **state)
{
    (void)state;
    enum { CROWD = 10000 };
    static struct probe crowd[CROWD];
    struct probe first = {0};
    struct scene scene;
    scene_open(&scene, 0,
               (struct tkw_service_config){.driver = TKW_DRIVER_NONE,
                                           .shards = 1,
                                           .workers = 1,
                                           .queue_max = CROWD});
    uint64_t due = TKW_SECOND;
    for (size_t i = 0; i <= CROWD; i++) {
        struct probe *probe = i < CROWD ? &crowd[i] : &first;
        *probe = (struct probe){0};
        struct tkw_plan plan = {
            .task = probe_task(&scene, probe),
            .when_ns = due,
            .executor = i < CROWD ? TKW_ON_WORKERS : TKW_ON_DRIVER,
        };
        assert_int_equal(tkw_service_arm_plan(scene.service, NULL, &plan), 0);
    }
    tkw_manual_clock_set(scene.manual, due);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    assert_int_equal(ran(&first), 1);
    assert_int_equal(tkw_service_next(scene.service), due);
    while (tkw_service_count(scene.service) > 0)
        assert_true(tkw_service_run(scene.service, 0) >= 0);
    scene_close(&scene);
    for (size_t i = 0; i < CROWD; i++)
        assert_int_equal(ran(&crowd[i]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_tasks_fire_once_each),
        cmocka_unit_test(outcomes_add_up_whatever_the_threads_do),
        cmocka_unit_test(a_timer_is_stopped_by_one_or_fires),
        cmocka_unit_test(what_is_gone_takes_no_memory),
        cmocka_unit_test(a_run_that_stops_within_a_crowd_goes_on_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
