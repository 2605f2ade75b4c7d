/*
 * pool/private_test.c - what takes four thousand million armings, a hundred
 * million timers or a hundred gigabytes to see from outside, seen from inside.
 */
#include "support/pool.h"

#include <errno.h>

#include "pool/private.h"

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
            assert_false(tkw_pool_cancel(pool, handles[k]));
        }
        assert_int_equal((uint32_t)handles[i], i < LEFT ? 0 : 1);
        assert_pool_pops(pool, handles[i]);
        assert_int_equal(tkw_pool_read_stats(pool).retired, i + 1 >= LEFT);
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
    assert_true(tkw_pool_cancel(pool, last));
    assert_int_equal(tkw_pool_read_stats(pool).retired, 0);
    tkw_pool_advance(pool, 10);
    assert_int_equal(tkw_pool_read_stats(pool).retired, 1);
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
    struct tkw_pool_timer popped;
    tkw_handle last = pool_arm(pool, 0, 0);
    for (int i = 0; i < 5; i++) {
        assert_true(tkw_pool_pop_keep(pool, &popped));
        assert_int_equal(popped.handle, last);
        assert_int_equal(tkw_pool_rearm(pool, last, 0), 1);
        assert_int_equal(tkw_pool_read_stats(pool).retired, 0);
    }
    assert_pool_pops(pool, last);
    assert_int_equal(tkw_pool_read_stats(pool).retired, 1);
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
    assert_int_equal(tkw_pool_read_stats(pool).retired, 1);
    assert_int_equal((uint32_t)pool_arm(pool, 20, 0), 0);
    assert_int_equal((uint32_t)pool_arm(pool, 20, 0), 2);
    pool_done(pool);
}

/* Not after having taken all the memory there is. */
static void more_than_can_ever_be_armed_is_refused_without_asking(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_pool *pool = ledger_pool(&ledger, NULL);
    uint64_t calls = ledger.calls;
    ledger_fail(&ledger, 0, FOR_EVER);
    size_t most = TKW_POOL_TIMERS_MAX;
    assert_int_equal(tkw_pool_reserve(pool, most + 1), -ENOMEM);
    assert_int_equal(tkw_pool_reserve(pool, SIZE_MAX), -ENOMEM);
    assert_int_equal(ledger.calls, calls);
    assert_int_equal(tkw_pool_reserve(pool, most), -ENOMEM);
    assert_int_equal(ledger.calls, calls + 1);
    ledger_done(&ledger, pool);
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
static void a_geometry_too_large_for_memory_is_an_error(void **state)
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
    uint64_t bytes = slots * sizeof(struct slot);
    if (bytes > SIZE_MAX)
        assert_int_equal(miser.largest, SIZE_MAX);
    else
        assert_in_range(miser.largest, bytes, bytes + slots);
}

static void put_off_on_a_ring_it_is_filed_anew_and_not_passed_over(void **state)
{
    (void)state;
    static const struct tkw_geometry ring = {.sizes = {8},
                                             .beyond = TKW_ROUNDS};
    struct tkw_pool *pool = pool_of(&ring, 0);
    tkw_handle put_off = pool_arm(pool, 3, 0);
    tkw_handle far = pool_arm(pool, 3 + 8, 1);
    assert_int_equal(tkw_pool_postpone(pool, put_off, 5), 1);
    tkw_pool_advance(pool, 3);
    assert_int_equal(tkw_pool_read_stats(pool).work.refiles, 1);
    assert_int_equal(tkw_pool_read_stats(pool).work.passes, 1);
    assert_pool_fires_on_time(pool, put_off);
    assert_pool_fires_on_time(pool, far);
    pool_done(pool);
}

static void what_was_put_off_counts_until_it_is_seen(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle timer = pool_arm(pool, 10, 0);
    for (tkw_tick deadline = 11; deadline <= 20; deadline++)
        assert_int_equal(tkw_pool_postpone(pool, timer, deadline), 1);
    assert_int_equal(pool->unseen, 10);
    tkw__pool_see(pool, 3);
    assert_int_equal(pool->unseen, 7);
    tkw__pool_see(pool, 7);
    assert_int_equal(pool->unseen, 0);
    tkw__pool_see(pool, 1);
    assert_int_equal(pool->unseen, 0);
    assert_pool_fires_on_time(pool, timer);
    pool_done(pool);
}

/* When its tick comes, or when it falls. */
static void what_was_put_off_is_seen_when_its_slot_begins(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle near = pool_arm(pool, 10, 0), far = pool_arm(pool, 30, 0);
    assert_int_equal(tkw_pool_postpone(pool, near, 35), 1);
    assert_int_equal(tkw_pool_postpone(pool, far, 36), 1);
    assert_int_equal(pool->unseen, 2);
    tkw_pool_advance(pool, 10);
    assert_int_equal(pool->unseen, 1);
    tkw_pool_advance(pool, 20);
    assert_int_equal(pool->unseen, 0);
    assert_pool_fires_on_time(pool, near);
    assert_pool_fires_on_time(pool, far);
    pool_done(pool);
}

/* Only what is armed into an empty slot can be next. */
static void another_entry_in_a_slot_starts_no_search_for_the_next(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < CHUNK_ENTRIES; i++)
        pool_arm(pool, 50, i);
    assert_int_equal(pool->wake, 0);
    tkw_pool_advance(pool, 1);
    assert_int_equal(pool->wake, 50);
    pool_arm(pool, 50, 0);
    assert_int_equal(pool->slots[50].chunks, 2);
    assert_int_equal(pool->wake, 50);
    pool_arm(pool, 40, 0);
    assert_int_equal(pool->wake, 0);
    pool_done(pool);
}

/* To pop is a comparison and a load until the end of a chunk. */
static void the_end_of_ready_is_computed_once_a_chunk(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    struct tkw_pool_timer popped;
    for (size_t i = 0; i < CHUNK_ENTRIES + 10; i++)
        pool_arm(pool, 0, i);
    tkw_pool_advance(pool, 0);
    const struct stream *ready = shelf(pool, READY);
    for (size_t i = 1; i <= CHUNK_ENTRIES; i++) {
        assert_true(tkw_pool_pop(pool, &popped));
        size_t left = i < CHUNK_ENTRIES ? CHUNK_ENTRIES - i : 10;
        assert_ptr_equal(pool->ready_end, ready->read + left);
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
        cmocka_unit_test(more_than_can_ever_be_armed_is_refused_without_asking),
        cmocka_unit_test(a_geometry_too_large_for_memory_is_an_error),
        cmocka_unit_test(
            put_off_on_a_ring_it_is_filed_anew_and_not_passed_over),
        cmocka_unit_test(what_was_put_off_counts_until_it_is_seen),
        cmocka_unit_test(what_was_put_off_is_seen_when_its_slot_begins),
        cmocka_unit_test(another_entry_in_a_slot_starts_no_search_for_the_next),
        cmocka_unit_test(the_end_of_ready_is_computed_once_a_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
