/*
 * service/plan_test.c - plans: delays and times, slack that gathers, jitter
 * that spreads, and plans that are refused.
 */
#define _POSIX_C_SOURCE 200809L

#include "plans.h"

/* A plan of nothing but a task and a time is what arm and arm_at do. */
static void a_plain_plan_is_like_arm(void **state)
{
    (void)state;
    static const struct {
        uint64_t when;
        bool is_time;
        uint64_t due;
    } cases[] = {{100, false, 1100},
                 {105, false, 1105},
                 {1100, true, 1100},
                 {UINT64_MAX, false, UINT64_MAX},
                 {UINT64_MAX - 500, false, UINT64_MAX},
                 {UINT64_MAX, true, UINT64_MAX}};
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(cases); i++) {
        struct scene scene;
        struct probe probe = {0}, past = {0};
        uint64_t due = cases[i / 2].due;
        scene_open_tens(&scene, 1000, both[i % 2]);
        arm_plan(&scene, &probe,
                 (struct tkw_plan){.when_ns = cases[i / 2].when,
                                   .is_time = cases[i / 2].is_time});
        assert_int_equal(due_of(&scene, probe.handle), due);
        arm_plan(&scene, &past,
                 (struct tkw_plan){.when_ns = 7, .is_time = true});
        scene_rest(&scene);
        assert_int_equal(ran(&past), 1);
        assert_int_equal(past.firing.now_ns, 1000);
        assert_int_equal(past.firing.overruns, 0);
        if (due == UINT64_MAX) {
            assert_int_equal(scene_go(&scene, 100 * HOUR), 0);
        } else {
            assert_int_equal(scene_go(&scene, due - 1), 0);
            assert_int_equal(scene_go(&scene, due + 9), 1);
            assert_int_equal(probe.firing.due_ns, due);
            assert_state(&scene, probe.handle, TKW_DONE);
        }
        assert_int_equal(dropped(&probe), 0);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), due == UINT64_MAX);
    }
}

/* Where to store the handle need not be said. */
static void a_plan_can_be_armed_without_a_handle(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    struct tkw_plan plan = {.task = probe_task(&scene, &probe), .when_ns = 50};
    assert_int_equal(tkw_service_arm_plan(scene.service, NULL, &plan), 0);
    plan.period_ns = 50;
    assert_int_equal(tkw_service_arm_plan(scene.service, NULL, &plan), 0);
    assert_int_equal(scene_go(&scene, 50), 2);
    assert_int_equal(scene_go(&scene, 100), 1);
    scene_close(&scene);
}

static uint64_t never_again(void *argument, uint64_t due_ns, uint64_t now_ns)
{
    (void)argument;
    (void)due_ns;
    (void)now_ns;
    return UINT64_MAX;
}

static int refused_submit(void *context, const struct tkw_job *job)
{
    (void)context;
    (void)job;
    return 1;
}

static void assert_refused(struct scene *scene, struct tkw_plan plan)
{
    struct tkw_owner owner = {{0}};
    tkw_handle handle = 77;
    struct tkw_service_stats before = tkw_service_read_stats(scene->service);
    plan.owner = &owner;
    assert_int_equal(tkw_service_arm_plan(scene->service, &handle, &plan),
                     -EINVAL);
    assert_int_equal(tkw_service_arm_many(scene->service, &handle, &plan, 1),
                     -EINVAL);
    struct tkw_service_stats after = tkw_service_read_stats(scene->service);
    assert_int_equal(handle, 77);
    assert_memory_equal(&owner, &(struct tkw_owner){{0}}, sizeof owner);
    assert_int_equal(tkw_service_cancel_owner(scene->service, &owner), 0);
    assert_int_equal(after.armed, before.armed);
    assert_int_equal(after.pending, before.pending);
}

/* No callback, contradictions, unknown numbers, executors that are not there:
   -EINVAL, and nothing has changed. */
