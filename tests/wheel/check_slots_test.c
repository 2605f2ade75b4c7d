/*
 * wheel/check_slots_test.c - law L15 of the wheel: between calls the current
 * slot of every level is empty and occupancy tells the truth; and check() sees
 * wrong slots and what an unfinished tick may not leave.
 */
#include "scene.h"

/* L15, seen from outside: against a walk, at every tick of some turns. */
static void assert_slots_tell_the_truth(const struct tkw_wheel *wheel)
{
    const struct tkw_dial *dial = tkw_wheel_dial(wheel);
    static bool is_filled[16384];
    memset(is_filled, 0, sizeof(is_filled));
    struct tkw_wheel_cursor walk = {0};
    while (tkw_wheel_walk(wheel, &walk) != NULL) {
        if (walk.level != 0)
            is_filled[dial->levels[walk.level - 1].first + walk.slot] = true;
    }
    for (uint32_t n = 0; n < dial->level_count; n++) {
        const struct tkw_level *level = &dial->levels[n];
        bool keeps_rounds =
            dial->beyond == TKW_ROUNDS && n + 1 == dial->level_count;
        uint32_t current = (uint32_t)(level->hand % level->size);
        for (uint32_t slot = 0; slot < level->size; slot++)
            assert_int_equal(tkw_dial_is_occupied(dial, n + 1, slot),
                             is_filled[level->first + slot]);
        if (!keeps_rounds)
            assert_false(is_filled[level->first + current]);
    }
}

/* L15. */
static void the_current_slots_are_empty_after_every_call(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timers[20] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        if (tkw_wheel_dial(wheel)->slot_count > 16384)
            fail();
        for (unsigned step = 0; step < 300; step++) {
            struct tkw_timer *timer = &timers[step % COUNT_OF(timers)];
            tkw_tick now = tkw_wheel_now(wheel);
            tkw_wheel_arm(wheel, timer, now + random_magnitude(&seed, 12));
            assert_slots_tell_the_truth(wheel);
            tkw_wheel_advance(wheel, now + random_magnitude(&seed, 9));
            assert_slots_tell_the_truth(wheel);
            while (tkw_wheel_pop(wheel) != NULL)
                continue;
            if (step % 7 == 0)
                tkw_wheel_cancel(wheel, &timers[step % 5]);
            assert_slots_tell_the_truth(wheel);
            assert_sound(wheel);
        }
        wheel_done(wheel);
    }
}

static const char one_waits[] =
    "number of timers that wait for the end of a tick is 1, expected 0";

static const char two_wait[] =
    "number of timers that wait for the end of a tick is 2, expected 0";

/* With its unfinished tick called finished, the wheel has that fault. */
static void assert_left_over_seen(struct tkw_wheel *wheel, const char *fault)
{
    tkw_tick now = wheel->now;
    wheel->now = wheel->dial.now;
    wheel->is_mid_tick = 0;
    ASSERT_BROKEN(wheel, wheel, "%s", fault);
    wheel->now = now;
    wheel->is_mid_tick = 1;
}

/* What is known of the next slot may be too early, never too late. */
static void check_sees_a_wake_up_that_comes_too_late(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    /* What was armed for the past has to be moved by the next advance. */
    ASSERT_SEEN(
        scene.wheel, scene.wheel->wake, 30,
        "tick before which an advance skips all slots is 30, expected 0");
    tkw_wheel_advance(scene.wheel, 22);
    scene.wheel->wake = 30; /* where the next slot begins */
    assert_true(tkw_wheel_check(scene.wheel));
    ASSERT_SEEN(scene.wheel, scene.wheel->wake, 31,
                "tick before which an advance skips all slots is 31, expected "
                "at most 30");
    ASSERT_SEEN(scene.wheel, scene.wheel->wake, TKW_NEVER,
                "tick before which an advance skips all slots is "
                "18446744073709551615, expected at most 30");
    wheel_done(scene.wheel);
}

/* L15, the second half: bits without timers and timers without bits. */
static void check_sees_occupancy_that_lies(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_dial *dial = &scene.wheel->dial;
    uint64_t *words = dial->levels[0].occupancy;
    for (uint32_t slot = 0; slot < 20; slot++) {
        bool is_set = words[0] >> slot & 1;
        ASSERT_SEEN(scene.wheel, words[0], words[0] ^ UINT64_C(1) << slot,
                    "level 1, slot %" PRIu32 ": occupancy bit of the slot is "
                    "%d, expected %d",
                    slot, !is_set, is_set);
    }
    ASSERT_SEEN(scene.wheel, dial->busy, 0,
                "level 1: busy bit of the level is 0, expected 1");
    ASSERT_SEEN(scene.wheel, dial->busy, dial->busy | 2,
                "level 2: busy bit of the level is 1, expected 0");
    wheel_done(scene.wheel);
}

