/*
 * pool/memory_test.c - when there is no memory: every allocation fails in turn,
 * once and for ever, and each time the answer is -ENOMEM with nothing changed.
 * Everything but arming needs no memory at all.
 */
#include "support/pool.h"

#include <errno.h>

/* What must be as it was after a call that failed. */
struct snapshot {
    size_t count;
    tkw_tick now, next;
    struct tkw_wheel_stats work;
};

static struct snapshot snapshot_of(const struct tkw_pool *pool)
{
    return (struct snapshot){tkw_pool_count(pool), tkw_pool_now(pool),
                             tkw_pool_next(pool),
                             tkw_pool_read_stats(pool).work};
}

static void assert_unchanged(const struct tkw_pool *pool,
                             const struct snapshot *before)
{
    struct snapshot after = snapshot_of(pool);
    assert_int_equal(after.count, before->count);
    assert_int_equal(after.now, before->now);
    assert_int_equal(after.next, before->next);
    assert_memory_equal(&after.work, &before->work, sizeof(after.work));
    assert_pool_sound(pool);
}

/* A failure of one call, or of all from there on. */
static const uint64_t lengths[] = {1, FOR_EVER};

/* Open with the k-th allocation failing.  Returns whether it went well. */
static bool open_all_but(const struct tkw_geometry *geometry, uint64_t k,
                         uint64_t length)
{
    struct ledger ledger;
    ledger_init(&ledger);
    struct tkw_pool_config config = {.geometry = *geometry,
                                     .allocator = &ledger.allocator};
    struct tkw_pool *const mark = (struct tkw_pool *)(void *)&ledger;
    struct tkw_pool *pool = mark;
    ledger_fail(&ledger, k, length);
    int error = tkw_pool_open(&pool, &config);
    if (error == 0) {
        tkw_pool_close(pool);
    } else {
        assert_int_equal(error, -ENOMEM);
        assert_int_not_equal(ledger.failed, 0);
        assert_ptr_equal(pool, mark);
    }
    assert_int_equal(ledger.blocks, 0);
    return error == 0;
}

static void an_open_that_fails_leaks_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 2; i++) {
        uint64_t k = 0;
        while (!open_all_but(&pool_shapes[i / 2], k, lengths[i % 2]))
            k++;
        assert_in_range(k, 1, 1000);
    }
}

#define ARMED 20000

static tkw_tick spread(size_t i)
{
    return 1 + i * 37 % 5000;
}

/*
 * Arm a crowd with the k-th allocation failing; the failed arming is made up
 * for once there is memory again.  Returns whether any allocation failed.
 */
static bool arm_all_but(const struct tkw_geometry *geometry, uint64_t k,
                        uint64_t length)
{
    static tkw_handle handles[ARMED];
    struct ledger ledger;
    struct tkw_pool *pool = ledger_pool(&ledger, geometry);
    ledger_fail(&ledger, k, length);
    for (size_t i = 0; i < ARMED; i++) {
        struct snapshot before = snapshot_of(pool);
        struct tkw_user user = {.word = i};
        handles[i] = 12345;
        int error = tkw_pool_arm(pool, &handles[i], spread(i), user);
        if (error == 0)
            continue;
        assert_int_equal(error, -ENOMEM);
        assert_int_equal(handles[i], 12345);
        assert_unchanged(pool, &before);
        for (size_t t = 0; t < i; t++)
            assert_int_equal(pool_deadline(pool, handles[t]), spread(t));
        ledger_relent(&ledger);
        handles[i] = pool_arm(pool, spread(i), i);
    }
    bool has_failed = ledger.failed != 0;
    ledger_fail(&ledger, 0, FOR_EVER);
    uint64_t calls = ledger.calls;
    tkw_pool_advance(pool, 6000);
    size_t fired = 0;
    for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer); fired++)
        assert_int_equal(timer.handle, handles[timer.user.word]);
    assert_int_equal(fired, ARMED);
    assert_int_equal(ledger.calls, calls);
    ledger_done(&ledger, pool);
    return has_failed;
}

