/*
 * service/stats.c - how a service is doing: a snapshot, and the same as text.
 */
#include <tickwheel/service.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "private.h"

struct tkw_service_figures tkw_service_counters(struct tkw_service *service)
{
    /* Relaxed: exact when nothing moves. */
    struct tkw_service_figures told = {
        .wakeups = sync_get_relaxed(&service->wakeups),
        .woken = sync_get_relaxed(&service->woken),
        .steps_back = sync_get_relaxed(&service->steps_back),
    };
    for (uint32_t i = 0; i < service->shard_count; i++) {
        struct shard *shard = service->shards[i];
        sync_lock(&shard->mutex); /* against reaping, which moves counts */
        told.fired += sync_get_relaxed(&shard->fired);
        told.cancelled += shard->reaped;
        for (unsigned k = 0; k < TKW_STACKS; k++)
            told.cancelled +=
                sync_get_relaxed(&shard->cancelled[k]) >> CANCELLED_SHIFT;
        told.cancelled += sync_get_relaxed(&shard->cancelled_running);
        told.armed += shard->armed;
        told.handed_back += shard->handed_back;
        sync_unlock(&shard->mutex);
    }
    told.pending = told.armed - told.fired - told.cancelled - told.handed_back;
    return told;
}

size_t tkw_service_count(struct tkw_service *service)
{
    return (size_t)tkw_service_counters(service).pending;
}

/* How often a value came, in the runner or elsewhere. */
static uint64_t count_at(struct tkw_service *service, uint32_t index)
{
    uint64_t direct = sync_get_relaxed(&service->late_direct.counts[index]);
    return direct + sync_get_relaxed(&service->late.counts[index]);
}

/*
 * The smallest values that at least so many thousandths of all are not above.
 * A value is told by the largest that is counted with it, but for the last.
 */
static void tell_late(struct tkw_service *service,
                      struct tkw_service_report *told)
{
    uint64_t direct = sync_get_relaxed(&service->late_direct.max);
    uint64_t max = sync_get_relaxed(&service->late.max);
    max = direct > max ? direct : max;
    told->late_max_ns = max;
    told->late_sum_ns = sync_get_relaxed(&service->late_direct.sum);
    told->late_sum_ns += sync_get_relaxed(&service->late.sum);

    uint64_t total = 0;
    for (uint32_t i = 0; i < HISTOGRAM_SIZE; i++)
        total += count_at(service, i);
    const struct {
        unsigned thousandths;
        uint64_t *value;
    } asked[] = {
        {500, &told->late_p50_ns},
        {900, &told->late_p90_ns},
        {990, &told->late_p99_ns},
        {999, &told->late_p999_ns},
    };
    uint64_t sum = 0;
    size_t at = 0;
    for (uint32_t i = 0; i < HISTOGRAM_SIZE; i++) {
        sum += count_at(service, i);
        uint64_t value = histogram_value(i) < max ? histogram_value(i) : max;
        for (; at < sizeof asked / sizeof asked[0]; at++) {
            uint64_t need = total / 1000 * asked[at].thousandths +
                            (total % 1000 * asked[at].thousandths + 999) / 1000;
            if (sum < need || sum == 0)
                break;
            *asked[at].value = value;
        }
    }
}

struct tkw_service_report tkw_service_stats(struct tkw_service *service)
{
    struct tkw_service_report told = {
        .figures = tkw_service_counters(service),
        .overruns = sync_get_relaxed(&service->overruns),
    };
    for (uint32_t i = 0; i < service->shard_count; i++) {
        struct shard *shard = service->shards[i];
        sync_lock(&shard->mutex);
        told.falls += tkw_pool_counters(shard->pool).work.falls;
        sync_unlock(&shard->mutex);
    }
    tell_late(service, &told);
    sync_lock(&service->mutex);
    told.slowest_ns = service->slowest_ns;
    told.slowest_callback = service->slowest;
    sync_unlock(&service->mutex);
    return told;
}

/* Text that is written as far as there is room. */
struct text {
    char *at;
    size_t room;
    size_t length; /* that it would have */
    const char *labels;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text,
                                                      const char *format, ...)
{
    size_t done = text->length < text->room ? text->length : text->room;
    va_list arguments;
    va_start(arguments, format);
    /* The analyser does not see that they are, a line above.
     * NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    int count = vsnprintf(text->room > 0 ? text->at + done : NULL,
                          text->room - done, format, arguments);
    va_end(arguments);
    text->length += (size_t)count;
}

/* A sample's name, with the labels and another one, `last`. */
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

/* A time in seconds, all of its digits. */
static void add_seconds(struct text *text, const char *name, const char *last,
                        uint64_t value_ns)
{
    add_name(text, name, last);
    add(text, "%" PRIu64 ".%09" PRIu64 "\n", value_ns / TKW_SECOND,
        value_ns % TKW_SECOND);
}

static void add_late(struct text *text, const struct tkw_service_report *stats)
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
    add(text, "%" PRIu64 "\n", stats->figures.fired);
    add_head(text, "late_max_seconds", "gauge",
             "The longest time that a timer was late.");
    add_seconds(text, "late_max_seconds", "", stats->late_max_ns);
}

size_t tkw_service_prometheus(struct tkw_service *service, const char *labels,
                              char *text, size_t size)
{
    struct tkw_service_report stats = tkw_service_stats(service);
    const struct tkw_service_figures *figures = &stats.figures;
    const struct {
        const char *name;
        const char *help;
        uint64_t value;
    } counters[] = {
        {"armed_total", "Timers armed.", figures->armed},
        {"fired_total", "Callbacks started.", figures->fired},
        {"cancelled_total", "Timers cancelled.", figures->cancelled},
        {"handed_back_total", "Timers handed back at the end.",
         figures->handed_back},
        {"wakeups_total", "Wake-ups of the driver.", figures->wakeups},
        {"woken_total", "Wake-ups of the driver by arming.", figures->woken},
        {"clock_steps_back_total", "Times that the clock went back.",
         figures->steps_back},
        {"falls_total", "Timers that moved down a level.", stats.falls},
        {"overruns_total", "Periods that timers left out.", stats.overruns},
    };

    struct text out = {text, size, 0, labels != NULL ? labels : ""};
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        add_number(&out, counters[i].name, "counter", counters[i].help,
                   counters[i].value);
    add_number(&out, "pending", "gauge", "Timers whose callback is to come.",
               figures->pending);
    add_late(&out, &stats);
    add_head(&out, "slowest_callback_seconds", "gauge",
             "The time of the callback that took longest.");
    add_seconds(&out, "slowest_callback_seconds", "", stats.slowest_ns);
    return out.length;
}
