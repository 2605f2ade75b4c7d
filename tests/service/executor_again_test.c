/*
 * service/executor_again_test.c - timers that are armed again while their
 * callback is running elsewhere, by themselves or by others: none runs twice at
 * the same time, and each arming has one outcome (L3).
 */
#define _POSIX_C_SOURCE 200809L

#include "support/executor.h"

static struct tray tray;

/* Whether it is in its callback, in how many threads, and how often it is to
   arm itself again. */
struct again {
    atomic_int inside;
    atomic_uint collisions;
    atomic_uint runs;
    atomic_uint dropped;
    unsigned wanted;
    atomic_bool was_refused;
};

static void run_again(void *argument, const struct tkw_firing *firing)
{
    struct again *again = argument;
    if (atomic_fetch_add(&again->inside, 1) != 0)
        atomic_fetch_add(&again->collisions, 1);
    unsigned run = 1 + atomic_fetch_add(&again->runs, 1);
    if (run < again->wanted &&
        tkw_service_rearm(firing->service, firing->handle, 0) != 1)
        atomic_store(&again->was_refused, true);
    if (run % 16 == 0)
        sched_yield(); /* it is due by now, and may not start */
    atomic_fetch_sub(&again->inside, 1);
}

static void drop_again(void *argument)
{
    atomic_fetch_add(&((struct again *)argument)->dropped, 1);
}

/* Each arming has one outcome, and none starts while the one before runs. */
static void what_arms_itself_for_now_never_runs_twice_at_once(void **state)
{
    (void)state;
    struct again all[8];
    struct scene scene;
    memset(all, 0, sizeof all);
    scene_open(&scene, 1000, hands(4, 3, NULL));
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        all[i].wanted = 300;
        assert_int_equal(
            tkw_service_arm(scene.service, NULL, 0,
                            (struct tkw_task){run_again, &all[i], drop_again}),
            0);
    }
    for (size_t i = 0; i < COUNT_OF(all); i++)
        while (atomic_load(&all[i].runs) < 300)
            sched_yield();
    tkw_service_stop(scene.service);
    assert_int_equal(tkw_service_read_stats(scene.service).armed, 8 * 300);
    assert_int_equal(tkw_service_read_stats(scene.service).fired, 8 * 300);
    assert_int_equal(tkw_service_count(scene.service), 0);
    scene_close(&scene);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_int_equal(atomic_load(&all[i].runs), 300);
        assert_int_equal(atomic_load(&all[i].collisions), 0);
        assert_int_equal(atomic_load(&all[i].dropped), 0);
        assert_false(atomic_load(&all[i].was_refused));
    }
}

/* Armed again by another thread while it runs, and due before it has returned:
   it waits for its own end, not beside it, and holds up nobody. */
static void what_comes_due_while_it_runs_waits_for_its_end(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0}, other = {0};
    scene_open(&scene, 1000, hands(3, 0, NULL));
    workers_hold(&scene, &held, &gate, 1);
    assert_int_equal(tkw_service_rearm(scene.service, held.handle, 500), 1);
    assert_int_equal(tkw_service_rearm(scene.service, held.handle, 50), 1);
    assert_int_equal(tkw_service_count(scene.service), 1);
    scene_go(&scene, 1060);
    probe_arm(&scene, &other, 0);
    probe_await(&other, 1);
    have_patience();
    assert_int_equal(atomic_load(&scene.turns), 2);
    assert_state(&scene, held.handle, TKW_RUNNING);
    workers_release(&gate, 1);
    gate_await(&gate);
    assert_int_equal(ran(&held), 1);
    assert_int_equal(held.firing.due_ns, 1050);
    workers_release(&gate, 1);
    probe_await(&held, 2);
    scene_go(&scene, 9000);
    probe_await_end(&held);
    assert_int_equal(tkw_service_read_stats(scene.service).armed, 3);
    assert_int_equal(tkw_service_read_stats(scene.service).fired, 3);
    scene_close(&scene);
    assert_int_equal(ran(&held), 2);
    gate_done(&gate);
}

/* The same, and then moved away before its end: it is not early. */
static void what_came_due_while_it_runs_can_be_moved(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0};
    scene_open(&scene, 1000, hands(1, 0, NULL));
    workers_hold(&scene, &held, &gate, 1);
    assert_int_equal(tkw_service_rearm(scene.service, held.handle, 0), 1);
    scene_go(&scene, 1010);
    assert_int_equal(tkw_service_rearm(scene.service, held.handle, 490), 1);
    workers_release(&gate, 1);
    probe_await_end(&held);
    scene_go(&scene, 1499);
    worker_flush(&scene);
    assert_int_equal(ran(&held), 1);
    assert_state(&scene, held.handle, TKW_PENDING);
    scene_go(&scene, 1500);
    gate_await(&gate);
    workers_release(&gate, 1);
    scene_close(&scene);
    assert_int_equal(ran(&held), 2);
    gate_done(&gate);
}

