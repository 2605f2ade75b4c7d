/*
 * dial/check_test.c - occupied slots, and that check() sees what is broken.
 */
#include "support/core.h"

/* Without memory for occupancy a dial still answers, and is never busy. */
static void a_dial_without_words_is_never_occupied(void **state)
{
    (void)state;
    struct tkw_dial dial;
    assert_int_equal(tkw_dial_init(&dial, &kafka, 3, NULL), 0);
    assert_int_equal(tkw_dial_next(&dial), TKW_NEVER);
    assert_int_equal(tkw_dial_where(&dial, 5).slot, 5);
    assert_false(tkw_dial_is_occupied(&dial, 1, 5));
    assert_true(tkw_dial_check(&dial));
    tkw_dial_turn(&dial, 3000000);
    assert_true(tkw_dial_check(&dial));
    dial.busy = 1;
    ASSERT_BROKEN(dial, &dial,
                  "level 1: busy bit of the level is 1, expected 0");
}

static void a_dial_with_words_begins_unoccupied(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        size_t count = tkw_dial_words(&shapes[s]);
        uint64_t *words = malloc(count * sizeof(*words));
        assert_non_null(words);
        memset(words, 0xff, count * sizeof(*words));

        struct tkw_dial dial;
        assert_int_equal(tkw_dial_init(&dial, &shapes[s], 77, words), 0);
        assert_int_equal(tkw_dial_next(&dial), TKW_NEVER);
        for (uint32_t slot = 0; slot < dial.levels[0].size; slot++)
            assert_false(tkw_dial_is_occupied(&dial, 1, slot));
        assert_true(tkw_dial_check(&dial));
        free(words);
    }
}

/* One timer at a time on every level: its slot is occupied, and is next. */
static void the_occupied_slot_is_the_one_where_said(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 1000003);
        const struct tkw_dial *dial = tkw_wheel_dial(wheel);
        for (unsigned bit = 0; bit < 64; bit++) {
            struct tkw_timer timer = {0};
            tkw_tick deadline = 1000003 + (UINT64_C(1) << bit);
            struct tkw_spot spot = tkw_dial_where(dial, deadline);
            tkw_wheel_arm(wheel, &timer, deadline);

            tkw_tick turn = dial->levels[spot.level - 1].tick *
                            dial->levels[spot.level - 1].size;
            tkw_tick next = spot.expiration - spot.rounds * turn;
            if (next <= dial->now) /* the slot of the hand, a turn ahead */
                next += turn;
            assert_true(tkw_dial_is_occupied(dial, spot.level, spot.slot));
            assert_int_equal(tkw_dial_next(dial), next);
            assert_true(tkw_wheel_cancel(wheel, &timer));
            assert_false(tkw_dial_is_occupied(dial, spot.level, spot.slot));
        }
        wheel_done(wheel);
    }
}

/* A level of more than 64 slots has summaries; both kinds of level are busy. */
static struct tkw_wheel *busy_wheel(struct tkw_timer timers[3])
{
    static const struct tkw_geometry shape = {.sizes = {100, 10}};
    struct tkw_wheel *wheel = wheel_of(&shape, 12345);
    tkw_wheel_arm(wheel, &timers[0], 12346);
    tkw_wheel_arm(wheel, &timers[1], 12420);
    tkw_wheel_arm(wheel, &timers[2], 12999);
    assert_true(tkw_dial_check(&wheel->dial));
    return wheel;
}

/* Flip bits of a word, and assert how the fault is described; see
 * ASSERT_SEEN_BY(). */
#define ASSERT_FLIP_SEEN(object, word, flip, ...) \
    ASSERT_SEEN_BY(dial, object, word, (word) ^ (flip), __VA_ARGS__)

static void assert_hand_seen(struct tkw_dial *dial, uint32_t n)
{
    uint64_t hand = dial->levels[n].hand;
    ASSERT_FLIP_SEEN(dial, dial->levels[n].hand, 1,
                     "level %u: number of the current slot is %" PRIu64
                     ", expected %" PRIu64,
                     n + 1, hand ^ 1, hand);
}

static void check_sees_a_displaced_hand(void **state)
{
    (void)state;
    struct tkw_timer timers[3] = {0};
    struct tkw_wheel *wheel = busy_wheel(timers);
    for (uint32_t n = 0; n < wheel->dial.level_count; n++) {
        tkw_tick start = wheel->dial.levels[n].start;
        assert_hand_seen(&wheel->dial, n);
        ASSERT_FLIP_SEEN(&wheel->dial, wheel->dial.levels[n].start, 1,
                         "level %u: tick at which the current slot begins "
                         "is %" PRIu64 ", expected %" PRIu64,
                         n + 1, start ^ 1, start);
    }
    ASSERT_FLIP_SEEN(
        &wheel->dial, wheel->dial.now, 1,
        "level 1: number of the current slot is 12345, expected 12344");
    wheel_done(wheel);
}

