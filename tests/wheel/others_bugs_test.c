/*
 * wheel/others_bugs_test.c - bugs that other timer wheels shipped, each
 * recreated so that it would show here.  The comment names whose it was, and
 * the change to our code that brings it back and turns the test red.
 */
#include "support/core.h"

static const struct tkw_geometry hashed = {.sizes = {32}, .beyond = TKW_ROUNDS};

/*
 * Linux 2020 (timer: prevent base->clk from moving backward).
 * Planted: shelve_by_deadline() sets wheel->now to the deadline of a timer that
 * is due.
 */
static void arming_an_expired_timer_does_not_move_the_clock_back(void **state)
{
    (void)state;
    struct tkw_timer past = {0}, other = {0}, fresh = {0};
    struct tkw_wheel *wheel = wheel_of(NULL, 1000);
    tkw_wheel_arm(wheel, &other, 1010);
    tkw_wheel_arm(wheel, &past, 5);
    assert_int_equal(tkw_wheel_now(wheel), 1000);
    assert_int_equal(tkw_wheel_next(wheel), 1000);
    assert_pops(wheel, &past);
    tkw_wheel_arm(wheel, &fresh, 900); /* past as well, though after 5 */
    assert_pops(wheel, &fresh);
    assert_sound(wheel);
    assert_fires_on_time(wheel, &other);
    wheel_done(wheel);
}

/*
 * Linux 2020 (timer: fix wheel index calculation on last level).
 * Planted: dial_level() takes the deadline for the distance.
 */
static void a_late_hour_does_not_make_a_short_delay_long(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], UINT64_C(1) << 62);
        tkw_wheel_arm(wheel, &timer, (UINT64_C(1) << 62) + 1);
        assert_int_equal(place_of(wheel, &timer).level, 1);
        assert_fires_on_time(wheel, &timer);
        wheel_done(wheel);
    }
}

/*
 * tokio 8334: after twelve days the nearer of two was hidden by one whose slot
 * has a lower number, being a turn ahead.
 * Planted: level_next() looks from slot 0 instead of from the hand.
 */
static void a_slot_past_the_turn_does_not_hide_a_nearer_one(void **state)
{
    (void)state;
    tkw_tick tick = 1;
    for (unsigned level = 1; level < 14; level++, tick *= 20) {
        struct tkw_timer near_by = {0}, wrapped = {0};
        struct tkw_wheel *wheel = wheel_of(&kafka, 15 * tick);
        tkw_wheel_arm(wheel, &wrapped, 21 * tick);
        tkw_wheel_arm(wheel, &near_by, 17 * tick);
        assert_place(wheel, &wrapped, level, 1);
        assert_place(wheel, &near_by, level, 17);
        assert_int_equal(tkw_wheel_next(wheel), 17 * tick);
        assert_fires_on_time(wheel, &near_by);
        assert_fires_on_time(wheel, &wrapped);
        wheel_done(wheel);
    }
}

/*
 * tokio 2473, 3270: removing a timer due at the current tick disturbed slot 0.
 * Planted: unlink_timer() takes HOME_NONE for slot 0 of level 1.
 */
static void
removing_a_timer_of_the_current_tick_leaves_slot_0_alone(void **state)
{
    (void)state;
    for (tkw_tick now = 21; now < 40; now++) {
        struct tkw_timer current = {0}, other = {0};
        struct tkw_wheel *wheel = wheel_of(&kafka, now);
        tkw_wheel_arm(wheel, &other, 40);
        assert_place(wheel, &other, 1, 0);
        tkw_wheel_arm(wheel, &current, now);
        assert_true(tkw_wheel_cancel(wheel, &current));
        assert_false(tkw_wheel_cancel(wheel, &current));
        assert_int_equal(tkw_wheel_next(wheel), 40);
        assert_fires_on_time(wheel, &other);

        tkw_wheel_arm(wheel, &current, 40); /* the hand is on slot 0 */
        assert_true(tkw_wheel_cancel(wheel, &current));
        assert_null(tkw_wheel_pop(wheel));
        wheel_done(wheel);
    }
}

/*
 * Netty 1959, 7760: now + delay overflowed, to fire at once or never.
 * Planted: tkw_tick_after() returns the plain sum.
 */
