/*
 * pool/sweep_test.c - what cancelled timers leave behind is swept, seen from
 * inside: when, how much at a time, and where the sweeper stands.
 */
#include "pool/private.h"
#include "support/pool.h"

/* Nobody arms, time goes by: a chunk a step, if the budget is for one. */
static void the_dead_are_swept_as_time_goes_by(void **state)
{
    (void)state;
    static tkw_handle alive[3 * TKW_SWEEP_SLACK];
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < COUNT_OF(alive); i++) {
        tkw_handle dead = pool_arm(pool, 100, i);
        alive[i] = pool_arm(pool, 100, i);
        assert_true(tkw_pool_cancel(pool, dead));
    }
    for (size_t i = 0, more = 0; more < 8 * CHUNK_ENTRIES; i++) {
        assert_true(tkw_pool_cancel(pool, alive[i]));
        more += pool_has_many_dead(pool);
    }
    uint64_t before = pool->sweeps;
    assert_true(tkw_pool_advance_some(pool, 1, CHUNK_ENTRIES - 1));
    assert_int_equal(pool->sweeps, before);
    assert_true(tkw_pool_advance_some(pool, 2, CHUNK_ENTRIES));
    assert_int_equal(pool->sweeps, before + 1);
    tkw_pool_advance(pool, 2);
    assert_int_equal(pool->sweeps, before + 2);
    for (tkw_tick now = 3; pool_has_many_dead(pool); now++)
        tkw_pool_advance(pool, now);
    before = pool->sweeps;
    tkw_pool_advance(pool, tkw_pool_now(pool) + 1);
    assert_int_equal(pool->sweeps, before);
    assert_true(tkw_pool_now(pool) < 100);
    pool_done(pool);
}

/* Cancel all of so many that are armed for a tick. */
static void arm_and_cancel(struct tkw_pool *pool, size_t count,
                           tkw_tick deadline)
{
    static tkw_handle dead[3 * TKW_SWEEP_SLACK];
    assert_in_range(count, 0, COUNT_OF(dead));
    for (size_t i = 0; i < count; i++)
        dead[i] = pool_arm(pool, deadline, i);
    for (size_t i = 0; i < count; i++)
        assert_true(tkw_pool_cancel(pool, dead[i]));
}

/* Three quarters of the armed, and the slack. */
static void so_many_dead_are_left_alone_and_not_one_more(void **state)
{
    (void)state;
    enum { ARMED = 4000, DEAD = ARMED / 4 * 3 + TKW_SWEEP_SLACK };
    for (size_t more = 0; more < 2; more++) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        for (size_t i = 0; i < ARMED; i++)
            pool_arm(pool, 100, i);
        arm_and_cancel(pool, DEAD + more, 100);
        assert_int_equal(tkw_pool_read_stats(pool).sweeps, 0);
        tkw_pool_advance(pool, 1);
        assert_int_equal(tkw_pool_read_stats(pool).sweeps, more);
        pool_done(pool);
    }
}

/* Eight are swept for one that is armed, or the dead would gain on them. */
static void while_there_are_many_dead_arming_sweeps_eightfold(void **state)
{
    (void)state;
    enum { ARMED = 10 * CHUNK_ENTRIES };
    for (int is_again = 0; is_again < 2; is_again++) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        arm_and_cancel(pool, 3 * TKW_SWEEP_SLACK, 100);
        tkw_handle again = pool_arm(pool, 100, 0);
        pool->arms_left = 0;
        while (pool->reads == 0) /* find the slot */
            tkw__pool_sweep(pool);
        uint64_t before = pool->reads;
        for (size_t i = 0; i < ARMED; i++) {
            if (is_again)
                assert_int_equal(tkw_pool_rearm(pool, again, 100), 1);
            else
                pool_arm(pool, 100, i);
        }
        assert_in_range(pool->reads - before, 8 * ARMED, 10 * ARMED);
        pool_done(pool);
    }
}

