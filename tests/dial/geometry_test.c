/*
 * dial/geometry_test.c - geometries right and wrong, and the levels that a dial
 * grows from them.
 */
#include "support/core.h"

#include <errno.h>

#define SIXTEEN(n) n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n

/* Each wrong geometry is explained, refused, and leaves memory alone. */
static void wrong_geometries_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct tkw_geometry wrong[] = {
        {.sizes = {1}},
        {.sizes = {20, 1}},
        {.sizes = {1}, .beyond = TKW_ROUNDS},
        {.sizes = {0, 20}},
        {.sizes = {20, 0, 20}},
        {.sizes = {20, [15] = 2}},
        {.sizes = {20}, .beyond = 2},
        {.beyond = UINT32_MAX},
        {.sizes = {65536, 65536, 65536, 65536, 2}},
        {.sizes = {65536, 65536, 65536, 65537}},
        {.sizes = {65536, 65536, 65536, 3, 21847}},
        {.sizes = {65536, 65536, 65536, 65537}, .beyond = TKW_ROUNDS},
        {.sizes = {SIXTEEN(17)}},
        {.sizes = {TKW_SLOTS_MAX}},
        {.sizes = {TKW_SLOTS_MAX + 1}, .beyond = TKW_ROUNDS},
        {.sizes = {TKW_SLOTS_MAX, 2}, .beyond = TKW_ROUNDS},
        {.sizes = {UINT32_MAX, 2}, .beyond = TKW_ROUNDS},
        {.sizes = {UINT32_MAX}},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct tkw_dial dial, before;
        memset(&dial, 0xa5, sizeof(dial));
        memset(&before, 0xa5, sizeof(before));

        const char *fault = tkw_geometry_fault(&wrong[i]);
        assert_non_null(fault);
        assert_true(strlen(fault) > 0);
        assert_int_equal(tkw_dial_words(&wrong[i]), 0);
        assert_int_equal(tkw_wheel_bytes(&wrong[i]), 0);
        assert_int_equal(tkw_dial_init(&dial, &wrong[i], 0, NULL), -EINVAL);
        assert_memory_equal(&dial, &before, sizeof(dial));
    }
}

/* The same fault is told in the same words, different ones differently. */
static void different_faults_have_different_texts(void **state)
{
    (void)state;
    static const struct tkw_geometry wrong[] = {
        {.sizes = {1}},
        {.sizes = {20, 0, 20}},
        {.sizes = {20}, .beyond = 2},
        {.sizes = {65536, 65536, 65536, 65536, 2}},
        {.sizes = {TKW_SLOTS_MAX + 1}, .beyond = TKW_ROUNDS},
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        for (size_t j = i + 1; j < COUNT_OF(wrong); j++)
            assert_string_not_equal(tkw_geometry_fault(&wrong[i]),
                                    tkw_geometry_fault(&wrong[j]));
    }
    static const struct tkw_geometry empty_first = {.sizes = {0, 20}};
    assert_string_equal(tkw_geometry_fault(&empty_first),
                        tkw_geometry_fault(&wrong[1]));
}

/* As far as one can go in each direction, and not a step further. */
static void the_largest_geometries_are_right(void **state)
{
    (void)state;
    static const struct tkw_geometry right[] = {
        {.sizes = {SIXTEEN(16)}}, /* 2^64 exactly, and no size left over */
        {.sizes = {SIXTEEN(2)}},
        {.sizes = {SIXTEEN(3)}, .beyond = TKW_ROUNDS},
        {.sizes = {65536, 65536, 65536, 65536}},
        {.sizes = {65536, 65536, 65536, 65536}, .beyond = TKW_ROUNDS},
        {.sizes = {65536, 65536, 65536, 65535}},
        {.sizes = {65536, 65536, 65536, 3, 21846}},
        {.sizes = {TKW_SLOTS_MAX}, .beyond = TKW_ROUNDS},
        {.sizes = {TKW_SLOTS_MAX - 2, 2}, .beyond = TKW_ROUNDS},
        {.sizes = {2}, .beyond = TKW_ROUNDS},
    };
    for (size_t i = 0; i < COUNT_OF(right); i++) {
        struct tkw_dial dial;
        assert_null(tkw_geometry_fault(&right[i]));
        assert_int_not_equal(tkw_dial_words(&right[i]), 0);
        if (SIZE_MAX > UINT32_MAX)
            assert_int_not_equal(tkw_wheel_bytes(&right[i]), 0);
        assert_int_equal(tkw_dial_init(&dial, &right[i], 7, NULL), 0);
        assert_true(dial.slot_count <= TKW_SLOTS_MAX);
    }
}

