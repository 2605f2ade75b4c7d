/*
 * service/calls.c - what single calls cost, and what waiting costs.
 */
#include <stdlib.h>

#include "bench.h"

/* Arm for 30 s and cancel, over and over: million pairs a second. */

struct pairs {
    struct tkw_service *service;
    size_t count;
};

static void *make_pairs(void *argument)
{
    const struct pairs *pairs = argument;
    for (size_t i = 0; i < pairs->count; i++) {
        tkw_handle handle = arm(pairs->service, 30 * TKW_SECOND);
        if (tkw_service_cancel(pairs->service, handle) != 1)
            fail("cancel");
    }
    return NULL;
}

double pairs_by(unsigned threads, uint32_t shards, size_t count)
{
    struct pairs pairs = {open_service(0, shards), count};
    make_pairs(&(struct pairs){pairs.service, count / 10}); /* warm */
    uint64_t began = now_ns();
    in_threads(threads, make_pairs, &pairs);
    uint64_t took = now_ns() - began;
    tkw_service_close(pairs.service, NULL, NULL);
    return (double)(threads * count) * 1e3 / (double)took;
}

static void measure_pairs(const struct scale *scale,
                          const struct setting *setting, double *values)
{
    (void)setting;
    values[0] = pairs_by(1, 2, scale->pairs);
    values[1] = pairs_by(2, 2, scale->pairs);
    values[2] = pairs_by(2, 1, scale->pairs);
}

/* One call at a time with many pending, in ns; and their memory. */

static void measure_calls(const struct scale *scale,
                          const struct setting *setting, double *values)
{
    (void)setting;
    size_t n = scale->timers;
    uint64_t dice = 88172645463325252;
    tkw_handle *handles = must_allocate(n, sizeof *handles);
    for (size_t i = 0; i < n; i++)
        handles[i] = i; /* so that the memory is there */
    struct tkw_service *service = open_service(0, 0);

    double bytes = resident_bytes();
    uint64_t times[5] = {now_ns()};
    for (size_t i = 0; i < n; i++)
        handles[i] = arm(service, far_delay(&dice));
    times[1] = now_ns();
    values[4] = (resident_bytes() - bytes) / (double)n;
    shuffle(handles, n, &dice);

    uint64_t paused = now_ns() - times[1];
    for (size_t i = 0; i < n; i++)
        tkw_service_postpone(service, handles[i], 400 * TKW_SECOND);
    times[2] = now_ns() - paused;
    for (size_t i = 0; i < n; i++)
        tkw_service_rearm(service, handles[i], far_delay(&dice));
    times[3] = now_ns() - paused;
    for (size_t i = 0; i < n; i++)
        if (tkw_service_cancel(service, handles[i]) != 1)
            fail("cancel");
    times[4] = now_ns() - paused;
    for (unsigned i = 0; i < 4; i++)
        values[i] = (double)(times[i + 1] - times[i]) / (double)n;
    tkw_service_close(service, NULL, NULL);
    free(handles);
}

/* Waiting: a share of a core, with one and with many timers pending. */

static double idle_share(size_t n, uint64_t for_ns)
{
    uint64_t dice = 88172645463325252;
    struct tkw_service *service = open_service(0, 0);
    for (size_t i = 0; i < n; i++)
        arm(service, far_delay(&dice));
    sleep_ns(100 * TKW_MILLISECOND);
    uint64_t cpu = cpu_ns();
    uint64_t began = now_ns();
    sleep_ns(for_ns);
    cpu = cpu_ns() - cpu;
    double share = (double)cpu / (double)(now_ns() - began);
    tkw_service_close(service, NULL, NULL);
    return share * 100;
}

static void measure_idle(const struct scale *scale,
                         const struct setting *setting, double *values)
{
    (void)setting;
    values[0] = idle_share(1, scale->idle_ns);
    values[1] = idle_share(scale->timers, scale->idle_ns);
}

const struct measurement call_measurements[] = {
    {"pairs",
     "",
     measure_pairs,
     {0},
     {"1 thread, M/s", "2 threads, a shard each, M/s",
      "2 threads, one shard, M/s"}},
    {"calls",
     "",
     measure_calls,
     {0},
     {"arm, ns", "postpone, ns", "rearm, ns", "cancel, ns", "bytes per timer"}},
    {"idle",
     "",
     measure_idle,
     {0},
     {"1 pending, % of a core", "many pending, % of a core"}},
    {0}};
