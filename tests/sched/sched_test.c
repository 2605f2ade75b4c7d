/*
 * sched_test.c - the scheduler finds what it should and nothing else: in every
 * order, at random, and again by what it says of it.
 */
#include "os/frame.h"
#include "sched_shared.h"

static void add_badly(void *unused)
{
    (void)unused;
    unsigned seen = sync_get_relaxed(&shared.counter);
    sync_put_relaxed(&shared.counter, seen + 1);
}

static void count_to_two(void (*add)(void *))
{
    prepare();
    unsigned other = sched_spawn(add, NULL);
    add(NULL);
    sched_join(other);
    sched_require(shared.counter == 2);
}

static void lost_update(void)
{
    count_to_two(add_badly);
}

static void atomic_update(void)
{
    count_to_two(add_well);
}

static void locked_update(void)
{
    count_to_two(add_locked);
}

static void a_lost_update_takes_one_preemption(void **state)
{
    (void)state;
    assert_finds_nothing(lost_update, 0);
    assert_finds(lost_update, 1, "shared.counter == 2");
    assert_finds_nothing(atomic_update, 9);
    assert_finds_nothing(locked_update, 9);
}

static void lock_both(struct sync_mutex *first, struct sync_mutex *second)
{
    sync_lock(first);
    sync_lock(second);
    sync_unlock(second);
    sync_unlock(first);
}

static void lock_b_a(void *unused)
{
    (void)unused;
    lock_both(&shared.b, &shared.a);
}

static void lock_a_b(void *unused)
{
    (void)unused;
    lock_both(&shared.a, &shared.b);
}

static void crossed_locks(void)
{
    prepare();
    unsigned other = sched_spawn(lock_b_a, NULL);
    lock_a_b(NULL);
    sched_join(other);
}

static void ordered_locks(void)
{
    prepare();
    unsigned other = sched_spawn(lock_a_b, NULL);
    lock_a_b(NULL);
    sched_join(other);
    sync_mutex_destroy(&shared.a);
    sync_mutex_destroy(&shared.b);
}

static void locks_taken_crosswise_are_a_deadlock(void **state)
{
    (void)state;
    assert_finds_nothing(crossed_locks, 0);
    assert_finds(crossed_locks, 1,
                 "deadlock: thread 0 wants a mutex, thread 1 wants a mutex");
    assert_finds_nothing(ordered_locks, 9);
}

static void raise_flag(void *unused)
{
    (void)unused;
    sync_lock(&shared.a);
    sync_put_relaxed(&shared.flag, 1);
    sync_broadcast(&shared.cond);
    sync_unlock(&shared.a);
}

static void await_outside(void *unused)
{
    (void)unused;
    if (sync_get_relaxed(&shared.flag) != 0)
        return;
    sync_lock(&shared.a);
    sync_wait(&shared.cond, &shared.a);
    sync_unlock(&shared.a);
}

static void await_raised(void (*await)(void *))
{
    prepare();
    unsigned waiter = sched_spawn(await, NULL);
    unsigned other = sched_spawn(await, NULL);
    raise_flag(NULL);
    sched_join(waiter);
    sched_join(other);
    sync_cond_destroy(&shared.cond);
    sync_mutex_destroy(&shared.a);
}

static void lost_wakeup(void)
{
    await_raised(await_outside);
}

static void kept_wakeup(void)
{
    await_raised(await_inside);
}

/*
 *     waiter                    other
 *     flag is not up
 *                               raises it, broadcasts
 *     waits for ever
 */
static void a_flag_read_outside_the_mutex_loses_a_wakeup(void **state)
{
    (void)state;
    assert_finds(lost_wakeup, 2, "waits for a cond");
    assert_finds_nothing(kept_wakeup, 3);
}

/* A broadcast without the mutex falls between the look and the wait. */
static void raise_flag_outside(void *unused)
{
    (void)unused;
    sync_put_relaxed(&shared.flag, 1);
    sync_broadcast(&shared.cond);
}

