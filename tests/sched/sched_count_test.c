/*
 * sched_count_test.c - the scheduler runs every schedule and each once: it is
 * known how many there are, and of how many steps.
 */
#include "sched_shared.h"

static unsigned own_points, other_points;

static void pass_points(void *count)
{
    for (unsigned i = 0; i < *(unsigned *)count; i++)
        SYNC_POINT();
}

static void two_of_some_points(void)
{
    unsigned other = sched_spawn(pass_points, &other_points);
    pass_points(&own_points);
    sched_join(other);
}

static uint64_t schedules_of_two(unsigned own, unsigned other, unsigned bound)
{
    struct sched_result result;

    own_points = own;
    other_points = other;
    assert_true(explore(two_of_some_points, bound, &result));
    assert_true(result.is_complete);
    /* Besides the points: starting, joining, and the end of the other. */
    assert_int_equal(result.longest, own + other + 3);
    assert_int_equal(result.step_count,
                     result.schedule_count * (own + other + 3));
    return result.schedule_count;
}

static uint64_t choose(uint64_t n, uint64_t k)
{
    uint64_t ways = 1;

    for (uint64_t i = 1; i <= k; i++)
        ways = ways * (n + 1 - i) / i;
    return k <= n ? ways : 0;
}

/*
 * Thread 0 starts thread 1 and passes n points, so it can be put aside at n + 1
 * places; at its join it blocks.  Thread 1 can at its m points, as long as 0 is
 * not blocked.  They are put aside in turn, 0 first.  With k preemptions in
 * all, 0 has ceil(k/2) of them and 1 has floor(k/2), at places that may be any:
 *
 *     C(n + 1, ceil(k/2)) * C(m, floor(k/2))
 *
 * So it is 1 for k = 0, n + 1 for k = 1, (n + 1) m for k = 2, and a bound of b
 * allows the sum from 0 to b.  With no bound that is each way to shuffle the
 * n + 1 pieces of 0 after the start and the m + 1 pieces of 1, C(n+m+2, m+1).
 */
static void all_schedules_are_run_once(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 5; n++)
        for (unsigned m = 0; m < 5; m++) {
            uint64_t expected = 0;

            for (unsigned bound = 0; bound < 12; bound++) {
                expected +=
                    choose(n + 1, (bound + 1) / 2) * choose(m, bound / 2);
                assert_int_equal(schedules_of_two(n, m, bound), expected);
            }
            assert_int_equal(expected, choose(n + m + 2, m + 1));
        }
    assert_int_equal(schedules_of_two(3, 4, 0), 1);
    assert_int_equal(schedules_of_two(3, 4, 1), 5);
    assert_int_equal(schedules_of_two(3, 4, 2), 21);
}

static void two_others(void)
{
    unsigned one = 1;
    unsigned first = sched_spawn(pass_points, &one);
    unsigned second = sched_spawn(pass_points, &one);

    sched_join(first);
    sched_join(second);
}

/*
 * Without preemptions only: 0 blocks at the first join, and 1 or 2 may be next.
 * If it is 1, then at its end 0 can go on, or 2 may be next: 0 blocks again, or
 * not.  If it is 2, 1 must follow.  At their points they just go on.
 */
static void each_thread_is_tried_when_one_blocks(void **state)
{
    struct sched_result result;

    (void)state;
    assert_true(explore(two_others, 0, &result));
    assert_int_equal(result.schedule_count, 3);
}

static void *do_nothing(void *unused)
{
    return unused;
}

static void one_of_each(void)
{
    struct sync_thread thread;

    prepare();
    sched_join(sched_spawn(add_well, NULL)); /* 4: one is its addition */
    tkw__sync_start(&thread, do_nothing, NULL, "idle");
    sync_join(&thread);                               /* 3: one is its end */
    sync_lock(&shared.a);                             /* 1 */
    tkw__sync_wait_until(&shared.cond, &shared.a, 0); /* 2: before and after */
    sync_broadcast(&shared.cond);                     /* 1 */
    sync_unlock(&shared.a);                           /* 1 */
    sync_put_relaxed(&shared.flag, 1);                /* 1 */
    sched_require(sync_get_relaxed(&shared.flag));    /* 1 */
}

/* Where there is no step nobody can come in, and bugs hide. */
static void each_operation_is_a_step(void **state)
{
    struct sched_result result;

    (void)state;
    assert_true(explore(one_of_each, 0, &result));
    assert_int_equal(result.schedule_count, 1);
    assert_int_equal(result.step_count, 14);
}

static void too_many_schedules_are_noticed(void **state)
{
    struct sched_scenario scenario = {"points", two_of_some_points, false};
    struct sched_options options = {.bound = 2, .schedules_max = 20};
    struct sched_result result;

    (void)state;
    own_points = 3;
    other_points = 4;
    assert_true(sched_explore(&scenario, &options, &result));
    assert_int_equal(result.schedule_count, 20);
    assert_false(result.is_complete);
    options.schedules_max = 21;
    assert_true(sched_explore(&scenario, &options, &result));
    assert_int_equal(result.schedule_count, 21);
    assert_true(result.is_complete);
}

/* Not reset: what a scenario must not depend on. */
static unsigned run_count;

static void starts_more_each_time(void)
{
    unsigned none = 0, two = 2;

    if (run_count++ > 0)
        sched_join(sched_spawn(pass_points, &none));
    unsigned other = sched_spawn(pass_points, &none);
    pass_points(&two);
    sched_join(other);
}

static void starts_less_each_time(void)
{
    unsigned none = 0;

    if (run_count++ == 0)
        sched_join(sched_spawn(pass_points, &none));
}

static void a_scenario_that_remembers_is_reported(void **state)
{
    struct sched_result result;

    (void)state;
    run_count = 0;
    assert_false(explore(starts_less_each_time, 2, &result));
    assert_non_null(strstr(result.what, "not deterministic: it ended"));
    run_count = 0;
    assert_false(explore(starts_more_each_time, 2, &result));
    assert_non_null(strstr(result.what, "not deterministic: thread 0 had"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_schedules_are_run_once),
        cmocka_unit_test(each_thread_is_tried_when_one_blocks),
        cmocka_unit_test(each_operation_is_a_step),
        cmocka_unit_test(too_many_schedules_are_noticed),
        cmocka_unit_test(a_scenario_that_remembers_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
