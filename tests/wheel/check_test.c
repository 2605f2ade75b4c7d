/*
 * wheel/check_test.c - law L15 of the wheel: check() sees whatever is not as it
 * must be in lists, timers and numbers, one broken thing at a time.
 */
#include "scene.h"

static const char broken_in_15[] =
    "level 1, slot 15: a link between two timers is broken";
static const char broken_in_10[] =
    "level 1, slot 10: a link between two timers is broken";

/* A link lost, pointing to itself, skipping one, or going round in circles. */
static void assert_links_seen(const struct tkw_wheel *wheel,
                              struct tkw_link *link, const char *fault)
{
    ASSERT_SEEN(wheel, link->next, NULL, "%s", fault);
    ASSERT_SEEN(wheel, link->prev, NULL, "%s", fault);
    ASSERT_SEEN(wheel, link->next, link, "%s", fault);
    ASSERT_SEEN(wheel, link->prev, link, "%s", fault);
    ASSERT_SEEN(wheel, link->next, link->next->next, "%s", fault);
    ASSERT_SEEN(wheel, link->prev, link->prev->prev, "%s", fault);
    ASSERT_SEEN(wheel, link->next, link->prev, "%s", fault);
}

static void check_sees_broken_links_in_slots(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_slot *slots = scene.wheel->slot;
    for (size_t i = 0; i < COUNT_OF(scene.direct); i++)
        assert_links_seen(scene.wheel, &scene.direct[i].link, broken_in_15);
    for (size_t i = 0; i < COUNT_OF(scene.fallen); i++)
        assert_links_seen(scene.wheel, &scene.fallen[i].link, broken_in_10);
    for (size_t i = 0; i < TKW_LANES; i++) {
        assert_links_seen(scene.wheel, &slots[15].direct.lanes[i],
                          broken_in_15);
        assert_links_seen(scene.wheel, &slots[10].fallen.lanes[i],
                          broken_in_10);
    }
    wheel_done(scene.wheel);
}

static void check_sees_broken_links_in_empty_slots(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_slot *slot = &scene.wheel->slot[19];
    for (size_t i = 0; i < TKW_LANES; i++) {
        struct tkw_link *direct = &slot->direct.lanes[i];
        struct tkw_link *fallen = &slot->fallen.lanes[i];
        ASSERT_SEEN(scene.wheel, direct->next, NULL,
                    "level 1, slot 19: a link between two timers is broken");
        ASSERT_SEEN(scene.wheel, direct->prev, fallen,
                    "level 1, slot 19: a link between two timers is broken");
        ASSERT_SEEN(scene.wheel, fallen->next, NULL,
                    "level 1, slot 19: a link between two timers is broken");
        ASSERT_SEEN(scene.wheel, fallen->prev, direct,
                    "level 1, slot 19: a link between two timers is broken");
    }
    wheel_done(scene.wheel);
}

static void check_sees_broken_links_outside_slots(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    for (size_t i = 0; i < 2; i++) {
        assert_links_seen(scene.wheel, &scene.ready[i].link,
                          "a link between two ready timers is broken");
        assert_links_seen(
            scene.wheel, &scene.fresh[i].link,
            "a link between two timers armed for the past is broken");
        assert_links_seen(
            scene.wheel, &scene.never[i].link,
            "a link between two timers armed for TKW_NEVER is broken");
    }
    ASSERT_SEEN(scene.wheel, scene.wheel->ready.next, &scene.ready[1].link,
                "a link between two ready timers is broken");
    ASSERT_SEEN(scene.wheel, scene.wheel->never.prev, &scene.never[0].link,
                "a link between two timers armed for TKW_NEVER is broken");
    struct tkw_slot *moving = &scene.wheel->moving;
    ASSERT_SEEN(scene.wheel, moving->fallen.lanes[0].next, NULL,
                "a link between two timers that change their slot is broken");
    ASSERT_SEEN(scene.wheel, moving->direct.lanes[1].prev, NULL,
                "a link between two timers that change their slot is broken");
    ASSERT_SEEN(
        scene.wheel, scene.wheel->due.prev, NULL,
        "a link between two timers due at an unfinished tick is broken");
    ASSERT_SEEN(
        scene.wheel, scene.wheel->late.next, NULL,
        "a link between two timers armed for an unfinished tick is broken");
    wheel_done(scene.wheel);
}

