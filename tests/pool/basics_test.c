/*
 * pool/basics_test.c - what becomes of a timer in a pool: laws L1 (never
 * early), L2 (complete), L3 (one outcome each), L5 (past deadlines, the end of
 * time), and opening a pool in the first place.
 */
#include "support/pool.h"

#include <errno.h>

/* L1.  However far away, a timer fires on its deadline and not before. */
static void fires_on_its_deadline_at_every_distance(void **state)
{
    (void)state;
    static const tkw_tick starts[] = {0, 1, 400, 1000003};
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * COUNT_OF(starts); i++) {
        const struct tkw_geometry *shape = &pool_shapes[i / COUNT_OF(starts)];
        tkw_tick start = starts[i % COUNT_OF(starts)];
        for (unsigned bit = 0; bit < bits_of_reach(shape); bit++) {
            struct tkw_pool *pool = pool_of(shape, start);
            tkw_handle handle =
                pool_arm(pool, start + (UINT64_C(1) << bit), bit);
            assert_pool_fires_on_time(pool, handle);
            pool_done(pool);
        }
    }
}

/* L1.  The same around each power of two, where an entry's bits end. */
static void fires_on_its_deadline_around_every_power_of_two(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        unsigned bits = bits_of_reach(&pool_shapes[s]);
        for (unsigned bit = 2; bit < bits; bit++) {
            tkw_tick power = UINT64_C(1) << bit;
            tkw_handle before = pool_arm(pool, power - 1, 0);
            tkw_handle at = pool_arm(pool, power, 1);
            tkw_handle after = pool_arm(pool, power + 1, 2);
            assert_pool_fires_on_time(pool, before);
            assert_pool_fires_on_time(pool, at);
            assert_pool_fires_on_time(pool, after);
        }
        pool_done(pool);
    }
}

/*
 * L1.  The same for a tick that shifted by 7 to the left is what it is shifted
 * to the right: to take one for the other is a bug that shows nowhere else.
 */
static void fires_on_its_deadline_where_bits_repeat(void **state)
{
    (void)state;
    tkw_tick middle = UINT64_C(1) << 57 | UINT64_C(1) << 43 |
                      UINT64_C(1) << 29 | UINT64_C(1) << 15 | UINT64_C(1) << 1;
    assert_true(middle << 7 == middle >> 7);
    struct tkw_pool *pool = pool_of(NULL, middle - 1000);
    tkw_handle at = pool_arm(pool, middle, 0);
    tkw_handle after = pool_arm(pool, middle + 1, 0);
    assert_pool_fires_on_time(pool, at);
    assert_pool_fires_on_time(pool, after);
    pool_done(pool);
}

/* L1.  The same for every short distance, from wherever the last one ended. */
static void fires_on_its_deadline_from_everywhere(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        for (tkw_tick distance = 1; distance < 1300; distance++)
            assert_pool_fires_on_time(
                pool, pool_arm(pool, tkw_pool_now(pool) + distance, 0));
        pool_done(pool);
    }
}

/* L1, L2.  Tick by tick, with a timer for every tick of several turns. */
static void every_tick_fires_its_own_timer(void **state)
{
    (void)state;
    static tkw_handle handles[1000];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 17);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            handles[i] = pool_arm(pool, 18 + i, i);
        assert_pool_sound(pool);
        for (size_t i = 0; i < COUNT_OF(handles); i++) {
            tkw_pool_advance(pool, 18 + i);
            assert_pool_pops(pool, handles[i]);
            assert_pool_pops_none(pool);
        }
        pool_done(pool);
    }
}

