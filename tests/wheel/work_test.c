/*
 * wheel/work_test.c - what it costs: laws L6 (constant work, few falls), L7 (no
 * empty ticks), L8 (next is never late), the hashed wheel's rounds, and scouts.
 */
#include "support/core.h"

#include "wheel/queue.h"

/* L6.  With thousands pending, one call touches one timer. */
static void arm_cancel_and_postpone_move_nothing_else(void **state)
{
    (void)state;
    static struct tkw_timer crowd[5000];
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 3);
        for (size_t i = 0; i < COUNT_OF(crowd); i++)
            tkw_wheel_arm(wheel, &crowd[i], 4 + i * 7);
        tkw_wheel_arm(wheel, &timer, 1000);
        tkw_wheel_postpone(wheel, &timer, 1500);
        tkw_wheel_postpone(wheel, &timer, 900);
        tkw_wheel_arm(wheel, &timer, 2000);
        tkw_wheel_cancel(wheel, &timer);

        struct tkw_wheel_stats c = tkw_wheel_read_stats(wheel);
        assert_int_equal(c.falls + c.refiles + c.passes + c.visits, 0);
        wheel_done(wheel);
    }
}

/* L6.  From level n a timer falls at most n-1 times, stepping or jumping. */
static void a_timer_falls_at_most_once_per_level(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes) * 64; i++) {
        const struct tkw_geometry *shape = &shapes[i / 64];
        if (i % 64 >= bits_of_reach(shape))
            continue;
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(shape, 777);
        tkw_wheel_arm(wheel, &timer, 777 + (UINT64_C(1) << i % 64));
        uint32_t level = place_of(wheel, &timer).level;
        wakes_until_ready(wheel);
        assert_true(tkw_wheel_read_stats(wheel).falls <= level - 1);
        assert_pops(wheel, &timer);

        tkw_wheel_arm(wheel, &timer, tkw_tick_after(timer.deadline, 12345));
        tkw_wheel_advance(wheel, timer.deadline);
        assert_pops(wheel, &timer);
        wheel_done(wheel);
    }
}

/* L6.  {20}: 445 falls from level 3 to 2 to 1, two falls in all. */
static void falls_are_counted_one_by_one(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timer, 445);
    tkw_wheel_advance(wheel, 399);
    assert_int_equal(tkw_wheel_read_stats(wheel).falls, 0);
    tkw_wheel_advance(wheel, 400);
    assert_int_equal(tkw_wheel_read_stats(wheel).falls, 1);
    tkw_wheel_advance(wheel, 444);
    assert_int_equal(tkw_wheel_read_stats(wheel).falls, 2);
    tkw_wheel_advance(wheel, 445);
    assert_int_equal(tkw_wheel_read_stats(wheel).falls, 2);
    assert_int_equal(tkw_wheel_read_stats(wheel).visits, 3);
    assert_pops(wheel, &timer);
    wheel_done(wheel);
}

/* L7.  An empty wheel asks for no wake-up and visits no slot. */
static void an_empty_wheel_never_wakes(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
        for (unsigned bit = 0; bit < 64; bit++)
            tkw_wheel_advance(wheel, UINT64_C(1) << bit);
        assert_int_equal(tkw_wheel_read_stats(wheel).visits, 0);
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
        wheel_done(wheel);
    }
}

/* L7.  A million ticks skipped are as cheap as one. */
static void skipped_ticks_visit_no_slot(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timer, UINT64_C(1) << 62);
    tkw_tick first = tkw_wheel_next(wheel);
    for (tkw_tick now = 1; now < first; now *= 3)
        tkw_wheel_advance(wheel, now);
    tkw_wheel_advance(wheel, first - 1);
    assert_int_equal(tkw_wheel_read_stats(wheel).visits, 0);
    tkw_wheel_advance(wheel, first);
    assert_int_equal(tkw_wheel_read_stats(wheel).visits, 1);
    wheel_done(wheel);
}

/* L7.  One timer alone wakes at most once per level, whatever its distance. */
static void one_timer_alone_wakes_at_most_once_per_level(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (unsigned i = 0; i < 3000; i++) {
        const struct tkw_geometry *shape = &shapes[i % COUNT_OF(shapes)];
        if (shape->beyond == TKW_ROUNDS)
            continue;
        tkw_tick start = random_magnitude(&seed, 63);
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(shape, start);
        tkw_wheel_arm(wheel, &timer, start + 1 + random_magnitude(&seed, 62));
        uint32_t level = place_of(wheel, &timer).level;
        size_t wakes = wakes_until_ready(wheel);
        assert_in_range(wakes, 1, level);
        assert_int_equal(tkw_wheel_read_stats(wheel).visits, wakes);
        assert_int_equal(tkw_wheel_now(wheel), timer.deadline);
        assert_pops(wheel, &timer);
        wheel_done(wheel);
    }
}

