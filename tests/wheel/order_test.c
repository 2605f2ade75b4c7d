/*
 * wheel/order_test.c - law L4: by deadline, equal deadlines in arming order,
 * whatever levels they fell through and however often an advance was stopped.
 */
#include "support/core.h"

/* Many on one tick, near and far, leave in the order they came. */
static void many_on_one_tick_leave_in_arming_order(void **state)
{
    (void)state;
    static struct tkw_timer timers[1000];
    static const tkw_tick deadlines[] = {1, 19, 20, 31, 445, 4096, 12345};
    for (size_t i = 0; i < COUNT_OF(shapes) * COUNT_OF(deadlines); i++) {
        tkw_tick deadline = deadlines[i % COUNT_OF(deadlines)];
        struct tkw_wheel *wheel = wheel_of(&shapes[i / COUNT_OF(deadlines)], 0);
        for (size_t t = 0; t < COUNT_OF(timers); t++)
            tkw_wheel_arm(wheel, &timers[t], deadline);
        tkw_wheel_advance(wheel, deadline);
        for (size_t t = 0; t < COUNT_OF(timers); t++)
            assert_pops(wheel, &timers[t]);
        wheel_done(wheel);
    }
}

/* Armed in any order, they leave sorted after one jump. */
static void one_jump_sorts_by_deadline(void **state)
{
    (void)state;
    static struct tkw_timer timers[700];
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        for (size_t i = 0; i < COUNT_OF(timers); i++) {
            size_t n = i * 401 % COUNT_OF(timers);
            tkw_wheel_arm(wheel, &timers[n], 1 + n * 3);
        }
        tkw_wheel_advance(wheel, 10000);
        for (size_t i = 0; i < COUNT_OF(timers); i++)
            assert_pops(wheel, &timers[i]);
        wheel_done(wheel);
    }
}

/* Two timers for one deadline, armed at each pair of times before it. */
static void every_pair_of_arming_times_keeps_its_order(void **state)
{
    (void)state;
    for (size_t s = 4; s < COUNT_OF(shapes); s++) {
        for (tkw_tick i = 0; i < 34 * 34; i++) {
            tkw_tick a = i / 34, b = i % 34, deadline = 34;
            struct tkw_timer first = {0}, second = {0};
            struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
            if (b < a)
                b = a;
            tkw_wheel_advance(wheel, a);
            tkw_wheel_arm(wheel, &first, deadline);
            tkw_wheel_advance(wheel, b);
            tkw_wheel_arm(wheel, &second, deadline);
            tkw_wheel_advance(wheel, deadline);
            assert_pops(wheel, &first);
            assert_pops(wheel, &second);
            free(wheel);
        }
    }
}

/* One more timer at each tick until the deadline: all pairs in one crowd. */
static void armed_at_every_tick_they_leave_in_arming_order(void **state)
{
    (void)state;
    static struct tkw_timer timers[1000];
    for (size_t i = 0; i < COUNT_OF(shapes) * 4; i++) {
        tkw_tick deadline = 967 + 11 * (i % 4);
        struct tkw_wheel *wheel = wheel_of(&shapes[i / 4], 0);
        for (tkw_tick now = 0; now < deadline; now++) {
            tkw_wheel_advance(wheel, now);
            tkw_wheel_arm(wheel, &timers[now], deadline);
        }
        assert_sound(wheel);
        tkw_wheel_advance(wheel, deadline);
        for (tkw_tick now = 0; now < deadline; now++)
            assert_pops(wheel, &timers[now]);
        wheel_done(wheel);
    }
}

/*
 * For each pair of levels: `from` holds the first timer when the second is
 * armed straight into `to`, the wheel having been turned to where it is so.
 */
static void each_pair_of_levels_keeps_the_order(void **state)
{
    (void)state;
    static const tkw_tick deadline = 8000 * 7 + 400 * 3 + 20 * 11 + 13;
    static const tkw_tick nows[] = {0, 56000, 57200, 57420};
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t from = 4 - i / 4, to = 4 - i % 4;
        if (to > from)
            continue;
        struct tkw_timer timers[3] = {0};
        struct tkw_wheel *wheel = wheel_of(&kafka, 0);
        tkw_wheel_advance(wheel, nows[4 - from]);
        tkw_wheel_arm(wheel, &timers[0], deadline);
        assert_int_equal(place_of(wheel, &timers[0]).level, from);
        tkw_wheel_arm(wheel, &timers[1], deadline);
        tkw_wheel_advance(wheel, nows[4 - to]);
        tkw_wheel_arm(wheel, &timers[2], deadline);
        assert_int_equal(place_of(wheel, &timers[2]).level, to);

        tkw_wheel_advance(wheel, deadline);
        for (size_t t = 0; t < COUNT_OF(timers); t++)
            assert_pops(wheel, &timers[t]);
        wheel_done(wheel);
    }
}

