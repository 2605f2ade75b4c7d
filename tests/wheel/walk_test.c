/*
 * wheel/walk_test.c - looking at all armed timers, and handing them back.
 */
#include "support/core.h"

/* Distances of all magnitudes that a wheel of this shape is tried with. */
static size_t arm_at_all_distances(struct tkw_wheel *wheel,
                                   struct tkw_timer timers[64])
{
    for (unsigned i = 0; i < 64; i++)
        tkw_wheel_arm(wheel, &timers[i],
                      tkw_wheel_now(wheel) + (UINT64_C(1) << i));
    return 64;
}

/* Each armed timer once, told to be where the dial would file it. */
static void a_walk_meets_each_timer_once_in_its_place(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timers[64] = {0};
        unsigned met[64] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 4321);
        size_t count = arm_at_all_distances(wheel, timers);
        struct tkw_wheel_cursor walk = {0};
        for (struct tkw_timer *t; (t = tkw_wheel_walk(wheel, &walk)) != NULL;) {
            struct tkw_spot spot =
                tkw_dial_where(tkw_wheel_dial(wheel), t->deadline);
            assert_int_equal(walk.level, spot.level);
            assert_int_equal(walk.slot, spot.slot);
            met[t - timers]++;
            count--;
        }
        assert_int_equal(count, 0);
        for (size_t i = 0; i < 64; i++)
            assert_int_equal(met[i], 1);
        wheel_done(wheel);
    }
}

static void a_walk_of_an_empty_wheel_is_short(void **state)
{
    (void)state;
    struct tkw_wheel_cursor walk = {0};
    struct tkw_wheel *wheel = wheel_of(NULL, 0);
    assert_null(tkw_wheel_walk(wheel, &walk));
    assert_null(tkw_wheel_walk(wheel, &walk));
    wheel_done(wheel);
}

/* Ready, for ever pending, or between two slots: level 0. */
static void a_walk_meets_what_is_in_no_slot_on_level_0(void **state)
{
    (void)state;
    struct tkw_timer ready = {0}, never = {0}, late = {0}, crowd[5] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(crowd); i++)
        tkw_wheel_arm(wheel, &crowd[i], i % 2 == 0 ? 400 : 445);
    tkw_wheel_arm(wheel, &ready, 0);
    tkw_wheel_arm(wheel, &never, TKW_NEVER);
    assert_false(tkw_wheel_advance_some(wheel, 400, 2));
    tkw_wheel_arm(wheel, &late, 400);

    assert_int_equal(walked_count(wheel), 8);
    assert_place(wheel, &ready, 0, 0);
    assert_place(wheel, &never, 0, 0);
    assert_place(wheel, &late, 0, 0);
    assert_place(wheel, &crowd[0], 0, 0); /* due */
    assert_place(wheel, &crowd[1], 2, 2); /* fallen */
    assert_place(wheel, &crowd[4], 0, 0); /* taken, to be looked at */
    wheel_done(wheel);
}

/* The timer in hand may be cancelled; the walk goes on with the next. */
static void the_timer_in_hand_may_be_cancelled(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes) * 3; i++) {
        struct tkw_timer timers[64] = {0}, twins[64] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[i / 3], 99);
        arm_at_all_distances(wheel, timers);
        arm_at_all_distances(wheel, twins);
        tkw_wheel_arm(wheel, &timers[0], 0);
        tkw_wheel_arm(wheel, &timers[1], TKW_NEVER);

        struct tkw_wheel_cursor walk = {0};
        size_t met = 0, cancelled = 0;
        for (struct tkw_timer *t; (t = tkw_wheel_walk(wheel, &walk)) != NULL;) {
            if (met++ % (1 + i % 3) != 0)
                continue;
            assert_true(tkw_wheel_cancel(wheel, t));
            cancelled++;
        }
        assert_int_equal(met, 128);
        assert_int_equal(tkw_wheel_count(wheel), 128 - cancelled);
        wheel_done(wheel);
    }
}

/* L3.  Whatever is armed comes back idle, once, and is counted. */
static void draining_hands_back_every_timer_once(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timers[64] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 99);
        arm_at_all_distances(wheel, timers);
        tkw_wheel_arm(wheel, &timers[5], TKW_NEVER);
        tkw_wheel_advance(wheel, 103); /* three are ready */
        for (size_t left = 64; left > 0; left--) {
            assert_int_equal(tkw_wheel_count(wheel), left);
            struct tkw_timer *timer = tkw_wheel_drain(wheel);
            assert_non_null(timer);
            assert_false(tkw_timer_is_armed(timer));
            assert_false(tkw_wheel_cancel(wheel, timer));
            assert_sound(wheel);
        }
        assert_null(tkw_wheel_drain(wheel));
        assert_int_equal(tkw_wheel_read_stats(wheel).drained, 64);
        assert_int_equal(tkw_wheel_read_stats(wheel).cancelled, 0);
        assert_int_equal(tkw_wheel_next(wheel), TKW_NEVER);
        wheel_done(wheel);
    }
}

/* Drained, the wheel is as good as new. */
static void a_drained_wheel_can_be_used_again(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timers[64] = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 99);
        for (unsigned again = 0; again < 3; again++) {
            arm_at_all_distances(wheel, timers);
            while (tkw_wheel_drain(wheel) != NULL)
                continue;
            tkw_wheel_arm(wheel, &timers[0], tkw_wheel_now(wheel) + 777);
            assert_fires_on_time(wheel, &timers[0]);
        }
        wheel_done(wheel);
    }
}

/* The container is found from a member that is not its first. */
static void a_timer_leads_to_what_it_is_embedded_in(void **state)
{
    (void)state;
    struct connection {
        int fd;
        struct tkw_timer idle;
    } connection = {.fd = 7};
    struct tkw_wheel *wheel = wheel_of(NULL, 0);
    tkw_wheel_arm(wheel, &connection.idle, 30);
    tkw_wheel_advance(wheel, 30);
    struct tkw_timer *timer = tkw_wheel_pop(wheel);
    assert_ptr_equal(TKW_CONTAINER(timer, struct connection, idle),
                     &connection);
    wheel_done(wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_meets_each_timer_once_in_its_place),
        cmocka_unit_test(a_walk_of_an_empty_wheel_is_short),
        cmocka_unit_test(a_walk_meets_what_is_in_no_slot_on_level_0),
        cmocka_unit_test(the_timer_in_hand_may_be_cancelled),
        cmocka_unit_test(draining_hands_back_every_timer_once),
        cmocka_unit_test(a_drained_wheel_can_be_used_again),
        cmocka_unit_test(a_timer_leads_to_what_it_is_embedded_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
