/*
 * pool/stall_test.c - law L9: a crowded slot falls in shares over the steps
 * before it is needed, so that no step of a tick moves a whole crowd; and
 * waking for that is rare.
 */
#include "support/pool.h"

/* In the default geometry: slots of level 2 and level 3, and their sizes. */
#define SLOT2 128
#define SLOT3 65536

#define FEW_THOUSAND 4000

/* One tick; all that is due is popped.  Returns how many it touched. */
static uint64_t step_once(struct tkw_pool *pool)
{
    static struct tkw_pool_timer timers[4096];
    uint64_t moved = pool_moved(pool), reads = tkw_pool_read_stats(pool).reads;
    tkw_pool_advance(pool, tkw_pool_now(pool) + 1);
    moved = pool_moved(pool) - moved;
    reads = tkw_pool_read_stats(pool).reads - reads;
    size_t count;
    while ((count = tkw_pool_pop_many(pool, timers, COUNT_OF(timers))) != 0)
        assert_int_equal(timers[count - 1].deadline, tkw_pool_now(pool));
    return moved > reads ? moved : reads;
}

/* The most that any single step up to `until` touched. */
static uint64_t worst_step(struct tkw_pool *pool, tkw_tick until)
{
    uint64_t worst = 0;
    while (tkw_pool_now(pool) < until) {
        uint64_t step = step_once(pool);
        worst = step > worst ? step : worst;
    }
    return worst;
}

/* Arm `count` timers, spread evenly over [from, from + length). */
static void arm_spread(struct tkw_pool *pool, size_t count, tkw_tick from,
                       tkw_tick length)
{
    for (size_t i = 0; i < count; i++)
        pool_arm(pool, from + i % length, i);
}

/* 200,000 in a slot of level 2: 1,563 a step over the 128 steps before. */
static void a_crowd_on_level_2_falls_in_shares(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    arm_spread(pool, 200000, 3 * SLOT2, SLOT2);
    uint64_t worst = worst_step(pool, 4 * SLOT2);
    assert_int_equal(tkw_pool_count(pool), 0);
    assert_true(worst <= 2 * (200000 / 128) + 1024);
    assert_true(tkw_pool_read_stats(pool).work.falls <= 200000);
    assert_in_range(tkw_pool_read_stats(pool).shares, 2, 4 * SLOT2 * 4);
    assert_in_range(tkw_pool_read_stats(pool).work.visits, SLOT2, 4 * SLOT2);
    pool_done(pool);
}

/* All of them for one tick: due together, but not moved together. */
static void a_crowd_for_one_tick_falls_in_shares(void **state)
{
    (void)state;
    for (tkw_tick offset = 0; offset < SLOT2; offset += 63) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        arm_spread(pool, 200000, 5 * SLOT2 + offset, 1);
        uint64_t worst = worst_step(pool, 6 * SLOT2);
        assert_int_equal(tkw_pool_count(pool), 0);
        assert_true(worst <= 2 * (200000 / 128) + 1024);
        pool_done(pool);
    }
}

/* In a slot of level 3: 512 slots of level 2 to fall into, then 128 ticks. */
static void a_crowd_on_level_3_falls_in_shares(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    arm_spread(pool, 200000, 2 * SLOT3, SLOT3);
    uint64_t worst = worst_step(pool, 3 * SLOT3);
    assert_int_equal(tkw_pool_count(pool), 0);
    assert_true(worst <= 2 * (200000 / 512) + 2 * (200000 / 512) + 1024);
    assert_true(tkw_pool_read_stats(pool).work.falls <= 400000);
    pool_done(pool);
}

/* In a slot of level 3, all for one tick: first in shares of 391, then 1,563 */
static void a_crowd_on_level_3_for_one_tick_falls_in_shares(void **state)
{
    (void)state;
    static const tkw_tick offsets[] = {0, 1, SLOT2, SLOT3 / 2 + 7, SLOT3 - 1};
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        arm_spread(pool, 200000, 2 * SLOT3 + offsets[i], 1);
        uint64_t worst = worst_step(pool, 3 * SLOT3);
        assert_int_equal(tkw_pool_count(pool), 0);
        assert_true(worst <= 2 * (200000 / 128 + 200000 / 512) + 1024);
        pool_done(pool);
    }
}