/* L15, the first half: time turned past a slot that was not emptied. */
static void check_sees_a_timer_in_the_current_slot(void **state)
{
    (void)state;
    static const struct {
        tkw_tick deadline;
        const char *fault; /* when time has come to the slot ... */
        const char *later; /* ... and a tick later */
    } cases[] = {
        {30,
         "level 1, slot 10: number of timers in the current slot is 1, "
         "expected 0",
         "level 1, slot 10: deadline of a pending timer is 30, expected at "
         "least 32"},
        {33,
         "level 1, slot 13: number of timers in the current slot is 1, "
         "expected 0",
         "level 1, slot 13: deadline of a pending timer is 33, expected at "
         "least 35"},
        {57,
         "level 2, slot 2: number of timers in the current slot is 1, "
         "expected 0",
         "level 2, slot 2: number of timers in the current slot is 1, "
         "expected 0"},
        {450,
         "level 3, slot 1: number of timers in the current slot is 1, "
         "expected 0",
         "level 3, slot 1: number of timers in the current slot is 1, "
         "expected 0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&kafka, 22);
        tkw_wheel_arm(wheel, &timer, cases[i].deadline);
        tkw_tick expiration = tkw_wheel_next(wheel);
        struct tkw_wheel before = *wheel;

        tkw_dial_turn(&wheel->dial, expiration);
        wheel->now = expiration;
        ASSERT_BROKEN(wheel, wheel, "%s", cases[i].fault);
        tkw_dial_turn(&wheel->dial, expiration + 1);
        wheel->now = expiration + 1;
        ASSERT_BROKEN(wheel, wheel, "%s", cases[i].later);

        *wheel = before;
        assert_true(tkw_wheel_check(wheel));
        wheel_done(wheel);
    }
}

/* Also if it is the slot's next turn that the timer is there for. */
static void check_sees_a_timer_a_turn_ahead_in_the_current_slot(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 22);
    struct tkw_level *level = &wheel->dial.levels[0];
    tkw_wheel_advance(wheel, 23);
    tkw_wheel_arm(wheel, &timer, 42); /* in slot 2, which is right at 23 ... */
    assert_place(wheel, &timer, 1, 2);
    wheel->now = wheel->dial.now = level->hand = level->start = 22;
    ASSERT_BROKEN(wheel, wheel,
                  "level 1, slot 2: number of timers in the current slot is 1, "
                  "expected 0"); /* ... and not at 22 */
    wheel->now = wheel->dial.now = level->hand = level->start = 23;
    assert_true(tkw_wheel_check(wheel));
    wheel_done(wheel);
}

/* Stopped in the middle of a tick: what is half-moved is looked at too. */
static void check_sees_what_is_broken_between_stops(void **state)
{
    (void)state;
    struct tkw_timer timers[6] = {0}, late = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        tkw_wheel_arm(wheel, &timers[i], 400);
    assert_false(tkw_wheel_advance_some(wheel, 400, 3));
    tkw_wheel_arm(wheel, &late, 400);
    assert_true(tkw_wheel_check(wheel));

    for (size_t i = 0; i < COUNT_OF(timers); i++) {
        bool is_due = i < 3; /* that far went the budget */
        const char *link = is_due ? "a link between two timers due at an "
                                    "unfinished tick is broken"
                                  : "a link between two timers that change "
                                    "their slot is broken";
        const char *deadline =
            is_due ? "deadline of a timer due at an unfinished tick"
                   : "deadline of a timer that changes its slot";
        ASSERT_SEEN(wheel, timers[i].link.next, NULL, "%s", link);
        ASSERT_SEEN(wheel, timers[i].link.prev, NULL, "%s", link);
        ASSERT_SEEN(wheel, timers[i].deadline, 5,
                    "%s is 5, expected at least 400", deadline);
    }
    ASSERT_SEEN(
        wheel, late.link.next, NULL,
        "a link between two timers armed for an unfinished tick is broken");
    ASSERT_SEEN(wheel, late.deadline, 401,
                "deadline of a timer armed for an unfinished tick is 401, "
                "expected at most 400");
    ASSERT_SEEN(wheel, timers[0].deadline, 401,
                "deadline of a timer due at an unfinished tick is 401, "
                "expected at most 400"); /* in due */
    ASSERT_SEEN(wheel, wheel->is_mid_tick, 0,
                "last finished tick is 399, expected 400");
    ASSERT_SEEN(wheel, wheel->now, 400,
                "last finished tick is 400, expected 399");
    ASSERT_SEEN(wheel, wheel->stats.armed, 8,
                "number of armed timers is 8, expected 7");
    ASSERT_SEEN(
        wheel, timers[0].home, 3,
        "slot number of a timer that is in no slot is 3, expected 2147483647");
    ASSERT_SEEN(
        wheel, late.home, 3,
        "slot number of a timer that is in no slot is 3, expected 2147483647");
    ASSERT_SEEN(wheel, wheel->wake, 1,
                "tick before which an advance skips all slots is 1, expected "
                "0"); /* a step would leave it unfinished */
    ASSERT_SEEN(wheel, timers[4].turn, 5,
                "lane of a timer's turn is 1, expected 0"); /* still moving */
    wheel_done(wheel);
}

