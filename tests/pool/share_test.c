/*
 * pool/share_test.c - crowds that fall ahead of time, seen from inside: how
 * much goes at a time, what has to go first, who is woken for it.
 */
#include "support/pool.h"

#include "pool/private.h"

/*
 * A slot of level 2 that is about to begin gives nothing up while two levels
 * above it there is a crowd for the same ticks: that was armed before.
 */
static void assert_crowd_above_goes_first(const struct tkw_geometry *geometry)
{
    enum { COUNT = TKW_CROWDED_CHUNKS * CHUNK_ENTRIES };
    struct tkw_pool *pool = pool_of(geometry, 0);
    static tkw_handle handles[2 * COUNT];
    for (size_t i = 0; i < COUNT; i++)
        handles[i] = pool_arm(pool, 129, i);
    assert_true(tkw_pool_advance_some(pool, 125, 0));
    const struct slot *above = &pool->slots[pool->rings[3].first + 2];
    assert_int_equal(above->chunks, TKW_CROWDED_CHUNKS);
    for (size_t i = COUNT; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, 129, i);
    assert_true(above->chunks < TKW_CROWDED_CHUNKS);
    assert_pool_sound(pool);
    pool_advance_surely(pool, 129);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        assert_pool_pops(pool, handles[i]);
    pool_done(pool);
}

static void a_crowd_two_levels_above_goes_first(void **state)
{
    (void)state;
    static const struct tkw_geometry four = {.sizes = {4}};
    static const struct tkw_geometry rounds = {.sizes = {4, 4, 4, 4},
                                               .beyond = TKW_ROUNDS};
    assert_crowd_above_goes_first(&four);
    assert_crowd_above_goes_first(&rounds);
}

/* Arm so many and go to `now`, nothing having been moved ahead of time. */
static struct tkw_pool *pool_with_crowd(const struct tkw_geometry *geometry,
                                        size_t count, tkw_tick deadline,
                                        tkw_tick now)
{
    struct tkw_pool *pool = pool_of(geometry, 0);
    for (size_t i = 0; i < count; i++)
        pool_arm(pool, deadline, i);
    assert_true(tkw_pool_advance_some(pool, now, 0));
    assert_int_equal(pool_moved(pool), 0);
    assert_int_equal(tkw_pool_read_stats(pool).shares, 0);
    return pool;
}

/* From level 3 on it has to be gone a slot of the level below earlier. */
static void a_large_crowd_asks_to_be_woken_for_each_share(void **state)
{
    (void)state;
    enum { COUNT = 10 * TKW_WAKE_SHARE, CHUNKS = COUNT / CHUNK_ENTRIES + 1 };
    const uint64_t shares = CHUNKS * CHUNK_ENTRIES / TKW_WAKE_SHARE;
    struct tkw_pool *pool = pool_with_crowd(NULL, COUNT, 300, 130);
    assert_int_equal(tkw_pool_next(pool), 130 + (256 - 130) / shares + 1);
    pool_done(pool);
    pool = pool_with_crowd(NULL, COUNT, 131080, 65540);
    assert_int_equal(tkw_pool_next(pool),
                     65540 + (131072 - 128 - 65540) / shares + 1);
    pool_done(pool);
    pool = pool_with_crowd(NULL, COUNT, 131080, 131072 - 128);
    assert_int_equal(tkw_pool_next(pool), 131072); /* late anyway */
    pool_done(pool);
    pool = pool_with_crowd(NULL, 3 * TKW_WAKE_SHARE / 2, 300, 130);
    assert_int_equal(tkw_pool_next(pool), 256); /* not worth a share */
    pool_done(pool);
    pool = pool_with_crowd(NULL, 3 * TKW_WAKE_SHARE / 2, 131080, 65540);
    assert_int_equal(tkw_pool_next(pool), 131072);
    pool_done(pool);
    pool = pool_with_crowd(NULL, 2 * TKW_WAKE_SHARE, 300, 130);
    assert_int_equal(tkw_pool_next(pool), 130 + (256 - 130) / 2 + 1);
    pool_done(pool);
}