/* Every slot crowded at once, on all levels of a small wheel. */
static void crowds_everywhere_fall_in_shares(void **state)
{
    (void)state;
    static const struct tkw_geometry small = {.sizes = {16, 16}};
    struct tkw_pool *pool = pool_of(&small, 0);
    arm_spread(pool, 200000, 1, 4096);
    uint64_t worst = worst_step(pool, 4097);
    assert_int_equal(tkw_pool_count(pool), 0);
    /* a slot of level 2 has 781, of level 3 12,500: a sixteenth of each */
    assert_true(worst <= 2 * (781 / 16 + 12500 / 16) + 1024);
    pool_done(pool);
}

/*
 * A crowd for one tick, all of them postponed before it comes: nothing is due
 * then, so that step must not be the one that files them all anew.
 */
static void a_crowd_that_was_postponed_is_no_stall(void **state)
{
    (void)state;
    static tkw_handle handles[200000];
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, 3 * SLOT2 + 5, i);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        tkw_pool_postpone(pool, handles[i], 4000 + i % 1000);
    uint64_t worst = worst_step(pool, 5000);
    assert_int_equal(tkw_pool_count(pool), 0);
    assert_true(worst <= 2 * (200000 / 128) + 1024);
    pool_done(pool);
}

/*
 * A burst armed into the slot that begins in a moment: there are no steps left
 * to fall in, so it must not be for the next step to move it all.
 */
static void a_burst_into_the_slot_about_to_begin_is_no_stall(void **state)
{
    (void)state;
    for (tkw_tick left = 1; left <= 3; left++) {
        tkw_tick begins = 7 * SLOT2;
        struct tkw_pool *pool = pool_of(NULL, 0);
        pool_arm(pool, begins + SLOT2 - 1, 0);
        pool_advance_surely(pool, begins - left);
        arm_spread(pool, 100000, begins + SLOT2 - left, left);
        assert_pool_sound(pool);
        uint64_t worst = worst_step(pool, begins + SLOT2);
        assert_int_equal(tkw_pool_count(pool), 0);
        assert_true(worst <= FEW_THOUSAND);
        pool_done(pool);
    }
}

/* The same a level higher, where what falls in time will fall again. */
static void a_burst_into_an_upper_slot_about_to_begin_is_no_stall(void **state)
{
    (void)state;
    for (tkw_tick left = 1; left <= 3; left++) {
        tkw_tick begins = 2 * SLOT3;
        struct tkw_pool *pool = pool_of(NULL, 0);
        pool_advance_surely(pool, begins - left);
        arm_spread(pool, 100000, begins + SLOT3 - SLOT2, SLOT2);
        assert_pool_sound(pool);
        uint64_t worst = worst_step(pool, begins + SLOT3);
        assert_int_equal(tkw_pool_count(pool), 0);
        assert_true(worst <= FEW_THOUSAND);
        pool_done(pool);
    }
}

/* And one that goes on while the last shares fall, tick after tick. */
static void bursts_until_the_slot_begins_are_no_stall(void **state)
{
    (void)state;
    tkw_tick begins = 7 * SLOT2, due = 8 * SLOT2 - 1;
    struct tkw_pool *pool = pool_of(NULL, 0);
    uint64_t worst = 0;
    for (tkw_tick now = begins - 100; now < begins; now++) {
        pool_advance_surely(pool, now);
        arm_spread(pool, 1000, due, 1);
        uint64_t step = worst_step(pool, now + 1);
        worst = step > worst ? step : worst;
    }
    uint64_t step = worst_step(pool, due);
    worst = step > worst ? step : worst;
    assert_int_equal(tkw_pool_count(pool), 0);
    assert_true(worst <= FEW_THOUSAND);
    pool_done(pool);
}

/* A crowd that was cancelled is dropped in shares, too. */
static void a_cancelled_crowd_is_no_stall(void **state)
{
    (void)state;
    static tkw_handle handles[200000];
    for (tkw_tick from = 3 * SLOT2; from < 3 * SLOT3; from += SLOT3 - SLOT2) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            handles[i] = pool_arm(pool, from + i % SLOT2, i);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            assert_true(tkw_pool_cancel(pool, handles[i]));
        uint64_t worst = worst_step(pool, from + SLOT2);
        assert_int_equal(tkw_pool_read_stats(pool).entries, 0);
        assert_true(worst <= FEW_THOUSAND);
        pool_done(pool);
    }
}

