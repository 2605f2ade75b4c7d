/*
 * wheel/budget_test.c - law L9: an advance can be stopped after any number of
 * timers and resumed, and anything may be called in between.
 */
#include "support/core.h"

static uint64_t moved(const struct tkw_wheel *wheel)
{
    struct tkw_wheel_stats c = tkw_wheel_read_stats(wheel);
    return c.falls + c.refiles + c.passes;
}

/* A stop: `now` is finished, `next` is now, the wheel is whole. */
static void assert_stopped_well(const struct tkw_wheel *wheel, tkw_tick target)
{
    assert_true(tkw_wheel_now(wheel) < target);
    assert_int_equal(tkw_wheel_next(wheel), tkw_wheel_now(wheel));
    assert_sound(wheel);
}

/* A hundred timers in one slot of level 3: evens due at 400, odds at 445. */
static struct tkw_wheel *crowded(struct tkw_timer timers[100])
{
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    memset(timers, 0, 100 * sizeof(timers[0]));
    for (size_t i = 0; i < 100; i++)
        tkw_wheel_arm(wheel, &timers[i], i % 2 == 0 ? 400 : 445);
    return wheel;
}

/* The crowd leaves in order, but for those that were taken out. */
static void assert_crowd_fires(struct tkw_wheel *wheel,
                               const struct tkw_timer timers[100],
                               tkw_tick deadline)
{
    for (size_t i = deadline == 445; i < 100; i += 2) {
        if (timers[i].deadline == deadline && tkw_timer_is_armed(&timers[i]))
            assert_pops(wheel, &timers[i]);
    }
}

/* Stop after `stops` timers of the crowd; false if there are not so many. */
static bool stop_after(struct tkw_wheel *wheel, size_t stops)
{
    return stops == 0 || !tkw_wheel_advance_some(wheel, 400, stops);
}

static void a_crowded_slot_falls_in_shares(void **state)
{
    (void)state;
    struct tkw_timer timers[100];
    struct tkw_wheel *wheel = crowded(timers);
    uint64_t stops = 0, before = 0;
    while (!tkw_wheel_advance_some(wheel, 1000, 7)) {
        stops++;
        assert_stopped_well(wheel, 1000);
        assert_int_equal(tkw_wheel_read_stats(wheel).stops, stops);
        assert_true(moved(wheel) - before <= 7);
        before = moved(wheel);
        if (tkw_wheel_now(wheel) < 400)
            assert_int_equal(tkw_wheel_now(wheel), 399);
    }
    assert_int_equal(tkw_wheel_now(wheel), 1000);
    /* 100 leave level 3; 50 leave level 2 and then 1: 200 touches, 28 sevens */
    assert_int_equal(stops, 28);
    assert_crowd_fires(wheel, timers, 400);
    assert_crowd_fires(wheel, timers, 445);
    assert_null(tkw_wheel_pop(wheel));
    wheel_done(wheel);
}

/* What is due at a finished tick can be popped while the advance goes on. */
static void finished_ticks_are_ready_between_stops(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timers[60] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        for (size_t i = 0; i < COUNT_OF(timers); i++)
            tkw_wheel_arm(wheel, &timers[i], 1 + i * 3);
        size_t popped = 0;
        for (bool is_done = false; !is_done;) {
            is_done = tkw_wheel_advance_some(wheel, 500, 1);
            if (!is_done)
                assert_true(tkw_wheel_now(wheel) < 500);
            while (popped < COUNT_OF(timers) &&
                   timers[popped].deadline <= tkw_wheel_now(wheel))
                assert_pops(wheel, &timers[popped++]);
            assert_null(tkw_wheel_pop(wheel));
            assert_sound(wheel);
        }
        assert_int_equal(popped, COUNT_OF(timers));
        wheel_done(wheel);
    }
}

/* No timer needs a touch: no budget is needed either. */
static void no_budget_is_enough_for_nothing(void **state)
{
    (void)state;
    struct tkw_timer timers[100];
    struct tkw_wheel *wheel = crowded(timers);
    assert_true(tkw_wheel_advance_some(wheel, 399, 0));
    assert_int_equal(tkw_wheel_now(wheel), 399);
    assert_false(tkw_wheel_advance_some(wheel, 400, 0));
    assert_int_equal(moved(wheel), 0);
    assert_int_equal(tkw_wheel_now(wheel), 399);
    assert_stopped_well(wheel, 400);
    assert_null(tkw_wheel_pop(wheel));
    assert_true(tkw_wheel_advance_some(wheel, 400, 100));
    assert_int_equal(tkw_wheel_now(wheel), 400);
    wheel_done(wheel);
}

/* Unlimited, an advance finishes what was begun, and more. */
static void an_unlimited_advance_finishes_a_stopped_one(void **state)
{
    (void)state;
    for (size_t stops = 1; stops < 100; stops++) {
        struct tkw_timer timers[100];
        struct tkw_wheel *wheel = crowded(timers);
        assert_true(stop_after(wheel, stops));
        tkw_wheel_advance(wheel, stops % 2 == 0 ? 400 : 20000);
        assert_crowd_fires(wheel, timers, 400);
        if (stops % 2 != 0)
            assert_crowd_fires(wheel, timers, 445);
        assert_null(tkw_wheel_pop(wheel));
        wheel_done(wheel);
    }
}

