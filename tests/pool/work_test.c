/*
 * pool/work_test.c - what a pool costs: laws L6 (constant work, few falls), L7
 * (no empty ticks), L8 (next is never late), and that what is dead stays below
 * what is alive, plus a constant.
 */
#include "support/pool.h"

#define DEAD_CONSTANT 16384

/* What a single call may move and look at: upkeep in small steps. */
#define CALL_CONSTANT 256

static uint64_t touched(const struct tkw_pool *pool)
{
    return pool_moved(pool) + tkw_pool_read_stats(pool).reads;
}

static void assert_touched_few(const struct tkw_pool *pool, uint64_t *before)
{
    assert_true(touched(pool) - *before <= CALL_CONSTANT);
    *before = touched(pool);
}

/* L6.  Whatever is pending, live or dead, a call has a bound. */
static void arm_cancel_and_postpone_touch_few_others(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 3);
        uint64_t before = 0;
        for (size_t i = 0; i < 50000; i++) {
            tkw_handle handle = pool_arm(pool, 4 + i * 7, i);
            assert_touched_few(pool, &before);
            assert_int_equal(tkw_pool_postpone(pool, handle, 500000), 1);
            assert_touched_few(pool, &before);
            assert_int_equal(tkw_pool_postpone(pool, handle, 900), 1);
            assert_touched_few(pool, &before);
            assert_int_equal(tkw_pool_rearm(pool, handle, 4 + i * 7), 1);
            assert_touched_few(pool, &before);
            if (i % 2 == 0)
                assert_true(tkw_pool_cancel(pool, handle));
            assert_touched_few(pool, &before);
        }
        assert_int_equal(tkw_pool_read_stats(pool).work.visits, 0);
        assert_pool_sound(pool);
        tkw_pool_close(pool);
    }
}

/* L6.  From level n a timer falls at most n-1 times, stepping or jumping. */
static void a_timer_falls_at_most_once_per_level(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 64; i++) {
        const struct tkw_geometry *shape = &pool_shapes[i / 64];
        if (i % 64 >= bits_of_reach(shape))
            continue;
        tkw_tick deadline = 777 + (UINT64_C(1) << i % 64);
        struct tkw_pool *pool = pool_of(shape, 777);
        struct tkw_spot spot = tkw_dial_where(tkw_pool_dial(pool), deadline);
        tkw_handle handle = pool_arm(pool, deadline, 0);
        pool_wakes(pool);
        assert_int_equal(tkw_pool_now(pool), deadline);
        assert_true(tkw_pool_read_stats(pool).work.falls <= spot.level - 1);
        assert_pool_pops(pool, handle);
        pool_done(pool);
    }
}

/* L7.  An empty pool asks for no wake-up and visits no slot. */
static void an_empty_pool_never_wakes(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        for (unsigned bit = 0; bit < 64; bit++)
            tkw_pool_advance(pool, UINT64_C(1) << bit);
        assert_int_equal(tkw_pool_read_stats(pool).work.visits, 0);
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        pool_done(pool);
    }
}

/* L7.  Emptied by firing, it is as if never used. */
static void a_pool_that_has_fired_all_never_wakes(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        for (size_t i = 0; i < 3000; i++)
            pool_arm(pool, i % 1500, i);
        tkw_pool_advance(pool, 1500);
        for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);)
            continue;
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        uint64_t visits = tkw_pool_read_stats(pool).work.visits;
        for (unsigned bit = 11; bit < 64; bit++)
            tkw_pool_advance(pool, UINT64_C(1) << bit);
        assert_int_equal(tkw_pool_read_stats(pool).work.visits, visits);
        assert_int_equal(tkw_pool_read_stats(pool).entries, 0);
        pool_done(pool);
    }
}

/* L7.  A million ticks skipped are as cheap as one. */
static void skipped_ticks_visit_no_slot(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    pool_arm(pool, UINT64_C(1) << 62, 0);
    tkw_tick first = tkw_pool_next(pool);
    for (tkw_tick now = 1; now < first; now *= 3)
        tkw_pool_advance(pool, now);
    tkw_pool_advance(pool, first - 1);
    assert_int_equal(tkw_pool_read_stats(pool).work.visits, 0);
    tkw_pool_advance(pool, first);
    assert_int_equal(tkw_pool_read_stats(pool).work.visits, 1);
    pool_done(pool);
}

