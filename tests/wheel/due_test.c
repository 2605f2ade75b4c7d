/*
 * wheel/due_test.c - tkw_wheel_pop_due() returns what was due at the last
 * advance and nothing that was armed since; a wheel says which timers are
 * ready.
 */
#include "support/core.h"

/* Each time round, both timers are armed again for the present tick.  A loop
 * over tkw_wheel_pop_due() still ends, and the next advance returns them. */
static void a_timer_armed_for_now_waits_for_the_next_advance(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        struct tkw_timer timers[2] = {{.deadline = 0}};
        struct tkw_wheel *wheel = wheel_of(&shapes[i], 100);
        tkw_wheel_arm(wheel, &timers[0], 105);
        tkw_wheel_arm(wheel, &timers[1], 105);
        tkw_wheel_advance(wheel, 105);
        for (unsigned round = 0; round < 5; round++) {
            for (unsigned k = 0; k < 2; k++) {
                assert_ptr_equal(tkw_wheel_pop_due(wheel), &timers[k]);
                tkw_wheel_arm(wheel, &timers[k], 105 - k);
                assert_sound(wheel);
            }
            assert_null(tkw_wheel_pop_due(wheel));
            assert_int_equal(tkw_wheel_next(wheel), 105);
            tkw_wheel_advance(wheel, 105);
        }
        wheel_done(wheel);
    }
}

/* A plain pop returns them without an advance, in the same order. */
static void pop_returns_what_pop_due_leaves(void **state)
{
    (void)state;
    struct tkw_timer due = {.deadline = 0}, now = due, past = due;
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &due, 7);
    tkw_wheel_advance(wheel, 10);
    tkw_wheel_arm(wheel, &now, 10);
    tkw_wheel_arm(wheel, &past, 3);
    assert_ptr_equal(tkw_wheel_pop_due(wheel), &due);
    assert_null(tkw_wheel_pop_due(wheel));
    assert_pops(wheel, &now);
    assert_null(tkw_wheel_pop_due(wheel));
    assert_pops(wheel, &past);
    assert_null(tkw_wheel_pop(wheel));
    wheel_done(wheel);
}

/* What is armed for the past is ready before what comes due later (L5). */
static void what_is_armed_for_the_past_leaves_before_what_comes_later(void **s)
{
    (void)s;
    struct tkw_timer past = {.deadline = 0}, later = past;
    struct tkw_wheel *wheel = wheel_of(&kafka, 10);
    tkw_wheel_arm(wheel, &later, 11);
    tkw_wheel_advance(wheel, 10);
    tkw_wheel_arm(wheel, &past, 10);
    tkw_wheel_advance(wheel, 11);
    assert_ptr_equal(tkw_wheel_pop_due(wheel), &past);
    assert_ptr_equal(tkw_wheel_pop_due(wheel), &later);
    assert_null(tkw_wheel_pop_due(wheel));
    wheel_done(wheel);
}

/* Cancelled or moved away, a timer armed for the past is gone. */
static void what_was_armed_for_the_past_can_be_cancelled_and_moved(void **state)
{
    (void)state;
    struct tkw_timer gone = {.deadline = 0}, moved = gone, stays = gone;
    struct tkw_wheel *wheel = wheel_of(&kafka, 10);
    tkw_wheel_arm(wheel, &gone, 1);
    tkw_wheel_arm(wheel, &moved, 2);
    tkw_wheel_arm(wheel, &stays, 3);
    assert_true(tkw_wheel_cancel(wheel, &gone));
    assert_true(tkw_wheel_postpone(wheel, &moved, 20));
    assert_sound(wheel);
    tkw_wheel_advance(wheel, 10);
    assert_ptr_equal(tkw_wheel_pop_due(wheel), &stays);
    assert_null(tkw_wheel_pop_due(wheel));
    tkw_wheel_advance(wheel, 20);
    assert_ptr_equal(tkw_wheel_pop_due(wheel), &moved);
    wheel_done(wheel);
}

