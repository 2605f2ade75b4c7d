/*
 * service/loop_test.c - a service in an event loop of the user's: when to call
 * tkw_service_run(), as a time, as a timeout and as a descriptor; and what it
 * hands over when callbacks are for others.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"

#include <limits.h>
#include <poll.h>

#define LONG 20000 /* milliseconds that a test waits for what must come */

static int fd_of(struct scene *scene)
{
    int fd = tkw_service_fd(scene->service);
    assert_true(fd >= 0);
    return fd;
}

static int run(struct scene *scene, int budget)
{
    return tkw_service_run(scene->service, budget);
}

/* Not before it is due, whenever the descriptor was asked for; then until it
   has been run, and not after. */
static void the_descriptor_is_readable_when_something_is_due(void **state)
{
    (void)state;
    for (int asked = 0; asked < 3; asked++) {
        struct scene scene;
        struct probe probe = {0};
        int fd = -1;
        scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
        if (asked == 0) {
            fd = fd_of(&scene);
            assert_false(is_readable(fd));
        }
        probe_arm(&scene, &probe, 100);
        if (asked == 1)
            fd = fd_of(&scene);
        run(&scene, 0); /* hears of the new one, if that was needed */
        tkw_manual_clock_set(scene.manual, 1099);
        if (asked != 2)
            assert_false(is_readable(fd));
        tkw_manual_clock_set(scene.manual, 1100);
        if (asked == 2)
            fd = fd_of(&scene);
        assert_true(is_readable(fd));
        assert_true(is_readable(fd));
        assert_int_equal(fd_of(&scene), fd);
        assert_true(is_readable(fd));
        assert_int_equal(run(&scene, 0), 1);
        assert_false(is_readable(fd));
        tkw_manual_clock_advance(scene.manual, HOUR);
        assert_false(is_readable(fd));
        assert_int_equal(run(&scene, 0), 0);
        assert_false(is_readable(fd));
        scene_close(&scene);
    }
}

static void *arm_it(void *argument)
{
    struct probe *probe = argument;
    tkw_service_arm(probe->scene->service, &probe->handle, probe->delay_ns,
                    probe_task(probe->scene, probe));
    return NULL;
}

/* Another thread arms one that is earlier than all: whoever runs when the
   descriptor says so is not late for it. */
static void the_descriptor_tells_of_an_earlier_timer(void **state)
{
    (void)state;
    for (uint64_t delay = 0; delay <= 100; delay += 50) {
        struct scene scene;
        struct probe late = {0}, early = {.scene = &scene, .delay_ns = delay};
        scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
        int fd = fd_of(&scene);
        probe_arm(&scene, &late, 500);
        assert_int_equal(run(&scene, 0), 0);
        assert_false(is_readable(fd));
        pthread_t thread = thread_start(arm_it, &early);
        if (delay == 0)
            assert_true(is_readable_within(fd, LONG));
        thread_join(thread);
        if (is_readable(fd))
            assert_int_equal(run(&scene, 0), delay == 0);
        if (delay > 0) {
            tkw_manual_clock_set(scene.manual, 1000 + delay - 1);
            assert_false(is_readable(fd));
            tkw_manual_clock_set(scene.manual, 1000 + delay);
            assert_true(is_readable(fd));
            assert_int_equal(run(&scene, 0), 1);
        }
        assert_int_equal(ran(&early), 1);
        assert_false(is_readable(fd));
        tkw_manual_clock_set(scene.manual, 1500);
        assert_true(is_readable(fd));
        assert_int_equal(run(&scene, 0), 1);
        scene_close(&scene);
    }
}

/* What a budget has left is to be run at once. */
static void
the_descriptor_stays_readable_while_a_budget_leaves_some(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[7] = {{0}};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    int fd = fd_of(&scene);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        probe_arm(&scene, &probes[i], 10 * (i / 3));
    tkw_manual_clock_set(scene.manual, 1100);
    for (int left = 7; left > 0; left -= 2) {
        assert_true(is_readable(fd));
        assert_int_equal(tkw_service_poll_timeout(scene.service), 0);
        assert_int_equal(run(&scene, 2), left == 1 ? 1 : 2);
    }
    if (is_readable(fd)) /* the budget was exactly enough */
        assert_int_equal(run(&scene, 0), 0);
    assert_false(is_readable(fd));
    assert_int_equal(tkw_service_poll_timeout(scene.service), -1);
    scene_close(&scene);
}

static void arm_itself_twice(struct probe *probe)
{
    if (ran(probe) < 2)
        probe->answer =
            tkw_service_rearm(probe->scene->service, probe->firing.handle, 40);
}

