/*
 * idle/basics_test.c - the tracker holds keys: what touch, forget, query, count
 * and walk say, how many keys it may hold, and what it refuses.
 */
#include "support/idle.h"

static void a_key_is_added_once_and_then_refreshed(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
    struct tkw_key key = tkw_key_number(7);
    assert_not_held(idle, key);
    assert_int_equal(tkw_idle_touch(idle, key, 100), 1);
    assert_stands(idle, key, 100, DEFAULT_LIMIT);
    assert_int_equal(tkw_idle_touch(idle, key, 100), 0);
    assert_int_equal(tkw_idle_touch(idle, key, 250), 0);
    assert_stands(idle, key, 250, DEFAULT_LIMIT);
    assert_int_equal(tkw_idle_count(idle), 1);
    assert_int_equal(tkw_idle_read_stats(idle).added, 1);
    assert_int_equal(tkw_idle_read_stats(idle).keys, 1);
    idle_done(&ledger, idle);
}

/* Packets are handled by several threads in turn, and their times overtake each
   other: silence is counted from the latest. */
static void a_touch_that_goes_back_changes_nothing(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 100);
    idle_add(idle, tkw_key_number(7), 1000);
    idle_refresh(idle, tkw_key_number(7), 999);
    assert_stands(idle, tkw_key_number(7), 1000, 100);
    idle_refresh(idle, tkw_key_number(7), 0);
    assert_stands(idle, tkw_key_number(7), 1000, 100);
    assert_none_silent(idle, 1099);
    assert_one_silent(idle, 1100, 7);
    idle_done(&ledger, idle);
}

/* The latest of one key is nothing to another. */
static void a_touch_may_be_earlier_than_that_of_another_key(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 100);
    idle_add(idle, tkw_key_number(1), 1000);
    idle_add(idle, tkw_key_number(2), 950);
    assert_stands(idle, tkw_key_number(2), 950, 100);
    idle_refresh(idle, tkw_key_number(2), 960);
    assert_stands(idle, tkw_key_number(2), 960, 100);
    assert_one_silent(idle, 1060, 2);
    assert_one_silent(idle, 1100, 1);
    idle_done(&ledger, idle);
}

static void a_forgotten_key_is_gone_and_can_be_added_anew(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 100);
    for (uint32_t i = 0; i < 4; i++) {
        assert_false(tkw_idle_forget(idle, mixed_key(i)));
        idle_add(idle, mixed_key(i), 500);
        assert_true(tkw_idle_forget(idle, mixed_key(i)));
        assert_false(tkw_idle_forget(idle, mixed_key(i)));
        assert_not_held(idle, mixed_key(i));
        assert_int_equal(tkw_idle_count(idle), 0);
        idle_add(idle, mixed_key(i), 10); /* nothing is left of 500 */
        assert_stands(idle, mixed_key(i), 10, 100);
        assert_true(tkw_idle_forget(idle, mixed_key(i)));
    }
    assert_int_equal(tkw_idle_read_stats(idle).forgotten, 8);
    assert_int_equal(tkw_idle_read_stats(idle).added, 8);
    assert_none_silent(idle, 10000);
    assert_int_equal(tkw_idle_read_stats(idle).checks, 0);
    idle_done(&ledger, idle);
}

static void so_many_keys_are_held_and_no_more(void **state)
{
    (void)state;
    for (uint32_t most = 1; most < 40; most += 13) {
        struct ledger ledger;
        struct tkw_idle_key silent[1];
        struct tkw_idle *idle = idle_of(
            &ledger, (struct tkw_idle_config){
                         .keys_max = most, .limit_ns = 10, .tick_ns = 1});
        struct tkw_key extra = tkw_key_text("one too many");
        for (uint32_t i = 0; i < most; i++)
            idle_add(idle, mixed_key(i), i == 0 ? 0 : 5);
        assert_int_equal(tkw_idle_touch(idle, extra, 6), -EAGAIN);
        assert_int_equal(tkw_idle_touch_limit(idle, extra, 1, 6), -EAGAIN);
        assert_not_held(idle, extra);
        assert_int_equal(tkw_idle_count(idle), most);
        assert_int_equal(tkw_idle_read_stats(idle).added, most);
        idle_refresh(idle, mixed_key(most - 1), 5);
        assert_int_equal(tkw_idle_touch_limit(idle, mixed_key(0), 10, 0), 0);

        /* One that was handed out is no longer held, even though its bytes
           are still there to be read. */
        uint64_t now = most == 1 ? 15 : 10;
        assert_int_equal(idle_take(idle, now, silent, 1), 1);
        idle_add(idle, extra, now);
        assert_int_equal(tkw_idle_touch(idle, mixed_key(0), now), -EAGAIN);
        assert_true(tkw_idle_forget(idle, extra));
        idle_add(idle, mixed_key(0), now);
        assert_int_equal(tkw_idle_touch(idle, extra, now), -EAGAIN);
        idle_done(&ledger, idle);
    }
}

