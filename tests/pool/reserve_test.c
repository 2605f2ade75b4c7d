/*
 * pool/reserve_test.c - limits: memory reserved for so many armings is enough
 * for them, whatever they are; and no more timers are armed than allowed.
 */
#include "support/pool.h"

#include <errno.h>

static const size_t amounts[] = {1, 10, 1000, 100000};

static tkw_tick any_deadline(const struct tkw_pool *pool, uint64_t *seed,
                             unsigned bits)
{
    return tkw_tick_after(tkw_pool_now(pool), random_magnitude(seed, bits));
}

/* As many armings as reserved, all over the levels, with no memory left. */
static void what_was_reserved_can_be_armed(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t i = 0; i < COUNT_OF(amounts) * COUNT_OF(pool_shapes); i++) {
        const struct tkw_geometry *shape = &pool_shapes[i / COUNT_OF(amounts)];
        size_t n = amounts[i % COUNT_OF(amounts)];
        struct ledger ledger;
        struct tkw_pool *pool = ledger_pool(&ledger, shape);
        assert_int_equal(tkw_pool_reserve(pool, n), 0);
        ledger_fail(&ledger, 0, FOR_EVER);
        for (size_t t = 0; t < n; t++)
            pool_arm(pool, any_deadline(pool, &seed, 64), t);
        assert_int_equal(tkw_pool_count(pool), n);
        ledger_done(&ledger, pool);
    }
}

/* All in one slot, or each in a slot of its own. */
static void what_was_reserved_can_be_armed_close_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(amounts) * COUNT_OF(pool_shapes); i++) {
        const struct tkw_geometry *shape = &pool_shapes[i / COUNT_OF(amounts)];
        size_t n = amounts[i % COUNT_OF(amounts)];
        struct ledger ledger;
        struct tkw_pool *pool = ledger_pool(&ledger, shape);
        for (size_t round = 0; round < 3; round++) {
            ledger_relent(&ledger);
            assert_int_equal(tkw_pool_reserve(pool, n), 0);
            ledger_fail(&ledger, 0, FOR_EVER);
            for (size_t t = 0; t < n; t++)
                pool_arm(pool, round == 0 ? 300 : 1 + t % 700, t);
        }
        assert_int_equal(tkw_pool_count(pool), 3 * n);
        ledger_done(&ledger, pool);
    }
}

/* First or again: half of them are moves of timers that are armed. */
static void what_was_reserved_is_good_for_arming_again(void **state)
{
    (void)state;
    static tkw_handle handles[100];
    uint64_t seed = random_seed();
    for (size_t i = 0; i < COUNT_OF(amounts) * COUNT_OF(pool_shapes); i++) {
        size_t s = i / COUNT_OF(amounts), n = amounts[i % COUNT_OF(amounts)];
        struct ledger ledger;
        struct tkw_pool *pool = ledger_pool(&ledger, &pool_shapes[s]);
        for (size_t t = 0; t < COUNT_OF(handles); t++)
            handles[t] = pool_arm(pool, any_deadline(pool, &seed, 20), t);
        assert_int_equal(tkw_pool_reserve(pool, n), 0);
        ledger_fail(&ledger, 0, FOR_EVER);
        for (size_t t = 0; t < n; t++) {
            tkw_tick deadline = any_deadline(pool, &seed, 40);
            if (t % 2 != 0)
                pool_arm(pool, deadline, t);
            else
                assert_int_equal(
                    tkw_pool_rearm(pool, handles[t / 2 % 100], deadline), 1);
        }
        ledger_done(&ledger, pool);
    }
}

/* Time advances, timers fire and are cancelled: the promise stands. */
static void what_was_reserved_outlasts_other_calls(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct ledger ledger;
        struct tkw_pool_timer timer;
        struct tkw_pool *pool = ledger_pool(&ledger, &pool_shapes[s]);
        for (size_t i = 0; i < 3000; i++)
            pool_arm(pool, any_deadline(pool, &seed, 12), i);
        assert_int_equal(tkw_pool_reserve(pool, 20000), 0);
        ledger_fail(&ledger, 0, FOR_EVER);
        for (size_t i = 0; i < 20000; i++) {
            tkw_handle handle =
                pool_arm(pool, any_deadline(pool, &seed, 12), i);
            if (i % 3 == 0)
                assert_true(tkw_pool_cancel(pool, handle));
            if (tkw_pool_query(pool, handle, NULL) == TKW_PENDING)
                tkw_pool_postpone(pool, handle, tkw_pool_now(pool) + 5000);
            if (i % 5 == 0)
                tkw_pool_advance_some(pool, tkw_pool_now(pool) + 1, i % 300);
            if (i % 2 == 0)
                tkw_pool_pop(pool, &timer);
        }
        ledger_done(&ledger, pool);
    }
}