/*
 * Time standing still goes on with the tick that was begun: it is not early,
 * because an earlier advance has asked for that tick.  Nothing else happens.
 */
static void standing_still_between_stops_finishes_the_tick(void **state)
{
    (void)state;
    struct tkw_timer timers[100];
    struct tkw_wheel *wheel = crowded(timers);
    assert_true(stop_after(wheel, 30));
    assert_int_equal(tkw_wheel_now(wheel), 399);
    assert_false(tkw_wheel_advance_some(wheel, 399, 0));
    assert_stopped_well(wheel, 400);
    tkw_wheel_advance(wheel, 399);
    assert_int_equal(tkw_wheel_now(wheel), 400);
    assert_crowd_fires(wheel, timers, 400);
    assert_null(tkw_wheel_pop(wheel));
    wheel_done(wheel);
}

/* A loop in virtual time needs nothing but `next`, whatever the budget. */
static void advancing_to_next_gets_there_with_any_budget(void **state)
{
    (void)state;
    for (size_t budget = 1; budget < 5; budget++) {
        struct tkw_timer timers[100];
        struct tkw_wheel *wheel = crowded(timers);
        size_t fired = 0;
        for (unsigned i = 0; i < 1000 && fired < COUNT_OF(timers); i++) {
            tkw_wheel_advance_some(wheel, tkw_wheel_next(wheel), budget);
            while (tkw_wheel_pop(wheel) != NULL)
                fired++;
        }
        assert_int_equal(fired, COUNT_OF(timers));
        wheel_done(wheel);
    }
}

/* Armed for the tick under way: with it, behind those armed before. */
static void arming_for_the_unfinished_tick_is_in_time(void **state)
{
    (void)state;
    for (size_t stops = 0; stops < 100; stops++) {
        struct tkw_timer timers[100], now = {0}, past = {0}, next = {0};
        struct tkw_wheel *wheel = crowded(timers);
        assert_true(stop_after(wheel, stops));
        tkw_wheel_arm(wheel, &next, 401);
        tkw_wheel_arm(wheel, &now, 400);
        tkw_wheel_arm(wheel, &past, tkw_wheel_now(wheel));
        assert_sound(wheel);
        assert_pops(wheel, &past);
        assert_null(tkw_wheel_pop(wheel));

        tkw_wheel_advance(wheel, 400);
        assert_crowd_fires(wheel, timers, 400);
        assert_pops(wheel, &now);
        assert_null(tkw_wheel_pop(wheel));
        assert_fires_on_time(wheel, &next);
        wheel_done(wheel);
    }
}

/* Each of the crowd, stopped at each place: half-moved, due, or not reached. */
static void cancelling_between_stops_is_final(void **state)
{
    (void)state;
    for (size_t i = 0; i < 100 * 100; i += 7) {
        struct tkw_timer timers[100], *gone = &timers[i % 100];
        struct tkw_wheel *wheel = crowded(timers);
        assert_true(stop_after(wheel, i / 100));
        assert_true(tkw_wheel_cancel(wheel, gone));
        assert_false(tkw_wheel_cancel(wheel, gone));
        assert_sound(wheel);
        tkw_wheel_advance(wheel, 400);
        assert_crowd_fires(wheel, timers, 400);
        tkw_wheel_advance(wheel, 445);
        assert_crowd_fires(wheel, timers, 445);
        assert_null(tkw_wheel_pop(wheel));
        wheel_done(wheel);
    }
}

static void postponing_between_stops_moves_the_deadline(void **state)
{
    (void)state;
    static const tkw_tick deadlines[] = {401, 450, 460, 7777, 70000, TKW_NEVER};
    for (size_t i = 0; i < 100 * 100; i += 7) {
        struct tkw_timer timers[100], *moving = &timers[i % 100];
        struct tkw_wheel *wheel = crowded(timers);
        assert_true(stop_after(wheel, i / 100));
        assert_true(tkw_wheel_postpone(wheel, moving,
                                       deadlines[i % COUNT_OF(deadlines)]));
        assert_sound(wheel);
        tkw_wheel_advance(wheel, 400);
        assert_crowd_fires(wheel, timers, 400);
        if (moving->deadline < 445)
            assert_fires_on_time(wheel, moving);
        tkw_wheel_advance(wheel, 445);
        assert_crowd_fires(wheel, timers, 445);
        assert_null(tkw_wheel_pop(wheel));
        if (moving->deadline > 445 && moving->deadline != TKW_NEVER)
            assert_fires_on_time(wheel, moving);
        wheel_done(wheel);
    }
}