static void many_keys_are_found_and_no_others(void **state)
{
    (void)state;
    enum { KEYS = 20000 };
    const uint64_t steps[] = {1, UINT64_C(1) << 16, UINT64_C(1) << 32,
                              UINT64_C(1) << 48, 4096};
    for (size_t s = 0; s < COUNT_OF(steps); s++) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_of(&ledger, (struct tkw_idle_config){0});
        for (uint64_t i = 0; i < KEYS; i++)
            idle_add(idle, tkw_key_number(2 * i * steps[s]), i);
        assert_int_equal(tkw_idle_count(idle), KEYS);
        assert_idle_sound(idle);
        for (uint64_t i = 0; i < KEYS; i += 2)
            assert_true(
                tkw_idle_forget(idle, tkw_key_number(2 * i * steps[s])));
        for (uint64_t i = 0; i < KEYS; i++) {
            struct tkw_key key = tkw_key_number(2 * i * steps[s]);
            assert_int_equal(tkw_idle_query(idle, key, NULL), i % 2 == 1);
            key = tkw_key_number((2 * i + 1) * steps[s]);
            assert_false(tkw_idle_query(idle, key, NULL));
        }
        idle_done(&ledger, idle);
    }
}

/* Secrets that are given, random ones, and the same twice. */
static void any_secret_will_do(void **state)
{
    (void)state;
    const uint64_t secrets[][2] = {
        {0, 0}, {1, 0}, {0, 1}, {UINT64_MAX, UINT64_MAX}, {1, 0}};
    for (size_t s = 0; s < COUNT_OF(secrets); s++) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_of(
            &ledger,
            (struct tkw_idle_config){.secret = {secrets[s][0], secrets[s][1]}});
        for (uint32_t i = 0; i < 2000; i++)
            idle_add(idle, mixed_key(i), i);
        for (uint32_t i = 0; i < 2000; i++)
            assert_stands(idle, mixed_key(i), i, DEFAULT_LIMIT);
        idle_done(&ledger, idle);
    }
}

static void a_walk_visits_every_key_as_it_stands(void **state)
{
    (void)state;
    enum { KEYS = 3000 };
    static unsigned visits[KEYS];
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 1000);
    struct tkw_idle_cursor walk = {0};
    struct tkw_idle_key one;
    assert_false(tkw_idle_walk(idle, &walk, &one));
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(
            tkw_idle_touch_limit(idle, mixed_key(i), i % 5 * 100, i), 1);
    memset(visits, 0, sizeof visits);
    walk = (struct tkw_idle_cursor){0};
    while (tkw_idle_walk(idle, &walk, &one)) {
        uint32_t i = mixed_index(one.key);
        assert_true(i < KEYS);
        visits[i]++;
        assert_int_equal(one.last_ns, i);
        assert_int_equal(one.limit_ns, i % 5 == 0 ? 1000 : i % 5 * 100);
    }
    assert_false(tkw_idle_walk(idle, &walk, &one));
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(visits[i], 1);
    idle_done(&ledger, idle);
}

/* Of those that are held throughout each is visited once, whatever happens to
   them and to others; and bytes are there while their key is held. */
static void a_walk_goes_on_while_keys_come_and_go(void **state)
{
    (void)state;
    enum { KEYS = 2000 };
    static unsigned visits[2 * KEYS];
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 1000);
    struct tkw_idle_cursor walk = {0};
    struct tkw_idle_key one;
    uint32_t others = KEYS;
    for (uint32_t i = 0; i < KEYS; i++)
        idle_add(idle, mixed_key(i), 0);
    memset(visits, 0, sizeof visits);
    while (tkw_idle_walk(idle, &walk, &one)) {
        uint32_t i = mixed_index(one.key);
        visits[i]++;
        if (i >= KEYS)
            continue;
        idle_refresh(idle, one.key, 5);
        assert_int_equal(tkw_idle_touch_limit(idle, one.key, 50 + i, 6), 0);
        if (i % 3 == 0)
            assert_true(tkw_idle_forget(idle, one.key));
        else
            assert_int_equal(mixed_index(one.key), i);
        idle_add(idle, mixed_key(others++), 7);
    }
    for (uint32_t i = 0; i < 2 * KEYS; i++)
        assert_true(i < KEYS ? visits[i] == 1 : visits[i] <= 1);
    assert_int_equal(tkw_idle_count(idle), KEYS - (KEYS + 2) / 3 + KEYS);
    idle_done(&ledger, idle);
}

