/*
 * idle/limit_test.c - keys with a limit of their own: given at once or later,
 * shorter, longer, none, back to the common one, and near the end of time.
 */
#include "support/idle.h"

#define COMMON 1000
#define YEAR (UINT64_C(31557600) * TKW_SECOND)

static const struct tkw_key one = {NULL, 1};

/* A key with the common limit, touched at 0; on a tick of 1. */
static struct tkw_idle *idle_with_one(struct ledger *ledger)
{
    struct tkw_idle *idle = idle_with(ledger, 1, COMMON);
    idle_add(idle, one, 0);
    return idle;
}

static void set_limit(struct tkw_idle *idle, uint64_t limit, uint64_t now)
{
    assert_int_equal(tkw_idle_touch_limit(idle, one, limit, now), 0);
}

static void a_key_can_be_added_with_a_limit_of_its_own(void **state)
{
    (void)state;
    const uint64_t limits[] = {1, 2, 999, 1000, 1001, 123456789, 0};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_with(&ledger, 1, COMMON);
        uint64_t limit = limits[i] == 0 ? COMMON : limits[i];
        assert_int_equal(tkw_idle_touch_limit(idle, one, limits[i], 50), 1);
        assert_stands(idle, one, 50, limit);
        assert_none_silent(idle, 50 + limit - 1);
        assert_one_silent(idle, 50 + limit, 1);
        idle_done(&ledger, idle);
    }
}

static void a_plain_touch_leaves_the_limit_what_it_is(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with_one(&ledger);
    set_limit(idle, 70, 10);
    for (uint64_t now = 20; now < 2000; now += 60) {
        idle_refresh(idle, one, now);
        assert_stands(idle, one, now, 70);
        assert_none_silent(idle, now + 59);
    }
    assert_int_equal(tkw_idle_read_stats(idle).silent, 0);
    idle_done(&ledger, idle);
}

/* The timer that was there comes too late: it must not be waited for. */
static void a_shorter_limit_holds_at_once(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        for (uint64_t limit = 1; limit < COMMON; limit += 37) {
            struct ledger ledger;
            struct tkw_idle *idle = idle_of(
                &ledger, (struct tkw_idle_config){.geometry = pool_shapes[s],
                                                  .tick_ns = 1,
                                                  .limit_ns = COMMON});
            idle_add(idle, one, 0);
            set_limit(idle, limit, 100);
            assert_stands(idle, one, 100, limit);
            assert_true(tkw_idle_next(idle) <= 100 + limit);
            assert_none_silent(idle, 100 + limit - 1);
            assert_one_silent(idle, 100 + limit, 1);
            assert_none_silent(idle, 3 * COMMON);
            idle_done(&ledger, idle);
        }
    }
}

static void a_longer_limit_outlasts_the_old_one(void **state)
{
    (void)state;
    for (uint64_t limit = COMMON; limit < 100 * COMMON; limit = limit * 3 / 2) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_with_one(&ledger);
        set_limit(idle, limit, 0);
        assert_none_silent(idle, limit - 1);
        assert_stands(idle, one, 0, limit);
        assert_one_silent(idle, limit, 1);
        idle_done(&ledger, idle);
    }
}

static void a_limit_of_zero_is_the_common_one_again(void **state)
{
    (void)state;
    const uint64_t limits[] = {1, 500, COMMON, 5000, TKW_NO_LIMIT};
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_with_one(&ledger);
        set_limit(idle, limits[i], 10);
        set_limit(idle, 0, 11);
        assert_stands(idle, one, 11, COMMON);
        assert_none_silent(idle, 11 + COMMON - 1);
        assert_one_silent(idle, 11 + COMMON, 1);
        idle_done(&ledger, idle);
    }
}

/* Shorter, then longer: the timer of the shorter comes first, in vain. */
static void a_limit_made_shorter_and_longer_is_the_last_one(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with_one(&ledger);
    set_limit(idle, 100, 0);
    set_limit(idle, 700, 0);
    assert_none_silent(idle, 699);
    set_limit(idle, 300, 699);
    set_limit(idle, 200, 699);
    set_limit(idle, 250, 699);
    assert_none_silent(idle, 948);
    assert_one_silent(idle, 949, 1);
    assert_none_silent(idle, 10000);
    idle_done(&ledger, idle);
}

