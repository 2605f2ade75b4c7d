/*
 * pool/postpone_test.c - moving a deadline in a pool: lazily and without fail
 * to a later tick, at once to an earlier one, and never early.
 */
#include "support/pool.h"

/* Postponed, a timer is filed anew once, when its old slot comes round. */
static void a_postponed_timer_moves_once_when_its_slot_is_reached(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle handle = pool_arm(pool, 10, 0);
    uint64_t entries = tkw_pool_read_stats(pool).entries;
    for (tkw_tick deadline = 11; deadline <= 300; deadline++)
        assert_int_equal(tkw_pool_postpone(pool, handle, deadline), 1);
    assert_int_equal(pool_deadline(pool, handle), 300);
    assert_int_equal(tkw_pool_next(pool), 10);
    assert_int_equal(tkw_pool_read_stats(pool).entries, entries);
    tkw_pool_advance(pool, 9);
    assert_int_equal(tkw_pool_read_stats(pool).work.refiles, 0);
    assert_pool_sound(pool);

    tkw_pool_advance(pool, 10);
    assert_pool_pops_none(pool);
    assert_int_equal(tkw_pool_read_stats(pool).work.refiles, 1);
    assert_int_equal(tkw_pool_next(pool), 300); /* slot 15 of level 2 */
    assert_pool_fires_on_time(pool, handle);
    assert_int_equal(tkw_pool_read_stats(pool).work.refiles, 1);
    pool_done(pool);
}

/* Far, near and across levels: each ends where its last deadline says. */
static void a_postponed_timer_fires_on_its_last_deadline(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 60; i++) {
        tkw_tick first = 1 + i % 60;
        for (tkw_tick last = 0; last < 130; last += 1 + last % 5) {
            struct tkw_pool *pool = pool_of(&pool_shapes[i / 60], 13);
            tkw_handle handle = pool_arm(pool, 13 + first, 0);
            assert_int_equal(tkw_pool_postpone(pool, handle, 13 + last), 1);
            assert_pool_fires_on_time(pool, handle);
            tkw_pool_close(pool);
        }
    }
}

/*
 * By exactly the widths that deadline bits of an entry may have: the old entry
 * then looks the same, but for the timer's own deadline.
 */
static void postponed_by_a_power_of_two_it_is_not_early(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 63; i++) {
        const struct tkw_geometry *shape = &pool_shapes[i / 63];
        unsigned bit = (unsigned)(i % 63);
        if (bit >= bits_of_reach(shape))
            continue;
        for (tkw_tick first = 1001; first < 1400; first += 133) {
            struct tkw_pool *pool = pool_of(shape, 1000);
            tkw_handle handle = pool_arm(pool, first, 0);
            tkw_tick last = first + (UINT64_C(1) << bit);
            assert_int_equal(tkw_pool_postpone(pool, handle, last), 1);
            pool_advance_surely(pool, first);
            assert_pool_pops_none(pool);
            assert_pool_state(pool, handle, TKW_PENDING);
            assert_pool_sound(pool);
            assert_pool_fires_on_time(pool, handle);
            pool_done(pool);
        }
    }
}

/* The same to and fro: by 2^24 and 2^32 ticks again and again. */
static void postponed_again_and_again_it_is_not_early(void **state)
{
    (void)state;
    static const unsigned bits[] = {24, 26, 32, 36, 40};
    for (size_t i = 0; i < COUNT_OF(bits) * 5; i++) {
        tkw_tick power = UINT64_C(1) << bits[i / 5];
        struct tkw_pool *pool = pool_of(&pool_shapes[i % 5], 0);
        tkw_handle handle = pool_arm(pool, 777, 0);
        for (tkw_tick k = 1; k <= 40; k++) {
            assert_int_equal(tkw_pool_postpone(pool, handle, 777 + k * power),
                             1);
            if (k % 3 != 0)
                continue; /* several on top of each other, too */
            pool_advance_surely(pool, 777 + (k - 1) * power);
            assert_pool_pops_none(pool);
        }
        assert_pool_fires_on_time(pool, handle);
        pool_done(pool);
    }
}

