/*
 * wheel/check_test.c - law L15 of the wheel: check() sees whatever is not as it
 * must be in lists, timers and numbers, one broken thing at a time.
 */
#include "scene.h"

/* A link lost, pointing to itself, skipping one, or going round in circles. */
static void assert_links_seen(const struct tkw_wheel *wheel,
                              struct tkw_link *link)
{
    ASSERT_SEEN(wheel, link->next, NULL);
    ASSERT_SEEN(wheel, link->prev, NULL);
    ASSERT_SEEN(wheel, link->next, link);
    ASSERT_SEEN(wheel, link->prev, link);
    ASSERT_SEEN(wheel, link->next, link->next->next);
    ASSERT_SEEN(wheel, link->prev, link->prev->prev);
    ASSERT_SEEN(wheel, link->next, link->prev);
}

static void check_sees_broken_links_in_slots(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_slot *slots = scene.wheel->slot;
    for (size_t i = 0; i < COUNT_OF(scene.direct); i++)
        assert_links_seen(scene.wheel, &scene.direct[i].link);
    for (size_t i = 0; i < COUNT_OF(scene.fallen); i++)
        assert_links_seen(scene.wheel, &scene.fallen[i].link);
    for (size_t i = 0; i < TKW_LANES; i++) {
        assert_links_seen(scene.wheel, &slots[15].direct.lanes[i]);
        assert_links_seen(scene.wheel, &slots[10].fallen.lanes[i]);
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
        ASSERT_SEEN(scene.wheel, direct->next, NULL);
        ASSERT_SEEN(scene.wheel, direct->prev, fallen);
        ASSERT_SEEN(scene.wheel, fallen->next, NULL);
        ASSERT_SEEN(scene.wheel, fallen->prev, direct);
    }
    wheel_done(scene.wheel);
}

static void check_sees_broken_links_outside_slots(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    for (size_t i = 0; i < 2; i++) {
        assert_links_seen(scene.wheel, &scene.ready[i].link);
        assert_links_seen(scene.wheel, &scene.fresh[i].link);
        assert_links_seen(scene.wheel, &scene.never[i].link);
    }
    ASSERT_SEEN(scene.wheel, scene.wheel->ready.next, &scene.ready[1].link);
    ASSERT_SEEN(scene.wheel, scene.wheel->never.prev, &scene.never[0].link);
    struct tkw_slot *moving = &scene.wheel->moving;
    ASSERT_SEEN(scene.wheel, moving->fallen.lanes[0].next, NULL);
    ASSERT_SEEN(scene.wheel, moving->direct.lanes[1].prev, NULL);
    ASSERT_SEEN(scene.wheel, scene.wheel->due.prev, NULL);
    ASSERT_SEEN(scene.wheel, scene.wheel->late.next, NULL);
    wheel_done(scene.wheel);
}

/* The home is where cancel looks for a slot to vacate: none outside slots. */
static void check_sees_a_wrong_home(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_timer *timers[] = {&scene.direct[0], &scene.fallen[0],
                                  &scene.ready[0], &scene.fresh[0],
                                  &scene.never[0]};
    for (size_t i = 0; i < COUNT_OF(timers); i++) {
        ASSERT_SEEN(scene.wheel, timers[i]->home, timers[i]->home ^ 1);
        ASSERT_SEEN(scene.wheel, timers[i]->home, 0);
        ASSERT_SEEN(scene.wheel, timers[i]->home, UINT32_MAX - 100);
    }
    wheel_done(scene.wheel);
}

/* A deadline that belongs to another slot, or to none. */
static void check_sees_a_wrong_deadline(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    static const tkw_tick wrong[] = {0, 22, 34, 36, 55, 3000, TKW_NEVER};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        ASSERT_SEEN(scene.wheel, scene.direct[1].deadline, wrong[i]);
        ASSERT_SEEN(scene.wheel, scene.fallen[1].deadline, wrong[i]);
    }
    ASSERT_SEEN(scene.wheel, scene.ready[1].deadline, 23);
    ASSERT_SEEN(scene.wheel, scene.ready[1].deadline, TKW_NEVER);
    ASSERT_SEEN(scene.wheel, scene.fresh[1].deadline, 23);
    ASSERT_SEEN(scene.wheel, scene.never[1].deadline, 23);
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
    ASSERT_SEEN(wheel, timer.deadline, 101);
    ASSERT_SEEN(wheel, timer.deadline, 99);
    ASSERT_SEEN(wheel, timer.deadline, 3);
    ASSERT_SEEN(wheel, timer.deadline, 2);
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
    ASSERT_SEEN(scene.wheel, scene.direct[1].home, 15);
    ASSERT_SEEN(scene.wheel, scene.direct[1].deadline, 20);
    wheel_done(scene.wheel);
}

