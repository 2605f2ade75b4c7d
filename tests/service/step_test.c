/*
 * service/step_test.c - clocks that step: a monotonic one that goes back is
 * taken to stand still, a wall clock is followed; never early by either.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/service.h"

struct journal {
    atomic_uint lines;
    atomic_bool was_empty;
};

static void write_line(void *context, const char *message)
{
    struct journal *journal = context;
    if (message == NULL || message[0] == '\0')
        atomic_store(&journal->was_empty, true);
    atomic_fetch_add(&journal->lines, 1);
}

/* Time stands still until the clock has caught up; new delays count from where
   it stands. */
static void a_monotonic_clock_that_steps_back_stands_still(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct journal journal = {0};
        struct probe old = {0}, new = {0}, zero = {0}, seen = {0};
        scene_open(&scene, 1000,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = 1,
                                               .driver = both[i],
                                               .log = write_line,
                                               .context = &journal});
        probe_arm(&scene, &old, 1100);
        probe_arm(&scene, &seen, 1000);
        assert_int_equal(scene_go(&scene, 2000), 1);
        assert_int_equal(tkw_service_now(scene.service), 2000);
        assert_int_equal(tkw_service_read_stats(scene.service).steps_back, 0);
        assert_int_equal(atomic_load(&journal.lines), 0);
        assert_int_equal(scene_go(&scene, 500), 0);
        assert_int_equal(tkw_service_now(scene.service), 2000);
        probe_arm(&scene, &new, 50);
        probe_arm(&scene, &zero, 0);
        scene_rest(&scene);
        assert_int_equal(ran(&zero), 1);
        assert_int_equal(scene_go(&scene, 1999), 0);
        assert_int_equal(tkw_service_now(scene.service), 2000);
        assert_int_equal(scene_go(&scene, 2049), 0);
        assert_int_equal(tkw_service_now(scene.service), 2049);
        assert_int_equal(scene_go(&scene, 2050), 1);
        assert_int_equal(ran(&new), 1);
        assert_int_equal(scene_go(&scene, 2099), 0);
        assert_int_equal(scene_go(&scene, 2100), 1);
        assert_true(tkw_service_read_stats(scene.service).steps_back >= 1);
        assert_true(atomic_load(&journal.lines) >= 1);
        assert_false(atomic_load(&journal.was_empty));
        scene_close(&scene);
    }
}

/* Whoever was told a time is not told an earlier one, though the driver slept
   and did not see it. */
static void a_time_of_a_monotonic_clock_stands(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open_tens(&scene, 1000, both[i]);
        scene_rest(&scene);
        tkw_manual_clock_set(scene.manual, 2000);
        assert_int_equal(tkw_service_now(scene.service), 2000);
        tkw_manual_clock_set(scene.manual, 500);
        assert_int_equal(tkw_service_now(scene.service), 2000);
        probe_arm(&scene, &probe, 50);
        assert_int_equal(scene_go(&scene, 2049), 0);
        assert_int_equal(scene_go(&scene, 2050), 1);
        scene_close(&scene);
    }
}

/* Each step that is seen is counted, and one that is not is not. */
static void steps_back_are_counted(void **state)
{
    (void)state;
    struct scene scene;
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    for (uint64_t i = 1; i <= 5; i++) {
        uint64_t before = tkw_service_read_stats(scene.service).steps_back;
        scene_go(&scene, 1000 + 1000 * i);
        tkw_service_now(scene.service);
        assert_int_equal(tkw_service_read_stats(scene.service).steps_back,
                         before);
        scene_go(&scene, 100);
        tkw_service_now(scene.service);
        assert_true(tkw_service_read_stats(scene.service).steps_back > before);
    }
    scene_close(&scene);
}

/* Without anyone to tell, a step is odd but harmless. */
static void a_step_back_needs_no_log(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open_tens(&scene, 1000, both[i]);
        scene_go(&scene, 3000);
        probe_arm(&scene, &probe, 100);
        scene_go(&scene, 0);
        assert_int_equal(scene_go(&scene, 3099), 0);
        assert_int_equal(scene_go(&scene, 3100), 1);
        scene_close(&scene);
    }
}

/* A submit that is its own executor. */
static int run_at_once(void *context, const struct tkw_job *job)
{
    (void)context;
    tkw_job_run(job);
    return 0;
}