static void lost_broadcast(void)
{
    prepare();
    unsigned other = sched_spawn(raise_flag_outside, NULL);
    await_inside(NULL);
    sched_join(other);
}

static void a_broadcast_outside_the_mutex_can_come_too_early(void **state)
{
    (void)state;
    assert_finds_nothing(lost_broadcast, 0);
    assert_finds(lost_broadcast, 1, "waits for a cond");
}

static void assert_found_at_random(void (*run)(void), uint64_t seed,
                                   const char *what)
{
    struct sched_scenario scenario = {"scenario", run, true};
    struct sched_options options = {.seed = seed, .schedules_max = 200};
    struct sched_result result, again;

    assert_false(sched_random(&scenario, &options, &result));
    assert_non_null(strstr(result.what, what));

    options.seed = result.seed;
    options.schedules_max = 1;
    assert_false(sched_random(&scenario, &options, &again));
    assert_int_equal(again.schedule_count, 1);
    assert_string_equal(again.what, result.what);
    assert_string_equal(again.decisions, result.decisions);

    assert_false(sched_replay(&scenario, result.decisions, &again));
    assert_string_equal(again.what, result.what);
}

/* From whatever seed: the bugs are as shallow as can be. */
static void random_schedules_find_bugs_and_their_seeds_replay_them(void **state)
{
    struct sched_scenario fine = {"kept_wakeup", kept_wakeup, false};
    struct sched_result result;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sched_options options = {.seed = seed, .schedules_max = 200};

        assert_found_at_random(lost_update, seed, "shared.counter == 2");
        assert_found_at_random(crossed_locks, seed, "deadlock");
        assert_found_at_random(lost_wakeup, seed, "waits for a cond");
        assert_true(sched_random(&fine, &options, &result));
        assert_int_equal(result.schedule_count, 200);
    }
}

static void a_list_that_does_not_fit_is_refused(void **state)
{
    static const char *const lists[] = {"0*",   "0 1",      "x",
                                        "99*1", "0*999999", "0*1 ..."};
    struct sched_scenario scenario = {"fine", atomic_update, false};
    struct sched_result result;

    (void)state;
    assert_true(sched_replay(&scenario, "", &result));
    assert_true(sched_replay(&scenario, "0*1 1*2", &result));
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        assert_false(sched_replay(&scenario, lists[i], &result));
        assert_non_null(strstr(result.what, "no decisions"));
    }
    assert_false(sched_replay(&scenario, "7*1", &result));
    assert_non_null(strstr(result.what, "cannot be replayed"));
    assert_false(sched_replay(&scenario, "0*1000", &result));
    assert_non_null(strstr(result.what, "cannot be replayed"));
}

static void work_then_wake(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++)
        SYNC_POINT();
    sched_require(sched_now() == 0);
    sync_lock(&shared.a);
    shared.is_woken = true;
    sync_broadcast(&shared.cond);
    sync_unlock(&shared.a);
}

static void woken_in_time(void)
{
    prepare();
    unsigned other = sched_spawn(work_then_wake, NULL);
    sync_lock(&shared.a);
    while (!shared.is_woken)
        tkw__sync_wait_until(&shared.cond, &shared.a, 5);
    sched_require(sched_now() == 0);
    sync_unlock(&shared.a);
    sched_join(other);
}

static void sleep_until(uint64_t time)
{
    sync_lock(&shared.a);
    tkw__sync_wait_until(&shared.cond, &shared.a, time);
    sched_require(sched_now() == time);
    sync_unlock(&shared.a);
}

static void sleep_to_seven(void *unused)
{
    (void)unused;
    sleep_until(7);
}

