/*
 * pool_inner_test.c - what takes four thousand million armings, a hundred
 * million timers or a hundred gigabytes to see from outside, seen from inside.
 */
#include "pool_support.h"

#include <errno.h>

#include "pool_inner.h"

/* Make a free place look as if it had been used so often. */
static void set_generation(struct tkw_pool *pool, uint32_t index,
                           uint32_t generation)
{
    struct record *record = record_at(pool, index);
    assert_int_equal(record->word & WORD_ENTRIES, 0);
    record->word = (record->word & ~WORD_GENERATION) |
                   (uint64_t)generation << WORD_GENERATION_SHIFT;
}

/* A pool with one place, free, that has so many generations left. */
static struct tkw_pool *pool_with_left(uint32_t left)
{
    struct tkw_pool *pool = pool_of(NULL, 0);
    assert_pool_pops(pool, pool_arm(pool, 0, 0));
    assert_int_equal(pool->used, 1);
    set_generation(pool, 0, UINT32_MAX - left);
    return pool;
}

/* Wrapped round, the next handle would be one that was given out before. */
static void a_place_retires_when_its_generations_run_out(void **state)
{
    (void)state;
    enum { LEFT = 5, LIVES = 20 };
    tkw_handle handles[LIVES];
    struct tkw_pool *pool = pool_with_left(LEFT);
    for (size_t i = 0; i < LIVES; i++) {
        handles[i] = pool_arm(pool, 0, i);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(handles[i], handles[k]);
            assert_int_equal(tkw_pool_cancel(pool, handles[k]), 0);
        }
        assert_int_equal((uint32_t)handles[i], i < LEFT ? 0 : 1);
        assert_pool_pops(pool, handles[i]);
        assert_int_equal(tkw_pool_counters(pool).retired, i + 1 >= LEFT);
        assert_pool_sound(pool);
    }
    assert_int_equal(handles[LEFT - 1] >> WORD_GENERATION_SHIFT, UINT32_MAX);
    assert_int_equal(handles[LEFT] >> WORD_GENERATION_SHIFT, 1);
    assert_pool_state(pool, handles[LEFT - 1], TKW_DONE);
    assert_pool_state(pool, handles[LEFT - 2], TKW_STALE);
    assert_pool_state(pool, 0, TKW_STALE);
    pool_done(pool);
}

static void
a_place_retires_with_the_last_entry_of_a_cancelled_timer(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_with_left(1);
    tkw_handle last = pool_arm(pool, 10, 0);
    assert_int_equal(tkw_pool_cancel(pool, last), 1);
    assert_int_equal(tkw_pool_counters(pool).retired, 0);
    tkw_pool_advance(pool, 10);
    assert_int_equal(tkw_pool_counters(pool).retired, 1);
    assert_pool_state(pool, last, TKW_CANCELLED);
    assert_int_equal((uint32_t)pool_arm(pool, 20, 0), 1);
    assert_pool_state(pool, last, TKW_CANCELLED);
    pool_done(pool);
}

/* A kept timer does not need a new generation to go on. */
static void the_last_generation_can_be_kept_and_armed_again(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_with_left(1);
    struct tkw_shot shot;
    tkw_handle last = pool_arm(pool, 0, 0);
    for (int i = 0; i < 5; i++) {
        assert_true(tkw_pool_pop_keep(pool, &shot));
        assert_int_equal(shot.handle, last);
        assert_int_equal(tkw_pool_rearm(pool, last, 0), 1);
        assert_int_equal(tkw_pool_counters(pool).retired, 0);
    }
    assert_pool_pops(pool, last);
    assert_int_equal(tkw_pool_counters(pool).retired, 1);
    pool_done(pool);
}

/* A body has no handle, but uses up a generation of its place. */
static void the_place_of_a_body_retires_and_its_timer_goes_on(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    tkw_handle timer = pool_arm(pool, 10, 7);
    assert_pool_pops(pool, pool_arm(pool, 0, 0));
    set_generation(pool, 1, UINT32_MAX - 1);
    for (uint64_t i = 0; i < TAG_MAX; i++)
        assert_int_equal(tkw_pool_rearm(pool, timer, 10), 1);
    assert_int_equal(record_at(pool, 0)->word & WORD_MOVED, 0);
    assert_int_equal(tkw_pool_rearm(pool, timer, 10), 1);
    assert_int_not_equal(record_at(pool, 0)->word & WORD_MOVED, 0);
    assert_int_equal(record_at(pool, 0)->deadline, 1);
    assert_pool_sound(pool);
    assert_int_equal(pool_deadline(pool, timer), 10);
    assert_pool_fires_on_time(pool, timer);
    assert_int_equal(tkw_pool_counters(pool).retired, 1);
    assert_int_equal((uint32_t)pool_arm(pool, 20, 0), 0);
    assert_int_equal((uint32_t)pool_arm(pool, 20, 0), 2);
    pool_done(pool);
}

/* An index has to fit into handles and entries, whatever memory there is. */
static void past_the_last_place_there_is_no_memory(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    const uint32_t room = pool->room;
    struct tkw_user user = {0};
    tkw_handle handle = 12345;
    pool->room = SEGMENTS * SEGMENT_RECORDS;
    pool->used = pool->room; /* as if all places were in use */
    assert_int_equal(tkw_pool_arm(pool, &handle, 10, user), -ENOMEM);
    assert_int_equal(tkw_pool_arm(pool, &handle, 0, user), -ENOMEM);
    assert_int_equal(tkw_pool_reserve(pool, 1), -ENOMEM);
    assert_int_equal(handle, 12345);
    assert_int_equal(tkw_pool_count(pool), 0);
    pool->used = 0;
    pool->room = room;
    pool_arm(pool, 10, 0);
    pool_done(pool);
}

