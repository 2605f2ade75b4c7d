/*
 * pool/others_bugs_test.c - bugs that other timers shipped, each recreated so
 * that it would show in a pool.  The comment names whose it was and what change
 * to a pool would bring it back.
 */
#include "support/pool.h"

#include <errno.h>

static const struct tkw_geometry hashed = {.sizes = {32}, .beyond = TKW_ROUNDS};

/*
 * B1, Linux 2020: arming an expired timer moved the clock back, and others
 * fired early.  Back if arming for the past sets the time to the deadline.
 */
static void arming_an_expired_timer_does_not_move_the_clock_back(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 1000);
    tkw_handle other = pool_arm(pool, 1010, 0);
    tkw_handle past = pool_arm(pool, 5, 1);
    assert_int_equal(tkw_pool_now(pool), 1000);
    assert_int_equal(tkw_pool_next(pool), 1000);
    assert_pool_pops(pool, past);
    assert_pool_pops(pool, pool_arm(pool, 900, 2));
    assert_int_equal(tkw_pool_rearm(pool, other, 7), 1);
    assert_int_equal(tkw_pool_rearm(pool, other, 1010), 1);
    assert_int_equal(tkw_pool_now(pool), 1000);
    assert_pool_sound(pool);
    assert_pool_fires_on_time(pool, other);
    pool_done(pool);
}

/*
 * B2, Linux 2020: the capacity check used the expiry instead of the distance.
 * Back if the level is chosen by the deadline.
 */
static void a_late_hour_does_not_make_a_short_delay_long(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], UINT64_C(1) << 62);
        tkw_handle handle = pool_arm(pool, (UINT64_C(1) << 62) + 1, 0);
        assert_int_equal(tkw_pool_next(pool), (UINT64_C(1) << 62) + 1);
        assert_pool_fires_on_time(pool, handle);
        assert_int_equal(tkw_pool_read_stats(pool).work.falls, 0);
        pool_done(pool);
    }
}

/*
 * B3, tokio 8334: after twelve days the nearer of two was hidden by one whose
 * slot has a lower number, being a turn ahead.  Back if the next slot is looked
 * for from slot 0 instead of from the hand.
 */
static void a_slot_past_the_turn_does_not_hide_a_nearer_one(void **state)
{
    (void)state;
    tkw_tick tick = 1;
    for (unsigned level = 1; level < 14; level++, tick *= 20) {
        struct tkw_pool *pool = pool_of(&kafka, 15 * tick);
        tkw_handle wrapped = pool_arm(pool, 21 * tick, 0);
        tkw_handle near_by = pool_arm(pool, 17 * tick, 1);
        assert_int_equal(tkw_pool_next(pool), 17 * tick);
        assert_pool_fires_on_time(pool, near_by);
        assert_int_equal(tkw_pool_next(pool), 21 * tick);
        assert_pool_fires_on_time(pool, wrapped);
        pool_done(pool);
    }
}

/*
 * B4, tokio 2473, 3270: removing a timer due at the current tick disturbed slot
 * 0.  Back if a cancel of what is ready clears the occupancy of slot 0.
 */