/* A budget leaves a tick unfinished: what is armed for the past meanwhile is
 * returned after the next advance, finished or not. */
static void in_an_unfinished_tick_each_advance_counts(void **state)
{
    (void)state;
    struct tkw_timer timers[4] = {{.deadline = 0}}, past = timers[0];
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        tkw_wheel_arm(wheel, &timers[i], 5);
    assert_false(tkw_wheel_advance_some(wheel, 5, 2));
    tkw_wheel_arm(wheel, &past, 4);
    assert_null(tkw_wheel_pop_due(wheel));
    assert_true(tkw_wheel_is_ready(wheel, &past));
    assert_false(tkw_wheel_is_ready(wheel, &timers[0]));
    assert_int_equal(tkw_wheel_ready_count(wheel), 1);
    assert_false(tkw_wheel_advance_some(wheel, 5, 1));
    assert_ptr_equal(tkw_wheel_pop_due(wheel), &past);
    assert_null(tkw_wheel_pop_due(wheel));
    assert_true(tkw_wheel_advance_some(wheel, 5, 10));
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        assert_ptr_equal(tkw_wheel_pop_due(wheel), &timers[i]);
    wheel_done(wheel);
}

static void assert_ready(const struct tkw_wheel *wheel,
                         const struct tkw_timer *timer, bool is_ready,
                         size_t count)
{
    assert_int_equal(tkw_wheel_is_ready(wheel, timer), is_ready);
    assert_int_equal(tkw_wheel_ready_count(wheel), count);
}

/* From pending to ready to idle, and for ever pending. */
static void a_wheel_says_which_timers_are_ready(void **state)
{
    (void)state;
    struct tkw_timer timer = {.deadline = 0}, past = timer, never = timer;
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    assert_ready(wheel, &timer, false, 0);
    tkw_wheel_arm(wheel, &never, TKW_NEVER);
    tkw_wheel_arm(wheel, &timer, 30);
    tkw_wheel_advance(wheel, 29);
    assert_ready(wheel, &timer, false, 0);
    tkw_wheel_advance(wheel, 30);
    assert_ready(wheel, &timer, true, 1);
    tkw_wheel_arm(wheel, &past, 30);
    assert_ready(wheel, &past, true, 2);
    assert_pops(wheel, &timer);
    assert_ready(wheel, &timer, false, 1);
    tkw_wheel_cancel(wheel, &past);
    assert_ready(wheel, &past, false, 0);
    tkw_wheel_advance(wheel, TKW_NEVER);
    assert_ready(wheel, &never, false, 0);
    wheel_done(wheel);
}

/* The count of ready timers is exact, however many a list of them holds: those
 * that were due at the advance, and those that are armed for the past. */
static void a_wheel_counts_many_ready_timers(void **state)
{
    (void)state;
    struct tkw_timer due[50] = {{.deadline = 0}}, past[50] = {{.deadline = 0}};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(due); i++)
        tkw_wheel_arm(wheel, &due[i], 10);
    tkw_wheel_advance(wheel, 10);
    assert_int_equal(tkw_wheel_ready_count(wheel), COUNT_OF(due));
    for (size_t i = 0; i < COUNT_OF(past); i++) {
        tkw_wheel_arm(wheel, &past[i], 3);
        assert_int_equal(tkw_wheel_ready_count(wheel), COUNT_OF(due) + i + 1);
    }
    wheel_done(wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_armed_for_now_waits_for_the_next_advance),
        cmocka_unit_test(pop_returns_what_pop_due_leaves),
        cmocka_unit_test(
            what_is_armed_for_the_past_leaves_before_what_comes_later),
        cmocka_unit_test(
            what_was_armed_for_the_past_can_be_cancelled_and_moved),
        cmocka_unit_test(in_an_unfinished_tick_each_advance_counts),
        cmocka_unit_test(a_wheel_says_which_timers_are_ready),
        cmocka_unit_test(a_wheel_counts_many_ready_timers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