/* And one that was postponed is filed anew as its ticks come. */
static void a_postponed_crowd_is_no_stall(void **state)
{
    (void)state;
    static tkw_handle handles[200000];
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, 3 * SLOT2 + i % SLOT2, i);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        assert_int_equal(
            tkw_pool_postpone(pool, handles[i], 30 * SLOT2 + i % 1000), 1);
    assert_true(worst_step(pool, 30 * SLOT2 + 1000) <= FEW_THOUSAND);
    assert_int_equal(tkw_pool_count(pool), 0);
    pool_done(pool);
}

/* A steady load, each step as the last: ten armed, six cancelled a tick. */
static void a_steady_load_never_stalls(void **state)
{
    (void)state;
    uint64_t seed = random_seed(), worst = 0;
    struct tkw_pool *pool = pool_of(NULL, 0);
    tkw_handle recent[512] = {0};
    for (tkw_tick now = 0; now < 100000; now++) {
        for (unsigned i = 0; i < 10; i++) {
            tkw_tick delay = 1 + random_below(&seed, 60000);
            tkw_handle handle = pool_arm(pool, now + delay, 0);
            if (i < 6)
                recent[random_below(&seed, COUNT_OF(recent))] = handle;
            tkw_pool_cancel(pool, recent[random_below(&seed, 512)]);
        }
        uint64_t step = step_once(pool);
        worst = step > worst ? step : worst;
    }
    assert_true(worst <= 1024);
    pool_done(pool);
}

/* The most that any advance touched of those that next asks for, and how many
 * these are. */
static uint64_t worst_sleep(struct tkw_pool *pool, uint64_t *wakes)
{
    uint64_t worst = 0;
    for (*wakes = 0; tkw_pool_next(pool) != TKW_NEVER; ++*wakes) {
        uint64_t moved = pool_moved(pool);
        tkw_pool_advance(pool, tkw_pool_next(pool));
        moved = pool_moved(pool) - moved;
        worst = moved > worst ? moved : worst;
        for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);)
            assert_int_equal(timer.deadline, tkw_pool_now(pool));
    }
    return worst;
}

/*
 * With nothing else to wake up for, a crowd that is many slots away: the
 * sleeper is to come when it can begin to fall, not when it has to be done.
 */
static void a_crowd_does_not_fall_at_once_on_who_sleeps_until_next(void **state)
{
    (void)state;
    static const tkw_tick far[] = {2 * SLOT2 + 5,      9 * SLOT2,
                                   40 * SLOT2 - 1,     2 * SLOT3,
                                   27 * SLOT3 + 30000, 64 * SLOT3 + 12345};
    for (size_t i = 0; i < COUNT_OF(far); i++) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        uint64_t wakes;
        arm_spread(pool, 200000, far[i], 1);
        assert_true(worst_sleep(pool, &wakes) <= 2 * (200000 / 128) + 1024);
        assert_int_equal(tkw_pool_count(pool), 0);
        assert_true(wakes <= pool_moved(pool) / 1000 + 4);
        pool_done(pool);
    }
}

/* It may come too late for the beginning, and still must not do all at once. */
static void a_crowd_does_not_fall_at_once_on_who_oversleeps(void **state)
{
    (void)state;
    for (tkw_tick late = 1; late < SLOT2; late += 25) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        arm_spread(pool, 50000, 40 * SLOT2, SLOT2);
        tkw_tick asked = tkw_pool_next(pool);
        assert_int_equal(asked, 39 * SLOT2);
        uint64_t moved = pool_moved(pool), left = SLOT2 - late;
        tkw_pool_advance(pool, asked + late);
        assert_true(pool_moved(pool) - moved <= 50000 / left + 1024);
        assert_true(worst_step(pool, 41 * SLOT2) <= 50000 / left + 1024);
        assert_int_equal(tkw_pool_count(pool), 0);
        pool_done(pool);
    }
}

