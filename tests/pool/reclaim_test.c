/*
 * pool/reclaim_test.c - a pool at its memory limit.  The allocator refuses, but
 * timers have been cancelled or moved: arming and reserving use their memory
 * again (L16), a bounded number of entries at a time (L6).
 */
#include "pool/private.h"
#include "support/pool.h"

#include <errno.h>

enum {
    TIMERS_MAX = 100000,
    /* Entries that one refused call sweeps at most: see tkw__pool_provide(). */
    SWEPT_MAX = 16 * CHUNK_ENTRIES,
};

static tkw_handle armed[TIMERS_MAX];

static int try_arm(struct tkw_pool *pool, tkw_handle *handle, tkw_tick deadline)
{
    return tkw_pool_arm(pool, handle, deadline, (struct tkw_user){.word = 1});
}

static tkw_tick far_and_spread(size_t i)
{
    return 3600000 + i * 37 % 5000;
}

/*
 * A pool whose allocator refuses from now on, with as many timers in `armed` as
 * there is memory for: `*count` of them.  The allocator gives `pieces` pieces
 * beyond what opening takes.
 */
static struct tkw_pool *full_pool(struct ledger *ledger, uint64_t pieces,
                                  size_t *count)
{
    struct tkw_pool *pool = ledger_pool(ledger, NULL);
    ledger_fail(ledger, pieces, FOR_EVER);
    *count = 0;
    while (try_arm(pool, &armed[*count], far_and_spread(*count)) == 0)
        assert_in_range(++*count, 1, TIMERS_MAX - 1);
    return pool;
}

/* The numbers of pieces for which records, or chunks, are what runs out. */
static const uint64_t amounts[] = {0, 1, 20, 40};

/* Arm, again and again while memory is refused.  Returns how often it was: no
 * more often than the sweeper needs to come round. */
static size_t arm_with_retries(struct tkw_pool *pool, tkw_tick deadline)
{
    size_t most = 4 + 2 * tkw_pool_read_stats(pool).entries / SWEPT_MAX;
    size_t refused = 0;
    while (try_arm(pool, NULL, deadline) != 0)
        assert_in_range(++refused, 1, most);
    return refused;
}

/* The memory of cancelled timers is used by the next ones, and the first arming
 * after the cancels succeeds already. */
static void cancelled_timers_make_room_at_the_limit(void **state)
{
    (void)state;
    for (size_t a = 0; a < COUNT_OF(amounts); a++) {
        struct ledger ledger;
        size_t count;
        struct tkw_pool *pool = full_pool(&ledger, amounts[a], &count);
        for (size_t i = 0; i < count; i++)
            assert_true(tkw_pool_cancel(pool, armed[i]));
        size_t most = count - count / 8; /* there are many dead until then */
        for (size_t i = 0; i < most; i++)
            assert_int_equal(try_arm(pool, NULL, far_and_spread(i)), 0);
        for (size_t i = most; i < count; i++)
            arm_with_retries(pool, far_and_spread(i));
        assert_pool_sound(pool);
        ledger_done(&ledger, pool);
    }
}

/*
 * Records run out before chunks do: the allocator gives pieces until the next
 * one would be a segment of records.  Each cancelled timer makes room for one.
 */
static void cancelled_timers_make_room_where_records_run_out(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_pool *pool = NULL;
    size_t count = 0;
    for (uint64_t pieces = 1; count != SEGMENT_RECORDS; pieces++) {
        if (pool != NULL)
            ledger_done(&ledger, pool);
        assert_in_range(pieces, 1, 100);
        pool = full_pool(&ledger, pieces, &count);
    }
    for (size_t i = 0; i < 10; i++) {
        assert_true(tkw_pool_cancel(pool, armed[1000 * i]));
        /* The call that drops the dead entry is the one that succeeds. */
        while (try_arm(pool, NULL, far_and_spread(i)) != 0)
            assert_int_equal(tkw_pool_read_stats(pool).dead, 1);
        assert_int_equal(try_arm(pool, NULL, far_and_spread(i)), -ENOMEM);
    }
    assert_pool_sound(pool);
    ledger_done(&ledger, pool);
}

/* Dead entries between living ones: chunks have to be joined to be free. */
static void every_third_cancelled_timer_makes_room(void **state)
{
    (void)state;
    for (size_t a = 0; a < COUNT_OF(amounts); a++) {
        struct ledger ledger;
        size_t count, cancelled = 0;
        struct tkw_pool *pool = full_pool(&ledger, amounts[a], &count);
        for (size_t i = 0; i < count; i += 3, cancelled++)
            assert_true(tkw_pool_cancel(pool, armed[i]));
        /* Some places stay taken: the last chunk of a stream is not full. */
        size_t again = 0;
        for (size_t tries = 0; tries < 2 * count; tries++)
            again += try_arm(pool, NULL, far_and_spread(tries)) == 0;
        assert_in_range(again, cancelled - cancelled / 8, cancelled);
        assert_pool_sound(pool);
        ledger_done(&ledger, pool);
    }
}

/* A refused call sweeps a bounded number of entries, and the next one goes on
 * where it stopped: so many calls later the dead entry is found. */
