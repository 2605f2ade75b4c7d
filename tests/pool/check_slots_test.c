/*
 * pool/check_slots_test.c - law L15 of the pool: check() sees wrong time, wrong
 * slots and what an unfinished tick may not leave.
 */
#include "scene.h"

static void check_sees_wrong_time(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    ASSERT_SEEN(pool, pool->now, 21, "last finished tick is 21, expected 22");
    ASSERT_SEEN(pool, pool->now, 23, "last finished tick is 23, expected 22");
    ASSERT_SEEN(pool, pool->dial.now, 23,
                "level 1: number of the current slot is 22, expected 23");
    ASSERT_SEEN(pool, pool->dial.levels[1].hand, 2,
                "level 2: number of the current slot is 2, expected 1");
    ASSERT_SEEN(
        pool, pool->dial.levels[1].start, 40,
        "level 2: tick at which the current slot begins is 40, expected 20");
    ASSERT_SEEN(pool, pool->is_mid_tick, true,
                "last finished tick is 22, expected 21");
    ASSERT_SEEN(/* past the slot of 30 */
                pool, pool->wake, 31,
                "tick before which no slot begins is 31, expected at most 30");
    ASSERT_SEEN(pool, pool->wake, TKW_NEVER,
                "tick before which no slot begins is 18446744073709551615, "
                "expected at most 30");
    ASSERT_SEEN(pool, pool->quiet, 31,
                "tick before which an advance only moves the hands is 31, "
                "expected at most 30");
    pool->wake = 30;
    assert_true(tkw_pool_check(pool));
    pool_done(pool);
}

/* The wrong bit of a slot.  If it is the level's only one, or was, the level's
 * busy bit disagrees with it first. */
static void assert_occupancy_seen(struct tkw_pool *pool, uint32_t level,
                                  uint32_t position)
{
    uint64_t *word = pool->rings[level].occupancy;
    uint64_t wrong = *word ^ UINT64_C(1) << position;
    bool is_set = *word >> position & 1;
    bool is_busy = *word != 0;
    uint32_t slot = position % pool->dial.levels[level].size;
    if ((wrong != 0) != is_busy)
        ASSERT_SEEN(pool, *word, wrong,
                    "level %u: busy bit of the level is %d, expected %d",
                    level + 1, is_busy, !is_busy);
    else
        ASSERT_SEEN(pool, *word, wrong,
                    "level %u, slot %u: occupancy bit of the slot is %d, "
                    "expected %d",
                    level + 1, slot, !is_set, is_set);
}

/* Forgetting one, or telling of one that is not there. */
static void check_sees_wrong_occupancy(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    const uint64_t bit = 1;
    for (uint32_t level = 0; level < pool->dial.level_count; level++) {
        struct ring *ring = &pool->rings[level];
        bool is_busy = pool->busy >> level & 1;
        ASSERT_SEEN(pool, pool->busy, pool->busy ^ bit << level,
                    "level %u: busy bit of the level is %d, expected %d",
                    level + 1, !is_busy, is_busy);
        for (uint32_t i = 0; i < ring->size; i++)
            assert_occupancy_seen(pool, level, i);
    }
    pool_done(pool);
}

/* Put what is in one slot of a ring into another that is empty. */
static void move_slot(struct tkw_pool *pool, uint32_t level, uint64_t from,
                      uint64_t to)
{
    struct ring *ring = &pool->rings[level];
    uint32_t source = ring_slot(ring, from);
    uint32_t target = ring_slot(ring, to);
    assert_int_equal(pool->slots[target].chunks, 0);
    pool->slots[target] = pool->slots[source];
    memset(&pool->slots[source], 0, sizeof(pool->slots[source]));
    bits_remove(ring->occupancy, ring->size, source - ring->first);
    bits_add(ring->occupancy, ring->size, target - ring->first);
}