static void an_arming_that_fails_changes_nothing(void **state)
{
    (void)state;
    static const size_t tried[] = {0, 1, 2, 6};
    for (size_t i = 0; i < COUNT_OF(tried) * 2; i++) {
        uint64_t k = 0;
        while (arm_all_but(&pool_shapes[tried[i / 2]], k, lengths[i % 2]))
            k++;
        assert_true(k > 0);
    }
}

/* One more change of a timer under a failing allocator: done, or as before. */
static bool move_or_leave(struct tkw_pool *pool, tkw_handle handle,
                          tkw_tick deadline, bool is_rearm)
{
    struct snapshot before = snapshot_of(pool);
    tkw_tick was = pool_deadline(pool, handle);
    int moved = is_rearm ? tkw_pool_rearm(pool, handle, deadline)
                         : tkw_pool_postpone(pool, handle, deadline);
    if (moved == 1) {
        assert_int_equal(pool_deadline(pool, handle), deadline);
        return true;
    }
    assert_int_equal(moved, -ENOMEM);
    assert_int_equal(pool_deadline(pool, handle), was);
    assert_unchanged(pool, &before);
    return false;
}

/* Returns whether any allocation failed. */
static bool move_all_but(uint64_t k, uint64_t length)
{
    tkw_handle handles[100];
    struct ledger ledger;
    struct tkw_pool *pool = ledger_pool(&ledger, &kafka);
    for (size_t i = 0; i < COUNT_OF(handles); i++)
        handles[i] = pool_arm(pool, 100000, i);
    ledger_fail(&ledger, k, length);
    for (size_t i = 0; i < 6000; i++) {
        tkw_handle handle = handles[i % COUNT_OF(handles)];
        tkw_tick deadline = 90000 - 13 * i;
        if (move_or_leave(pool, handle, deadline, i % 2 == 0))
            continue;
        ledger_relent(&ledger);
        assert_true(move_or_leave(pool, handle, deadline, i % 2 == 0));
    }
    bool has_failed = ledger.failed != 0;
    for (size_t i = COUNT_OF(handles); i-- > 0;)
        assert_pool_fires_on_time(pool, handles[i]);
    ledger_done(&ledger, pool);
    return has_failed;
}

/* Armed again, or moved to an earlier deadline: the old one stays. */
static void a_move_that_fails_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        uint64_t k = 0;
        while (move_all_but(k, lengths[i]))
            k++;
    }
}

/* A kept timer that cannot be armed again stays kept. */
static void a_kept_timer_that_cannot_be_armed_stays_kept(void **state)
{
    (void)state;
    static tkw_handle handles[3000];
    struct ledger ledger;
    struct tkw_pool_timer timer;
    struct tkw_pool *pool = ledger_pool(&ledger, NULL);
    for (size_t i = 0; i < COUNT_OF(handles); i++) {
        handles[i] = pool_arm(pool, 0, i);
        assert_true(tkw_pool_pop_keep(pool, &timer));
    }
    ledger_fail(&ledger, 0, FOR_EVER);
    for (size_t i = 0; i < COUNT_OF(handles); i++) {
        struct snapshot before = snapshot_of(pool);
        int started = tkw_pool_rearm(pool, handles[i], 1000 + spread(i));
        if (started == 1)
            continue;
        assert_int_equal(started, -ENOMEM);
        assert_pool_state(pool, handles[i], TKW_KEPT);
        assert_unchanged(pool, &before);
        ledger_relent(&ledger);
        assert_int_equal(tkw_pool_rearm(pool, handles[i], 1000 + spread(i)), 1);
        ledger_fail(&ledger, 0, FOR_EVER);
    }
    assert_int_equal(tkw_pool_count(pool), COUNT_OF(handles));
    ledger_done(&ledger, pool);
}