/* Arming again counts as arming: to the end of the line, at any level. */
static void arming_again_goes_to_the_end_of_the_line(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        for (tkw_tick at = 0; at < 445; at++) {
            struct tkw_timer timers[3] = {0};
            struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
            for (size_t i = 0; i < COUNT_OF(timers); i++)
                tkw_wheel_arm(wheel, &timers[i], 445);
            tkw_wheel_advance(wheel, at);
            tkw_wheel_arm(wheel, &timers[0], 445);
            tkw_wheel_advance(wheel, 445);
            assert_pops(wheel, &timers[1]);
            assert_pops(wheel, &timers[2]);
            assert_pops(wheel, &timers[0]);
            free(wheel);
        }
    }
}

static void a_ready_timer_armed_again_goes_to_the_end_of_the_line(void **state)
{
    (void)state;
    struct tkw_timer timers[3] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        tkw_wheel_arm(wheel, &timers[i], 5);
    tkw_wheel_advance(wheel, 7);
    tkw_wheel_arm(wheel, &timers[0], 5);
    tkw_wheel_arm(wheel, &timers[1], 1);
    assert_pops(wheel, &timers[2]);
    assert_pops(wheel, &timers[0]);
    assert_pops(wheel, &timers[1]);
    wheel_done(wheel);
}

/* What became ready in an earlier pass leaves first, whatever its deadline. */
static void ready_timers_leave_as_they_became_ready(void **state)
{
    (void)state;
    struct tkw_timer timers[4] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timers[0], 50);
    tkw_wheel_advance(wheel, 60);
    tkw_wheel_arm(wheel, &timers[1], 20);
    tkw_wheel_arm(wheel, &timers[3], 70);
    tkw_wheel_arm(wheel, &timers[2], 30);
    tkw_wheel_advance(wheel, 80);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        assert_pops(wheel, &timers[i]);
    wheel_done(wheel);
}

/*
 * One timer a touch: at each stop one more is armed for the same deadline, so
 * that some find the crowd half in one slot and half in another.
 */
static void armed_between_stops_they_leave_in_arming_order(void **state)
{
    (void)state;
    static struct tkw_timer timers[400];
    for (size_t i = 0; i < COUNT_OF(shapes) * 3; i++) {
        size_t budget = 1 + i % 3, armed = 0;
        struct tkw_wheel *wheel = wheel_of(&shapes[i / 3], 0);
        while (armed < 20)
            tkw_wheel_arm(wheel, &timers[armed++], 445);
        while (!tkw_wheel_advance_some(wheel, 445, budget)) {
            assert_sound(wheel);
            assert_null(tkw_wheel_pop(wheel));
            if (armed < COUNT_OF(timers))
                tkw_wheel_arm(wheel, &timers[armed++], 445);
        }
        for (size_t t = 0; t < armed; t++)
            assert_pops(wheel, &timers[t]);
        assert_null(tkw_wheel_pop(wheel));
        wheel_done(wheel);
    }
}

/* The slow and obvious twin: who is armed since when, who is ready in line. */
struct model {
    struct tkw_timer timers[24];
    uint64_t armed_as[24]; /* 0: idle; else the number of the arming */
    bool is_ready[24];
    size_t line[24];
    size_t line_length;
    uint64_t armings;
};

static void model_leave(struct model *model, size_t i)
{
    size_t kept = 0;
    for (size_t n = 0; n < model->line_length; n++) {
        if (model->line[n] != i)
            model->line[kept++] = model->line[n];
    }
    model->line_length = kept;
    model->is_ready[i] = false;
    model->armed_as[i] = 0;
}

static void model_make_ready(struct model *model, size_t i)
{
    model->is_ready[i] = true;
    model->line[model->line_length++] = i;
}

static void model_advance(struct model *model, tkw_tick now)
{
    for (;;) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < COUNT_OF(model->timers); i++) {
            const struct tkw_timer *t = &model->timers[i];
            if (model->armed_as[i] == 0 || model->is_ready[i] ||
                t->deadline > now)
                continue;
            if (best == SIZE_MAX ||
                t->deadline < model->timers[best].deadline ||
                (t->deadline == model->timers[best].deadline &&
                 model->armed_as[i] < model->armed_as[best]))
                best = i;
        }
        if (best == SIZE_MAX)
            return;
        model_make_ready(model, best);
    }
}

static void arm_both(struct tkw_wheel *wheel, struct model *model, size_t i,
                     tkw_tick deadline)
{
    tkw_wheel_arm(wheel, &model->timers[i], deadline);
    model_leave(model, i);
    model->armed_as[i] = ++model->armings;
    if (deadline <= tkw_wheel_now(wheel))
        model_make_ready(model, i);
}