static void a_share_is_what_the_time_gone_by_is_of_the_time_left(void **state)
{
    (void)state;
    enum { CHUNKS = 100 };
    struct tkw_pool *pool =
        pool_with_crowd(NULL, CHUNKS * CHUNK_ENTRIES, 300, 130);
    uint64_t share = CHUNKS * CHUNK_ENTRIES / ((256 - 140) / 10 + 1) + 1;
    tkw_pool_advance(pool, 140);
    assert_int_equal(pool_moved(pool), share);
    assert_int_equal(tkw_pool_read_stats(pool).shares, 1);
    uint64_t left = CHUNKS - share / CHUNK_ENTRIES;
    share += left * CHUNK_ENTRIES / (256 - 141 + 1) + 1;
    tkw_pool_advance(pool, 141);
    assert_int_equal(pool_moved(pool), share);
    assert_int_equal(tkw_pool_read_stats(pool).shares, 2);
    pool_done(pool);
    pool = pool_with_crowd(NULL, CHUNKS * CHUNK_ENTRIES, 300, 254);
    tkw_pool_advance(pool, 255);
    assert_int_equal(pool_moved(pool), CHUNKS * CHUNK_ENTRIES / 2 + 1);
    pool_done(pool);
}

/* The time gone by counts from when the hand came to the slot before; who was
 * elsewhere then has slept, and begins with a small share. */
static void a_share_counts_time_only_beside_the_crowd(void **state)
{
    (void)state;
    enum { CHUNKS = 100, COUNT = CHUNKS * CHUNK_ENTRIES };
    struct tkw_pool *pool = pool_with_crowd(NULL, COUNT, 300, 128);
    tkw_pool_advance(pool, 138);
    assert_int_equal(pool_moved(pool), COUNT / ((256 - 138) / 10 + 1) + 1);
    pool_done(pool);
    pool = pool_with_crowd(NULL, COUNT, 300, 127);
    tkw_pool_advance(pool, 138);
    assert_int_equal(pool_moved(pool), COUNT / (256 - 138 + 1) + 1);
    pool_done(pool);
}

/* How many timers are looked at when a crowd falls, some dead or put off. */
static uint64_t reads_of_fall(const struct tkw_geometry *geometry,
                              tkw_tick deadline, size_t dead, size_t put_off)
{
    enum { COUNT = TKW_CROWDED_CHUNKS * CHUNK_ENTRIES };
    struct tkw_pool *pool = pool_of(geometry, 0);
    tkw_handle handles[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        handles[i] = pool_arm(pool, deadline, i);
    for (size_t i = 0; i < dead; i++)
        assert_true(tkw_pool_cancel(pool, handles[i]));
    for (size_t i = dead; i < dead + put_off; i++)
        assert_int_equal(tkw_pool_postpone(pool, handles[i], deadline + 1), 1);
    tkw_tick begin = tkw_pool_next(pool);
    assert_true(tkw_pool_advance_some(pool, begin - 1, 0));
    tkw_pool_advance(pool, begin);
    uint64_t reads = tkw_pool_read_stats(pool).reads;
    assert_true(reads == 0 || reads == COUNT);
    assert_int_equal(pool_moved(pool), reads == 0 ? COUNT : COUNT - dead);
    pool_done(pool);
    return reads;
}

/* Below an eighth that is dead or was put off, no timer is touched. */
static void a_crowd_falls_unseen_unless_many_are_dead(void **state)
{
    (void)state;
    enum { EIGHTH = TKW_CROWDED_CHUNKS * CHUNK_ENTRIES / 8, HALF = EIGHTH / 2 };
    assert_int_equal(reads_of_fall(&kafka, 50, 0, 0), 0);
    assert_int_equal(reads_of_fall(&kafka, 50, EIGHTH, 0), 0);
    assert_int_equal(reads_of_fall(&kafka, 50, 0, EIGHTH), 0);
    assert_int_equal(reads_of_fall(&kafka, 50, HALF, EIGHTH - HALF), 0);
    assert_int_not_equal(reads_of_fall(&kafka, 50, EIGHTH + 1, 0), 0);
    assert_int_not_equal(reads_of_fall(&kafka, 50, 0, EIGHTH + 1), 0);
    assert_int_not_equal(reads_of_fall(&kafka, 50, HALF, HALF + 2), 0);
}

/* An entry has the low 24 bits of a deadline. */
static void slots_longer_than_an_entry_tells_do_not_fall_unseen(void **state)
{
    (void)state;
    static const struct tkw_geometry exact = {.sizes = {4096}};
    static const struct tkw_geometry longer = {.sizes = {97, 257, 673}};
    static const struct tkw_geometry rounds = {.sizes = {20, 20},
                                               .beyond = TKW_ROUNDS};
    const tkw_tick length = TICK_MASK + 1;
    assert_int_equal(reads_of_fall(&exact, 3 * length + 10000, 0, 0), 0);
    assert_int_equal(UINT64_C(97) * 257 * 673, length + 1);
    assert_int_not_equal(reads_of_fall(&longer, 3 * length, 0, 0), 0);
    assert_int_not_equal(reads_of_fall(&rounds, 50, 0, 0), 0);
}

/* There the dead go no further. */
static void a_slot_that_is_not_crowded_is_read(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < 10; i++)
        pool_arm(pool, 50, i);
    tkw_pool_advance(pool, 40);
    assert_int_equal(tkw_pool_read_stats(pool).reads, 10);
    pool_done(pool);
}