/* A reserve that fails has changed nothing, and can be tried again. */
static void a_reserve_that_fails_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        int error = -ENOMEM;
        for (uint64_t k = 0; error != 0; k++) {
            struct ledger ledger;
            struct tkw_pool *pool = ledger_pool(&ledger, NULL);
            tkw_handle handle = pool_arm(pool, 777, 0);
            struct snapshot before = snapshot_of(pool);
            ledger_fail(&ledger, k, lengths[i]);
            error = tkw_pool_reserve(pool, 20000);
            assert_unchanged(pool, &before);
            assert_true(error == 0 || error == -ENOMEM);
            assert_true(error == 0 || ledger.failed != 0);
            ledger_relent(&ledger);
            assert_int_equal(tkw_pool_reserve(pool, 20000), 0);
            assert_pool_fires_on_time(pool, handle);
            ledger_done(&ledger, pool);
        }
    }
}

/* More than can ever be armed cannot be reserved. */
static void an_endless_reserve_is_refused(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_pool *pool = ledger_pool(&ledger, NULL);
    struct snapshot before = snapshot_of(pool);
    ledger_fail(&ledger, 8, FOR_EVER);
    assert_int_equal(tkw_pool_reserve(pool, SIZE_MAX), -ENOMEM);
    assert_int_equal(tkw_pool_reserve(pool, SIZE_MAX / 8), -ENOMEM);
    assert_unchanged(pool, &before);
    ledger_relent(&ledger);
    pool_arm(pool, 5, 0);
    assert_int_equal(tkw_pool_reserve(pool, 0), 0);
    ledger_done(&ledger, pool);
}

/*
 * Put off one whose tick has not come and is not under way, to a later
 * deadline: that never fails.
 */
static void put_off(struct tkw_pool *pool, tkw_handle handle, tkw_tick delay)
{
    struct tkw_pool_timer timer;
    if (tkw_pool_query(pool, handle, &timer) != TKW_PENDING ||
        timer.deadline == tkw_pool_now(pool) + 1)
        return;
    tkw_tick later = tkw_tick_after(timer.deadline, 1 + delay);
    assert_int_equal(tkw_pool_postpone(pool, handle, later), 1);
}

static void change_without_arming(struct tkw_pool *pool,
                                  const tkw_handle *handles, size_t count,
                                  uint64_t *seed, unsigned bits)
{
    struct tkw_pool_timer timer;
    for (unsigned i = 0; i < 8; i++) {
        tkw_tick delay = random_magnitude(seed, bits);
        put_off(pool, handles[random_below(seed, count)], delay);
        tkw_pool_cancel(pool, handles[random_below(seed, count)]);
        tkw_pool_pop(pool, &timer);
    }
}

/* Put off, advance, cancel, pop, drain: not one call of the allocator. */
static void nothing_but_arming_allocates(void **state)
{
    (void)state;
    static tkw_handle handles[20000];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        uint64_t seed = 1 + s;
        unsigned bits = bits_of_reach(&pool_shapes[s]) - 1;
        struct ledger ledger;
        struct tkw_pool_timer timer;
        struct tkw_pool *pool = ledger_pool(&ledger, &pool_shapes[s]);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            handles[i] = pool_arm(pool, 1 + random_magnitude(&seed, 12), i);
        uint64_t calls = ledger.calls;
        for (tkw_tick now = 1; now < 4000; now += 1 + now % 5) {
            tkw_pool_advance_some(pool, now, 100 * (size_t)(now % 7));
            change_without_arming(pool, handles, COUNT_OF(handles), &seed,
                                  bits);
        }
        for (tkw_tick now = 1 << 12; now < UINT64_C(1) << bits; now *= 3)
            tkw_pool_advance(pool, tkw_pool_now(pool) + now);
        assert_pool_sound(pool);
        while (tkw_pool_pop_keep(pool, &timer))
            tkw_pool_cancel(pool, timer.handle);
        while (tkw_pool_drain(pool, &timer))
            continue;
        assert_int_equal(ledger.calls, calls);
        ledger_done(&ledger, pool);
    }
}