/* L2.  One jump over any number of turns leaves nothing behind. */
static void a_jump_makes_all_that_is_due_ready(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        unsigned bits = bits_of_reach(&pool_shapes[s]);
        for (unsigned jump = 0; jump < bits; jump++) {
            tkw_handle handles[64];
            struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
            for (unsigned i = 0; i < bits; i++)
                handles[i] = pool_arm(pool, UINT64_C(1) << i, i);
            tkw_pool_advance(pool, UINT64_C(1) << jump);
            for (unsigned i = 0; i <= jump; i++)
                assert_pool_pops(pool, handles[i]);
            assert_pool_pops_none(pool);
            assert_int_equal(tkw_pool_count(pool), bits - 1 - jump);
            pool_done(pool);
        }
    }
}

/* L2.  A clock that stalls for a day, and then goes on. */
static void a_clock_that_stalls_loses_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 5);
        tkw_handle handle = pool_arm(pool, 50, 0);
        for (unsigned i = 0; i < 100; i++) {
            tkw_pool_advance(pool, 5);
            assert_pool_pops_none(pool);
        }
        assert_int_equal(tkw_pool_read_stats(pool).work.visits, 0);
        tkw_pool_advance(pool, 86400);
        assert_pool_pops(pool, handle);
        pool_done(pool);
    }
}

/* L5.  Zero, past and present are ready at once, behind what is ready. */
static void past_deadlines_are_ready_at_once_last_in_line(void **state)
{
    (void)state;
    static const tkw_tick deadlines[] = {1000, 5, 999, 0, 1000, 1};
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        tkw_handle handles[COUNT_OF(deadlines)];
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        tkw_handle due = pool_arm(pool, 1000, 0);
        tkw_pool_advance(pool, 1000);
        for (size_t i = 0; i < COUNT_OF(deadlines); i++) {
            handles[i] = pool_arm(pool, deadlines[i], i);
            assert_pool_state(pool, handles[i], TKW_READY);
            assert_int_equal(pool_deadline(pool, handles[i]), deadlines[i]);
            assert_int_equal(tkw_pool_next(pool), 1000);
        }
        assert_pool_sound(pool);
        assert_pool_pops(pool, due);
        for (size_t i = 0; i < COUNT_OF(deadlines); i++)
            assert_pool_pops(pool, handles[i]);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* L5.  A timer tells the deadline that was asked for, past or to come. */
static void a_shot_tells_the_deadline_that_was_asked_for(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 50);
        for (tkw_tick deadline = 0; deadline < 600; deadline += 7)
            pool_arm(pool, deadline, deadline);
        tkw_pool_advance(pool, 5000);
        size_t met = 0;
        for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer); met++)
            assert_int_equal(timer.deadline, timer.user.word);
        assert_int_equal(met, 86);
        pool_done(pool);
    }
}

/* L5.  The last deadline fires; the one after it never does. */
static void the_largest_tick_never_fires(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        unsigned bits = bits_of_reach(&pool_shapes[s]);
        tkw_tick start = TKW_NEVER - (TKW_NEVER >> (64 - bits));
        struct tkw_pool *pool = pool_of(&pool_shapes[s], start);
        tkw_handle never = pool_arm(pool, TKW_NEVER, 0);
        assert_int_equal(tkw_pool_count(pool), 1);
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        assert_pool_state(pool, never, TKW_PENDING);

        assert_pool_fires_on_time(pool, pool_arm(pool, TKW_NEVER - 1, 1));
        tkw_pool_advance(pool, TKW_NEVER);
        assert_pool_pops_none(pool);
        assert_pool_state(pool, never, TKW_PENDING);
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        assert_int_equal(tkw_pool_now(pool), TKW_NEVER);

        tkw_handle late = pool_arm(pool, TKW_NEVER, 2);
        tkw_pool_advance(pool, TKW_NEVER);
        assert_pool_pops_none(pool);
        assert_pool_state(pool, late, TKW_PENDING);
        assert_int_equal(tkw_pool_rearm(pool, late, TKW_NEVER - 1), 1);
        assert_pool_pops(pool, late);
        assert_true(tkw_pool_cancel(pool, never));
        pool_done(pool);
    }
}

