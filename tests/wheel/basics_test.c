/*
 * wheel/basics_test.c - what becomes of a timer: laws L1 (never early), L2
 * (complete), L3 (one outcome each), L5 (past deadlines, the end of time), and
 * making a wheel in the first place.
 */
#include "support/core.h"

#include <errno.h>

/* L1.  However far away, a timer fires on its deadline and not before. */
static void fires_on_its_deadline_at_every_distance(void **state)
{
    (void)state;
    static const tkw_tick starts[] = {0, 1, 400, 1000003};
    for (size_t i = 0; i < COUNT_OF(shapes) * COUNT_OF(starts); i++) {
        const struct tkw_geometry *shape = &shapes[i / COUNT_OF(starts)];
        tkw_tick start = starts[i % COUNT_OF(starts)];
        for (unsigned bit = 0; bit < bits_of_reach(shape); bit++) {
            struct tkw_timer timer = {0};
            struct tkw_wheel *wheel = wheel_of(shape, start);
            tkw_wheel_arm(wheel, &timer, start + (UINT64_C(1) << bit));
            assert_fires_on_time(wheel, &timer);
            wheel_done(wheel);
        }
    }
}

/* L1.  The same for every short distance, from wherever the last one ended. */
static void fires_on_its_deadline_from_everywhere(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        for (tkw_tick distance = 1; distance < 1300; distance++) {
            struct tkw_timer timer = {0};
            tkw_wheel_arm(wheel, &timer, tkw_wheel_now(wheel) + distance);
            assert_fires_on_time(wheel, &timer);
        }
        wheel_done(wheel);
    }
}

/* L1, L2.  Tick by tick, with a timer for every tick of several turns. */
static void every_tick_fires_its_own_timer(void **state)
{
    (void)state;
    static struct tkw_timer timers[1000];
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 17);
        for (size_t i = 0; i < COUNT_OF(timers); i++)
            tkw_wheel_arm(wheel, &timers[i], 18 + i);
        assert_sound(wheel);
        for (size_t i = 0; i < COUNT_OF(timers); i++) {
            tkw_wheel_advance(wheel, 18 + i);
            assert_pops(wheel, &timers[i]);
            assert_null(tkw_wheel_pop(wheel));
        }
        wheel_done(wheel);
    }
}

/* L2.  One jump over any number of turns leaves nothing behind. */
static void a_jump_makes_all_that_is_due_ready(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        unsigned bits = bits_of_reach(&shapes[s]);
        for (unsigned jump = 0; jump < bits; jump++) {
            struct tkw_timer timers[64] = {0};
            struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
            for (unsigned i = 0; i < bits; i++)
                tkw_wheel_arm(wheel, &timers[i], UINT64_C(1) << i);
            tkw_wheel_advance(wheel, UINT64_C(1) << jump);
            for (unsigned i = 0; i <= jump; i++)
                assert_pops(wheel, &timers[i]);
            assert_null(tkw_wheel_pop(wheel));
            assert_int_equal(tkw_wheel_count(wheel), bits - 1 - jump);
            wheel_done(wheel);
        }
    }
}

/* L2.  A clock that stalls for a day, and then goes on. */
static void a_clock_that_stalls_loses_nothing(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 5);
        tkw_wheel_arm(wheel, &timer, 50);
        for (unsigned i = 0; i < 100; i++) {
            tkw_wheel_advance(wheel, 5);
            assert_null(tkw_wheel_pop(wheel));
        }
        assert_int_equal(tkw_wheel_read_stats(wheel).visits, 0);
        tkw_wheel_advance(wheel, 86400);
        assert_pops(wheel, &timer);
        wheel_done(wheel);
    }
}

static void a_zeroed_timer_is_idle(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(NULL, 0);
    assert_false(tkw_timer_is_armed(&timer));
    assert_false(tkw_wheel_cancel(wheel, &timer));
    assert_false(tkw_wheel_postpone(wheel, &timer, 9));
    assert_false(tkw_timer_is_armed(&timer));
    assert_int_equal(tkw_wheel_count(wheel), 0);
    assert_int_equal(tkw_wheel_read_stats(wheel).armed, 0);
    assert_int_equal(tkw_wheel_read_stats(wheel).cancelled, 0);
    wheel_done(wheel);
}

/* L3.  Cancel tells whether it was you who stopped the timer. */
static void cancel_tells_the_truth(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);

    tkw_wheel_arm(wheel, &timer, 445);
    assert_true(tkw_timer_is_armed(&timer));
    assert_true(tkw_wheel_cancel(wheel, &timer)); /* pending */
    assert_false(tkw_timer_is_armed(&timer));
    assert_false(tkw_wheel_cancel(wheel, &timer));

    tkw_wheel_arm(wheel, &timer, 3);
    tkw_wheel_advance(wheel, 1000);
    assert_true(tkw_timer_is_armed(&timer));
    assert_true(tkw_wheel_cancel(wheel, &timer)); /* ready, not yet popped */
    assert_null(tkw_wheel_pop(wheel));

    tkw_wheel_arm(wheel, &timer, 1001);
    assert_fires_on_time(wheel, &timer);
    assert_false(tkw_wheel_cancel(wheel, &timer)); /* too late */

    assert_int_equal(tkw_wheel_read_stats(wheel).cancelled, 2);
    wheel_done(wheel);
}

