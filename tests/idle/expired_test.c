/*
 * idle/expired_test.c - who is handed out, when, in which order and in what
 * pieces: never early to the nanosecond, less than a tick late, once.
 */
#include "support/idle.h"

/* When the limit of a key passed that was handed out. */
static uint64_t due_of(const struct tkw_idle_key *silent)
{
    return silent->last_ns + silent->limit_ns;
}

/* Those first whose limit passed first, to a tick. */
static void assert_in_order(const struct tkw_idle_key *silent, size_t count,
                            uint64_t tick)
{
    uint64_t latest = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t due = due_of(&silent[i]);
        assert_true(latest < due + tick);
        latest = due > latest ? due : latest;
    }
}

struct timing {
    uint64_t tick, limit, start, last;
};

static void assert_on_time(const struct tkw_geometry *geometry,
                           const struct timing *timing)
{
    struct ledger ledger;
    struct tkw_idle *idle =
        idle_of(&ledger, (struct tkw_idle_config){.geometry = *geometry,
                                                  .tick_ns = timing->tick,
                                                  .limit_ns = timing->limit,
                                                  .start_ns = timing->start});
    uint64_t due = timing->last + timing->limit;
    idle_add(idle, tkw_key_number(9), timing->last);
    assert_none_silent(idle, due - 1);
    assert_one_silent(idle, due + timing->tick - 1, 9);
    assert_int_equal(tkw_idle_next(idle), UINT64_MAX);
    idle_done(&ledger, idle);
}

/* However ticks, limits and touches lie to each other. */
static void never_early_and_less_than_a_tick_late(void **state)
{
    (void)state;
    const uint64_t ticks[] = {1, 2, 7, 10, 1000};
    const uint64_t limits[] = {1, 6, 7, 20, 399, 400, 10000};
    const uint64_t starts[] = {0, 1, 6, 7, 995, 123456789};
    for (size_t i = 0; i < COUNT_OF(ticks) * COUNT_OF(limits); i++) {
        for (size_t s = 0; s < COUNT_OF(starts) * 3; s++) {
            struct timing timing = {ticks[i % COUNT_OF(ticks)],
                                    limits[i / COUNT_OF(ticks)], starts[s / 3],
                                    starts[s / 3] + s % 3 * 13};
            assert_on_time(&pool_shapes[(i + s) % COUNT_OF(pool_shapes)],
                           &timing);
        }
    }
}

/* Whoever sleeps until `next` and asks then finds each in time, and wakes up a
   few times only, however far it is. */
static void next_says_when_to_ask(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 60; bit++) {
        struct ledger ledger;
        struct tkw_idle_key silent;
        size_t wakes;
        uint64_t limit = (UINT64_C(1) << bit) + bit, tick = 1 + bit * 3;
        struct tkw_idle *idle = idle_with(&ledger, tick, limit);
        assert_int_equal(tkw_idle_next(idle), UINT64_MAX);
        idle_add(idle, tkw_key_number(1), 77);
        assert_true(tkw_idle_next(idle) < 77 + limit + tick);
        uint64_t now = idle_sleep(idle, &silent, &wakes);
        assert_true(now >= 77 + limit);
        assert_true(now - (77 + limit) < tick);
        assert_true(wakes <= 12);
        assert_int_equal(tkw_idle_count(idle), 0);
        assert_int_equal(tkw_idle_next(idle), UINT64_MAX);
        idle_done(&ledger, idle);
    }
}

/* What was forgotten leaves nothing to look at, and soon nothing to wake up
   for. */
static void nothing_is_left_to_wake_up_for(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle_key silent;
    size_t wakes;
    struct tkw_idle *idle = idle_with(&ledger, 10, 1000);
    for (uint32_t i = 0; i < 100; i++)
        idle_add(idle, mixed_key(i), 0);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(tkw_idle_forget(idle, mixed_key(i)));
    idle_sleep(idle, &silent, &wakes);
    assert_true(wakes <= 4);
    assert_int_equal(tkw_idle_next(idle), UINT64_MAX);
    assert_int_equal(tkw_idle_read_stats(idle).checks, 0);
    idle_done(&ledger, idle);
}

enum { CROWD = 60 };

