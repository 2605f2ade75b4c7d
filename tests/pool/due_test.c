/*
 * pool/due_test.c - tkw_pool_pop_due() returns what was due at the last advance
 * and nothing that was armed since.
 */
#include "pool/private.h"
#include "support/pool.h"

/* Pop with tkw_pool_pop_due(); 0: it returned none. */
static tkw_handle pop_due(struct tkw_pool *pool)
{
    struct tkw_pool_timer timer = {.handle = 0};
    size_t count = tkw_pool_pop_due(pool, &timer, 1);
    assert_int_equal(count, timer.handle != 0);
    return timer.handle;
}

static void a_timer_armed_for_now_waits_for_the_next_advance(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes); i++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[i], 100);
        tkw_handle handles[2] = {pool_arm(pool, 105, 0),
                                 pool_arm(pool, 105, 1)};
        tkw_pool_advance(pool, 105);
        for (unsigned round = 0; round < 5; round++) {
            for (unsigned k = 0; k < 2; k++) {
                assert_int_equal(pop_due(pool), handles[k]);
                handles[k] = pool_arm(pool, 105 - k, k);
                assert_pool_state(pool, handles[k], TKW_READY);
                assert_pool_sound(pool);
            }
            assert_int_equal(pop_due(pool), 0);
            assert_int_equal(tkw_pool_next(pool), 105);
            tkw_pool_advance(pool, 105);
        }
        pool_done(pool);
    }
}

/* More than a chunk of them, popped by every call there is; dead ones among
 * them are passed over. */
static void pop_returns_what_pop_due_leaves(void **state)
{
    (void)state;
    enum { COUNT = 3 * CHUNK_ENTRIES };
    static tkw_handle handles[COUNT];
    struct tkw_pool_timer timers[COUNT];
    struct tkw_pool *pool = pool_of(&kafka, 50);
    for (size_t i = 0; i < COUNT; i++)
        handles[i] = pool_arm(pool, i % 50, i);
    for (size_t i = 0; i < COUNT; i += 5)
        assert_true(tkw_pool_cancel(pool, handles[i]));
    assert_int_equal(tkw_pool_pop_due(pool, timers, COUNT), 0);
    assert_pool_pops(pool, handles[1]);
    assert_int_equal(tkw_pool_pop_due(pool, timers, COUNT), 0);
    assert_true(tkw_pool_pop_keep(pool, &timers[0]));
    assert_int_equal(timers[0].handle, handles[2]);
    size_t count = tkw_pool_pop_many(pool, timers, COUNT);
    assert_int_equal(count, COUNT - COUNT / 5 - 1 - 2);
    for (size_t i = 3, at = 0; i < COUNT; i++)
        if (i % 5 != 0)
            assert_int_equal(timers[at++].handle, handles[i]);
    assert_pool_pops_none(pool);
    pool_done(pool);
}

/* L5: ready before what comes due later, however many they are. */
static void what_is_armed_for_the_past_leaves_before_what_comes_later(void **s)
{
    (void)s;
    for (size_t count = 1; count < 200000; count *= 50) {
        struct tkw_pool *pool = pool_of(NULL, 10);
        tkw_handle later = pool_arm(pool, 11, 0), first = 0;
        for (size_t i = 0; i < count; i++) {
            tkw_handle handle = pool_arm(pool, i % 11, i);
            first = i == 0 ? handle : first;
        }
        tkw_pool_advance(pool, 11);
        assert_int_equal(pop_due(pool), first);
        for (size_t i = 1; i < count; i++)
            assert_int_not_equal(pop_due(pool), later);
        assert_int_equal(pop_due(pool), later);
        assert_int_equal(pop_due(pool), 0);
        pool_done(pool);
    }
}

static void what_was_armed_for_the_past_can_be_cancelled_and_moved(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 10);
    tkw_handle gone = pool_arm(pool, 1, 0), moved = pool_arm(pool, 2, 0);
    tkw_handle stays = pool_arm(pool, 3, 0);
    assert_true(tkw_pool_cancel(pool, gone));
    assert_int_equal(tkw_pool_postpone(pool, moved, 20), 1);
    assert_pool_sound(pool);
    tkw_pool_advance(pool, 10);
    assert_int_equal(pop_due(pool), stays);
    assert_int_equal(pop_due(pool), 0);
    tkw_pool_advance(pool, 20);
    assert_int_equal(pop_due(pool), moved);
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_armed_for_now_waits_for_the_next_advance),
        cmocka_unit_test(pop_returns_what_pop_due_leaves),
        cmocka_unit_test(
            what_is_armed_for_the_past_leaves_before_what_comes_later),
        cmocka_unit_test(
            what_was_armed_for_the_past_can_be_cancelled_and_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
