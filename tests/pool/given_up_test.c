/*
 * pool/given_up_test.c - a pool with payload, whose armed timers any thread may
 * give up.  The pool frees them where it finds them, and returns none of them.
 */
#include "payload_scene.h"

#include <errno.h>

enum {
    /* More dead entries than the sweeper leaves beside few armed timers. */
    DEAD_MAX = 2 * TKW_SWEEP_SLACK + CHUNK_ENTRIES,
};

static void freeing_a_timer_given_up_counts_it_once(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t armed = arm(&world, 10), due = arm(&world, 1);
    tkw_pool_advance(world.pool, 1);
    assert_takes(&world, due, 1);
    give_up(&world, armed);
    give_up(&world, due);
    assert_armed(&world, 1, 2);
    tkw__pool_free(world.pool, armed, true);
    assert_armed(&world, 0, 1);
    tkw__pool_free(world.pool, due, true);
    assert_armed(&world, 0, 0);
    tkw_pool_advance(world.pool, 10);
    close_empty(&world);
}

/* A thread sets the bit first.  The pool may see the bit before the count. */
static void a_timer_seen_before_it_is_counted_is_not_counted_twice(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    set_given_up(&world, arm(&world, 10));
    give_up(&world, arm(&world, 20));
    assert_armed(&world, 2, 1);
    tkw_pool_advance(world.pool, 10);
    assert_armed(&world, 1, 0);
    tkw_pool_advance(world.pool, 20);
    assert_armed(&world, 0, 0);
    count_given_up(&world);
    close_empty(&world);
}

static void a_timer_given_up_is_dropped_when_its_slot_falls(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, &kafka);
    uint32_t kept = arm(&world, 70), index = arm(&world, 70);
    give_up(&world, index);
    assert_armed(&world, 2, 1);
    tkw_pool_advance(world.pool, 60);
    assert_armed(&world, 1, 0);
    assert_int_equal(tkw_pool_read_stats(world.pool).work.falls, 1);
    assert_int_equal(take(&world), index);
    tkw__pool_free(world.pool, index, false);
    tkw_pool_advance(world.pool, 70);
    assert_takes(&world, kept, 70);
    tkw__pool_free(world.pool, kept, false);
    close_empty(&world);
}

static void a_timer_given_up_is_dropped_when_it_fires(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, &kafka);
    uint32_t index = arm(&world, 7), kept = arm(&world, 7);
    give_up(&world, index);
    tkw_pool_advance(world.pool, 6);
    assert_armed(&world, 2, 1);
    tkw_pool_advance(world.pool, 7);
    assert_armed(&world, 1, 0);
    assert_takes(&world, kept, 7);
    tkw__pool_free(world.pool, kept, false);
    assert_int_equal(tkw_pool_read_stats(world.pool).work.cancelled, 1);
    close_empty(&world);
}

/* Few of a crowd are given up, so the crowd falls without reading records. */
static void
a_timer_given_up_in_a_crowd_that_falls_blind_never_fires(void **state)
{
    (void)state;
    enum { COUNT = 2 * TKW_CROWDED_CHUNKS * CHUNK_ENTRIES };
    struct world world;
    open_world(&world, &kafka);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(arm(&world, 70), i);
    for (uint32_t i = 0; i < COUNT; i += 100)
        give_up(&world, i);
    size_t count = (COUNT + 99) / 100;
    tkw_pool_advance(world.pool, 60);
    assert_armed(&world, COUNT, count);
    assert_int_equal(tkw_pool_read_stats(world.pool).work.falls, COUNT);
    tkw_pool_advance(world.pool, 70);
    assert_armed(&world, COUNT - count, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 100 != 0) {
            assert_takes(&world, i, 70);
            tkw__pool_free(world.pool, i, false);
        }
    }
    close_empty(&world);
}

/* So many of a crowd are given up that the crowd falls reading records. */
static void a_crowd_of_which_many_are_given_up_does_not_fall_blind(void **state)
{
    (void)state;
    enum { COUNT = 2 * TKW_CROWDED_CHUNKS * CHUNK_ENTRIES };
    struct world world;
    open_world(&world, &kafka);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(arm(&world, 70), i);
    for (uint32_t i = 0; i < COUNT; i += 2)
        give_up(&world, i);
    tkw_pool_advance(world.pool, 60);
    assert_armed(&world, COUNT / 2, 0);
    assert_int_equal(tkw_pool_read_stats(world.pool).work.falls, COUNT / 2);
    for (uint32_t i = 1; i < COUNT; i += 2)
        tkw__pool_free(world.pool, i, false);
    tkw_pool_advance(world.pool, 70);
    close_empty(&world);
}

