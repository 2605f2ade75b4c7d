/*
 * pool/walk_test.c - everything a pool holds: walking over it, draining it,
 * popping many at once, and the sums that must come out at every point.
 */
#include "support/pool.h"

#define CROWD 3000

/* Armed in every way: near, far, ready, for ever; cancelled and kept beside. */
static struct tkw_pool *mixed(const struct tkw_geometry *geometry,
                              tkw_handle handles[CROWD])
{
    struct tkw_pool_timer timer;
    struct tkw_pool *pool = pool_of(geometry, 100);
    for (size_t i = 0; i < CROWD; i++) {
        tkw_tick deadline = i % 10 == 0 ? TKW_NEVER : 90 + i * 13 % 5000;
        handles[i] = pool_arm(pool, deadline, i);
    }
    for (size_t i = 0; i < CROWD; i += 4)
        assert_true(tkw_pool_cancel(pool, handles[i]));
    tkw_pool_advance(pool, 400);
    for (unsigned i = 0; i < 20; i++)
        assert_true(tkw_pool_pop_keep(pool, &timer));
    tkw_pool_advance_some(pool, 2000, 77);
    return pool;
}

static bool is_armed(const struct tkw_pool *pool, tkw_handle handle)
{
    enum tkw_state state = tkw_pool_query(pool, handle, NULL);
    return state == TKW_PENDING || state == TKW_READY;
}

/* Each armed timer once, with what is its own; nothing else. */
static void a_walk_visits_each_armed_timer_once(void **state)
{
    (void)state;
    static tkw_handle handles[CROWD];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        unsigned met[CROWD] = {0};
        struct tkw_pool *pool = mixed(&pool_shapes[s], handles);
        struct tkw_pool_cursor walk = {0};
        for (struct tkw_pool_timer timer; tkw_pool_walk(pool, &walk, &timer);) {
            size_t i = (size_t)timer.user.word;
            assert_int_equal(timer.handle, handles[i]);
            assert_int_equal(timer.deadline,
                             i % 10 == 0 ? TKW_NEVER : 90 + i * 13 % 5000);
            met[i]++;
        }
        for (size_t i = 0; i < CROWD; i++)
            assert_int_equal(met[i], is_armed(pool, handles[i]));
        pool_done(pool);
    }
}

/* Cancelling the one at hand, and any other, is allowed on the way. */
static void a_walk_may_cancel_what_it_meets(void **state)
{
    (void)state;
    static tkw_handle handles[CROWD];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = mixed(&pool_shapes[s], handles);
        size_t armed = tkw_pool_count(pool), met = 0, others = 0;
        struct tkw_pool_cursor walk = {0};
        for (struct tkw_pool_timer timer; tkw_pool_walk(pool, &walk, &timer);
             met++) {
            assert_true(tkw_pool_cancel(pool, timer.handle));
            if (met % 5 == 0)
                others += (size_t)tkw_pool_cancel(pool, handles[met]);
        }
        assert_int_equal(met + others, armed);
        assert_int_equal(tkw_pool_count(pool), 0);
        pool_done(pool);
    }
}

/* Armed on the way, new ones may be missed; the old ones are not. */
static void a_walk_may_arm_on_its_way(void **state)
{
    (void)state;
    static tkw_handle handles[CROWD];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        unsigned met[CROWD] = {0};
        struct tkw_pool *pool = mixed(&pool_shapes[s], handles);
        size_t armed = tkw_pool_count(pool), old = 0, fresh = 0;
        struct tkw_pool_cursor walk = {0};
        for (struct tkw_pool_timer timer; tkw_pool_walk(pool, &walk, &timer);) {
            if (timer.user.word >= CROWD)
                continue;
            assert_int_equal(met[timer.user.word]++, 0);
            old++;
            if (fresh < CROWD)
                pool_arm(pool, 3000, CROWD + fresh++);
        }
        assert_int_equal(old, armed);
        assert_int_equal(tkw_pool_count(pool), armed + fresh);
        pool_done(pool);
    }
}

/* Who arms one more for each that it meets must not walk for ever. */
static void a_walk_ends_however_many_are_armed_on_its_way(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < 10; i++)
        pool_arm(pool, 100, i);
    struct tkw_pool_cursor walk = {0};
    size_t met = 0;
    for (struct tkw_pool_timer timer; tkw_pool_walk(pool, &walk, &timer);
         met++) {
        assert_true(met < 10);
        pool_arm(pool, 100, 10 + met);
    }
    assert_int_equal(met, 10);
    pool_done(pool);
}

static void an_empty_pool_has_nothing_to_visit(void **state)
{
    (void)state;
    struct tkw_pool_timer timer;
    struct tkw_pool *pool = pool_of(NULL, 0);
    assert_int_equal(pool_walked_count(pool), 0);
    assert_false(tkw_pool_drain(pool, &timer));
    assert_false(tkw_pool_pop(pool, &timer));
    assert_false(tkw_pool_pop_keep(pool, &timer));
    assert_int_equal(tkw_pool_pop_many(pool, &timer, 1), 0);
    tkw_pool_cancel(pool, pool_arm(pool, 10, 0));
    assert_int_equal(pool_walked_count(pool), 0);
    assert_false(tkw_pool_drain(pool, &timer));
    pool_done(pool);
}

