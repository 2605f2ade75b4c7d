/*
 * pool/crowd_test.c - law L4 where slots are crowded enough to fall in shares,
 * against a list of who is due when and since when.  Deadlines are few, so that
 * many are equal; arming, moving and cancelling go on while shares fall.
 */
#include "support/pool.h"

#define TIMERS 6000

/* What a run does between two ticks, and how far its deadlines reach. */
struct run {
    struct tkw_geometry geometry;
    tkw_tick reach;    /* how far ahead deadlines lie */
    tkw_tick grain;    /* deadlines are multiples of it */
    tkw_tick step_max; /* ticks per advance, at most */
    size_t changes;    /* between two advances */
    size_t budget;     /* per advance; 0: none */
    size_t ticks;      /* length of the run, in advances */
};

/* The obvious twin: of each timer, its deadline and the number of its arming.
   A number of 0 is a timer that is not armed.  A postponed one has lost its
   place among equals. */
struct twin {
    tkw_handle handles[TIMERS];
    tkw_tick deadlines[TIMERS];
    uint64_t armed_as[TIMERS];
    bool is_postponed[TIMERS];
    uint64_t armings;
    size_t count;
    tkw_tick last_deadline;
    uint64_t last_arming;
};

static struct twin twin;

/* A deadline that is still to come, even of the tick under way. */
static tkw_tick some_deadline(const struct tkw_pool *pool,
                              const struct run *run, uint64_t *seed)
{
    tkw_tick now = tkw_pool_now(pool);
    tkw_tick ahead = now + 1 + random_below(seed, run->reach);
    return ahead + (run->grain - ahead % run->grain) % run->grain;
}

static void change_one(struct tkw_pool *pool, const struct run *run,
                       uint64_t *seed)
{
    size_t i = (size_t)random_below(seed, TIMERS);
    tkw_tick deadline = some_deadline(pool, run, seed);
    bool was_armed = twin.armed_as[i] != 0;
    if (was_armed && random_below(seed, 3) == 0) {
        assert_true(tkw_pool_cancel(pool, twin.handles[i]));
        twin.armed_as[i] = 0;
        twin.count--;
        return;
    }
    twin.is_postponed[i] = was_armed && random_below(seed, 3) == 0;
    if (twin.is_postponed[i]) {
        assert_int_equal(tkw_pool_postpone(pool, twin.handles[i], deadline), 1);
    } else if (was_armed) {
        assert_int_equal(tkw_pool_rearm(pool, twin.handles[i], deadline), 1);
    } else {
        twin.handles[i] = pool_arm(pool, deadline, i);
        twin.count++;
    }
    twin.deadlines[i] = deadline;
    twin.armed_as[i] = ++twin.armings;
}

/* The order of L4: by deadline; among equals by arming, if not postponed. */
static void assert_in_order(size_t i)
{
    assert_true(twin.deadlines[i] >= twin.last_deadline);
    if (twin.deadlines[i] > twin.last_deadline)
        twin.last_arming = 0;
    twin.last_deadline = twin.deadlines[i];
    if (twin.is_postponed[i])
        return;
    assert_true(twin.armed_as[i] > twin.last_arming);
    twin.last_arming = twin.armed_as[i];
}

/* Pop all; each is the one armed, on time, and in order. */
static void pop_all(struct tkw_pool *pool)
{
    for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);) {
        size_t i = (size_t)timer.user.word;
        assert_true(i < TIMERS);
        assert_int_equal(timer.handle, twin.handles[i]);
        assert_int_not_equal(twin.armed_as[i], 0);
        assert_int_equal(timer.deadline, twin.deadlines[i]);
        assert_true(timer.deadline <= tkw_pool_now(pool));
        assert_in_order(i);
        twin.armed_as[i] = 0;
        twin.count--;
    }
    assert_int_equal(tkw_pool_count(pool), twin.count);
}

/* L2.  What is still armed is not yet due. */
static void assert_none_forgotten(const struct tkw_pool *pool)
{
    tkw_tick next = tkw_pool_next(pool);
    for (size_t i = 0; i < TIMERS; i++) {
        if (twin.armed_as[i] == 0)
            continue;
        assert_true(twin.deadlines[i] > tkw_pool_now(pool));
        assert_true(next <= twin.deadlines[i]); /* L8 */
    }
}

static void advance_a_little(struct tkw_pool *pool, const struct run *run,
                             uint64_t *seed, tkw_tick *target)
{
    if (*target <= tkw_pool_now(pool))
        *target = tkw_pool_now(pool) + 1 + random_below(seed, run->step_max);
    if (run->budget == 0)
        tkw_pool_advance(pool, *target);
    else
        tkw_pool_advance_some(pool, *target, run->budget);
}

static void go(const struct run *run, uint64_t seed)
{
    tkw_tick target = 0;
    struct tkw_pool *pool = pool_of(&run->geometry, 0);
    memset(&twin, 0, sizeof(twin));
    for (unsigned i = 0; i < TIMERS; i++)
        change_one(pool, run, &seed);
    for (size_t tick = 0; tick < run->ticks; tick++) {
        for (size_t i = 0; i < run->changes; i++)
            change_one(pool, run, &seed);
        advance_a_little(pool, run, &seed, &target);
        pop_all(pool);
        if (tick % 64 == 0) {
            assert_none_forgotten(pool);
            assert_pool_sound(pool);
        }
    }
    assert_none_forgotten(pool);
    tkw_pool_advance(pool, tkw_pool_now(pool) + 4 * run->reach +
                               4 * run->grain + run->step_max);
    pop_all(pool);
    assert_int_equal(twin.count, 0);
    pool_done(pool);
}

