/*
 * dial/basics_test.c - placement: the Kafka rules K1 to K6, the rows of worked
 * examples that are about where a deadline is filed, the end of time.
 * Geometries are in dial_geometry_test.c, check() is in dial_check_test.c.
 */
#include "support/core.h"

static const struct tkw_geometry clock_face = {.sizes = {60, 60, 12}};

/* A dial for where() alone. */
static struct tkw_dial dial_at(const struct tkw_geometry *geometry,
                               tkw_tick now)
{
    struct tkw_dial dial;
    assert_int_equal(tkw_dial_init(&dial, geometry, now, NULL), 0);
    return dial;
}

static uint32_t size_of(const struct tkw_geometry *geometry, uint32_t level)
{
    static const struct tkw_geometry standard = {.sizes = {128, 512, 64}};
    const uint32_t *sizes = geometry->sizes;
    if (sizes[0] == 0)
        sizes = standard.sizes;
    uint32_t i = 0;
    while (i + 1 < level && i + 1 < TKW_SIZES_MAX && sizes[i + 1] != 0)
        i++;
    return sizes[i];
}

static bool is_last_given(const struct tkw_geometry *geometry, uint32_t level)
{
    return level == TKW_SIZES_MAX || geometry->sizes[level] == 0;
}

/* K1, K2, K4 and K5 word by word.  A level that spans more than there is room
 * for in a number reaches all deadlines. */
static struct tkw_spot naive_where(const struct tkw_geometry *geometry,
                                   tkw_tick now, tkw_tick deadline)
{
    tkw_tick tick = 1;
    if (deadline <= now)
        return (struct tkw_spot){0};

    for (uint32_t level = 1;; level++) {
        uint32_t size = size_of(geometry, level);
        tkw_tick start = now - now % tick, span;
        bool takes_all =
            geometry->beyond == TKW_ROUNDS && is_last_given(geometry, level);
        bool spans_all = __builtin_mul_overflow(tick, size, &span);
        if (takes_all || spans_all || deadline - start < span)
            return (struct tkw_spot){.level = level,
                                     .slot = (uint32_t)(deadline / tick % size),
                                     .expiration = deadline / tick * tick,
                                     .rounds =
                                         (deadline / tick - now / tick) / size};
        tick = span;
    }
}

static void assert_spot(struct tkw_spot spot, struct tkw_spot expected)
{
    assert_int_equal(spot.level, expected.level);
    if (expected.level == 0)
        return;
    assert_int_equal(spot.slot, expected.slot);
    assert_int_equal(spot.expiration, expected.expiration);
    assert_int_equal(spot.rounds, expected.rounds);
}

/* K1, K5: each level starts at now rounded down to its own tick. */
static void every_level_starts_at_now_rounded_down(void **state)
{
    (void)state;
    static const tkw_tick nows[] = {
        0, 1, 19, 20, 399, 400, 123456789, UINT64_MAX - 1, UINT64_MAX};

    for (size_t s = 0; s < COUNT_OF(shapes) * COUNT_OF(nows); s++) {
        tkw_tick now = nows[s % COUNT_OF(nows)], tick = 1;
        struct tkw_dial dial = dial_at(&shapes[s / COUNT_OF(nows)], now);
        assert_int_equal(dial.now, now);
        for (uint32_t i = 0; i < dial.level_count; i++) {
            struct tkw_level *level = &dial.levels[i];
            assert_int_equal(level->tick, tick);
            assert_int_equal(level->start, now - now % tick);
            assert_int_equal(level->hand, now / tick);
            tick *= level->size;
        }
    }
}

/* K2: the last tick of each window, and the first past it. */
static void a_window_ends_where_the_level_above_begins(void **state)
{
    (void)state;
    static const tkw_tick nows[] = {0, 1, 2, 19, 20, 377, 399, 7999, 8123};
    for (size_t i = 0; i < COUNT_OF(nows); i++) {
        struct tkw_dial dial = dial_at(&kafka, nows[i]);
        assert_int_equal(tkw_dial_where(&dial, nows[i]).level, 0);
        assert_int_equal(tkw_dial_where(&dial, nows[i] + 1).level, 1);
        for (uint32_t n = 0; n < 6; n++) {
            struct tkw_level *level = &dial.levels[n];
            tkw_tick end = level->start + level->tick * level->size;
            assert_int_equal(tkw_dial_where(&dial, end - 1).level, n + 1);
            assert_int_equal(tkw_dial_where(&dial, end).level, n + 2);
        }
    }
}