/* A level is asked for a crowd with every step: not where there is none. */
static void a_level_is_known_to_have_no_crowd(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < (TKW_CROWDED_CHUNKS - 1) * CHUNK_ENTRIES; i++)
        pool_arm(pool, 300, i);
    assert_true(pool->crowds == 0);
    pool_arm(pool, 300, 0);
    assert_true(pool->crowds == 2);
    tkw_pool_advance(pool, 256);
    assert_true(pool->crowds == 0);
    pool_done(pool);
}

/* Though another slot of its level is. */
static void a_slot_that_is_not_crowded_does_not_fall_in_shares(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_with_crowd(NULL, 1000, 700, 0);
    for (size_t i = 0; i < 10; i++)
        pool_arm(pool, 200, i);
    tkw_pool_advance(pool, 127);
    assert_int_equal(tkw_pool_read_stats(pool).shares, 0);
    assert_int_equal(pool_moved(pool), 0);
    assert_int_equal(tkw_pool_next(pool), 128);
    pool_done(pool);
}

/* Not every timer armed there, nor half as much: the crowd would win. */
static void every_chunk_armed_into_a_crowd_moves_two(void **state)
{
    (void)state;
    enum { COUNT = 20 * CHUNK_ENTRIES };
    for (int i = 0; i < 2; i++) {
        tkw_tick deadline = i == 0 ? 50 : 300;
        struct tkw_pool *pool = pool_with_crowd(i == 0 ? &kafka : NULL, COUNT,
                                                deadline, i == 0 ? 20 : 130);
        for (size_t k = 0; k < 3 * CHUNK_ENTRIES; k++) {
            pool_arm(pool, deadline, k);
            uint64_t shares = 1 + k / CHUNK_ENTRIES;
            assert_int_equal(tkw_pool_read_stats(pool).shares, shares);
            assert_int_equal(pool_moved(pool), shares * 2 * CHUNK_ENTRIES);
        }
        pool_done(pool);
    }
}

/*
 * At the last slot of level 2 before one of level 3 begins, in which there are
 * so many chunks, arm a crowd: up to its first help.  Returns what that moved.
 */
static uint64_t moved_by_help(size_t chunks, uint64_t *drained)
{
    enum { CROWD = (TKW_CROWDED_CHUNKS - 1) * CHUNK_ENTRIES };
    struct tkw_pool *pool =
        pool_with_crowd(NULL, chunks * CHUNK_ENTRIES, 131080, 131000);
    for (size_t i = 0; i < CROWD; i++)
        pool_arm(pool, 131150, i);
    assert_int_equal(pool_moved(pool), 0);
    pool_arm(pool, 131150, 0);
    assert_int_equal(tkw_pool_read_stats(pool).shares, 1);
    uint64_t moved = pool_moved(pool);
    *drained = pool->rings[2].drained;
    pool_done(pool);
    return moved;
}

/* A burst must not move at once the crowd that is in its way. */
static void a_crowd_in_the_way_of_a_burst_falls_in_shares(void **state)
{
    (void)state;
    const size_t share = 2 * CHUNK_ENTRIES;
    uint64_t drained;
    assert_int_equal(moved_by_help(20, &drained), share);
    assert_int_equal(drained, 0);
    assert_int_equal(moved_by_help(TKW_CROWDED_CHUNKS, &drained), share);
    assert_int_equal(drained, 0);
    size_t few = (TKW_CROWDED_CHUNKS - 1) * CHUNK_ENTRIES;
    assert_int_equal(moved_by_help(TKW_CROWDED_CHUNKS - 1, &drained),
                     few + share);
    assert_int_equal(drained, 2);
}

