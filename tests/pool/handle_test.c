/*
 * pool/handle_test.c - what a handle stands for: one timer, from its arming to
 * its end, and nothing else ever after; any other number is nothing at all.
 */
#include "support/pool.h"

/* Every call with a handle that stands for nothing says so, and does nothing */
static void assert_means_nothing(struct tkw_pool *pool, tkw_handle handle)
{
    tkw_pool_prefetch(pool, handle);
    assert_false(tkw_pool_cancel(pool, handle));
    assert_int_equal(tkw_pool_rearm(pool, handle, 1), 0);
    assert_int_equal(tkw_pool_rearm(pool, handle, TKW_NEVER), 0);
    assert_int_equal(tkw_pool_postpone(pool, handle, 2), 0);
    assert_int_equal(tkw_pool_postpone(pool, handle, TKW_NEVER), 0);
}

/* 0 is none: before, during and after the life of a timer. */
static void zero_is_never_a_handle(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    assert_means_nothing(pool, 0);
    assert_pool_state(pool, 0, TKW_STALE);
    for (unsigned i = 0; i < 100; i++) {
        tkw_handle handle = pool_arm(pool, 1000 + i, i);
        assert_means_nothing(pool, 0);
        assert_pool_state(pool, 0, TKW_STALE);
        if (i % 2 == 0)
            assert_true(tkw_pool_cancel(pool, handle));
    }
    assert_int_equal(tkw_pool_count(pool), 50);
    pool_done(pool);
}

/* The pointer and the word come back, from pop, keep, query, walk and drain. */
static void prefetching_changes_nothing(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(NULL, 0);
    tkw_handle handle = pool_arm(pool, 10, 7);
    tkw_pool_prefetch(pool, handle);
    assert_pool_state(pool, handle, TKW_PENDING);
    assert_pool_fires_on_time(pool, handle);
    tkw_pool_prefetch(pool, handle);
    assert_pool_state(pool, handle, TKW_DONE);
    pool_done(pool);
}

static void what_a_timer_carries_comes_back(void **state)
{
    (void)state;
    int mine[3];
    struct tkw_pool *pool = pool_of(NULL, 0);
    tkw_handle handles[3];
    struct tkw_pool_timer timer;
    for (size_t i = 0; i < 3; i++) {
        struct tkw_user user = {.pointer = &mine[i], .word = ~(uint64_t)i};
        assert_int_equal(tkw_pool_arm(pool, &handles[i], 10 + i, user), 0);
        assert_int_equal(tkw_pool_query(pool, handles[i], &timer), TKW_PENDING);
        assert_ptr_equal(timer.user.pointer, &mine[i]);
        assert_int_equal(timer.user.word, ~(uint64_t)i);
    }
    struct tkw_pool_cursor walk = {0};
    while (tkw_pool_walk(pool, &walk, &timer))
        assert_ptr_equal(timer.user.pointer, &mine[~timer.user.word]);

    tkw_pool_advance(pool, 11);
    assert_true(tkw_pool_pop(pool, &timer));
    assert_ptr_equal(timer.user.pointer, &mine[0]);
    assert_int_equal(timer.user.word, UINT64_MAX);
    assert_true(tkw_pool_pop_keep(pool, &timer));
    assert_ptr_equal(timer.user.pointer, &mine[1]);
    assert_int_equal(tkw_pool_query(pool, handles[1], &timer), TKW_KEPT);
    assert_ptr_equal(timer.user.pointer, &mine[1]);
    assert_int_equal(timer.deadline, 11);
    assert_true(tkw_pool_drain(pool, &timer));
    assert_ptr_equal(timer.user.pointer, &mine[2]);
    assert_int_equal(timer.handle, handles[2]);
    pool_done(pool);
}

/* Pending, ready, done; cancelled; kept, pending again, let go. */
static void a_query_tells_each_point_of_a_life(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool_timer timer;
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        tkw_handle a = pool_arm(pool, 90, 0), b = pool_arm(pool, 91, 1);
        tkw_handle c = pool_arm(pool, 92, 2), d = pool_arm(pool, 93, 3);
        assert_true(tkw_pool_cancel(pool, b));
        assert_pool_state(pool, b, TKW_CANCELLED);
        tkw_pool_advance(pool, 89);
        assert_pool_state(pool, a, TKW_PENDING);
        tkw_pool_advance(pool, 92);
        assert_pool_state(pool, a, TKW_READY);
        assert_pool_state(pool, b, TKW_CANCELLED);
        assert_pool_state(pool, d, TKW_PENDING);
        assert_pool_pops(pool, a); /* then done */
        assert_true(tkw_pool_pop_keep(pool, &timer));
        assert_int_equal(timer.handle, c);
        assert_pool_state(pool, c, TKW_KEPT);
        assert_int_equal(tkw_pool_rearm(pool, c, 95), 1);
        assert_pool_state(pool, c, TKW_PENDING);
        assert_true(tkw_pool_drain(pool, &timer));
        assert_pool_state(pool, timer.handle, TKW_DONE);
        assert_true(tkw_pool_drain(pool, &timer));
        assert_pool_state(pool, timer.handle, TKW_DONE);
        assert_false(tkw_pool_drain(pool, &timer));
        pool_done(pool);
    }
}

