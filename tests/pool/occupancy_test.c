/*
 * pool/occupancy_test.c - how many entries tkw_pool_occupancy() counts in each
 * slot.
 */
#include "scene.h"

enum { SLOTS_MAX = 8192, TIMERS = 20000 };

static uint32_t entries_of(const struct stream *stream)
{
    uint32_t count = 0;
    if (stream_is_empty(stream))
        return 0;
    for (struct chunk *chunk = stream_head(stream); chunk != NULL;
         chunk = chunk_next(stream, chunk))
        count +=
            (uint32_t)(chunk_end(stream, chunk) - chunk_begin(stream, chunk));
    return count;
}

/* What a walk over all chunks counts in each slot of a level.  Slots are in a
 * ring of twice the level's size. */
static void count_by_walking(const struct tkw_pool *pool, uint32_t level,
                             uint32_t counts[SLOTS_MAX])
{
    const struct ring *ring = &pool->rings[level - 1];
    memset(counts, 0, SLOTS_MAX * sizeof(counts[0]));
    for (uint32_t i = 0; i < ring->size; i++) {
        const struct slot *slot = &pool->slots[ring->first + i];
        for (unsigned j = 0; j < STREAMS; j++)
            counts[i % (ring->size / 2)] += entries_of(&slot->streams[j]);
    }
}

/* Returns how many entries are in slots. */
static uint64_t assert_as_walked(const struct tkw_pool *pool)
{
    static uint32_t counts[SLOTS_MAX], walked[SLOTS_MAX];
    uint64_t sum = 0;
    const struct tkw_dial *dial = tkw_pool_dial(pool);
    for (uint32_t level = 1; level <= dial->level_count; level++) {
        uint32_t size = dial->levels[level - 1].size;
        assert_true(size <= SLOTS_MAX);
        memset(counts, 0xff, sizeof(counts));
        assert_int_equal(tkw_pool_occupancy(pool, level, counts, SLOTS_MAX),
                         size);
        count_by_walking(pool, level, walked);
        assert_memory_equal(counts, walked, size * sizeof(counts[0]));
        assert_int_equal(counts[size], UINT32_MAX); /* not written */
        for (uint32_t i = 0; i < size; i++)
            sum += counts[i];
    }
    return sum;
}

/* Arm, postpone or cancel a timer.  Deadlines are few, so that slots are
 * crowded; cancelling is frequent, so that the pool sweeps. */
static void do_something(struct tkw_pool *pool, tkw_handle *handle,
                         uint64_t *seed)
{
    uint64_t span = random_below(seed, 2) ? 3 : UINT64_C(1) << 12;
    tkw_tick deadline = tkw_pool_now(pool) + 300 + random_below(seed, span);
    switch (random_below(seed, 8)) {
    case 0:
        assert_true(tkw_pool_postpone(pool, *handle, deadline) >= 0);
        break;
    case 1:
        assert_true(tkw_pool_rearm(pool, *handle, deadline) >= 0);
        break;
    case 2:
    case 3:
    case 4:
        tkw_pool_cancel(pool, *handle);
        break;
    default:
        tkw_pool_cancel(pool, *handle);
        *handle = pool_arm(pool, deadline, 0);
        break;
    }
}

/* Returns whether gaps were seen in chunks of slots. */
static bool counts_on(const struct tkw_geometry *geometry, uint64_t *seed)
{
    static tkw_handle handles[TIMERS];
    memset(handles, 0, sizeof(handles));
    bool had_gaps = false;
    struct tkw_pool *pool = pool_of(geometry, 1000003);
    for (unsigned step = 0; step < 30; step++) {
        for (unsigned i = 0; i < 4000; i++)
            do_something(pool, &handles[random_below(seed, TIMERS)], seed);
        assert_as_walked(pool);
        for (uint32_t i = 0; i < pool->slot_count; i++)
            had_gaps |= pool->slots[i].gaps != 0;
        tkw_tick to = tkw_pool_now(pool) + random_magnitude(seed, 5);
        tkw_pool_advance_some(pool, to, random_below(seed, 5000));
        assert_as_walked(pool); /* also in an unfinished tick */
        for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);)
            continue;
    }
    assert_true(tkw_pool_read_stats(pool).sweeps > 0);
    pool_done(pool);
    return had_gaps;
}

static void counts_what_a_walk_meets(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    unsigned gaps = 0;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++)
        gaps += counts_on(&pool_shapes[s], &seed);
    assert_true(gaps > 0); /* or this test does not see them */
}

