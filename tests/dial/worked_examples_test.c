/*
 * dial/worked_examples_test.c - the worked examples X1 to X25 on a real wheel.
 * Each row is followed down its path: in its slot until that expires and not an
 * instant longer, then in the next, and at last ready at its deadline.
 */
#include "support/core.h"
#include "support/worked_examples.h"

static void follow(const struct example *example)
{
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&example->geometry, example->start);
    tkw_wheel_advance(wheel, example->now);
    tkw_wheel_arm(wheel, &timer, example->deadline);

    for (const struct step *step = example->path; step->level != 0; step++) {
        assert_place(wheel, &timer, step->level, step->slot);
        assert_int_equal(tkw_wheel_next(wheel), step->expiration);
        tkw_wheel_advance(wheel, step->expiration - 1);
        assert_place(wheel, &timer, step->level, step->slot);
        assert_null(tkw_wheel_pop(wheel));
        tkw_wheel_advance(wheel, step->expiration);
        assert_sound(wheel);
    }
    assert_int_equal(tkw_wheel_now(wheel), example->deadline);
    assert_place(wheel, &timer, 0, 0);
    assert_pops(wheel, &timer);
    wheel_done(wheel);
}

static void every_example_takes_its_path(void **state)
{
    (void)state;
    follow_all(follow);
}

/* The same in one jump, or sleeping until next: fired at its deadline. */
static void every_example_fires_on_its_deadline(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(examples) * 2; i++) {
        const struct example *example = &examples[i / 2];
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&example->geometry, example->start);
        tkw_wheel_advance(wheel, example->now);
        tkw_wheel_arm(wheel, &timer, example->deadline);
        if (i % 2 == 0)
            wakes_until_ready(wheel);
        assert_fires_on_time(wheel, &timer);
        assert_int_equal(tkw_wheel_now(wheel), example->deadline);
        wheel_done(wheel);
    }
}

/* X20, X21 in units: a tick of 10, the clock at 1000. */
static void deadlines_in_units_are_rounded_up(void **state)
{
    (void)state;
    static const struct tkw_geometry five = FIVE;
    static const struct {
        uint64_t time, fires_at;
    } rows[] = {{1020, 1020}, {1005, 1010}, {1060, 1060}, {1061, 1070}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&five, tkw_tick_now(1000, 10));
        tkw_wheel_arm(wheel, &timer, tkw_tick_deadline(rows[i].time, 10));
        for (uint64_t time = 1000; time < rows[i].fires_at; time++) {
            tkw_wheel_advance(wheel, tkw_tick_now(time, 10));
            assert_null(tkw_wheel_pop(wheel));
        }
        tkw_wheel_advance(wheel, tkw_tick_now(rows[i].fires_at, 10));
        assert_pops(wheel, &timer);
        wheel_done(wheel);
    }
}

/* X20: 999 has gone by when the clock says 1000. */
static void a_deadline_that_has_gone_by_is_due_now(void **state)
{
    (void)state;
    static const struct tkw_geometry five = FIVE;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&five, tkw_tick_now(1000, 10));
    tkw_wheel_arm(wheel, &timer, tkw_tick_deadline(999, 10));
    assert_pops(wheel, &timer);
    wheel_done(wheel);
}

/* X21: one level 2 serves both. */
static void neighbours_share_a_slot_of_the_level_above(void **state)
{
    (void)state;
    static const struct tkw_geometry five = FIVE;
    struct tkw_timer timers[2] = {0};
    struct tkw_wheel *wheel = wheel_of(&five, 100);
    tkw_wheel_arm(wheel, &timers[0], 106);
    tkw_wheel_arm(wheel, &timers[1], 107);
    assert_place(wheel, &timers[0], 2, 1);
    assert_place(wheel, &timers[1], 2, 1);
    tkw_wheel_advance(wheel, 105);
    assert_int_equal(tkw_wheel_read_stats(wheel).visits, 1);
    assert_place(wheel, &timers[0], 1, 1);
    assert_place(wheel, &timers[1], 1, 2);
    assert_fires_on_time(wheel, &timers[0]);
    assert_fires_on_time(wheel, &timers[1]);
    wheel_done(wheel);
}

/* X22: a wheel with ticks of 20 units, made at 123, stands at 120. */
static void the_clock_is_rounded_down_to_a_tick(void **state)
{
    (void)state;
    struct tkw_wheel *wheel = wheel_of(&kafka, tkw_tick_now(123, 20));
    assert_int_equal(tkw_wheel_now(wheel) * 20, 120);
    wheel_done(wheel);
}

/* X24: nothing fell for an hour, and the new timer need not fall either. */
static void after_idle_time_a_timer_goes_straight_to_level_1(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_advance(wheel, 3600000);
    tkw_wheel_arm(wheel, &timer, 3600005);
    assert_place(wheel, &timer, 1, 5);
    assert_int_equal(wakes_until_ready(wheel), 1);
    assert_int_equal(tkw_wheel_read_stats(wheel).falls, 0);
    assert_pops(wheel, &timer);
    wheel_done(wheel);
}

/* X25: one wake-up, not 399 empty ticks before it. */
static void a_timer_alone_at_400_wakes_once(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timer, 400);
    assert_int_equal(tkw_wheel_next(wheel), 400);
    assert_int_equal(wakes_until_ready(wheel), 1);
    assert_int_equal(tkw_wheel_read_stats(wheel).visits, 1);
    assert_pops(wheel, &timer);
    wheel_done(wheel);
}

/* Hashed, 512 slots of 100 ms: fired at 100, 100 and 60000, Netty's slot. */
static void the_hashed_numbers_fire_on_time(void **state)
{
    (void)state;
    static const struct tkw_geometry netty = {.sizes = {512},
                                              .beyond = TKW_ROUNDS};
    static const struct {
        uint64_t delay_ms, fires_at_ms;
        uint32_t slot;
    } rows[] = {{10, 100, 1}, {100, 100, 1}, {60000, 60000, 88}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&netty, 0);
        tkw_wheel_arm(wheel, &timer, tkw_tick_deadline(rows[i].delay_ms, 100));
        assert_place(wheel, &timer, 1, rows[i].slot);
        assert_fires_on_time(wheel, &timer);
        assert_int_equal(tkw_wheel_now(wheel) * 100, rows[i].fires_at_ms);
        wheel_done(wheel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_takes_its_path),
        cmocka_unit_test(every_example_fires_on_its_deadline),
        cmocka_unit_test(deadlines_in_units_are_rounded_up),
        cmocka_unit_test(a_deadline_that_has_gone_by_is_due_now),
        cmocka_unit_test(neighbours_share_a_slot_of_the_level_above),
        cmocka_unit_test(the_clock_is_rounded_down_to_a_tick),
        cmocka_unit_test(after_idle_time_a_timer_goes_straight_to_level_1),
        cmocka_unit_test(a_timer_alone_at_400_wakes_once),
        cmocka_unit_test(the_hashed_numbers_fire_on_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
