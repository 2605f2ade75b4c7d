/*
 * servers/puts.c - puts of delayed jobs: their rate, and the times until the
 * replies.
 */
#include "flood.h"
#include "loop.h"
#include "support.h"
#include "workload.h"

static uint32_t same_delay_ms(struct flood *flood, uint32_t index, uint64_t now)
{
    (void)index;
    (void)now;
    return (uint32_t)(flood->delay_s * MS_PER_S);
}

static void run_puts(const struct options *options, struct report *report)
{
    char tube[TUBE_NAME_MAX];
    workload_tube(tube, "puts");
    struct loop loop;
    loop_open(&loop, &options->address, options->number[BODY]);
    struct flood flood;
    flood_init(&flood, options);
    flood.tube = tube;
    flood.delay_ms = same_delay_ms;
    flood_run(&flood, &loop);
    loop_close(&loop);

    flood_report(&flood, report);
    report_times(report, "reply", &flood.replies);
}

const struct workload puts_workload = {
    .name = "puts",
    .takes = TAKES(CONNECTIONS) | TAKES(PIPELINE) | TAKES(BODY) | TAKES(JOBS) |
             TAKES(SECONDS) | TAKES(DELAY),
    .defaults = {[CONNECTIONS] = 10,
                 [PIPELINE] = 1,
                 [BODY] = 100,
                 [JOBS] = 1000000,
                 [SECONDS] = 5,
                 [DELAY] = 1800},
    .run = run_puts,
};