static void bad_plans_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        struct probe probe = {0};
        scene_open_tens(&scene, 0, both[i]);
        struct tkw_plan good = {.task = probe_task(&scene, &probe),
                                .when_ns = 100};
        struct tkw_plan bad = good;
        bad.task.callback = NULL;
        assert_refused(&scene, bad);
        bad = good;
        bad.period_ns = 100;
        bad.next = never_again;
        assert_refused(&scene, bad);
        bad = good;
        bad.missed = TKW_BURST; /* of what period? */
        assert_refused(&scene, bad);
        for (size_t k = 0; k < COUNT_OF(bad.reserved); k++) {
            bad = good;
            bad.reserved[k] = 1;
            assert_refused(&scene, bad);
        }
        for (int number = -1; number <= 1000; number += 7) {
            bad = good;
            bad.executor = (enum tkw_executor)number;
            if (number != TKW_ANYWHERE && number != TKW_ON_DRIVER)
                assert_refused(&scene, bad); /* workers, submit: not here */
            bad = good;
            bad.period_ns = 100;
            bad.missed = (enum tkw_missed)number;
            if (number < TKW_SKIP || number > TKW_DELAY)
                assert_refused(&scene, bad);
        }
        bad = good;
        bad.executor = TKW_ON_WORKERS;
        assert_refused(&scene, bad);
        bad.executor = TKW_BY_SUBMIT;
        assert_refused(&scene, bad);
        good.executor = TKW_ON_DRIVER;
        assert_int_equal(tkw_service_arm_plan(scene.service, NULL, &good), 0);
        assert_int_equal(scene_go(&scene, 100), 1);
        scene_close(&scene);
        assert_int_equal(dropped(&probe), 0);
    }
}

/* One that has the other executor does not have both. */
static void an_executor_must_be_there(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open(&scene, 0, (struct tkw_service_config){.workers = 1});
    struct tkw_plan plan = {.task = probe_task(&scene, &probe),
                            .when_ns = 100,
                            .executor = TKW_BY_SUBMIT};
    assert_refused(&scene, plan);
    scene_close(&scene);
    scene_open(&scene, 0,
               (struct tkw_service_config){.submit = refused_submit});
    plan.executor = TKW_ON_WORKERS;
    assert_refused(&scene, plan);
    scene_close(&scene);
}

#define LAZY 1000
#define MS TKW_MILLISECOND

/* Never early, never later than asked for and allowed, and far fewer ticks in
   which anything happens: 1,000 over a second, each may be 100 ms later. */
static void slack_gathers_timers(void **state)
{
    (void)state;
    static struct probe probes[LAZY];
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        struct scene scene;
        unsigned busy = 0;
        memset(probes, 0, sizeof probes);
        scene_open(&scene, 0, (struct tkw_service_config){.driver = both[i]});
        for (uint64_t k = 0; k < LAZY; k++)
            arm_plan(&scene, &probes[k],
                     (struct tkw_plan){.when_ns = 1000 * MS + k * MS + k * 7,
                                       .slack_ns = 100 * MS});
        scene_rest(&scene);
        uint64_t wakeups = tkw_service_read_stats(scene.service).wakeups;
        for (uint64_t now = 0; now <= 2200 * MS; now += MS)
            busy += scene_go(&scene, now) > 0;
        wakeups = tkw_service_read_stats(scene.service).wakeups - wakeups;
        for (uint64_t k = 0; k < LAZY; k++) {
            uint64_t asked = 1000 * MS + k * MS + k * 7;
            assert_int_equal(ran(&probes[k]), 1);
            assert_true(probes[k].firing.due_ns >= asked);
            assert_true(probes[k].firing.due_ns <= asked + 100 * MS);
            assert_true(probes[k].firing.now_ns >= probes[k].firing.due_ns);
            assert_true(probes[k].firing.now_ns <= asked + 101 * MS);
        }
        assert_true(busy >= 10);
        assert_true(busy <= 40);
        if (both[i] == TKW_DRIVER_THREAD)
            assert_true(wakeups <= 80);
        scene_close(&scene);
    }
}

