/*
 * service/refuse_test.c - an executor of the user's that has no room: what it
 * refuses is asked for again, nothing is lost (L13), and nobody else waits.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"

static struct tray tray;

static void scene_open_tray(struct scene *scene, size_t room)
{
    tray_init(&tray, room);
    scene_open(scene, 1000, hands(0, 0, &tray));
}

/* Refused, it stays pending; it is asked again when a job has been run: no time
   passes.  They come in order, and none is lost. */
static void what_is_refused_comes_again_when_a_job_was_run(void **state)
{
    (void)state;
    static struct probe probes[60];
    struct scene scene;
    memset(probes, 0, sizeof probes);
    scene_open_tray(&scene, 3);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_arm(&scene, &probes[i], 10 * (i % 3));
    scene_go(&scene, 1100);
    for (size_t left = COUNT_OF(probes); left > 0; left--) {
        struct tkw_job job = {0};
        assert_int_equal(tray_count(&tray), left < 3 ? left : 3);
        assert_int_equal(tkw_service_count(scene.service), left);
        assert_conserved(&scene);
        assert_true(tray_take(&tray, &job));
        assert_true(tkw_job_run(&job));
        scene_rest(&scene);
    }
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        assert_int_equal(probes[i].place, 1 + i % 3 * 20 + i / 3);
    scene_close(&scene);
}

/* Refuses, and before it has said so the job that took the room has been run:
   here in the same thread, elsewhere in that of an executor. */
static int refuse_too_late(void *context, const struct tkw_job *job)
{
    int answer = tray_submit(context, job);
    if (answer != 0)
        tray_run_all(context);
    return answer;
}

/* That job is the last that is run, so the question must not wait for another:
   all come, and no time passes. */
static void what_is_refused_while_a_job_ends_comes_again_at_once(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[9] = {{0}};
    struct tkw_service_config config = hands(0, 0, &tray);
    config.submit = refuse_too_late;
    tray_init(&tray, 1);
    scene_open(&scene, 1000, config);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_arm(&scene, &probes[i], 10);
    scene_go(&scene, 1010);
    tray_run_all(&tray);
    scene_rest(&scene);
    tray_run_all(&tray);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        assert_int_equal(ran(&probes[i]), 1);
    scene_close(&scene);
}

/* No job is run, but there is room again: it is asked a tick later, and once a
   tick until then, whatever else is pending. */
static void what_is_refused_comes_again_a_tick_later(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[5] = {{0}};
    scene_open_tray(&scene, 0);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_arm(&scene, &probes[i], 0);
    scene_rest(&scene);
    for (uint64_t i = 1; i <= 5; i++) {
        size_t asked = tray_asked(&tray);
        assert_true(asked >= 1);
        have_patience();
        scene_rest(&scene);
        assert_int_equal(tray_asked(&tray), asked);
        assert_state(&scene, probes[0].handle, TKW_READY);
        scene_go(&scene, 1000 + 10 * i);
        assert_true(tray_asked(&tray) > asked);
    }
    tray_resize(&tray, 100);
    scene_go(&scene, 1060);
    assert_int_equal(tray_count(&tray), 5);
    assert_int_equal(tray_run_all(&tray), 5);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        assert_int_equal(probes[i].place, i + 1);
    scene_close(&scene);
}

/* Refused, and then cancelled or moved: it is not asked for any more, and with
   nothing else pending nobody wakes up. */
static void what_is_refused_and_cancelled_is_not_asked_for_again(void **state)
{
    (void)state;
    struct scene scene;
    struct probe cancelled[3] = {{0}}, moved = {0};
    scene_open_tray(&scene, 0);
    for (size_t i = 0; i < 3; i++)
        probe_arm(&scene, &cancelled[i], 0);
    probe_arm(&scene, &moved, 0);
    scene_rest(&scene);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(tkw_service_cancel(scene.service, cancelled[i].handle),
                         1);
    assert_int_equal(tkw_service_rearm(scene.service, moved.handle, 500), 1);
    scene_go(&scene, 1010); /* where it may see that there is nothing */
    size_t asked = tray_asked(&tray);
    uint64_t wakeups = tkw_service_read_stats(scene.service).wakeups;
    for (uint64_t now = 1020; now < 1500; now += 10)
        scene_go(&scene, now);
    assert_int_equal(tray_asked(&tray), asked);
    assert_int_equal(tkw_service_read_stats(scene.service).wakeups, wakeups);
    tray_resize(&tray, 100);
    scene_go(&scene, 1500);
    assert_int_equal(tray_count(&tray), 1);
    assert_int_equal(tray_run_all(&tray), 1);
    assert_int_equal(ran(&moved), 1);
    scene_close(&scene);
}