/* A crowd whose limits pass at 1000 and just before. */
static struct tkw_idle *crowd_of(struct ledger *ledger,
                                 const struct tkw_geometry *geometry)
{
    struct tkw_idle *idle = idle_of(
        ledger, (struct tkw_idle_config){
                    .geometry = *geometry, .tick_ns = 10, .limit_ns = 900});
    for (uint32_t i = 0; i < CROWD; i++)
        idle_add(idle, mixed_key(i), 100 - i % 7);
    return idle;
}

/* Call expired once; it keeps to its bounds and finds each key once.  Returns
   how many it found. */
static size_t expired_within(struct tkw_idle *idle, size_t count, uint64_t now,
                             bool *met)
{
    struct tkw_idle_key silent[CROWD + 1];
    struct tkw_idle_stats before = tkw_idle_read_stats(idle);
    size_t found = tkw_idle_pop_silent(idle, silent, count, now);
    struct tkw_idle_stats after = tkw_idle_read_stats(idle);
    assert_true(found <= count);
    assert_true(after.checks - before.checks <= count);
    assert_true(after.refiles - before.refiles <= count);
    assert_int_equal(after.silent - before.silent, found);
    assert_int_equal(before.keys - after.keys, found);
    for (size_t i = 0; i < found; i++) {
        uint32_t key = mixed_index(silent[i].key);
        assert_false(met[key]);
        assert_true(due_of(&silent[i]) <= now);
        met[key] = true;
    }
    return found;
}

/* Take a crowd that is silent, `count` a call. */
static void take_in_pieces(const struct tkw_geometry *geometry, size_t count)
{
    struct ledger ledger;
    struct tkw_idle *idle = crowd_of(&ledger, geometry);
    bool met[CROWD] = {false};
    size_t found = 0, calls = 0;
    do {
        found += expired_within(idle, count, 1000, met);
        assert_int_equal(tkw_idle_count(idle), CROWD - found);
        assert_true(found == CROWD || is_unfinished(idle, 1000));
        assert_true(++calls < 1000);
    } while (is_unfinished(idle, 1000));
    assert_int_equal(found, CROWD);
    idle_done(&ledger, idle);
}

/* Pieces of every size, from one to more than there are. */
static void a_crowd_is_handed_out_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++)
        for (size_t count = 1; count <= CROWD + 1; count++)
            take_in_pieces(&pool_shapes[s], count);
}

/* No room, no look; and nothing is lost by it. */
static void with_no_room_nothing_is_handed_out(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct ledger ledger;
        struct tkw_idle *idle = crowd_of(&ledger, &pool_shapes[s]);
        bool met[CROWD] = {false};
        size_t found = 0;
        for (uint64_t now = 0; now <= 1000; now += 100) {
            assert_int_equal(tkw_idle_pop_silent(idle, NULL, 0, now), 0);
            assert_int_equal(expired_within(idle, 0, now, met), 0);
        }
        assert_int_equal(tkw_idle_read_stats(idle).checks, 0);
        assert_int_equal(tkw_idle_count(idle), CROWD);
        assert_true(is_unfinished(idle, 1000));
        while (is_unfinished(idle, 1000))
            found += expired_within(idle, CROWD, 1000, met);
        assert_int_equal(found, CROWD);
        idle_done(&ledger, idle);
    }
}

/* All were touched since: looking for the silent is in vain, and in pieces. */
static void a_crowd_that_was_touched_is_filed_anew_in_pieces(void **state)
{
    (void)state;
    for (size_t count = 1; count <= CROWD; count += 7) {
        struct ledger ledger;
        struct tkw_idle *idle = crowd_of(&ledger, &pool_shapes[0]);
        bool met[CROWD] = {false};
        size_t found = 0;
        for (uint32_t i = 0; i < CROWD; i++)
            idle_refresh(idle, mixed_key(i), 500);
        do
            assert_int_equal(expired_within(idle, count, 1399, met), 0);
        while (is_unfinished(idle, 1399));
        assert_int_equal(tkw_idle_read_stats(idle).refiles, CROWD);
        do
            found += expired_within(idle, count, 1400, met);
        while (is_unfinished(idle, 1400));
        assert_int_equal(found, CROWD);
        idle_done(&ledger, idle);
    }
}

#define SPREAD 500

/* Limits that pass at any time, some keys touched since they were filed, and
   one long jump. */