/* Earlier is arming again: at once, also back from a later deadline. */
static void an_earlier_deadline_counts_at_once(void **state)
{
    (void)state;
    static const tkw_tick then[] = {0, 5, 9, 10, 11, 200, 299, 300};
    for (size_t i = 0; i < COUNT_OF(then) * COUNT_OF(pool_shapes); i++) {
        tkw_tick last = then[i % COUNT_OF(then)];
        struct tkw_pool *pool = pool_of(&pool_shapes[i / COUNT_OF(then)], 0);
        tkw_handle handle = pool_arm(pool, 10, 0);
        assert_int_equal(tkw_pool_postpone(pool, handle, 300), 1);
        assert_int_equal(tkw_pool_postpone(pool, handle, last), 1);
        assert_true(tkw_pool_next(pool) <= last);
        assert_pool_sound(pool);
        assert_pool_fires_on_time(pool, handle);
        pool_advance_surely(pool, 1000);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* Ready but not popped is armed: it can still be put off, or left as it is. */
static void a_ready_timer_can_be_postponed(void **state)
{
    (void)state;
    static const tkw_tick then[] = {3, 20, 21, 60, 5000, TKW_NEVER};
    for (size_t i = 0; i < COUNT_OF(then) * COUNT_OF(pool_shapes); i++) {
        tkw_tick last = then[i % COUNT_OF(then)];
        struct tkw_pool *pool = pool_of(&pool_shapes[i / COUNT_OF(then)], 0);
        tkw_handle handle = pool_arm(pool, 5, 0);
        tkw_handle other = pool_arm(pool, 5, 1);
        tkw_pool_advance(pool, 20);
        assert_int_equal(tkw_pool_postpone(pool, handle, last), 1);
        assert_pool_state(pool, handle, last > 20 ? TKW_PENDING : TKW_READY);
        assert_pool_sound(pool);
        assert_pool_pops(pool, other); /* armed again: the end of the line */
        if (last == TKW_NEVER)
            assert_true(tkw_pool_cancel(pool, handle));
        else
            assert_pool_fires_on_time(pool, handle);
        pool_done(pool);
    }
}

/* Put off for ever: pending, waking nobody once its old slot has come. */
static void postponed_for_ever_it_never_fires(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        tkw_handle handle = pool_arm(pool, 700, 0);
        assert_int_equal(tkw_pool_postpone(pool, handle, TKW_NEVER), 1);
        pool_advance_surely(pool, 700);
        assert_pool_pops_none(pool);
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        assert_int_equal(tkw_pool_read_stats(pool).work.refiles, 1);
        pool_advance_surely(pool, TKW_NEVER);
        assert_pool_pops_none(pool);
        assert_pool_state(pool, handle, TKW_PENDING);
        assert_int_equal(tkw_pool_count(pool), 1);
        assert_true(tkw_pool_cancel(pool, handle));
        pool_done(pool);
    }
}

/*
 * For ever lies in the last slot of every level that reaches it.  Put off from
 * that very slot, a timer must not fall on to the last tick.
 */
static void postponed_for_ever_from_the_last_slot_it_never_fires(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 64; i++) {
        unsigned bit = (unsigned)(i % 64);
        if (bit >= bits_of_reach(&pool_shapes[i / 64]))
            continue;
        tkw_tick deadline = TKW_NEVER - (UINT64_C(1) << bit);
        tkw_tick start =
            bits_of_reach(&pool_shapes[i / 64]) == 64 ? 0 : deadline - 1000;
        struct tkw_pool *pool = pool_of(&pool_shapes[i / 64], start);
        tkw_handle handle = pool_arm(pool, deadline, 0);
        assert_int_equal(tkw_pool_postpone(pool, handle, TKW_NEVER), 1);
        pool_advance_surely(pool, TKW_NEVER - 1);
        assert_pool_sound(pool);
        pool_advance_surely(pool, TKW_NEVER);
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        assert_pool_state(pool, handle, TKW_PENDING);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* And back from for ever. */
static void from_for_ever_it_can_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 2; i++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[i / 2], 0);
        tkw_handle handle = pool_arm(pool, i % 2 ? TKW_NEVER : 700, 0);
        assert_int_equal(tkw_pool_postpone(pool, handle, TKW_NEVER), 1);
        pool_advance_surely(pool, 800);
        assert_int_equal(tkw_pool_postpone(pool, handle, 900), 1);
        assert_pool_sound(pool);
        assert_pool_fires_on_time(pool, handle);
        pool_done(pool);
    }
}