/* K3, and the spans: 2 levels of 20 reach 399, 3 reach 7,999, 4 159,999. */
static void levels_of_twenty_reach_what_kafka_says(void **state)
{
    (void)state;
    static const struct {
        tkw_tick first, last;
        uint32_t level;
    } rows[] = {{0, 0, 0},      {1, 19, 1},        {20, 399, 2},
                {400, 7999, 3}, {8000, 159999, 4}, {160000, 3199999, 5}};

    struct tkw_dial dial = dial_at(&kafka, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (tkw_tick t = rows[i].first; t <= rows[i].last; t++)
            assert_int_equal(tkw_dial_where(&dial, t).level, rows[i].level);
    }
}

/* K4: slots are absolute, and a slot expires where it begins. */
static void every_deadline_of_a_toy_is_where_the_rules_say(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        for (tkw_tick now = 0; now < 130; now++) {
            struct tkw_dial dial = dial_at(&shapes[s], now);
            for (tkw_tick deadline = 0; deadline < 300; deadline++)
                assert_spot(tkw_dial_where(&dial, deadline),
                            naive_where(&shapes[s], now, deadline));
        }
    }
}

static void any_deadline_at_any_time_is_where_the_rules_say(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (unsigned i = 0; i < 20000; i++) {
        const struct tkw_geometry *shape = &shapes[i % COUNT_OF(shapes)];
        tkw_tick now = random_magnitude(&seed, 64);
        tkw_tick deadline = tkw_tick_after(now, random_magnitude(&seed, 64));
        if (random_below(&seed, 4) == 0)
            deadline = now - random_below(&seed, now / 2 + 1);
        if (deadline == TKW_NEVER)
            continue;
        struct tkw_dial dial = dial_at(shape, now);
        assert_spot(tkw_dial_where(&dial, deadline),
                    naive_where(shape, now, deadline));
    }
}

static void assert_turned(const struct tkw_dial *before,
                          const struct tkw_dial *after)
{
    tkw_tick now = after->now;
    for (uint32_t n = 0; n < after->level_count; n++) {
        const struct tkw_level *old = &before->levels[n];
        bool is_over = now - old->start >= old->tick;
        assert_int_equal(after->levels[n].start,
                         is_over ? now - now % old->tick : old->start);
        assert_int_equal(after->levels[n].hand, now / old->tick);
    }
}

/* K6: a level moves when its slot is over, to the beginning of another. */
static void turning_moves_a_level_only_when_its_slot_is_over(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_dial dial = dial_at(&shapes[s], 0);
        for (unsigned i = 0; i < 2000; i++) {
            struct tkw_dial before = dial;
            tkw_tick now = dial.now + random_magnitude(&seed, 50);
            tkw_dial_turn(&dial, now);
            assert_int_equal(dial.now, now);
            assert_true(tkw_dial_check(&dial));
            assert_turned(&before, &dial);
        }
    }
}

static void turning_to_the_present_changes_nothing(void **state)
{
    (void)state;
    struct tkw_dial dial = dial_at(&kafka, 12345), before = dial;
    tkw_dial_turn(&dial, 12345);
    assert_memory_equal(&dial, &before, sizeof(dial));
}

struct example {
    const char *row;
    tkw_tick now, deadline;
    struct tkw_spot spot;
};

static void assert_examples(const struct tkw_geometry *geometry,
                            const struct example *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tkw_dial dial = dial_at(geometry, rows[i].now);
        struct tkw_spot spot = tkw_dial_where(&dial, rows[i].deadline);
        if (spot.level != rows[i].spot.level)
            print_error("%s is wrong\n", rows[i].row);
        assert_spot(spot, rows[i].spot);
    }
}

static void kafka_examples_are_filed_as_worked_out(void **state)
{
    (void)state;
    static const struct example rows[] = {
        {"X1", 0, 445, {3, 1, 400, 0}},
        {"X1", 400, 445, {2, 2, 440, 0}},
        {"X1", 440, 445, {1, 5, 445, 0}},
        {"X2", 0, 450, {3, 1, 400, 0}},
        {"X2", 400, 450, {2, 2, 440, 0}},
        {"X2", 440, 450, {1, 10, 450, 0}},
        {"X3", 0, 2, {1, 2, 2, 0}},
        {"X4", 2, 10, {1, 10, 10, 0}},
        {"X5", 2, 21, {1, 1, 21, 0}},
        {"X6", 2, 22, {2, 1, 20, 0}},
        {"X6", 20, 22, {1, 2, 22, 0}},
        {"X7", 2, 24, {2, 1, 20, 0}},
        {"X7", 20, 24, {1, 4, 24, 0}},
        {"X8", 2, 352, {2, 17, 340, 0}},
        {"X8", 340, 352, {1, 12, 352, 0}},
        {"X9", 0, 350, {2, 17, 340, 0}},
        {"X9", 340, 350, {1, 10, 350, 0}},
        {"X10", 2, 399, {2, 19, 380, 0}},
        {"X10", 380, 399, {1, 19, 399, 0}},
        {"X11", 2, 400, {3, 1, 400, 0}},
        {"X12", 2, 401, {3, 1, 400, 0}},
        {"X12", 400, 401, {1, 1, 401, 0}},
        {"X13", 0, 237, {2, 11, 220, 0}},
        {"X13", 220, 237, {1, 17, 237, 0}},
        {"X14", 0, 30000, {4, 3, 24000, 0}},
        {"X14", 24000, 30000, {3, 15, 30000, 0}},
        {"X15", 0, 159999, {4, 19, 152000, 0}},
        {"X15", 0, 160000, {5, 1, 160000, 0}},
        {"X16", 104, 122, {1, 2, 122, 0}},
        {"X16", 104, 123, {1, 3, 123, 0}},
        {"X16", 104, 124, {2, 6, 120, 0}},
        {"X24", 3600000, 3600005, {1, 5, 3600005, 0}},
        {"X25", 0, 400, {3, 1, 400, 0}},
    };
    assert_examples(&kafka, rows, COUNT_OF(rows));
}