/* Two shards, and a tick of 10. */
static void scene_open_tens_wall(struct scene *scene, uint64_t now,
                                 enum tkw_driver driver)
{
    scene_open_wall(scene, now,
                    (struct tkw_service_config){
                        .tick_ns = 10, .shards = 2, .driver = driver});
}

/* Set back, a wall clock takes its timers along: pending ones wait until their
   time has come again, new ones count from the new time. */
static void timers_follow_a_wall_clock_that_is_set_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe old = {0}, new = {0}, zero = {0}, at = {0};
        scene_open_tens_wall(&scene, 10000, both[i]);
        tkw_handle handle = probe_arm_at(&scene, &old, 20000);
        assert_int_equal(scene_go(&scene, 19000), 0);
        assert_int_equal(scene_go(&scene, 5000), 0);
        assert_int_equal(tkw_service_now(scene.service), 5000);
        struct tkw_outlook outlook;
        assert_int_equal(tkw_service_query(scene.service, handle, &outlook),
                         TKW_PENDING);
        assert_int_equal(outlook.due_ns, 20000);
        assert_int_equal(outlook.remaining_ns, 15000);
        probe_arm(&scene, &zero, 0);
        scene_rest(&scene);
        assert_int_equal(ran(&zero), 1);
        probe_arm(&scene, &new, 100);
        probe_arm_at(&scene, &at, 12000);
        assert_int_equal(scene_go(&scene, 5099), 0);
        assert_int_equal(scene_go(&scene, 5100), 1);
        assert_int_equal(ran(&new), 1);
        assert_int_equal(scene_go(&scene, 11999), 0);
        assert_int_equal(scene_go(&scene, 12000), 1);
        assert_int_equal(scene_go(&scene, 19999), 0);
        assert_int_equal(scene_go(&scene, 20000), 1);
        assert_int_equal(ran(&old), 1);
        scene_close(&scene);
    }
}

/* Set forward, all that is overdue fires, in order. */
static void all_overdue_fire_when_a_wall_clock_is_set_forward(void **state)
{
    (void)state;
    static struct probe probes[500];
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        memset(probes, 0, sizeof probes);
        scene_open_tens_wall(&scene, 1000, both[i]);
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            probe_arm_at(&scene, &probes[k], (k + 1) * TKW_SECOND);
        assert_int_equal(scene_go(&scene, 400 * TKW_SECOND), 400);
        for (size_t k = 0; k < 400; k++)
            assert_int_equal(probes[k].place, k + 1);
        scene_close(&scene);
    }
}

/* Back and forth across many deadlines: each fires once, and when the clock
   shows its time or later. */
static void a_wall_clock_that_wanders_fires_each_once(void **state)
{
    (void)state;
    static const uint64_t path[] = {1500, 900,  1800, 100,  2500, 2400,
                                    9000, 8000, 10,   9500, 20000};
    static struct probe probes[200];
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        uint64_t farthest = 1000;
        memset(probes, 0, sizeof probes);
        scene_open_tens_wall(&scene, 1000, both[i]);
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            probe_arm_at(&scene, &probes[k], 1000 + 50 * (k + 1));
        for (size_t p = 0; p < COUNT_OF(path); p++) {
            scene_go(&scene, path[p]);
            if (path[p] > farthest)
                farthest = path[p];
            for (size_t k = 0; k < COUNT_OF(probes); k++)
                assert_int_equal(ran(&probes[k]),
                                 1000 + 50 * (k + 1) <= farthest);
        }
        for (size_t k = 0; k < COUNT_OF(probes); k++)
            assert_true(probes[k].firing.now_ns >= probes[k].firing.due_ns);
        scene_close(&scene);
    }
}

/* Due but not yet called when the clock is set back: its time has to come
   again, or it would be early by the clock. */
static void what_was_due_waits_again_when_a_wall_clock_is_set_back(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {0}, second = {0}, sooner = {0};
    scene_open_tens_wall(&scene, 1000, TKW_DRIVER_NONE);
    probe_arm_at(&scene, &first, 1100);
    probe_arm_at(&scene, &second, 1100);
    tkw_manual_clock_set(scene.manual, 1100);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    assert_int_equal(scene_go(&scene, 500), 0);
    assert_state(&scene, second.handle, TKW_PENDING);
    probe_arm(&scene, &sooner, 10); /* and must not wait behind it */
    assert_int_equal(scene_go(&scene, 510), 1);
    assert_int_equal(ran(&sooner), 1);
    assert_int_equal(scene_go(&scene, 1099), 0);
    assert_int_equal(scene_go(&scene, 1100), 1);
    scene_close(&scene);
}