static void step_both(struct tkw_wheel *wheel, struct model *model,
                      uint64_t *seed, tkw_tick *target)
{
    size_t i = (size_t)random_below(seed, COUNT_OF(model->timers));
    tkw_tick now = tkw_wheel_now(wheel);
    switch (random_below(seed, 8)) {
    case 0:
        assert_int_equal(tkw_wheel_cancel(wheel, &model->timers[i]),
                         model->armed_as[i] != 0);
        model_leave(model, i);
        break;
    case 1:
        if (now >= *target)
            *target = now + random_magnitude(seed, 8);
        tkw_wheel_advance_some(wheel, *target, (size_t)random_below(seed, 5));
        model_advance(model, tkw_wheel_now(wheel));
        break;
    case 2:
        if (model->line_length == 0) {
            assert_null(tkw_wheel_pop(wheel));
            break;
        }
        assert_pops(wheel, &model->timers[model->line[0]]);
        model_leave(model, model->line[0]);
        break;
    case 3: /* the tick that may be under way */
        arm_both(wheel, model, i, now + 1);
        break;
    default: /* few deadlines, so that many are equal */
        arm_both(wheel, model, i, (now / 16 + random_below(seed, 40)) * 16);
    }
}

static void random_calls_agree_with_a_sorted_line(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct model model = {0};
        tkw_tick target = 0;
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        for (unsigned step = 0; step < 20000; step++) {
            step_both(wheel, &model, &seed, &target);
            if (step % 16 == 0)
                assert_sound(wheel);
        }
        wheel_done(wheel);
    }
}

/*
 * The turns that order the lanes of a slot are 32 bits.  After four thousand
 * million armings into one slot they are used up: the order holds.  (Breaks if
 * turns wrap around instead of staying at the largest.)
 */
static void order_survives_the_end_of_turns(void **state)
{
    (void)state;
    struct tkw_timer timers[40] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);

    /* Level 2 first, so that they both fall and fire after the end. */
    tkw_wheel_arm(wheel, &timers[0], 30);
    assert_place(wheel, &timers[0], 2, 1);
    wheel->slot[tkw_wheel_dial(wheel)->levels[1].first + 1].direct.turn =
        UINT32_MAX - 6;
    for (size_t i = 1; i < 20; i++)
        tkw_wheel_arm(wheel, &timers[i], 30);
    assert_sound(wheel);
    for (size_t i = 2; i < 20; i += 3)
        tkw_wheel_arm(wheel, &timers[i], 400);
    tkw_wheel_advance(wheel, 20);

    wheel->slot[10].fallen.turn = UINT32_MAX - 3;
    wheel->slot[10].direct.turn = UINT32_MAX - 1;
    for (size_t i = 20; i < 40; i++)
        tkw_wheel_arm(wheel, &timers[i], 30);
    assert_sound(wheel);
    tkw_wheel_advance(wheel, 30);
    for (size_t i = 0; i < 40; i++) {
        if (i >= 20 || i % 3 != 2)
            assert_pops(wheel, &timers[i]);
    }
    wheel_done(wheel);
}

/*
 * Where the lane whose turn it is has run empty, what lies behind its head in
 * memory is no timer, even if it looks like one that has that very turn: half
 * of an address within the wheel.
 */
static void an_empty_lane_is_not_taken_for_a_timer(void **state)
{
    (void)state;
    struct tkw_timer timers[TKW_LANES] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    uint32_t half = (uint32_t)((uint64_t)(uintptr_t)wheel >> 32);
    size_t kept = (half + 2) % TKW_LANES;
    for (size_t i = 0; i < TKW_LANES; i++)
        tkw_wheel_arm(wheel, &timers[i], 445);
    tkw_wheel_advance(wheel, 400);
    assert_false(tkw_wheel_advance_some(wheel, 440, 0));
    for (size_t i = 0; i < TKW_LANES; i++) {
        if (i != kept)
            assert_true(tkw_wheel_cancel(wheel, &timers[i]));
    }
    wheel->moving.fallen.turn = half;
    assert_fires_on_time(wheel, &timers[kept]);
    wheel_done(wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_survives_the_end_of_turns),
        cmocka_unit_test(many_on_one_tick_leave_in_arming_order),
        cmocka_unit_test(one_jump_sorts_by_deadline),
        cmocka_unit_test(every_pair_of_arming_times_keeps_its_order),
        cmocka_unit_test(armed_at_every_tick_they_leave_in_arming_order),
        cmocka_unit_test(each_pair_of_levels_keeps_the_order),
        cmocka_unit_test(arming_again_goes_to_the_end_of_the_line),
        cmocka_unit_test(a_ready_timer_armed_again_goes_to_the_end_of_the_line),
        cmocka_unit_test(ready_timers_leave_as_they_became_ready),
        cmocka_unit_test(armed_between_stops_they_leave_in_arming_order),
        cmocka_unit_test(random_calls_agree_with_a_sorted_line),
        cmocka_unit_test(an_empty_lane_is_not_taken_for_a_timer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