static void a_refused_arming_sweeps_a_bounded_number_of_entries(void **state)
{
    (void)state;
    struct ledger ledger;
    size_t count;
    struct tkw_pool *pool = full_pool(&ledger, 40, &count);
    uint64_t entries = tkw_pool_read_stats(pool).entries;
    assert_true(entries > 10 * SWEPT_MAX);
    assert_true(tkw_pool_cancel(pool, armed[count / 2]));
    uint64_t before = tkw_pool_read_stats(pool).reads;
    size_t refused = arm_with_retries(pool, 3600000);
    uint64_t reads = tkw_pool_read_stats(pool).reads - before;
    assert_in_range(reads, refused, (refused + 1) * SWEPT_MAX);
    assert_true(refused > 0);
    ledger_done(&ledger, pool);
}

/* So does a refused reserve: it reads about as many as it was asked for, and
 * a thousand, however many timers are armed. */
static void a_refused_reserve_sweeps_a_bounded_number_of_entries(void **state)
{
    (void)state;
    struct ledger ledger;
    size_t count;
    struct tkw_pool *pool = full_pool(&ledger, 40, &count);
    assert_true(tkw_pool_read_stats(pool).entries > 10 * SWEPT_MAX);
    assert_true(tkw_pool_cancel(pool, armed[count / 2]));
    for (size_t n = 1; n <= 10000; n *= 10) {
        uint64_t before = tkw_pool_read_stats(pool).reads;
        assert_int_equal(tkw_pool_reserve(pool, n), -ENOMEM);
        assert_in_range(tkw_pool_read_stats(pool).reads - before, 0,
                        SWEPT_MAX + n);
    }
    ledger_done(&ledger, pool);
}

/* With nothing dead there is nothing to find. */
static void a_refused_arming_does_not_sweep_where_nothing_is_dead(void **state)
{
    (void)state;
    struct ledger ledger;
    size_t count;
    struct tkw_pool *pool = full_pool(&ledger, 1, &count);
    uint64_t sweeps = tkw_pool_read_stats(pool).sweeps;
    assert_int_equal(try_arm(pool, NULL, 3600000), -ENOMEM);
    assert_int_equal(tkw_pool_read_stats(pool).sweeps, sweeps);
    assert_int_equal(tkw_pool_reserve(pool, 0), 0); /* that takes nothing */
    assert_int_equal(tkw_pool_reserve(pool, 1000), -ENOMEM);
    assert_int_equal(tkw_pool_read_stats(pool).sweeps, sweeps);
    ledger_done(&ledger, pool);
}

static void reserving_uses_the_memory_of_cancelled_timers(void **state)
{
    (void)state;
    for (size_t a = 0; a < COUNT_OF(amounts); a++) {
        struct ledger ledger;
        size_t count;
        struct tkw_pool *pool = full_pool(&ledger, amounts[a], &count);
        for (size_t i = 0; i < count; i++)
            assert_true(tkw_pool_cancel(pool, armed[i]));
        size_t half = count / 2;
        assert_int_equal(tkw_pool_reserve(pool, half), 0);
        for (size_t i = 0; i < half; i++)
            assert_int_equal(try_arm(pool, NULL, far_and_spread(i)), 0);
        ledger_done(&ledger, pool);
    }
}

/* A timer that is armed again leaves its old entry behind. */
static void a_timer_can_be_moved_for_ever_at_the_limit(void **state)
{
    (void)state;
    struct ledger ledger;
    size_t count;
    struct tkw_pool *pool = full_pool(&ledger, 0, &count);
    assert_true(tkw_pool_cancel(pool, armed[0]));
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(
            tkw_pool_rearm(pool, armed[1 + i % (count - 1)], far_and_spread(i)),
            1);
    assert_pool_sound(pool);
    ledger_done(&ledger, pool);
}

/*
 * The order of equal deadlines survives the joining of chunks: of timers armed
 * for one tick those left after sweeping come out as they were armed.
 */
static void joining_chunks_keeps_the_order(void **state)
{
    (void)state;
    enum { COUNT = 40 * CHUNK_ENTRIES };
    for (unsigned stride = 2; stride < 7; stride++) {
        struct tkw_pool *pool = pool_of(NULL, 0);
        for (size_t i = 0; i < COUNT; i++)
            armed[i] = pool_arm(pool, 1000, i);
        for (size_t i = 0; i < COUNT; i++)
            if (i % stride == 0)
                assert_true(tkw_pool_cancel(pool, armed[i]));
        while (tkw_pool_read_stats(pool).dead > 0)
            tkw__pool_sweep(pool);
        assert_pool_sound(pool);
        assert_in_range(pool->gaps, 0, CHUNK_ENTRIES);
        tkw_pool_advance(pool, 1000);
        for (size_t i = 0; i < COUNT; i++)
            if (i % stride != 0)
                assert_pool_pops(pool, armed[i]);
        pool_done(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelled_timers_make_room_at_the_limit),
        cmocka_unit_test(cancelled_timers_make_room_where_records_run_out),
        cmocka_unit_test(every_third_cancelled_timer_makes_room),
        cmocka_unit_test(a_refused_arming_sweeps_a_bounded_number_of_entries),
        cmocka_unit_test(a_refused_reserve_sweeps_a_bounded_number_of_entries),
        cmocka_unit_test(a_refused_arming_does_not_sweep_where_nothing_is_dead),
        cmocka_unit_test(reserving_uses_the_memory_of_cancelled_timers),
        cmocka_unit_test(a_timer_can_be_moved_for_ever_at_the_limit),
        cmocka_unit_test(joining_chunks_keeps_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