/* L3, K8.  Moving a timer continues its arming: the count stays. */
static void moving_a_timer_is_not_arming_it_once_more(void **state)
{
    (void)state;
    static const tkw_tick deadlines[] = {5, 5, 500, 5000, 0, 6, TKW_NEVER, 7};
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);

    for (size_t i = 0; i < COUNT_OF(deadlines); i++) {
        tkw_wheel_arm(wheel, &timer, deadlines[i]);
        assert_int_equal(timer.deadline, deadlines[i]);
        assert_true(tkw_wheel_postpone(wheel, &timer, deadlines[i] | 8));
        assert_int_equal(timer.deadline, deadlines[i] | 8);
        assert_int_equal(tkw_wheel_count(wheel), 1);
        assert_int_equal(tkw_wheel_read_stats(wheel).armed, 1);
        assert_sound(wheel);
    }
    assert_fires_on_time(wheel, &timer);
    assert_int_equal(tkw_wheel_read_stats(wheel).fired, 1);
    assert_int_equal(tkw_wheel_count(wheel), 0);
    wheel_done(wheel);
}

/* L3.  armed = fired + cancelled + drained + count, at every step. */
static void every_arming_has_one_outcome(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timers[40] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        for (unsigned i = 0; i < 40; i++)
            tkw_wheel_arm(wheel, &timers[i], i * i);
        assert_sound(wheel);
        for (unsigned i = 0; i < 40; i += 4)
            assert_true(tkw_wheel_cancel(wheel, &timers[i]));
        assert_sound(wheel);
        tkw_wheel_advance(wheel, 400); /* the square of 20 */
        for (unsigned i = 0; i < 10; i++)
            assert_non_null(tkw_wheel_pop(wheel));
        assert_sound(wheel);
        while (tkw_wheel_drain(wheel) != NULL)
            assert_sound(wheel);

        struct tkw_wheel_stats c = tkw_wheel_read_stats(wheel);
        assert_int_equal(c.armed, 40);
        assert_int_equal(c.cancelled, 10);
        assert_int_equal(c.fired, 10);
        assert_int_equal(c.drained, 20);
        wheel_done(wheel);
    }
}

/* A popped timer is the caller's: armed again, from then on anew. */
static void a_popped_timer_can_be_armed_again(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        tkw_wheel_arm(wheel, &timer, 7);
        for (unsigned i = 1; i < 300; i++) {
            assert_fires_on_time(wheel, &timer);
            tkw_wheel_arm(wheel, &timer, timer.deadline + i % 41);
        }
        assert_int_equal(tkw_wheel_read_stats(wheel).armed, 300);
        wheel_done(wheel);
    }
}

/* L5.  Zero, past and present are ready at once, behind what is ready. */
static void past_deadlines_are_ready_at_once_last_in_line(void **state)
{
    (void)state;
    static const tkw_tick deadlines[] = {1000, 5, 999, 0, 1000, 1};
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer due = {0}, timers[COUNT_OF(deadlines)] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        tkw_wheel_arm(wheel, &due, 1000);
        tkw_wheel_advance(wheel, 1000);
        for (size_t i = 0; i < COUNT_OF(deadlines); i++) {
            tkw_wheel_arm(wheel, &timers[i], deadlines[i]);
            assert_int_equal(tkw_wheel_next(wheel), 1000);
        }
        assert_pops(wheel, &due);
        for (size_t i = 0; i < COUNT_OF(deadlines); i++)
            assert_pops(wheel, &timers[i]);
        assert_null(tkw_wheel_pop(wheel));
        wheel_done(wheel);
    }
}

/* L5.  The last deadline fires; the one after it never does. */
static void the_largest_tick_never_fires(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        unsigned bits = bits_of_reach(&shapes[s]);
        struct tkw_timer last = {0}, never = {0}, late = {0};
        struct tkw_wheel *wheel =
            wheel_of(&shapes[s], TKW_NEVER - (TKW_NEVER >> (64 - bits)));
        tkw_wheel_arm(wheel, &never, TKW_NEVER);
        assert_int_equal(tkw_wheel_count(wheel), 1);
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
        assert_place(wheel, &never, 0, 0);

        tkw_wheel_arm(wheel, &last, TKW_NEVER - 1);
        assert_fires_on_time(wheel, &last);
        tkw_wheel_advance(wheel, TKW_NEVER);
        assert_null(tkw_wheel_pop(wheel));
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
        assert_int_equal(tkw_wheel_now(wheel), TKW_NEVER);

        tkw_wheel_arm(wheel, &late, TKW_NEVER);
        tkw_wheel_advance(wheel, TKW_NEVER);
        assert_null(tkw_wheel_pop(wheel));
        tkw_wheel_arm(wheel, &late, TKW_NEVER - 1);
        assert_pops(wheel, &late);
        assert_true(tkw_wheel_cancel(wheel, &never));
        wheel_done(wheel);
    }
}

