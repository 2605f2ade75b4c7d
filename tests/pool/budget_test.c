/*
 * pool/budget_test.c - law L9: an advance of a pool can be stopped after any
 * number of timers and resumed, and anything may be called in between.
 */
#include "support/pool.h"

#define FEW 100   /* that fall whole ... */
#define MANY 2000 /* ... and in shares */

/* A stop: `now` is finished, `next` is now, the pool is whole. */
static void assert_stopped_well(const struct tkw_pool *pool, tkw_tick target)
{
    assert_true(tkw_pool_now(pool) < target);
    assert_int_equal(tkw_pool_next(pool), tkw_pool_now(pool));
    assert_pool_sound(pool);
}

/* So many in one slot of level 3: evens due at 400, odds at 445. */
static struct tkw_pool *crowded(tkw_handle *handles, size_t count)
{
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < count; i++)
        handles[i] = pool_arm(pool, i % 2 == 0 ? 400 : 445, i);
    return pool;
}

/* The crowd leaves in order, but for `gone`. */
static void assert_crowd_fires(struct tkw_pool *pool, const tkw_handle *handles,
                               size_t count, tkw_handle gone)
{
    size_t first = tkw_pool_now(pool) >= 445;
    for (size_t i = first; i < count; i += 2) {
        if (handles[i] != gone)
            assert_pool_pops(pool, handles[i]);
    }
}

/*
 * Stop on the way to 400.  With less than half the crowd touched it must, since
 * half of it is due then.
 */
static void stop_after(struct tkw_pool *pool, size_t touched)
{
    if (touched < FEW / 2) {
        assert_false(tkw_pool_advance_some(pool, 400, touched));
        assert_stopped_well(pool, 400);
    } else {
        tkw_pool_advance_some(pool, 400, touched);
    }
}