static void
removing_a_timer_of_the_current_tick_leaves_slot_0_alone(void **state)
{
    (void)state;
    for (tkw_tick now = 21; now < 40; now++) {
        struct tkw_pool *pool = pool_of(&kafka, now);
        tkw_handle other = pool_arm(pool, 40, 0); /* slot 0 of level 1 */
        tkw_handle current = pool_arm(pool, now, 1);
        assert_true(tkw_pool_cancel(pool, current));
        assert_false(tkw_pool_cancel(pool, current));
        assert_pool_pops_none(pool);
        assert_int_equal(tkw_pool_next(pool), 40);
        assert_pool_fires_on_time(pool, other);

        current = pool_arm(pool, 40, 2); /* the hand is on slot 0 */
        assert_true(tkw_pool_cancel(pool, current));
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/*
 * B6, Netty 1959, 7760: now + delay overflowed, to fire at once or never.
 * Back if the pool adds to a deadline without saturating.
 */
static void an_endless_delay_does_not_fire_at_once(void **state)
{
    (void)state;
    static const tkw_tick delays[] = {UINT64_MAX, UINT64_MAX - 1,
                                      UINT64_MAX - 999, UINT64_MAX - 1000,
                                      UINT64_MAX - 1001};
    for (size_t i = 0; i < COUNT_OF(delays); i++) {
        struct tkw_pool *pool = pool_of(NULL, 1000);
        tkw_tick deadline = tkw_tick_after(1000, delays[i]);
        tkw_handle handle = pool_arm(pool, deadline, 0);
        assert_pool_pops_none(pool);
        pool_advance_surely(pool, UINT64_C(1) << 40);
        assert_pool_pops_none(pool);
        pool_advance_surely(pool, deadline - 1);
        assert_pool_pops_none(pool);
        assert_int_equal(tkw_pool_count(pool), 1);
        pool_advance_surely(pool, deadline);
        if (deadline == TKW_NEVER)
            assert_pool_pops_none(pool);
        else
            assert_pool_pops(pool, handle);
        pool_done(pool);
    }
}

/*
 * B7, Netty 14959: cancelling what was expiring took it off the count twice.
 * Back if both the cancel and the pop that drops the entry count it.
 */
static void cancelling_what_is_expiring_is_counted_once(void **state)
{
    (void)state;
    tkw_handle handles[3];
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, 5, i);
    tkw_pool_advance(pool, 5);
    assert_int_equal(tkw_pool_count(pool), 3);
    assert_true(tkw_pool_cancel(pool, handles[1]));
    assert_false(tkw_pool_cancel(pool, handles[1]));
    assert_int_equal(tkw_pool_count(pool), 2);
    assert_pool_pops(pool, handles[0]);
    assert_pool_pops(pool, handles[2]);
    assert_pool_pops_none(pool);
    assert_int_equal(tkw_pool_count(pool), 0);
    assert_int_equal(tkw_pool_read_stats(pool).work.cancelled, 1);
    pool_done(pool);
}

/*
 * B8, Netty 5647: unbounded pending timers exhausted memory.  Back if the limit
 * counts anything but what is armed, or does not refuse.
 */
static void a_limit_bounds_the_pending_and_their_memory(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_pool *pool = NULL;
    struct tkw_pool_config config = {.allocator = &ledger.allocator,
                                     .timers_max = 1000};
    ledger_init(&ledger);
    assert_int_equal(tkw_pool_open(&pool, &config), 0);
    for (size_t i = 0; i < 1000; i++)
        pool_arm(pool, 1000 + i, i);
    uint64_t bytes = ledger.bytes;
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(
            tkw_pool_arm(pool, NULL, 1000 + i, (struct tkw_user){0}), -EAGAIN);
    assert_int_equal(tkw_pool_count(pool), 1000);
    assert_int_equal(ledger.bytes, bytes);
    ledger_done(&ledger, pool);
}

/*
 * B9, msquic 3206: moved to another time, the old wake-up stayed.  A pool may
 * wake once for the old slot; back if it does not know the new one.
 */
static void arming_again_moves_the_wake_up(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle handle = pool_arm(pool, 5, 0);
    assert_int_equal(tkw_pool_next(pool), 5);
    assert_int_equal(tkw_pool_rearm(pool, handle, 5000), 1);
    assert_true(tkw_pool_next(pool) <= 4800);
    pool_advance_surely(pool, 5);
    assert_pool_pops_none(pool);
    assert_int_equal(tkw_pool_next(pool), 4800);
    assert_int_equal(tkw_pool_rearm(pool, handle, 300), 1);
    assert_int_equal(tkw_pool_next(pool), 300);
    assert_pool_fires_on_time(pool, handle);
    pool_done(pool);
}

/*
 * B11, theine 64: a deadline in the upper level's current slot was filed there,
 * for the hand to come back to after a whole turn.
 */
static void nothing_waits_a_turn_in_the_current_slot(void **state)
{
    (void)state;
    for (tkw_tick tick = 20; tick < 1000000; tick *= 20) {
        for (tkw_tick ahead = 1; ahead < tick; ahead += 1 + ahead / 2) {
            struct tkw_pool *pool = pool_of(&kafka, 7 * tick);
            tkw_handle handle = pool_arm(pool, 7 * tick + ahead, 0);
            assert_true(pool_wakes(pool) <= 5);
            assert_int_equal(tkw_pool_now(pool), 7 * tick + ahead);
            assert_pool_pops(pool, handle);
            pool_done(pool);
        }
    }
}

/*
 * B12, ferris 1: long timers came early, or at half their time.  Back if slots
 * are numbered, or entries keep deadlines, in fewer bits than are restored.
 */
static void long_timers_are_neither_early_nor_half_off(void **state)
{
    (void)state;
    for (tkw_tick tick = 1; tick < UINT32_MAX / 20; tick *= 20) {
        tkw_tick start = (tick << 32) - 3 * tick;
        struct tkw_pool *pool = pool_of(&kafka, start);
        tkw_handle handle = pool_arm(pool, start + 10 * tick, 0);
        assert_int_equal(tkw_pool_next(pool), start + 10 * tick);
        assert_pool_fires_on_time(pool, handle);
        pool_done(pool);
    }
    for (unsigned bit = 20; bit < 62; bit++) {
        tkw_tick delay = UINT64_C(3) << bit;
        struct tkw_pool *pool = pool_of(NULL, UINT32_MAX);
        tkw_handle handle = pool_arm(pool, UINT32_MAX + delay, 0);
        pool_advance_surely(pool, UINT32_MAX + delay / 2);
        assert_pool_pops_none(pool);
        assert_pool_fires_on_time(pool, handle);
        pool_done(pool);
    }
}

/*
 * B13, tgstation 38994: what was put back into the bucket being drained was
 * drained again, for ever.  Back if a pass over rounds reads what it appended.
 */
static void what_stays_in_its_slot_is_passed_over_once(void **state)
{
    (void)state;
    static tkw_handle handles[2000];
    struct tkw_pool *pool = pool_of(&hashed, 0);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, 4 + 32 * (i % 10), i);
    assert_true(tkw_pool_advance_some(pool, 4, 10000));
    assert_int_equal(tkw_pool_read_stats(pool).work.passes, 1800);
    for (size_t i = 0; i < COUNT_OF(handles); i += 10)
        assert_pool_pops(pool, handles[i]);

    /* Nor does it loop if the user does the same from the pop loop. */
    pool_arm(pool, 4 + 32, 0);
    assert_pool_pops_none(pool);
    pool_done(pool);
}

