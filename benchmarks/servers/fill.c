/*
 * servers/fill.c - jobs with delays spread over a long time: the rate of puts,
 * and the memory that the server needs for each job.
 */
#include "flood.h"
#include "loop.h"
#include "support.h"
#include "workload.h"

/* Near the golden section of 2^32: multiples of it, modulo 2^32, are spread
 * evenly however many there are, and neighbours are far apart. */
#define SPREAD UINT32_C(2654435769)

/* Whole seconds, which every server accepts. */
static uint32_t spread_delay_ms(struct flood *flood, uint32_t index,
                                uint64_t now)
{
    (void)now;
    uint64_t offset_s = (uint64_t)(index * SPREAD) * flood->span_s >> 32;
    return (uint32_t)((flood->delay_s + offset_s) * MS_PER_S);
}

static void report_memory(struct report *report, uint64_t before,
                          uint64_t after, uint32_t jobs)
{
    report_add(report, "rss_before_kib", (double)before / 1024);
    report_add(report, "rss_after_kib", (double)after / 1024);
    report_add(report, "rss_per_job_bytes",
               ((double)after - (double)before) / (jobs > 0 ? jobs : 1));
}

static void run_fill(const struct options *options, struct report *report)
{
    char tube[TUBE_NAME_MAX];
    workload_tube(tube, "fill");
    uint64_t pid = options->number[PID];
    uint64_t before = pid == 0 ? 0 : resident_bytes(pid);
    struct loop loop;
    loop_open(&loop, &options->address, options->number[BODY]);
    struct flood flood;
    flood_init(&flood, options);
    flood.tube = tube;
    flood.delay_ms = spread_delay_ms;
    flood_run(&flood, &loop);
    uint64_t after = pid == 0 ? 0 : resident_bytes(pid);
    loop_close(&loop);

    flood_report(&flood, report);
    report_times(report, "reply", &flood.replies);
    if (pid != 0)
        report_memory(report, before, after, flood.put_count);
}

const struct workload fill_workload = {
    .name = "fill",
    .takes = TAKES(CONNECTIONS) | TAKES(PIPELINE) | TAKES(BODY) | TAKES(JOBS) |
             TAKES(SECONDS) | TAKES(DELAY) | TAKES(SPAN) | TAKES(PID),
    .defaults = {[CONNECTIONS] = 8,
                 [PIPELINE] = 64,
                 [BODY] = 100,
                 [JOBS] = 1000000,
                 [SECONDS] = 600,
                 [DELAY] = 3600,
                 [SPAN] = 86400},
    .run = run_fill,
};