/* Neither of the two queues of a slot in hand may outlast its tick. */
static void check_sees_what_is_left_moving(void **state)
{
    (void)state;
    for (tkw_tick armed_at = 0; armed_at <= 400; armed_at += 400) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&kafka, armed_at);
        tkw_wheel_arm(wheel, &timer, 445); /* at 0 it falls into level 2 */
        tkw_wheel_advance(wheel, 400);
        assert_false(tkw_wheel_advance_some(wheel, 440, 0));
        assert_left_over_seen(wheel, one_waits);
        assert_true(tkw_wheel_check(wheel));
        wheel_done(wheel);
    }
}

/* Finished in part only, or said to be finished while something is left. */
static void check_sees_each_list_left_over_from_a_tick(void **state)
{
    (void)state;
    struct tkw_timer timers[2] = {0}, late = {0};
    for (size_t budget = 0; budget < 3; budget++) {
        struct tkw_wheel *wheel = wheel_of(&kafka, 0);
        tkw_wheel_arm(wheel, &timers[0], 400);
        tkw_wheel_arm(wheel, &timers[1], 400);
        assert_false(tkw_wheel_advance_some(wheel, 400, budget % 2));
        if (budget == 2)
            tkw_wheel_arm(wheel, &late, 400);
        if (budget != 0)
            assert_true(tkw_wheel_cancel(wheel, &timers[budget % 2]));
        assert_left_over_seen(wheel, budget == 1 ? one_waits : two_wait);
        wheel_done(wheel);
    }
}

/* Rounds: only the last level keeps what is a turn ahead. */
static void check_sees_a_round_below_the_last_level(void **state)
{
    (void)state;
    static const struct tkw_geometry two = {.sizes = {4, 8},
                                            .beyond = TKW_ROUNDS};
    struct tkw_timer near = {0}, far = {0};
    struct tkw_wheel *wheel = wheel_of(&two, 9);
    struct tkw_level *level = &wheel->dial.levels[0];
    tkw_wheel_arm(wheel, &near, 12);
    tkw_wheel_arm(wheel, &far, 41); /* the hand's own slot, a turn ahead */
    assert_place(wheel, &near, 1, 0);
    assert_place(wheel, &far, 2, 2);
    ASSERT_SEEN(wheel, near.deadline, 16,
                "level 1, slot 0: deadline of a timer, counted in slots, is "
                "16, expected 12");
    ASSERT_SEEN(wheel, far.deadline, 11,
                "level 2, slot 2: deadline of a timer, counted in slots, is 2, "
                "expected at least 10");

    wheel->now = wheel->dial.now = level->hand = level->start = 8;
    ASSERT_BROKEN(wheel, wheel,
                  "level 1, slot 0: number of timers in the current slot is 1, "
                  "expected 0"); /* slot 0 is current, and filled */
    wheel->now = wheel->dial.now = level->hand = level->start = 9;
    wheel_done(wheel);
}

/* Until an unfinished tick has come to a level, its slot may be filled. */
static void check_sees_a_slot_that_an_unfinished_tick_left_behind(void **state)
{
    (void)state;
    struct tkw_timer high = {0}, low = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &high, 400);
    tkw_wheel_advance(wheel, 385);
    tkw_wheel_arm(wheel, &low, 405);
    assert_place(wheel, &low, 2, 0);
    assert_false(tkw_wheel_advance_some(wheel, 400, 0));
    assert_int_equal(wheel->levels_left, 2);
    assert_true(tkw_wheel_check(wheel));
    ASSERT_SEEN(wheel, wheel->levels_left, 1,
                "level 2, slot 0: number of timers in the current slot is 1, "
                "expected 0");

    assert_true(tkw_wheel_cancel(wheel, &high));
    assert_left_over_seen(wheel, "level 2, slot 0: number of timers in the "
                                 "current slot is 1, expected 0");
    wheel_done(wheel);
}

/* What was armed for an unfinished tick, with nothing else left of it. */
static void check_sees_what_is_left_late(void **state)
{
    (void)state;
    struct tkw_timer timer = {0}, late = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timer, 400);
    assert_false(tkw_wheel_advance_some(wheel, 400, 0));
    tkw_wheel_arm(wheel, &late, 400);
    assert_true(tkw_wheel_cancel(wheel, &timer));
    assert_true(tkw_wheel_check(wheel));
    assert_left_over_seen(wheel, one_waits);
    wheel_done(wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_current_slots_are_empty_after_every_call),
        cmocka_unit_test(check_sees_a_wake_up_that_comes_too_late),
        cmocka_unit_test(check_sees_occupancy_that_lies),
        cmocka_unit_test(check_sees_a_timer_in_the_current_slot),
        cmocka_unit_test(check_sees_a_timer_a_turn_ahead_in_the_current_slot),
        cmocka_unit_test(check_sees_what_is_broken_between_stops),
        cmocka_unit_test(check_sees_what_is_left_moving),
        cmocka_unit_test(check_sees_each_list_left_over_from_a_tick),
        cmocka_unit_test(check_sees_a_round_below_the_last_level),
        cmocka_unit_test(check_sees_a_slot_that_an_unfinished_tick_left_behind),
        cmocka_unit_test(check_sees_what_is_left_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