/*
 * B14, agrona 346: an iteration told one timer's id with another's deadline.
 */
static void a_walk_tells_each_timer_with_its_own_deadline(void **state)
{
    (void)state;
    tkw_handle handles[40];
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, 1 + i * 11, i);
    for (size_t i = 0; i < COUNT_OF(handles); i += 3)
        assert_true(tkw_pool_cancel(pool, handles[i]));
    struct tkw_pool_cursor walk = {0};
    for (struct tkw_pool_timer timer; tkw_pool_walk(pool, &walk, &timer);) {
        assert_int_equal(timer.handle, handles[timer.user.word]);
        assert_int_equal(timer.deadline, 1 + timer.user.word * 11);
        assert_int_not_equal(timer.user.word % 3, 0);
    }
    tkw_pool_advance(pool, 1000);
    for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);) {
        assert_int_equal(timer.handle, handles[timer.user.word]);
        assert_int_equal(timer.deadline, 1 + timer.user.word * 11);
    }
    pool_done(pool);
}

/*
 * B15, synapse 17850: a bucket queued for two times was emptied at the first.
 * Back if whatever leaves level 1 is taken to be due.
 */
static void a_slot_used_for_two_times_fires_each_at_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct tkw_pool *pool = pool_of(i == 0 ? &kafka : &hashed, 0);
        tkw_handle sooner = pool_arm(pool, 5, 0);
        tkw_handle later = pool_arm(pool, 5, 1);
        assert_int_equal(tkw_pool_postpone(pool, later, i == 0 ? 25 : 37), 1);
        assert_pool_fires_on_time(pool, sooner);
        assert_pool_pops_none(pool);
        assert_pool_fires_on_time(pool, later);
        pool_done(pool);
    }
}