/* Every budget from 1 up gives the pops that no budget gives. */
static void any_budget_gives_what_no_budget_gives(void **state)
{
    (void)state;
    static tkw_handle handles[MANY];
    for (size_t budget = 1; budget < MANY + 300; budget += 1 + budget / 9) {
        struct tkw_pool *pool = crowded(handles, MANY);
        uint64_t before = pool_moved(pool);
        while (!tkw_pool_advance_some(pool, 400, budget)) {
            assert_true(tkw_pool_now(pool) < 400);
            assert_int_equal(tkw_pool_next(pool), tkw_pool_now(pool));
            assert_true(pool_moved(pool) - before <= budget);
            before = pool_moved(pool);
            assert_pool_pops_none(pool);
        }
        assert_int_equal(tkw_pool_now(pool), 400);
        assert_pool_sound(pool);
        assert_crowd_fires(pool, handles, MANY, 0);
        assert_pool_pops_none(pool);
        while (!tkw_pool_advance_some(pool, 445, budget))
            assert_pool_pops_none(pool);
        assert_crowd_fires(pool, handles, MANY, 0);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* The same step by step, when shares of the slot fall in between. */
static void any_budget_on_single_steps_gives_the_same(void **state)
{
    (void)state;
    static tkw_handle handles[MANY];
    for (size_t budget = 1; budget < MANY; budget += 1 + budget / 2) {
        struct tkw_pool *pool = crowded(handles, MANY);
        for (tkw_tick now = 300; now <= 400; now++) {
            while (!tkw_pool_advance_some(pool, now, budget))
                assert_true(tkw_pool_now(pool) < now);
            assert_int_equal(tkw_pool_now(pool), now);
            if (now % 10 == 9)
                assert_pool_sound(pool);
        }
        assert_crowd_fires(pool, handles, MANY, 0);
        assert_pool_pops_none(pool);
        for (tkw_tick now = 401; now <= 445; now++) {
            assert_pool_pops_none(pool);
            while (!tkw_pool_advance_some(pool, now, budget))
                assert_true(tkw_pool_now(pool) < now);
        }
        assert_crowd_fires(pool, handles, MANY, 0);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* No timer needs a touch: no budget is needed either. */
static void no_budget_is_enough_for_nothing(void **state)
{
    (void)state;
    tkw_handle handles[FEW];
    struct tkw_pool *pool = crowded(handles, FEW);
    assert_true(tkw_pool_advance_some(pool, 399, 0));
    assert_int_equal(tkw_pool_now(pool), 399);
    for (unsigned i = 1; i < 10; i++) {
        assert_false(tkw_pool_advance_some(pool, 400, 0));
        assert_int_equal(pool_moved(pool), 0);
        assert_int_equal(tkw_pool_now(pool), 399);
        assert_int_equal(tkw_pool_read_stats(pool).work.stops, i);
        assert_stopped_well(pool, 400);
        assert_pool_pops_none(pool);
    }
    assert_true(tkw_pool_advance_some(pool, 400, 10 * FEW));
    assert_int_equal(tkw_pool_now(pool), 400);
    assert_crowd_fires(pool, handles, FEW, 0);
    pool_done(pool);
}

/* Time standing still goes on with the tick that was asked for. */
static void an_advance_to_the_same_tick_goes_on(void **state)
{
    (void)state;
    for (size_t stops = 0; stops < FEW / 2; stops++) {
        tkw_handle handles[FEW];
        struct tkw_pool *pool = crowded(handles, FEW);
        stop_after(pool, stops);
        tkw_pool_advance(pool, stops % 2 ? 400 : tkw_pool_now(pool));
        assert_int_equal(tkw_pool_now(pool), 400);
        assert_crowd_fires(pool, handles, FEW, 0);
        assert_pool_pops_none(pool);
        tkw_pool_advance(pool, 20000);
        assert_crowd_fires(pool, handles, FEW, 0);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* A loop in virtual time needs nothing but `next`, whatever the budget. */
static void advancing_to_next_gets_there_with_any_budget(void **state)
{
    (void)state;
    static tkw_handle handles[MANY];
    for (size_t budget = 1; budget < 6; budget++) {
        struct tkw_pool *pool = crowded(handles, MANY);
        size_t fired = 0;
        for (unsigned i = 0; i < 30 * MANY && fired < MANY; i++) {
            tkw_pool_advance_some(pool, tkw_pool_next(pool), budget);
            for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);)
                fired++;
        }
        assert_int_equal(fired, MANY);
        pool_done(pool);
    }
}

/* What is due at a finished tick can be popped while the advance goes on. */
static void finished_ticks_are_ready_between_stops(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        tkw_handle handles[60];
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            handles[i] = pool_arm(pool, 1 + i * 3, i);
        size_t popped = 0;
        for (bool is_done = false; !is_done;) {
            is_done = tkw_pool_advance_some(pool, 500, 1);
            if (!is_done)
                assert_true(tkw_pool_now(pool) < 500);
            while (popped < COUNT_OF(handles) &&
                   1 + popped * 3 <= tkw_pool_now(pool))
                assert_pool_pops(pool, handles[popped++]);
            assert_pool_pops_none(pool);
            assert_pool_sound(pool);
        }
        assert_int_equal(popped, COUNT_OF(handles));
        pool_done(pool);
    }
}

/* Armed for the tick under way: with it, behind those armed before. */
static void arming_for_the_unfinished_tick_is_in_time(void **state)
{
    (void)state;
    for (size_t stops = 0; stops < FEW / 2; stops++) {
        tkw_handle handles[FEW];
        struct tkw_pool *pool = crowded(handles, FEW);
        stop_after(pool, stops);
        tkw_handle next = pool_arm(pool, 401, 0);
        tkw_handle now = pool_arm(pool, 400, 0);
        tkw_handle past = pool_arm(pool, tkw_pool_now(pool), 0);
        tkw_handle odd = pool_arm(pool, 445, 0);
        assert_pool_sound(pool);
        assert_pool_state(pool, now, TKW_PENDING);
        assert_pool_pops(pool, past);
        assert_pool_pops_none(pool);

        tkw_pool_advance(pool, 400);
        assert_crowd_fires(pool, handles, FEW, 0);
        assert_pool_pops(pool, now);
        assert_pool_pops_none(pool);
        assert_pool_fires_on_time(pool, next);
        tkw_pool_advance(pool, 445);
        assert_crowd_fires(pool, handles, FEW, 0);
        assert_pool_pops(pool, odd);
        pool_done(pool);
    }
}

/* Each of the crowd, stopped at each place: half-moved, due, or not reached. */
static void cancelling_between_stops_is_final(void **state)
{
    (void)state;
    for (size_t i = 0; i < FEW * FEW; i += 7) {
        tkw_handle handles[FEW];
        struct tkw_pool *pool = crowded(handles, FEW);
        stop_after(pool, i / FEW);
        tkw_handle gone = handles[i % FEW];
        assert_true(tkw_pool_cancel(pool, gone));
        assert_false(tkw_pool_cancel(pool, gone));
        assert_pool_state(pool, gone, TKW_CANCELLED);
        tkw_handle fresh = pool_arm(pool, 445, 0); /* in its place, perhaps */
        assert_pool_sound(pool);
        tkw_pool_advance(pool, 400);
        assert_crowd_fires(pool, handles, FEW, gone);
        tkw_pool_advance(pool, 445);
        assert_crowd_fires(pool, handles, FEW, gone);
        assert_pool_pops(pool, fresh);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

static void postponing_between_stops_moves_the_deadline(void **state)
{
    (void)state;
    static const tkw_tick deadlines[] = {401, 450, 460, 7777, 70000, TKW_NEVER};
    for (size_t i = 0; i < FEW * FEW; i += 7) {
        tkw_tick then = deadlines[i % COUNT_OF(deadlines)];
        tkw_handle handles[FEW];
        struct tkw_pool *pool = crowded(handles, FEW);
        stop_after(pool, i / FEW);
        tkw_handle moving = handles[i % FEW];
        assert_int_equal(tkw_pool_postpone(pool, moving, then), 1);
        assert_pool_sound(pool);
        tkw_pool_advance(pool, 400);
        assert_crowd_fires(pool, handles, FEW, moving);
        assert_pool_pops_none(pool);
        if (then < 445)
            assert_pool_fires_on_time(pool, moving);
        tkw_pool_advance(pool, 445);
        assert_crowd_fires(pool, handles, FEW, moving);
        assert_pool_pops_none(pool);
        if (then > 445 && then != TKW_NEVER)
            assert_pool_fires_on_time(pool, moving);
        pool_done(pool);
    }
}

/* Armed again for the same tick: the end of the line, wherever it was. */
static void arming_again_between_stops_goes_to_the_end_of_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < FEW * FEW / 2; i += 7) {
        tkw_handle handles[FEW];
        struct tkw_pool *pool = crowded(handles, FEW);
        stop_after(pool, i / FEW);
        tkw_handle again = handles[i % FEW];
        assert_int_equal(tkw_pool_rearm(pool, again, 400), 1);
        assert_pool_sound(pool);
        tkw_pool_advance(pool, 400);
        assert_crowd_fires(pool, handles, FEW, again);
        assert_pool_pops(pool, again);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* Ready, late, half-moved, filed, for ever: drain finds them all. */
static void draining_between_stops_hands_everything_back(void **state)
{
    (void)state;
    static tkw_handle handles[MANY];
    for (size_t stops = 0; stops < MANY; stops += 1 + stops / 2) {
        struct tkw_pool_timer timer;
        struct tkw_pool *pool = crowded(handles, MANY);
        tkw_pool_advance_some(pool, 400, stops);
        pool_arm(pool, 400, 0);
        pool_arm(pool, 0, 0);
        pool_arm(pool, TKW_NEVER, 0);
        size_t drained = 0;
        for (; tkw_pool_drain(pool, &timer); drained++) {
            assert_pool_state(pool, timer.handle, TKW_DONE);
            if (drained % 100 == 0)
                assert_pool_sound(pool);
        }
        assert_int_equal(drained, MANY + 3);
        assert_int_equal(tkw_pool_read_stats(pool).work.drained, MANY + 3);
        tkw_pool_advance(pool, 100000);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* Any budget on any shape gives what one unlimited advance gives. */
static void stops_lose_and_reorder_nothing(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 8; i++) {
        static tkw_handle whole[900], parts[900];
        struct tkw_pool *one = pool_of(&pool_shapes[i / 8], 9);
        struct tkw_pool *two = pool_of(&pool_shapes[i / 8], 9);
        for (size_t t = 0; t < COUNT_OF(whole); t++) {
            tkw_tick deadline = 10 + random_magnitude(&seed, 11) / 8 * 8;
            whole[t] = pool_arm(one, deadline, t);
            parts[t] = pool_arm(two, deadline, t);
        }
        tkw_pool_advance(one, 4000);
        while (!tkw_pool_advance_some(two, 4000, (size_t)1 << i % 8))
            assert_int_equal(tkw_pool_next(two), tkw_pool_now(two));
        assert_pool_sound(two);
        for (struct tkw_pool_timer timer; tkw_pool_pop(one, &timer);)
            assert_pool_pops(two, parts[timer.user.word]);
        assert_pool_pops_none(two);
        pool_done(one);
        pool_done(two);
    }
}

/* Among the dead and the postponed, too, no more is moved than allowed. */
static void a_budget_bounds_what_is_moved(void **state)
{
    (void)state;
    static tkw_handle handles[MANY];
    uint64_t seed = random_seed();
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 6; i++) {
        size_t budget = (size_t)1 << i % 6 * 2;
        struct tkw_pool *pool = pool_of(&pool_shapes[i / 6], 0);
        for (size_t t = 0; t < MANY; t++)
            handles[t] = pool_arm(pool, 1 + random_below(&seed, 60) * 50, t);
        for (size_t t = 0; t < MANY; t += 3)
            tkw_pool_cancel(pool, handles[t]);
        for (size_t t = 1; t < MANY; t += 3)
            tkw_pool_postpone(pool, handles[t], random_below(&seed, 3000));
        for (bool is_done = false; !is_done;) {
            uint64_t before = pool_moved(pool);
            is_done = tkw_pool_advance_some(pool, 3500, budget);
            assert_true(pool_moved(pool) - before <= budget);
        }
        assert_pool_sound(pool);
        size_t fired = 0;
        for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);)
            fired++;
        assert_int_equal(fired, MANY - (MANY + 2) / 3);
        pool_done(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_budget_gives_what_no_budget_gives),
        cmocka_unit_test(any_budget_on_single_steps_gives_the_same),
        cmocka_unit_test(no_budget_is_enough_for_nothing),
        cmocka_unit_test(an_advance_to_the_same_tick_goes_on),
        cmocka_unit_test(advancing_to_next_gets_there_with_any_budget),
        cmocka_unit_test(finished_ticks_are_ready_between_stops),
        cmocka_unit_test(arming_for_the_unfinished_tick_is_in_time),
        cmocka_unit_test(cancelling_between_stops_is_final),
        cmocka_unit_test(postponing_between_stops_moves_the_deadline),
        cmocka_unit_test(
            arming_again_between_stops_goes_to_the_end_of_the_line),
        cmocka_unit_test(draining_between_stops_hands_everything_back),
        cmocka_unit_test(stops_lose_and_reorder_nothing),
        cmocka_unit_test(a_budget_bounds_what_is_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