static void examples_of_other_sizes_are_filed_as_worked_out(void **state)
{
    (void)state;
    static const struct tkw_geometry ten = {.sizes = {10}};
    static const struct tkw_geometry five = {.sizes = {5}};
    static const struct example tens[] = {
        {"X17", 0, 2, {1, 2, 2, 0}},
        {"X18", 2, 11, {1, 1, 11, 0}},
        {"X19", 0, 15, {2, 1, 10, 0}},
        {"X19", 10, 15, {1, 5, 15, 0}},
    };
    static const struct example fives[] = {
        {"X20", 100, 102, {1, 2, 102, 0}}, {"X20", 100, 101, {1, 1, 101, 0}},
        {"X20", 100, 100, {0, 0, 0, 0}},   {"X21", 100, 106, {2, 1, 105, 0}},
        {"X21", 105, 106, {1, 1, 106, 0}}, {"X21", 100, 107, {2, 1, 105, 0}},
        {"X21", 105, 107, {1, 2, 107, 0}},
    };
    static const struct example clocks[] = {
        {"X23", 0, 43199, {3, 11, 39600, 0}},
        {"X23", 39600, 43199, {2, 59, 43140, 0}},
        {"X23", 43140, 43199, {1, 59, 43199, 0}},
    };
    assert_examples(&ten, tens, COUNT_OF(tens));
    assert_examples(&five, fives, COUNT_OF(fives));
    assert_examples(&clock_face, clocks, COUNT_OF(clocks));
}

/* X20 to X22: what the layer above makes of units before it asks the dial. */
static void units_become_ticks_as_worked_out(void **state)
{
    (void)state;
    assert_int_equal(tkw_tick_now(1000, 10), 100);
    assert_int_equal(tkw_tick_deadline(1020, 10), 102);
    assert_int_equal(tkw_tick_deadline(1005, 10), 101);
    assert_int_equal(tkw_tick_deadline(999, 10), 100);
    assert_int_equal(tkw_tick_deadline(1060, 10), 106);
    assert_int_equal(tkw_tick_deadline(1061, 10), 107);
    assert_int_equal(tkw_tick_now(123, 20), 6);
}

/* Netty's numbers with a tick of 100 ms: its round and slot, but in time. */
static void the_hashed_numbers_come_out(void **state)
{
    (void)state;
    static const struct tkw_geometry netty = {.sizes = {512},
                                              .beyond = TKW_ROUNDS};
    struct tkw_dial dial = dial_at(&netty, 0);
    assert_int_equal(dial.level_count, 1);

    assert_int_equal(tkw_tick_deadline(10, 100), 1);
    assert_int_equal(tkw_tick_deadline(100, 100), 1);
    assert_int_equal(tkw_tick_deadline(60000, 100), 600);

    assert_spot(tkw_dial_where(&dial, 600), (struct tkw_spot){1, 88, 600, 1});
    assert_spot(tkw_dial_where(&dial, 511), (struct tkw_spot){1, 511, 511, 0});
    assert_spot(tkw_dial_where(&dial, 512), (struct tkw_spot){1, 0, 512, 1});
    assert_spot(tkw_dial_where(&dial, 1024), (struct tkw_spot){1, 0, 1024, 2});
}