/* Anything but 0 is a refusal. */
static int refuse_oddly(void *context, const struct tkw_job *job)
{
    static const int answers[] = {-1, 1, INT32_MAX, INT32_MIN, 42};
    size_t *asked = context;
    if (*asked == COUNT_OF(answers))
        return tkw_job_run(job) ? 0 : 7;
    return answers[(*asked)++];
}

/* A submit that runs the job itself, on the driver, is as good as any. */
static void whatever_is_not_0_refuses_and_inline_is_fine(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    size_t asked = 0;
    struct tkw_service_config config = hands(0, 0, NULL);
    config.submit = refuse_oddly;
    config.submit_context = &asked;
    scene_open(&scene, 1000, config);
    probe_arm(&scene, &probe, 0);
    for (uint64_t i = 0; i <= 5; i++)
        scene_go(&scene, 1000 + 10 * i);
    assert_int_equal(ran(&probe), 1);
    scene_close(&scene);
    assert_int_equal(asked, 5);
    assert_int_equal(dropped(&probe), 0);
}

/* What a submit did in the service that it was asked by. */
struct user {
    struct probe other;
    struct probe armed;
    int cancel, arm, close;
    unsigned asked;
};

static int use_the_service(void *context, const struct tkw_job *job)
{
    struct user *user = context;
    user->asked++;
    user->cancel = tkw_service_cancel_sync(job->service, user->other.handle);
    user->arm = tkw_service_arm(job->service, NULL, HOUR,
                                probe_task(user->other.scene, &user->armed));
    user->close = tkw_service_close(job->service, NULL, NULL);
    tkw_service_stop(job->service);
    return -1;
}

/* It is called with no lock held, and may use the service as a callback may:
   also stop it, which does not wait for itself. */
static void submit_may_use_the_service(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    struct user user = {.asked = 0};
    struct tkw_service_config config = hands(0, 0, NULL);
    config.submit = use_the_service;
    config.submit_context = &user;
    scene_open(&scene, 1000, config);
    probe_arm(&scene, &user.other, HOUR);
    probe_arm(&scene, &probe, 100);
    tkw_manual_clock_set(scene.manual, 1100);
    while (tkw_service_rearm(scene.service, probe.handle, 0) != -ESHUTDOWN)
        sched_yield();
    tkw_service_stop(scene.service);
    assert_int_equal(user.cancel, 1);
    assert_int_equal(user.arm, 0);
    assert_int_equal(user.close, -EDEADLK);
    assert_int_equal(tkw_service_count(scene.service), 2);
    scene_close(&scene);
    assert_int_equal(user.asked, 1);
    assert_int_equal(dropped(&probe), 1);
    assert_int_equal(dropped(&user.other), 1);
    assert_int_equal(dropped(&user.armed), 1);
}

/* Refusing delays neither the driver's timers nor the workers'. */
static void refusing_delays_nobody_else(void **state)
{
    (void)state;
    struct scene scene;
    struct probe refused[10] = {{0}}, driver[10] = {{0}}, worker[10] = {{0}};
    tray_init(&tray, 0);
    scene_open(&scene, 1000, hands(1, 0, &tray));
    for (size_t i = 0; i < 10; i++) {
        probe_arm_on(&scene, &refused[i], TKW_BY_SUBMIT, 0);
        probe_arm_on(&scene, &driver[i], TKW_ON_DRIVER, 0);
        probe_arm_on(&scene, &worker[i], TKW_ON_WORKERS, 0);
        probe_await(&driver[i], 1);
        probe_await(&worker[i], 1);
    }
    assert_int_equal(tkw_service_count(scene.service), 10);
    tray_resize(&tray, 10);
    scene_go(&scene, 1010);
    assert_int_equal(tray_run_all(&tray), 10);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(ran(&refused[i]), 1);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused_comes_again_when_a_job_was_run),
        cmocka_unit_test(what_is_refused_while_a_job_ends_comes_again_at_once),
        cmocka_unit_test(what_is_refused_comes_again_a_tick_later),
        cmocka_unit_test(what_is_refused_and_cancelled_is_not_asked_for_again),
        cmocka_unit_test(whatever_is_not_0_refuses_and_inline_is_fine),
        cmocka_unit_test(submit_may_use_the_service),
        cmocka_unit_test(refusing_delays_nobody_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