static void a_timer_given_up_after_it_became_ready_is_not_taken(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    struct world world;
    open_world(&world, NULL);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(arm(&world, 3), i);
    tkw_pool_advance(world.pool, 3);
    for (uint32_t i = 0; i < COUNT; i += 2)
        give_up(&world, i);
    assert_armed(&world, COUNT, COUNT / 2);
    for (uint32_t i = 1; i < COUNT; i += 2) {
        assert_takes(&world, i, 3);
        assert_armed(&world, COUNT - i - 1, (COUNT - i) / 2);
        tkw__pool_free(world.pool, i, false);
    }
    close_empty(&world);
}

static void a_timer_given_up_in_an_unfinished_tick_is_not_taken(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t due = arm(&world, 3), filed = arm(&world, 3);
    assert_false(tkw_pool_advance_some(world.pool, 3, 1));
    uint32_t late = arm(&world, 3), fresh = arm(&world, 1);
    uint32_t kept = arm(&world, 3);
    give_up(&world, due);
    give_up(&world, filed);
    give_up(&world, late);
    give_up(&world, fresh);
    assert_armed(&world, 5, 4);
    assert_takes_none(&world);
    tkw_pool_advance(world.pool, 3);
    assert_takes(&world, kept, 3);
    tkw__pool_free(world.pool, kept, false);
    close_empty(&world);
}

static void a_timer_given_up_that_never_comes_is_swept(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    give_up(&world, arm(&world, TKW_NEVER));
    uint32_t kept = arm(&world, TKW_NEVER);
    for (size_t i = 0; tkw_pool_count(world.pool) > 1; i++) {
        assert_in_range(i, 0, 1000);
        tkw__pool_sweep(world.pool);
    }
    assert_armed(&world, 1, 0);
    tkw__pool_free(world.pool, kept, false);
    ledger_done(&world.ledger, world.pool);
}

static void timers_armed_and_given_up_without_an_advance_are_swept(void **state)
{
    (void)state;
    enum { COUNT = 300000, KEPT = 1000 };
    struct world world;
    open_world(&world, NULL);
    for (uint32_t i = 0; i < KEPT; i++)
        arm(&world, FAR + i);
    for (uint32_t i = 0; i < COUNT; i++) {
        give_up(&world, arm(&world, FAR + i % 5000));
        assert_in_range(world.pool->entries, 1, 2 * KEPT + DEAD_MAX);
    }
    assert_in_range(world.pool->used, KEPT, 2 * KEPT + DEAD_MAX);
    assert_armed(&world, world.pool->entries,
                 (size_t)world.pool->entries - KEPT);
    for (uint32_t i = 0; i < KEPT; i++) {
        tkw_pool_advance(world.pool, FAR + i);
        assert_takes(&world, i, FAR + i);
        tkw__pool_free(world.pool, i, false);
    }
    tkw_pool_advance(world.pool, FAR + 5000);
    close_empty(&world);
}

/* All timers are given up, and none is armed any more: advances sweep. */
static void advances_sweep_timers_given_up(void **state)
{
    (void)state;
    enum { COUNT = 3 * TKW_SWEEP_SLACK };
    struct world world;
    open_world(&world, NULL);
    for (uint32_t i = 0; i < COUNT; i++)
        arm(&world, FAR);
    for (uint32_t i = 0; i < COUNT; i++)
        give_up(&world, i);
    for (size_t i = 0; i < COUNT / CHUNK_ENTRIES + SHELVES; i++)
        tkw_pool_advance(world.pool, 0);
    assert_in_range(tkw_pool_count(world.pool), 0, TKW_SWEEP_SLACK);
    assert_armed(&world, (size_t)world.pool->entries,
                 (size_t)world.pool->entries);
    tkw_pool_advance(world.pool, FAR);
    close_empty(&world);
}

/* The service gives up taken timers, too.  Then more timers are given up than
 * are armed. */