/* `mask` is the part of the home that is compared. */
static void assert_home_seen(const struct tkw_wheel *wheel,
                             struct tkw_timer *timer, uint32_t mask,
                             const char *what)
{
    uint32_t home = timer->home;
    uint32_t wrong[] = {home ^ 1, 0, UINT32_MAX - 100};
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        ASSERT_SEEN(wheel, timer->home, wrong[i],
                    "%s is %" PRIu32 ", expected %" PRIu32, what,
                    wrong[i] & mask, home);
}

/* The home is where cancel looks for a slot to vacate: none outside slots. */
static void check_sees_a_wrong_home(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    assert_home_seen(scene.wheel, &scene.direct[0], UINT32_MAX >> 1,
                     "level 1, slot 15: slot number that a timer keeps");
    assert_home_seen(scene.wheel, &scene.fallen[0], UINT32_MAX >> 1,
                     "level 1, slot 10: slot number that a timer keeps");
    struct tkw_timer *timers[] = {&scene.ready[0], &scene.fresh[0],
                                  &scene.never[0]};
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        assert_home_seen(scene.wheel, timers[i], UINT32_MAX,
                         "slot number of a timer that is in no slot");
    wheel_done(scene.wheel);
}

static void assert_deadline_seen(const struct tkw_wheel *wheel,
                                 struct tkw_timer *timer, uint32_t slot,
                                 tkw_tick wrong)
{
    tkw_tick deadline = timer->deadline;
    if (wrong <= 22)
        ASSERT_SEEN(wheel, timer->deadline, wrong,
                    "level 1, slot %" PRIu32 ": deadline of a pending timer "
                    "is %" PRIu64 ", expected at least 23",
                    slot, wrong);
    else
        ASSERT_SEEN(wheel, timer->deadline, wrong,
                    "level 1, slot %" PRIu32 ": deadline of a timer, counted "
                    "in slots, is %" PRIu64 ", expected %" PRIu64,
                    slot, wrong, deadline);
}

/* A deadline that belongs to another slot, or to none. */
static void check_sees_a_wrong_deadline(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    static const tkw_tick wrong[] = {0, 22, 34, 36, 55, 3000, TKW_NEVER};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_deadline_seen(scene.wheel, &scene.direct[1], 15, wrong[i]);
        assert_deadline_seen(scene.wheel, &scene.fallen[1], 10, wrong[i]);
    }
    ASSERT_SEEN(scene.wheel, scene.ready[1].deadline, 23,
                "deadline of a ready timer is 23, expected at most 22");
    ASSERT_SEEN(scene.wheel, scene.ready[1].deadline, TKW_NEVER,
                "deadline of a ready timer is 18446744073709551615, expected "
                "at most 22");
    ASSERT_SEEN(
        scene.wheel, scene.fresh[1].deadline, 23,
        "deadline of a timer armed for the past is 23, expected at most 22");
    ASSERT_SEEN(scene.wheel, scene.never[1].deadline, 23,
                "deadline of a timer armed for TKW_NEVER is 23, expected at "
                "least 18446744073709551615");
    wheel_done(scene.wheel);
}

/* Rounds: any later turn of the slot will do, but no other slot. */
static void check_sees_a_wrong_deadline_among_rounds(void **state)
{
    (void)state;
    static const struct tkw_geometry hashed = {.sizes = {32},
                                               .beyond = TKW_ROUNDS};
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&hashed, 2);
    tkw_wheel_arm(wheel, &timer, 100);
    ASSERT_SEEN(wheel, timer.deadline, 101,
                "level 1, slot 4: slot of a timer's deadline is 5, expected 4");
    ASSERT_SEEN(wheel, timer.deadline, 99,
                "level 1, slot 4: slot of a timer's deadline is 3, expected 4");
    ASSERT_SEEN(wheel, timer.deadline, 3,
                "level 1, slot 4: deadline of a timer, counted in slots, is 3, "
                "expected at least 4");
    ASSERT_SEEN(wheel, timer.deadline, 2,
                "level 1, slot 4: deadline of a pending timer is 2, expected "
                "at least 3");
    wheel_done(wheel);
}