/* L7.  Sleeping until next: one wake-up per slot, one per thousand moved. */
static void waking_for_shares_is_rare(void **state)
{
    (void)state;
    static const tkw_tick offsets[] = {0, 5, SLOT2 - 1};
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        arm_spread(pool, 200000, 3 * SLOT2 + offsets[i], 1);
        size_t wakes = pool_wakes(pool);
        assert_int_equal(tkw_pool_now(pool), 3 * SLOT2 + offsets[i]);
        assert_true(wakes <= 200000 / 1000 + 2);
        pool_done(pool);
    }
}

/* L7.  The same where the crowd is spread, and from two levels up. */
static void waking_for_shares_of_a_spread_crowd_is_rare(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    arm_spread(pool, 200000, 2 * SLOT3, SLOT3);
    size_t wakes = 0, fired = 0;
    while (tkw_pool_count(pool) != 0) {
        wakes += pool_wakes(pool);
        for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);)
            fired++;
    }
    assert_int_equal(fired, 200000);
    /* ticks, slots of level 2, the slot of level 3; then the thousands */
    assert_true(wakes <= SLOT3 + 512 + 1 + pool_moved(pool) / 1000);
    pool_done(pool);
}

/* A slot that is not crowded falls whole, when it begins. */
static void a_slot_of_a_hundred_falls_whole(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    arm_spread(pool, 100, 3 * SLOT2 + 5, 1);
    assert_int_equal(worst_step(pool, 3 * SLOT2 - 1), 0);
    assert_int_equal(worst_step(pool, 3 * SLOT2), 100);
    assert_int_equal(tkw_pool_read_stats(pool).shares, 0);
    pool_done(pool);
}

/*
 * Timers that were cancelled or postponed on the lowest level, all of one tick:
 * nothing is due at that tick, but every entry has to be handled.  A budget
 * bounds that as it bounds everything else.
 */
static void a_budget_bounds_a_dead_crowd_on_the_lowest_level(void **state)
{
    (void)state;
    enum { BUDGET = 1000 };
    static tkw_handle handles[200000];
    for (int is_postponed = 0; is_postponed < 2; is_postponed++) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            handles[i] = pool_arm(pool, 5, i);
        for (size_t i = 0; i < COUNT_OF(handles); i++) {
            if (is_postponed)
                tkw_pool_postpone(pool, handles[i], 100);
            else
                tkw_pool_cancel(pool, handles[i]);
        }
        size_t calls = 0;
        for (bool is_there = false; !is_there; calls++) {
            struct tkw_pool_stats before = tkw_pool_read_stats(pool);
            is_there = tkw_pool_advance_some(pool, 5, BUDGET);
            struct tkw_pool_stats after = tkw_pool_read_stats(pool);
            uint64_t handled = after.work.refiles - before.work.refiles +
                               before.entries - after.entries;
            assert_in_range(handled, 0, BUDGET);
        }
        assert_in_range(calls, COUNT_OF(handles) / BUDGET,
                        COUNT_OF(handles) / BUDGET + 2);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crowd_on_level_2_falls_in_shares),
        cmocka_unit_test(a_crowd_for_one_tick_falls_in_shares),
        cmocka_unit_test(a_crowd_on_level_3_falls_in_shares),
        cmocka_unit_test(a_crowd_on_level_3_for_one_tick_falls_in_shares),
        cmocka_unit_test(crowds_everywhere_fall_in_shares),
        cmocka_unit_test(a_crowd_that_was_postponed_is_no_stall),
        cmocka_unit_test(a_burst_into_the_slot_about_to_begin_is_no_stall),
        cmocka_unit_test(a_burst_into_an_upper_slot_about_to_begin_is_no_stall),
        cmocka_unit_test(bursts_until_the_slot_begins_are_no_stall),
        cmocka_unit_test(a_cancelled_crowd_is_no_stall),
        cmocka_unit_test(a_budget_bounds_a_dead_crowd_on_the_lowest_level),
        cmocka_unit_test(a_postponed_crowd_is_no_stall),
        cmocka_unit_test(a_steady_load_never_stalls),
        cmocka_unit_test(
            a_crowd_does_not_fall_at_once_on_who_sleeps_until_next),
        cmocka_unit_test(a_crowd_does_not_fall_at_once_on_who_oversleeps),
        cmocka_unit_test(waking_for_shares_is_rare),
        cmocka_unit_test(waking_for_shares_of_a_spread_crowd_is_rare),
        cmocka_unit_test(a_slot_of_a_hundred_falls_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
