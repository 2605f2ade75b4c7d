/*
 * service/stats.c - counters of a service, as a struct and as Prometheus text.
 */
#include <tickwheel/service.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "private.h"

/* Add up the shards' counters.  Relaxed: exact while no other thread counts. */
static void add_shards(struct tkw_service *service,
                       struct tkw_service_stats *stats)
{
    for (uint32_t i = 0; i < service->shard_count; i++) {
        struct shard *shard = service->shards[i];
        shard_lock(shard);
        stats->fired += sync_get_relaxed(&shard->fired);
        stats->cancelled += sync_get_relaxed(&shard->given_up);
        stats->cancelled += sync_get_relaxed(&shard->cancelled);
        stats->armed += shard->armed;
        stats->handed_back += shard->handed_back;
        stats->falls += tkw_pool_read_stats(shard->pool).work.falls;
        shard_unlock(shard);
    }
    stats->pending =
        stats->armed - stats->fired - stats->cancelled - stats->handed_back;
}

size_t tkw_service_count(struct tkw_service *service)
{
    struct tkw_service_stats stats = {0};
    add_shards(service, &stats);
    return (size_t)stats.pending;
}

/* Return the count at `index`, of the runner and all others. */
static uint64_t count_at(struct tkw_service *service, uint32_t index)
{
    uint64_t direct = sync_get_relaxed(&service->late_direct.counts[index]);
    return direct + sync_get_relaxed(&service->late.counts[index]);
}

/*
 * Compute percentiles of lateness: the smallest value that at least
 * `thousandths` of all values do not exceed.  Values in one cell of the
 * histogram count as the largest of them, clamped to the maximum.
 */
static void add_late(struct tkw_service *service,
                     struct tkw_service_stats *stats)
{
    uint64_t direct = sync_get_relaxed(&service->late_direct.max);
    uint64_t max = sync_get_relaxed(&service->late.max);
    max = direct > max ? direct : max;
    stats->late_max_ns = max;
    stats->late_sum_ns = sync_get_relaxed(&service->late_direct.sum);
    stats->late_sum_ns += sync_get_relaxed(&service->late.sum);

    uint64_t counts[HISTOGRAM_SIZE]; /* read once: threads go on counting */
    uint64_t total = 0;
    for (uint32_t i = 0; i < HISTOGRAM_SIZE; i++) {
        counts[i] = count_at(service, i);
        total += counts[i];
    }
    const struct {
        unsigned thousandths;
        uint64_t *value;
    } percentiles[] = {
        {500, &stats->late_p50_ns},
        {900, &stats->late_p90_ns},
        {990, &stats->late_p99_ns},
        {999, &stats->late_p999_ns},
    };
    uint64_t sum = 0;
    size_t at = 0;
    for (uint32_t i = 0; i < HISTOGRAM_SIZE; i++) {
        sum += counts[i];
        uint64_t value = histogram_value(i) < max ? histogram_value(i) : max;
        for (; at < sizeof percentiles / sizeof percentiles[0]; at++) {
            uint64_t need =
                total / 1000 * percentiles[at].thousandths +
                (total % 1000 * percentiles[at].thousandths + 999) / 1000;
            if (sum < need || sum == 0)
                break;
            *percentiles[at].value = value;
        }
    }
}

struct tkw_service_stats tkw_service_read_stats(struct tkw_service *service)
{
    struct tkw_service_stats stats = {
        .wakeups = sync_get_relaxed(&service->wakeups),
        .woken = sync_get_relaxed(&service->woken),
        .steps_back = sync_get_relaxed(&service->steps_back),
        .overruns = sync_get_relaxed(&service->overruns),
    };
    add_shards(service, &stats);
    add_late(service, &stats);
    service_lock(service);
    stats.slowest_ns = service->slowest_ns;
    stats.slowest_callback = service->slowest;
    service_unlock(service);
    return stats;
}