/* What callbacks arm, and what is moved or cancelled, is known to it. */
static void the_descriptor_follows_what_callbacks_and_others_do(void **state)
{
    (void)state;
    struct scene scene;
    struct probe again = {.act = arm_itself_twice}, moved = {0}, gone = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    int fd = fd_of(&scene);
    probe_arm(&scene, &again, 10);
    for (uint64_t now = 1010; now <= 1090; now += 40) {
        tkw_manual_clock_set(scene.manual, now - 1);
        assert_false(is_readable(fd));
        tkw_manual_clock_set(scene.manual, now);
        assert_true(is_readable(fd));
        assert_int_equal(run(&scene, 0), 1);
        assert_false(is_readable(fd));
    }
    probe_arm(&scene, &moved, 50);
    probe_arm(&scene, &gone, 60);
    assert_int_equal(tkw_service_rearm(scene.service, moved.handle, 90), 1);
    assert_int_equal(tkw_service_cancel(scene.service, gone.handle), 1);
    for (uint64_t now = 1090; now < 1180; now += 10) {
        tkw_manual_clock_set(scene.manual, now);
        assert_int_equal(run(&scene, 0), 0);
        assert_false(is_readable(fd));
    }
    tkw_manual_clock_set(scene.manual, 1180);
    assert_true(is_readable(fd));
    assert_int_equal(run(&scene, 0), 1);
    scene_close(&scene);
}

/* Stopped, there is nothing more to run, whatever is due. */
static void the_descriptor_rests_after_stop(void **state)
{
    (void)state;
    struct scene scene;
    struct probe due = {0}, later = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    int fd = fd_of(&scene);
    probe_arm(&scene, &due, 0);
    probe_arm(&scene, &later, 100);
    tkw_service_stop(scene.service);
    tkw_manual_clock_set(scene.manual, 2000);
    assert_int_equal(run(&scene, 0), 0);
    assert_false(is_readable(fd));
    assert_int_equal(tkw_service_poll_timeout(scene.service), -1);
    scene_close(&scene);
}