/* Who does not care when is called with others who do not; never is never. */
static void all_slack_there_is_gathers_all(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probes[3] = {0};
    static const uint64_t when[] = {1234, 567890, UINT64_MAX};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    for (size_t i = 0; i < COUNT_OF(probes); i++)
        arm_plan(&scene, &probes[i],
                 (struct tkw_plan){.when_ns = when[i], .slack_ns = UINT64_MAX});
    uint64_t due = due_of(&scene, probes[0].handle);
    assert_true(due != UINT64_MAX);
    assert_int_equal(due_of(&scene, probes[1].handle), due);
    assert_int_equal(due_of(&scene, probes[2].handle), UINT64_MAX);
    scene_close(&scene);
    scene_open(
        &scene, 0,
        (struct tkw_service_config){.tick_ns = 1, .driver = TKW_DRIVER_NONE});
    arm_plan(&scene, &probes[0], (struct tkw_plan){.slack_ns = UINT64_MAX});
    struct tkw_outlook outlook = {.due_ns = 1};
    tkw_service_query(scene.service, probes[0].handle, &outlook);
    assert_int_equal(outlook.due_ns, 0);
    scene_close(&scene);
}

/* Whatever the slack, from less than a tick to all of time. */
static void slack_keeps_to_its_bounds(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    for (unsigned bit = 0; bit < 64; bit++) {
        for (uint64_t when = 1; when < UINT64_MAX / 8; when = when * 7 + 3) {
            uint64_t slack = (UINT64_C(1) << bit) - (when & 1);
            uint64_t asked = 1000 + when;
            uint64_t latest =
                slack > UINT64_MAX - asked ? UINT64_MAX : asked + slack;
            arm_plan(&scene, &probe,
                     (struct tkw_plan){.when_ns = when, .slack_ns = slack});
            uint64_t due = due_of(&scene, probe.handle);
            assert_true(due >= asked);
            assert_true(due <= latest);
            assert_int_equal(tkw_service_cancel(scene.service, probe.handle),
                             1);
        }
    }
    scene_close(&scene);
}

/* Slack and jitter are each call's own: nothing adds up. */
static void slack_and_jitter_do_not_make_it_drift(void **state)
{
    (void)state;
    static const struct tkw_plan plans[] = {
        {.slack_ns = 300},
        {.jitter_ns = 300},
        {.slack_ns = 200, .jitter_ns = 200}};
    for (size_t i = 0; i < COUNT_OF(both) * COUNT_OF(plans); i++) {
        struct scene scene;
        struct diary diary = {0};
        struct tkw_plan plan = plans[i / 2];
        uint64_t spread = plan.slack_ns + plan.jitter_ns, offsets = 0;
        plan.when_ns = 1000;
        plan.period_ns = 1000;
        scene_open_tens(&scene, 0, both[i % 2]);
        arm_diary(&scene, &diary, plan);
        for (uint64_t k = 1; k <= 1500; k++) {
            assert_int_equal(scene_go(&scene, k * 1000 - 1), 0);
            assert_int_equal(scene_go(&scene, k * 1000 + spread + 10), 1);
            uint64_t due = diary.probe.firing.due_ns;
            assert_true(due >= k * 1000);
            assert_true(due <= k * 1000 + spread);
            offsets |= due - k * 1000;
        }
        assert_int_equal(diary.overruns, 0);
        assert_int_equal(diary.early, 0);
        if (plan.jitter_ns != 0)
            assert_true(offsets > 63); /* another one each time */
        scene_close(&scene);
    }
}

#define CROWD 100000
#define BINS 100

/* rocketmq 8203, Netty 973, sidekiq 3012: 100,000 that are due at once are
   spread evenly over the time given, and none is early. */