static void advances_sweep_while_a_taken_timer_is_given_up(void **state)
{
    (void)state;
    enum { COUNT = 3 * TKW_SWEEP_SLACK };
    struct world world;
    open_world(&world, NULL);
    for (uint32_t i = 0; i < COUNT; i++)
        arm(&world, FAR);
    uint32_t taken = take(&world);
    give_up(&world, taken);
    for (uint32_t i = 0; i < COUNT; i++)
        tkw__pool_free(world.pool, i, false);
    for (size_t i = 0; i < COUNT / CHUNK_ENTRIES + SHELVES; i++)
        tkw_pool_advance(world.pool, 0);
    assert_in_range(world.pool->entries, 0, TKW_SWEEP_SLACK);
    assert_armed(&world, 0, 1);
    tkw__pool_free(world.pool, taken, true);
    tkw_pool_advance(world.pool, FAR);
    close_empty(&world);
}

/* The ways in which a pool finds a timer that was given up. */
enum found { BY_FALL, BY_FIRING, BY_SWEEP, IN_READY, FOUND_WAYS };

static void find_given_up(struct world *world, uint32_t index, enum found how)
{
    if (how == IN_READY)
        tkw_pool_advance(world->pool, 70);
    else if (how == BY_FIRING)
        tkw_pool_advance(world->pool, 69); /* it has fallen before */
    give_up(world, index);
    if (how == BY_FALL)
        tkw_pool_advance(world->pool, 60);
    else if (how == BY_FIRING)
        tkw_pool_advance(world->pool, 70);
    for (size_t i = 0; how == BY_SWEEP && tkw_pool_count(world->pool) > 0;
         i++) {
        assert_in_range(i, 0, 1000);
        tkw__pool_sweep(world->pool);
    }
    assert_takes_none(world);
}

static void a_timer_given_up_in_a_body_is_dropped_with_the_body(void **state)
{
    (void)state;
    for (unsigned how = 0; how < FOUND_WAYS; how++) {
        for (unsigned bodies = 1; bodies < 3; bodies++) {
            struct world world;
            open_world(&world, &kafka);
            uint32_t index = arm(&world, 70);
            move_to_body(&world, index, 70);
            for (uint64_t i = 0; bodies == 2 && i < TAG_MAX + 1; i++)
                rearm(&world, index, 70);
            assert_int_equal(tkw__pool_deadline(world.pool, index), 70);
            find_given_up(&world, index, (enum found)how);
            assert_armed(&world, 0, 0);
            tkw_pool_advance(world.pool, 71);
            close_empty(&world);
        }
    }
}

/* The bit of another record's payload means nothing for a timer in a body. */
static void
a_body_that_was_a_timer_given_up_does_not_end_its_timer(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t index = arm(&world, 100), other = arm(&world, 1);
    give_up(&world, other);
    tkw_pool_advance(world.pool, 1);
    assert_armed(&world, 1, 0);
    move_to_body(&world, index, 100);
    assert_int_equal(record_at(world.pool, index)->deadline, other);
    assert_true(record_is_given_up(record_at(world.pool, other)));
    tkw_pool_advance(world.pool, 100);
    assert_armed(&world, 1, 0);
    assert_takes(&world, index, 100);
    tkw__pool_free(world.pool, index, false);
    close_empty(&world);
}

static void a_timer_given_up_and_moved_is_never_taken(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t sooner = arm(&world, 100), later = arm(&world, 100);
    uint32_t postponed = arm(&world, 100), ready = arm(&world, 1);
    tkw_pool_advance(world.pool, 1);
    give_up(&world, sooner);
    give_up(&world, later);
    give_up(&world, postponed);
    give_up(&world, ready);
    rearm(&world, sooner, 50);
    rearm(&world, later, 200);
    rearm(&world, ready, 2);
    assert_int_equal(
        tkw_pool_postpone(world.pool, handle_of(&world, postponed), 300), 1);
    assert_armed(&world, 4, 4);
    for (tkw_tick now = 1; now < 310; now++) {
        tkw_pool_advance(world.pool, now);
        assert_takes_none(&world);
    }
    close_empty(&world);
}

/* Arm timers until the pool needs memory, which its allocator refuses, and its
 * sweeper finds none.  Returns how many. */
static uint32_t arm_until_refused(struct world *world)
{
    uint32_t count = 0, refused = 0;
    ledger_fail(&world->ledger, 0, FOR_EVER);
    while (refused < 20) {
        uint32_t index = take(world);
        if (tkw__pool_arm_taken(world->pool, index, FAR) == 0) {
            count++;
            refused = 0;
        } else {
            tkw__pool_free(world->pool, index, false);
            refused++;
        }
    }
    return count;
}

