/*
 * service/executor_stop_test.c - stop and close (L12) with callbacks in workers
 * and in threads that run jobs; and many threads at once, where each arming has
 * one outcome (L3).
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"

static struct tray tray;

struct waiter {
    struct scene *scene;
    int answer;
    atomic_bool returned;
};

static void *stop_and_note(void *argument)
{
    struct waiter *waiter = argument;
    tkw_service_stop(waiter->scene->service);
    atomic_store(&waiter->returned, true);
    return NULL;
}

/* In whatever thread it runs: -EBUSY, and the waiting form waits. */
static void cancel_of_a_job_that_runs_is_busy_or_waits(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    struct runner runner = {.tray = &tray};
    struct canceller canceller = {.held = &held};
    tray_init(&tray, SIZE_MAX);
    scene_open(&scene, 1000, hands(0, 0, &tray));
    job_hold(&scene, &held, &gate, &runner);
    assert_state(&scene, held.handle, TKW_RUNNING);
    assert_int_equal(tkw_service_count(scene.service), 0);
    pthread_t thread = thread_start(cancel_and_see, &canceller);
    assert_int_equal(tkw_service_cancel(scene.service, held.handle), -EBUSY);
    have_patience();
    assert_false(atomic_load(&canceller.returned));
    gate_open(&gate);
    thread_join(thread);
    assert_true(atomic_load(&gate.passed));
    assert_int_equal(canceller.answer, 0);
    thread_join(runner.thread);
    assert_true(runner.did_run);
    scene_close(&scene);
    assert_int_equal(dropped(&held), 0);
    gate_done(&gate);
}

/* Until stop has begun: then moving is refused. */
static void await_stop(struct scene *scene, struct probe *pending)
{
    while (tkw_service_rearm(scene->service, pending->handle, HOUR) == 1)
        sched_yield();
}

/* From outside it waits for every callback, in whatever thread; what waits for
   them never starts, and is handed back. */
static void stop_waits_for_workers_and_for_jobs_that_run(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate, job_gate;
    struct probe held[2] = {{0}}, job = {0}, queued[9] = {{0}}, later = {0};
    struct runner runner = {.tray = &tray};
    struct waiter waiter = {.scene = &scene};
    tray_init(&tray, SIZE_MAX);
    scene_open(&scene, 1000, hands(2, 4, &tray));
    workers_hold(&scene, held, &gate, 2);
    job_hold(&scene, &job, &job_gate, &runner);
    probe_arm(&scene, &later, HOUR);
    for (size_t i = 0; i < COUNT_OF(queued); i++)
        probe_arm_on(&scene, &queued[i], TKW_ON_WORKERS, 0);
    scene_rest(&scene);
    pthread_t thread = thread_start(stop_and_note, &waiter);
    await_stop(&scene, &later);
    for (int i = 0; i < 3; i++) {
        have_patience();
        assert_false(atomic_load(&waiter.returned));
        gate_open(i < 2 ? &gate : &job_gate);
    }
    thread_join(thread);
    assert_true(ran(&held[0]) && ran(&held[1]) && ran(&job));
    thread_join(runner.thread);
    tkw_manual_clock_advance(scene.manual, 2 * HOUR);
    have_patience();
    assert_int_equal(atomic_load(&scene.turns), 3);
    assert_int_equal(tkw_service_count(scene.service), 10);
    assert_int_equal(tkw_service_cancel(scene.service, queued[0].handle), 1);
    scene_close(&scene);
    assert_int_equal(atomic_load(&scene.turns), 3);
    for (size_t i = 0; i < COUNT_OF(queued); i++)
        assert_int_equal(dropped(&queued[i]), 1);
    gate_done(&gate);
    gate_done(&job_gate);
}

static void stop_and_try_to_go_on(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    tkw_service_stop(service);
    tkw_service_stop(service);
    probe->answer = tkw_service_rearm(service, probe->firing.handle, 0);
    probe->second = tkw_service_close(service, NULL, NULL);
}