/* Postponed, a timer may be in an earlier slot: but only then. */
static void check_sees_a_lost_mark_of_postponing(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    assert_true(tkw_wheel_postpone(scene.wheel, &scene.direct[1], 3000));
    assert_true(tkw_wheel_check(scene.wheel));
    ASSERT_SEEN(scene.wheel, scene.direct[1].home, 15,
                "level 1, slot 15: deadline of a timer, counted in slots, is "
                "3000, expected 35");
    ASSERT_SEEN(scene.wheel, scene.direct[1].deadline, 20,
                "level 1, slot 15: deadline of a pending timer is 20, expected "
                "at least 23");
    wheel_done(scene.wheel);
}

/* Turns are what keeps the order among the lanes. */
static void check_sees_a_wrong_turn(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_slot *slot = &scene.wheel->slot[15];
    ASSERT_SEEN(scene.wheel, scene.direct[5].turn, 6,
                "level 1, slot 15: lane of a timer's turn is 2, expected 1");
    ASSERT_SEEN(scene.wheel, scene.direct[5].turn, 5 + 2 * TKW_LANES,
                "level 1, slot 15: turn of a timer is 9, expected at least 14");
    ASSERT_SEEN(scene.wheel, scene.direct[5].turn, 5 - TKW_LANES,
                "level 1, slot 15: turn of a timer is 1, expected at least 2");
    ASSERT_SEEN(scene.wheel, slot->direct.turn, 0,
                "level 1, slot 15: turn of the next timer to join the slot is "
                "0, expected at least 9");
    ASSERT_SEEN(scene.wheel, slot->direct.turn, COUNT_OF(scene.direct) - 1,
                "level 1, slot 15: turn of the next timer to join the slot is "
                "11, expected at least 12");
    ASSERT_SEEN(scene.wheel, scene.wheel->slot[19].direct.turn, 1,
                "level 1, slot 19: turn of the next timer to be armed here is "
                "1, expected 0");
    ASSERT_SEEN(scene.wheel, scene.wheel->slot[19].fallen.turn, 1,
                "level 1, slot 19: turn of the next timer to fall here is 1, "
                "expected 0");

    /* Each queue for itself: an empty turn hides what is in it. */
    struct tkw_timer also = {0};
    tkw_wheel_arm(scene.wheel, &also, 30);
    assert_true(tkw_wheel_check(scene.wheel));
    ASSERT_SEEN(scene.wheel, scene.wheel->slot[10].fallen.turn, 0,
                "level 1, slot 10: turn of the next timer to join the slot is "
                "0, expected at least 5");
    ASSERT_SEEN(scene.wheel, scene.wheel->slot[10].direct.turn, 0,
                "level 1, slot 10: turn of the next timer to join the slot is "
                "0, expected at least 1");

    /* The largest turn may be had by many, but nothing follows it. */
    slot->direct.turn = UINT32_MAX;
    for (size_t i = TKW_LANES - 1; i < COUNT_OF(scene.direct); i += TKW_LANES)
        scene.direct[i].turn = UINT32_MAX;
    assert_true(tkw_wheel_check(scene.wheel));
    ASSERT_SEEN(scene.wheel, scene.direct[2 * TKW_LANES - 1].turn,
                UINT32_MAX - TKW_LANES,
                "level 1, slot 15: turn of a timer is 4294967291, expected at "
                "least 4294967295");
    scene.direct[3 * TKW_LANES - 2].turn = UINT32_MAX - 1;
    assert_true(tkw_wheel_check(scene.wheel));
    ASSERT_SEEN(scene.wheel, scene.direct[2 * TKW_LANES - 2].turn,
                UINT32_MAX - 1,
                "level 1, slot 15: turn of a timer is 4294967294, expected at "
                "least 4294967295");
    wheel_done(scene.wheel);
}

