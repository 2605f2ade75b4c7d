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
    assert_false(tkw_dial_check(&dial));
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

/* Change a word, see that check() objects, and put it right again. */
static void assert_check_sees(struct tkw_dial *dial, uint64_t *word,
                              uint64_t flip)
{
    *word ^= flip;
    assert_false(tkw_dial_check(dial));
    *word ^= flip;
    assert_true(tkw_dial_check(dial));
}

static void check_sees_a_displaced_hand(void **state)
{
    (void)state;
    struct tkw_timer timers[3] = {0};
    struct tkw_wheel *wheel = busy_wheel(timers);
    for (uint32_t n = 0; n < wheel->dial.level_count; n++) {
        assert_check_sees(&wheel->dial, &wheel->dial.levels[n].hand, 1);
        assert_check_sees(&wheel->dial, &wheel->dial.levels[n].start, 1);
    }
    assert_check_sees(&wheel->dial, &wheel->dial.now, 1);
    wheel_done(wheel);
}

static void check_sees_a_level_of_wrong_busyness(void **state)
{
    (void)state;
    struct tkw_timer timers[3] = {0};
    struct tkw_wheel *wheel = busy_wheel(timers);
    for (unsigned bit = 0; bit < 64; bit++)
        assert_check_sees(&wheel->dial, &wheel->dial.busy, UINT64_C(1) << bit);
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
    assert_check_sees(&wheel->dial, &words[2], 1);
    assert_check_sees(&wheel->dial, &words[2], 2);
    assert_check_sees(&wheel->dial, &words[1], 1);
    assert_check_sees(&wheel->dial, &words[0], words[0]);
    wheel_done(wheel);
}

/* Bits past the size belong to no slot. */
static void check_sees_a_member_past_the_size(void **state)
{
    (void)state;
    struct tkw_timer timers[3] = {0};
    struct tkw_wheel *wheel = busy_wheel(timers);
    uint64_t *words = wheel->dial.levels[1].occupancy;
    assert_check_sees(&wheel->dial, &words[0], UINT64_C(1) << 10);
    assert_check_sees(&wheel->dial, &words[0], UINT64_C(1) << 63);
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
    assert_check_sees(&wheel->dial, &words[2], UINT64_C(1) << 1);
    assert_check_sees(&wheel->dial, &words[2], UINT64_C(1) << 63);
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
    assert_check_sees(&dial, &dial.busy, UINT64_C(1) << 63);
}

/* The hands are looked at though there is no occupancy to look at. */
static void check_sees_a_displaced_hand_without_words(void **state)
{
    (void)state;
    struct tkw_dial dial;
    assert_int_equal(tkw_dial_init(&dial, &kafka, 12345, NULL), 0);
    for (uint32_t n = 0; n < dial.level_count; n++)
        assert_check_sees(&dial, &dial.levels[n].hand, 1);
}

/* What follows from the sizes is derived anew, not believed. */
static void check_sees_a_layout_that_does_not_follow(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_dial dial;
        assert_int_equal(tkw_dial_init(&dial, &shapes[s], 77, NULL), 0);
        assert_true(tkw_dial_check(&dial));
        for (uint32_t n = 0; n < dial.level_count; n++) {
            struct tkw_level right = dial.levels[n];
            struct tkw_level *level = &dial.levels[n];
            level->size_mask ^= 1;
            assert_false(tkw_dial_check(&dial));
            *level = right;
            level->tick_shift ^= 1;
            assert_false(tkw_dial_check(&dial));
            *level = right;
            level->first++;
            assert_false(tkw_dial_check(&dial));
            *level = right;
        }
        dial.slot_count++;
        assert_false(tkw_dial_check(&dial));
        dial.slot_count--;
        dial.lowest[64]++;
        assert_false(tkw_dial_check(&dial));
    }

    /* Ticks are the spans of the levels below. */
    struct tkw_dial dial;
    assert_int_equal(tkw_dial_init(&dial, &kafka, 0, NULL), 0);
    dial.levels[14].tick++;
    assert_false(tkw_dial_check(&dial));

    /* The second of two: nothing above it would notice. */
    static const struct tkw_geometry two = {.sizes = {3, 5},
                                            .beyond = TKW_ROUNDS};
    assert_int_equal(tkw_dial_init(&dial, &two, 0, NULL), 0);
    dial.levels[1].tick = 5;
    assert_false(tkw_dial_check(&dial));
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
        cmocka_unit_test(check_sees_a_member_past_the_size),
        cmocka_unit_test(check_sees_a_member_past_the_size_in_the_last_word),
        cmocka_unit_test(check_sees_a_busy_level_past_the_last),
        cmocka_unit_test(check_sees_a_displaced_hand_without_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