/* What is armed for it goes a level lower, and falls and wakes once less. */
static void a_crowd_that_has_fallen_is_passed_by(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_with_crowd(NULL, 1000, 300, 130);
    tkw_pool_advance(pool, 255);
    assert_int_equal(pool_moved(pool), 1000);
    tkw_handle late = pool_arm(pool, 383, 0);
    assert_int_equal(tkw_pool_next(pool), 300);
    const struct slot *lower = &pool->slots[ring_slot(pool->rings, 383)];
    assert_true(stream_is_empty(&lower->streams[DIRECT]));
    tkw_pool_advance(pool, 382);
    assert_int_equal(pool_moved(pool), 1000);
    assert_pool_state(pool, late, TKW_PENDING);
    pool_done(pool);
}

/* Also when a slot before it is asked for on behalf of a crowd below. */
static void a_slot_passed_by_once_is_passed_by_until_it_begins(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_with_crowd(NULL, 1000, 131080, 65600);
    tkw_pool_advance(pool, 130900);
    assert_int_equal(pool_moved(pool), 1000);
    for (size_t i = 0; i < 1000; i++)
        pool_arm(pool, 131060, i);
    assert_int_not_equal(pool_moved(pool), 1000);
    tkw_handle late = pool_arm(pool, 196600, 0);
    assert_int_equal(pool->slots[pool->rings[2].first + 2].chunks, 0);
    assert_int_equal(pool->busy >> 2, 0);
    pool_advance_surely(pool, 196599);
    assert_pool_state(pool, late, TKW_PENDING);
    pool_done(pool);
}

/* What has begun is empty: nothing need be done to it, nor written down. */
static void a_slot_that_has_begun_is_not_drained(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 65536);
    for (size_t i = 0; i < TKW_CROWDED_CHUNKS * CHUNK_ENTRIES; i++)
        pool_arm(pool, 65536 + 200, i);
    assert_int_equal(tkw_pool_read_stats(pool).shares, 1);
    for (uint32_t i = 1; i < pool->dial.level_count; i++)
        assert_int_equal(pool->rings[i].drained, 0);
    pool_done(pool);
}

/*
 * Put off into a crowd, timers that fall must not make that fall in turn: then
 * no budget would bound what a step moves.
 */
static void timers_filed_anew_call_for_no_help(void **state)
{
    (void)state;
    enum { BUDGET = 100, COUNT = 10 * CHUNK_ENTRIES };
    const size_t before = (TKW_CROWDED_CHUNKS - 1) * CHUNK_ENTRIES;
    const tkw_tick far = 65536 + 300;
    struct tkw_pool *pool = pool_with_crowd(NULL, before, far, 0);
    for (size_t i = 0; i < COUNT; i++) {
        tkw_handle handle = pool_arm(pool, 300, i);
        assert_int_equal(tkw_pool_postpone(pool, handle, far), 1);
    }
    assert_true(tkw_pool_advance_some(pool, 130, 0));
    assert_true(tkw_pool_advance_some(pool, 255, BUDGET));
    assert_int_equal(tkw_pool_read_stats(pool).work.refiles, BUDGET);
    assert_int_equal(pool_moved(pool), BUDGET);
    assert_int_equal(pool->slots[pool->rings[2].first + 1].chunks,
                     TKW_CROWDED_CHUNKS + 1);
    pool_done(pool);
}

/* Crowds on levels 2 and 3, both about to begin, share one budget. */
static void a_budget_is_for_the_shares_of_all_levels(void **state)
{
    (void)state;
    for (size_t budget = 0; budget < 8; budget++) {
        struct tkw_pool *pool = pool_with_crowd(NULL, 1000, 131080, 65400);
        for (size_t i = 0; i < 1000; i++)
            pool_arm(pool, 65700, i);
        assert_true(tkw_pool_advance_some(pool, 65540, 0));
        assert_true(tkw_pool_advance_some(pool, 65541, budget));
        assert_int_equal(pool_moved(pool), budget);
        assert_true(pool->crowds == 6);
        pool_done(pool);
    }
}