/* Held for ever for a while, before its timer came round or after. */
static void no_limit_can_be_given_and_taken_back(void **state)
{
    (void)state;
    for (uint64_t later = 100; later < 100000; later *= 10) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_with_one(&ledger);
        set_limit(idle, TKW_NO_LIMIT, 10);
        assert_stands(idle, one, 10, TKW_NO_LIMIT);
        assert_none_silent(idle, later);
        assert_true(later < COMMON || tkw_idle_next(idle) == UINT64_MAX);
        set_limit(idle, 50, later);
        assert_stands(idle, one, later, 50);
        assert_none_silent(idle, later + 49);
        assert_one_silent(idle, later + 50, 1);
        idle_done(&ledger, idle);
    }
}

/* An earlier time is not heard of, but the limit is given. */
static void a_limit_is_given_by_a_touch_that_goes_back(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with_one(&ledger);
    idle_refresh(idle, one, 500);
    set_limit(idle, 100, 450);
    assert_stands(idle, one, 500, 100);
    assert_none_silent(idle, 599);
    set_limit(idle, 2000, 0);
    assert_stands(idle, one, 500, 2000);
    assert_none_silent(idle, 2499);
    assert_one_silent(idle, 2500, 1);
    idle_done(&ledger, idle);
}

/* By the new limit it has been silent for long enough. */
static void a_limit_that_has_passed_already_is_due_at_once(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with_one(&ledger);
    assert_none_silent(idle, 600);
    set_limit(idle, 100, 0);
    assert_true(tkw_idle_next(idle) <= 600);
    assert_one_silent(idle, 600, 1);
    idle_done(&ledger, idle);
}

/* Each at its own time, in that order, and neighbours do not matter. */
static void keys_of_many_limits_go_each_at_its_own_time(void **state)
{
    (void)state;
    enum { KEYS = 300 };
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, COMMON);
    for (uint64_t i = 1; i <= KEYS; i++) {
        uint64_t limit = 1 + i * 101 % KEYS;
        assert_int_equal(
            tkw_idle_touch_limit(idle, tkw_key_number(i), limit * 10, 0), 1);
    }
    for (uint64_t turn = 1; turn <= KEYS; turn++) {
        struct tkw_idle_key silent[1];
        assert_none_silent(idle, turn * 10 - 1);
        assert_int_equal(idle_take(idle, turn * 10, silent, 1), 1);
        assert_int_equal(1 + silent[0].key.number * 101 % KEYS, turn);
        assert_int_equal(silent[0].limit_ns, turn * 10);
    }
    idle_done(&ledger, idle);
}

/* However often it is changed, there is one key with one end; and memory for
   one. */
static void a_limit_can_be_changed_for_ever(void **state)
{
    (void)state;
    enum { CHANGES = 20000 };
    struct ledger ledger;
    struct tkw_idle *idle = idle_with_one(&ledger);
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < CHANGES; i++) {
        set_limit(idle, i % 2 == 0 ? 900 - i % 800 : 90000 + i, i / 100);
        if (i == CHANGES / 2)
            bytes = ledger.bytes;
    }
    assert_true(ledger.bytes <= bytes);
    assert_int_equal(tkw_idle_count(idle), 1);
    set_limit(idle, 400, CHANGES / 100);
    assert_none_silent(idle, CHANGES / 100 + 399);
    assert_one_silent(idle, CHANGES / 100 + 400, 1);
    assert_none_silent(idle, 200000);
    assert_int_equal(tkw_idle_read_stats(idle).silent, 1);
    idle_done(&ledger, idle);
}

/* Less than a tick, and no multiple of it: still not early, still not late. */
static void limits_need_not_be_whole_ticks(void **state)
{
    (void)state;
    for (uint64_t limit = 1; limit < 250; limit += 3) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_with(&ledger, 100, COMMON);
        idle_add(idle, one, 30);
        set_limit(idle, limit, 77);
        assert_none_silent(idle, 77 + limit - 1);
        assert_one_silent(idle, 77 + limit + 99, 1);
        idle_done(&ledger, idle);
    }
}