/* From a callback, wherever it runs, it does not wait: not for itself, nor for
   others that run.  Whoever is outside does. */
static void stop_from_any_callback_returns_at_once(void **state)
{
    (void)state;
    static const enum tkw_executor places[] = {TKW_ON_DRIVER, TKW_ON_WORKERS,
                                               TKW_BY_SUBMIT};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct scene scene;
        struct gate gate;
        struct probe held = {0}, queued = {0};
        struct probe last = {.act = stop_and_try_to_go_on};
        struct waiter waiter = {.scene = &scene};
        tray_init(&tray, SIZE_MAX);
        scene_open(&scene, 1000, hands(2, 0, &tray));
        workers_hold(&scene, &held, &gate, 1);
        probe_arm_on(&scene, &last, places[i], 0);
        while (ran(&last) == 0) {
            tray_run_all(&tray);
            sched_yield();
        }
        assert_int_equal(last.answer, -ESHUTDOWN);
        assert_int_equal(last.second, -EDEADLK);
        assert_int_equal(tkw_service_arm(scene.service, NULL, 0,
                                         probe_task(&scene, &queued)),
                         -ESHUTDOWN);
        pthread_t thread = thread_start(stop_and_note, &waiter);
        have_patience();
        assert_false(atomic_load(&waiter.returned));
        workers_release(&gate, 1);
        thread_join(thread);
        assert_int_equal(ran(&held), 1);
        scene_close(&scene);
        gate_done(&gate);
    }
}

/* A worker's callback stops the service: what waits behind it never starts. */
static void what_waits_behind_a_callback_that_stops_never_starts(void **state)
{
    (void)state;
    struct scene scene;
    struct probe last = {.act = stop_and_try_to_go_on}, behind[20] = {{0}};
    scene_open(&scene, 1000, hands(1, 5, NULL));
    probe_arm(&scene, &last, 10);
    for (size_t i = 0; i < COUNT_OF(behind); i++)
        probe_arm(&scene, &behind[i], 10);
    tkw_manual_clock_set(scene.manual, 1010);
    probe_await(&last, 1);
    tkw_service_stop(scene.service);
    assert_int_equal(atomic_load(&scene.turns), 1);
    assert_int_equal(tkw_service_count(scene.service), COUNT_OF(behind));
    scene_close(&scene);
    assert_int_equal(atomic_load(&scene.turns), 1);
    for (size_t i = 0; i < COUNT_OF(behind); i++)
        assert_int_equal(dropped(&behind[i]), 1);
}

struct backs {
    struct tkw_pending_timer rests[64];
    size_t count;
};

static void note_rest(void *context, const struct tkw_pending_timer *rest)
{
    struct backs *backs = context;
    if (backs->count < COUNT_OF(backs->rests))
        backs->rests[backs->count] = *rest;
    backs->count++;
}

static void assert_handed_back(const struct backs *backs, struct probe *probe,
                               uint64_t due)
{
    size_t found = 0;
    for (size_t i = 0; i < backs->count; i++)
        if (backs->rests[i].handle == probe->handle) {
            assert_int_equal(backs->rests[i].due_ns, due);
            assert_ptr_equal(backs->rests[i].task.argument, probe);
            found++;
        }
    assert_int_equal(found, 1);
    assert_int_equal(ran(probe), 0);
    assert_int_equal(dropped(probe), 1);
}

/* Exactly what never ran: what waited for workers, in the queue and before it,
   what submit refused, what it took and gave back. */
