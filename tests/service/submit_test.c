/*
 * service/submit_test.c - jobs for an executor of the user's: taken, refused,
 * run, returned; what is taken and not run has not started (L10).
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"

typedef int cancel_function(struct tkw_service *, tkw_handle);
static cancel_function *const ways[] = {tkw_service_cancel,
                                        tkw_service_cancel_sync};

static struct tray tray;

static void scene_open_tray(struct scene *scene, size_t room)
{
    tray_init(&tray, room);
    scene_open(scene, 1000, hands(0, 0, &tray));
}

/* A job comes when its time has come, not before, names its service and its
   time, and runs when it is run, in the thread that runs it. */
static void a_job_is_submitted_when_due_and_runs_when_run(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    struct tkw_job job = {0};
    scene_open_tray(&scene, SIZE_MAX);
    probe_arm(&scene, &probe, 95);
    scene_go(&scene, 1094);
    assert_int_equal(tray_asked(&tray), 0);
    assert_state(&scene, probe.handle, TKW_PENDING);
    scene_go(&scene, 1100);
    assert_int_equal(tray_asked(&tray), 1);
    assert_true(tray_take(&tray, &job));
    assert_ptr_equal(job.service, scene.service);
    assert_int_equal(job.due_ns, 1095);
    scene_go(&scene, 1500);
    assert_state(&scene, probe.handle, TKW_READY);
    assert_int_equal(tkw_service_count(scene.service), 1);
    assert_int_equal(ran(&probe), 0);
    struct tkw_job copy = job;
    memset(&job, 0xa5, sizeof job);
    assert_true(tkw_job_run(&copy));
    assert_int_equal(ran(&probe), 1);
    assert_int_equal(probe.firing.due_ns, 1095);
    assert_int_equal(probe.firing.now_ns, 1500);
    assert_int_equal(probe.firing.handle, probe.handle);
    assert_ptr_equal(probe.firing.service, scene.service);
    assert_state(&scene, probe.handle, TKW_DONE);
    assert_int_equal(tkw_service_count(scene.service), 0);
    assert_int_equal(tray_asked(&tray), 1);
    scene_close(&scene);
    assert_int_equal(dropped(&probe), 0);
}

/* 1: taken and not run has not started; its job then runs nothing, returned or
   run, also when the place of the timer is another's by now. */
static void cancel_of_what_was_taken_says_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(ways); i++) {
        struct scene scene;
        struct probe victim = {0}, others[50] = {{0}};
        struct tkw_job job = {0};
        scene_open_tray(&scene, SIZE_MAX);
        probe_arm(&scene, &victim, 0);
        scene_rest(&scene);
        assert_true(tray_take(&tray, &job));
        assert_int_equal(ways[i / 2](scene.service, victim.handle), 1);
        assert_int_equal(dropped(&victim), 1);
        assert_state(&scene, victim.handle, TKW_CANCELLED);
        for (size_t k = 0; k < COUNT_OF(others); k++)
            probe_arm(&scene, &others[k], 1000);
        if (i % 2 == 0)
            assert_false(tkw_job_run(&job));
        else
            tkw_job_return(&job);
        scene_go(&scene, 1500);
        assert_int_equal(tray_asked(&tray), 1);
        assert_int_equal(atomic_load(&scene.turns), 0);
        assert_int_equal(tkw_service_count(scene.service), 50);
        scene_go(&scene, 2000);
        assert_int_equal(tray_run_all(&tray), 50);
        for (size_t k = 0; k < COUNT_OF(others); k++)
            assert_int_equal(ran(&others[k]), 1);
        scene_close(&scene);
        assert_int_equal(dropped(&victim), 1);
        assert_int_equal(ran(&victim), 0);
    }
}

/* Moved, its old job runs nothing, whenever it is run: before the new time, or
   after that, before or after the new job. */
static void what_was_taken_can_be_moved_and_runs_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4 * 4; i++) {
        struct scene scene;
        struct probe moved = {0};
        struct tkw_job old = {0}, new = {0};
        unsigned when = i / 4;
        scene_open_tray(&scene, SIZE_MAX);
        probe_arm(&scene, &moved, 0);
        scene_rest(&scene);
        assert_true(tray_take(&tray, &old));
        assert_int_equal(move_to(&scene, moved.handle, i % 4, 1500), 1);
        assert_state(&scene, moved.handle, TKW_PENDING);
        if (when == 0)
            assert_false(tkw_job_run(&old));
        scene_go(&scene, 1499);
        assert_int_equal(tray_count(&tray), 0);
        scene_go(&scene, 1500);
        if (when == 1)
            assert_false(tkw_job_run(&old));
        assert_true(tray_take(&tray, &new));
        assert_int_equal(new.due_ns, 1500);
        if (when == 2)
            assert_false(tkw_job_run(&old));
        assert_true(tkw_job_run(&new));
        if (when == 3)
            assert_false(tkw_job_run(&old));
        scene_go(&scene, 9000);
        assert_int_equal(tray_asked(&tray), 2);
        assert_int_equal(ran(&moved), 1);
        assert_int_equal(moved.firing.due_ns, 1500);
        scene_close(&scene);
        assert_int_equal(dropped(&moved), 0);
    }
}

/* The old job of a timer that was moved is given back: that changes nothing for
   the timer, which is not submitted before its new time. */