/* L7.  A slot whose timers were all cancelled is as if never used. */
static void a_cancelled_slot_wakes_nobody(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes) * 64; i++) {
        struct tkw_timer timers[3] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[i / 64], 5);
        tkw_tick deadline = 5 + (UINT64_C(1) << i % 64);
        for (size_t t = 0; t < COUNT_OF(timers); t++)
            tkw_wheel_arm(wheel, &timers[t], deadline);
        for (size_t t = 0; t < COUNT_OF(timers); t++) {
            assert_int_not_equal(tkw_wheel_next(wheel), TKW_NEVER);
            assert_true(tkw_wheel_cancel(wheel, &timers[t]));
        }
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
        tkw_wheel_advance(wheel, deadline);
        assert_int_equal(tkw_wheel_read_stats(wheel).visits, 0);
        wheel_done(wheel);
    }
}

/* L7.  Nor does the slot that a timer was moved away from. */
static void a_slot_armed_away_from_wakes_nobody(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        tkw_wheel_arm(wheel, &timer, 1);
        assert_int_equal(tkw_wheel_next(wheel), 1);
        tkw_wheel_arm(wheel, &timer, TKW_NEVER);
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
        wheel_done(wheel);
    }
}

/* The earliest deadline that is not ready yet, the slow way. */
static tkw_tick earliest(const struct tkw_timer *timers, size_t count)
{
    tkw_tick min = TKW_NEVER;
    for (size_t i = 0; i < count; i++) {
        if (tkw_timer_is_armed(&timers[i]) && timers[i].deadline < min)
            min = timers[i].deadline;
    }
    return min;
}

static void change_anything(struct tkw_wheel *wheel, struct tkw_timer *timer,
                            uint64_t *seed, unsigned bits)
{
    tkw_tick deadline =
        tkw_tick_after(tkw_wheel_now(wheel), random_magnitude(seed, bits));
    switch (random_below(seed, 4)) {
    case 0:
        tkw_wheel_cancel(wheel, timer);
        break;
    case 1:
        tkw_wheel_postpone(wheel, timer, deadline);
        break;
    default:
        tkw_wheel_arm(wheel, timer, deadline);
    }
}

/* L8.  Against a scan of all deadlines, whatever is called. */
static void next_is_never_later_than_the_earliest_deadline(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timers[12] = {0};
        unsigned bits = shapes[s].beyond == TKW_ROUNDS ? 9 : 40;
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        for (unsigned step = 0; step < 3000; step++) {
            struct tkw_timer *timer =
                &timers[random_below(&seed, COUNT_OF(timers))];
            change_anything(wheel, timer, &seed, bits);
            while (tkw_wheel_pop(wheel) != NULL)
                continue;

            tkw_tick next = tkw_wheel_next(wheel);
            tkw_tick first = earliest(timers, COUNT_OF(timers));
            assert_true(next <= first);
            assert_true(next > tkw_wheel_now(wheel));
            assert_int_equal(next == TKW_NEVER, first == TKW_NEVER);
            if (random_below(&seed, 3) == 0 && next != TKW_NEVER)
                tkw_wheel_advance(wheel, next);
            assert_sound(wheel);
        }
        wheel_done(wheel);
    }
}

/* L8.  While something is ready, the time to advance is now. */
static void next_is_now_while_anything_is_ready(void **state)
{
    (void)state;
    struct tkw_timer timers[2] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timers[0], 30);
    tkw_wheel_arm(wheel, &timers[1], 3000);
    tkw_wheel_advance(wheel, 100);
    assert_int_equal(tkw_wheel_next(wheel), 100);
    assert_pops(wheel, &timers[0]);
    assert_int_equal(tkw_wheel_next(wheel), 2800);
    wheel_done(wheel);
}