static void time_can_start_anywhere(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (unsigned i = 0; i < 2000; i++) {
        const struct tkw_geometry *shape = &shapes[i % COUNT_OF(shapes)];
        tkw_tick start = TKW_NEVER - random_magnitude(&seed, 64);
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(shape, start);
        assert_int_equal(tkw_wheel_now(wheel), start);
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
        tkw_wheel_arm(wheel, &timer,
                      tkw_tick_after(start, random_magnitude(
                                                &seed, bits_of_reach(shape))));
        if (timer.deadline != TKW_NEVER)
            assert_fires_on_time(wheel, &timer);
        wheel_done(wheel);
    }
}

#ifdef NDEBUG
/* Time going back is a bug; without assertions it is ignored. */
static void time_going_back_is_ignored(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 1000);
    tkw_wheel_arm(wheel, &timer, 1010);
    tkw_wheel_advance(wheel, 5);
    assert_true(tkw_wheel_advance_some(wheel, 999, 1));
    assert_int_equal(tkw_wheel_now(wheel), 1000);
    tkw_wheel_advance(wheel, 1005); /* by now it knows which slot is next */
    assert_true(tkw_wheel_advance_some(wheel, 1004, 1));
    assert_int_equal(tkw_wheel_now(wheel), 1005);
    assert_sound(wheel);
    assert_fires_on_time(wheel, &timer);
    wheel_done(wheel);
}
#endif

/* A wheel that cannot be made leaves the memory as it was. */
static void memory_is_untouched_if_a_wheel_cannot_be_made(void **state)
{
    (void)state;
    static const struct tkw_geometry wrong = {.sizes = {1}};
    size_t bytes = tkw_wheel_bytes(NULL);
    char *memory = malloc(bytes + 1), *before = malloc(bytes + 1);
    assert_non_null(memory);
    assert_non_null(before);
    memset(memory, 0xa5, bytes + 1);
    memset(before, 0xa5, bytes + 1);
    struct tkw_wheel *wheel = (void *)memory, *odd = (void *)(memory + 1);

    assert_int_equal(tkw_wheel_init(wheel, bytes, &wrong, 0), -EINVAL);
    assert_int_equal(tkw_wheel_init(odd, bytes, NULL, 0), -EINVAL);
    assert_int_equal(tkw_wheel_init(wheel, bytes - 1, NULL, 0), -ENOSPC);
    assert_int_equal(tkw_wheel_init(wheel, 0, NULL, 0), -ENOSPC);
    assert_memory_equal(memory, before, bytes + 1);
    assert_int_equal(tkw_wheel_init(wheel, bytes, NULL, 0), 0);
    assert_sound(wheel);
    free(memory);
    free(before);
}

/* Whatever lay in the memory before, and not a byte past what was asked for. */
static void a_wheel_can_be_made_in_static_memory(void **state)
{
    (void)state;
    static union {
        struct tkw_wheel wheel;
        char bytes[TKW_WHEEL_DEFAULT_BYTES];
    } memory;
    struct tkw_timer timer = {0};

    assert_int_equal(TKW_WHEEL_DEFAULT_BYTES, tkw_wheel_bytes(NULL));
    memset(&memory, 0xff, sizeof(memory));
    assert_int_equal(tkw_wheel_init(&memory.wheel, sizeof(memory), NULL, 3), 0);
    assert_sound(&memory.wheel);
    tkw_wheel_arm(&memory.wheel, &timer, 1 << 30);
    assert_fires_on_time(&memory.wheel, &timer);
}

static void a_timer_takes_32_bytes(void **state)
{
    (void)state;
    if (sizeof(void *) == 8)
        assert_int_equal(sizeof(struct tkw_timer), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fires_on_its_deadline_at_every_distance),
        cmocka_unit_test(fires_on_its_deadline_from_everywhere),
        cmocka_unit_test(every_tick_fires_its_own_timer),
        cmocka_unit_test(a_jump_makes_all_that_is_due_ready),
        cmocka_unit_test(a_clock_that_stalls_loses_nothing),
        cmocka_unit_test(a_zeroed_timer_is_idle),
        cmocka_unit_test(cancel_tells_the_truth),
        cmocka_unit_test(moving_a_timer_is_not_arming_it_once_more),
        cmocka_unit_test(every_arming_has_one_outcome),
        cmocka_unit_test(a_popped_timer_can_be_armed_again),
        cmocka_unit_test(past_deadlines_are_ready_at_once_last_in_line),
        cmocka_unit_test(the_largest_tick_never_fires),
        cmocka_unit_test(time_can_start_anywhere),
#ifdef NDEBUG
        cmocka_unit_test(time_going_back_is_ignored),
#endif
        cmocka_unit_test(memory_is_untouched_if_a_wheel_cannot_be_made),
        cmocka_unit_test(a_wheel_can_be_made_in_static_memory),
        cmocka_unit_test(a_timer_takes_32_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