static void two_sleepers(void)
{
    prepare();
    unsigned other = sched_spawn(sleep_to_seven, NULL);
    sleep_until(3);
    sched_require(sched_now() == 3);
    /* A time that has passed is no wait, but lets go of the mutex. */
    sync_lock(&shared.a);
    tkw__sync_wait_until(&shared.cond, &shared.a, 2);
    sched_require(sched_now() == 3);
    sync_unlock(&shared.a);
    sched_join(other);
    sched_require(sched_now() == 7);
    sync_cond_destroy(&shared.cond);
}

static void time_passes_only_when_all_are_blocked(void **state)
{
    (void)state;
    assert_finds_nothing(woken_in_time, 3);
    assert_finds_nothing(two_sleepers, 3);
}

static void *know_oneself(void *unused)
{
    (void)unused;
    sched_require(sync_self()->number == 2);
    struct frame frame = {.handle = 20};
    sched_require(sync_self()->frame == NULL);
    sync_self()->frame = &frame;
    SYNC_POINT();
    sched_require(sync_self()->frame == &frame);
    return NULL;
}

static void two_selves(void)
{
    struct sync_thread thread;

    sched_require(sync_self()->number == 1);
    struct frame frame = {.handle = 10};
    sched_require(sync_self()->frame == NULL);
    sync_self()->frame = &frame;
    sched_require(tkw__sync_start(&thread, know_oneself, NULL, "other") == 0);
    sched_require(sync_self()->frame == &frame);
    sync_join(&thread);
    sched_require(sync_self()->frame == &frame);
}

static void each_thread_has_its_self_new_in_each_schedule(void **state)
{
    (void)state;
    assert_finds_nothing(two_selves, 9);
}

/* Failed schedules leave no thread behind that a later one would wake up in. */
static void a_failure_leaves_nothing_behind(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_finds(lost_wakeup, 2, "waits for a cond");
        assert_finds(crossed_locks, 1, "deadlock");
        assert_finds_nothing(kept_wakeup, 1);
    }
}

static int run_main(char *option, char *value)
{
    static const struct sched_scenario scenarios[] = {
        {"atomic_update", atomic_update, false},
        {"lost_update", lost_update, true},
    };
    char program[] = "sched_test";
    char *texts[] = {program, option, value, NULL};
    int count = 1 + (option != NULL) + (value != NULL);

    struct sched_program sample = {.scenarios = scenarios, .scenario_count = 2};

    return sched_main(count, texts, &sample);
}

static void the_exit_status_tells(void **state)
{
    char bound[] = "--bound", only[] = "--only", bad[] = "--frobnicate";
    char random[] = "--random", max[] = "--max", replay[] = "--replay";
    char zero[] = "0", one[] = "1", many[] = "500", name[] = "atomic_update";

    (void)state;
    assert_int_equal(run_main(NULL, NULL), 0);
    assert_int_equal(run_main(only, name), 0);
    assert_int_equal(run_main(random, many), 0);
    assert_int_equal(run_main(bound, zero), 1); /* too low to find the bug */
    assert_int_equal(run_main(max, one), 1);
    assert_int_equal(run_main(bad, zero), 2);
    assert_int_equal(run_main(only, bad), 2);
    assert_int_equal(run_main(bound, NULL), 2);
    assert_int_equal(run_main(bound, name), 2);
    assert_int_equal(run_main(replay, one), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_update_takes_one_preemption),
        cmocka_unit_test(locks_taken_crosswise_are_a_deadlock),
        cmocka_unit_test(a_flag_read_outside_the_mutex_loses_a_wakeup),
        cmocka_unit_test(a_broadcast_outside_the_mutex_can_come_too_early),
        cmocka_unit_test(
            random_schedules_find_bugs_and_their_seeds_replay_them),
        cmocka_unit_test(a_list_that_does_not_fit_is_refused),
        cmocka_unit_test(time_passes_only_when_all_are_blocked),
        cmocka_unit_test(each_thread_has_its_self_new_in_each_schedule),
        cmocka_unit_test(a_failure_leaves_nothing_behind),
        cmocka_unit_test(the_exit_status_tells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
