/*
 * pool/examples_test.c - the worked examples X1 to X25 in a pool.  A pool tells
 * of no slots, so each row is followed by what its dial says and by the times
 * it wants to be woken at: the expiration of each slot on the path.
 */
#include "support/pool.h"
#include "support/worked_examples.h"

static struct tkw_pool *pool_for(const struct example *example,
                                 tkw_handle *handle)
{
    struct tkw_pool *pool = pool_of(&example->geometry, example->start);
    tkw_pool_advance(pool, example->now);
    *handle = pool_arm(pool, example->deadline, 0);
    return pool;
}

static void assert_where(const struct tkw_pool *pool, tkw_tick deadline,
                         const struct step *step)
{
    struct tkw_spot spot = tkw_dial_where(tkw_pool_dial(pool), deadline);
    assert_int_equal(spot.level, step->level);
    assert_int_equal(spot.slot, step->slot);
    assert_int_equal(spot.expiration, step->expiration);
}

static void follow(const struct example *example)
{
    tkw_handle handle;
    struct tkw_pool *pool = pool_for(example, &handle);
    uint64_t worked = 0;
    for (const struct step *step = example->path; step->level != 0; step++) {
        assert_where(pool, example->deadline, step);
        assert_int_equal(tkw_pool_next(pool), step->expiration);
        tkw_pool_advance(pool, step->expiration - 1);
        assert_int_equal(tkw_pool_next(pool), step->expiration);
        assert_int_equal(tkw_pool_read_stats(pool).work.visits, worked);
        assert_pool_pops_none(pool);
        tkw_pool_advance(pool, step->expiration);
        worked = tkw_pool_read_stats(pool).work.visits;
        assert_pool_sound(pool);
    }
    if (example->path[0].level != 0) /* L6 */
        assert_true(tkw_pool_read_stats(pool).work.falls <
                    example->path[0].level);
    assert_int_equal(tkw_pool_now(pool), example->deadline);
    assert_pool_state(pool, handle, TKW_READY);
    assert_pool_pops(pool, handle);
    pool_done(pool);
}

/* Woken at the expiration of each slot on its path, and at no other time. */
static void every_example_takes_its_path(void **state)
{
    (void)state;
    follow_all(follow);
}

/* The same in one jump, tick by tick, or sleeping until next. */
static void every_example_fires_on_its_deadline(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(examples) * 3; i++) {
        const struct example *example = &examples[i / 3];
        tkw_handle handle;
        struct tkw_pool *pool = pool_for(example, &handle);
        if (i % 3 == 0)
            pool_wakes(pool);
        while (i % 3 == 1 && tkw_pool_now(pool) + 1 < example->deadline)
            tkw_pool_advance(pool, tkw_pool_now(pool) + 1);
        assert_pool_fires_on_time(pool, handle);
        assert_int_equal(tkw_pool_now(pool), example->deadline);
        pool_done(pool);
    }
}

/* X24.  After idle time the clock moves first: level 1 straight away. */
static void after_idle_time_a_timer_goes_straight_to_level_1(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_pool_advance(pool, 3600000);
    tkw_handle handle = pool_arm(pool, 3600005, 0);
    assert_int_equal(pool_wakes(pool), 1);
    assert_int_equal(tkw_pool_now(pool), 3600005);
    assert_int_equal(tkw_pool_read_stats(pool).work.falls, 0);
    assert_pool_pops(pool, handle);
    pool_done(pool);
}

/* X25.  One wake-up, at 400; not 399 empty ticks. */
static void a_timer_alone_at_400_wakes_once(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle handle = pool_arm(pool, 400, 0);
    assert_int_equal(tkw_pool_next(pool), 400);
    assert_int_equal(pool_wakes(pool), 1);
    assert_pool_pops(pool, handle);
    pool_done(pool);
}

/* 512 slots of 100 ms, in rounds: 60 s is slot 88 of the second turn. */
static void the_hashed_numbers_fire_on_time(void **state)
{
    (void)state;
    static const struct {
        uint64_t delay_ms, fires_at_ms;
    } rows[] = {{10, 100}, {100, 100}, {60000, 60000}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[5], 0);
        tkw_tick deadline = tkw_tick_deadline(rows[i].delay_ms, 100);
        struct tkw_spot spot = tkw_dial_where(tkw_pool_dial(pool), deadline);
        assert_int_equal(spot.level, 1);
        assert_int_equal(spot.slot, deadline % 512);
        assert_int_equal(deadline * 100, rows[i].fires_at_ms);
        assert_pool_fires_on_time(pool, pool_arm(pool, deadline, 0));
        pool_done(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_takes_its_path),
        cmocka_unit_test(every_example_fires_on_its_deadline),
        cmocka_unit_test(after_idle_time_a_timer_goes_straight_to_level_1),
        cmocka_unit_test(a_timer_alone_at_400_wakes_once),
        cmocka_unit_test(the_hashed_numbers_fire_on_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
