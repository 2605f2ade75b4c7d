/*
 * pool/order_test.c - law L4 in a pool: by deadline, equal deadlines in arming
 * order, whatever levels they fell through, in shares or whole.  The entries of
 * cancelled and moved timers stay behind for a while: they must never speak for
 * a later life.
 */
#include "support/pool.h"

/* Many on one tick, near and far, leave in the order they came. */
static void many_on_one_tick_leave_in_arming_order(void **state)
{
    (void)state;
    static tkw_handle handles[1000];
    static const tkw_tick deadlines[] = {1, 19, 20, 31, 445, 4096, 12345};
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * COUNT_OF(deadlines); i++) {
        tkw_tick deadline = deadlines[i % COUNT_OF(deadlines)];
        struct tkw_pool *pool =
            pool_of(&pool_shapes[i / COUNT_OF(deadlines)], 0);
        for (size_t t = 0; t < COUNT_OF(handles); t++)
            handles[t] = pool_arm(pool, deadline, t);
        tkw_pool_advance(pool, deadline);
        for (size_t t = 0; t < COUNT_OF(handles); t++)
            assert_pool_pops(pool, handles[t]);
        pool_done(pool);
    }
}

/* Armed in any order, they leave sorted after one jump. */
static void one_jump_sorts_by_deadline(void **state)
{
    (void)state;
    static tkw_handle handles[700];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        for (size_t i = 0; i < COUNT_OF(handles); i++) {
            size_t n = i * 401 % COUNT_OF(handles);
            handles[n] = pool_arm(pool, 1 + n * 3, n);
        }
        tkw_pool_advance(pool, 10000);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            assert_pool_pops(pool, handles[i]);
        pool_done(pool);
    }
}

/* Two timers for one deadline, armed at each pair of times before it. */
static void every_pair_of_arming_times_keeps_its_order(void **state)
{
    (void)state;
    for (size_t s = 1; s < COUNT_OF(pool_shapes); s++) {
        for (tkw_tick i = 0; i < 34 * 34; i++) {
            tkw_tick a = i / 34, b = i % 34, deadline = 34;
            struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
            if (b < a)
                b = a;
            tkw_pool_advance(pool, a);
            tkw_handle first = pool_arm(pool, deadline, 1);
            tkw_pool_advance(pool, b);
            tkw_handle second = pool_arm(pool, deadline, 2);
            tkw_pool_advance(pool, deadline);
            assert_pool_pops(pool, first);
            assert_pool_pops(pool, second);
            tkw_pool_close(pool);
        }
    }
}

/* One more timer at each tick until the deadline: all pairs in one crowd. */
static void armed_at_every_tick_they_leave_in_arming_order(void **state)
{
    (void)state;
    static tkw_handle handles[1000];
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 4; i++) {
        tkw_tick deadline = 967 + 11 * (i % 4);
        struct tkw_pool *pool = pool_of(&pool_shapes[i / 4], 0);
        for (tkw_tick now = 0; now < deadline; now++) {
            tkw_pool_advance(pool, now);
            handles[now] = pool_arm(pool, deadline, now);
        }
        assert_pool_sound(pool);
        tkw_pool_advance(pool, deadline);
        for (tkw_tick now = 0; now < deadline; now++)
            assert_pool_pops(pool, handles[now]);
        pool_done(pool);
    }
}

/* Arming again counts as arming: to the end of the line, at any level. */
static void arming_again_goes_to_the_end_of_the_line(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        for (tkw_tick at = 0; at < 445; at++) {
            tkw_handle handles[3];
            struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
            for (size_t i = 0; i < COUNT_OF(handles); i++)
                handles[i] = pool_arm(pool, 445, i);
            tkw_pool_advance(pool, at);
            assert_int_equal(tkw_pool_rearm(pool, handles[0], 445), 1);
            tkw_pool_advance(pool, 445);
            assert_pool_pops(pool, handles[1]);
            assert_pool_pops(pool, handles[2]);
            assert_pool_pops(pool, handles[0]);
            tkw_pool_close(pool);
        }
    }
}