static void those_come_first_whose_limit_passed_first(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t round = 0; round < 3 * COUNT_OF(pool_shapes); round++) {
        struct tkw_idle_key silent[SPREAD];
        struct ledger ledger;
        uint64_t tick = 1 + random_below(&seed, 20);
        struct tkw_idle *idle = idle_of(
            &ledger, (struct tkw_idle_config){
                         .geometry = pool_shapes[round % COUNT_OF(pool_shapes)],
                         .tick_ns = tick});
        for (uint64_t i = 0; i < SPREAD; i++) {
            uint64_t limit = 1 + random_below(&seed, 5000);
            assert_int_equal(tkw_idle_touch_limit(idle, tkw_key_number(i),
                                                  limit,
                                                  random_below(&seed, 100)),
                             1);
        }
        for (uint64_t i = 0; round % 3 != 0 && i < SPREAD; i += 2)
            idle_refresh(idle, tkw_key_number(i),
                         random_below(&seed, round % 3 == 1 ? 200 : 5000));
        assert_int_equal(idle_take(idle, 20000, silent, SPREAD), SPREAD);
        assert_in_order(silent, SPREAD, tick);
        idle_done(&ledger, idle);
    }
}

/* A key that is silent but not yet handed out lives on when it is heard of. */
static void a_touch_revives_what_was_not_handed_out(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(pool_shapes); s++) {
        struct ledger ledger;
        struct tkw_idle *idle = crowd_of(&ledger, &pool_shapes[s]);
        bool met[CROWD] = {false};
        while (expired_within(idle, 1, 1000, met) == 0)
            continue;
        for (uint32_t i = 0; i < CROWD; i++)
            assert_int_equal(tkw_idle_touch(idle, mixed_key(i), 1000), met[i]);
        memset(met, 0, sizeof met);
        do
            assert_int_equal(expired_within(idle, CROWD, 1899, met), 0);
        while (is_unfinished(idle, 1899));
        size_t found = 0;
        do
            found += expired_within(idle, CROWD, 1900, met);
        while (is_unfinished(idle, 1900));
        assert_int_equal(found, CROWD);
        idle_done(&ledger, idle);
    }
}

/* The same, but it is let go of. */
static void what_is_forgotten_between_two_pieces_is_not_handed_out(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = crowd_of(&ledger, &pool_shapes[0]);
    bool met[CROWD] = {false};
    while (expired_within(idle, 3, 1000, met) == 0)
        continue;
    for (uint32_t i = 0; i < CROWD; i++)
        assert_int_equal(tkw_idle_forget(idle, mixed_key(i)), !met[i]);
    do
        assert_int_equal(expired_within(idle, 5, 5000, met), 0);
    while (is_unfinished(idle, 5000));
    assert_int_equal(tkw_idle_next(idle), UINT64_MAX);
    idle_done(&ledger, idle);
}

/* Heard of in time, asked about long after: no longer silent then. */
static void a_touch_counts_from_its_own_time(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 100);
    idle_add(idle, tkw_key_number(1), 0);
    idle_refresh(idle, tkw_key_number(1), 150); /* after its limit, unasked */
    assert_none_silent(idle, 249);
    idle_refresh(idle, tkw_key_number(1), 1000); /* ahead of time */
    assert_none_silent(idle, 1099);
    assert_one_silent(idle, 1100, 1);
    idle_done(&ledger, idle);
}

/* Handed out once; touched again it is a new key. */
static void a_key_is_handed_out_once(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 100);
    for (uint64_t now = 0; now < 1000; now += 200) {
        idle_add(idle, tkw_key_number(1), now);
        assert_one_silent(idle, now + 100, 1);
        assert_none_silent(idle, now + 199);
        assert_false(tkw_idle_forget(idle, tkw_key_number(1)));
    }
    assert_int_equal(tkw_idle_read_stats(idle).silent, 5);
    assert_int_equal(tkw_idle_read_stats(idle).added, 5);
    idle_done(&ledger, idle);
}

static void time_that_goes_back_stands_still(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 100);
    idle_add(idle, tkw_key_number(1), 1000);
    assert_none_silent(idle, 1050);
    assert_none_silent(idle, 0);
    assert_none_silent(idle, 1049);
    idle_add(idle, tkw_key_number(2), 940); /* silent at 1040: that has been */
    assert_true(tkw_idle_next(idle) <= 1050);
    assert_one_silent(idle, 7, 2);
    assert_none_silent(idle, 1099);
    assert_one_silent(idle, 1100, 1);
    idle_done(&ledger, idle);
}

