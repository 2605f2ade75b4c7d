/*
 * wheel/occupancy_test.c - how many timers tkw_wheel_occupancy() counts in each
 * slot.
 */
#include "support/core.h"

enum { SLOTS_MAX = 8192, TIMERS = 400 };

/* What a walk counts in each slot of a level, capped as the wheel caps it. */
static void count_by_walking(const struct tkw_wheel *wheel, uint32_t level,
                             uint32_t counts[SLOTS_MAX])
{
    memset(counts, 0, SLOTS_MAX * sizeof(counts[0]));
    struct tkw_wheel_cursor walk = {0};
    while (tkw_wheel_walk(wheel, &walk) != NULL) {
        if (walk.level == level && counts[walk.slot] < TKW_OCCUPANCY_MAX)
            counts[walk.slot]++;
    }
}

static void assert_as_walked(const struct tkw_wheel *wheel)
{
    static uint32_t counts[SLOTS_MAX], walked[SLOTS_MAX];
    const struct tkw_dial *dial = tkw_wheel_dial(wheel);
    for (uint32_t level = 1; level <= dial->level_count; level++) {
        uint32_t size = dial->levels[level - 1].size;
        assert_true(size <= SLOTS_MAX);
        memset(counts, 0xff, sizeof(counts));
        assert_int_equal(tkw_wheel_occupancy(wheel, level, counts, SLOTS_MAX),
                         size);
        count_by_walking(wheel, level, walked);
        assert_memory_equal(counts, walked, size * sizeof(counts[0]));
        if (size < SLOTS_MAX)
            assert_int_equal(counts[size], UINT32_MAX); /* not written */
    }
}

/* Arm, postpone or cancel a timer; deadlines are few, so that some slots hold
 * more timers than are counted. */
static void do_something(struct tkw_wheel *wheel, struct tkw_timer *timer,
                         uint64_t *seed)
{
    uint64_t span = random_below(seed, 2) ? 3 : UINT64_C(1) << 14;
    tkw_tick deadline = tkw_wheel_now(wheel) + 1 + random_below(seed, span);
    switch (random_below(seed, 4)) {
    case 0:
        tkw_wheel_cancel(wheel, timer);
        break;
    case 1:
        tkw_wheel_postpone(wheel, timer, deadline);
        break;
    default:
        tkw_wheel_arm(wheel, timer, deadline);
        break;
    }
}

static void counts_what_a_walk_meets(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        static struct tkw_timer timers[TIMERS];
        memset(timers, 0, sizeof(timers));
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 1000003);
        for (unsigned step = 0; step < 40; step++) {
            for (unsigned i = 0; i < 100; i++)
                do_something(wheel, &timers[random_below(&seed, TIMERS)],
                             &seed);
            assert_as_walked(wheel);
            tkw_tick to = tkw_wheel_now(wheel) + random_magnitude(&seed, 9);
            tkw_wheel_advance_some(wheel, to, random_below(&seed, 500));
            assert_as_walked(wheel); /* also in an unfinished tick */
            while (tkw_wheel_pop(wheel) != NULL)
                continue;
        }
        wheel_done(wheel);
    }
}

/* Fifteen are counted as such, sixteen and more as TKW_OCCUPANCY_MAX; whether
 * the timers fell into the slot or were armed for it. */
static void counts_no_further_than_its_limit(void **state)
{
    (void)state;
    static const size_t fallen_counts[] = {0, 5, 15, 16, 40};
    for (size_t f = 0; f < COUNT_OF(fallen_counts); f++) {
        static struct tkw_timer timers[80];
        memset(timers, 0, sizeof(timers));
        struct tkw_wheel *wheel = wheel_of(&kafka, 0);
        size_t fallen = fallen_counts[f];
        for (size_t i = 0; i < fallen; i++)
            tkw_wheel_arm(wheel, &timers[i], 30);
        tkw_wheel_advance(wheel, 20); /* they fall to level 1, slot 10 */
        for (size_t i = fallen; i < fallen + 20; i++) {
            uint32_t counts[20];
            size_t expected = i < TKW_OCCUPANCY_MAX ? i : TKW_OCCUPANCY_MAX;
            assert_int_equal(tkw_wheel_occupancy(wheel, 1, counts, 20), 20);
            assert_int_equal(counts[10], expected);
            tkw_wheel_arm(wheel, &timers[i], 30);
        }
        wheel_done(wheel);
    }
}