/* L4.  Ready ones leave as they became ready; armed again, at the end. */
static void ready_timers_leave_as_they_became_ready(void **state)
{
    (void)state;
    tkw_handle handles[4];
    struct tkw_pool *pool = pool_of(&kafka, 0);
    handles[0] = pool_arm(pool, 50, 0);
    tkw_pool_advance(pool, 60);
    handles[1] = pool_arm(pool, 20, 1);
    handles[3] = pool_arm(pool, 70, 3);
    handles[2] = pool_arm(pool, 30, 2);
    tkw_pool_advance(pool, 80);
    assert_int_equal(tkw_pool_rearm(pool, handles[0], 50), 1);
    for (size_t i = 1; i < COUNT_OF(handles); i++)
        assert_pool_pops(pool, handles[i]);
    assert_pool_pops(pool, handles[0]);
    pool_done(pool);
}

/*
 * Arm A and B, cancel A, arm C, all for one tick.  C may take A's place while
 * A's entry is still filed, ahead of B: it must not fire by that entry.
 */
static void a_new_timer_does_not_take_the_turn_of_a_cancelled_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 40; i++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[i / 40], 0);
        tkw_handle a = pool_arm(pool, 100, 0);
        tkw_handle b = pool_arm(pool, 100, 1);
        for (size_t life = 0; life <= i % 40; life++) {
            assert_true(tkw_pool_cancel(pool, a));
            a = pool_arm(pool, 100, 2 + life);
        }
        assert_pool_sound(pool);
        tkw_pool_advance(pool, 100);
        assert_pool_pops(pool, b);
        assert_pool_pops(pool, a);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* The tags that tell one life's entries from another's wrap: at any count. */