/* L5.  Sums saturate: a delay that passes the end of time is for ever. */
static void a_delay_past_the_end_of_time_never_fires(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], TKW_NEVER - 100);
        tkw_handle handle = pool_arm(
            pool, tkw_tick_after(tkw_pool_now(pool), UINT64_C(1) << 63), 0);
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        pool_advance_surely(pool, TKW_NEVER);
        assert_pool_pops_none(pool);
        assert_true(tkw_pool_cancel(pool, handle));
        pool_done(pool);
    }
}

static void time_can_start_anywhere(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (unsigned i = 0; i < 2000; i++) {
        const struct tkw_geometry *shape =
            &pool_shapes[i % COUNT_OF(pool_shapes)];
        tkw_tick start = TKW_NEVER - random_magnitude(&seed, 64);
        tkw_tick delay = random_magnitude(&seed, bits_of_reach(shape));
        struct tkw_pool *pool = pool_of(shape, start);
        assert_int_equal(tkw_pool_now(pool), start);
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        tkw_tick deadline = tkw_tick_after(start, delay);
        tkw_handle handle = pool_arm(pool, deadline, 0);
        if (deadline != TKW_NEVER)
            assert_pool_fires_on_time(pool, handle);
        pool_done(pool);
    }
}

#ifdef NDEBUG
/* Time going back is a bug; without assertions it is ignored. */
static void time_going_back_is_ignored(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 1000);
    tkw_handle handle = pool_arm(pool, 1010, 0);
    tkw_pool_advance(pool, 5);
    assert_true(tkw_pool_advance_some(pool, 999, 1));
    assert_int_equal(tkw_pool_now(pool), 1000);
    tkw_pool_advance(pool, 1005); /* by now it knows which slot is next */
    assert_true(tkw_pool_advance_some(pool, 1004, 1));
    assert_int_equal(tkw_pool_now(pool), 1005);
    assert_pool_sound(pool);
    assert_pool_fires_on_time(pool, handle);
    pool_done(pool);
}
#endif

/* L3.  armed = fired + cancelled + drained + count, at every step. */
static void every_arming_has_one_outcome(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        tkw_handle handles[40];
        struct tkw_pool_timer timer;
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        for (unsigned i = 0; i < 40; i++)
            handles[i] = pool_arm(pool, i * i, i);
        assert_pool_sound(pool);
        for (unsigned i = 0; i < 40; i += 4)
            assert_true(tkw_pool_cancel(pool, handles[i]));
        assert_pool_sound(pool);
        tkw_pool_advance(pool, 400); /* the square of 20 */
        for (unsigned i = 0; i < 10; i++)
            assert_true(tkw_pool_pop(pool, &timer));
        assert_pool_sound(pool);
        while (tkw_pool_drain(pool, &timer))
            assert_pool_sound(pool);

        struct tkw_wheel_stats c = tkw_pool_read_stats(pool).work;
        assert_int_equal(c.armed, 40);
        assert_int_equal(c.cancelled, 10);
        assert_int_equal(c.fired, 10);
        assert_int_equal(c.drained, 20);
        pool_done(pool);
    }
}

/* L3, K8.  Moving a timer continues its arming: the count stays. */
static void moving_a_timer_is_not_arming_it_once_more(void **state)
{
    (void)state;
    static const tkw_tick deadlines[] = {5, 5, 500, 5000, 0, 6, TKW_NEVER, 7};
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle handle = pool_arm(pool, 3, 0);
    for (size_t i = 0; i < COUNT_OF(deadlines); i++) {
        assert_int_equal(tkw_pool_rearm(pool, handle, deadlines[i]), 1);
        assert_int_equal(pool_deadline(pool, handle), deadlines[i]);
        assert_int_equal(tkw_pool_postpone(pool, handle, deadlines[i] | 8), 1);
        assert_int_equal(pool_deadline(pool, handle), deadlines[i] | 8);
        assert_int_equal(tkw_pool_count(pool), 1);
        assert_int_equal(tkw_pool_read_stats(pool).work.armed, 1);
        assert_pool_sound(pool);
    }
    assert_pool_fires_on_time(pool, handle);
    assert_int_equal(tkw_pool_read_stats(pool).work.fired, 1);
    assert_int_equal(tkw_pool_count(pool), 0);
    pool_done(pool);
}

