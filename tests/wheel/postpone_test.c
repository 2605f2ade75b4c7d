/*
 * wheel/postpone_test.c - moving a deadline: lazily to a later tick, at once to
 * an earlier one, and never where it would fire at another tick than its last.
 */
#include "support/core.h"

/* Postponed, a timer stays in its slot; reached, it is filed anew once. */
static void a_postponed_timer_moves_once_when_its_slot_is_reached(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timer, 10);
    for (tkw_tick deadline = 11; deadline <= 300; deadline++)
        assert_true(tkw_wheel_postpone(wheel, &timer, deadline));
    assert_int_equal(timer.deadline, 300);
    assert_place(wheel, &timer, 1, 10);
    assert_int_equal(tkw_wheel_next(wheel), 10);
    tkw_wheel_advance(wheel, 9);
    assert_int_equal(tkw_wheel_read_stats(wheel).refiles, 0);
    assert_sound(wheel);

    tkw_wheel_advance(wheel, 10);
    assert_null(tkw_wheel_pop(wheel));
    assert_int_equal(tkw_wheel_read_stats(wheel).refiles, 1);
    assert_int_equal(tkw_wheel_read_stats(wheel).falls, 0);
    assert_place(wheel, &timer, 2, 15);
    assert_fires_on_time(wheel, &timer);
    assert_int_equal(tkw_wheel_read_stats(wheel).refiles, 1);
    assert_int_equal(tkw_wheel_read_stats(wheel).visits, 2);
    wheel_done(wheel);
}

/* L7.  A slot whose timers were all postponed wakes once, not once each. */
static void a_slot_of_postponed_timers_wakes_once(void **state)
{
    (void)state;
    struct tkw_timer timers[100] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        tkw_wheel_arm(wheel, &timers[i], 350);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        assert_true(tkw_wheel_postpone(wheel, &timers[i], 400 + i));

    assert_int_equal(tkw_wheel_next(wheel), 340);
    tkw_wheel_advance(wheel, 340);
    assert_int_equal(tkw_wheel_read_stats(wheel).visits, 1);
    assert_int_equal(tkw_wheel_read_stats(wheel).refiles, 100);
    assert_int_equal(tkw_wheel_next(wheel), 400);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        assert_fires_on_time(wheel, &timers[i]);
    wheel_done(wheel);
}

/* Far, near and across levels: each ends where its last deadline says. */
static void a_postponed_timer_fires_on_its_last_deadline(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes) * 60; i++) {
        tkw_tick first = 1 + i % 60;
        for (tkw_tick last = 0; last < 130; last += 1 + last % 5) {
            struct tkw_timer timer = {0};
            struct tkw_wheel *wheel = wheel_of(&shapes[i / 60], 13);
            tkw_wheel_arm(wheel, &timer, 13 + first);
            assert_true(tkw_wheel_postpone(wheel, &timer, 13 + last));
            assert_fires_on_time(wheel, &timer);
            free(wheel);
        }
    }
}

/* Earlier is arming anew: at once, also back from a later deadline. */
static void an_earlier_deadline_counts_at_once(void **state)
{
    (void)state;
    static const tkw_tick then[] = {5, 9, 10, 11, 200, 299, 300};
    for (size_t i = 0; i < COUNT_OF(then); i++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&kafka, 0);
        tkw_wheel_arm(wheel, &timer, 10);
        assert_true(tkw_wheel_postpone(wheel, &timer, 300));
        assert_true(tkw_wheel_postpone(wheel, &timer, then[i]));
        assert_true(tkw_wheel_next(wheel) <= then[i]);
        assert_sound(wheel);
        assert_fires_on_time(wheel, &timer);
        wheel_done(wheel);
    }
}

static void postponing_to_the_past_makes_it_ready(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 100);
    tkw_wheel_arm(wheel, &timer, 500);
    assert_true(tkw_wheel_postpone(wheel, &timer, 40));
    assert_int_equal(tkw_wheel_next(wheel), 100);
    assert_pops(wheel, &timer);
    wheel_done(wheel);
}

static void an_equal_deadline_fires_all_the_same(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        tkw_wheel_arm(wheel, &timer, 77);
        assert_true(tkw_wheel_postpone(wheel, &timer, 77));
        assert_sound(wheel);
        assert_fires_on_time(wheel, &timer);
        wheel_done(wheel);
    }
}

/* Ready but not popped is armed: it can still be put off. */
static void a_ready_timer_can_be_postponed(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timers[3] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        for (size_t i = 0; i < COUNT_OF(timers); i++)
            tkw_wheel_arm(wheel, &timers[i], 20);
        tkw_wheel_advance(wheel, 20);
        assert_true(tkw_wheel_postpone(wheel, &timers[1], 50));
        assert_pops(wheel, &timers[0]);
        assert_pops(wheel, &timers[2]);
        assert_null(tkw_wheel_pop(wheel));
        assert_fires_on_time(wheel, &timers[1]);
        wheel_done(wheel);
    }
}