static void lives_by_the_thousand_do_not_take_each_others_turn(void **state)
{
    (void)state;
    static const unsigned lives[] = {255,   256,   1023,  1024,  2047, 2048,
                                     2049,  4095,  4096,  4097,  8192, 16383,
                                     16384, 16385, 65535, 65536, 65537};
    for (size_t i = 0; i < COUNT_OF(lives) * 2; i++) {
        struct tkw_pool *pool = pool_of(i % 2 == 0 ? NULL : &kafka, 0);
        tkw_handle a = pool_arm(pool, 9000, 0);
        tkw_handle b = pool_arm(pool, 9000, 1);
        for (unsigned life = 0; life < lives[i / 2]; life++) {
            assert_true(tkw_pool_cancel(pool, a));
            a = pool_arm(pool, 9000, 2);
        }
        tkw_pool_advance(pool, 9000);
        assert_pool_pops(pool, b);
        assert_pool_pops(pool, a);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

static const unsigned rearmings[] = {
    1,    2,    3,    15,   16,   17,   255,  256,  257,  1023,  1024,  1025,
    2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 10000, 16384, 65536};

/*
 * Arm X, then Y, then X again k times, at last for Y's tick.  However often, it
 * is behind Y: an old entry of X in the same slot must not speak for it.
 */
static void armed_again_any_number_of_times_it_is_last(void **state)
{
    (void)state;
    static const tkw_tick deadlines[] = {3, 100, 9000};
    for (size_t i = 0; i < COUNT_OF(rearmings) * 9; i++) {
        tkw_tick deadline = deadlines[i % 3];
        struct tkw_pool *pool = pool_of(&pool_shapes[i / 3 % 3], 0);
        tkw_handle x = pool_arm(pool, deadline, 0);
        tkw_handle y = pool_arm(pool, deadline, 1);
        for (unsigned k = 0; k < rearmings[i / 9]; k++)
            assert_int_equal(tkw_pool_rearm(pool, x, deadline), 1);
        tkw_pool_advance(pool, deadline);
        assert_pool_pops(pool, y);
        assert_pool_pops(pool, x);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/*
 * The same with the old entries filed elsewhere: some far away, and one, the
 * first, in the slot that it comes back to.
 */
static void old_entries_far_away_and_near_speak_for_nobody(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rearmings) * 3; i++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[i % 3], 0);
        tkw_handle x = pool_arm(pool, 500, 0);
        tkw_handle y = pool_arm(pool, 500, 1);
        unsigned last = rearmings[i / 3];
        for (unsigned k = 0; k <= last; k++) {
            tkw_tick far_away = 100000 + (tkw_tick)k * 977;
            assert_int_equal(
                tkw_pool_rearm(pool, x, k == last ? 500 : far_away), 1);
        }
        pool_advance_surely(pool, 499);
        assert_pool_pops_none(pool);
        pool_advance_surely(pool, 500);
        assert_pool_pops(pool, y);
        assert_pool_pops(pool, x);

        /* Nothing is left to fire where the old ones were. */
        pool_advance_surely(pool, 100000000);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* Armed again for a tick where its own old entry lies first, among others. */
static void back_and_forth_it_is_last_among_those_it_meets(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        tkw_handle others[2][50];
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        tkw_handle x = pool_arm(pool, 300, 0);
        for (size_t i = 0; i < 50; i++) {
            others[0][i] = pool_arm(pool, 300, i);
            assert_int_equal(tkw_pool_rearm(pool, x, 310), 1);
            others[1][i] = pool_arm(pool, 310, i);
            assert_int_equal(tkw_pool_rearm(pool, x, 300), 1);
            tkw_pool_advance(pool, i * 5);
        }
        assert_pool_sound(pool);
        tkw_pool_advance(pool, 400);
        for (size_t i = 0; i < 50; i++)
            assert_pool_pops(pool, others[0][i]);
        assert_pool_pops(pool, x);
        for (size_t i = 0; i < 50; i++)
            assert_pool_pops(pool, others[1][i]);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* A million times the same one among a thousand: order, count and memory. */
static void armed_again_a_million_times_it_leaves_nothing_behind(void **state)
{
    (void)state;
    static tkw_handle others[1000];
    uint64_t seed = random_seed();
    struct tkw_pool *pool = pool_of(NULL, 0);
    uint64_t warm = 0;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        others[i] = pool_arm(pool, 50000, i);
    tkw_handle x = pool_arm(pool, 50000, COUNT_OF(others));
    for (unsigned i = 0; i < 1000000; i++) {
        tkw_tick deadline = 200 + random_below(&seed, 1000000);
        assert_int_equal(tkw_pool_rearm(pool, x, deadline), 1);
        uint64_t bytes = tkw_pool_read_stats(pool).bytes;
        if (i < 200000)
            warm = bytes > warm ? bytes : warm;
        else
            assert_true(bytes <= warm + warm / 8);
    }
    assert_true(warm < 8 << 20);
    assert_int_equal(tkw_pool_count(pool), 1001);
    assert_int_equal(tkw_pool_rearm(pool, x, 50000), 1);
    assert_pool_sound(pool);
    pool_advance_surely(pool, 49999);
    assert_pool_pops_none(pool);
    tkw_pool_advance(pool, 50000);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_pool_pops(pool, others[i]);
    assert_pool_pops(pool, x);
    assert_int_equal(tkw_pool_count(pool), 0);
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_on_one_tick_leave_in_arming_order),
        cmocka_unit_test(one_jump_sorts_by_deadline),
        cmocka_unit_test(every_pair_of_arming_times_keeps_its_order),
        cmocka_unit_test(armed_at_every_tick_they_leave_in_arming_order),
        cmocka_unit_test(arming_again_goes_to_the_end_of_the_line),
        cmocka_unit_test(ready_timers_leave_as_they_became_ready),
        cmocka_unit_test(a_new_timer_does_not_take_the_turn_of_a_cancelled_one),
        cmocka_unit_test(lives_by_the_thousand_do_not_take_each_others_turn),
        cmocka_unit_test(armed_again_any_number_of_times_it_is_last),
        cmocka_unit_test(old_entries_far_away_and_near_speak_for_nobody),
        cmocka_unit_test(back_and_forth_it_is_last_among_those_it_meets),
        cmocka_unit_test(armed_again_a_million_times_it_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