/* The same, and cancelled before its end: it is dropped, once, afterwards. */
static void what_came_due_while_it_runs_can_be_cancelled(void **state)
{
    (void)state;
    for (uint64_t delay = 0; delay <= 100; delay += 100) {
        struct scene scene;
        struct gate gate;
        struct probe held = {0};
        scene_open(&scene, 1000, hands(2, 0, NULL));
        workers_hold(&scene, &held, &gate, 1);
        assert_int_equal(tkw_service_rearm(scene.service, held.handle, delay),
                         1);
        scene_go(&scene, 1050);
        assert_int_equal(tkw_service_cancel(scene.service, held.handle),
                         -EBUSY);
        assert_int_equal(tkw_service_count(scene.service), 0);
        assert_int_equal(dropped(&held), 0);
        workers_release(&gate, 1);
        while (dropped(&held) == 0)
            sched_yield();
        assert_int_equal(ran(&held), 1);
        scene_go(&scene, 2000);
        have_patience();
        scene_close(&scene);
        assert_int_equal(ran(&held), 1);
        assert_int_equal(dropped(&held), 1);
        gate_done(&gate);
    }
}

/* One that repeats, held on a worker for some of its periods: it does not run
   beside itself, nor drift, and is told what it missed.  Waiting for a worker
   it can be cancelled like any other. */
static void what_repeats_waits_for_its_end_and_does_not_drift(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {.act = gate_hold, .gate = &gate}, other = {0};
    struct tkw_plan plan = {
        .task = probe_task(&scene, &held), .when_ns = 100, .period_ns = 100};
    scene_open(&scene, 1000, hands(2, 0, NULL));
    gate_init(&gate);
    assert_int_equal(tkw_service_arm_plan(scene.service, &held.handle, &plan),
                     0);
    scene_go(&scene, 1100);
    gate_await(&gate);
    scene_go(&scene, 1450);
    probe_arm(&scene, &other, 0);
    probe_await(&other, 1);
    assert_int_equal(atomic_load(&scene.turns), 2);
    workers_release(&gate, 1);
    probe_await_end(&held);
    scene_go(&scene, 1499);
    assert_int_equal(atomic_load(&scene.turns), 2);
    scene_go(&scene, 1500);
    gate_await(&gate);
    assert_int_equal(held.firing.due_ns, 1500);
    assert_int_equal(held.firing.overruns, 3);
    workers_release(&gate, 1);
    probe_await_end(&held);
    gate_done(&gate);

    struct probe others[2] = {{0}};
    workers_hold(&scene, others, &gate, 2);
    scene_go(&scene, 1600);
    assert_state(&scene, held.handle, TKW_READY);
    assert_int_equal(tkw_service_cancel(scene.service, held.handle), 1);
    assert_int_equal(dropped(&held), 1);
    workers_release(&gate, 2);
    scene_close(&scene);
    assert_int_equal(ran(&held), 2);
    assert_int_equal(dropped(&held), 1);
    gate_done(&gate);
}

/* Armed again while its job runs, and due: no job of it runs beside, however
   eager they are; it runs when the callback has returned. */
static void a_job_that_comes_due_while_it_runs_waits_for_its_end(void **state)
{
    (void)state;
    struct scene scene;
    struct gate gate;
    struct probe held = {0}, other = {0};
    struct runner runner = {.tray = &tray};
    tray_init(&tray, SIZE_MAX);
    scene_open(&scene, 1000, hands(0, 0, &tray));
    job_hold(&scene, &held, &gate, &runner);
    assert_int_equal(tkw_service_rearm(scene.service, held.handle, 20), 1);
    probe_arm(&scene, &other, 20);
    for (uint64_t now = 1010; now <= 1060; now += 10) {
        scene_go(&scene, now);
        tray_run_all(&tray);
    }
    assert_int_equal(ran(&other), 1);
    assert_int_equal(atomic_load(&scene.turns), 2);
    assert_int_equal(tkw_service_count(scene.service), 1);
    held.act = NULL;
    gate_open(&gate);
    thread_join(runner.thread);
    for (uint64_t now = 1070; now <= 1090; now += 10) {
        scene_go(&scene, now);
        tray_run_all(&tray);
    }
    assert_int_equal(ran(&held), 2);
    assert_int_equal(held.firing.due_ns, 1020);
    scene_close(&scene);
    gate_done(&gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_arms_itself_for_now_never_runs_twice_at_once),
        cmocka_unit_test(what_comes_due_while_it_runs_waits_for_its_end),
        cmocka_unit_test(what_came_due_while_it_runs_can_be_moved),
        cmocka_unit_test(what_came_due_while_it_runs_can_be_cancelled),
        cmocka_unit_test(what_repeats_waits_for_its_end_and_does_not_drift),
        cmocka_unit_test(a_job_that_comes_due_while_it_runs_waits_for_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
