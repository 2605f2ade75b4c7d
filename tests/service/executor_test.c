/*
 * service/executor_test.c - where callbacks run, per timer and per service, and
 * that a slow one, or a full queue, delays nothing but what runs where it does
 * (L13).
 */
#define _GNU_SOURCE

#include "support/executor.h"

#include <signal.h>
#include <unistd.h>

static void note_thread(struct probe *probe)
{
    probe->answer = (int)gettid();
}

/* In which thread a timer for that executor runs; jobs run in this one. */
static int thread_of(struct scene *scene, struct tray *tray,
                     enum tkw_executor executor)
{
    struct probe probe = {.act = note_thread};
    probe_arm_on(scene, &probe, executor, 0);
    while (ran(&probe) == 0) {
        tray_run_all(tray);
        sched_yield();
    }
    probe_await_end(&probe);
    return probe.answer;
}

/* Each timer runs where it says; driver and worker are two threads. */
static void a_timer_runs_where_it_says(void **state)
{
    (void)state;
    struct scene scene;
    static struct tray tray;
    tray_init(&tray, SIZE_MAX);
    scene_open(&scene, 1000, hands(1, 0, &tray));
    int driver = thread_of(&scene, &tray, TKW_ON_DRIVER);
    int worker = thread_of(&scene, &tray, TKW_ON_WORKERS);
    assert_int_not_equal(driver, gettid());
    assert_int_not_equal(worker, gettid());
    assert_int_not_equal(driver, worker);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(thread_of(&scene, &tray, TKW_ON_DRIVER), driver);
        assert_int_equal(thread_of(&scene, &tray, TKW_ON_WORKERS), worker);
        assert_int_equal(thread_of(&scene, &tray, TKW_BY_SUBMIT), gettid());
    }
    scene_close(&scene);
}

/* Who does not say runs where the service says; if that does not say either, by
   submit, or else on workers, or else on the driver. */
static void a_timer_that_does_not_say_runs_where_the_service_says(void **state)
{
    (void)state;
    static struct tray tray;
    static const struct {
        uint32_t workers;
        bool has_submit;
        enum tkw_executor says, runs;
    } cases[] = {
        {0, false, TKW_ANYWHERE, TKW_ON_DRIVER},
        {1, false, TKW_ANYWHERE, TKW_ON_WORKERS},
        {0, true, TKW_ANYWHERE, TKW_BY_SUBMIT},
        {1, true, TKW_ANYWHERE, TKW_BY_SUBMIT},
        {1, true, TKW_ON_DRIVER, TKW_ON_DRIVER},
        {1, true, TKW_ON_WORKERS, TKW_ON_WORKERS},
        {1, true, TKW_BY_SUBMIT, TKW_BY_SUBMIT},
        {1, false, TKW_ON_DRIVER, TKW_ON_DRIVER},
        {0, true, TKW_ON_DRIVER, TKW_ON_DRIVER},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scene scene;
        struct probe plain = {.act = note_thread};
        struct tkw_service_config config =
            hands(cases[i].workers, 0, cases[i].has_submit ? &tray : NULL);
        tray_init(&tray, SIZE_MAX);
        config.executor = cases[i].says;
        scene_open(&scene, 1000, config);
        int thread = thread_of(&scene, &tray, cases[i].runs);
        assert_int_equal(thread_of(&scene, &tray, TKW_ANYWHERE), thread);
        probe_arm(&scene, &plain, 0);
        while (ran(&plain) == 0) {
            tray_run_all(&tray);
            sched_yield();
        }
        assert_int_equal(plain.answer, thread);
        scene_close(&scene);
    }
}

