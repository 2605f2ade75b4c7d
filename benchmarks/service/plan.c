/*
 * service/plan.c - what plans cost beside plain timers: one by one and many at
 * once, with an owner, repeating; and what it costs to ask how it is going.
 */
#include <errno.h>
#include <stdlib.h>

#include "bench.h"

enum { ROUND = 256, OWNED = 16 };

/*
 * Arm a round of timers and cancel them, over and over, in one of several ways:
 * memory is warm, and each arming clears away a timer cancelled before.
 */

struct round {
    struct tkw_service *service;
    struct tkw_plan plans[ROUND];
    tkw_handle handles[ROUND];
    struct tkw_owner owners[ROUND / OWNED];
};

typedef void way(struct round *round);

static void arm_plainly(struct round *round)
{
    for (size_t i = 0; i < ROUND; i++)
        round->handles[i] = arm(round->service, round->plans[i].when_ns);
}

static void arm_by_plan(struct round *round)
{
    for (size_t i = 0; i < ROUND; i++)
        if (tkw_service_arm_plan(round->service, &round->handles[i],
                                 &round->plans[i]) != 0)
            fail("arm");
}

static void arm_by(struct round *round, size_t many)
{
    for (size_t i = 0; i < ROUND; i += many)
        if (tkw_service_arm_many(round->service, &round->handles[i],
                                 &round->plans[i], many) != (ptrdiff_t)many)
            fail("arm");
}

static void arm_by_1(struct round *round)
{
    arm_by(round, 1);
}

static void arm_by_16(struct round *round)
{
    arm_by(round, 16);
}

static void arm_by_256(struct round *round)
{
    arm_by(round, 256);
}

static void cancel_each(struct round *round)
{
    for (size_t i = 0; i < ROUND; i++)
        if (tkw_service_cancel(round->service, round->handles[i]) != 1)
            fail("cancel");
}

static void cancel_together(struct round *round)
{
    if (tkw_service_cancel_many(round->service, round->handles, ROUND, NULL) !=
        ROUND)
        fail("cancel");
}

static void cancel_by_owner(struct round *round)
{
    for (size_t i = 0; i < ROUND / OWNED; i++)
        if (tkw_service_cancel_owner(round->service, &round->owners[i]) !=
            OWNED)
            fail("cancel");
}

/* What arming and cancelling cost, in ns a timer. */
static void measure_rounds(struct round *round, size_t count, way *arm_all,
                           way *cancel_all, double *values)
{
    uint64_t arm_ns = 0;
    uint64_t cancel_ns = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t began = now_ns();
        arm_all(round);
        uint64_t armed = now_ns();
        cancel_all(round);
        arm_ns += armed - began;
        cancel_ns += now_ns() - armed;
    }
    values[0] = (double)arm_ns / (double)(count * ROUND);
    values[1] = (double)cancel_ns / (double)(count * ROUND);
}

static void measure_plans(const struct scale *scale,
                          const struct setting *setting, double *values)
{
    (void)setting;
    size_t count = scale->timers * 2 / ROUND;
    struct round *round = must_allocate(1, sizeof *round);
    round->service = open_service(0, 0);
    for (size_t i = 0; i < ROUND; i++)
        round->plans[i] = (struct tkw_plan){.task = {do_nothing, NULL, NULL},
                                            .when_ns = 30 * TKW_SECOND};
    double pair[2];
    measure_rounds(round, count / 4, arm_by_1, cancel_each, pair); /* warm */
    measure_rounds(round, count, arm_plainly, cancel_each, pair);
    values[0] = pair[0];
    values[5] = pair[1];
    measure_rounds(round, count, arm_by_plan, cancel_each, pair);
    values[1] = pair[0];
    measure_rounds(round, count, arm_by_1, cancel_together, pair);
    values[2] = pair[0];
    measure_rounds(round, count, arm_by_16, cancel_together, pair);
    values[3] = pair[0];
    measure_rounds(round, count, arm_by_256, cancel_together, pair);
    values[4] = pair[0];
    values[6] = pair[1];
    for (size_t i = 0; i < ROUND; i++)
        round->plans[i].owner = &round->owners[i / OWNED];
    measure_rounds(round, count, arm_by_16, cancel_by_owner, pair);
    values[7] = pair[0];
    values[8] = pair[1];
    tkw_service_close(round->service, NULL, NULL);
    free(round);
}

/* The same with a million pending, armed by 256, cancelled at random. */

