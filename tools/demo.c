/*
 * demo.c - `tickwheel demo`: a burst of delayed tasks in virtual time.
 *
 * A million tasks are created within a second, each due half an hour later.
 * A tick is a millisecond.  Time then jumps from one wake-up to the next, as a
 * server's loop would sleep; nothing happens in between.
 */
#define _POSIX_C_SOURCE 200809L

#include "tools.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tickwheel/wheel.h>

enum { BURST_MS = 1000, START_MS = 1000003 };

struct task {
    struct tkw_timer timer;
    uint64_t number;
};

struct demo {
    uint64_t task_count;
    uint64_t delay_ms;
    struct task *tasks;
    struct tkw_wheel *wheel;
    uint64_t wakeups;
    uint64_t fired;
    uint64_t early;  /* fired before their deadline: must stay 0 */
    uint64_t late;   /* fired after it */
    double arm_ns;   /* spent on the burst ... */
    double drive_ns; /* ... and on running time through the rest */
};

static const char usage_text[] =
    "usage: tickwheel demo [--timers N] [--delay MS]\n"
    "\n"
    "Creates N timers within a virtual second, each due MS milliseconds "
    "later,\n"
    "runs virtual time through them and tells what happened.\n"
    "\n"
    "    --timers N    1 to 100000000; default 1000000\n"
    "    --delay MS    1 to 10^15; default 1800000, half an hour\n";

static double clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void pop_all(struct demo *demo, tkw_tick now)
{
    for (struct tkw_timer *t; (t = tkw_wheel_pop(demo->wheel)) != NULL;) {
        demo->fired++;
        demo->early += t->deadline > now;
        demo->late += t->deadline < now;
    }
}

/* Let time pass until `end`, waking up only when the wheel asks for it. */
static void sleep_until(struct demo *demo, tkw_tick end)
{
    for (tkw_tick next; (next = tkw_wheel_next(demo->wheel)) <= end;) {
        if (next == TKW_NEVER)
            return;
        tkw_wheel_advance(demo->wheel, next);
        demo->wakeups++;
        pop_all(demo, next);
    }
    tkw_wheel_advance(demo->wheel, end);
}

static void burst(struct demo *demo)
{
    double began = clock_ns();
    tkw_tick now = START_MS;
    for (uint64_t i = 0; i < demo->task_count; i++) {
        tkw_tick created = START_MS + i * BURST_MS / demo->task_count;
        if (created > now)
            sleep_until(demo, now = created);
        tkw_wheel_arm(demo->wheel, &demo->tasks[i].timer,
                      tkw_tick_after(now, demo->delay_ms));
    }
    demo->arm_ns = clock_ns() - began;
}

static void drive(struct demo *demo)
{
    double began = clock_ns();
    sleep_until(demo, TKW_NEVER);
    demo->drive_ns = clock_ns() - began;
}

static void report(const struct demo *demo)
{
    struct tkw_counters counters = tkw_wheel_counters(demo->wheel);
    double n = (double)demo->task_count;
    tkw_tick span = tkw_wheel_now(demo->wheel) - START_MS;

    printf("armed      %12" PRIu64 "   each %" PRIu64
           " ms ahead, within %d ms\n",
           counters.armed, demo->delay_ms, BURST_MS);
    printf("fired      %12" PRIu64 "   %" PRIu64 " early, %" PRIu64 " late\n",
           demo->fired, demo->early, demo->late);
    printf("pending    %12zu\n", tkw_wheel_count(demo->wheel));
    printf("falls      %12" PRIu64 "   %.2f a timer\n", counters.falls,
           (double)counters.falls / n);
    printf("wake-ups   %12" PRIu64 "   in %" PRIu64 " ticks of 1 ms\n",
           demo->wakeups, span);
    printf("arm        %12.1f   ns each\n", demo->arm_ns / n);
    printf("fire       %12.1f   ns each, falls and wake-ups included\n",
           demo->drive_ns / n);
}

static int run(struct demo *demo)
{
    size_t bytes = tkw_wheel_bytes(NULL);
    demo->tasks = calloc(demo->task_count, sizeof *demo->tasks);
    demo->wheel = malloc(bytes);
    int status = EXIT_FAILED;
    if (demo->tasks == NULL || demo->wheel == NULL) {
        fprintf(stderr, "tickwheel: not enough memory for %" PRIu64 " timers\n",
                demo->task_count);
    } else if (tkw_wheel_init(demo->wheel, bytes, NULL, START_MS) == 0) {
        for (uint64_t i = 0; i < demo->task_count; i++)
            demo->tasks[i].number = i;
        burst(demo);
        drive(demo);
        report(demo);
        if (demo->fired == demo->task_count && demo->early + demo->late == 0)
            status = EXIT_FINE;
    }
    free(demo->wheel);
    free(demo->tasks);
    return status;
}

int demo_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"timers", required_argument, NULL, 't'},
        {"delay", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct demo demo = {.task_count = 1000000, .delay_ms = 1800000};

    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        bool is_fine = true;
        if (c == 't')
            is_fine =
                option_number("timers", optarg, 1, 100000000, &demo.task_count);
        else if (c == 'd')
            is_fine = option_number("delay", optarg, 1, 1000000000000000,
                                    &demo.delay_ms);
        else if (c == 'h')
            return fputs(usage_text, stdout) < 0 ? EXIT_FAILED : EXIT_FINE;
        else
            is_fine = false; /* getopt has said what is wrong */
        if (!is_fine)
            return EXIT_USAGE;
    }
    if (optind < argc) {
        fprintf(stderr, "tickwheel: demo takes no '%s'\n", argv[optind]);
        return EXIT_USAGE;
    }
    return run(&demo);
}