/* Rounds: the hand passes over a timer once a turn until its turn has come. */
static void a_hand_passes_over_rounds_to_come(void **state)
{
    (void)state;
    static const struct tkw_geometry hashed = {.sizes = {32},
                                               .beyond = TKW_ROUNDS};
    struct tkw_timer far_away = {0}, near_by = {0};
    struct tkw_wheel *wheel = wheel_of(&hashed, 0);
    tkw_wheel_arm(wheel, &far_away, 100);
    tkw_wheel_arm(wheel, &near_by, 4);
    assert_place(wheel, &far_away, 1, 4);
    assert_place(wheel, &near_by, 1, 4);

    assert_int_equal(wakes_until_ready(wheel), 1);
    assert_pops(wheel, &near_by);
    assert_int_equal(tkw_wheel_read_stats(wheel).passes, 1);
    assert_int_equal(wakes_until_ready(wheel), 3); /* 36, 68, 100 */
    assert_int_equal(tkw_wheel_now(wheel), 100);
    assert_int_equal(tkw_wheel_read_stats(wheel).passes, 3);
    assert_int_equal(tkw_wheel_read_stats(wheel).falls, 0);
    assert_pops(wheel, &far_away);
    wheel_done(wheel);
}

/* Rounds: with two levels the upper one takes what is beyond, then it falls. */
static void the_last_of_two_levels_keeps_the_rounds(void **state)
{
    (void)state;
    static const struct tkw_geometry two = {.sizes = {4, 6},
                                            .beyond = TKW_ROUNDS};
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&two, 0);
    tkw_wheel_arm(wheel, &timer, 59); /* 24 a turn: slot 2 at 8, 32 and 56 */
    assert_place(wheel, &timer, 2, 2);
    tkw_wheel_advance(wheel, 55);
    assert_place(wheel, &timer, 2, 2);
    assert_int_equal(tkw_wheel_read_stats(wheel).passes, 2);
    tkw_wheel_advance(wheel, 56);
    assert_place(wheel, &timer, 1, 3);
    assert_int_equal(tkw_wheel_read_stats(wheel).falls, 1);
    assert_fires_on_time(wheel, &timer);
    wheel_done(wheel);
}

/*
 * Steps over empty ticks rely on what the last look found.  A nearer timer has
 * to make it look again.  (Breaks if filing does not forget `wake`.)
 */
static void a_nearer_timer_is_found_after_a_search_for_a_far_one(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer far = {0}, near = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        tkw_wheel_arm(wheel, &far, 1000);
        tkw_wheel_advance(wheel, 1);
        tkw_wheel_arm(wheel, &near, 3);
        assert_fires_on_time(wheel, &near);
        wheel_done(wheel);
    }
}

/*
 * Of a lane of n timers, when k have left: the scout is on the k-th before the
 * last, or at the head once they have met, and never on one that has left.
 */
static void scouts_come_to_meet_the_first_and_stop(void **state)
{
    (void)state;
    static struct tkw_timer timers[10 * TKW_LANES];
    for (size_t count = 0; count <= COUNT_OF(timers); count++) {
        struct tkw_queue joined, queue;
        struct scouts scouts;
        queue_init(&joined);
        queue_init(&queue);
        for (size_t i = 0; i < count; i++)
            queue_join(&joined, &timers[i]);
        queue_take(&queue, &joined);

        scouts_begin(&scouts, &queue);
        for (size_t i = 0; i < count; i++) {
            size_t lane = i % TKW_LANES, k = i / TKW_LANES + 1;
            size_t n = (count - lane + TKW_LANES - 1) / TKW_LANES;
            assert_ptr_equal(queue_first(&queue), &timers[i]);
            queue_leave(&queue, &timers[i], &scouts);
            assert_ptr_equal(
                scouts.lanes[lane],
                2 * k >= n ? &queue.lanes[lane]
                           : &timers[lane + (n - 1 - k) * TKW_LANES].link);
        }
        assert_null(queue_first(&queue));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scouts_come_to_meet_the_first_and_stop),
        cmocka_unit_test(a_nearer_timer_is_found_after_a_search_for_a_far_one),
        cmocka_unit_test(arm_cancel_and_postpone_move_nothing_else),
        cmocka_unit_test(a_timer_falls_at_most_once_per_level),
        cmocka_unit_test(falls_are_counted_one_by_one),
        cmocka_unit_test(an_empty_wheel_never_wakes),
        cmocka_unit_test(skipped_ticks_visit_no_slot),
        cmocka_unit_test(one_timer_alone_wakes_at_most_once_per_level),
        cmocka_unit_test(a_cancelled_slot_wakes_nobody),
        cmocka_unit_test(a_slot_armed_away_from_wakes_nobody),
        cmocka_unit_test(next_is_never_later_than_the_earliest_deadline),
        cmocka_unit_test(next_is_now_while_anything_is_ready),
        cmocka_unit_test(a_hand_passes_over_rounds_to_come),
        cmocka_unit_test(the_last_of_two_levels_keeps_the_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