static void an_endless_delay_does_not_fire_at_once(void **state)
{
    (void)state;
    static const tkw_tick delays[] = {UINT64_MAX, UINT64_MAX - 1,
                                      UINT64_MAX - 999};
    for (size_t i = 0; i < COUNT_OF(delays); i++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(NULL, 1000);
        tkw_wheel_arm(wheel, &timer, tkw_tick_after(1000, delays[i]));
        assert_null(tkw_wheel_pop(wheel));
        tkw_wheel_advance(wheel, UINT64_C(1) << 40);
        assert_null(tkw_wheel_pop(wheel));
        assert_int_equal(tkw_wheel_count(wheel), 1);
        assert_true(tkw_wheel_cancel(wheel, &timer));
        wheel_done(wheel);
    }
}

/*
 * Netty 14959: cancelling what was expiring took it off the count twice.
 * Planted: tkw_wheel_cancel() counts a timer outside slots (HOME_NONE) twice.
 */
static void cancelling_what_is_expiring_is_counted_once(void **state)
{
    (void)state;
    struct tkw_timer timers[3] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        tkw_wheel_arm(wheel, &timers[i], 5);
    tkw_wheel_advance(wheel, 5);
    assert_int_equal(tkw_wheel_count(wheel), 3);
    assert_true(tkw_wheel_cancel(wheel, &timers[1]));
    assert_false(tkw_wheel_cancel(wheel, &timers[1]));
    assert_int_equal(tkw_wheel_count(wheel), 2);
    assert_pops(wheel, &timers[0]);
    assert_pops(wheel, &timers[2]);
    assert_null(tkw_wheel_pop(wheel));
    assert_int_equal(tkw_wheel_count(wheel), 0);
    wheel_done(wheel);
}

/*
 * msquic 3206: moved to a later time, the old wake-up stayed.
 * Planted: unlink_timer() vacates no slot.
 */
static void arming_later_moves_the_wake_up(void **state)
{
    (void)state;
    struct tkw_timer timer = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timer, 5);
    assert_int_equal(tkw_wheel_next(wheel), 5);
    tkw_wheel_arm(wheel, &timer, 5000);
    assert_int_equal(tkw_wheel_next(wheel), 4800);
    tkw_wheel_arm(wheel, &timer, 300);
    assert_int_equal(tkw_wheel_next(wheel), 300);
    wheel_done(wheel);
}

/*
 * sozu 1369: rounded to the nearest tick, a limit of 60 s that began at 0.099 s
 * was over after 59.901 s.
 * Planted: tkw_tick_deadline() rounds to nearest.
 */
static void sixty_seconds_are_not_over_after_59_901_ms(void **state)
{
    (void)state;
    for (uint64_t begin_ms = 0; begin_ms < 1000; begin_ms++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(NULL, tkw_tick_now(begin_ms, 1000));
        tkw_wheel_arm(wheel, &timer, tkw_tick_deadline(begin_ms + 60000, 1000));
        tkw_wheel_advance(wheel, tkw_tick_now(begin_ms + 59999, 1000));
        assert_null(tkw_wheel_pop(wheel));
        tkw_wheel_advance(wheel, tkw_tick_now(begin_ms + 60999, 1000));
        assert_pops(wheel, &timer);
        wheel_done(wheel);
    }
}

/*
 * theine 64: a deadline in the upper level's current slot was filed there, for
 * the hand to come back to after a whole turn.
 * Planted: dial_level() begins its search one level higher.
 */
static void nothing_waits_a_turn_in_the_current_slot(void **state)
{
    (void)state;
    for (tkw_tick tick = 20; tick < 1000000; tick *= 20) {
        for (tkw_tick ahead = 1; ahead < tick; ahead += 1 + ahead / 2) {
            struct tkw_timer timer = {0};
            struct tkw_wheel *wheel = wheel_of(&kafka, 7 * tick);
            tkw_wheel_arm(wheel, &timer, 7 * tick + ahead);
            assert_int_equal(wakes_until_ready(wheel) <= 5, true);
            assert_int_equal(tkw_wheel_now(wheel), 7 * tick + ahead);
            assert_pops(wheel, &timer);
            wheel_done(wheel);
        }
    }
}

/*
 * ferris 1: long timers came early, or at half their time.
 * Planted: level_slot() divides the lower 32 bits of the number only.
 */