/* act(): set the clock back to 500, once, and be armed again for 100 later. */
static void set_back_and_arm_again(struct probe *probe)
{
    if (ran(probe) == 0)
        tkw_manual_clock_set(probe->scene->manual, 500);
    probe->answer =
        tkw_service_rearm(probe->scene->service, probe->firing.handle, 100);
}

/* The same while callbacks are running: what is due behind the one that sets
   the clock is not due any more, nor is what it arms. */
static void a_clock_set_back_by_a_callback_is_seen_by_the_next(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe first = {.act = set_back_and_arm_again}, others[300] = {0};
        scene_open_tens_wall(&scene, 1000, both[i]);
        probe_arm_at(&scene, &first, 1100);
        for (size_t k = 0; k < COUNT_OF(others); k++)
            probe_arm_at(&scene, &others[k], 1100 + k % 2 * 10);
        assert_int_equal(scene_go(&scene, 1150), 1);
        assert_int_equal(tkw_manual_clock_now(scene.manual), 500);
        assert_int_equal(scene_go(&scene, 599), 0);
        assert_int_equal(scene_go(&scene, 609), 1); /* ticks begin elsewhere */
        assert_int_equal(tkw_service_cancel(scene.service, first.handle), 1);
        assert_int_equal(scene_go(&scene, 1099), 0);
        assert_int_equal(scene_go(&scene, 1119), COUNT_OF(others));
        for (size_t k = 0; k < COUNT_OF(others); k++)
            assert_true(others[k].firing.now_ns >= others[k].firing.due_ns);
        scene_close(&scene);
    }
}

/* act(): set the clock back to `delay_ns`. */
static void set_back(struct probe *probe)
{
    tkw_manual_clock_set(probe->scene->manual, probe->delay_ns);
}

/* A step back over nothing that is due, as of a clock that jitters, holds
   nothing up. */
static void what_is_due_after_a_step_back_runs_at_once(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {.act = set_back, .delay_ns = 1140};
    struct probe others[20] = {0};
    scene_open_tens_wall(&scene, 1000, TKW_DRIVER_NONE);
    probe_arm_at(&scene, &first, 1100);
    for (size_t k = 0; k < COUNT_OF(others); k++)
        probe_arm_at(&scene, &others[k], 1100 + k % 2 * 10);
    tkw_manual_clock_set(scene.manual, 1150);
    assert_int_equal(tkw_service_run(scene.service, 0), 1 + COUNT_OF(others));
    scene_close(&scene);
}

/* What a budget has left is due, or not, by the clock as it is now: come at
   once, not when the clock shows what it did. */
static void what_a_budget_left_is_not_slept_over(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {.act = set_back, .delay_ns = 500}, second = {0};
    scene_open_tens_wall(&scene, 1000, TKW_DRIVER_NONE);
    int fd = tkw_service_fd(scene.service);
    probe_arm_at(&scene, &first, 50);
    probe_arm_at(&scene, &second, 100);
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    assert_true(tkw_service_next(scene.service) <= 500);
    assert_true(is_readable(fd));
    assert_int_equal(tkw_service_run(scene.service, 1), 1);
    assert_int_equal(ran(&second), 1);
    scene_close(&scene);
}

/* A submit that sets the clock back to 500 and refuses, the first time. */
struct refusal {
    struct scene *scene;
    unsigned asked;
};

static int refuse_once(void *context, const struct tkw_job *job)
{
    struct refusal *refusal = context;
    if (refusal->asked++ == 0) {
        tkw_manual_clock_set(refusal->scene->manual, 500);
        return -1;
    }
    tkw_job_run(job);
    return 0;
}

static void scene_open_refusing(struct scene *scene, struct refusal *refusal)
{
    *refusal = (struct refusal){.scene = scene};
    scene_open_wall(scene, 1000,
                    (struct tkw_service_config){.tick_ns = 10,
                                                .shards = 1,
                                                .driver = TKW_DRIVER_NONE,
                                                .workers = 1,
                                                .submit = refuse_once,
                                                .submit_context = refusal});
}

/* Refused, it is asked again a tick later, however far the clock was set back
   meanwhile. */