/* An idle limit: each heard from now and then, none of these ever fires. */
static void timers_pushed_back_in_time_never_fire(void **state)
{
    (void)state;
    static tkw_handle handles[500];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            handles[i] = pool_arm(pool, 300, i);
        uint64_t bytes = tkw_pool_read_stats(pool).bytes;
        for (tkw_tick now = 1; now < 3000; now++) {
            tkw_pool_advance(pool, now);
            assert_pool_pops_none(pool);
            for (size_t i = (size_t)now % 250; i < COUNT_OF(handles) - 1;
                 i += 250)
                assert_int_equal(tkw_pool_postpone(pool, handles[i], now + 300),
                                 1);
            if (now == 299)
                tkw_pool_cancel(pool, handles[COUNT_OF(handles) - 1]);
        }
        assert_true(tkw_pool_read_stats(pool).bytes <= bytes);
        assert_int_equal(tkw_pool_count(pool), COUNT_OF(handles) - 1);
        pool_done(pool);
    }
}

/* L7.  A slot whose timers were all postponed wakes once, not once each. */
static void a_slot_of_postponed_timers_wakes_once(void **state)
{
    (void)state;
    tkw_handle handles[100];
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, 350, i);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        assert_int_equal(tkw_pool_postpone(pool, handles[i], 400 + i), 1);
    assert_int_equal(tkw_pool_next(pool), 340);
    tkw_pool_advance(pool, 340);
    assert_int_equal(tkw_pool_read_stats(pool).work.visits, 1);
    assert_int_equal(tkw_pool_read_stats(pool).work.refiles, 100);
    assert_int_equal(tkw_pool_next(pool), 400);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        assert_pool_fires_on_time(pool, handles[i]);
    pool_done(pool);
}

/* Nothing is armed by being postponed. */
static void what_is_not_armed_cannot_be_postponed(void **state)
{
    (void)state;
    struct tkw_pool_timer timer;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle done = pool_arm(pool, 0, 0);
    assert_pool_pops(pool, done);
    tkw_handle kept = pool_arm(pool, 0, 0);
    assert_true(tkw_pool_pop_keep(pool, &timer));
    tkw_handle gone = pool_arm(pool, 9, 0);
    assert_true(tkw_pool_cancel(pool, gone));
    tkw_handle all[] = {done, kept, gone, 0, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        assert_int_equal(tkw_pool_postpone(pool, all[i], 100), 0);
    assert_int_equal(tkw_pool_count(pool), 0);
    pool_advance_surely(pool, 1000);
    assert_pool_pops_none(pool);
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_postponed_timer_moves_once_when_its_slot_is_reached),
        cmocka_unit_test(a_postponed_timer_fires_on_its_last_deadline),
        cmocka_unit_test(postponed_by_a_power_of_two_it_is_not_early),
        cmocka_unit_test(postponed_again_and_again_it_is_not_early),
        cmocka_unit_test(an_earlier_deadline_counts_at_once),
        cmocka_unit_test(a_ready_timer_can_be_postponed),
        cmocka_unit_test(postponed_for_ever_it_never_fires),
        cmocka_unit_test(postponed_for_ever_from_the_last_slot_it_never_fires),
        cmocka_unit_test(from_for_ever_it_can_come_back),
        cmocka_unit_test(timers_pushed_back_in_time_never_fire),
        cmocka_unit_test(a_slot_of_postponed_timers_wakes_once),
        cmocka_unit_test(what_is_not_armed_cannot_be_postponed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