static void check_sees_wrong_numbers(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_wheel *wheel = scene.wheel;
    ASSERT_SEEN(wheel, wheel->now, 21, "last finished tick is 21, expected 22");
    ASSERT_SEEN(wheel, wheel->now, 23, "last finished tick is 23, expected 22");
    ASSERT_SEEN(wheel, wheel->dial.now, 23,
                "level 1: number of the current slot is 22, expected 23");
    ASSERT_SEEN(wheel, wheel->dial.levels[0].hand, 23,
                "level 1: number of the current slot is 23, expected 22");
    ASSERT_SEEN(
        wheel, wheel->dial.levels[1].start, 0,
        "level 2: tick at which the current slot begins is 0, expected 20");
    ASSERT_SEEN(wheel, wheel->stats.armed, wheel->stats.armed + 1,
                "number of armed timers is 27, expected 26");
    ASSERT_SEEN(wheel, wheel->stats.fired, 1,
                "number of armed timers is 25, expected 26");
    ASSERT_SEEN(wheel, wheel->stats.cancelled, 1,
                "number of armed timers is 25, expected 26");
    ASSERT_SEEN(wheel, wheel->stats.drained, 1,
                "number of armed timers is 25, expected 26");
    ASSERT_SEEN(wheel, wheel->is_mid_tick, 1,
                "last finished tick is 22, expected 21");
    wheel_done(wheel);
}

/*
 * A slot that leads into the ring of another, as if a timer had been linked
 * twice: found, and not followed round and round.
 */
static void check_sees_a_timer_linked_from_two_lists(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_slot *slots = scene.wheel->slot;
    ASSERT_SEEN(scene.wheel, slots[19].direct.lanes[0].next,
                &scene.direct[0].link,
                "level 1, slot 19: a link between two timers is broken");
    ASSERT_SEEN(scene.wheel, scene.wheel->ready.next, &scene.never[0].link,
                "a link between two ready timers is broken");
    wheel_done(scene.wheel);
}

/* Of every timer, not only of the first in a list. */
static void check_reads_every_home_and_deadline(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    for (size_t i = 0; i < COUNT_OF(scene.direct); i++) {
        ASSERT_SEEN(scene.wheel, scene.direct[i].home, 14,
                    "level 1, slot 15: slot number that a timer keeps is 14, "
                    "expected 15");
        ASSERT_SEEN(scene.wheel, scene.direct[i].deadline, 36,
                    "level 1, slot 15: deadline of a timer, counted in slots, "
                    "is 36, expected 35");
    }
    for (size_t i = 0; i < COUNT_OF(scene.fallen); i++) {
        ASSERT_SEEN(scene.wheel, scene.fallen[i].home, 11,
                    "level 1, slot 10: slot number that a timer keeps is 11, "
                    "expected 10");
        ASSERT_SEEN(scene.wheel, scene.fallen[i].deadline, 31,
                    "level 1, slot 10: deadline of a timer, counted in slots, "
                    "is 31, expected 30");
    }
    for (size_t i = 0; i < 2; i++) {
        ASSERT_SEEN(scene.wheel, scene.ready[i].home, 0,
                    "slot number of a timer that is in no slot is 0, expected "
                    "2147483647");
        ASSERT_SEEN(scene.wheel, scene.ready[i].deadline, 23,
                    "deadline of a ready timer is 23, expected at most 22");
        ASSERT_SEEN(scene.wheel, scene.fresh[i].home, 0,
                    "slot number of a timer that is in no slot is 0, expected "
                    "2147483647");
        ASSERT_SEEN(scene.wheel, scene.fresh[i].deadline, 23,
                    "deadline of a timer armed for the past is 23, expected at "
                    "most 22");
        ASSERT_SEEN(scene.wheel, scene.never[i].home, 0,
                    "slot number of a timer that is in no slot is 0, expected "
                    "2147483647");
        ASSERT_SEEN(scene.wheel, scene.never[i].deadline, 23,
                    "deadline of a timer armed for TKW_NEVER is 23, expected "
                    "at least 18446744073709551615");
    }
    wheel_done(scene.wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_sees_broken_links_in_slots),
        cmocka_unit_test(check_sees_broken_links_in_empty_slots),
        cmocka_unit_test(check_sees_broken_links_outside_slots),
        cmocka_unit_test(check_sees_a_wrong_home),
        cmocka_unit_test(check_sees_a_wrong_deadline),
        cmocka_unit_test(check_sees_a_wrong_deadline_among_rounds),
        cmocka_unit_test(check_sees_a_lost_mark_of_postponing),
        cmocka_unit_test(check_sees_a_wrong_turn),
        cmocka_unit_test(check_sees_wrong_numbers),
        cmocka_unit_test(check_sees_a_timer_linked_from_two_lists),
        cmocka_unit_test(check_reads_every_home_and_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
