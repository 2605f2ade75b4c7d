/*
 * service/late.c - many or few timers over some seconds: how late they are and
 * what they cost, by the length of a tick and by the slack that they have.
 */
#include "bench.h"

static void *arm_spread(void *argument)
{
    struct spread *spread = argument;
    uint64_t dice = ++spread->dice;
    for (size_t i = 0; i < spread->timers; i++) {
        struct tkw_task task = {note_late, spread->record, NULL};
        uint64_t due = spread->start_ns + next_random(&dice) % spread->span_ns;
        if (tkw_service_arm_at(spread->service, NULL, due, task) != 0)
            fail("arm");
    }
    return NULL;
}

double spread_run(struct spread *spread, unsigned threads)
{
    size_t n = spread->timers;
    spread->dice = 88172645463325252;
    spread->start_ns = now_ns() + spread->lead_ns;
    spread->timers /= threads;
    in_threads(threads, arm_spread, spread);
    spread->timers = n;
    be_before(spread->start_ns);
    return (double)wait_for_all(spread->service) / (double)n;
}

static void measure_late(const struct scale *scale,
                         const struct setting *setting, double *values)
{
    struct record record;
    size_t timers = setting->is_sparse ? scale->timers / 100 : scale->timers;
    record_open(&record, timers);
    struct spread spread = {.service = open_service(setting->tick_ns, 0),
                            .record = &record,
                            .timers = timers,
                            .span_ns = scale->span_ns,
                            .lead_ns = scale->lead_ns};
    values[5] = spread_run(&spread, 1);
    tkw_service_close(spread.service, NULL, NULL);
    record_sort(&record, timers);
    const double shares[] = {0, 0.5, 0.99, 0.999, 1};
    for (unsigned i = 0; i < 5; i++)
        values[i] = record_us(&record, shares[i]);
    record_close(&record);
}

/*
 * Slack.  A timer's argument is the time that it was asked for, to know how
 * much later it ran: the service tells only when it was due, slack added.
 */

static struct record asked; /* late after the time that was asked for */

static void note_requested(void *argument, const struct tkw_firing *firing)
{
    if (now_ns() < firing->due_ns)
        fail("never early");
    record_note(&asked, (uintptr_t)argument);
}

/* The share that was later than the slack allows, sorted being what it is. */
static double beyond_us(const struct record *record, double share,
                        uint64_t slack_ns)
{
    double late = record_us(record, share) - (double)slack_ns / 1e3;
    return late > 0 ? late : 0;
}

static void measure_slack(const struct scale *scale,
                          const struct setting *setting, double *values)
{
    size_t n = scale->timers;
    uint64_t span_ns = scale->span_ns * 2 / 5;
    uint64_t dice = 88172645463325252;
    record_open(&asked, n);
    struct tkw_service *service = open_service(0, 0);
    uint64_t start = now_ns() + scale->lead_ns;
    for (size_t i = 0; i < n; i++) {
        uint64_t when = start + next_random(&dice) % span_ns;
        struct tkw_plan plan = {
            .task = {note_requested, (void *)(uintptr_t)when, NULL},
            .when_ns = when,
            .is_time = true,
            .slack_ns = setting->slack_ns,
        };
        if (tkw_service_arm_plan(service, NULL, &plan) != 0)
            fail("arm");
    }
    be_before(start);
    uint64_t wakeups = tkw_service_read_stats(service).wakeups;
    values[1] = (double)wait_for_all(service) / (double)n;
    wakeups = tkw_service_read_stats(service).wakeups - wakeups;
    values[0] = (double)wakeups * 1e9 / (double)span_ns;
    tkw_service_close(service, NULL, NULL);
    record_sort(&asked, n);
    values[2] = record_us(&asked, 0.5);
    values[3] = beyond_us(&asked, 0.99, setting->slack_ns);
    values[4] = beyond_us(&asked, 0.999, setting->slack_ns);
    values[5] = beyond_us(&asked, 1, setting->slack_ns);
    record_close(&asked);
}

#define LATE_VALUES                                                          \
    {                                                                        \
        "late, least, us", "late p50, us", "late p99, us", "late p99.9, us", \
            "late, most, us", "CPU per timer, ns"                            \
    }
#define LATE(us)                                           \
    {                                                      \
        "late", "tick " #us " us", measure_late,           \
            {.tick_ns = (us)*TKW_MICROSECOND}, LATE_VALUES \
    }
#define SPARSE(us)                                                            \
    {                                                                         \
        "sparse", "tick " #us " us", measure_late,                            \
            {.tick_ns = (us)*TKW_MICROSECOND, .is_sparse = true}, LATE_VALUES \
    }
#define SLACK_VALUES                                                         \
    {                                                                        \
        "wake-ups a second", "CPU per timer, ns", "after its time, p50, us", \
            "beyond time and slack, p99, us", "p99.9, us", "most, us"        \
    }

const struct measurement late_measurements[] = {
    LATE(1000),
    LATE(500),
    LATE(200),
    LATE(100),
    LATE(50),
    LATE(20),
    SPARSE(1000),
    SPARSE(500),
    SPARSE(200),
    SPARSE(100),
    SPARSE(50),
    SPARSE(20),
    {"slack", "none", measure_slack, {0}, SLACK_VALUES},
    {"slack",
     "1 ms",
     measure_slack,
     {.slack_ns = TKW_MILLISECOND},
     SLACK_VALUES},
    {"slack",
     "10 ms",
     measure_slack,
     {.slack_ns = 10 * TKW_MILLISECOND},
     SLACK_VALUES},
    {"slack",
     "100 ms",
     measure_slack,
     {.slack_ns = 100 * TKW_MILLISECOND},
     SLACK_VALUES},
    {0}};