static void what_was_refused_is_not_slept_over(void **state)
{
    (void)state;
    struct scene scene;
    struct refusal refusal;
    struct probe probe = {0};
    scene_open_refusing(&scene, &refusal);
    probe_arm_at(&scene, &probe, 100);
    assert_int_equal(tkw_service_run(scene.service, 0), 0);
    assert_int_equal(refusal.asked, 1);
    assert_true(tkw_service_next(scene.service) <= 510);
    scene_go(&scene, 520);
    assert_int_equal(refusal.asked, 2);
    assert_int_equal(ran(&probe), 1);
    scene_close(&scene);
}

/* The clock is set back while a shard is far behind: its timers may be handed
   to workers, but wait for their time to come again. */
static void a_shard_that_is_behind_runs_nothing_early(void **state)
{
    (void)state;
    enum { MANY = 20000, FAR = 30000000 };
    struct scene scene;
    struct refusal refusal;
    struct probe probe = {0};
    static struct probe slow[MANY];
    memset(slow, 0, sizeof slow);
    scene_open_refusing(&scene, &refusal);
    for (size_t i = 0; i < MANY; i++) {
        struct tkw_plan plan = {.task = probe_task(&scene, &slow[i]),
                                .when_ns = FAR,
                                .is_time = true,
                                .executor = TKW_ON_WORKERS};
        assert_int_equal(tkw_service_arm_plan(scene.service, NULL, &plan), 0);
    }
    probe_arm_at(&scene, &probe, 1100);
    tkw_manual_clock_set(scene.manual, FAR);
    assert_true(tkw_service_run(scene.service, 0) >= 0);
    assert_int_equal(refusal.asked, 1);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(ran(&slow[i]), 0);
    assert_int_equal(tkw_service_count(scene.service), MANY + 1);
    scene_go(&scene, FAR - 10);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(ran(&slow[i]), 0);
    assert_int_equal(tkw_service_count(scene.service), MANY);
    scene_close(&scene);
}

/* A timer that is handed over after the clock was set back does not run. */
static void a_job_that_is_no_longer_due_does_not_run(void **state)
{
    (void)state;
    struct scene scene;
    struct probe first = {.act = set_back_and_arm_again}, second = {0};
    scene_open_wall(&scene, 1000,
                    (struct tkw_service_config){.tick_ns = 10,
                                                .shards = 1,
                                                .driver = TKW_DRIVER_NONE,
                                                .submit = run_at_once});
    probe_arm_at(&scene, &first, 1100);
    probe_arm_at(&scene, &second, 1110);
    tkw_manual_clock_set(scene.manual, 1150);
    assert_int_equal(tkw_service_run(scene.service, 0), 2); /* handed over */
    assert_int_equal(tkw_service_run(scene.service, 0), 0);
    assert_int_equal(ran(&second), 0);
    assert_int_equal(tkw_service_cancel(scene.service, first.handle), 1);
    assert_int_equal(scene_go(&scene, 1109), 0);
    assert_int_equal(scene_go(&scene, 1129), 1);
    scene_close(&scene);
}

static int keep_job(void *context, const struct tkw_job *job)
{
    *(struct tkw_job *)context = *job;
    return 0;
}

/* The clock is set back, and a job cancelled, while submit() has it: running it
   does not put it back into the pool. */
static void a_cancelled_job_stays_cancelled_after_a_step_back(void **state)
{
    (void)state;
    for (unsigned is_cancelled = 0; is_cancelled < 2; is_cancelled++) {
        struct scene scene;
        struct tkw_job job;
        struct probe probe = {0};
        scene_open_wall(&scene, 1000,
                        (struct tkw_service_config){.tick_ns = 10,
                                                    .shards = 1,
                                                    .driver = TKW_DRIVER_NONE,
                                                    .submit = keep_job,
                                                    .submit_context = &job});
        probe_arm_at(&scene, &probe, 1100);
        tkw_manual_clock_set(scene.manual, 1100);
        assert_int_equal(tkw_service_run(scene.service, 0), 1);
        tkw_manual_clock_set(scene.manual, 1050);
        if (is_cancelled)
            tkw_service_cancel(scene.service, probe.handle);
        assert_false(tkw_job_run(&job));
        assert_state(&scene, probe.handle,
                     is_cancelled ? TKW_CANCELLED : TKW_PENDING);
        assert_int_equal(tkw_service_run(scene.service, 0), 0);
        tkw_manual_clock_set(scene.manual, 1100);
        assert_int_equal(tkw_service_run(scene.service, 0), !is_cancelled);
        if (!is_cancelled)
            assert_true(tkw_job_run(&job));
        assert_int_equal(ran(&probe), !is_cancelled);
        scene_close(&scene);
    }
}

