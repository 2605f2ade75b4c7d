/*
 * service/burst.c - a million timers at once: when the last of them runs, and
 * what becomes of others meanwhile.
 */
#include "bench.h"

/* All at one instant, spread by jitter or not. */
static void measure_jitter(const struct scale *scale,
                           const struct setting *setting, double *values)
{
    size_t n = scale->timers;
    struct record record;
    record_open(&record, n);
    struct tkw_service *service = open_service(0, 0);
    struct tkw_plan plan = {
        .task = {note_late, &record, NULL},
        .when_ns = now_ns() + scale->lead_ns,
        .is_time = true,
        .jitter_ns = setting->jitter_ns,
    };
    for (size_t i = 0; i < n; i++)
        if (tkw_service_arm_plan(service, NULL, &plan) != 0)
            fail("arm");
    be_before(plan.when_ns);
    values[3] = (double)wait_for_all(service) / (double)n;
    tkw_service_close(service, NULL, NULL);
    record_sort(&record, n);
    values[0] = record_us(&record, 0.5);
    values[1] = record_us(&record, 0.99);
    values[2] = record_us(&record, 1);
    record_close(&record);
}

/* A million in one millisecond, and bystanders before, meanwhile and after, one
 * every millisecond, where the burst runs or elsewhere. */

static void arm_one(struct tkw_service *service, struct record *record,
                    uint64_t when_ns, enum tkw_executor executor)
{
    struct tkw_plan plan = {
        .task = {note_late, record, NULL},
        .when_ns = when_ns,
        .is_time = true,
        .executor = executor,
    };
    if (tkw_service_arm_plan(service, NULL, &plan) != 0)
        fail("arm");
}

static void measure_burst(const struct scale *scale,
                          const struct setting *setting, double *values)
{
    size_t n = scale->timers;
    size_t bystanders = (size_t)(scale->span_ns * 2 / 5 / TKW_MILLISECOND);
    uint64_t dice = 88172645463325252;
    struct record crowd;
    struct record others;
    struct queue *queue;
    record_open(&crowd, n);
    record_open(&others, bystanders);
    struct tkw_service *service = open_with_executors(setting, &queue);

    uint64_t start = now_ns() + scale->lead_ns;
    uint64_t instant = start + bystanders / 4 * TKW_MILLISECOND;
    for (size_t i = 0; i < bystanders; i++)
        arm_one(service, &others, start + i * TKW_MILLISECOND,
                setting->bystander);
    for (size_t i = 0; i < n; i++)
        arm_one(service, &crowd, instant + next_random(&dice) % TKW_MILLISECOND,
                setting->crowd);
    be_before(start);
    wait_for_all(service);
    tkw_service_close(service, NULL, NULL);
    queue_close(queue);

    record_sort(&crowd, n);
    record_sort(&others, bystanders);
    const double shares[] = {0.5, 0.99, 1};
    for (unsigned i = 0; i < 3; i++)
        values[i] = record_us(&others, shares[i]);
    values[3] = record_us(&crowd, 1) / 1e3;
    record_close(&crowd);
    record_close(&others);
}

#define JITTER_VALUES                                                         \
    {                                                                         \
        "late p50, us", "late p99, us", "late, most, us", "CPU per timer, ns" \
    }
#define BURST_VALUES                                      \
    {                                                     \
        "bystanders late p50, us", "p99, us", "most, us", \
            "the last of the burst, ms"                   \
    }

/* Of a burst: where it runs, and where its bystanders do. */
const struct measurement burst_measurements[] = {
    {"jitter", "none", measure_jitter, {0}, JITTER_VALUES},
    {"jitter", "1 s", measure_jitter, {.jitter_ns = TKW_SECOND}, JITTER_VALUES},
    {"burst", "driver/driver", measure_burst, {0}, BURST_VALUES},
    {"burst",
     "workers/driver",
     measure_burst,
     {.workers = 2, .crowd = TKW_ON_WORKERS, .bystander = TKW_ON_DRIVER},
     BURST_VALUES},
    {"burst",
     "driver/workers",
     measure_burst,
     {.workers = 2, .crowd = TKW_ON_DRIVER, .bystander = TKW_ON_WORKERS},
     BURST_VALUES},
    {"burst",
     "submit/driver",
     measure_burst,
     {.submit_threads = 2, .crowd = TKW_BY_SUBMIT, .bystander = TKW_ON_DRIVER},
     BURST_VALUES},
    {0}};