/* The same where chunks are so full that only one of them makes a step. */
static void a_small_step_of_the_sweeper_is_followed_sooner(void **state)
{
    (void)state;
    enum { EACH = CHUNK_ENTRIES / 2 + 1, ARMED = 200 };
    static const struct tkw_geometry wide = {.sizes = {4096},
                                             .beyond = TKW_ROUNDS};
    static tkw_handle dead[3 * TKW_SWEEP_SLACK];
    struct tkw_pool *pool = pool_of(&wide, 0);
    for (size_t i = 0; i < COUNT_OF(dead); i++)
        dead[i] = pool_arm(pool, 1 + i / EACH, i);
    for (size_t i = 0; i < COUNT_OF(dead); i++)
        assert_true(tkw_pool_cancel(pool, dead[i]));
    pool->arms_left = 0;
    uint64_t before = pool->reads;
    for (size_t i = 0; i < ARMED; i++)
        pool_arm(pool, TKW_NEVER, i);
    assert_in_range(pool->reads - before, 8 * ARMED, 10 * ARMED);
    pool_done(pool);
}

/* Else it would begin a long stream anew with every tick, and get nowhere. */
static void the_sweeper_keeps_its_place_while_timers_fire(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < 4 * CHUNK_ENTRIES; i++)
        pool_arm(pool, 50, i);
    tkw_handle soon = pool_arm(pool, 5, 0);
    while (pool->reads < 2 * CHUNK_ENTRIES)
        tkw__pool_sweep(pool);
    const struct chunk *at = pool->sweep.at, *before = pool->sweep.before;
    assert_non_null(at);
    assert_non_null(before);
    tkw_pool_advance(pool, 5);
    assert_pool_pops(pool, soon);
    assert_ptr_equal(pool->sweep.at, at);
    assert_ptr_equal(pool->sweep.before, before);
    pool_done(pool);
}

/*
 * Half way through what is due the sweeper stands in chunks that become part of
 * what is ready.  Going on there it would mend the ends of the wrong stream.
 */
static void the_sweeper_leaves_a_queue_that_moves_on(void **state)
{
    (void)state;
    enum { COUNT = 4 * CHUNK_ENTRIES };
    struct tkw_pool *pool = pool_of(&kafka, 0);
    static tkw_handle handles[2 * COUNT];
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, i < COUNT ? 10 : 11, i);
    assert_false(tkw_pool_advance_some(pool, 11, COUNT - 1));
    pool->sweep.slot = pool->slot_count + DUE;
    pool->sweep.stream = DIRECT;
    tkw__pool_sweep(pool);
    assert_non_null(pool->sweep.at);
    assert_false(tkw_pool_advance_some(pool, 11, COUNT));
    assert_int_equal(tkw_pool_now(pool), 10);
    assert_null(pool->sweep.at);
    assert_null(pool->sweep.before);
    assert_int_not_equal(pool->shelves[DUE].chunks, 0);
    for (int i = 0; i < 20; i++)
        tkw__pool_sweep(pool);
    assert_pool_sound(pool);
    pool_advance_surely(pool, 11);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        assert_pool_pops(pool, handles[i]);
    pool_done(pool);
}

/* Arming does a step now and then: it must not take the time of a round. */
static void a_step_of_the_sweeper_passes_over_empty_slots(void **state)
{
    (void)state;
    static const tkw_tick deadlines[] = {100, 60000, 4000000, TKW_NEVER};
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < COUNT_OF(deadlines); i++)
        assert_true(tkw_pool_cancel(pool, pool_arm(pool, deadlines[i], i)));
    assert_int_equal(pool->entries, COUNT_OF(deadlines));
    tkw__pool_sweep(pool);
    assert_int_equal(pool->entries, 0);
    assert_int_equal(tkw_pool_read_stats(pool).reads, COUNT_OF(deadlines));
    pool_done(pool);
}

/* It takes as many entries as a chunk has, from however many chunks. */
static void a_step_of_the_sweeper_reads_a_chunkful(void **state)
{
    (void)state;
    static const struct tkw_geometry wide = {.sizes = {4096},
                                             .beyond = TKW_ROUNDS};
    for (size_t each = 1; each <= CHUNK_ENTRIES; each++) {
        struct tkw_pool *pool = pool_of(&wide, 0);
        for (size_t i = 0; i < 3 * CHUNK_ENTRIES; i++)
            pool_arm(pool, 1 + i / each, i);
        tkw__pool_sweep(pool);
        assert_int_equal(tkw_pool_read_stats(pool).reads,
                         CHUNK_ENTRIES / each * each);
        pool_done(pool);
    }
}

/*
 * L16, however thinly they are spread: the dead stay below the armed, plus
 * twice the slack.  Armed and cancelled, and armed again over and over.
 */
