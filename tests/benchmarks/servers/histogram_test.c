/*
 * benchmarks/servers/histogram_test.c - quantiles beside those of a sorted
 * array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "benchmarks/servers/histogram.h"

enum { VALUES = 10000 };

static void an_empty_histogram_has_quantile_zero(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
}

/* Below 128 each value has a bucket: a quantile off by one would show. */
static void small_values_are_exact(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    for (int64_t value = 0; value < 100; value++)
        histogram_add(&histogram, value);
    assert_int_equal(histogram_quantile(&histogram, 0), 0);
    assert_int_equal(histogram_quantile(&histogram, 0.01), 0);
    assert_int_equal(histogram_quantile(&histogram, 0.5), 49);
    assert_int_equal(histogram_quantile(&histogram, 0.99), 98);
    assert_int_equal(histogram_quantile(&histogram, 0.991), 99);
    assert_int_equal(histogram_quantile(&histogram, 1), 99);
}

/* Alone, a value is the least and the greatest, and each quantile is exact. */
static void one_value_of_any_size_is_exact(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 63; bit++)
        for (int64_t off = -1; off <= 1; off++) {
            struct histogram histogram = {0};
            int64_t value = (INT64_C(1) << bit) + off;
            histogram_add(&histogram, value);
            assert_int_equal(histogram_quantile(&histogram, 0.5), value);
            assert_int_equal(histogram.least, value);
            assert_int_equal(histogram.greatest, value);
        }
    struct histogram histogram = {0};
    histogram_add(&histogram, INT64_MAX);
    assert_int_equal(histogram_quantile(&histogram, 0.5), INT64_MAX);
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* The header promises: never too low, and at most 1/128 too high. */
static void quantiles_are_near_those_of_a_sorted_array(void **state)
{
    (void)state;
    static int64_t values[VALUES];
    struct histogram histogram = {0};
    uint64_t dice = 7;
    for (size_t i = 0; i < VALUES; i++) {
        dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
        values[i] = (int64_t)(dice >> (1 + i % 60));
        histogram_add(&histogram, values[i]);
    }
    qsort(values, VALUES, sizeof values[0], compare);
    for (size_t rank = 1; rank <= VALUES; rank++) {
        /* Half a rank less, so that rounding does not ask for the next one. */
        double share = ((double)rank - 0.5) / VALUES;
        int64_t exact = values[rank - 1];
        int64_t found = histogram_quantile(&histogram, share);
        assert_true(found >= exact);
        assert_true(found - exact <= exact / 128);
    }
}

/* A negative value is a job that was early: the report must show how much. */
static void a_negative_value_stays_the_least(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    histogram_add(&histogram, 5);
    histogram_add(&histogram, -3);
    assert_int_equal(histogram.least, -3);
    assert_int_equal(histogram.greatest, 5);
    assert_int_equal(histogram.count, 2);
    assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
    assert_int_equal(histogram_quantile(&histogram, 1), 5);

    struct histogram early = {0};
    histogram_add(&early, -9);
    assert_int_equal(histogram_quantile(&early, 1), -9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_histogram_has_quantile_zero),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(one_value_of_any_size_is_exact),
        cmocka_unit_test(quantiles_are_near_those_of_a_sorted_array),
        cmocka_unit_test(a_negative_value_stays_the_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