/* Reserving what is there already needs nothing more. */
static void reserving_twice_is_reserving_once(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_pool *pool = ledger_pool(&ledger, NULL);
    uint64_t calls = ledger.calls;
    assert_int_equal(tkw_pool_reserve(pool, 0), 0); /* nor does nothing */
    assert_int_equal(ledger.calls, calls);
    assert_int_equal(tkw_pool_reserve(pool, 5000), 0);
    calls = ledger.calls;
    for (size_t n = 0; n <= 5000; n += 500)
        assert_int_equal(tkw_pool_reserve(pool, n), 0);
    assert_int_equal(ledger.calls, calls);
    ledger_done(&ledger, pool);
}

static struct tkw_pool *limited_to(size_t timers_max)
{
    struct tkw_pool *pool = NULL;
    struct tkw_pool_config config = {.timers_max = timers_max};
    assert_int_equal(tkw_pool_open(&pool, &config), 0);
    return pool;
}

/* Refused, a timer leaves no trace. */
static void assert_is_full(struct tkw_pool *pool)
{
    tkw_handle handle = 12345;
    struct tkw_wheel_stats before = tkw_pool_read_stats(pool).work;
    size_t count = tkw_pool_count(pool);
    struct tkw_user user = {0};
    assert_int_equal(tkw_pool_arm(pool, &handle, 10, user), -EAGAIN);
    assert_int_equal(tkw_pool_arm(pool, &handle, 0, user), -EAGAIN);
    assert_int_equal(tkw_pool_arm(pool, &handle, TKW_NEVER, user), -EAGAIN);
    assert_int_equal(handle, 12345);
    struct tkw_wheel_stats after = tkw_pool_read_stats(pool).work;
    assert_memory_equal(&after, &before, sizeof(after));
    assert_int_equal(tkw_pool_count(pool), count);
    assert_pool_sound(pool);
}

/* A limit of 2 refuses the third; cancelled or fired, one makes room. */
static void a_limit_of_two_refuses_the_third(void **state)
{
    (void)state;
    struct tkw_pool *pool = limited_to(2);
    tkw_handle first = pool_arm(pool, 5, 0);
    tkw_handle second = pool_arm(pool, 5000, 0);
    assert_is_full(pool);
    assert_true(tkw_pool_cancel(pool, first));
    first = pool_arm(pool, 6, 0);
    assert_is_full(pool);

    tkw_pool_advance(pool, 6);
    assert_is_full(pool); /* ready is pending */
    assert_pool_pops(pool, first);
    first = pool_arm(pool, 20, 0);
    assert_is_full(pool);

    /* Moving those that are armed is no question of room. */
    assert_int_equal(tkw_pool_rearm(pool, second, 30), 1);
    assert_int_equal(tkw_pool_postpone(pool, first, 25), 1);
    struct tkw_pool_timer timer;
    assert_true(tkw_pool_drain(pool, &timer));
    pool_arm(pool, 40, 0);
    assert_is_full(pool);
    pool_done(pool);
}

/* A kept one is not armed; to start it again there must be room. */
static void a_kept_timer_needs_room_to_start_again(void **state)
{
    (void)state;
    struct tkw_pool_timer timer;
    struct tkw_pool *pool = limited_to(2);
    tkw_handle kept = pool_arm(pool, 0, 7);
    assert_true(tkw_pool_pop_keep(pool, &timer));
    tkw_handle first = pool_arm(pool, 10, 0);
    pool_arm(pool, 10, 0);
    assert_is_full(pool);
    assert_int_equal(tkw_pool_rearm(pool, kept, 10), -EAGAIN);
    assert_pool_state(pool, kept, TKW_KEPT);
    assert_true(tkw_pool_cancel(pool, first));
    assert_int_equal(tkw_pool_rearm(pool, kept, 10), 1);
    assert_is_full(pool);
    tkw_pool_advance(pool, 10);
    assert_true(tkw_pool_pop(pool, &timer));
    assert_pool_pops(pool, kept);
    pool_done(pool);
}

/* At the limit for long, with every life in its turn making room. */
static void a_limit_holds_through_many_lives(void **state)
{
    (void)state;
    tkw_handle handles[100];
    uint64_t seed = random_seed();
    struct tkw_pool *pool = limited_to(COUNT_OF(handles));
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, TKW_NEVER, i);
    for (unsigned i = 0; i < 100000; i++) {
        tkw_handle *handle = &handles[random_below(&seed, COUNT_OF(handles))];
        assert_true(tkw_pool_cancel(pool, *handle));
        *handle = pool_arm(pool, 1 + random_magnitude(&seed, 40), i);
        assert_int_equal(tkw_pool_arm(pool, NULL, i, (struct tkw_user){0}),
                         -EAGAIN);
    }
    assert_int_equal(tkw_pool_count(pool), COUNT_OF(handles));
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_reserved_can_be_armed),
        cmocka_unit_test(what_was_reserved_can_be_armed_close_together),
        cmocka_unit_test(what_was_reserved_is_good_for_arming_again),
        cmocka_unit_test(what_was_reserved_outlasts_other_calls),
        cmocka_unit_test(reserving_twice_is_reserving_once),
        cmocka_unit_test(a_limit_of_two_refuses_the_third),
        cmocka_unit_test(a_kept_timer_needs_room_to_start_again),
        cmocka_unit_test(a_limit_holds_through_many_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