static void assert_move_seen(struct tkw_pool *pool, uint32_t level,
                             uint64_t from, uint64_t to, const char *fault)
{
    tkw_tick wake = pool->wake;
    pool->wake = 0;
    move_slot(pool, level, from, to);
    ASSERT_BROKEN(pool, pool, "%s", fault);
    move_slot(pool, level, to, from);
    assert_true(tkw_pool_check(pool));
    pool->wake = wake;
}

static void check_sees_a_slot_out_of_its_place(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    assert_move_seen(pool, 0, 30, 29,
                     "level 1, slot 9: tick of an entry, counted from the "
                     "first of the slot, is 1, expected at most 0");
    assert_move_seen(pool, 0, 30, 31,
                     "level 1, slot 11: tick of an entry, counted from the "
                     "first of the slot, is 16777215, expected at most 0");
    assert_move_seen(pool, 0, 30, 22, /* the current one */
                     "level 1, slot 2: number of chunks of a slot that must "
                     "be empty is 2, expected 0");
    assert_move_seen(pool, 0, 30, 21, /* a turn and more ahead */
                     "level 1, slot 1: tick of an entry, counted from the "
                     "first of the slot, is 16777185, expected at most 0");
    assert_move_seen(pool, 1, 3, 2,
                     "level 2, slot 2: tick of an entry, counted from the "
                     "first of the slot, is 30, expected at most 19");
    assert_move_seen(pool, 1, 3, 4,
                     "level 2, slot 4: tick of an entry, counted from the "
                     "first of the slot, is 16777206, expected at most 19");
    assert_move_seen(pool, 1, 3, 1,
                     "level 2, slot 1: number of chunks of a slot that must "
                     "be empty is 4, expected 0");
    pool_done(pool);
}

/* Past the last tick no slot ever begins, though its number has a place. */
static void check_sees_a_slot_after_the_end_of_time(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    uint32_t top = pool->dial.level_count - 1;
    uint64_t last = UINT64_MAX / pool->dial.levels[top].tick;
    pool_arm(pool, TKW_NEVER - 1, 0);
    assert_true(tkw_pool_check(pool));
    assert_move_seen(pool, top, last, last + 1,
                     "level 15, slot 0: number of chunks of a slot that must "
                     "be empty is 1, expected 0");
    assert_move_seen(pool, top, last, last + 2,
                     "level 15, slot 1: number of chunks of a slot that must "
                     "be empty is 1, expected 0");
    pool_done(pool);
}

/* All else is as if the slots up to that number had been drained. */
static void set_drained(struct tkw_pool *pool, uint32_t level, uint64_t number)
{
    pool->rings[level].drained = number;
    tkw__ring_update(pool, level);
}

static void check_sees_what_is_left_in_a_drained_slot(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    set_drained(pool, 0, 30);
    ASSERT_BROKEN(pool, pool,
                  "level 1, slot 10: number of chunks of a slot that must be "
                  "empty is 2, expected 0");
    set_drained(pool, 0, 0);
    assert_true(tkw_pool_check(pool));
    for (uint64_t number = 1; number < 6; number++) {
        set_drained(pool, 1, number);
        if (number < 3)
            assert_true(tkw_pool_check(pool));
        else
            ASSERT_BROKEN(pool, pool,
                          "level 2, slot 3: number of chunks of a slot that "
                          "must be empty is 4, expected 0");
    }
    set_drained(pool, 1, 0);
    pool_done(pool);
}

/* Set a number of a ring to a wrong value, and name it as check() does. */
#define ASSERT_RING_SEEN(field, wrong, what)                                \
    do {                                                                    \
        uint64_t number = (field);                                          \
        ASSERT_SEEN(pool, field, wrong,                                     \
                    "level %u: " what " is %" PRIu64 ", expected %" PRIu64, \
                    i + 1, (uint64_t)(field), number);                      \
    } while (0)