static void *allocate_nothing(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return NULL;
}

static void release_nothing(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)memory;
    (void)bytes;
}

/* A pool that cannot be opened leaves the caller's pointer as it was. */
static void a_pool_that_cannot_be_opened_changes_nothing(void **state)
{
    (void)state;
    static const struct tkw_allocator half = {.allocate = allocate_nothing};
    static const struct tkw_allocator other = {.release = release_nothing};
    static const struct tkw_allocator none = {0};
    static const struct tkw_pool_config wrong[] = {
        {.geometry = {.sizes = {1}}},
        {.geometry = {.sizes = {4, 0, 4}}},
        {.geometry = {.sizes = {4}, .beyond = 7}},
        {.allocator = &half},
        {.allocator = &other},
        {.allocator = &none},
        {.timers_max = (size_t)TKW_POOL_TIMERS_MAX + 1},
        {.timers_max = SIZE_MAX},
        {.reserved = {1}},
        {.reserved = {0, 0, 0, 1}},
    };
    struct tkw_pool *const mark = (struct tkw_pool *)(void *)&half;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct tkw_pool *pool = mark;
        assert_int_equal(tkw_pool_open(&pool, &wrong[i]), -EINVAL);
        assert_ptr_equal(pool, mark);
        assert_non_null(tkw_pool_config_fault(&wrong[i]));
    }
}

/* NULL is {0}; the largest limit is legal; closing nothing is fine. */
static void no_configuration_is_a_good_one(void **state)
{
    (void)state;
    static const struct tkw_pool_config most = {.timers_max =
                                                    TKW_POOL_TIMERS_MAX};
    assert_null(tkw_pool_config_fault(NULL));
    assert_null(tkw_pool_config_fault(&most));
    struct tkw_pool *pool = NULL;
    tkw_pool_close(NULL);
    assert_int_equal(tkw_pool_open(&pool, NULL), 0);
    assert_int_equal(tkw_pool_now(pool), 0);
    assert_int_equal(tkw_pool_count(pool), 0);
    assert_int_equal(tkw_pool_dial(pool)->levels[0].size, 128);
    assert_int_equal(tkw_pool_arm(pool, NULL, 77, (struct tkw_user){0}), 0);
    assert_int_equal(pool_wakes(pool), 1);
    assert_int_equal(tkw_pool_now(pool), 77);
    pool_done(pool);
    assert_int_equal(tkw_pool_open(&pool, &most), 0);
    tkw_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fires_on_its_deadline_at_every_distance),
        cmocka_unit_test(fires_on_its_deadline_around_every_power_of_two),
        cmocka_unit_test(fires_on_its_deadline_where_bits_repeat),
        cmocka_unit_test(fires_on_its_deadline_from_everywhere),
        cmocka_unit_test(every_tick_fires_its_own_timer),
        cmocka_unit_test(a_jump_makes_all_that_is_due_ready),
        cmocka_unit_test(a_clock_that_stalls_loses_nothing),
        cmocka_unit_test(past_deadlines_are_ready_at_once_last_in_line),
        cmocka_unit_test(a_shot_tells_the_deadline_that_was_asked_for),
        cmocka_unit_test(the_largest_tick_never_fires),
        cmocka_unit_test(a_delay_past_the_end_of_time_never_fires),
        cmocka_unit_test(time_can_start_anywhere),
#ifdef NDEBUG
        cmocka_unit_test(time_going_back_is_ignored),
#endif
        cmocka_unit_test(every_arming_has_one_outcome),
        cmocka_unit_test(moving_a_timer_is_not_arming_it_once_more),
        cmocka_unit_test(a_pool_that_cannot_be_opened_changes_nothing),
        cmocka_unit_test(no_configuration_is_a_good_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