/* A crowd has to wait for what is above it, and that for the budget. */
static void a_budget_is_for_what_is_in_the_way_too(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_with_crowd(NULL, 100, 131080, 130800);
    for (size_t i = 0; i < 1000; i++)
        pool_arm(pool, 131100, i);
    assert_true(tkw_pool_advance_some(pool, 131000, 0));
    assert_true(tkw_pool_advance_some(pool, 131001, 2 * CHUNK_ENTRIES - 1));
    assert_int_equal(pool_moved(pool), 0);
    assert_true(tkw_pool_advance_some(pool, 131002, 2 * CHUNK_ENTRIES));
    assert_in_range(pool_moved(pool), 101, 2 * CHUNK_ENTRIES);
    pool_done(pool);
}

/* In the last step before it is needed the share is all of the crowd. */
static void what_was_in_the_way_leaves_the_rest_of_a_budget(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_with_crowd(NULL, 100, 131080, 130800);
    for (size_t i = 0; i < 1000; i++)
        pool_arm(pool, 131100, i);
    assert_true(tkw_pool_advance_some(pool, 131000, 0));
    assert_true(tkw_pool_advance_some(pool, 131071, 2 * CHUNK_ENTRIES));
    assert_int_equal(pool_moved(pool), 2 * CHUNK_ENTRIES);
    pool_done(pool);
}

/* A whole advance sweeps a chunk, if the budget is for that too. */
static void what_a_share_took_of_a_budget_is_not_for_sweeping(void **state)
{
    (void)state;
    enum { CROWD = 33 * CHUNK_ENTRIES, SHARE = CROWD / 2 + 1 };
    for (size_t left = CHUNK_ENTRIES - 1; left <= CHUNK_ENTRIES; left++) {
        struct tkw_pool *pool = pool_with_crowd(NULL, CROWD, 300, 130);
        static tkw_handle dead[3 * TKW_SWEEP_SLACK];
        for (size_t i = 0; i < COUNT_OF(dead); i++)
            dead[i] = pool_arm(pool, TKW_NEVER, i);
        for (size_t i = 0; i < COUNT_OF(dead); i++)
            assert_true(tkw_pool_cancel(pool, dead[i]));
        assert_true(tkw_pool_advance_some(pool, 254, 0));
        assert_true(tkw_pool_advance_some(pool, 255, SHARE + left));
        assert_int_equal(pool_moved(pool), SHARE);
        assert_int_equal(tkw_pool_read_stats(pool).sweeps,
                         left < CHUNK_ENTRIES ? 0 : 1);
        pool_done(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crowd_two_levels_above_goes_first),
        cmocka_unit_test(a_large_crowd_asks_to_be_woken_for_each_share),
        cmocka_unit_test(a_share_is_what_the_time_gone_by_is_of_the_time_left),
        cmocka_unit_test(a_share_counts_time_only_beside_the_crowd),
        cmocka_unit_test(a_crowd_falls_unseen_unless_many_are_dead),
        cmocka_unit_test(slots_longer_than_an_entry_tells_do_not_fall_unseen),
        cmocka_unit_test(a_slot_that_is_not_crowded_is_read),
        cmocka_unit_test(a_level_is_known_to_have_no_crowd),
        cmocka_unit_test(a_slot_that_is_not_crowded_does_not_fall_in_shares),
        cmocka_unit_test(every_chunk_armed_into_a_crowd_moves_two),
        cmocka_unit_test(a_crowd_in_the_way_of_a_burst_falls_in_shares),
        cmocka_unit_test(a_crowd_that_has_fallen_is_passed_by),
        cmocka_unit_test(a_slot_passed_by_once_is_passed_by_until_it_begins),
        cmocka_unit_test(a_slot_that_has_begun_is_not_drained),
        cmocka_unit_test(timers_filed_anew_call_for_no_help),
        cmocka_unit_test(a_budget_is_for_the_shares_of_all_levels),
        cmocka_unit_test(a_budget_is_for_what_is_in_the_way_too),
        cmocka_unit_test(what_was_in_the_way_leaves_the_rest_of_a_budget),
        cmocka_unit_test(what_a_share_took_of_a_budget_is_not_for_sweeping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