static void the_dead_of_many_slots_do_not_pile_up(void **state)
{
    (void)state;
    static const struct tkw_geometry wide[] = {
        {.sizes = {4096}},
        {.sizes = {16384}, .beyond = TKW_ROUNDS},
        {.sizes = {4096, 4096}},
    };
    enum { LIVE = 1000, ROUNDS = 200000 };
    for (size_t s = 0; s < COUNT_OF(wide); s++) {
        static tkw_handle handles[LIVE];
        uint64_t seed = random_seed();
        struct tkw_pool *pool = pool_of(&wide[s], 0);
        for (size_t i = 0; i < ROUNDS; i++) {
            assert_true(tkw_pool_cancel(
                pool, pool_arm(pool, 1 + random_below(&seed, 1 << 24), i)));
            assert_in_range(tkw_pool_read_stats(pool).dead, 0,
                            2 * TKW_SWEEP_SLACK);
        }
        for (size_t i = 0; i < LIVE; i++)
            handles[i] = pool_arm(pool, 1 + random_below(&seed, 1 << 24), i);
        for (size_t i = 0; i < ROUNDS; i++) {
            tkw_tick deadline = 1 + random_below(&seed, 1 << 24);
            assert_int_equal(tkw_pool_rearm(pool, handles[i % LIVE], deadline),
                             1);
            assert_in_range(tkw_pool_read_stats(pool).dead, 0,
                            LIVE + 2 * TKW_SWEEP_SLACK);
        }
        assert_pool_sound(pool);
        pool_done(pool);
    }
}

static void a_round_of_the_sweeper_begins_with_the_first_slot(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 25);
    tkw_handle dead = pool_arm(pool, 40, 0);
    assert_true(tkw_pool_cancel(pool, dead));
    assert_int_equal(pool->slots[0].chunks, 1);
    pool->sweep.slot = pool->slot_count + SHELVES - 1;
    pool->sweep.stream = STREAMS - 1;
    tkw__pool_sweep(pool);
    assert_int_equal(pool->slots[0].chunks, 0);
    assert_int_equal(tkw_pool_read_stats(pool).entries, 0);
    assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
    pool_done(pool);
}

/* Two chunks whose living fill one are one, with no room left in it. */
static void the_living_of_two_chunks_fit_into_one(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < 2 * CHUNK_ENTRIES; i++) {
        tkw_handle handle = pool_arm(pool, 30, i);
        if (i % 2 == 0)
            assert_true(tkw_pool_cancel(pool, handle));
    }
    const struct slot *slot = &pool->slots[ring_slot(&pool->rings[1], 30 / 20)];
    assert_int_equal(slot->chunks, 2);
    for (size_t i = 0; pool->entries > CHUNK_ENTRIES; i++) {
        assert_in_range(i, 0, 1000);
        tkw__pool_sweep(pool);
    }
    assert_int_equal(slot->chunks, 1);
    assert_int_equal(pool->gaps, 0);
    assert_int_equal(tkw_pool_read_stats(pool).reads, 2 * CHUNK_ENTRIES);
    assert_pool_sound(pool);
    pool_advance_surely(pool, 30);
    struct tkw_pool_timer timer;
    for (uint64_t i = 0; i < CHUNK_ENTRIES; i++) {
        assert_true(tkw_pool_pop(pool, &timer));
        assert_int_equal(timer.user.word, 2 * i + 1);
    }
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dead_are_swept_as_time_goes_by),
        cmocka_unit_test(so_many_dead_are_left_alone_and_not_one_more),
        cmocka_unit_test(while_there_are_many_dead_arming_sweeps_eightfold),
        cmocka_unit_test(a_small_step_of_the_sweeper_is_followed_sooner),
        cmocka_unit_test(the_sweeper_keeps_its_place_while_timers_fire),
        cmocka_unit_test(the_sweeper_leaves_a_queue_that_moves_on),
        cmocka_unit_test(a_step_of_the_sweeper_passes_over_empty_slots),
        cmocka_unit_test(a_step_of_the_sweeper_reads_a_chunkful),
        cmocka_unit_test(the_dead_of_many_slots_do_not_pile_up),
        cmocka_unit_test(a_round_of_the_sweeper_begins_with_the_first_slot),
        cmocka_unit_test(the_living_of_two_chunks_fit_into_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
