/*
 * benchmarks/servers/lateness_test.c - the bounds of how late a job arrived.
 * The linker replaces fail() by __wrap_fail().
 */
#include "benchmarks/servers/lateness.h"
#include "benchmarks/servers/support.h" /* before cmocka's macro fail() */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

enum { T0 = 1000000 }; /* a reading of the clock, in nanoseconds */

/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
_Noreturn void __wrap_fail(const char *format, ...);
/* NOLINTNEXTLINE(bugprone-reserved-identifier) */
void __wrap_fail(const char *format, ...)
{
    mock_assert(0, format, __FILE__, __LINE__);
    __builtin_unreachable(); /* mock_assert() leaves by longjmp() */
}

/* The picture of lateness.h: put at 0, inserted at 300, received at 2000 ns
 * after a delay of 1 ms. */
static void the_bounds_differ_by_the_reply_time_of_the_put(void **state)
{
    (void)state;
    struct lateness lateness = {0};
    lateness_sent(&lateness, 0, 1, T0);
    lateness_inserted(&lateness, 0, T0 + 300);
    struct late late = lateness_received(&lateness, 0, T0 + NS_PER_MS + 2000);
    assert_int_equal(late.due_ns, T0 + NS_PER_MS);
    assert_int_equal(late.most_ns, 2000);
    assert_int_equal(late.least_ns, 1700);
    lateness_close(&lateness);
}

/* Such a job proves that the server broke its promise. */
static void an_early_job_is_late_by_less_than_zero(void **state)
{
    (void)state;
    struct lateness lateness = {0};
    lateness_sent(&lateness, 0, 1, T0);
    lateness_inserted(&lateness, 0, T0 + 300);
    struct late late = lateness_received(&lateness, 0, T0 + NS_PER_MS - 1);
    assert_int_equal(late.most_ns, -1);
    assert_int_equal(late.least_ns, -301);
    lateness_close(&lateness);
}

/* The server may send a job to a worker before it replies to the put. */
static void a_job_may_overtake_the_reply_of_its_put(void **state)
{
    (void)state;
    struct lateness lateness = {0};
    lateness_sent(&lateness, 0, 0, T0);
    struct late late = lateness_received(&lateness, 0, T0 + 500);
    assert_int_equal(late.most_ns, 500);
    assert_int_equal(late.least_ns, 0);
    lateness_inserted(&lateness, 0, T0 + 600);
    lateness_close(&lateness);
}

static void each_index_is_a_job_of_its_own(void **state)
{
    (void)state;
    static const uint32_t indices[] = {0, 1, 5000, 4999, 200000};
    struct lateness lateness = {0};
    for (size_t i = 0; i < 5; i++) {
        lateness_sent(&lateness, indices[i], 0, T0 + i);
        lateness_inserted(&lateness, indices[i], T0 + i);
    }
    for (size_t i = 0; i < 5; i++) {
        struct late late = lateness_received(&lateness, indices[i], T0 + 100);
        assert_int_equal(late.most_ns, 100 - i);
    }
    lateness_close(&lateness);
}

static void a_job_that_was_not_put_fails_the_program(void **state)
{
    (void)state;
    struct lateness lateness = {0};
    expect_assert_failure(lateness_received(&lateness, 0, T0));
    lateness_sent(&lateness, 1, 0, T0);
    expect_assert_failure(lateness_received(&lateness, 0, T0));
    expect_assert_failure(lateness_received(&lateness, UINT32_MAX, T0));
    lateness_close(&lateness);
}

static void a_job_that_arrives_twice_fails_the_program(void **state)
{
    (void)state;
    struct lateness lateness = {0};
    lateness_sent(&lateness, 0, 0, T0);
    lateness_received(&lateness, 0, T0 + 1);
    expect_assert_failure(lateness_received(&lateness, 0, T0 + 2));
    lateness_close(&lateness);
}

/* Returns the value of `name`, which is whole. */
static long value_of(const struct report *report, const char *name)
{
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->values[i].name, name) == 0)
            return (long)report->values[i].number;
    fail_msg("the report has no '%s'", name);
    return 0;
}

static void a_summary_reports_the_earliest_job(void **state)
{
    (void)state;
    static struct late_summary summary;
    static struct report report;
    const struct late early = {.most_ns = -2000, .least_ns = -3000};
    const struct late late = {.most_ns = 100000, .least_ns = 90000};
    late_summary_add(&summary, &late);
    late_summary_add(&summary, &early);
    late_summary_report(&summary, "x", &report);
    assert_int_equal(value_of(&report, "x_count"), 2);
    assert_int_equal(value_of(&report, "x_max_us"), 100);
    assert_int_equal(value_of(&report, "x_earliest_us"), -2);
    assert_int_equal(value_of(&report, "x_least_max_us"), 90);
}

static void an_empty_summary_reports_its_count_alone(void **state)
{
    (void)state;
    static struct late_summary summary;
    static struct report report;
    late_summary_report(&summary, "x", &report);
    assert_int_equal(report.count, 1);
    assert_int_equal(value_of(&report, "x_count"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bounds_differ_by_the_reply_time_of_the_put),
        cmocka_unit_test(an_early_job_is_late_by_less_than_zero),
        cmocka_unit_test(a_job_may_overtake_the_reply_of_its_put),
        cmocka_unit_test(each_index_is_a_job_of_its_own),
        cmocka_unit_test(a_job_that_was_not_put_fails_the_program),
        cmocka_unit_test(a_job_that_arrives_twice_fails_the_program),
        cmocka_unit_test(a_summary_reports_the_earliest_job),
        cmocka_unit_test(an_empty_summary_reports_its_count_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
