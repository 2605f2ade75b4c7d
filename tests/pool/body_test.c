/*
 * pool/body_test.c - timers armed so often that their tags run out and they
 * move into a body, and those that never need one; seen from inside.
 */
#include "support/pool.h"

#include "pool/private.h"

/* Arm again until it has moved into another body; tell which record that is. */
static uint32_t move_into_body(struct tkw_pool *pool, tkw_handle handle,
                               tkw_tick deadline)
{
    for (uint64_t i = 0; i < TAG_MAX + 1; i++)
        assert_int_equal(tkw_pool_rearm(pool, handle, deadline), 1);
    const struct record *timer = record_at(pool, (uint32_t)handle);
    assert_int_not_equal(timer->word & WORD_MOVED, 0);
    return (uint32_t)timer->deadline;
}

/* So many alive that nothing is swept. */
static void arm_many(struct tkw_pool *pool)
{
    for (size_t i = 0; i < 10 * TAG_MAX; i++)
        pool_arm(pool, TKW_NEVER, i);
}

/* Popped and kept, no entry of it is left: tags begin anew. */
static void a_kept_timer_never_runs_out_of_tags(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    struct tkw_pool_timer popped;
    tkw_handle handle = pool_arm(pool, 0, 0);
    for (uint64_t i = 0; i < 3 * TAG_MAX; i++) {
        assert_true(tkw_pool_pop_keep(pool, &popped));
        assert_int_equal(popped.handle, handle);
        assert_int_equal(tkw_pool_rearm(pool, handle, 0), 1);
        assert_true(word_tag(record_at(pool, 0)->word) <= 1);
    }
    assert_int_equal(pool->used, 1);
    assert_pool_pops(pool, handle);
    pool_done(pool);
}

/* To the tick that it is armed for already, too: no entry is made for it. */
static void a_timer_in_a_body_is_postponed_in_place(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    tkw_handle handle = pool_arm(pool, 10, 0);
    move_into_body(pool, handle, 10);
    uint64_t entries = pool->entries, unseen = pool->unseen;
    for (tkw_tick deadline = 10; deadline < 15; deadline++) {
        assert_int_equal(tkw_pool_postpone(pool, handle, deadline), 1);
        assert_int_equal(pool->unseen, ++unseen);
        assert_int_equal(pool->entries, entries);
    }
    assert_int_equal(tkw_pool_postpone(pool, handle, 13), 1);
    assert_int_equal(pool->unseen, unseen);
    assert_int_equal(pool->entries, entries + 1);
    assert_pool_fires_on_time(pool, handle);
    pool_done(pool);
}

/*
 * Out of its second body, the timer's deadline is the number of its first,
 * whose last entry goes only then.  That is not the timer's any more.
 */
static void a_deadline_is_not_taken_for_the_number_of_a_body(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    struct tkw_pool_timer popped;
    arm_many(pool);
    tkw_handle handle = pool_arm(pool, 1000000, 0);
    uint32_t first = move_into_body(pool, handle, 1000000);
    uint32_t second = move_into_body(pool, handle, 1000000);
    assert_int_not_equal(first, second);
    assert_int_equal(tkw_pool_rearm(pool, handle, first), 1);
    tkw_pool_advance(pool, first);
    assert_true(tkw_pool_pop_keep(pool, &popped));
    assert_int_equal(popped.deadline, first);
    const struct record *timer = record_at(pool, (uint32_t)handle);
    assert_int_equal(timer->word & WORD_MOVED, 0);
    assert_int_equal(timer->deadline, first);
    assert_pool_sound(pool);
    tkw_pool_advance(pool, 1000000);
    assert_int_equal(timer->word & (WORD_MOVED | WORD_ENTRIES), 0);
    assert_pool_sound(pool);
    assert_pool_state(pool, handle, TKW_KEPT);
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_timer_never_runs_out_of_tags),
        cmocka_unit_test(a_timer_in_a_body_is_postponed_in_place),
        cmocka_unit_test(a_deadline_is_not_taken_for_the_number_of_a_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