/* What is not there cannot be named, by the service or by a timer. */
static void executors_that_are_not_there_are_refused(void **state)
{
    (void)state;
    static struct tray tray;
    static const int absurd[] = {-1, 4, 99, INT32_MAX, INT32_MIN};
    for (unsigned has = 0; has < 4; has++) {
        struct scene scene;
        struct probe probe = {0};
        struct tkw_service *service = (void *)&tray;
        struct tkw_service_config config =
            hands(has % 2, 0, has / 2 ? &tray : NULL);
        bool is_there[] = {true, true, has % 2 != 0, has / 2 != 0};
        tray_init(&tray, SIZE_MAX);
        scene_open(&scene, 1000, config);
        struct tkw_plan plan = {.task = probe_task(&scene, &probe)};
        for (int e = 0; e < 4 + (int)COUNT_OF(absurd); e++) {
            tkw_handle handle = 77;
            if (e < 4 && is_there[e])
                continue;
            config.executor = (enum tkw_executor)(e < 4 ? e : absurd[e - 4]);
            assert_int_equal(tkw_service_open(&service, &config), -EINVAL);
            assert_ptr_equal(service, &tray);
            plan.executor = config.executor;
            assert_int_equal(
                tkw_service_arm_plan(scene.service, &handle, &plan), -EINVAL);
            assert_int_equal(handle, 77);
        }
        assert_int_equal(tkw_service_count(scene.service), 0);
        assert_int_equal(tkw_service_read_stats(scene.service).armed, 0);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), 0);
    }
}

/* An allocator with little to give. */
static void *allocate_little(void *context, size_t bytes)
{
    (void)context;
    return bytes > 16 << 20 ? NULL : malloc(bytes);
}

