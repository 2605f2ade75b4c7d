/*
 * monitor.c - tickwheel's monitor, which is made for the silence of D1, and for
 * nothing else: a connection is a key in a table, and a packet touches it.
 */
#include <stdlib.h>

#include <tickwheel/monitor.h>
#include <tickwheel/service.h>
#include <tickwheel/version.h>

#include "field.h"

struct facility {
    struct tkw_service *service;
    struct tkw_monitor *monitor;
};

static void fired(struct facility *f, uint32_t id);

static void call(void *context, const struct tkw_idle_key *silent, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fired(context, (uint32_t)silent[i].key.number);
}

static struct facility *facility_open(size_t n)
{
    (void)n;
    struct facility *f = field_memory(1, sizeof *f);
    struct tkw_monitor_config config = {
        .idle = {.limit_ns = 30 * TKW_SECOND},
        .on_silent = call,
        .context = f,
    };
    if (tkw_service_open(&f->service, NULL) != 0 ||
        tkw_monitor_open(&f->monitor, f->service, &config) != 0)
        field_fail("the monitor does not open");
    return f;
}

static void facility_close(struct facility *f)
{
    tkw_monitor_close(f->monitor);
    tkw_service_close(f->service, NULL, NULL);
    free(f);
}

static void set(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    if (tkw_monitor_touch_limit(f->monitor, tkw_key_number(id),
                                delay_ms * TKW_MILLISECOND) < 0)
        field_fail("tkw_monitor_touch_limit() failed");
}

static void run_until(struct facility *f, uint64_t ns)
{
    (void)f;
    field_sleep_until(ns);
}

#define ONLY_D1
#include "real.h"

const struct field_peer peer_monitor = {
    .name = "monitor",
    .title = "tickwheel monitor",
    .settings = "as it opens by default",
    .version = tkw_version,
    .real = real_workloads,
    .why_not_virtual = "the tracker is its part: see ./bench idle",
    .why_not_real = "for silence only",
};