/* L7.  One timer alone wakes at most once per level, whatever its distance. */
static void one_timer_alone_wakes_at_most_once_per_level(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (unsigned i = 0; i < 3000; i++) {
        const struct tkw_geometry *shape =
            &pool_shapes[i % COUNT_OF(pool_shapes)];
        if (shape->beyond == TKW_ROUNDS)
            continue;
        tkw_tick start = random_magnitude(&seed, 63);
        tkw_tick deadline = start + 1 + random_magnitude(&seed, 62);
        struct tkw_pool *pool = pool_of(shape, start);
        struct tkw_spot spot = tkw_dial_where(tkw_pool_dial(pool), deadline);
        tkw_handle handle = pool_arm(pool, deadline, 0);
        assert_in_range(pool_wakes(pool), 1, spot.level);
        assert_int_equal(tkw_pool_now(pool), deadline);
        assert_pool_pops(pool, handle);
        pool_done(pool);
    }
}

/* L7.  In rounds it wakes at most once per turn of the ring, and level. */
static void one_timer_alone_wakes_at_most_once_per_turn(void **state)
{
    (void)state;
    for (tkw_tick delay = 1; delay < 5000; delay += 1 + delay / 7) {
        struct tkw_pool *hashed = pool_of(&pool_shapes[5], 100);
        struct tkw_pool *two = pool_of(&pool_shapes[6], 100);
        pool_arm(hashed, 100 + delay, 0);
        pool_arm(two, 100 + delay, 0);
        assert_in_range(pool_wakes(hashed), 1, delay / 512 + 1);
        assert_in_range(pool_wakes(two), 1, delay / 35 + 2);
        assert_int_equal(tkw_pool_now(hashed), 100 + delay);
        assert_int_equal(tkw_pool_now(two), 100 + delay);
        pool_done(hashed);
        pool_done(two);
    }
}

/* L7.  A slot whose timers were all cancelled wakes at most once. */
static void a_cancelled_slot_wakes_at_most_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 64; i++) {
        tkw_handle handles[3];
        struct tkw_pool *pool = pool_of(&pool_shapes[i / 64], 5);
        tkw_tick deadline = 5 + (UINT64_C(1) << i % 64);
        for (size_t t = 0; t < COUNT_OF(handles); t++)
            handles[t] = pool_arm(pool, deadline, t);
        for (size_t t = 0; t < COUNT_OF(handles); t++)
            assert_true(tkw_pool_cancel(pool, handles[t]));
        assert_true(pool_wakes(pool) <= 1);
        assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
        assert_int_equal(tkw_pool_read_stats(pool).entries, 0);
        pool_done(pool);
    }
}

/* L7.  Even a crowd: then once per thousand, for falling in shares. */
static void a_cancelled_crowd_wakes_hardly_anybody(void **state)
{
    (void)state;
    static tkw_handle handles[20000];
    for (tkw_tick delay = 100; delay < 100000000; delay *= 10) {
        struct tkw_pool *pool = pool_of(NULL, 5);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            handles[i] = pool_arm(pool, 5 + delay, i);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            assert_true(tkw_pool_cancel(pool, handles[i]));
        assert_true(pool_wakes(pool) <= 1 + COUNT_OF(handles) / 1000);
        assert_int_equal(tkw_pool_read_stats(pool).entries, 0);
        pool_done(pool);
    }
}

/* L7.  The slots that one timer was moved away from: once each at most. */
static void slots_armed_away_from_wake_once_at_most(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle handle = pool_arm(pool, 1, 0);
    for (tkw_tick deadline = 2; deadline < 20; deadline++)
        assert_int_equal(tkw_pool_rearm(pool, handle, deadline), 1);
    assert_int_equal(tkw_pool_rearm(pool, handle, TKW_NEVER), 1);
    assert_true(pool_wakes(pool) <= 19);
    assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
    assert_pool_state(pool, handle, TKW_PENDING);
    pool_done(pool);
}

/* L8.  While something is ready, the time to advance is now. */
static void next_is_now_while_anything_is_ready(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle first = pool_arm(pool, 30, 0);
    tkw_handle gone = pool_arm(pool, 31, 0);
    pool_arm(pool, 3000, 0);
    tkw_pool_advance(pool, 100);
    assert_int_equal(tkw_pool_next(pool), 100);
    assert_pool_pops(pool, first);
    assert_int_equal(tkw_pool_next(pool), 100);
    assert_true(tkw_pool_cancel(pool, gone));
    assert_pool_pops_none(pool);
    assert_int_equal(tkw_pool_next(pool), 2800);
    pool_done(pool);
}

static void change_anything(struct tkw_pool *pool, tkw_handle *handle,
                            uint64_t *seed, unsigned bits)
{
    tkw_tick deadline =
        tkw_tick_after(tkw_pool_now(pool), random_magnitude(seed, bits));
    switch (random_below(seed, 5)) {
    case 0:
        tkw_pool_cancel(pool, *handle);
        break;
    case 1:
        tkw_pool_postpone(pool, *handle, deadline);
        break;
    case 2:
        tkw_pool_rearm(pool, *handle, deadline);
        break;
    default:
        if (tkw_pool_query(pool, *handle, NULL) != TKW_PENDING)
            *handle = pool_arm(pool, deadline, 0);
    }
}