/* No memory is left.  The sweep finds the very timer that is to move. */
static void
rearming_returns_0_if_its_sweep_for_memory_frees_the_timer(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t count = arm_until_refused(&world);
    tkw_handle handle = handle_of(&world, 5);
    assert_int_equal(tkw_pool_rearm(world.pool, handle, FAR + 1), -ENOMEM);
    give_up(&world, 5);
    assert_int_equal(tkw_pool_rearm(world.pool, handle, FAR + 1), 0);
    assert_armed(&world, count - 1, 0);
    assert_int_equal(tkw_pool_rearm(world.pool, handle, FAR + 1), 0);
    assert_int_equal(entries_of(&world, 5), 0);
    assert_int_equal(take(&world), 5);
    for (uint32_t i = 0; i < count; i++)
        tkw__pool_free(world.pool, i, false);
    tkw_pool_advance(world.pool, FAR + 1);
    close_empty(&world);
}

/* Likewise, where the timer is ready, and perhaps in a body. */
static void rearming_returns_0_if_its_sweep_frees_a_ready_timer(void **state)
{
    (void)state;
    for (unsigned is_body = 0; is_body < 2; is_body++) {
        struct world world;
        open_world(&world, NULL);
        uint32_t index = arm(&world, 1);
        if (is_body)
            move_to_body(&world, index, 1);
        tkw_pool_advance(world.pool, 1);
        uint32_t count = arm_until_refused(&world);
        tkw_handle handle = handle_of(&world, index);
        give_up(&world, index);
        assert_armed(&world, count + 1, 1);
        int result;
        while ((result = tkw_pool_rearm(world.pool, handle, FAR)) == -ENOMEM)
            assert_armed(&world, count + 1, 1);
        assert_int_equal(result, 0);
        assert_armed(&world, count, 0);
        assert_takes_none(&world);
        assert_true(tkw_pool_next(world.pool) > 1);
        ledger_done(&world.ledger, world.pool);
    }
}

/* Memory is there, but so many timers are given up that rearming sweeps. */
static void
rearming_returns_0_if_its_sweep_of_many_dead_frees_the_timer(void **state)
{
    (void)state;
    enum { COUNT = 3 * TKW_SWEEP_SLACK };
    struct world world;
    open_world(&world, NULL);
    for (uint32_t i = 0; i < COUNT; i++)
        arm(&world, FAR);
    for (uint32_t i = 0; i < COUNT; i++)
        give_up(&world, i);
    tkw_handle handle = handle_of(&world, 0);
    uint64_t sweeps = world.pool->sweeps;
    world.pool->arms_left = 0; /* the next arming looks for dead entries */
    assert_int_equal(tkw_pool_rearm(world.pool, handle, FAR), 0);
    assert_int_equal(world.pool->sweeps, sweeps + 1);
    assert_pool_state(world.pool, handle, TKW_CANCELLED);
    assert_armed(&world, COUNT - CHUNK_ENTRIES, COUNT - CHUNK_ENTRIES);
    tkw_pool_advance(world.pool, FAR);
    close_empty(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freeing_a_timer_given_up_counts_it_once),
        cmocka_unit_test(
            a_timer_seen_before_it_is_counted_is_not_counted_twice),
        cmocka_unit_test(a_timer_given_up_is_dropped_when_its_slot_falls),
        cmocka_unit_test(a_timer_given_up_is_dropped_when_it_fires),
        cmocka_unit_test(
            a_timer_given_up_in_a_crowd_that_falls_blind_never_fires),
        cmocka_unit_test(
            a_crowd_of_which_many_are_given_up_does_not_fall_blind),
        cmocka_unit_test(a_timer_given_up_after_it_became_ready_is_not_taken),
        cmocka_unit_test(a_timer_given_up_in_an_unfinished_tick_is_not_taken),
        cmocka_unit_test(a_timer_given_up_that_never_comes_is_swept),
        cmocka_unit_test(
            timers_armed_and_given_up_without_an_advance_are_swept),
        cmocka_unit_test(advances_sweep_timers_given_up),
        cmocka_unit_test(advances_sweep_while_a_taken_timer_is_given_up),
        cmocka_unit_test(a_timer_given_up_in_a_body_is_dropped_with_the_body),
        cmocka_unit_test(
            a_body_that_was_a_timer_given_up_does_not_end_its_timer),
        cmocka_unit_test(a_timer_given_up_and_moved_is_never_taken),
        cmocka_unit_test(
            rearming_returns_0_if_its_sweep_for_memory_frees_the_timer),
        cmocka_unit_test(rearming_returns_0_if_its_sweep_frees_a_ready_timer),
        cmocka_unit_test(
            rearming_returns_0_if_its_sweep_of_many_dead_frees_the_timer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
