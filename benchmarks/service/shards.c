/*
 * service/shards.c - what a shard costs, and what it is good for.
 */
#include <stdlib.h>
#include <tickwheel/pool.h>

#include "bench.h"

/* Memory and the time to open and close, with nothing in it. */

static void *allocate_counted(void *context, size_t bytes)
{
    size_t *sum = context;
    *sum += bytes;
    return malloc(bytes);
}

static void release_counted(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

/* What of its memory is there before anything is armed, its threads' included;
 * it is asked of many, as memory comes in pages. */
static double empty_resident_bytes(uint32_t shards)
{
    enum { SERVICES = 16 };
    struct tkw_service *services[SERVICES];
    double before = resident_bytes();
    for (unsigned i = 0; i < SERVICES; i++)
        services[i] = open_service(0, shards);
    sleep_ns(50 * TKW_MILLISECOND); /* until the drivers wait */
    double bytes = (resident_bytes() - before) / SERVICES;
    for (unsigned i = 0; i < SERVICES; i++)
        tkw_service_close(services[i], NULL, NULL);
    return bytes;
}

static void measure_empty(uint32_t shards, double *values)
{
    enum { ROUNDS = 200 };
    size_t bytes = 0;
    uint64_t open_ns = 0;
    uint64_t close_ns = 0;
    struct tkw_allocator allocator = {allocate_counted, release_counted,
                                      &bytes};
    struct tkw_service_config config = {.shards = shards,
                                        .allocator = &allocator};
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct tkw_service *service;
        uint64_t began = now_ns();
        if (tkw_service_open(&service, &config) != 0)
            fail("open");
        uint64_t opened = now_ns();
        tkw_service_close(service, NULL, NULL);
        open_ns += opened - began;
        close_ns += now_ns() - opened;
    }
    values[1] = (double)bytes / ROUNDS / 1e3;
    values[2] = (double)open_ns / ROUNDS / 1e3;
    values[3] = (double)close_ns / ROUNDS / 1e3;
}

static void measure_spread(const struct scale *scale, uint32_t shards,
                           unsigned threads, double *values)
{
    struct record record;
    size_t n = scale->timers / 2;
    record_open(&record, n);
    struct spread spread = {.service = open_service(0, shards),
                            .record = &record,
                            .timers = n,
                            .span_ns = scale->span_ns / 5,
                            .lead_ns = scale->lead_ns};
    values[2] = spread_run(&spread, threads);
    tkw_service_close(spread.service, NULL, NULL);
    record_sort(&record, n);
    values[0] = record_us(&record, 0.5);
    values[1] = record_us(&record, 0.99);
    record_close(&record);
}

static void measure_shards(const struct scale *scale,
                           const struct setting *setting, double *values)
{
    values[0] = empty_resident_bytes(setting->shards) / 1e3;
    measure_empty(setting->shards, values);
    values[4] = pairs_by(1, setting->shards, scale->pairs / 5);
    values[5] = pairs_by(2, setting->shards, scale->pairs / 5);
    measure_spread(scale, setting->shards, 1, &values[6]);
    measure_spread(scale, setting->shards, 2, &values[9]);
}

#define SHARD_VALUES                                                         \
    {                                                                        \
        "empty: resident, kB", "allocated, kB", "open, us", "close, us",     \
            "pairs, 1 thread, M/s", "pairs, 2 threads, M/s",                 \
            "armed by 1: late p50, us", "late p99, us", "CPU per timer, ns", \
            "armed by 2: late p50, us", "late p99, us", "CPU per timer, ns"  \
    }

const struct measurement shard_measurements[] = {
    {"shards", "1", measure_shards, {.shards = 1}, SHARD_VALUES},
    {"shards", "2", measure_shards, {.shards = 2}, SHARD_VALUES},
    {"shards", "4", measure_shards, {.shards = 4}, SHARD_VALUES},
    {0}};