/* L8.  Against a scan of all deadlines, whatever is called. */
static void next_is_never_later_than_the_earliest_deadline(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        tkw_handle handles[12] = {0};
        unsigned bits = pool_shapes[s].beyond == TKW_ROUNDS ? 9 : 40;
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        for (unsigned step = 0; step < 3000; step++) {
            change_anything(pool, &handles[random_below(&seed, 12)], &seed,
                            bits);
            struct tkw_pool_timer timer;
            while (tkw_pool_pop(pool, &timer))
                continue;

            tkw_tick next = tkw_pool_next(pool);
            struct tkw_pool_cursor walk = {0};
            while (tkw_pool_walk(pool, &walk, &timer))
                assert_true(next <= timer.deadline);
            assert_true(next > tkw_pool_now(pool));
            if (random_below(&seed, 3) == 0 && next != TKW_NEVER)
                tkw_pool_advance(pool, next);
            assert_pool_sound(pool);
        }
        pool_done(pool);
    }
}

#define LIVE 1000

/*
 * L7, and memory.  A million armed and cancelled before their slot begins: only
 * slots of upper levels wake anybody, and once; memory stands still, and what
 * is dead is bounded.
 */
static void a_million_armed_and_cancelled_cost_next_to_nothing(void **state)
{
    (void)state;
    static tkw_handle ring[LIVE];
    uint64_t seed = random_seed(), wakes = 0, warm = 0;
    struct tkw_pool *pool = pool_of(NULL, 0);
    tkw_tick clock = 0;
    for (size_t i = 0; i < 1000000; i++) {
        tkw_handle *oldest = &ring[i % LIVE];
        assert_int_equal(tkw_pool_cancel(pool, *oldest), i >= LIVE);
        *oldest = pool_arm(pool, clock + 400 + random_below(&seed, 30000), i);
        struct tkw_pool_stats c = tkw_pool_read_stats(pool);
        assert_true(c.dead <= tkw_pool_count(pool) + DEAD_CONSTANT);
        if (i < 300000)
            warm = c.bytes > warm ? c.bytes : warm;
        else
            assert_true(c.bytes <= warm + warm / 8);
        clock += i % 10 == 9;
        if (tkw_pool_next(pool) <= clock) {
            tkw_pool_advance(pool, clock);
            assert_pool_pops_none(pool);
            wakes++;
        }
    }
    /* 781 slots of level 2 and one of level 3 have begun */
    assert_true(wakes <= clock / 128 + clock / 65536);
    assert_int_equal(tkw_pool_count(pool), LIVE);
    assert_in_range(tkw_pool_read_stats(pool).sweeps, 1, 1000000);
    assert_in_range(tkw_pool_read_stats(pool).reads, 1, 20000000);
    assert_int_equal(tkw_pool_read_stats(pool).retired, 0);
    pool_done(pool);
}

/* Time standing still, arming alone keeps the dead few. */
static void the_dead_are_swept_though_time_stands_still(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        for (size_t i = 0; i < 200000; i++) {
            tkw_tick deadline = 1 + random_magnitude(&seed, 30);
            tkw_handle handle = pool_arm(pool, deadline, i);
            struct tkw_pool_stats c = tkw_pool_read_stats(pool);
            assert_true(c.dead <= tkw_pool_count(pool) + DEAD_CONSTANT);
            assert_true(c.entries - c.dead <= tkw_pool_count(pool));
            if (i % 100 != 0)
                assert_true(tkw_pool_cancel(pool, handle));
        }
        assert_int_equal(tkw_pool_count(pool), 2000);
        assert_pool_sound(pool);
        tkw_pool_close(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arm_cancel_and_postpone_touch_few_others),
        cmocka_unit_test(a_timer_falls_at_most_once_per_level),
        cmocka_unit_test(an_empty_pool_never_wakes),
        cmocka_unit_test(a_pool_that_has_fired_all_never_wakes),
        cmocka_unit_test(skipped_ticks_visit_no_slot),
        cmocka_unit_test(one_timer_alone_wakes_at_most_once_per_level),
        cmocka_unit_test(one_timer_alone_wakes_at_most_once_per_turn),
        cmocka_unit_test(a_cancelled_slot_wakes_at_most_once),
        cmocka_unit_test(a_cancelled_crowd_wakes_hardly_anybody),
        cmocka_unit_test(slots_armed_away_from_wake_once_at_most),
        cmocka_unit_test(next_is_now_while_anything_is_ready),
        cmocka_unit_test(next_is_never_later_than_the_earliest_deadline),
        cmocka_unit_test(a_million_armed_and_cancelled_cost_next_to_nothing),
        cmocka_unit_test(the_dead_are_swept_though_time_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