static void nothing_said_means_thirty_seconds_and_a_tenth(void **state)
{
    (void)state;
    const struct tkw_idle_config zero = {.limit_ns = 0};
    const struct tkw_idle_config *const configs[] = {NULL, &zero};
    for (size_t i = 0; i < COUNT_OF(configs); i++) {
        struct tkw_idle *idle = NULL;
        assert_int_equal(tkw_idle_open(&idle, configs[i]), 0);
        idle_add(idle, tkw_key_number(1), 1);
        assert_stands(idle, tkw_key_number(1), 1, 30 * TKW_SECOND);
        assert_none_silent(idle, 30 * TKW_SECOND);
        assert_one_silent(idle, 30 * TKW_SECOND + 100 * TKW_MILLISECOND, 1);
        tkw_idle_close(idle);
    }
    tkw_idle_close(NULL);
}

/* What is wrong is told in words, and nothing is opened. */
static void a_wrong_configuration_is_refused(void **state)
{
    (void)state;
    const struct tkw_allocator lacking[] = {{NULL, no_release, NULL},
                                            {no_memory, NULL, NULL}};
    const struct tkw_idle_config wrong[] = {
        {.geometry = {.sizes = {1}}},
        {.geometry = {.sizes = {20, 0, 20}}},
        {.geometry = {.beyond = 7}},
        {.allocator = &lacking[0]},
        {.allocator = &lacking[1]},
        {.keys_max = (size_t)TKW_POOL_TIMERS_MAX + 1},
        {.keys_max = SIZE_MAX},
        {.reserved = {1}},
        {.reserved = {0, 1}},
        {.reserved = {0, 0, 1}},
        {.reserved = {0, 0, 0, 1}},
    };
    struct tkw_idle *const mark = (struct tkw_idle *)(void *)&state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct tkw_idle *idle = mark;
        const char *fault = tkw_idle_config_fault(&wrong[i]);
        assert_non_null(fault);
        assert_int_not_equal(strlen(fault), 0);
        assert_int_equal(tkw_idle_open(&idle, &wrong[i]), -EINVAL);
        assert_ptr_equal(idle, mark);
    }
}

/* What is odd, but not wrong, must open. */
static void an_odd_configuration_is_fine(void **state)
{
    (void)state;
    const struct tkw_idle_config odd[] = {
        {.keys_max = TKW_POOL_TIMERS_MAX},
        {.keys_max = 1},
        {.limit_ns = 1, .tick_ns = TKW_SECOND},
        {.limit_ns = TKW_NO_LIMIT},
        {.start_ns = UINT64_MAX},
        {.start_ns = UINT64_MAX, .tick_ns = 1},
        {.tick_ns = UINT64_MAX},
        {.geometry = {.sizes = {2}, .beyond = TKW_ROUNDS}},
    };
    for (size_t i = 0; i < COUNT_OF(odd); i++) {
        struct ledger ledger;
        struct tkw_idle *idle = idle_of(&ledger, odd[i]);
        assert_int_equal(tkw_idle_next(idle), UINT64_MAX);
        idle_add(idle, mixed_key(3), 0);
        assert_int_equal(tkw_idle_count(idle), 1);
        assert_true(tkw_idle_forget(idle, mixed_key(3)));
        idle_done(&ledger, idle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_added_once_and_then_refreshed),
        cmocka_unit_test(a_touch_that_goes_back_changes_nothing),
        cmocka_unit_test(a_touch_may_be_earlier_than_that_of_another_key),
        cmocka_unit_test(a_forgotten_key_is_gone_and_can_be_added_anew),
        cmocka_unit_test(so_many_keys_are_held_and_no_more),
        cmocka_unit_test(many_keys_are_found_and_no_others),
        cmocka_unit_test(any_secret_will_do),
        cmocka_unit_test(a_walk_visits_every_key_as_it_stands),
        cmocka_unit_test(a_walk_goes_on_while_keys_come_and_go),
        cmocka_unit_test(nothing_said_means_thirty_seconds_and_a_tenth),
        cmocka_unit_test(a_wrong_configuration_is_refused),
        cmocka_unit_test(an_odd_configuration_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