/* Slots have the numbers that the dial gives them. */
static void counts_a_timer_where_the_dial_files_it(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 1000003);
        for (unsigned bit = 0; bit < bits_of_reach(&shapes[s]); bit++) {
            static uint32_t counts[SLOTS_MAX];
            struct tkw_timer timer = {0};
            tkw_tick deadline = 1000003 + (UINT64_C(1) << bit);
            struct tkw_spot spot =
                tkw_dial_where(tkw_wheel_dial(wheel), deadline);
            tkw_wheel_arm(wheel, &timer, deadline);
            size_t slots =
                tkw_wheel_occupancy(wheel, spot.level, counts, SLOTS_MAX);
            for (size_t i = 0; i < slots; i++)
                assert_int_equal(counts[i], i == spot.slot);
            tkw_wheel_cancel(wheel, &timer);
        }
        wheel_done(wheel);
    }
}

/* Ready timers and those armed for TKW_NEVER are in no slot. */
static void leaves_out_timers_that_are_in_no_slot(void **state)
{
    (void)state;
    struct tkw_timer timers[2] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 7);
    tkw_wheel_arm(wheel, &timers[0], 5);
    tkw_wheel_arm(wheel, &timers[1], TKW_NEVER);
    assert_int_equal(tkw_wheel_count(wheel), 2);
    for (uint32_t level = 1; level <= 15; level++) {
        uint32_t counts[20];
        size_t slots = tkw_wheel_occupancy(wheel, level, counts, 20);
        assert_int_equal(slots, level < 15 ? 20 : 12);
        for (size_t i = 0; i < slots; i++)
            assert_int_equal(counts[i], 0);
    }
    wheel_done(wheel);
}

static void a_level_that_does_not_exist_has_no_slots(void **state)
{
    (void)state;
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    uint32_t counts[1] = {77};
    assert_int_equal(tkw_wheel_occupancy(wheel, 0, counts, 1), 0);
    assert_int_equal(tkw_wheel_occupancy(wheel, 16, counts, 1), 0);
    assert_int_equal(tkw_wheel_occupancy(wheel, UINT32_MAX, counts, 1), 0);
    assert_int_equal(counts[0], 77);
    wheel_done(wheel);
}

/* A caller with little room, or none, still learns how many slots there are. */
static void stores_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    struct tkw_timer timers[20] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    for (tkw_tick i = 1; i < 20; i++)
        tkw_wheel_arm(wheel, &timers[i], i);
    assert_int_equal(tkw_wheel_occupancy(wheel, 1, NULL, 0), 20);
    for (size_t room = 0; room <= 20; room++) {
        uint32_t counts[21];
        memset(counts, 0xff, sizeof(counts));
        assert_int_equal(tkw_wheel_occupancy(wheel, 1, counts, room), 20);
        for (size_t i = 0; i < room; i++)
            assert_int_equal(counts[i], i != 0);
        assert_int_equal(counts[room], UINT32_MAX);
    }
    wheel_done(wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_a_walk_meets),
        cmocka_unit_test(counts_no_further_than_its_limit),
        cmocka_unit_test(counts_a_timer_where_the_dial_files_it),
        cmocka_unit_test(leaves_out_timers_that_are_in_no_slot),
        cmocka_unit_test(a_level_that_does_not_exist_has_no_slots),
        cmocka_unit_test(stores_no_more_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