/* A deadline rounded to nearest or down would fire early (L1). */
static void rounding_is_never_early_and_never_overflows(void **state)
{
    (void)state;
    for (uint64_t unit = 1; unit < 50; unit++) {
        for (uint64_t time = 0; time < 500; time++) {
            tkw_tick deadline = tkw_tick_deadline(time, unit);
            tkw_tick now = tkw_tick_now(time, unit);
            assert_true(deadline * unit >= time);
            assert_true(deadline * unit < time + unit);
            assert_true(now * unit <= time);
            assert_true(now * unit + unit > time);
        }
        assert_int_equal(tkw_tick_deadline(UINT64_MAX, unit), TKW_NEVER);
        assert_int_equal(tkw_tick_now(UINT64_MAX, unit), UINT64_MAX / unit);
    }
    assert_int_equal(tkw_tick_deadline(UINT64_MAX - 1, 1), UINT64_MAX - 1);
    assert_int_equal(tkw_tick_deadline(UINT64_MAX - 1, 10),
                     UINT64_C(1844674407370955162));
    assert_int_equal(tkw_tick_deadline(UINT64_MAX - 1, UINT64_MAX), 1);
    assert_int_equal(tkw_tick_deadline(1, UINT64_MAX), 1);
    assert_int_equal(tkw_tick_deadline(UINT64_MAX, UINT64_MAX), TKW_NEVER);
}

/* L5: a sum that wrapped would lie in the past and fire at once. */
static void sums_saturate_at_never(void **state)
{
    (void)state;
    assert_int_equal(tkw_tick_after(0, 0), 0);
    assert_int_equal(tkw_tick_after(100, 20), 120);
    assert_int_equal(tkw_tick_after(1, UINT64_MAX - 2), UINT64_MAX - 1);
    assert_int_equal(tkw_tick_after(1, UINT64_MAX - 1), TKW_NEVER);
    assert_int_equal(tkw_tick_after(2, UINT64_MAX - 1), TKW_NEVER);
    assert_int_equal(tkw_tick_after(UINT64_MAX, 1), TKW_NEVER);
    assert_int_equal(tkw_tick_after(UINT64_MAX, UINT64_MAX), TKW_NEVER);
}

/* The last tick that can be due has its place at any time. */
static void the_largest_deadline_has_a_place(void **state)
{
    (void)state;
    tkw_tick last = TKW_NEVER - 1;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            tkw_tick now = last - (UINT64_C(1) << bit);
            struct tkw_dial dial = dial_at(&shapes[s], now);
            assert_spot(tkw_dial_where(&dial, last),
                        naive_where(&shapes[s], now, last));
        }
        struct tkw_dial dial = dial_at(&shapes[s], last);
        assert_int_equal(tkw_dial_where(&dial, last).level, 0);
        tkw_dial_turn(&dial, TKW_NEVER);
        assert_int_equal(tkw_dial_where(&dial, last).level, 0);
        assert_true(tkw_dial_check(&dial));
    }
}

/* Where a size or a tick is a power of two, nothing is divided. */
static void powers_of_two_are_shifted_and_masked(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_dial dial = dial_at(&shapes[s], 0);
        for (uint32_t n = 0; n < dial.level_count; n++) {
            const struct tkw_level *level = &dial.levels[n];
            bool is_shifted = __builtin_popcountll(level->tick) == 1;
            bool is_masked = __builtin_popcountll(level->size) == 1;
            assert_int_equal(level->tick_shift,
                             is_shifted ? __builtin_ctzll(level->tick)
                                        : TKW_NO_SHIFT);
            assert_int_equal(level->size_mask, is_masked ? level->size - 1 : 0);
        }
    }
}

/*
 * L6.  Looking for a level begins at the lowest that could take a distance of
 * so many bits: no lower, which would cost time, and no higher.
 */
static void the_search_begins_at_the_lowest_level_in_question(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct tkw_dial dial = dial_at(&shapes[s], 0);
        for (unsigned bits = 1; bits <= 64; bits++) {
            tkw_tick least = UINT64_C(1) << (bits - 1);
            uint32_t level = naive_where(&shapes[s], 0, least).level;
            assert_int_equal(dial.lowest[bits] + 1, level);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_starts_at_now_rounded_down),
        cmocka_unit_test(a_window_ends_where_the_level_above_begins),
        cmocka_unit_test(levels_of_twenty_reach_what_kafka_says),
        cmocka_unit_test(every_deadline_of_a_toy_is_where_the_rules_say),
        cmocka_unit_test(any_deadline_at_any_time_is_where_the_rules_say),
        cmocka_unit_test(turning_moves_a_level_only_when_its_slot_is_over),
        cmocka_unit_test(turning_to_the_present_changes_nothing),
        cmocka_unit_test(kafka_examples_are_filed_as_worked_out),
        cmocka_unit_test(examples_of_other_sizes_are_filed_as_worked_out),
        cmocka_unit_test(units_become_ticks_as_worked_out),
        cmocka_unit_test(the_hashed_numbers_come_out),
        cmocka_unit_test(rounding_is_never_early_and_never_overflows),
        cmocka_unit_test(sums_saturate_at_never),
        cmocka_unit_test(the_largest_deadline_has_a_place),
        cmocka_unit_test(powers_of_two_are_shifted_and_masked),
        cmocka_unit_test(the_search_begins_at_the_lowest_level_in_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