static void measure_many(const struct scale *scale,
                         const struct setting *setting, double *values)
{
    (void)setting;
    size_t half = scale->timers / 2 / ROUND * ROUND;
    size_t n = 2 * half;
    uint64_t dice = 88172645463325252;
    struct tkw_service *service = open_service(0, 0);
    tkw_handle *handles = must_allocate(n, sizeof *handles);
    struct tkw_plan plans[ROUND] = {0};
    for (size_t i = 0; i < n; i++)
        handles[i] = i; /* so that the memory is there */

    uint64_t began = now_ns();
    for (size_t i = 0; i < n; i += ROUND) {
        for (size_t k = 0; k < ROUND; k++) {
            plans[k].task.callback = do_nothing;
            plans[k].when_ns = far_delay(&dice);
        }
        if (tkw_service_arm_many(service, &handles[i], plans, ROUND) != ROUND)
            fail("arm");
    }
    values[0] = (double)(now_ns() - began) / (double)n;

    shuffle(handles, n, &dice);
    began = now_ns();
    for (size_t i = 0; i < half; i++)
        if (tkw_service_cancel(service, handles[i]) != 1)
            fail("cancel");
    uint64_t halfway = now_ns();
    for (size_t i = half; i < n; i += ROUND)
        if (tkw_service_cancel_many(service, &handles[i], ROUND, NULL) != ROUND)
            fail("cancel");
    values[1] = (double)(halfway - began) / (double)half;
    values[2] = (double)(now_ns() - halfway) / (double)half;
    tkw_service_close(service, NULL, NULL);
    free(handles);
}

/* Timers that are called every tenth of a second, by their plan or by their own
 * doing. */

enum { CALLS_A_TIMER = 10 };
#define PERIOD_NS (100 * TKW_MILLISECOND)

static void rearm_itself(void *argument, const struct tkw_firing *firing)
{
    note_late(argument, firing);
    int result = tkw_service_rearm_at(firing->service, firing->handle,
                                      firing->due_ns + PERIOD_NS);
    if (result != 1 && result != -ESHUTDOWN) /* it ends by being closed */
        fail("rearm");
}

/* Returns the CPU of each call, in ns; `*late_us` is the p99. */
static double measure_repeating(const struct scale *scale, bool is_planned,
                                double *late_us)
{
    size_t n = scale->timers / CALLS_A_TIMER;
    struct record record;
    struct tkw_service *service = open_service(0, 0);
    record_open(&record, n * (CALLS_A_TIMER + 10));
    uint64_t dice = 88172645463325252;
    uint64_t start = now_ns() + scale->lead_ns;
    for (size_t i = 0; i < n; i++) {
        struct tkw_plan plan = {
            .task = {is_planned ? note_late : rearm_itself, &record, NULL},
            .when_ns = start + next_random(&dice) % PERIOD_NS,
            .is_time = true,
            .period_ns = is_planned ? PERIOD_NS : 0,
        };
        if (tkw_service_arm_plan(service, NULL, &plan) != 0)
            fail("arm");
    }
    be_before(start);
    uint64_t cpu = cpu_ns();
    while (now_ns() < start + CALLS_A_TIMER * PERIOD_NS)
        sleep_ns(10 * TKW_MILLISECOND);
    cpu = cpu_ns() - cpu;
    size_t fired = tkw_service_read_stats(service).fired;
    tkw_service_close(service, NULL, NULL);
    record_sort(&record, record_total(&record));
    *late_us = record_us(&record, 0.99);
    record_close(&record);
    return (double)cpu / (double)fired;
}

static void measure_periods(const struct scale *scale,
                            const struct setting *setting, double *values)
{
    (void)setting;
    values[0] = measure_repeating(scale, true, &values[1]);
    values[2] = measure_repeating(scale, false, &values[3]);
}

/* How a service is doing, asked with all that there is to count. */
static void measure_asking(const struct scale *scale,
                           const struct setting *setting, double *values)
{
    (void)scale;
    (void)setting;
    enum { CALLS = 5000 };
    struct tkw_service *service = open_service(0, 0);
    char text[8192];
    uint64_t began = now_ns();
    for (unsigned i = 0; i < CALLS; i++)
        tkw_service_read_stats(service);
    uint64_t counted = now_ns();
    for (unsigned i = 0; i < CALLS; i++)
        tkw_service_read_stats(service);
    uint64_t read_ns = now_ns();
    for (unsigned i = 0; i < CALLS; i++)
        if (tkw_service_prometheus(service, "service=\"mail\"", text,
                                   sizeof text) >= sizeof text)
            fail("text");
    uint64_t written = now_ns();
    values[0] = (double)(counted - began) / CALLS / 1e3;
    values[1] = (double)(read_ns - counted) / CALLS / 1e3;
    values[2] = (double)(written - read_ns) / CALLS / 1e3;
    tkw_service_close(service, NULL, NULL);
}

const struct measurement plan_measurements[] = {
    {"plan",
     "warm",
     measure_plans,
     {0},
     {"arm, ns", "arm_plan, ns", "arm_many, by 1, ns", "arm_many, by 16, ns",
      "arm_many, by 256, ns", "cancel, ns", "cancel_many, by 256, ns",
      "arm_many, owners of 16, ns", "cancel_owner, of 16, ns"}},
    {"plan",
     "many pending",
     measure_many,
     {0},
     {"arm_many, by 256, ns", "cancel, ns", "cancel_many, by 256, ns"}},
    {"plan",
     "repeating",
     measure_periods,
     {0},
     {"with a period, CPU, ns a call", "late p99, us",
      "with rearm, CPU, ns a call", "late p99, us"}},
    {"plan",
     "asking",
     measure_asking,
     {0},
     {"counters(), us", "stats(), us", "prometheus(), us"}},
    {0}};