static void returning_the_job_of_a_moved_timer_does_nothing(void **state)
{
    (void)state;
    struct scene scene;
    struct probe moved = {0};
    struct tkw_job old = {0};
    scene_open_tray(&scene, SIZE_MAX);
    probe_arm(&scene, &moved, 0);
    scene_rest(&scene);
    assert_true(tray_take(&tray, &old));
    assert_int_equal(tkw_service_rearm_at(scene.service, moved.handle, 1500),
                     1);
    tkw_job_return(&old);
    scene_go(&scene, 1499);
    assert_int_equal(tray_asked(&tray), 1);
    assert_state(&scene, moved.handle, TKW_PENDING);
    scene_go(&scene, 1500);
    assert_int_equal(tray_run_all(&tray), 1);
    scene_go(&scene, 2000);
    assert_int_equal(tray_asked(&tray), 2);
    scene_close(&scene);
}

/* Given back, it is pending, and is submitted again a tick later, for as long
   as it takes; it can be cancelled meanwhile. */
static void what_is_returned_is_submitted_again_a_tick_later(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0}, victim = {0};
    struct tkw_job job = {0};
    scene_open_tray(&scene, SIZE_MAX);
    probe_arm(&scene, &probe, 0);
    scene_rest(&scene);
    for (size_t i = 1; i <= 20; i++) {
        assert_true(tray_take(&tray, &job));
        assert_int_equal(job.due_ns, 1000);
        tkw_job_return(&job);
        scene_go(&scene, 1000 + 10 * i - 1);
        assert_int_equal(tray_asked(&tray), i);
        assert_waiting(&scene, probe.handle);
        assert_int_equal(tkw_service_count(scene.service), 1);
        scene_go(&scene, 1000 + 10 * i);
        assert_int_equal(tray_asked(&tray), i + 1);
    }
    assert_int_equal(tray_run_all(&tray), 1);
    assert_int_equal(ran(&probe), 1);
    assert_int_equal(probe.firing.due_ns, 1000);

    probe_arm(&scene, &victim, 0);
    scene_rest(&scene);
    assert_true(tray_take(&tray, &job));
    tkw_job_return(&job);
    assert_int_equal(tkw_service_cancel(scene.service, victim.handle), 1);
    scene_go(&scene, 5000);
    assert_int_equal(tray_count(&tray), 0);
    assert_int_equal(tkw_service_read_stats(scene.service).armed, 2);
    scene_close(&scene);
    assert_int_equal(dropped(&victim), 1);
}

/* A tick later is a tick after it was returned, however long that took. */
static void what_is_returned_late_comes_again_a_tick_later(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    struct tkw_job job = {0};
    scene_open_tray(&scene, SIZE_MAX);
    probe_arm(&scene, &probe, 0);
    scene_rest(&scene);
    assert_true(tray_take(&tray, &job));
    scene_go(&scene, 5000);
    tkw_job_return(&job);
    scene_rest(&scene);
    assert_int_equal(tray_asked(&tray), 1);
    scene_go(&scene, 5009);
    assert_int_equal(tray_asked(&tray), 1);
    scene_go(&scene, 5010);
    assert_int_equal(tray_asked(&tray), 2);
    assert_int_equal(tray_run_all(&tray), 1);
    scene_close(&scene);
}

static void run_jobs(struct probe *probe)
{
    probe->answer = (int)tray_run_all(&tray);
}

static void ask_in_a_callback(struct probe *probe)
{
    struct tkw_service *service = probe->scene->service;
    probe->second = tkw_service_close(service, NULL, NULL);
    probe->answer = tkw_service_cancel_sync(service, probe->other->handle);
}

/* A callback may run jobs; they are callbacks within it, so what would wait for
   the outer one is an error. */
static void jobs_may_be_run_in_a_callback(void **state)
{
    (void)state;
    static const enum tkw_executor places[] = {TKW_ON_DRIVER, TKW_ON_WORKERS};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct scene scene;
        struct probe outer = {.act = run_jobs}, plain = {0};
        struct probe inner = {.act = ask_in_a_callback, .other = &outer};
        tray_init(&tray, SIZE_MAX);
        scene_open(&scene, 1000, hands(1, 0, &tray));
        probe_arm_on(&scene, &inner, TKW_BY_SUBMIT, 0);
        probe_arm_on(&scene, &plain, TKW_BY_SUBMIT, 0);
        scene_rest(&scene);
        probe_arm_on(&scene, &outer, places[i], 0);
        probe_await(&outer, 1);
        assert_int_equal(outer.answer, 2);
        assert_int_equal(inner.answer, -EDEADLK);
        assert_int_equal(inner.second, -EDEADLK);
        assert_int_equal(ran(&plain), 1);
        scene_close(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_submitted_when_due_and_runs_when_run),
        cmocka_unit_test(cancel_of_what_was_taken_says_1),
        cmocka_unit_test(what_was_taken_can_be_moved_and_runs_once),
        cmocka_unit_test(returning_the_job_of_a_moved_timer_does_nothing),
        cmocka_unit_test(what_is_returned_is_submitted_again_a_tick_later),
        cmocka_unit_test(what_is_returned_late_comes_again_a_tick_later),
        cmocka_unit_test(jobs_may_be_run_in_a_callback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