/* Text, cut where its room ends. */
struct text {
    char *at;
    size_t room;
    size_t length; /* of the whole text */
    const char *labels;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text,
                                                      const char *format, ...)
{
    size_t done = text->length < text->room ? text->length : text->room;
    va_list arguments;
    va_start(arguments, format);
    /* The analyser does not see that `arguments` is initialised.
     * NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    int count = vsnprintf(text->room > 0 ? text->at + done : NULL,
                          text->room - done, format, arguments);
    va_end(arguments);
    text->length += (size_t)count;
}

/* Write a sample's name, with the labels and another one, `last`. */
static void add_name(struct text *text, const char *name, const char *last)
{
    const char *comma = text->labels[0] != 0 && last[0] != 0 ? "," : "";
    bool is_bare = text->labels[0] == 0 && last[0] == 0;
    add(text, is_bare ? "tickwheel_%s%s%s%s " : "tickwheel_%s{%s%s%s} ", name,
        text->labels, comma, last);
}

static void add_head(struct text *text, const char *name, const char *type,
                     const char *help)
{
    add(text, "# HELP tickwheel_%s %s\n# TYPE tickwheel_%s %s\n", name, help,
        name, type);
}

static void add_number(struct text *text, const char *name, const char *type,
                       const char *help, uint64_t value)
{
    add_head(text, name, type, help);
    add_name(text, name, "");
    add(text, "%" PRIu64 "\n", value);
}

/* Write a time in seconds, with nine decimals. */
static void add_seconds(struct text *text, const char *name, const char *last,
                        uint64_t value_ns)
{
    add_name(text, name, last);
    add(text, "%" PRIu64 ".%09" PRIu64 "\n", value_ns / TKW_SECOND,
        value_ns % TKW_SECOND);
}

static void write_late(struct text *text, const struct tkw_service_stats *stats)
{
    static const char name[] = "late_seconds";
    add_head(text, name, "summary",
             "Time from when a timer was due to its callback.");
    add_seconds(text, name, "quantile=\"0.5\"", stats->late_p50_ns);
    add_seconds(text, name, "quantile=\"0.9\"", stats->late_p90_ns);
    add_seconds(text, name, "quantile=\"0.99\"", stats->late_p99_ns);
    add_seconds(text, name, "quantile=\"0.999\"", stats->late_p999_ns);
    add_seconds(text, "late_seconds_sum", "", stats->late_sum_ns);
    add_name(text, "late_seconds_count", "");
    add(text, "%" PRIu64 "\n", stats->fired);
    add_head(text, "late_max_seconds", "gauge",
             "The longest time that a timer was late.");
    add_seconds(text, "late_max_seconds", "", stats->late_max_ns);
}

size_t tkw_service_prometheus(struct tkw_service *service, const char *labels,
                              char *text, size_t size)
{
    struct tkw_service_stats stats = tkw_service_read_stats(service);
    const struct {
        const char *name;
        const char *help;
        uint64_t value;
    } counters[] = {
        {"armed_total", "Timers armed.", stats.armed},
        {"fired_total", "Callbacks started.", stats.fired},
        {"cancelled_total", "Timers cancelled.", stats.cancelled},
        {"handed_back_total", "Timers handed back at the end.",
         stats.handed_back},
        {"wakeups_total", "Wake-ups of the driver.", stats.wakeups},
        {"woken_total", "Wake-ups of the driver by arming.", stats.woken},
        {"clock_steps_back_total", "Times that the clock went back.",
         stats.steps_back},
        {"falls_total", "Timers that moved down a level.", stats.falls},
        {"overruns_total", "Periods that timers left out.", stats.overruns},
    };

    struct text out = {text, size, 0, labels != NULL ? labels : ""};
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        add_number(&out, counters[i].name, "counter", counters[i].help,
                   counters[i].value);
    add_number(&out, "pending", "gauge", "Timers whose callback is to come.",
               stats.pending);
    write_late(&out, &stats);
    add_head(&out, "slowest_callback_seconds", "gauge",
             "The time of the callback that took longest.");
    add_seconds(&out, "slowest_callback_seconds", "", stats.slowest_ns);
    return out.length;
}