/* All of a crowd put off into one slot, or each into its own: no allocation */
static void a_crowd_put_off_needs_no_memory(void **state)
{
    (void)state;
    static tkw_handle handles[20000];
    for (size_t i = 0; i < COUNT_OF(pool_shapes) * 2; i++) {
        struct ledger ledger;
        struct tkw_pool *pool = ledger_pool(&ledger, &pool_shapes[i / 2]);
        for (size_t t = 0; t < COUNT_OF(handles); t++)
            handles[t] = pool_arm(pool, 50, t);
        uint64_t calls = ledger.calls;
        for (size_t t = 0; t < COUNT_OF(handles); t++)
            put_off(pool, handles[t], i % 2 ? 500 : t % 4999);
        for (tkw_tick now = 1; now < 51; now++)
            tkw_pool_advance(pool, now);
        assert_pool_pops_none(pool);
        assert_pool_sound(pool);
        tkw_pool_advance(pool, 10000);
        size_t fired = 0;
        for (struct tkw_pool_timer timer; tkw_pool_pop(pool, &timer);)
            fired++;
        assert_int_equal(fired, COUNT_OF(handles));
        assert_int_equal(ledger.calls, calls);
        ledger_done(&ledger, pool);
    }
}

/*
 * Between stops a timer of the tick under way is armed again, for which there
 * may be no memory.  Then it stays as it was, and fires with its tick.
 */
static void what_cannot_be_put_off_fires_with_its_tick(void **state)
{
    (void)state;
    static tkw_handle handles[20000];
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct ledger ledger;
        struct tkw_pool_timer timer;
        struct tkw_pool *pool = ledger_pool(&ledger, &pool_shapes[s]);
        for (size_t i = 0; i < COUNT_OF(handles); i++)
            handles[i] = pool_arm(pool, 400, i);
        ledger_fail(&ledger, 0, FOR_EVER);
        tkw_pool_advance(pool, 399);
        assert_false(tkw_pool_advance_some(pool, 400, 15000));
        size_t moved = 0;
        for (size_t i = 0; i < COUNT_OF(handles); i++) {
            int answer = tkw_pool_postpone(pool, handles[i], 401 + i % 1000);
            assert_true(answer == 1 || answer == -ENOMEM);
            assert_int_equal(pool_deadline(pool, handles[i]),
                             answer == 1 ? 401 + i % 1000 : 400);
            moved += answer == 1;
        }
        assert_pool_sound(pool);
        tkw_pool_advance(pool, 400);
        while (tkw_pool_pop(pool, &timer))
            assert_int_equal(timer.deadline, 400);
        assert_int_equal(tkw_pool_count(pool), moved);
        tkw_pool_advance(pool, 1400);
        while (tkw_pool_pop(pool, &timer))
            assert_int_equal(timer.deadline, 401 + timer.user.word % 1000);
        assert_int_equal(tkw_pool_count(pool), 0);
        ledger_done(&ledger, pool);
    }
}

/* Whatever is pending, kept, ready or half-moved, close gives it all back. */
static void close_gives_everything_back(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct ledger ledger;
        struct tkw_pool_timer timer;
        struct tkw_pool *pool = ledger_pool(&ledger, &pool_shapes[s]);
        assert_int_equal(tkw_pool_read_stats(pool).bytes, ledger.bytes);
        for (size_t i = 0; i < 5000; i++) {
            tkw_handle handle = pool_arm(pool, i * 3 % 4096, i);
            if (i % 3 == 0)
                tkw_pool_cancel(pool, handle);
            assert_int_equal(tkw_pool_read_stats(pool).bytes, ledger.bytes);
        }
        pool_arm(pool, TKW_NEVER, 0);
        tkw_pool_advance(pool, 1000);
        assert_true(tkw_pool_pop_keep(pool, &timer));
        tkw_pool_advance_some(pool, 4096, 33);
        ledger_done(&ledger, pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_that_fails_leaks_nothing),
        cmocka_unit_test(an_arming_that_fails_changes_nothing),
        cmocka_unit_test(a_move_that_fails_changes_nothing),
        cmocka_unit_test(a_kept_timer_that_cannot_be_armed_stays_kept),
        cmocka_unit_test(a_reserve_that_fails_changes_nothing),
        cmocka_unit_test(an_endless_reserve_is_refused),
        cmocka_unit_test(nothing_but_arming_allocates),
        cmocka_unit_test(a_crowd_put_off_needs_no_memory),
        cmocka_unit_test(what_cannot_be_put_off_fires_with_its_tick),
        cmocka_unit_test(close_gives_everything_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