/* Each exactly once, with what it carried; then nothing. */
static void a_drain_hands_back_each_armed_timer_once(void **state)
{
    (void)state;
    static tkw_handle handles[CROWD];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        unsigned met[CROWD] = {0};
        bool was_armed[CROWD];
        struct tkw_pool *pool = mixed(&pool_shapes[s], handles);
        size_t armed = tkw_pool_count(pool);
        for (size_t i = 0; i < CROWD; i++)
            was_armed[i] = is_armed(pool, handles[i]);
        for (struct tkw_pool_timer timer; tkw_pool_drain(pool, &timer);
             armed--) {
            assert_int_equal(tkw_pool_count(pool), armed - 1);
            assert_int_equal(timer.handle, handles[timer.user.word]);
            assert_pool_state(pool, timer.handle, TKW_DONE);
            assert_false(tkw_pool_cancel(pool, timer.handle));
            met[timer.user.word]++;
        }
        assert_int_equal(armed, 0);
        for (size_t i = 0; i < CROWD; i++)
            assert_int_equal(met[i], was_armed[i]);
        pool_done(pool);
    }
}

/* A pool that was drained is as good as new. */
static void a_drained_pool_can_be_used_again(void **state)
{
    (void)state;
    static tkw_handle handles[CROWD];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool_timer timer;
        struct tkw_pool *pool = mixed(&pool_shapes[s], handles);
        while (tkw_pool_drain(pool, &timer))
            continue;
        tkw_pool_advance(pool, 2000);
        for (size_t i = 0; i < CROWD; i++)
            handles[i] = pool_arm(pool, 2500 + i / 100, i);
        tkw_pool_advance(pool, 4000);
        for (size_t i = 0; i < CROWD; i++)
            assert_pool_pops(pool, handles[i]);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* Of eleven, two were cancelled: one while pending, one when ready. */
static struct tkw_pool *ready_crowd(tkw_handle handles[CROWD])
{
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < CROWD; i++)
        handles[i] = pool_arm(pool, 1 + i / 7, i);
    for (size_t i = 0; i < CROWD; i += 11)
        assert_true(tkw_pool_cancel(pool, handles[i]));
    tkw_pool_advance(pool, 1000);
    for (size_t i = 1; i < CROWD; i += 11)
        assert_true(tkw_pool_cancel(pool, handles[i]));
    return pool;
}

/* Pop all, `room` at a time; each time there must be some, or it is over. */
static size_t pop_by(struct tkw_pool *pool, struct tkw_pool_timer *timers,
                     size_t room)
{
    size_t popped = 0, count;
    while ((count = tkw_pool_pop_many(pool, &timers[popped], room)) != 0) {
        assert_true(count <= room);
        popped += count;
    }
    return popped;
}

/* As one by one, in the same order; no more than there is room for. */
static void popping_many_is_popping_one_by_one(void **state)
{
    (void)state;
    static tkw_handle handles[CROWD];
    static struct tkw_pool_timer timers[2 * CROWD];
    for (size_t room = 1; room <= CROWD; room = room * 3 + 1) {
        struct tkw_pool *pool = ready_crowd(handles);
        assert_int_equal(tkw_pool_pop_many(pool, timers, 0), 0);
        size_t armed = tkw_pool_count(pool);
        assert_int_equal(pop_by(pool, timers, room), armed);
        const struct tkw_pool_timer *timer = timers;
        for (size_t i = 0; i < CROWD; i++) {
            if (i % 11 < 2)
                continue;
            assert_int_equal(timer->handle, handles[i]);
            assert_int_equal(timer->user.word, i);
            assert_pool_state(pool, timer++->handle, TKW_DONE);
        }
        pool_done(pool);
    }
}

static void do_anything(struct tkw_pool *pool, tkw_handle *handle,
                        uint64_t *seed)
{
    struct tkw_pool_timer timers[5];
    tkw_tick now = tkw_pool_now(pool);
    tkw_tick deadline = now + random_magnitude(seed, 11);
    switch (random_below(seed, 10)) {
    case 0:
        tkw_pool_cancel(pool, *handle);
        break;
    case 1:
        tkw_pool_postpone(pool, *handle, deadline);
        break;
    case 2:
        tkw_pool_rearm(pool, *handle, deadline);
        break;
    case 3:
        tkw_pool_advance_some(pool, now + random_magnitude(seed, 7),
                              (size_t)random_below(seed, 20));
        break;
    case 4:
        tkw_pool_pop_keep(pool, timers);
        break;
    case 5:
        tkw_pool_pop_many(pool, timers, 1 + (size_t)random_below(seed, 5));
        break;
    case 6:
        if (random_below(seed, 20) == 0)
            tkw_pool_drain(pool, timers);
        break;
    default:
        if (!is_armed(pool, *handle))
            *handle = pool_arm(pool, deadline, 0);
    }
}

/* L3.  armed = fired + cancelled + drained + count, whatever is called. */
static void the_sum_holds_at_every_point_of_a_random_run(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        tkw_handle handles[60] = {0};
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        for (unsigned i = 0; i < 20000; i++) {
            do_anything(pool, &handles[random_below(&seed, 60)], &seed);
            struct tkw_wheel_stats c = tkw_pool_read_stats(pool).work;
            assert_int_equal(c.armed, c.fired + c.cancelled + c.drained +
                                          tkw_pool_count(pool));
            if (i % 8 == 0)
                assert_pool_sound(pool);
        }
        pool_done(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_visits_each_armed_timer_once),
        cmocka_unit_test(a_walk_may_cancel_what_it_meets),
        cmocka_unit_test(a_walk_may_arm_on_its_way),
        cmocka_unit_test(a_walk_ends_however_many_are_armed_on_its_way),
        cmocka_unit_test(an_empty_pool_has_nothing_to_visit),
        cmocka_unit_test(a_drain_hands_back_each_armed_timer_once),
        cmocka_unit_test(a_drained_pool_can_be_used_again),
        cmocka_unit_test(popping_many_is_popping_one_by_one),
        cmocka_unit_test(the_sum_holds_at_every_point_of_a_random_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