static void release_little(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

/* More threads and longer queues than there can be are an error; a queue beyond
   all memory is one, too, or works all the same. */
static void absurd_numbers_are_an_error_or_work(void **state)
{
    (void)state;
    static const struct tkw_service_config absurd[] = {
        {.workers = 1025},
        {.workers = UINT32_MAX},
        {.workers = 1, .queue_max = (1 << 24) + 1},
        {.workers = 1, .queue_max = UINT32_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(absurd); i++) {
        struct tkw_service *service = NULL;
        assert_int_equal(tkw_service_open(&service, &absurd[i]), -EINVAL);
        assert_null(service);
    }
    const struct tkw_allocator little = {allocate_little, release_little, NULL};
    for (uint32_t queue_max = 1 << 24; queue_max > 1000; queue_max /= 7) {
        struct tkw_service *service = NULL;
        struct tkw_service_config config = {
            .workers = 1, .queue_max = queue_max, .allocator = &little};
        int error = tkw_service_open(&service, &config);
        assert_true(error == 0 || error == -ENOMEM);
        assert_true((error == 0) == (service != NULL));
        tkw_service_close(service, NULL, NULL);
    }
}

/* redisson 1361, dubbo 3276, grpc 28039: as many threads as were asked for, the
   driver, and one for the driver's callbacks if others must not wait for them;
   none of them after close. */
static void a_service_has_as_many_threads_as_configured(void **state)
{
    (void)state;
    int before = threads_at_rest();
    for (uint32_t workers = 0; workers <= 4; workers++) {
        for (int driver = 0; driver < 2; driver++) {
            struct scene scene;
            struct tkw_service_config config = hands(workers, 0, NULL);
            config.driver = driver ? TKW_DRIVER_THREAD : TKW_DRIVER_NONE;
            scene_open(&scene, 1000, config);
            int more = driver + (driver && workers > 0);
            assert_threads(before + more + (int)workers);
            scene_close(&scene);
            assert_threads(before);
        }
    }
}

static void note_signals(struct probe *probe)
{
    sigset_t blocked;
    static const int wanted[] = {SIGTERM, SIGINT, SIGALRM, SIGUSR1, SIGCHLD};
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (size_t i = 0; i < COUNT_OF(wanted); i++)
        probe->answer += sigismember(&blocked, wanted[i]) == 1;
}

/* Signals are for the program's own threads. */
static void workers_take_no_signals(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {.act = note_signals};
    scene_open(&scene, 1000, hands(1, 0, NULL));
    probe_arm(&scene, &probe, 0);
    probe_await(&probe, 1);
    assert_int_equal(probe.answer, 5);
    scene_close(&scene);
}

/* Netty 11724, dubbo 8949, RussellLuo 26: a slow callback on the driver delays
   neither what workers have been given nor jobs that were submitted. */
static void a_slow_driver_delays_nothing_that_was_handed_over(void **state)
{
    (void)state;
    static struct tray tray;
    struct scene scene;
    struct gate gate, slow;
    struct probe held = {0}, queued[3] = {{0}}, job = {0};
    struct probe driver = {.act = gate_hold, .gate = &slow};
    tray_init(&tray, SIZE_MAX);
    scene_open(&scene, 1000, hands(1, 0, &tray));
    gate_init(&slow);
    workers_hold(&scene, &held, &gate, 1);
    for (size_t i = 0; i < 3; i++)
        probe_arm_on(&scene, &queued[i], TKW_ON_WORKERS, 0);
    probe_arm_on(&scene, &job, TKW_BY_SUBMIT, 0);
    scene_rest(&scene);
    probe_arm_on(&scene, &driver, TKW_ON_DRIVER, 0);
    gate_await(&slow);
    workers_release(&gate, 1);
    for (size_t i = 0; i < 3; i++)
        probe_await(&queued[i], 1);
    assert_int_equal(tray_run_all(&tray), 1);
    assert_int_equal(ran(&driver), 0);
    gate_open(&slow);
    scene_close(&scene);
    assert_int_equal(ran(&driver), 1);
    gate_done(&gate);
    gate_done(&slow);
}

/* A slow callback on the driver at a tick, and others of the same tick for
   workers and submit, armed before and after it: they do not wait for it. */
static void a_slow_driver_delays_no_others_of_its_tick(void **state)
{
    (void)state;
    static struct tray tray;
    struct scene scene;
    struct gate slow;
    struct probe driver = {.act = gate_hold, .gate = &slow};
    struct probe workers[2] = {{0}}, jobs[2] = {{0}};
    tray_init(&tray, SIZE_MAX);
    scene_open(&scene, 1000, hands(1, 0, &tray));
    gate_init(&slow);
    for (size_t i = 0; i < 2; i++) {
        probe_arm_on(&scene, &workers[i], TKW_ON_WORKERS, 100);
        probe_arm_on(&scene, &jobs[i], TKW_BY_SUBMIT, 100);
        if (i == 0)
            probe_arm_on(&scene, &driver, TKW_ON_DRIVER, 100);
    }
    tkw_manual_clock_set(scene.manual, 1100);
    gate_await(&slow);
    for (size_t i = 0; i < 2; i++)
        probe_await(&workers[i], 1);
    while (tray_count(&tray) < 2)
        sched_yield();
    assert_int_equal(tray_run_all(&tray), 2);
    assert_int_equal(ran(&driver), 0);
    gate_open(&slow);
    scene_close(&scene);
    gate_done(&slow);
}

/* The same for what comes due while it is in its callback. */
static void a_slow_driver_delays_no_others_that_come_due(void **state)
{
    (void)state;
    static struct tray tray;
    struct scene scene;
    struct gate slow;
    struct probe driver = {.act = gate_hold, .gate = &slow};
    struct probe worker = {0}, job = {0}, same = {0};
    tray_init(&tray, SIZE_MAX);
    scene_open(&scene, 1000, hands(1, 0, &tray));
    gate_init(&slow);
    probe_arm_on(&scene, &worker, TKW_ON_WORKERS, 100);
    probe_arm_on(&scene, &job, TKW_BY_SUBMIT, 100);
    probe_arm_on(&scene, &same, TKW_ON_DRIVER, 100);
    probe_arm_on(&scene, &driver, TKW_ON_DRIVER, 0);
    gate_await(&slow);
    tkw_manual_clock_set(scene.manual, 1100);
    probe_await(&worker, 1);
    while (tray_run_all(&tray) == 0)
        sched_yield();
    assert_int_equal(ran(&driver) + ran(&same), 0);
    gate_open(&slow);
    probe_await(&same, 1);
    scene_close(&scene);
    gate_done(&slow);
}

#define WORKERS 2
#define QUEUE 3
#define REST 40

/* Workers and queue are full, by gates: the rest is pending, and the driver's
   timers and submit's go on at once.  Opened, all run, each once. */
static void a_full_queue_holds_up_nobody_else_and_loses_nothing(void **state)
{
    (void)state;
    static struct tray tray;
    static struct probe waiting[QUEUE + REST];
    struct scene scene;
    struct gate gate;
    struct probe held[WORKERS] = {{0}}, driver[20] = {{0}}, job[20] = {{0}};
    memset(waiting, 0, sizeof waiting);
    tray_init(&tray, SIZE_MAX);
    scene_open(&scene, 1000, hands(WORKERS, QUEUE, &tray));
    workers_hold(&scene, held, &gate, WORKERS);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        probe_arm_on(&scene, &waiting[i], TKW_ON_WORKERS, 10 * (i % 3));
    scene_go(&scene, 1100);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        assert_state(&scene, waiting[i].handle, TKW_READY);
    for (size_t i = 0; i < 20; i++) {
        probe_arm_on(&scene, &driver[i], TKW_ON_DRIVER, i < 10 ? 0 : 10);
        probe_arm_on(&scene, &job[i], TKW_BY_SUBMIT, i < 10 ? 0 : 10);
        scene_go(&scene, 1100 + 20 * (i + 1));
        probe_await(&driver[i], 1);
        assert_int_equal(tray_run_all(&tray), 1);
    }
    /* L7.  With nothing but these nobody wakes up. */
    uint64_t wakeups = tkw_service_read_stats(scene.service).wakeups;
    for (uint64_t now = 2000; now < 2200; now += 10)
        scene_go(&scene, now);
    assert_int_equal(tkw_service_read_stats(scene.service).wakeups, wakeups);
    assert_int_equal(tkw_service_count(scene.service), QUEUE + REST);
    assert_conserved(&scene);
    assert_int_equal(atomic_load(&scene.turns), WORKERS + 40);
    /* One in the queue and one that found no room. */
    assert_int_equal(tkw_service_cancel(scene.service, waiting[0].handle), 1);
    assert_int_equal(
        tkw_service_cancel(scene.service, waiting[QUEUE + REST - 1].handle), 1);
    workers_release(&gate, WORKERS);
    for (size_t i = 1; i < QUEUE + REST - 1; i++)
        probe_await(&waiting[i], 1);
    scene_close(&scene);
    for (size_t i = 0; i < QUEUE + REST; i++)
        assert_int_equal(ran(&waiting[i]) + dropped(&waiting[i]), 1);
    assert_int_equal(dropped(&waiting[0]), 1);
    assert_int_equal(dropped(&waiting[QUEUE + REST - 1]), 1);
    gate_done(&gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_runs_where_it_says),
        cmocka_unit_test(a_timer_that_does_not_say_runs_where_the_service_says),
        cmocka_unit_test(executors_that_are_not_there_are_refused),
        cmocka_unit_test(absurd_numbers_are_an_error_or_work),
        cmocka_unit_test(a_service_has_as_many_threads_as_configured),
        cmocka_unit_test(workers_take_no_signals),
        cmocka_unit_test(a_slow_driver_delays_nothing_that_was_handed_over),
        cmocka_unit_test(a_slow_driver_delays_no_others_of_its_tick),
        cmocka_unit_test(a_slow_driver_delays_no_others_that_come_due),
        cmocka_unit_test(a_full_queue_holds_up_nobody_else_and_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
