/*
 * service/executors.c - the same timers in the driver, in workers, and through
 * a queue of the user's: what they cost, how late they are, how many a second.
 */
#include "bench.h"

/* All due at one instant.  Returns million callbacks a second, until the last
 * has started. */
static double drain(const struct scale *scale, const struct setting *setting)
{
    size_t n = scale->timers;
    struct queue *queue;
    struct record record;
    record_open(&record, n);
    struct tkw_service *service = open_with_executors(setting, &queue);
    uint64_t start = now_ns() + scale->lead_ns;
    for (size_t i = 0; i < n; i++) {
        struct tkw_task task = {note_late, &record, NULL};
        if (tkw_service_arm_at(service, NULL, start, task) != 0)
            fail("arm");
    }
    be_before(start);
    wait_for_all(service);
    tkw_service_close(service, NULL, NULL);
    queue_close(queue);
    record_sort(&record, n);
    double took_us = record_us(&record, 1);
    record_close(&record);
    return (double)n / took_us;
}

static void measure_executor(const struct scale *scale,
                             const struct setting *setting, double *values)
{
    size_t n = scale->timers;
    struct queue *queue;
    struct record record;
    record_open(&record, n);
    struct spread spread = {.service = open_with_executors(setting, &queue),
                            .record = &record,
                            .timers = n,
                            .span_ns = scale->span_ns * 2 / 5,
                            .lead_ns = scale->lead_ns};
    values[0] = spread_run(&spread, 1);
    struct tkw_service_stats stats = tkw_service_read_stats(spread.service);
    tkw_service_close(spread.service, NULL, NULL);
    queue_close(queue);
    record_sort(&record, n);
    const double shares[] = {0.5, 0.99, 0.999};
    const uint64_t percentiles[] = {stats.late_p50_ns, stats.late_p99_ns,
                                    stats.late_p999_ns};
    for (unsigned i = 0; i < 3; i++) {
        values[1 + i] = record_us(&record, shares[i]);
        values[4 + i] = (double)percentiles[i] / 1e3;
    }
    record_close(&record);
    values[7] = drain(scale, setting);
}

#define EXECUTOR_VALUES                                                        \
    {                                                                          \
        "CPU per timer, ns", "late p50, us", "late p99, us", "late p99.9, us", \
            "by stats(): p50, us", "by stats(): p99, us",                      \
            "by stats(): p99.9, us", "all due at once: M/s"                    \
    }

const struct measurement executor_measurements[] = {
    {"executors", "driver", measure_executor, {0}, EXECUTOR_VALUES},
    {"executors",
     "1 worker",
     measure_executor,
     {.workers = 1},
     EXECUTOR_VALUES},
    {"executors",
     "2 workers",
     measure_executor,
     {.workers = 2},
     EXECUTOR_VALUES},
    {"executors",
     "submit, 2",
     measure_executor,
     {.submit_threads = 2},
     EXECUTOR_VALUES},
    {0}};