/* Turns are what keeps the order among the lanes. */
static void check_sees_a_wrong_turn(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_slot *slot = &scene.wheel->slot[15];
    ASSERT_SEEN(scene.wheel, scene.direct[5].turn, 6);
    ASSERT_SEEN(scene.wheel, scene.direct[5].turn, 5 + 2 * TKW_LANES);
    ASSERT_SEEN(scene.wheel, scene.direct[5].turn, 5 - TKW_LANES);
    ASSERT_SEEN(scene.wheel, slot->direct.turn, 0);
    ASSERT_SEEN(scene.wheel, slot->direct.turn, COUNT_OF(scene.direct) - 1);
    ASSERT_SEEN(scene.wheel, scene.wheel->slot[19].direct.turn, 1);
    ASSERT_SEEN(scene.wheel, scene.wheel->slot[19].fallen.turn, 1);

    /* Each queue for itself: an empty turn hides what is in it. */
    struct tkw_timer also = {0};
    tkw_wheel_arm(scene.wheel, &also, 30);
    assert_true(tkw_wheel_check(scene.wheel));
    ASSERT_SEEN(scene.wheel, scene.wheel->slot[10].fallen.turn, 0);
    ASSERT_SEEN(scene.wheel, scene.wheel->slot[10].direct.turn, 0);

    /* The largest turn may be had by many, but nothing follows it. */
    slot->direct.turn = UINT32_MAX;
    for (size_t i = TKW_LANES - 1; i < COUNT_OF(scene.direct); i += TKW_LANES)
        scene.direct[i].turn = UINT32_MAX;
    assert_true(tkw_wheel_check(scene.wheel));
    ASSERT_SEEN(scene.wheel, scene.direct[2 * TKW_LANES - 1].turn,
                UINT32_MAX - TKW_LANES);
    scene.direct[3 * TKW_LANES - 2].turn = UINT32_MAX - 1;
    assert_true(tkw_wheel_check(scene.wheel));
    ASSERT_SEEN(scene.wheel, scene.direct[2 * TKW_LANES - 2].turn,
                UINT32_MAX - 1);
    wheel_done(scene.wheel);
}

static void check_sees_wrong_numbers(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_wheel *wheel = scene.wheel;
    ASSERT_SEEN(wheel, wheel->now, 21);
    ASSERT_SEEN(wheel, wheel->now, 23);
    ASSERT_SEEN(wheel, wheel->dial.now, 23);
    ASSERT_SEEN(wheel, wheel->dial.levels[0].hand, 23);
    ASSERT_SEEN(wheel, wheel->dial.levels[1].start, 0);
    ASSERT_SEEN(wheel, wheel->counters.armed, wheel->counters.armed + 1);
    ASSERT_SEEN(wheel, wheel->counters.fired, 1);
    ASSERT_SEEN(wheel, wheel->counters.cancelled, 1);
    ASSERT_SEEN(wheel, wheel->counters.drained, 1);
    ASSERT_SEEN(wheel, wheel->is_mid_tick, 1);
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
                &scene.direct[0].link);
    ASSERT_SEEN(scene.wheel, scene.wheel->ready.next, &scene.never[0].link);
    wheel_done(scene.wheel);
}

/* Of every timer, not only of the first in a list. */
static void check_looks_at_every_home_and_deadline(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    for (size_t i = 0; i < COUNT_OF(scene.direct); i++) {
        ASSERT_SEEN(scene.wheel, scene.direct[i].home, 14);
        ASSERT_SEEN(scene.wheel, scene.direct[i].deadline, 36);
    }
    for (size_t i = 0; i < COUNT_OF(scene.fallen); i++) {
        ASSERT_SEEN(scene.wheel, scene.fallen[i].home, 11);
        ASSERT_SEEN(scene.wheel, scene.fallen[i].deadline, 31);
    }
    for (size_t i = 0; i < 2; i++) {
        ASSERT_SEEN(scene.wheel, scene.ready[i].home, 0);
        ASSERT_SEEN(scene.wheel, scene.ready[i].deadline, 23);
        ASSERT_SEEN(scene.wheel, scene.fresh[i].home, 0);
        ASSERT_SEEN(scene.wheel, scene.fresh[i].deadline, 23);
        ASSERT_SEEN(scene.wheel, scene.never[i].home, 0);
        ASSERT_SEEN(scene.wheel, scene.never[i].deadline, 23);
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
        cmocka_unit_test(check_looks_at_every_home_and_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