static void an_idle_timer_stays_idle(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timer, 20);
    assert_fires_on_time(wheel, &timer);
    assert_false(tkw_wheel_postpone(wheel, &timer, 50));
    assert_false(tkw_timer_is_armed(&timer));
    assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
    wheel_done(wheel);
}

/* Put off for ever it stays pending, wakes once at most, and can come back. */
static void a_timer_can_be_postponed_to_never_and_back(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        tkw_wheel_arm(wheel, &timer, 9);
        assert_true(tkw_wheel_postpone(wheel, &timer, TKW_NEVER));
        assert_sound(wheel);
        tkw_wheel_advance(wheel, 9);
        assert_null(tkw_wheel_pop(wheel));
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
        assert_int_equal(tkw_wheel_count(wheel), 1);
        assert_place(wheel, &timer, 0, 0);

        assert_true(tkw_wheel_postpone(wheel, &timer, TKW_NEVER));
        assert_true(tkw_wheel_postpone(wheel, &timer, 700));
        assert_fires_on_time(wheel, &timer);
        wheel_done(wheel);
    }
}

/* A postponed timer leaves its old slot when cancelled or armed again. */
static void a_postponed_timer_can_be_cancelled_and_armed(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        tkw_wheel_arm(wheel, &timer, 9);
        assert_true(tkw_wheel_postpone(wheel, &timer, 90));
        assert_true(tkw_wheel_cancel(wheel, &timer));
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);

        tkw_wheel_arm(wheel, &timer, 9);
        assert_true(tkw_wheel_postpone(wheel, &timer, 90));
        tkw_wheel_arm(wheel, &timer, 40);
        assert_sound(wheel);
        assert_fires_on_time(wheel, &timer);
        assert_int_equal(tkw_wheel_read_stats(wheel).refiles, 0);
        wheel_done(wheel);
    }
}

/* Due in one pass: by deadline, the postponed among the others. */
static void assert_pops_all_that_is_due(struct tkw_wheel *wheel,
                                        const struct tkw_timer *timers,
                                        size_t count)
{
    tkw_tick last = 0;
    for (struct tkw_timer *t; (t = tkw_wheel_pop(wheel)) != NULL;) {
        assert_true(t->deadline <= tkw_wheel_now(wheel));
        assert_true(t->deadline >= last);
        last = t->deadline;
    }
    for (size_t i = 0; i < count; i++) {
        if (tkw_timer_is_armed(&timers[i]))
            assert_true(timers[i].deadline > tkw_wheel_now(wheel));
    }
}

/* L1, L2 and the first half of L4 under a storm of postponing. */
static void a_storm_of_postponing_ends_on_the_last_deadlines(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timers[30] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        for (unsigned step = 0; step < 5000; step++) {
            struct tkw_timer *timer =
                &timers[random_below(&seed, COUNT_OF(timers))];
            tkw_tick deadline =
                tkw_wheel_now(wheel) + 1 + random_magnitude(&seed, 11);
            if (!tkw_wheel_postpone(wheel, timer, deadline))
                tkw_wheel_arm(wheel, timer, deadline);
            assert_int_equal(timer->deadline, deadline);
            if (step % 8 != 0)
                continue;
            tkw_wheel_advance(wheel, tkw_wheel_now(wheel) +
                                         random_magnitude(&seed, 7));
            assert_pops_all_that_is_due(wheel, timers, COUNT_OF(timers));
            assert_sound(wheel);
        }
        wheel_done(wheel);
    }
}

/* The deadline it has already is no later one: it falls as if never asked. */
static void an_equal_deadline_is_not_counted_as_postponed(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timer, 445);
    assert_true(tkw_wheel_postpone(wheel, &timer, 445));
    assert_fires_on_time(wheel, &timer);
    assert_int_equal(tkw_wheel_read_stats(wheel).refiles, 0);
    assert_int_equal(tkw_wheel_read_stats(wheel).falls, 2);
    wheel_done(wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_postponed_timer_moves_once_when_its_slot_is_reached),
        cmocka_unit_test(a_slot_of_postponed_timers_wakes_once),
        cmocka_unit_test(a_postponed_timer_fires_on_its_last_deadline),
        cmocka_unit_test(an_earlier_deadline_counts_at_once),
        cmocka_unit_test(postponing_to_the_past_makes_it_ready),
        cmocka_unit_test(an_equal_deadline_fires_all_the_same),
        cmocka_unit_test(a_ready_timer_can_be_postponed),
        cmocka_unit_test(an_idle_timer_stays_idle),
        cmocka_unit_test(a_timer_can_be_postponed_to_never_and_back),
        cmocka_unit_test(a_postponed_timer_can_be_cancelled_and_armed),
        cmocka_unit_test(a_storm_of_postponing_ends_on_the_last_deadlines),
        cmocka_unit_test(an_equal_deadline_is_not_counted_as_postponed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