static void close_hands_back_what_executors_had(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct backs backs = {.count = 0};
    struct probe held = {0}, queued[9] = {{0}}, jobs[9] = {{0}};
    tray_init(&tray, 4);
    scene_open(&scene, 1000, hands(1, 3, &tray));
    workers_hold(&scene, &held, &gate, 1);
    for (size_t i = 0; i < 9; i++) {
        probe_arm_on(&scene, &queued[i], TKW_ON_WORKERS, 10 + i % 2);
        probe_arm_on(&scene, &jobs[i], TKW_BY_SUBMIT, i);
    }
    scene_go(&scene, 1100);
    assert_int_equal(tray_count(&tray), 4);
    struct waiter waiter = {.scene = &scene};
    pthread_t thread = thread_start(stop_and_note, &waiter);
    await_stop(&scene, &queued[8]);
    workers_release(&gate, 1);
    thread_join(thread);
    assert_int_equal(tkw_service_cancel(scene.service, queued[1].handle), 1);
    assert_int_equal(tkw_service_cancel(scene.service, jobs[1].handle), 1);
    for (struct tkw_job job; tray_take(&tray, &job);)
        if (job.due_ns % 2 != 0)
            tkw_job_return(&job);
        else
            assert_false(tkw_job_run(&job));
    assert_int_equal(tkw_service_count(scene.service), 16);
    assert_int_equal(tkw_service_close(scene.service, note_rest, &backs), 0);
    assert_int_equal(backs.count, 16);
    for (size_t i = 0; i < 9; i++) {
        if (i == 1)
            continue;
        if (i != 8) /* that one was moved, to see stop */
            assert_handed_back(&backs, &queued[i], 1010 + i % 2);
        assert_handed_back(&backs, &jobs[i], 1000 + i);
    }
    assert_int_equal(dropped(&queued[1]) + dropped(&jobs[1]), 2);
    assert_int_equal(atomic_load(&scene.turns), 1);
    tkw_manual_clock_close(scene.manual);
    account_done(&scene.account);
    gate_done(&gate);
}

static void *close_and_tell(void *argument)
{
    struct waiter *waiter = argument;
    waiter->answer = tkw_service_close(waiter->scene->service, NULL, NULL);
    atomic_store(&waiter->returned, true);
    return NULL;
}

/* Stop does not wait for jobs that nobody runs; close does, until each has been
   run, which does not call it any more, or returned; also those whose timer was
   cancelled or moved. */
static void close_waits_for_every_job_that_was_submitted(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[4] = {{0}};
    struct tkw_job jobs[4];
    struct waiter waiter = {.scene = &scene};
    tray_init(&tray, SIZE_MAX);
    scene_open(&scene, 1000, hands(0, 0, &tray));
    for (size_t i = 0; i < 4; i++)
        probe_arm(&scene, &probes[i], 0);
    scene_rest(&scene);
    for (size_t i = 0; i < 4; i++)
        assert_true(tray_take(&tray, &jobs[i]));
    assert_int_equal(tkw_service_cancel(scene.service, probes[2].handle), 1);
    assert_int_equal(tkw_service_rearm(scene.service, probes[3].handle, 500),
                     1);
    tkw_service_stop(scene.service);
    assert_int_equal(tkw_service_count(scene.service), 3);
    pthread_t thread = thread_start(close_and_tell, &waiter);
    for (size_t i = 0; i < 4; i++) {
        have_patience();
        assert_false(atomic_load(&waiter.returned));
        if (i == 1)
            tkw_job_return(&jobs[i]);
        else
            assert_false(tkw_job_run(&jobs[i]));
    }
    thread_join(thread);
    assert_int_equal(waiter.answer, 0);
    assert_int_equal(atomic_load(&scene.turns), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(dropped(&probes[i]), 1);
    tkw_manual_clock_close(scene.manual);
    account_done(&scene.account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancel_of_a_job_that_runs_is_busy_or_waits),
        cmocka_unit_test(stop_waits_for_workers_and_for_jobs_that_run),
        cmocka_unit_test(stop_from_any_callback_returns_at_once),
        cmocka_unit_test(what_waits_behind_a_callback_that_stops_never_starts),
        cmocka_unit_test(close_hands_back_what_executors_had),
        cmocka_unit_test(close_waits_for_every_job_that_was_submitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