static void long_timers_are_neither_early_nor_half_off(void **state)
{
    (void)state;
    /* From just before to just after 2^32 slots of each level ... */
    for (tkw_tick tick = 1; tick < UINT32_MAX / 20; tick *= 20) {
        tkw_tick start = (tick << 32) - 3 * tick;
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&kafka, start);
        tkw_wheel_arm(wheel, &timer, start + 10 * tick);
        assert_int_equal(tkw_wheel_next(wheel), start + 10 * tick);
        assert_fires_on_time(wheel, &timer);
        wheel_done(wheel);
    }
    /* ... and as far as time goes. */
    for (unsigned bit = 30; bit < 62; bit++) {
        tkw_tick delay = UINT64_C(3) << bit;
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(NULL, UINT32_MAX);
        tkw_wheel_arm(wheel, &timer, UINT32_MAX + delay);
        tkw_wheel_advance(wheel, UINT32_MAX + delay / 2);
        assert_null(tkw_wheel_pop(wheel));
        assert_fires_on_time(wheel, &timer);
        wheel_done(wheel);
    }
}

/*
 * tgstation 38994: what was put back into the bucket being drained was drained
 * again, for ever.
 * Planted: file() appends to `moving` what stays on the level being emptied.
 */
static void what_stays_in_its_slot_is_passed_over_once(void **state)
{
    (void)state;
    struct tkw_timer timers[10] = {0};
    struct tkw_wheel *wheel = wheel_of(&hashed, 0);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        tkw_wheel_arm(wheel, &timers[i], 4 + 32 * i);
    assert_true(tkw_wheel_advance_some(wheel, 4, 10));
    assert_int_equal(tkw_wheel_read_stats(wheel).passes, 9);
    assert_pops(wheel, &timers[0]);

    /* Nor does it loop if the user does the same from the pop loop. */
    tkw_wheel_arm(wheel, &timers[0], 4 + 32);
    assert_null(tkw_wheel_pop(wheel));
    wheel_done(wheel);
}

/*
 * agrona 346: an iteration told one timer's id with another's deadline.
 * Planted: tkw_wheel_walk() goes on to the next link before it takes the timer.
 */
static void a_walk_tells_each_timer_with_its_own_place(void **state)
{
    (void)state;
    struct tkw_timer timers[40] = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(timers); i++)
        tkw_wheel_arm(wheel, &timers[i], 1 + i * 11);
    struct tkw_wheel_cursor walk = {0};
    size_t met = 0;
    for (struct tkw_timer *t; (t = tkw_wheel_walk(wheel, &walk)) != NULL;) {
        assert_true(t >= timers && t < timers + COUNT_OF(timers));
        assert_int_equal(t->deadline, 1 + (size_t)(t - timers) * 11);
        struct tkw_spot spot =
            tkw_dial_where(tkw_wheel_dial(wheel), t->deadline);
        assert_int_equal(walk.level, spot.level);
        assert_int_equal(walk.slot, spot.slot);
        met++;
    }
    assert_int_equal(met, COUNT_OF(timers));
    wheel_done(wheel);
}

/*
 * synapse 17850: a bucket queued for two times was emptied at the first.
 * Planted: file_or_expire() takes whatever leaves level 1 to be due.
 */
static void a_slot_used_for_two_times_fires_each_at_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct tkw_timer sooner = {0}, later = {0};
        struct tkw_wheel *wheel = wheel_of(i == 0 ? &kafka : &hashed, 0);
        tkw_wheel_arm(wheel, &sooner, 5);
        tkw_wheel_arm(wheel, &later, 5);
        assert_true(tkw_wheel_postpone(wheel, &later, i == 0 ? 25 : 37));
        assert_fires_on_time(wheel, &sooner);
        assert_null(tkw_wheel_pop(wheel));
        assert_fires_on_time(wheel, &later);
        wheel_done(wheel);
    }
}

/*
 * hertzbeat 4201: arming again overwrote the handle and left an orphan behind.
 * Planted: tkw_wheel_arm() does not unlink a timer that is armed.
 */
static void arming_again_leaves_no_orphan_behind(void **state)
{
    (void)state;
    struct tkw_timer timer = {0}, other = {0};
    struct tkw_wheel *wheel = wheel_of(&kafka, 0);
    tkw_wheel_arm(wheel, &timer, 5);
    tkw_wheel_arm(wheel, &timer, 9);
    assert_int_equal(tkw_wheel_next(wheel), 9);
    tkw_wheel_arm(wheel, &other, 9);
    tkw_wheel_arm(wheel, &timer, 7);
    assert_int_equal(tkw_wheel_count(wheel), 2);
    assert_place(wheel, &timer, 1, 7);
    tkw_wheel_advance(wheel, 100);
    assert_pops(wheel, &timer);
    assert_pops(wheel, &other);
    assert_null(tkw_wheel_pop(wheel));
    wheel_done(wheel);
}

/*
 * akka 1016: a delay of exactly one period of the wheel, or several.
 * Planted: level_next() takes the slot of the hand for now, not for a turn on.
 */
