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
    assert_int_equal(tkw_pool_counters(pool).shares, 0);
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
    assert_int_equal(tkw_pool_counters(pool).shares, 1);
    uint64_t left = CHUNKS - share / CHUNK_ENTRIES;
    share += left * CHUNK_ENTRIES / (256 - 141 + 1) + 1;
    tkw_pool_advance(pool, 141);
    assert_int_equal(pool_moved(pool), share);
    assert_int_equal(tkw_pool_counters(pool).shares, 2);
    pool_done(pool);
    pool = pool_with_crowd(NULL, CHUNKS * CHUNK_ENTRIES, 300, 254);
    tkw_pool_advance(pool, 255);
    assert_int_equal(pool_moved(pool), CHUNKS * CHUNK_ENTRIES / 2 + 1);
    pool_done(pool);
}

/* How many timers are looked at when a crowd falls, some dead or put off. */
static uint64_t looks_of_fall(const struct tkw_geometry *geometry,
                              tkw_tick deadline, size_t dead, size_t put_off)
{
    enum { COUNT = TKW_CROWDED_CHUNKS * CHUNK_ENTRIES };
    struct tkw_pool *pool = pool_of(geometry, 0);
    tkw_handle handles[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        handles[i] = pool_arm(pool, deadline, i);
    for (size_t i = 0; i < dead; i++)
        assert_int_equal(tkw_pool_cancel(pool, handles[i]), 1);
    for (size_t i = dead; i < dead + put_off; i++)
        assert_int_equal(tkw_pool_postpone(pool, handles[i], deadline + 1), 1);
    tkw_tick begin = tkw_pool_next(pool);
    assert_true(tkw_pool_advance_some(pool, begin - 1, 0));
    tkw_pool_advance(pool, begin);
    uint64_t looks = tkw_pool_counters(pool).looks;
    assert_true(looks == 0 || looks == COUNT);
    assert_int_equal(pool_moved(pool), looks == 0 ? COUNT : COUNT - dead);
    pool_done(pool);
    return looks;
}

/* Below an eighth that is dead or was put off, no timer is touched. */
static void a_crowd_falls_unseen_unless_many_are_dead(void **state)
{
    (void)state;
    enum { EIGHTH = TKW_CROWDED_CHUNKS * CHUNK_ENTRIES / 8, HALF = EIGHTH / 2 };
    assert_int_equal(looks_of_fall(&kafka, 50, 0, 0), 0);
    assert_int_equal(looks_of_fall(&kafka, 50, EIGHTH, 0), 0);
    assert_int_equal(looks_of_fall(&kafka, 50, 0, EIGHTH), 0);
    assert_int_equal(looks_of_fall(&kafka, 50, HALF, EIGHTH - HALF), 0);
    assert_int_not_equal(looks_of_fall(&kafka, 50, EIGHTH + 1, 0), 0);
    assert_int_not_equal(looks_of_fall(&kafka, 50, 0, EIGHTH + 1), 0);
    assert_int_not_equal(looks_of_fall(&kafka, 50, HALF, HALF + 2), 0);
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
    assert_int_equal(looks_of_fall(&exact, 3 * length + 10000, 0, 0), 0);
    assert_int_equal(UINT64_C(97) * 257 * 673, length + 1);
    assert_int_not_equal(looks_of_fall(&longer, 3 * length, 0, 0), 0);
    assert_int_not_equal(looks_of_fall(&rounds, 50, 0, 0), 0);
}

/* There the dead go no further. */
static void a_slot_that_is_not_crowded_is_looked_at(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < 10; i++)
        pool_arm(pool, 50, i);
    tkw_pool_advance(pool, 40);
    assert_int_equal(tkw_pool_counters(pool).looks, 10);
    pool_done(pool);
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
    assert_int_equal(tkw_pool_counters(pool).work.refiles, 1);
    assert_int_equal(tkw_pool_counters(pool).work.passes, 1);
    assert_pool_fires_on_time(pool, put_off);
    assert_pool_fires_on_time(pool, far);
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

static void what_was_put_off_counts_until_it_is_seen(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle timer = pool_arm(pool, 10, 0);
    for (tkw_tick deadline = 11; deadline <= 20; deadline++)
        assert_int_equal(tkw_pool_postpone(pool, timer, deadline), 1);
    assert_int_equal(pool->unseen, 10);
    pool_see(pool, 3);
    assert_int_equal(pool->unseen, 7);
    pool_see(pool, 7);
    assert_int_equal(pool->unseen, 0);
    pool_see(pool, 1);
    assert_int_equal(pool->unseen, 0);
    assert_pool_fires_on_time(pool, timer);
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

/* Nobody arms, time goes by: a chunk a step, if the budget is for one. */
static void the_dead_are_swept_as_time_goes_by(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < 3 * TKW_SWEEP_SLACK; i++) {
        tkw_handle dead = pool_arm(pool, 100, i);
        pool_arm(pool, 100, i);
        assert_int_equal(tkw_pool_cancel(pool, dead), 1);
    }
    while (!pool_has_many_dead(pool))
        tkw_pool_cancel(pool, pool_arm(pool, 100, 0));
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

/* Eight are swept for one that is armed, or the dead would gain on them. */
static void while_there_are_many_dead_arming_sweeps_eightfold(void **state)
{
    (void)state;
    enum { ARMED = CHUNK_ENTRIES };
    struct tkw_pool *pool = pool_of(NULL, 0);
    tkw_handle dead[3 * TKW_SWEEP_SLACK];
    for (size_t i = 0; i < COUNT_OF(dead); i++)
        dead[i] = pool_arm(pool, 100, i);
    for (size_t i = 0; i < COUNT_OF(dead); i++)
        assert_int_equal(tkw_pool_cancel(pool, dead[i]), 1);
    pool->arms_left = 0;
    while (pool->looks == 0) /* find the slot */
        pool_sweep(pool);
    uint64_t before = pool->looks;
    for (size_t i = 0; i < ARMED; i++)
        pool_arm(pool, 100, i);
    assert_in_range(pool->looks - before, 8 * ARMED, 10 * ARMED);
    pool_done(pool);
}

/*
 * Half way through what is due the sweeper stands in chunks that become part of
 * what is ready.  Going on there it would mend the ends of the wrong stream.
 */
static void the_sweeper_lets_go_of_a_queue_that_moves_on(void **state)
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
    pool_sweep(pool);
    assert_non_null(pool->sweep.at);
    assert_false(tkw_pool_advance_some(pool, 11, COUNT));
    assert_int_equal(tkw_pool_now(pool), 10);
    assert_null(pool->sweep.at);
    assert_null(pool->sweep.before);
    assert_int_not_equal(pool->shelves[DUE].chunks, 0);
    for (int i = 0; i < 20; i++)
        pool_sweep(pool);
    assert_pool_sound(pool);
    pool_advance_surely(pool, 11);
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
        cmocka_unit_test(more_than_can_ever_be_armed_is_refused_without_asking),
        cmocka_unit_test(a_geometry_too_large_for_memory_is_told_so),
        cmocka_unit_test(a_crowd_two_levels_above_goes_first),
        cmocka_unit_test(a_large_crowd_asks_to_be_woken_for_each_share),
        cmocka_unit_test(a_share_is_what_the_time_gone_by_is_of_the_time_left),
        cmocka_unit_test(a_crowd_falls_unseen_unless_many_are_dead),
        cmocka_unit_test(slots_longer_than_an_entry_tells_do_not_fall_unseen),
        cmocka_unit_test(a_slot_that_is_not_crowded_is_looked_at),
        cmocka_unit_test(
            put_off_on_a_ring_it_is_filed_anew_and_not_passed_over),
        cmocka_unit_test(a_budget_is_for_the_shares_of_all_levels),
        cmocka_unit_test(a_budget_is_for_what_is_in_the_way_too),
        cmocka_unit_test(what_was_put_off_counts_until_it_is_seen),
        cmocka_unit_test(few_timers_take_few_chunks),
        cmocka_unit_test(the_dead_are_swept_as_time_goes_by),
        cmocka_unit_test(while_there_are_many_dead_arming_sweeps_eightfold),
        cmocka_unit_test(the_sweeper_lets_go_of_a_queue_that_moves_on),
        cmocka_unit_test(a_step_of_the_sweeper_passes_over_few_empty_streams),
        cmocka_unit_test(a_round_of_the_sweeper_begins_with_the_first_slot),
        cmocka_unit_test(the_living_of_two_chunks_fit_into_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