/* Armed after the clock was set back, before the driver has seen that it was:
   by the new time never early, and less than a tick late. */
static void arming_before_the_step_is_seen_is_on_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe after = {0}, at = {0}, old = {0}, seen = {0};
        scene_open_tens_wall(&scene, 1000, both[i]);
        probe_arm_at(&scene, &seen, 9000);
        probe_arm_at(&scene, &old, 9500);
        assert_int_equal(scene_go(&scene, 9000), 1);
        tkw_manual_clock_set(scene.manual, 500);
        probe_arm(&scene, &after, 100);
        probe_arm_at(&scene, &at, 8000);
        assert_int_equal(scene_go(&scene, 599), 0);
        assert_int_equal(scene_go(&scene, 609), 1);
        assert_int_equal(scene_go(&scene, 7999), 0);
        assert_int_equal(scene_go(&scene, 8009), 1);
        assert_int_equal(scene_go(&scene, 9499), 0);
        assert_int_equal(scene_go(&scene, 9509), 1);
        scene_close(&scene);
    }
}

/* Timers that were moved or cancelled around a step keep to that. */
static void moves_and_cancels_survive_a_wall_clock_set_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe moved = {0}, later = {0}, gone = {0}, never = {0};
        scene_open_tens_wall(&scene, 10000, both[i]);
        probe_arm_at(&scene, &moved, 11000);
        probe_arm_at(&scene, &later, 11000);
        probe_arm_at(&scene, &gone, 11000);
        probe_arm_at(&scene, &never, UINT64_MAX);
        tkw_service_postpone_at(scene.service, later.handle, 15000);
        tkw_service_cancel(scene.service, gone.handle);
        assert_int_equal(scene_go(&scene, 1000), 0);
        assert_int_equal(
            tkw_service_rearm_at(scene.service, moved.handle, 3000), 1);
        assert_int_equal(tkw_service_count(scene.service), 3);
        assert_int_equal(scene_go(&scene, 2999), 0);
        assert_int_equal(scene_go(&scene, 3000), 1);
        assert_int_equal(scene_go(&scene, 14999), 0);
        assert_int_equal(scene_go(&scene, 15000), 1);
        assert_int_equal(ran(&gone), 0);
        assert_int_equal(ran(&never), 0);
        scene_close(&scene);
    }
}

/* Set back to the beginning of its time, and asked when to come for what is due
   at once: that is now, not before all time. */
static void next_is_now_on_a_wall_clock_set_back_to_0(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens_wall(&scene, 10000, TKW_DRIVER_NONE);
    assert_int_equal(scene_go(&scene, 0), 0);
    probe_arm(&scene, &probe, 0);
    assert_int_equal(tkw_service_next(scene.service), 0);
    assert_int_equal(scene_rest(&scene), 1);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_monotonic_clock_that_steps_back_stands_still),
        cmocka_unit_test(a_time_of_a_monotonic_clock_stands),
        cmocka_unit_test(steps_back_are_counted),
        cmocka_unit_test(a_step_back_needs_no_log),
        cmocka_unit_test(timers_follow_a_wall_clock_that_is_set_back),
        cmocka_unit_test(all_overdue_fire_when_a_wall_clock_is_set_forward),
        cmocka_unit_test(a_wall_clock_that_wanders_fires_each_once),
        cmocka_unit_test(
            what_was_due_waits_again_when_a_wall_clock_is_set_back),
        cmocka_unit_test(a_clock_set_back_by_a_callback_is_seen_by_the_next),
        cmocka_unit_test(what_is_due_after_a_step_back_runs_at_once),
        cmocka_unit_test(what_a_budget_left_is_not_slept_over),
        cmocka_unit_test(what_was_refused_is_not_slept_over),
        cmocka_unit_test(a_shard_that_is_behind_runs_nothing_early),
        cmocka_unit_test(a_job_that_is_no_longer_due_does_not_run),
        cmocka_unit_test(a_cancelled_job_stays_cancelled_after_a_step_back),
        cmocka_unit_test(arming_before_the_step_is_seen_is_on_time),
        cmocka_unit_test(moves_and_cancels_survive_a_wall_clock_set_back),
        cmocka_unit_test(next_is_now_on_a_wall_clock_set_back_to_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