/* A geometry that ends exactly where time does needs no level more. */
static void sizes_that_reach_the_end_of_time_grow_no_further(void **state)
{
    (void)state;
    static const struct tkw_geometry exact = {.sizes = {SIXTEEN(16)}};
    struct tkw_dial dial;
    assert_int_equal(tkw_dial_init(&dial, &exact, 0, NULL), 0);
    assert_int_equal(dial.level_count, 16);
    assert_int_equal(dial.slot_count, 256);

    struct tkw_spot spot = tkw_dial_where(&dial, TKW_NEVER - 1);
    assert_int_equal(spot.level, 16);
    assert_int_equal(spot.slot, 15);
    assert_int_equal(spot.expiration, UINT64_C(15) << 60);
}

static void a_dial_grows_as_many_levels_as_time_needs(void **state)
{
    (void)state;
    static const struct {
        struct tkw_geometry geometry;
        uint32_t level_count;
    } rows[] = {
        {{.sizes = {2}}, 64},
        {{.sizes = {20}}, 15},
        {{.sizes = {0}}, 10},
        {{.sizes = {65536}}, 4},
        {{.sizes = {65536, 65536, 65536, 65535}}, 5},
        {{.sizes = {512}, .beyond = TKW_ROUNDS}, 1},
        {{.sizes = {4, 6}, .beyond = TKW_ROUNDS}, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct tkw_dial dial;
        assert_int_equal(tkw_dial_init(&dial, &rows[i].geometry, 0, NULL), 0);
        assert_int_equal(dial.level_count, rows[i].level_count);
        assert_int_equal(dial.beyond, rows[i].geometry.beyond);

        uint32_t first = 0;
        for (uint32_t n = 0; n < dial.level_count; n++) {
            assert_int_equal(dial.levels[n].first, first);
            first += dial.levels[n].size;
        }
        assert_int_equal(dial.slot_count, first);
    }
}

/* NULL, all zero and {128, 512, 64} spelled out are one geometry. */
static void nothing_said_means_the_default(void **state)
{
    (void)state;
    static const struct tkw_geometry zero = {0};
    static const struct tkw_geometry spelled = {.sizes = {128, 512, 64}};
    const struct tkw_geometry *same[] = {NULL, &zero, &spelled};

    struct tkw_dial dials[3];
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        memset(&dials[i], 0, sizeof(dials[i]));
        assert_null(tkw_geometry_fault(same[i]));
        assert_int_equal(tkw_dial_words(same[i]), tkw_dial_words(NULL));
        assert_int_equal(tkw_wheel_bytes(same[i]), tkw_wheel_bytes(NULL));
        assert_int_equal(tkw_dial_init(&dials[i], same[i], 99, NULL), 0);
        assert_memory_equal(&dials[i], &dials[0], sizeof(dials[0]));
    }
    assert_int_equal(dials[0].levels[0].size, 128);
    assert_int_equal(dials[0].levels[1].size, 512);
    assert_int_equal(dials[0].levels[9].size, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_geometries_are_refused_with_a_reason),
        cmocka_unit_test(different_faults_have_different_texts),
        cmocka_unit_test(the_largest_geometries_are_right),
        cmocka_unit_test(sizes_that_reach_the_end_of_time_grow_no_further),
        cmocka_unit_test(a_dial_grows_as_many_levels_as_time_needs),
        cmocka_unit_test(nothing_said_means_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
