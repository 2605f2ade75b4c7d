/*
 * pool/room_test.c - how much memory a pool asks for and how far it goes with
 * it, seen from inside: to the last place, and not one further.
 */
#include "support/pool.h"

#include <errno.h>

#include "pool/private.h"

static const struct tkw_geometry ring_of_8 = {.sizes = {8},
                                              .beyond = TKW_ROUNDS};

static void slots_fill_the_memory_that_was_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes); i++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[i], 0);
        const char *end = (const char *)pool->arena + pool->arena_bytes;
        assert_ptr_equal(pool->slots + pool->slot_count, end);
        pool_done(pool);
    }
}

/* To arm is a shift and a comparison where all sizes are powers of two. */
static void powers_of_two_are_armed_for_without_a_division(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (uint32_t i = 0; i < pool->dial.level_count; i++) {
        uint32_t size = pool->dial.levels[i].size;
        assert_int_equal(pool->rings[i].mask, 2 * size - 1);
        assert_int_equal(pool->rings[i].reach, size - 1);
    }
    pool_done(pool);
    pool = pool_of(&kafka, 0);
    for (uint32_t i = 0; i < pool->dial.level_count; i++) {
        assert_int_equal(pool->rings[i].mask, 0);
        assert_int_equal(pool->rings[i].reach, 0);
        assert_int_equal(pool->rings[i].shift, 0);
    }
    pool_done(pool);
}

/*
 * Of the chunks there are, two a level and two for each of the five queues are
 * kept for what is half read.  Of the others each may hold one entry only, but
 * no more than there are streams, and a 64th of the places is for gaps.
 *
 * The default has 10 levels and 4,608 streams:
 *
 *     128 - 30 =   98; of 63 chunks 62 count:              96,    -1 =    95
 *   5,120 - 30 = 5,090; past the streams 482 are full:  29,884, -466 = 29,418
 *
 * A ring of 8 has 1 level and 32 streams:
 *
 *     128 - 12 =  116; past the streams 84 are full:     5,208,  -81 =  5,127
 *
 * In 32 bits a chunk has room for one more.
 */
static size_t without_gaps(size_t places)
{
    return places - places / 64;
}

static void chunks_are_kept_in_reserve_for_advancing(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    assert_int_equal(pool->chunks_total, 128);
    assert_int_equal(pool->places_safe, 95);
    assert_int_equal(tkw_pool_reserve(pool, 28900), 0);
    assert_int_equal(pool->chunks_total, 5120);
    assert_int_equal(pool->places_safe, without_gaps(482 * CHUNK_ENTRIES));
    pool_done(pool);
    pool = pool_of(&ring_of_8, 0);
    assert_int_equal(pool->chunks_total, 128);
    assert_int_equal(pool->places_safe, without_gaps(84 * CHUNK_ENTRIES));
    pool_done(pool);
}

/* Not a chunk for every slot there is. */
static void few_timers_take_few_chunks(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (tkw_tick i = 0; i < TKW_BLOCK_CHUNKS / 2; i++)
        pool_arm(pool, i, i);
    assert_int_equal(pool->chunks_total, TKW_BLOCK_CHUNKS);
    assert_int_equal(pool->room, SEGMENT_RECORDS);
    pool_done(pool);
}

/* Arm until memory is needed that there is not, asking now and then or always
 * whether it is. */
static void arm_all_that_is_safe(struct ledger *ledger, struct tkw_pool *pool,
                                 bool is_asking)
{
    struct tkw_user user = {0};
    int error = 0;
    ledger_fail(ledger, 0, FOR_EVER);
    while (error == 0) {
        pool->arms_left = is_asking ? 0 : pool->arms_left;
        error = tkw_pool_arm(pool, NULL, tkw_pool_now(pool) + 5, user);
    }
    assert_int_equal(error, -ENOMEM);
    assert_int_equal(pool->entries + pool->gaps, pool->places_safe);
    assert_pool_sound(pool);
    ledger_relent(ledger);
}