/* Used again, a place has forgotten how its last life ended. */
static void a_handle_is_stale_once_its_place_is_used_again(void **state)
{
    (void)state;
    static tkw_handle old[100], fresh[3000];
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(old); i++)
        old[i] = pool_arm(pool, 5 + i % 2, i);
    for (size_t i = 0; i < COUNT_OF(old); i += 2)
        assert_true(tkw_pool_cancel(pool, old[i]));
    tkw_pool_advance(pool, 100);
    for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);)
        assert_int_equal(timer.user.word % 2, 1);
    for (size_t i = 0; i < COUNT_OF(old); i++)
        assert_pool_state(pool, old[i], i % 2 ? TKW_DONE : TKW_CANCELLED);

    for (size_t i = 0; i < COUNT_OF(fresh); i++)
        fresh[i] = pool_arm(pool, 1000, i);
    size_t stale = 0;
    for (size_t i = 0; i < COUNT_OF(old); i++) {
        enum tkw_state state_now = tkw_pool_query(pool, old[i], NULL);
        stale += state_now == TKW_STALE;
        assert_true(state_now == TKW_STALE ||
                    state_now == (i % 2 ? TKW_DONE : TKW_CANCELLED));
        assert_means_nothing(pool, old[i]);
    }
    assert_true(stale > 0);
    for (size_t i = 0; i < COUNT_OF(fresh); i++)
        assert_pool_state(pool, fresh[i], TKW_PENDING);
    assert_int_equal(tkw_pool_count(pool), COUNT_OF(fresh));
    pool_done(pool);
}

static void cancelling_twice_stops_it_once(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        tkw_handle pending = pool_arm(pool, 445, 0);
        tkw_handle ready = pool_arm(pool, 3, 1);
        tkw_handle never = pool_arm(pool, TKW_NEVER, 2);
        tkw_pool_advance(pool, 10);
        tkw_handle all[] = {pending, ready, never};
        for (size_t i = 0; i < COUNT_OF(all); i++) {
            assert_true(tkw_pool_cancel(pool, all[i]));
            assert_false(tkw_pool_cancel(pool, all[i]));
            assert_pool_state(pool, all[i], TKW_CANCELLED);
            assert_int_equal(tkw_pool_count(pool), 2 - i);
        }
        assert_pool_pops_none(pool);
        assert_int_equal(tkw_pool_read_stats(pool).work.cancelled, 3);
        pool_done(pool);
    }
}

static int compare_handles(const void *a, const void *b)
{
    tkw_handle left = *(const tkw_handle *)a, right = *(const tkw_handle *)b;
    return left < right ? -1 : left > right;
}

/* No number by chance, by the hundred thousand, is a timer. */
static void forged_handles_mean_nothing(void **state)
{
    (void)state;
    static tkw_handle handles[1000];
    uint64_t seed = random_seed();
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, 100 + i, i);
    qsort(handles, COUNT_OF(handles), sizeof(handles[0]), compare_handles);
    for (unsigned i = 0; i < 300000; i++) {
        tkw_handle forged = i % 3 == 0   ? random_next(&seed)
                            : i % 3 == 1 ? random_magnitude(&seed, 64)
                                         : i;
        if (bsearch(&forged, handles, COUNT_OF(handles), sizeof(forged),
                    compare_handles) != NULL)
            continue;
        assert_pool_state(pool, forged, TKW_STALE);
        assert_means_nothing(pool, forged);
    }
    assert_int_equal(tkw_pool_count(pool), COUNT_OF(handles));
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        assert_pool_state(pool, handles[i], TKW_PENDING);
    pool_done(pool);
}

/* Nor one that is a bit or a little off, in index or in generation. */
static void neighbours_of_a_handle_mean_nothing(void **state)
{
    (void)state;
    static tkw_handle handles[700];
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < COUNT_OF(handles); i++) {
        for (size_t life = 0; life < i % 5; life++)
            tkw_pool_cancel(pool, pool_arm(pool, 100 + i, i));
        handles[i] = pool_arm(pool, 100 + i, i);
    }
    qsort(handles, COUNT_OF(handles), sizeof(handles[0]), compare_handles);
    for (size_t i = 0; i < COUNT_OF(handles) * 192; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;
        tkw_handle handle = handles[i / 192];
        tkw_handle forged = i / 64 % 3 == 0   ? handle ^ bit
                            : i / 64 % 3 == 1 ? handle + bit
                                              : handle - bit;
        if (bsearch(&forged, handles, COUNT_OF(handles), sizeof(forged),
                    compare_handles) != NULL)
            continue; /* another timer, by its own handle */
        assert_means_nothing(pool, forged);
        enum tkw_state is = tkw_pool_query(pool, forged, NULL);
        assert_true(is == TKW_STALE || is == TKW_CANCELLED);
    }
    assert_int_equal(tkw_pool_count(pool), COUNT_OF(handles));
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        assert_pool_state(pool, handles[i], TKW_PENDING);
    pool_done(pool);
}