static void check_sees_a_level_of_wrong_busyness(void **state)
{
    (void)state;
    struct tkw_timer timers[3] = {0};
    struct tkw_wheel *wheel = busy_wheel(timers);
    struct tkw_dial *dial = &wheel->dial;
    for (unsigned bit = 0; bit < dial->level_count; bit++) {
        bool is_busy = dial->busy >> bit & 1;
        ASSERT_FLIP_SEEN(dial, dial->busy, UINT64_C(1) << bit,
                         "level %u: busy bit of the level is %d, expected %d",
                         bit + 1, !is_busy, is_busy);
    }
    for (unsigned bit = dial->level_count; bit < 64; bit++)
        ASSERT_FLIP_SEEN(dial, dial->busy, UINT64_C(1) << bit,
                         "busy word past the last level is %" PRIu64
                         ", expected 0",
                         UINT64_C(1) << (bit - dial->level_count));
    wheel_done(wheel);
}

/* The summary is the last word of the level's: two words and it above them. */
static void check_sees_a_summary_that_lies(void **state)
{
    (void)state;
    struct tkw_timer timers[3] = {0};
    struct tkw_wheel *wheel = busy_wheel(timers);
    uint64_t *words = wheel->dial.levels[0].occupancy;

    assert_int_equal(words[2], 1); /* 12346 and 12420 are slots 46 and 20 */
    ASSERT_FLIP_SEEN(
        &wheel->dial, words[2], 1,
        "level 1, slot 0: summary bit from the slot on is 0, expected 1");
    ASSERT_FLIP_SEEN(
        &wheel->dial, words[2], 2,
        "level 1, slot 64: summary bit from the slot on is 1, expected 0");
    ASSERT_FLIP_SEEN(
        &wheel->dial, words[1], 1,
        "level 1, slot 64: summary bit from the slot on is 0, expected 1");
    ASSERT_FLIP_SEEN(
        &wheel->dial, words[0], words[0],
        "level 1, slot 0: summary bit from the slot on is 1, expected 0");
    wheel_done(wheel);
}

/* With more than 4,096 slots there are summaries of summaries. */
static void check_sees_a_summary_of_summaries_that_lies(void **state)
{
    (void)state;
    static const struct tkw_geometry shape = {.sizes = {10000}};
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&shape, 0);
    tkw_wheel_arm(wheel, &timer, 8200);
    uint64_t *words = wheel->dial.levels[0].occupancy;
    uint64_t *summaries = words + 157;
    assert_int_equal(summaries[2], 1);
    assert_int_equal(summaries[3], 4);
    ASSERT_FLIP_SEEN(
        &wheel->dial, summaries[2], 2,
        "level 1, slot 8256: summary bit from the slot on is 1, expected 0");
    ASSERT_FLIP_SEEN(
        &wheel->dial, summaries[3], 4,
        "level 1, slot 8192: summary bit from the slot on is 0, expected 1");
    ASSERT_FLIP_SEEN(
        &wheel->dial, summaries[3], 2,
        "level 1, slot 4096: summary bit from the slot on is 1, expected 0");
    wheel_done(wheel);
}

/* Bits past the size belong to no slot. */
static void check_sees_a_member_past_the_size(void **state)
{
    (void)state;
    struct tkw_timer timers[3] = {0};
    struct tkw_wheel *wheel = busy_wheel(timers);
    uint64_t *words = wheel->dial.levels[1].occupancy;
    ASSERT_FLIP_SEEN(&wheel->dial, words[0], UINT64_C(1) << 10,
                     "level 2: occupancy word past the last slot is 1, "
                     "expected 0");
    ASSERT_FLIP_SEEN(&wheel->dial, words[0], UINT64_C(1) << 63,
                     "level 2: occupancy word past the last slot is %" PRIu64
                     ", expected 0",
                     UINT64_C(1) << 53);
    wheel_done(wheel);
}

/* Also the last word of several, where no other word is in use. */
static void check_sees_a_member_past_the_size_in_the_last_word(void **state)
{
    (void)state;
    static const struct tkw_geometry shape = {.sizes = {129, 10}};
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&shape, 0);
    tkw_wheel_arm(wheel, &timer, 128);
    uint64_t *words = wheel->dial.levels[0].occupancy;
    assert_int_equal(words[2], 1);
    ASSERT_FLIP_SEEN(&wheel->dial, words[2], UINT64_C(1) << 1,
                     "level 1: occupancy word past the last slot is 1, "
                     "expected 0");
    ASSERT_FLIP_SEEN(&wheel->dial, words[2], UINT64_C(1) << 63,
                     "level 1: occupancy word past the last slot is %" PRIu64
                     ", expected 0",
                     UINT64_C(1) << 62);
    wheel_done(wheel);
}