/* Gives what is small, and writes down what is not. */
struct miser {
    size_t largest;
    uint64_t blocks;
};

static void *miser_allocate(void *context, size_t bytes)
{
    struct miser *miser = context;
    if (bytes > miser->largest)
        miser->largest = bytes;
    void *memory = bytes < 1 << 20 ? malloc(bytes) : NULL;
    miser->blocks += memory != NULL;
    return memory;
}

static void miser_release(void *context, void *memory, size_t bytes)
{
    struct miser *miser = context;
    (void)bytes;
    miser->blocks--;
    free(memory);
}

/* In 32 bits the bytes of so many slots would be few. */
static void a_geometry_too_large_for_memory_is_told_so(void **state)
{
    (void)state;
    struct miser miser = {0};
    struct tkw_allocator allocator = {miser_allocate, miser_release, &miser};
    struct tkw_pool_config config = {
        .geometry = {.sizes = {TKW_SLOTS_MAX}, .beyond = TKW_ROUNDS},
        .allocator = &allocator};
    struct tkw_pool *pool = (struct tkw_pool *)(void *)&miser;
    assert_int_equal(tkw_pool_open(&pool, &config), -ENOMEM);
    assert_ptr_equal(pool, &miser);
    assert_int_equal(miser.blocks, 0);
    uint64_t slots = 2 * (uint64_t)TKW_SLOTS_MAX;
    assert_in_range(miser.largest, slots * sizeof(struct slot),
                    slots * (sizeof(struct slot) + 1));
}

/*
 * A slot of level 2 that is about to begin gives nothing up while two levels
 * above it there is a crowd for the same ticks: that was armed before.
 */
static void a_crowd_two_levels_above_goes_first(void **state)
{
    (void)state;
    enum { COUNT = TKW_CROWDED_CHUNKS * CHUNK_ENTRIES };
    struct tkw_pool *pool = pool_of(&(struct tkw_geometry){.sizes = {4}}, 0);
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

/* Arming does a step now and then: it must not take the time of a round. */
static void a_step_of_the_sweeper_passes_over_few_empty_streams(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    tkw_handle dead = pool_arm(pool, TKW_NEVER, 0);
    assert_int_equal(tkw_pool_cancel(pool, dead), 1);
    const uint32_t all = STREAMS * (pool->slot_count + SHELVES);
    uint32_t steps = 0;
    for (; pool->entries != 0; steps++) {
        uint32_t before = STREAMS * pool->sweep.slot + pool->sweep.stream;
        pool_sweep(pool);
        uint32_t after = STREAMS * pool->sweep.slot + pool->sweep.stream;
        assert_int_equal((after + all - before) % all,
                         pool->entries != 0 ? 64 : (all - 1) % 64 + 1);
    }
    assert_int_equal(steps, (all - 1) / 64 + 1);
    assert_int_equal(tkw_pool_counters(pool).sweeps, steps);
    pool_done(pool);
}

static void a_round_of_the_sweeper_begins_with_the_first_slot(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 25);
    tkw_handle dead = pool_arm(pool, 40, 0);
    assert_int_equal(tkw_pool_cancel(pool, dead), 1);
    assert_int_equal(pool->slots[0].chunks, 1);
    pool->sweep.slot = pool->slot_count + SHELVES - 1;
    pool->sweep.stream = STREAMS - 1;
    pool_sweep(pool);
    assert_int_equal(pool->slots[0].chunks, 0);
    assert_int_equal(tkw_pool_counters(pool).entries, 0);
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
            assert_int_equal(tkw_pool_cancel(pool, handle), 1);
    }
    const struct slot *slot = &pool->slots[ring_slot(&pool->rings[1], 30 / 20)];
    assert_int_equal(slot->chunks, 2);
    for (size_t i = 0; pool->entries > CHUNK_ENTRIES; i++) {
        assert_in_range(i, 0, 1000);
        pool_sweep(pool);
    }
    assert_int_equal(slot->chunks, 1);
    assert_int_equal(pool->gaps, 0);
    assert_int_equal(tkw_pool_counters(pool).looks, 2 * CHUNK_ENTRIES);
    assert_pool_sound(pool);
    pool_advance_surely(pool, 30);
    struct tkw_shot shot;
    for (uint64_t i = 0; i < CHUNK_ENTRIES; i++) {
        assert_true(tkw_pool_pop(pool, &shot));
        assert_int_equal(shot.user.word, 2 * i + 1);
    }
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_retires_when_its_generations_run_out),
        cmocka_unit_test(
            a_place_retires_with_the_last_entry_of_a_cancelled_timer),
        cmocka_unit_test(the_last_generation_can_be_kept_and_armed_again),
        cmocka_unit_test(the_place_of_a_body_retires_and_its_timer_goes_on),
        cmocka_unit_test(past_the_last_place_there_is_no_memory),
        cmocka_unit_test(a_geometry_too_large_for_memory_is_told_so),
        cmocka_unit_test(a_crowd_two_levels_above_goes_first),
        cmocka_unit_test(a_step_of_the_sweeper_passes_over_few_empty_streams),
        cmocka_unit_test(a_round_of_the_sweeper_begins_with_the_first_slot),
        cmocka_unit_test(the_living_of_two_chunks_fit_into_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