/* Moved as often as you like, a timer goes by its first handle. */
static void moving_a_timer_does_not_change_its_handle(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        tkw_handle handle = pool_arm(pool, 10, 77);
        for (unsigned i = 0; i < 20000; i++) {
            tkw_tick deadline = 1 + random_below(&seed, 3000);
            int moved = i % 2 == 0 ? tkw_pool_rearm(pool, handle, deadline)
                                   : tkw_pool_postpone(pool, handle, deadline);
            assert_int_equal(moved, 1);
            assert_int_equal(pool_deadline(pool, handle), deadline);
            assert_int_equal(tkw_pool_count(pool), 1);
        }
        assert_pool_fires_on_time(pool, handle);
        assert_pool_pops_none(pool);
        pool_done(pool);
    }
}

/* A periodic timer: popped, kept and armed again under one handle. */
static void a_kept_timer_goes_on_under_its_handle(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct tkw_pool_timer timer;
        struct tkw_pool *pool = pool_of(&pool_shapes[s], 0);
        tkw_handle handle = pool_arm(pool, 7, 42);
        for (unsigned i = 1; i < 5000; i++) {
            tkw_tick due = (tkw_tick)i * 7;
            tkw_pool_advance(pool, due);
            assert_true(tkw_pool_pop_keep(pool, &timer));
            assert_int_equal(timer.handle, handle);
            assert_int_equal(timer.deadline, due);
            assert_int_equal(timer.user.word, 42);
            assert_int_equal(tkw_pool_count(pool), 0);
            assert_false(tkw_pool_pop_keep(pool, &timer));
            assert_int_equal(tkw_pool_postpone(pool, handle, due + 1), 0);
            assert_pool_state(pool, handle, TKW_KEPT);
            assert_int_equal(tkw_pool_rearm(pool, handle, due + 7), 1);
            assert_int_equal(tkw_pool_read_stats(pool).work.armed, i + 1);
        }
        assert_int_equal(tkw_pool_read_stats(pool).work.fired, 4999);
        assert_pool_sound(pool);
        pool_done(pool);
    }
}

/* Let go, a kept one is no cancelled arming; its place is free to be used. */
static void cancelling_a_kept_timer_lets_it_go(void **state)
{
    (void)state;
    struct tkw_pool_timer timer;
    struct tkw_pool *pool = pool_of(NULL, 0);
    uint64_t warm = 0;
    for (unsigned i = 0; i < 200000; i++) {
        tkw_handle handle = pool_arm(pool, 0, i);
        assert_true(tkw_pool_pop_keep(pool, &timer));
        assert_int_equal(timer.handle, handle);
        assert_false(tkw_pool_cancel(pool, handle));
        enum tkw_state is = tkw_pool_query(pool, handle, NULL);
        assert_true(is == TKW_DONE || is == TKW_CANCELLED);
        assert_means_nothing(pool, handle);
        if (i == 100000)
            warm = tkw_pool_read_stats(pool).bytes;
    }
    assert_int_equal(tkw_pool_read_stats(pool).bytes, warm);
    assert_int_equal(tkw_pool_read_stats(pool).work.cancelled, 0);
    assert_int_equal(tkw_pool_read_stats(pool).work.fired, 200000);
    pool_done(pool);
}

#define LIVES 1000000

/* A million lives, most in one place: each handle is for its own alone. */
static void a_handle_never_cancels_the_next_life_in_its_place(void **state)
{
    (void)state;
    static tkw_handle given[LIVES];
    uint64_t seed = random_seed();
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < LIVES; i++) {
        given[i] = pool_arm(pool, 100000, i);
        for (unsigned sample = 0; i > 0 && sample < 4; sample++) {
            size_t back = (size_t)random_magnitude(&seed, 20) % i;
            assert_means_nothing(pool, given[i - 1 - back]);
        }
        assert_int_equal(tkw_pool_count(pool), 1);
        assert_true(tkw_pool_cancel(pool, given[i]));
        if (i % 1000 == 0)
            tkw_pool_advance(pool, i / 1000);
    }
    qsort(given, LIVES, sizeof(given[0]), compare_handles);
    for (size_t i = 1; i < LIVES; i++)
        assert_true(given[i - 1] < given[i]); /* none was given out twice */
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_is_never_a_handle),
        cmocka_unit_test(prefetching_changes_nothing),
        cmocka_unit_test(what_a_timer_carries_comes_back),
        cmocka_unit_test(a_query_tells_each_point_of_a_life),
        cmocka_unit_test(a_handle_is_stale_once_its_place_is_used_again),
        cmocka_unit_test(cancelling_twice_stops_it_once),
        cmocka_unit_test(forged_handles_mean_nothing),
        cmocka_unit_test(neighbours_of_a_handle_mean_nothing),
        cmocka_unit_test(moving_a_timer_does_not_change_its_handle),
        cmocka_unit_test(a_kept_timer_goes_on_under_its_handle),
        cmocka_unit_test(cancelling_a_kept_timer_lets_it_go),
        cmocka_unit_test(a_handle_never_cancels_the_next_life_in_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