/* With 63 levels one bit is left over, with 64 none. */
static void check_sees_a_busy_level_past_the_last(void **state)
{
    (void)state;
    static const struct tkw_geometry shape = {.sizes = {4, 2}};
    struct tkw_dial dial;
    assert_int_equal(tkw_dial_init(&dial, &shape, 0, NULL), 0);
    assert_int_equal(dial.level_count, 63);
    ASSERT_FLIP_SEEN(&dial, dial.busy, UINT64_C(1) << 63,
                     "busy word past the last level is 1, expected 0");
}

/* The hands are looked at though there is no occupancy to look at. */
static void check_sees_a_displaced_hand_without_words(void **state)
{
    (void)state;
    struct tkw_dial dial;
    assert_int_equal(tkw_dial_init(&dial, &kafka, 12345, NULL), 0);
    for (uint32_t n = 0; n < dial.level_count; n++)
        assert_hand_seen(&dial, n);
}

static void assert_level_seen(struct tkw_dial *dial, uint32_t n)
{
    struct tkw_level *level = &dial->levels[n], was = *level;
    ASSERT_FLIP_SEEN(dial, level->size_mask, 1,
                     "level %u: mask for slot numbers is %u, expected %u",
                     n + 1, was.size_mask ^ 1, was.size_mask);
    ASSERT_FLIP_SEEN(dial, level->tick_shift, 1,
                     "level %u: logarithm of a slot's length is %d, "
                     "expected %d",
                     n + 1, was.tick_shift ^ 1, was.tick_shift);
    ASSERT_SEEN_BY(dial, dial, level->first, was.first + 1,
                   "level %u: number of the level's first slot is %u, "
                   "expected %u",
                   n + 1, was.first + 1, was.first);
}

/* What follows from the sizes is derived anew, not believed. */
static void check_sees_a_layout_that_does_not_follow(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_dial dial;
        assert_int_equal(tkw_dial_init(&dial, &shapes[s], 77, NULL), 0);
        assert_true(tkw_dial_check(&dial));
        for (uint32_t n = 0; n < dial.level_count; n++)
            assert_level_seen(&dial, n);
        uint32_t slots = dial.slot_count;
        ASSERT_SEEN_BY(dial, &dial, dial.slot_count, slots + 1,
                       "number of slots of all levels is %u, expected %u",
                       slots + 1, slots);
        for (unsigned bits = 0; bits <= 64; bits++) {
            int lowest = dial.lowest[bits];
            ASSERT_SEEN_BY(dial, &dial, dial.lowest[bits],
                           (uint8_t)(lowest + 1),
                           "index of the lowest level for a distance is %d, "
                           "expected %d",
                           lowest + 1, lowest);
        }
    }

    /* Ticks are the spans of the levels below. */
    struct tkw_dial dial;
    assert_int_equal(tkw_dial_init(&dial, &kafka, 0, NULL), 0);
    dial.levels[14].tick++;
    ASSERT_BROKEN(dial, &dial,
                  "level 15: length of a slot in ticks is 1638400000000000001, "
                  "expected 1638400000000000000");

    /* The second of two: nothing above it would notice. */
    static const struct tkw_geometry two = {.sizes = {3, 5},
                                            .beyond = TKW_ROUNDS};
    assert_int_equal(tkw_dial_init(&dial, &two, 0, NULL), 0);
    dial.levels[1].tick = 5;
    ASSERT_BROKEN(dial, &dial,
                  "level 2: length of a slot in ticks is 5, expected 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_sees_a_layout_that_does_not_follow),
        cmocka_unit_test(a_dial_without_words_is_never_occupied),
        cmocka_unit_test(a_dial_with_words_begins_unoccupied),
        cmocka_unit_test(the_occupied_slot_is_the_one_where_said),
        cmocka_unit_test(check_sees_a_displaced_hand),
        cmocka_unit_test(check_sees_a_level_of_wrong_busyness),
        cmocka_unit_test(check_sees_a_summary_that_lies),
        cmocka_unit_test(check_sees_a_summary_of_summaries_that_lies),
        cmocka_unit_test(check_sees_a_member_past_the_size),
        cmocka_unit_test(check_sees_a_member_past_the_size_in_the_last_word),
        cmocka_unit_test(check_sees_a_busy_level_past_the_last),
        cmocka_unit_test(check_sees_a_displaced_hand_without_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