/* Milliseconds, rounded up; 0 if due; -1 if never; as many as fit. */
static void the_timeout_is_rounded_up(void **state)
{
    (void)state;
    static const struct {
        uint64_t delay;
        int timeout;
    } cases[] = {
        {0, 0},
        {1, 1},
        {TKW_MILLISECOND - 1, 1},
        {TKW_MILLISECOND, 1},
        {TKW_MILLISECOND + 1, 2},
        {100 * TKW_MILLISECOND, 100},
        {100 * 365 * 24 * HOUR, INT_MAX},
        {UINT64_MAX / 2, INT_MAX},
        {UINT64_MAX - 1, -1}, /* the sum is beyond the end of time */
        {UINT64_MAX, -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open(&scene, 5 * TKW_MILLISECOND,
                   (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
        assert_int_equal(tkw_service_poll_timeout(scene.service), -1);
        probe_arm(&scene, &probe, cases[i].delay);
        assert_int_equal(tkw_service_poll_timeout(scene.service),
                         cases[i].timeout);
        if (cases[i].timeout == 100) {
            tkw_manual_clock_advance(scene.manual, 1);
            assert_int_equal(tkw_service_poll_timeout(scene.service), 100);
            tkw_manual_clock_advance(scene.manual, 99 * TKW_MILLISECOND);
            assert_int_equal(tkw_service_poll_timeout(scene.service), 1);
            tkw_manual_clock_advance(scene.manual, 2 * TKW_MILLISECOND);
            assert_int_equal(tkw_service_poll_timeout(scene.service), 0);
        }
        scene_close(&scene);
    }
}

/* However far: it is `next`, in milliseconds, and never after the timer. */
static void the_timeout_agrees_with_next(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 63; bit++) {
        struct scene scene;
        struct probe probe = {0};
        uint64_t now = 12345, due = now + (UINT64_C(1) << bit);
        scene_open_tens(&scene, now, TKW_DRIVER_NONE);
        probe_arm_at(&scene, &probe, due);
        for (unsigned turns = 0; ran(&probe) == 0; turns++) {
            uint64_t next = tkw_service_next(scene.service);
            uint64_t ms = next <= now ? 0 : (next - now + 999999) / 1000000;
            int timeout = tkw_service_poll_timeout(scene.service);
            assert_int_equal(timeout, ms < INT_MAX ? (int)ms : INT_MAX);
            assert_true(turns < 20000);
            now = next > now ? next : now;
            tkw_manual_clock_set(scene.manual, now);
            run(&scene, 0);
        }
        assert_true(now >= due && now < due + 10);
        scene_close(&scene);
    }
}

/* A loop in real time, by each clock: another thread arms; nothing is early,
   nothing is lost, and the loop does not spin. */
static void a_loop_in_real_time_runs_all_and_does_not_spin(void **state)
{
    (void)state;
    static const enum tkw_clock_kind kinds[] = {TKW_MONOTONIC, TKW_BOOTTIME,
                                                TKW_WALL};
    for (size_t i = 0; i < 2 * COUNT_OF(kinds); i++) {
        struct scene scene = {.driver = TKW_DRIVER_NONE};
        struct probe probes[12] = {{0}};
        unsigned wakes = 0;
        struct tkw_service_config config = {.driver = TKW_DRIVER_NONE,
                                            .clock_kind = kinds[i / 2]};
        bool has_fd = i % 2 == 0;
        assert_int_equal(tkw_service_open(&scene.service, &config), 0);
        int fd = has_fd ? fd_of(&scene) : -1;
        for (size_t k = 0; k < COUNT_OF(probes); k++) {
            probes[k].scene = &scene;
            probes[k].delay_ns = (12 - k) * 2 * TKW_MILLISECOND;
            pthread_t thread = thread_start(arm_it, &probes[k]);
            thread_join(thread);
        }
        while (atomic_load(&scene.turns) < COUNT_OF(probes)) {
            if (has_fd)
                assert_true(is_readable_within(fd, LONG));
            else
                poll(NULL, 0, tkw_service_poll_timeout(scene.service));
            assert_true(run(&scene, 0) >= 0);
            wakes++;
        }
        assert_true(wakes <= 4 * COUNT_OF(probes));
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            assert_true(probes[k].firing.now_ns >= probes[k].firing.due_ns);
        if (has_fd)
            assert_false(is_readable(fd));
        assert_int_equal(tkw_service_poll_timeout(scene.service), -1);
        assert_int_equal(tkw_service_close(scene.service, NULL, NULL), 0);
    }
}

/* run() calls what is for the driver, and hands over the rest; while there is
   no room it need not be called, and when there is it should be. */
static void run_hands_over_to_workers(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {.act = gate_hold, .gate = &gate};
    struct probe queued[6] = {{0}}, driver = {0};
    struct tkw_service_config config = hands(1, 2, NULL);
    config.driver = TKW_DRIVER_NONE;
    scene_open(&scene, 1000, config);
    gate_init(&gate);
    int fd = fd_of(&scene);
    probe_arm(&scene, &held, 0);
    have_patience();
    assert_int_equal(atomic_load(&scene.turns), 0);
    assert_true(run(&scene, 0) >= 0);
    gate_await(&gate);
    for (size_t i = 0; i < COUNT_OF(queued); i++)
        probe_arm(&scene, &queued[i], 0);
    probe_arm_on(&scene, &driver, TKW_ON_DRIVER, 0);
    assert_true(is_readable(fd));
    assert_true(run(&scene, 0) >= 1);
    assert_int_equal(ran(&driver), 1);
    assert_false(is_readable(fd));
    assert_int_equal(tkw_service_count(scene.service), COUNT_OF(queued));
    gate_open(&gate);
    for (size_t i = 0; i < COUNT_OF(queued); i++)
        while (ran(&queued[i]) == 0)
            if (is_readable_within(fd, 1))
                assert_true(run(&scene, 0) >= 0);
    for (size_t i = 1; i < COUNT_OF(queued); i++)
        assert_true(queued[i - 1].place < queued[i].place);
    scene_close(&scene);
    gate_done(&gate);
}

/* A submit that refuses: again a tick later, or when a job has been run. */
static void run_submits_again_what_was_refused(void **state)
{
    (void)state;
    static struct tray tray;
    struct scene scene;
    struct probe probes[3] = {{0}};
    struct tkw_service_config config = hands(0, 0, &tray);
    config.driver = TKW_DRIVER_NONE;
    tray_init(&tray, 0);
    scene_open(&scene, 1000, config);
    int fd = fd_of(&scene);
    for (size_t i = 0; i < 3; i++)
        probe_arm(&scene, &probes[i], 0);
    run(&scene, 0);
    assert_false(is_readable(fd));
    tray_resize(&tray, 1);
    tkw_manual_clock_set(scene.manual, 1009);
    assert_false(is_readable(fd));
    tkw_manual_clock_set(scene.manual, 1010);
    for (int i = 0; i < 3; i++) {
        assert_true(is_readable_within(fd, LONG));
        assert_true(tkw_service_next(scene.service) <= 1010);
        run(&scene, 0);
        assert_int_equal(tray_count(&tray), 1);
        assert_false(is_readable(fd));
        assert_int_equal(tray_run_all(&tray), 1);
        assert_int_equal(probes[i].place, i + 1);
    }
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_descriptor_is_readable_when_something_is_due),
        cmocka_unit_test(the_descriptor_tells_of_an_earlier_timer),
        cmocka_unit_test(
            the_descriptor_stays_readable_while_a_budget_leaves_some),
        cmocka_unit_test(the_descriptor_follows_what_callbacks_and_others_do),
        cmocka_unit_test(the_descriptor_rests_after_stop),
        cmocka_unit_test(the_timeout_is_rounded_up),
        cmocka_unit_test(the_timeout_agrees_with_next),
        cmocka_unit_test(a_loop_in_real_time_runs_all_and_does_not_spin),
        cmocka_unit_test(run_hands_over_to_workers),
        cmocka_unit_test(run_submits_again_what_was_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