/* What is known beforehand of where to file, on any level. */
static void assert_reach_seen(const struct tkw_geometry *geometry)
{
    struct tkw_pool *pool = pool_of(geometry, 1000);
    pool_arm(pool, 5000, 0);
    assert_true(tkw_pool_check(pool));
    for (uint32_t i = 0; i < pool->dial.level_count; i++) {
        struct ring *ring = &pool->rings[i];
        ASSERT_RING_SEEN(ring->hand, ring->hand + 1,
                         "current slot that filing counts on");
        ASSERT_RING_SEEN(ring->low, ring->low + 1,
                         "first slot number to file in");
        ASSERT_RING_SEEN(ring->low, ring->low - 1,
                         "first slot number to file in");
        ASSERT_RING_SEEN(ring->reach, ring->reach + 1,
                         "number of slots to file in without a search");
        if (ring->reach == 0)
            continue;
        ASSERT_RING_SEEN(ring->reach, ring->reach - 1,
                         "number of slots to file in without a search");
        ASSERT_RING_SEEN(ring->shift, ring->shift + 1,
                         "logarithm of the length of a ring's slot");
        ring->reach--; /* as far as before, but one is left out */
        uint64_t low = ring->low++;
        ASSERT_BROKEN(pool, pool,
                      "level %u: first slot number to file in is %" PRIu64
                      ", expected %" PRIu64,
                      i + 1, low + 1, low);
        ring->low--;
        ring->reach++;
    }
    pool_done(pool);
}

static void check_sees_what_is_wrong_about_filing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes); i++)
        assert_reach_seen(&pool_shapes[i]);
}

static void check_sees_a_crowd_that_is_not_known(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    assert_true(slot_at(pool, 1, 150)->chunks >= TKW_CROWDED_CHUNKS);
    assert_int_equal(pool->crowds, 2);
    ASSERT_SEEN(pool, pool->crowds, 0,
                "level 2, slot 7: crowd bit of the level is 0, expected 1");
    ASSERT_SEEN(pool, pool->crowds, 1,
                "level 2, slot 7: crowd bit of the level is 0, expected 1");
    ASSERT_SEEN(pool, pool->crowds, 4,
                "level 2, slot 7: crowd bit of the level is 0, expected 1");
    pool_done(pool);

    pool = pool_of(&kafka, 0); /* just enough to be one */
    for (size_t i = 0; i < TKW_CROWDED_CHUNKS * CHUNK_ENTRIES; i++)
        pool_arm(pool, 50, i);
    assert_int_equal(slot_at(pool, 1, 50)->chunks, TKW_CROWDED_CHUNKS);
    ASSERT_SEEN(pool, pool->crowds, 0,
                "level 2, slot 2: crowd bit of the level is 0, expected 1");
    pool_done(pool);
}

/*
 * A budget ends in the middle of a tick that lets a slot of level 2 fall and
 * fires: one is due, one is armed late, the rest is still in its slot.
 */
static struct tkw_pool *stop_in_a_tick(bool is_falling)
{
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < 10; i++)
        pool_arm(pool, i < 8 ? 40 : 45, i);
    assert_false(tkw_pool_advance_some(pool, 50, is_falling ? 3 : 13));
    assert_int_equal(pool->dial.now, 40);
    assert_int_equal(tkw_pool_now(pool), 39);
    if (!is_falling)
        pool_arm(pool, 40, 10);
    assert_true(tkw_pool_check(pool));
    return pool;
}