/*
 * B16, hertzbeat 4201: arming again overwrote the handle and left an orphan
 * behind.  Back if an old entry fires what has been moved.
 */
static void arming_again_leaves_no_orphan_behind(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle handle = pool_arm(pool, 5, 0);
    assert_int_equal(tkw_pool_rearm(pool, handle, 9), 1);
    tkw_handle other = pool_arm(pool, 9, 1);
    assert_int_equal(tkw_pool_rearm(pool, handle, 7), 1);
    assert_int_equal(tkw_pool_count(pool), 2);
    pool_advance_surely(pool, 6);
    assert_pool_pops_none(pool);
    tkw_pool_advance(pool, 100);
    assert_pool_pops(pool, handle);
    assert_pool_pops(pool, other);
    assert_pool_pops_none(pool);
    assert_int_equal(tkw_pool_read_stats(pool).work.fired, 2);
    pool_done(pool);
}

/* B17, akka 1016: a delay of exactly one period of the wheel, or several. */
static void a_delay_of_whole_turns_is_exact(void **state)
{
    (void)state;
    for (tkw_tick turns = 1; turns <= 40; turns++) {
        for (tkw_tick now = 0; now < 64; now += 7) {
            struct tkw_pool *pool = pool_of(&hashed, now);
            tkw_handle handle = pool_arm(pool, now + 32 * turns, 0);
            assert_int_equal(tkw_pool_next(pool), now + 32);
            assert_pool_fires_on_time(pool, handle);
            pool_done(pool);
        }
    }
    for (tkw_tick delay = 20; delay < 4000000; delay *= 20) {
        for (tkw_tick now = 0; now < 1000; now += 37) {
            struct tkw_pool *pool = pool_of(&kafka, now);
            tkw_handle handle = pool_arm(pool, now + delay, 0);
            assert_pool_fires_on_time(pool, handle);
            pool_done(pool);
        }
    }
}

/*
 * B20, c_timer_wheel: due at 4, the clock went from 3 to 6, and it fired at 14.
 */
static void a_skipped_tick_does_not_skip_its_timers(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        tkw_pool_advance(pool, 3);
        tkw_handle handle = pool_arm(pool, 4, 0);
        tkw_pool_advance(pool, 6);
        assert_pool_pops(pool, handle);
        pool_done(pool);
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
        cmocka_unit_test(a_limit_bounds_the_pending_and_their_memory),
        cmocka_unit_test(arming_again_moves_the_wake_up),
        cmocka_unit_test(nothing_waits_a_turn_in_the_current_slot),
        cmocka_unit_test(long_timers_are_neither_early_nor_half_off),
        cmocka_unit_test(what_stays_in_its_slot_is_passed_over_once),
        cmocka_unit_test(a_walk_tells_each_timer_with_its_own_deadline),
        cmocka_unit_test(a_slot_used_for_two_times_fires_each_at_its_own),
        cmocka_unit_test(arming_again_leaves_no_orphan_behind),
        cmocka_unit_test(a_delay_of_whole_turns_is_exact),
        cmocka_unit_test(a_skipped_tick_does_not_skip_its_timers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