static void jitter_spreads_those_that_are_due_at_once(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    unsigned bins[BINS] = {0}, steps = 0, most = 0;
    double badness = 0;
    scene_open(&scene, 0,
               (struct tkw_service_config){.driver = TKW_DRIVER_NONE});
    for (unsigned k = 0; k < CROWD; k++) {
        arm_plan(
            &scene, &probe,
            (struct tkw_plan){.when_ns = TKW_SECOND, .jitter_ns = TKW_SECOND});
        uint64_t due = due_of(&scene, probe.handle);
        assert_true(due >= TKW_SECOND);
        assert_true(due < 2 * TKW_SECOND);
        bins[(due - TKW_SECOND) / (TKW_SECOND / BINS)]++;
    }
    for (size_t k = 0; k < BINS; k++) {
        double off = (double)bins[k] - (double)CROWD / BINS;
        badness += off * off / ((double)CROWD / BINS);
    }
    assert_true(badness < 300); /* 99 is usual, with a deviation of 14 */
    assert_int_equal(scene_go(&scene, TKW_SECOND - 1), 0);
    for (uint64_t now = 1000 * MS; now <= 2000 * MS; now += MS) {
        unsigned step = scene_go(&scene, now);
        steps += step;
        most = step > most ? step : most;
    }
    assert_int_equal(steps, CROWD);
    assert_true(most < 250); /* 100 is usual, with a deviation of 10 */
    scene_close(&scene);
}

/* Jitter is below what was said: below 1 there is only 0. */
static void jitter_keeps_to_its_bounds(void **state)
{
    (void)state;
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    for (uint64_t jitter = 1; jitter <= 4; jitter++) {
        unsigned seen = 0;
        for (unsigned k = 0; k < 1000; k++) {
            arm_plan(&scene, &probe,
                     (struct tkw_plan){.when_ns = 100, .jitter_ns = jitter});
            uint64_t off = due_of(&scene, probe.handle) - 1100;
            assert_true(off < jitter);
            seen |= 1u << off;
        }
        assert_int_equal(seen, (1u << jitter) - 1); /* and each comes up */
    }
    scene_close(&scene);
}

/* Sums that are too large never come, and never come round. */
static void huge_jitter_and_slack_saturate(void **state)
{
    (void)state;
    static const uint64_t huge[] = {0, 1, UINT64_MAX / 2, UINT64_MAX - 1,
                                    UINT64_MAX};
    struct scene scene;
    struct probe probe = {0};
    scene_open_tens(&scene, 1000, TKW_DRIVER_NONE);
    for (size_t i = 0; i < 5 * 5 * 5 * 2; i++) {
        struct tkw_plan plan = {.when_ns = huge[i % 5],
                                .is_time = i >= 125,
                                .jitter_ns = huge[i / 5 % 5],
                                .slack_ns = huge[i / 25 % 5]};
        uint64_t asked = plan.is_time ? plan.when_ns : plan.when_ns + 1000;
        if (!plan.is_time && asked < plan.when_ns)
            asked = UINT64_MAX;
        arm_plan(&scene, &probe, plan);
        struct tkw_outlook outlook = {0};
        tkw_service_query(scene.service, probe.handle, &outlook);
        assert_true(outlook.due_ns >= asked);
        if (asked == UINT64_MAX)
            assert_int_equal(outlook.due_ns, UINT64_MAX);
        tkw_service_cancel(scene.service, probe.handle);
    }
    assert_int_equal(scene_go(&scene, HOUR), 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_plan_is_like_arm),
        cmocka_unit_test(a_plan_can_be_armed_without_a_handle),
        cmocka_unit_test(bad_plans_are_refused),
        cmocka_unit_test(an_executor_must_be_there),
        cmocka_unit_test(slack_gathers_timers),
        cmocka_unit_test(all_slack_there_is_gathers_all),
        cmocka_unit_test(slack_keeps_to_its_bounds),
        cmocka_unit_test(slack_and_jitter_do_not_make_it_drift),
        cmocka_unit_test(jitter_spreads_those_that_are_due_at_once),
        cmocka_unit_test(jitter_keeps_to_its_bounds),
        cmocka_unit_test(huge_jitter_and_slack_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