static void arming_goes_as_far_as_is_safe_and_no_further(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes); i++) {
        struct ledger ledger;
        struct tkw_pool *pool = ledger_pool(&ledger, &pool_shapes[i]);
        arm_all_that_is_safe(&ledger, pool, false);
        for (int n = 0; n < 3; n++) {
            pool_arm(pool, 10, 0);
            arm_all_that_is_safe(&ledger, pool, n != 1);
        }
        ledger_done(&ledger, pool);
    }
}

/* Places for timers are had by the segment, when the last one is taken. */
static void a_segment_is_asked_for_when_all_are_taken(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    assert_int_equal(tkw_pool_reserve(pool, SEGMENT_RECORDS), 0);
    assert_int_equal(pool->room, SEGMENT_RECORDS);
    for (size_t i = 0; i < SEGMENT_RECORDS; i++)
        pool_arm(pool, 10, i);
    assert_int_equal(pool->room, SEGMENT_RECORDS);
    pool_arm(pool, 10, 0);
    assert_int_equal(pool->room, 2 * SEGMENT_RECORDS);
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

/* So many that they take as many chunks, one in the last. */
static void fire_chunks(struct tkw_pool *pool, size_t chunks)
{
    tkw_tick soon = tkw_pool_now(pool) + 1;
    for (size_t i = 0; i < (chunks - 1) * CHUNK_ENTRIES + 1; i++)
        pool_arm(pool, soon, i);
    tkw_pool_advance(pool, soon);
}

/* A gap of 61 places is little beside 64 chunks, and much beside fewer. */
static void long_queues_are_joined_and_others_copied(void **state)
{
    (void)state;
    const size_t gap = CHUNK_ENTRIES - 1;
    struct ledger ledger;
    struct tkw_pool *pool = ledger_pool(&ledger, NULL);
    fire_chunks(pool, TKW_JOIN_CHUNKS);
    assert_int_equal(pool->gaps, 0); /* nothing was ready before */
    fire_chunks(pool, TKW_JOIN_CHUNKS);
    assert_int_equal(pool->gaps, gap);
    fire_chunks(pool, TKW_JOIN_CHUNKS - 1);
    assert_int_equal(pool->gaps, gap);
    arm_all_that_is_safe(&ledger, pool, false);
    tkw_tick last = 0;
    struct tkw_pool_timer timer;
    for (uint64_t word = 0; tkw_pool_pop(pool, &timer); word++) {
        word = timer.deadline == last ? word : 0;
        assert_int_equal(timer.user.word, word);
        last = timer.deadline;
    }
    assert_int_equal(pool->gaps, 0);
    ledger_done(&ledger, pool);
}

/* A sweep in an unfinished tick leaves a gap in the queue of what is due.  The
 * gap goes on in the queue that it is joined to. */
static void joining_keeps_the_gap_of_a_swept_queue(void **state)
{
    (void)state;
    enum { DUE_COUNT = (TKW_JOIN_CHUNKS + 2) * CHUNK_ENTRIES, DEAD = 30 };
    tkw_handle handles[DEAD];
    struct tkw_pool *pool = pool_of(NULL, 0);
    fire_chunks(pool, 2); /* something is ready */
    tkw_tick soon = tkw_pool_now(pool) + 1;
    for (size_t i = 0; i < DUE_COUNT; i++) {
        tkw_handle handle = pool_arm(pool, soon, i);
        if (i < DEAD)
            handles[i] = handle;
    }
    assert_false(tkw_pool_advance_some(pool, soon, DUE_COUNT - 1));
    for (size_t i = 0; i < DEAD; i++)
        assert_true(tkw_pool_cancel(pool, handles[i]));
    for (int i = 0; i < 1000 && pool->shelves[DUE].gaps == 0; i++)
        tkw__pool_sweep(pool);
    assert_int_equal(pool->shelves[DUE].gaps, DEAD);
    assert_true(tkw_pool_check(pool));

    tkw_pool_advance(pool, soon);
    assert_int_equal(pool->shelves[READY].gaps, DEAD + CHUNK_ENTRIES - 1);
    assert_int_equal(pool->gaps, DEAD + CHUNK_ENTRIES - 1);
    pool_done(pool);
}

/* The most that is promised without memory, and not a little less. */
static size_t most_reserved(struct ledger *ledger, struct tkw_pool *pool)
{
    size_t n = 0;
    ledger_fail(ledger, 0, FOR_EVER);
    for (size_t step = 1 << 20; step != 0; step /= 2) {
        if (tkw_pool_reserve(pool, n + step) == 0)
            n += step;
    }
    return n;
}

/* The worst that joining can do: a gap of 61 places for every 3,907. */
static void what_was_reserved_outlasts_joining_queues(void **state)
{
    (void)state;
    enum { QUEUE = (TKW_JOIN_CHUNKS - 1) * CHUNK_ENTRIES + 1, QUEUES = 200 };
    struct ledger ledger;
    struct tkw_pool *pool = ledger_pool(&ledger, NULL);
    assert_int_equal(tkw_pool_reserve(pool, QUEUES * QUEUE), 0);
    size_t n = most_reserved(&ledger, pool);
    assert_in_range(n, QUEUES * QUEUE, 2 * QUEUES * QUEUE);
    assert_true(n + n / 63 + 1 <= pool->places_safe); /* not too much ... */
    assert_true(n + 1 + (n + 1) / 63 + 1 > pool->places_safe); /* or little */
    for (size_t i = 0; i < n; i++) {
        pool_arm(pool, tkw_pool_now(pool) + 1, i);
        if (i % QUEUE == QUEUE - 1)
            tkw_pool_advance(pool, tkw_pool_now(pool) + 1);
    }
    assert_int_equal(pool->gaps, (n / QUEUE - 1) * (CHUNK_ENTRIES - 1));
    ledger_done(&ledger, pool);
}

/* What is out, and the pool that knows. */
struct bank {
    const struct tkw_pool *pool;
    uint64_t bytes;
};

static void *bank_allocate(void *context, size_t bytes)
{
    struct bank *bank = context;
    bank->bytes += bytes;
    return malloc(bytes);
}

static void bank_release(void *context, void *memory, size_t bytes)
{
    struct bank *bank = context;
    bank->bytes -= bytes;
    if (memory != bank->pool)
        assert_int_equal(bank->pool->bytes, bank->bytes);
    free(memory);
}

/* Though nobody is there to ask, as long as memory is only released then. */
static void bytes_are_counted_while_a_pool_is_closed(void **state)
{
    (void)state;
    struct bank bank = {0};
    struct tkw_allocator allocator = {bank_allocate, bank_release, &bank};
    struct tkw_pool_config config = {.allocator = &allocator};
    struct tkw_pool *pool;
    assert_int_equal(tkw_pool_open(&pool, &config), 0);
    bank.pool = pool;
    assert_int_equal(tkw_pool_reserve(pool, 2 * SEGMENT_RECORDS), 0);
    assert_int_equal(tkw_pool_read_stats(pool).bytes, bank.bytes);
    tkw_pool_close(pool);
    assert_int_equal(bank.bytes, 0);
}

/* More seldom, more would die between two looks than the slack allows. */
static void
arming_checks_for_dead_entries_every_quarter_of_the_slack(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    assert_int_equal(tkw_pool_reserve(pool, 10 * TKW_SWEEP_SLACK), 0);
    pool_arm(pool, 10, 0);
    assert_int_equal(pool->arms_left, TKW_SWEEP_SLACK / 4);
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_fill_the_memory_that_was_asked_for),
        cmocka_unit_test(powers_of_two_are_armed_for_without_a_division),
        cmocka_unit_test(chunks_are_kept_in_reserve_for_advancing),
        cmocka_unit_test(few_timers_take_few_chunks),
        cmocka_unit_test(arming_goes_as_far_as_is_safe_and_no_further),
        cmocka_unit_test(a_segment_is_asked_for_when_all_are_taken),
        cmocka_unit_test(past_the_last_place_there_is_no_memory),
        cmocka_unit_test(long_queues_are_joined_and_others_copied),
        cmocka_unit_test(joining_keeps_the_gap_of_a_swept_queue),
        cmocka_unit_test(what_was_reserved_outlasts_joining_queues),
        cmocka_unit_test(bytes_are_counted_while_a_pool_is_closed),
        cmocka_unit_test(
            arming_checks_for_dead_entries_every_quarter_of_the_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