static void a_delay_of_whole_turns_is_exact(void **state)
{
    (void)state;
    for (tkw_tick turns = 1; turns <= 40; turns++) {
        for (tkw_tick now = 0; now < 64; now += 7) {
            struct tkw_timer timer = {0};
            struct tkw_wheel *wheel = wheel_of(&hashed, now);
            tkw_wheel_arm(wheel, &timer, now + 32 * turns);
            assert_int_equal(tkw_wheel_next(wheel), now + 32);
            assert_fires_on_time(wheel, &timer);
            wheel_done(wheel);
        }
    }
}

/*
 * The same with levels, where the period of one is the tick of the next.
 * Planted: dial_level() takes a distance of `size` slots for near enough.
 */
static void a_delay_of_a_whole_level_goes_to_the_level_above(void **state)
{
    (void)state;
    for (tkw_tick delay = 20; delay < 4000000; delay *= 20) {
        for (tkw_tick now = 0; now < 1000; now += 37) {
            struct tkw_timer timer = {0};
            struct tkw_wheel *wheel = wheel_of(&kafka, now);
            tkw_wheel_arm(wheel, &timer, now + delay);
            assert_sound(wheel);
            assert_fires_on_time(wheel, &timer);
            wheel_done(wheel);
        }
    }
}

/*
 * RussellLuo 31: a Stop while the bucket was being flushed was lost.
 * Planted: tkw_wheel_cancel() only counts while wheel->is_mid_tick.
 */
static void cancelling_what_is_half_moved_is_not_lost(void **state)
{
    (void)state;
    for (size_t stopped = 0; stopped < 6; stopped++) {
        struct tkw_timer timers[6] = {0};
        struct tkw_wheel *wheel = wheel_of(&kafka, 0);
        for (size_t i = 0; i < COUNT_OF(timers); i++)
            tkw_wheel_arm(wheel, &timers[i], i < 3 ? 400 : 445);
        assert_false(tkw_wheel_advance_some(wheel, 400, 2));
        assert_true(tkw_wheel_cancel(wheel, &timers[stopped]));
        assert_false(tkw_timer_is_armed(&timers[stopped]));
        tkw_wheel_advance(wheel, 1000);
        for (size_t i = 0; i < COUNT_OF(timers); i++) {
            if (i != stopped)
                assert_pops(wheel, &timers[i]);
        }
        assert_null(tkw_wheel_pop(wheel));
        wheel_done(wheel);
    }
}

/*
 * c_timer_wheel: due at 4, the clock went from 3 to 6, and it fired at 14.
 * Planted: tkw_wheel_advance_some() begins a tick only if it is `now`.
 */
static void a_skipped_tick_does_not_skip_its_timers(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_timer timer = {0};
        struct tkw_wheel *wheel = wheel_of(&shapes[s], 0);
        tkw_wheel_advance(wheel, 3);
        tkw_wheel_arm(wheel, &timer, 4);
        tkw_wheel_advance(wheel, 6);
        assert_pops(wheel, &timer);
        wheel_done(wheel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arming_an_expired_timer_does_not_move_the_clock_back),
        cmocka_unit_test(a_late_hour_does_not_make_a_short_delay_long),
        cmocka_unit_test(a_slot_past_the_turn_does_not_hide_a_nearer_one),
        cmocka_unit_test(
            removing_a_timer_of_the_current_tick_leaves_slot_0_alone),
        cmocka_unit_test(an_endless_delay_does_not_fire_at_once),
        cmocka_unit_test(cancelling_what_is_expiring_is_counted_once),
        cmocka_unit_test(arming_later_moves_the_wake_up),
        cmocka_unit_test(sixty_seconds_are_not_over_after_59_901_ms),
        cmocka_unit_test(nothing_waits_a_turn_in_the_current_slot),
        cmocka_unit_test(long_timers_are_neither_early_nor_half_off),
        cmocka_unit_test(what_stays_in_its_slot_is_passed_over_once),
        cmocka_unit_test(a_walk_tells_each_timer_with_its_own_place),
        cmocka_unit_test(a_slot_used_for_two_times_fires_each_at_its_own),
        cmocka_unit_test(arming_again_leaves_no_orphan_behind),
        cmocka_unit_test(a_delay_of_whole_turns_is_exact),
        cmocka_unit_test(a_delay_of_a_whole_level_goes_to_the_level_above),
        cmocka_unit_test(cancelling_what_is_half_moved_is_not_lost),
        cmocka_unit_test(a_skipped_tick_does_not_skip_its_timers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