/* What was begun for a later time goes on, whatever the next call says. */
static void an_unfinished_call_is_finished_by_an_earlier_one(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = idle_with(&ledger, 1, 900);
    struct tkw_idle_key one;
    size_t found = 0, calls = 0;
    for (uint64_t i = 0; i < CROWD; i++)
        idle_add(idle, tkw_key_number(i), i);
    while (found == 0)
        found = tkw_idle_pop_silent(idle, &one, 1, 1000);
    for (; tkw_idle_count(idle) > 0; calls++) {
        assert_true(is_unfinished(idle, 1000));
        found += tkw_idle_pop_silent(idle, &one, 1, 3);
        assert_true(calls < 1000);
    }
    assert_int_equal(found, CROWD);
    idle_done(&ledger, idle);
}

/* One key for every power of two, and one jump to the end of time. */
static void no_jump_is_too_far(void **state)
{
    (void)state;
    enum { KEYS = 62 };
    const struct tkw_geometry *const grown[] = {
        &pool_shapes[0], &pool_shapes[1], &pool_shapes[3], &pool_shapes[7]};
    for (size_t s = 0; s < COUNT_OF(grown); s++) {
        struct ledger ledger;
        struct tkw_idle_key silent[KEYS];
        struct tkw_idle *idle =
            idle_of(&ledger, (struct tkw_idle_config){.geometry = *grown[s],
                                                      .tick_ns = 1});
        for (unsigned bit = 0; bit < KEYS; bit++)
            assert_int_equal(tkw_idle_touch_limit(idle, tkw_key_number(bit),
                                                  UINT64_C(1) << bit, 0),
                             1);
        assert_int_equal(idle_take(idle, UINT64_C(1) << 60, silent, KEYS), 61);
        assert_int_equal(idle_take(idle, UINT64_MAX - 1, silent + 61, 1), 1);
        for (unsigned bit = 0; bit < KEYS; bit++)
            assert_int_equal(silent[bit].key.number, bit);
        idle_done(&ledger, idle);
    }
}

/* The bytes of what was handed out outlast anything but the next call. */
static void bytes_stay_valid_until_the_next_call(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_idle *idle = crowd_of(&ledger, &pool_shapes[0]);
    struct tkw_idle_key silent[CROWD];
    size_t total = 0;
    do {
        size_t count = tkw_idle_pop_silent(idle, silent, CROWD / 2, 1000);
        for (uint32_t i = 0; i < CROWD; i++)
            tkw_idle_forget(idle, mixed_key(1000 + i));
        for (size_t i = 0; i < count; i++) {
            uint32_t key = mixed_index(silent[i].key);
            idle_add(idle, silent[i].key, 2000);
            assert_true(tkw_idle_forget(idle, silent[i].key));
            assert_int_equal(mixed_index(silent[i].key), key);
        }
        for (uint32_t i = 0; i < CROWD; i++)
            idle_add(idle, mixed_key(1000 + i), 2000);
        for (size_t i = 0; i < count; i++)
            assert_true(mixed_index(silent[i].key) < CROWD);
        total += count;
    } while (is_unfinished(idle, 1000));
    assert_int_equal(total, CROWD);
    idle_done(&ledger, idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_early_and_less_than_a_tick_late),
        cmocka_unit_test(next_says_when_to_ask),
        cmocka_unit_test(nothing_is_left_to_wake_up_for),
        cmocka_unit_test(a_crowd_is_handed_out_in_pieces_of_any_size),
        cmocka_unit_test(with_no_room_nothing_is_handed_out),
        cmocka_unit_test(a_crowd_that_was_touched_is_filed_anew_in_pieces),
        cmocka_unit_test(those_come_first_whose_limit_passed_first),
        cmocka_unit_test(a_touch_revives_what_was_not_handed_out),
        cmocka_unit_test(
            what_is_forgotten_between_two_pieces_is_not_handed_out),
        cmocka_unit_test(a_touch_counts_from_its_own_time),
        cmocka_unit_test(a_key_is_handed_out_once),
        cmocka_unit_test(time_that_goes_back_stands_still),
        cmocka_unit_test(an_unfinished_call_is_finished_by_an_earlier_one),
        cmocka_unit_test(no_jump_is_too_far),
        cmocka_unit_test(bytes_stay_valid_until_the_next_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