static void go_all(const struct run *runs, size_t count)
{
    uint64_t seed = random_seed();
    for (size_t i = 0; i < count; i++)
        go(&runs[i], seed + i);
}

/* Two levels, one slot at a time crowded, step by step. */
static void single_steps_keep_the_order_of_a_crowd(void **state)
{
    (void)state;
    static const struct run runs[] = {
        {{.sizes = {0}}, 600, 40, 1, 6, 0, 3000},
        {{.sizes = {20}}, 300, 7, 1, 20, 0, 2000},
        {{.sizes = {64, 64}}, 500, 100, 1, 10, 0, 3000},
        {{.sizes = {4, 4}}, 60, 5, 1, 100, 0, 1000},
        {{.sizes = {2}}, 50, 3, 1, 100, 0, 1000},
        {{.sizes = {60, 60, 12}}, 9000, 900, 1, 3, 0, 10000},
    };
    go_all(runs, COUNT_OF(runs));
}

/* Several levels crowded at once: the upper one must be ahead of the lower. */
static void crowds_on_several_levels_keep_their_order(void **state)
{
    (void)state;
    static const struct run runs[] = {
        {{.sizes = {4, 4}}, 700, 64, 1, 40, 0, 2000},
        {{.sizes = {4, 4}}, 700, 63, 3, 40, 0, 2000},
        {{.sizes = {2}}, 900, 127, 1, 30, 0, 2500},
        {{.sizes = {3, 5, 7}}, 900, 105, 1, 30, 0, 2500},
        {{.sizes = {20}}, 9000, 801, 5, 10, 0, 5000},
        {{.sizes = {16, 16}}, 9000, 4095, 2, 4, 0, 9000},
    };
    go_all(runs, COUNT_OF(runs));
}

/* Jumps that end anywhere, over slots that have fallen in part. */
static void jumps_over_half_fallen_slots_keep_the_order(void **state)
{
    (void)state;
    static const struct run runs[] = {
        {{.sizes = {0}}, 900, 50, 200, 60, 0, 1000},
        {{.sizes = {20}}, 1000, 90, 70, 60, 0, 1000},
        {{.sizes = {4, 4}}, 300, 30, 40, 200, 0, 500},
        {{.sizes = {2}}, 300, 30, 40, 200, 0, 500},
    };
    go_all(runs, COUNT_OF(runs));
}

/* Budgets that end in the middle of a share, of a slot, of a tick. */
static void stops_in_the_middle_of_a_crowd_keep_the_order(void **state)
{
    (void)state;
    static const struct run runs[] = {
        {{.sizes = {0}}, 600, 40, 1, 3, 17, 5000},
        {{.sizes = {20}}, 1000, 90, 3, 2, 7, 9000},
        {{.sizes = {4, 4}}, 300, 30, 2, 3, 63, 5000},
        {{.sizes = {2}}, 300, 30, 9, 3, 64, 5000},
        {{.sizes = {3, 5, 7}}, 900, 105, 3, 2, 65, 5000},
        {{.sizes = {5, 7}, .beyond = TKW_ROUNDS}, 90, 15, 3, 3, 200, 2000},
    };
    go_all(runs, COUNT_OF(runs));
}

/* Rounds pass over those of later turns, and keep them in order. */
static void crowded_rounds_keep_the_order(void **state)
{
    (void)state;
    static const struct run runs[] = {
        {{.sizes = {512}, .beyond = TKW_ROUNDS}, 3000, 100, 1, 3, 0, 4000},
        {{.sizes = {5, 7}, .beyond = TKW_ROUNDS}, 100, 9, 2, 50, 0, 800},
        {{.sizes = {2}, .beyond = TKW_ROUNDS}, 30, 4, 1, 50, 0, 500},
    };
    go_all(runs, COUNT_OF(runs));
}

/* Time near its end, where the next slot of a level would begin past it. */
static void a_crowd_at_the_end_of_time_leaves_in_order(void **state)
{
    (void)state;
    static tkw_handle handles[5000];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        tkw_tick start = TKW_NEVER - 3000;
        struct tkw_pool *pool = pool_of(&pool_shapes[s], start);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            handles[i] = pool_arm(pool, TKW_NEVER - 1 - i % 2, i);
        for (tkw_tick now = start; now < TKW_NEVER - 2; now++)
            tkw_pool_advance(pool, now);
        assert_pool_pops_none(pool);
        tkw_pool_advance(pool, TKW_NEVER - 2);
        for (size_t i = 1; i < COUNT_OF(handles); i += 2)
            assert_pool_pops(pool, handles[i]);
        assert_pool_pops_none(pool);
        tkw_pool_advance(pool, TKW_NEVER - 1);
        for (size_t i = 0; i < COUNT_OF(handles); i += 2)
            assert_pool_pops(pool, handles[i]);
        pool_done(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_steps_keep_the_order_of_a_crowd),
        cmocka_unit_test(crowds_on_several_levels_keep_their_order),
        cmocka_unit_test(jumps_over_half_fallen_slots_keep_the_order),
        cmocka_unit_test(stops_in_the_middle_of_a_crowd_keep_the_order),
        cmocka_unit_test(crowded_rounds_keep_the_order),
        cmocka_unit_test(a_crowd_at_the_end_of_time_leaves_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