/* Slots have the numbers that the dial gives them, in both turns of the ring
 * that a level has. */
static void counts_a_timer_where_the_dial_files_it(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        static uint32_t counts[SLOTS_MAX];
        const struct tkw_geometry *shape = &pool_shapes[s];
        for (unsigned bit = 0; bit < bits_of_reach(shape); bit++) {
            tkw_tick start = 1000003 + bit * UINT64_C(77);
            struct tkw_pool *pool = pool_of(shape, start);
            tkw_tick deadline = start + (UINT64_C(1) << bit);
            struct tkw_spot spot =
                tkw_dial_where(tkw_pool_dial(pool), deadline);
            pool_arm(pool, deadline, 0);
            size_t slots =
                tkw_pool_occupancy(pool, spot.level, counts, SLOTS_MAX);
            for (size_t i = 0; i < slots; i++)
                assert_int_equal(counts[i], i == spot.slot);
            pool_done(pool);
        }
    }
}

/* Where no timer was cancelled or moved, the counts are those of the timers. */
static void counts_all_pending_timers_of_a_quiet_pool(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < TIMERS; i++)
        pool_arm(pool, 200 + i * i % 100000, i);
    for (tkw_tick now = 0; now < 200; now += 7) {
        tkw_pool_advance(pool, now); /* crowds fall ahead of time */
        assert_int_equal(assert_as_walked(pool), TIMERS);
    }
    assert_true(tkw_pool_read_stats(pool).shares > 0);
    pool_done(pool);
}

/* The entry of a cancelled timer counts until it is collected. */
static void counts_entries_of_cancelled_timers(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    uint32_t counts[20];
    tkw_handle first = pool_arm(pool, 5, 0);
    pool_arm(pool, 5, 1);
    assert_true(tkw_pool_cancel(pool, first));
    assert_int_equal(tkw_pool_occupancy(pool, 1, counts, 20), 20);
    assert_int_equal(counts[5], 2);
    assert_int_equal(tkw_pool_read_stats(pool).dead, 1);
    tkw_pool_advance(pool, 5);
    assert_int_equal(tkw_pool_occupancy(pool, 1, counts, 20), 20);
    assert_int_equal(counts[5], 0);
    pool_done(pool);
}

/* Ready timers and those armed for TKW_NEVER are in no slot. */
static void leaves_out_timers_that_are_in_no_slot(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 7);
    pool_arm(pool, 5, 0);
    pool_arm(pool, TKW_NEVER, 0);
    assert_int_equal(tkw_pool_count(pool), 2);
    assert_int_equal(assert_as_walked(pool), 0);
    pool_done(pool);
}

static void a_level_that_does_not_exist_has_no_slots(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    uint32_t counts[1] = {77};
    assert_int_equal(tkw_pool_occupancy(pool, 15, NULL, 0), 12);
    assert_int_equal(tkw_pool_occupancy(pool, 0, counts, 1), 0);
    assert_int_equal(tkw_pool_occupancy(pool, 16, counts, 1), 0);
    assert_int_equal(tkw_pool_occupancy(pool, UINT32_MAX, counts, 1), 0);
    assert_int_equal(counts[0], 77);
    pool_done(pool);
}

/* A caller with little room, or none, still learns how many slots there are. */
static void stores_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (tkw_tick i = 1; i < 20; i++)
        pool_arm(pool, i, 0);
    assert_int_equal(tkw_pool_occupancy(pool, 1, NULL, 0), 20);
    for (size_t room = 0; room <= 20; room++) {
        uint32_t counts[21];
        memset(counts, 0xff, sizeof(counts));
        assert_int_equal(tkw_pool_occupancy(pool, 1, counts, room), 20);
        for (size_t i = 0; i < room; i++)
            assert_int_equal(counts[i], i != 0);
        assert_int_equal(counts[room], UINT32_MAX);
    }
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_a_walk_meets),
        cmocka_unit_test(counts_a_timer_where_the_dial_files_it),
        cmocka_unit_test(counts_all_pending_timers_of_a_quiet_pool),
        cmocka_unit_test(counts_entries_of_cancelled_timers),
        cmocka_unit_test(leaves_out_timers_that_are_in_no_slot),
        cmocka_unit_test(a_level_that_does_not_exist_has_no_slots),
        cmocka_unit_test(stores_no_more_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