static void check_sees_faults_in_an_unfinished_tick(void **state)
{
    (void)state;
    struct tkw_pool *pool = stop_in_a_tick(true);
    assert_int_equal(pool->levels_left, 2);
    assert_int_equal(slot_at(pool, 1, 40)->chunks, 1);
    ASSERT_SEEN(pool, pool->levels_left, 1,
                "level 2, slot 2: number of chunks of a slot that must be "
                "empty is 1, expected 0");
    ASSERT_SEEN(pool, pool->levels_left, 0,
                "level 1, slot 0: number of chunks of a slot that must be "
                "empty is 1, expected 0");
    ASSERT_SEEN(pool, pool->now, 40, "last finished tick is 40, expected 39");
    ASSERT_SEEN(pool, pool->now, 38, "last finished tick is 38, expected 39");
    ASSERT_SEEN(
        pool, pool->quiet, 1,
        "tick before which an advance only moves the hands is 1, expected 0");
    pool_done(pool);
    pool = stop_in_a_tick(false);
    assert_int_equal(pool->levels_left, 1);
    ASSERT_SEEN(pool, pool->levels_left, 0,
                "level 1, slot 0: number of chunks of a slot that must be "
                "empty is 1, expected 0");
    pool_done(pool);
}

static void check_sees_wrong_deadlines_of_what_is_due(void **state)
{
    (void)state;
    struct tkw_pool *pool = stop_in_a_tick(false);
    for (uint32_t which = DUE; which <= LATE; which++) {
        assert_int_equal(pool->shelves[which].chunks, 1);
        uint64_t entry = *shelf(pool, which)->read;
        struct record *record = record_at(pool, entry_index(entry));
        ASSERT_SEEN(pool, record->deadline, 39,
                    "deadline of a timer is 39, expected at least 40");
        ASSERT_SEEN(pool, record->deadline, 41,
                    "deadline of a timer is 41, expected at most 40");
        ASSERT_SEEN(pool, record->word, record->word ^ WORD_QUEUED,
                    "queue mark of a timer is 0, expected 1");
    }
    pool_done(pool);
}

/* What was armed for the past must be moved by the next advance. */
static void check_sees_what_the_next_advance_would_leave(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_pool_advance(pool, 5);
    pool_arm(pool, 3, 0);
    ASSERT_SEEN(
        pool, pool->quiet, 5,
        "tick before which an advance only moves the hands is 5, expected 0");
    uint64_t entry = *shelf(pool, FRESH)->read;
    struct record *record = record_at(pool, entry_index(entry));
    ASSERT_SEEN(pool, record->deadline, 6,
                "deadline of a timer is 6, expected at most 5");
    ASSERT_SEEN(pool, record->word, record->word ^ WORD_QUEUED,
                "queue mark of a timer is 0, expected 1");
    pool_done(pool);
}

/* What waits for the end of a tick must be gone when none is unfinished. */
static void check_sees_what_a_finished_tick_left_over(void **state)
{
    (void)state;
    for (uint32_t which = DUE; which <= LATE; which++) {
        struct tkw_pool *pool = pool_of(&kafka, 0);
        pool_arm(pool, 0, 0);
        tkw_pool_advance(pool, 0);
        assert_true(tkw_pool_check(pool));
        pool->shelves[which] = pool->shelves[READY];
        memset(&pool->shelves[READY], 0, sizeof(pool->shelves[READY]));
        ASSERT_BROKEN(pool, pool,
                      "number of chunks that wait for the end of a tick is 1, "
                      "expected 0");
        pool->shelves[READY] = pool->shelves[which];
        memset(&pool->shelves[which], 0, sizeof(pool->shelves[which]));
        pool_done(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_sees_wrong_time),
        cmocka_unit_test(check_sees_wrong_occupancy),
        cmocka_unit_test(check_sees_a_slot_out_of_its_place),
        cmocka_unit_test(check_sees_a_slot_after_the_end_of_time),
        cmocka_unit_test(check_sees_what_is_left_in_a_drained_slot),
        cmocka_unit_test(check_sees_what_is_wrong_about_filing),
        cmocka_unit_test(check_sees_a_crowd_that_is_not_known),
        cmocka_unit_test(check_sees_faults_in_an_unfinished_tick),
        cmocka_unit_test(check_sees_wrong_deadlines_of_what_is_due),
        cmocka_unit_test(check_sees_what_the_next_advance_would_leave),
        cmocka_unit_test(check_sees_what_a_finished_tick_left_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