/* A sum beyond the end of time never comes: least of all at once. */
static void a_limit_beyond_the_end_of_time_never_passes(void **state)
{
    (void)state;
    const uint64_t sums[][2] = {{UINT64_MAX - 10, 30},
                                {UINT64_MAX, 1},
                                {UINT64_MAX - 1000, UINT64_C(1) << 61},
                                {UINT64_MAX, 146 * YEAR}};
    const uint64_t ticks[] = {1, 10, TKW_SECOND};
    for (size_t i = 0; i < COUNT_OF(sums) * COUNT_OF(ticks); i++) {
        const uint64_t *sum = sums[i / COUNT_OF(ticks)];
        struct ledger ledger;
        struct tkw_idle *idle =
            idle_with(&ledger, ticks[i % COUNT_OF(ticks)], sum[1]);
        idle_add(idle, one, sum[0]);
        assert_none_silent(idle, sum[0]);
        assert_none_silent(idle, UINT64_MAX - 1);
        assert_none_silent(idle, UINT64_MAX);
        assert_stands(idle, one, sum[0], sum[1]);
        assert_int_equal(tkw_idle_next(idle), UINT64_MAX);
        idle_done(&ledger, idle);
    }
}

/* The last moments that do come. */
static void a_limit_passes_just_before_the_end_of_time(void **state)
{
    (void)state;
    const uint64_t sums[][2] = {{UINT64_MAX - 1 - 146 * YEAR, 146 * YEAR},
                                {UINT64_MAX - 31, 30},
                                {UINT64_MAX - 40, 30},
                                {UINT64_MAX - 2, 1}};
    for (size_t i = 0; i < COUNT_OF(sums) * 2; i++) {
        const uint64_t *sum = sums[i / 2];
        struct ledger ledger;
        struct tkw_idle *idle = idle_of(
            &ledger,
            (struct tkw_idle_config){.tick_ns = 1,
                                     .limit_ns = sum[1],
                                     .start_ns = i % 2 == 0 ? 0 : sum[0]});
        idle_add(idle, one, sum[0]);
        assert_none_silent(idle, sum[0] + sum[1] - 1);
        assert_one_silent(idle, sum[0] + sum[1], 1);
        idle_done(&ledger, idle);
    }
}

/* The common one, or its own; and more than any server has been up. */
static void no_limit_never_passes(void **state)
{
    (void)state;
    const uint64_t nones[] = {TKW_NO_LIMIT, UINT64_MAX - 1, 147 * YEAR};
    for (size_t i = 0; i < COUNT_OF(nones) * 2; i++) {
        struct ledger ledger;
        uint64_t none = nones[i / 2];
        bool is_common = i % 2 == 0;
        struct tkw_idle *idle = idle_with(&ledger, 1, is_common ? none : 100);
        assert_int_equal(
            tkw_idle_touch_limit(idle, one, is_common ? 0 : none, 0), 1);
        assert_stands(idle, one, 0, TKW_NO_LIMIT);
        assert_int_equal(tkw_idle_next(idle), UINT64_MAX);
        idle_refresh(idle, one, 12345);
        assert_none_silent(idle, UINT64_MAX - 1);
        assert_stands(idle, one, 12345, TKW_NO_LIMIT);
        assert_int_equal(tkw_idle_read_stats(idle).checks, 0);
        assert_true(tkw_idle_forget(idle, one));
        idle_done(&ledger, idle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_can_be_added_with_a_limit_of_its_own),
        cmocka_unit_test(a_plain_touch_leaves_the_limit_what_it_is),
        cmocka_unit_test(a_shorter_limit_holds_at_once),
        cmocka_unit_test(a_longer_limit_outlasts_the_old_one),
        cmocka_unit_test(a_limit_of_zero_is_the_common_one_again),
        cmocka_unit_test(a_limit_made_shorter_and_longer_is_the_last_one),
        cmocka_unit_test(no_limit_can_be_given_and_taken_back),
        cmocka_unit_test(a_limit_is_given_by_a_touch_that_goes_back),
        cmocka_unit_test(a_limit_that_has_passed_already_is_due_at_once),
        cmocka_unit_test(keys_of_many_limits_go_each_at_its_own_time),
        cmocka_unit_test(a_limit_can_be_changed_for_ever),
        cmocka_unit_test(limits_need_not_be_whole_ticks),
        cmocka_unit_test(a_limit_beyond_the_end_of_time_never_passes),
        cmocka_unit_test(a_limit_passes_just_before_the_end_of_time),
        cmocka_unit_test(no_limit_never_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
