/*
 * pool/body_test.c - timers armed so often that their tags run out and they
 * move into a body, and those that never need one; seen from inside.
 */
#include "support/pool.h"

#include "pool/private.h"

/* Arm a timer again until it has moved into another body.  Returns the index of
 * that body. */
static uint32_t move_into_body(struct tkw_pool *pool, tkw_handle handle,
                               tkw_tick deadline)
{
    for (uint64_t i = 0; i < TAG_MAX + 1; i++)
        assert_int_equal(tkw_pool_rearm(pool, handle, deadline), 1);
    const struct record *timer = record_at(pool, (uint32_t)handle);
    assert_int_not_equal(timer->word & WORD_MOVED, 0);
    return (uint32_t)timer->deadline;
}

/* Arm enough timers that the pool sweeps nothing. */
static void arm_many(struct tkw_pool *pool)
{
    for (size_t i = 0; i < 10 * TAG_MAX; i++)
        pool_arm(pool, TKW_NEVER, i);
}

/* A timer that was popped and kept has no entry left, so its tags begin at 0
 * again. */
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

/* The pool files no new entry, even for the tick that the timer has already. */
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
 * A timer leaves its second body when its deadline equals the index of its
 * first body.  The pool drops the last entry of the first body later, and must
 * not take the deadline for a reference to that body.
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

/* A handle with the index and the generation of a body names no timer. */
static void a_body_has_no_handle(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    tkw_handle handle = pool_arm(pool, 10, 0);
    uint32_t index = move_into_body(pool, handle, 10);
    const struct record *body = record_at(pool, index);
    assert_int_equal(body->word & WORD_STATE, IS_BODY);
    tkw_handle forged = (body->word & WORD_GENERATION) | index;
    assert_pool_state(pool, forged, TKW_STALE);
    assert_false(tkw_pool_cancel(pool, forged));
    assert_int_equal(tkw_pool_rearm(pool, forged, 20), 0);
    assert_pool_fires_on_time(pool, handle);
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_timer_never_runs_out_of_tags),
        cmocka_unit_test(a_timer_in_a_body_is_postponed_in_place),
        cmocka_unit_test(a_deadline_is_not_taken_for_the_number_of_a_body),
        cmocka_unit_test(a_body_has_no_handle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