/* Armed again for the same tick: the end of the line, wherever it was. */
static void arming_again_between_stops_goes_to_the_end_of_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < 100 * 100; i += 14) {
        struct tkw_timer timers[100], *again = &timers[i % 100];
        struct tkw_wheel *wheel = crowded(timers);
        assert_true(stop_after(wheel, i / 100));
        tkw_wheel_arm(wheel, again, 400);
        assert_sound(wheel);
        tkw_wheel_advance(wheel, 400);
        for (size_t t = 0; t < 100; t += 2) {
            if (&timers[t] != again)
                assert_pops(wheel, &timers[t]);
        }
        assert_pops(wheel, again);
        assert_null(tkw_wheel_pop(wheel));
        wheel_done(wheel);
    }
}

/* Ready, due, late, half-moved, filed: drain finds them all. */
static void draining_between_stops_hands_everything_back(void **state)
{
    (void)state;
    for (size_t stops = 0; stops < 100; stops++) {
        struct tkw_timer timers[100], late = {0}, ready = {0}, never = {0};
        struct tkw_wheel *wheel = crowded(timers);
        assert_true(stop_after(wheel, stops));
        tkw_wheel_arm(wheel, &late, 400);
        tkw_wheel_arm(wheel, &ready, 0);
        tkw_wheel_arm(wheel, &never, TKW_NEVER);
        size_t drained = 0;
        for (struct tkw_timer *t; (t = tkw_wheel_drain(wheel)) != NULL;) {
            assert_false(tkw_timer_is_armed(t));
            assert_sound(wheel);
            drained++;
        }
        assert_int_equal(drained, 103);
        assert_int_equal(tkw_wheel_read_stats(wheel).drained, 103);
        tkw_wheel_advance(wheel, 100000);
        assert_null(tkw_wheel_pop(wheel));
        wheel_done(wheel);
    }
}

/* Any budget gives what one unlimited advance gives, in the same order. */
static void stops_lose_and_reorder_nothing(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t i = 0; i < COUNT_OF(shapes) * 5; i++) {
        static struct tkw_timer whole[200], parts[200];
        struct tkw_wheel *one = wheel_of(&shapes[i / 5], 9);
        struct tkw_wheel *two = wheel_of(&shapes[i / 5], 9);
        memset(whole, 0, sizeof(whole));
        memset(parts, 0, sizeof(parts));
        for (size_t t = 0; t < COUNT_OF(whole); t++) {
            tkw_tick deadline = 10 + random_magnitude(&seed, 11) / 8 * 8;
            tkw_wheel_arm(one, &whole[t], deadline);
            tkw_wheel_arm(two, &parts[t], deadline);
        }
        tkw_wheel_advance(one, 4000);
        while (!tkw_wheel_advance_some(two, 4000, 1 + i % 5))
            assert_stopped_well(two, 4000);
        for (struct tkw_timer *t; (t = tkw_wheel_pop(one)) != NULL;)
            assert_pops(two, &parts[t - whole]);
        assert_int_equal(moved(one), moved(two));
        wheel_done(one);
        wheel_done(two);
    }
}

/* Rounds: those passed over count against the budget, and once a turn. */
static void a_turn_of_rounds_can_be_stopped(void **state)
{
    (void)state;
    static const struct tkw_geometry hashed = {.sizes = {32},
                                               .beyond = TKW_ROUNDS};
    struct tkw_timer timers[50] = {0};
    struct tkw_wheel *wheel = wheel_of(&hashed, 0);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        tkw_wheel_arm(wheel, &timers[i], 4 + 32 * (i % 5));
    for (size_t turn = 0; turn < 5; turn++) {
        tkw_tick due = 4 + 32 * turn;
        while (!tkw_wheel_advance_some(wheel, due, 3)) {
            assert_stopped_well(wheel, due);
            assert_null(tkw_wheel_pop(wheel));
        }
        for (size_t i = turn; i < COUNT_OF(timers); i += 5)
            assert_pops(wheel, &timers[i]);
        assert_null(tkw_wheel_pop(wheel));
    }
    assert_int_equal(tkw_wheel_read_stats(wheel).passes, 10 * (4 + 3 + 2 + 1));
    wheel_done(wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crowded_slot_falls_in_shares),
        cmocka_unit_test(finished_ticks_are_ready_between_stops),
        cmocka_unit_test(no_budget_is_enough_for_nothing),
        cmocka_unit_test(an_unlimited_advance_finishes_a_stopped_one),
        cmocka_unit_test(standing_still_between_stops_finishes_the_tick),
        cmocka_unit_test(advancing_to_next_gets_there_with_any_budget),
        cmocka_unit_test(arming_for_the_unfinished_tick_is_in_time),
        cmocka_unit_test(cancelling_between_stops_is_final),
        cmocka_unit_test(postponing_between_stops_moves_the_deadline),
        cmocka_unit_test(
            arming_again_between_stops_goes_to_the_end_of_the_line),
        cmocka_unit_test(draining_between_stops_hands_everything_back),
        cmocka_unit_test(stops_lose_and_reorder_nothing),
        cmocka_unit_test(a_turn_of_rounds_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
