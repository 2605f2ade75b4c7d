/*
 * idle/main.c - the benchmark of the tracker and the monitor, beside the
 * obvious ways to do the same.
 */
#define _GNU_SOURCE

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/bench.h"
#include "core/trial.h"

void idle_report_real(const struct idle_options *options)
{
    enum { KEYS = 100000, CHECKS = 2 };
    struct idle_load load = idle_load_open(STEADY, KEYS);
    uint64_t for_ns = options->seconds * TKW_SECOND;
    struct idle_real_setting with = {&load, for_ns, true};
    struct idle_real_setting without = {&load, for_ns / 2, false};
    struct trial touching = {.run = idle_real_run, .setting = &with};
    struct trial alone = {.run = idle_real_run, .setting = &without};
    if (!trial_measure(&touching) || !trial_measure(&alone))
        exit(1);

    double all = trial_median(&touching, 0);
    double load_only = trial_median(&alone, 0);
    printf("\nThe same with tkw_monitor in real time, %u s: %.0f touches a "
           "second, %.0f checks of\nkeys whose timer expired.  %% of a core, "
           "of the whole process:\n\n",
           options->seconds, trial_median(&touching, 1),
           trial_median(&touching, CHECKS));
    printf("%-33s %8.4f\n", "monitor, and making the load", all);
    printf("%-33s %8.4f\n", "making the load alone", load_only);
    printf("%-33s %8.4f\n", "the monitor, by subtraction", all - load_only);
    fflush(stdout);
    idle_load_close(&load);
}

struct stall_setting {
    const struct idle_way *way;
    size_t keys;
    unsigned rounds;
};

/* The longest of them, in us. */
static double longest(const struct idle_calls *calls)
{
    float most = 0;
    for (size_t i = 0; i < calls->count; i++)
        most = calls->least_ns[i] > most ? calls->least_ns[i] : most;
    return (double)most / 1e3;
}

static void run_stalls(const void *argument, double *values)
{
    const struct stall_setting *setting = argument;
    struct idle_calls calls[CALLS] = {0};
    for (unsigned i = 0; i < CALLS; i++)
        calls[i].least_ns = bench_memory(setting->keys * sizeof(float));
    for (unsigned i = 0; i < setting->rounds; i++) {
        void *state = setting->way->open(setting->keys);
        if (!setting->way->stall(state, setting->keys, calls)) {
            fprintf(stderr, "bench idle: %s: too early, or not all\n",
                    setting->way->name);
            exit(1);
        }
        setting->way->close(state);
    }
    for (unsigned i = 0; i < CALLS; i++)
        values[i] = longest(&calls[i]);
}

void idle_report_stalls(const struct idle_options *options)
{
    const struct idle_way *ways[] = {&idle_way_tracker, &idle_way_heap,
                                     &idle_way_scan, idle_way_uthash};
    size_t keys = options->is_quick ? 300000 : 1000000;
    unsigned rounds = 3;
    printf("\nStalls.  %zu keys, all added in one tick, touched in one tick, "
           "looked at in one\ntick, silent in one tick: the longest call, us.  "
           "The same is done %u times, and of\neach call the shortest time "
           "counts: others on the machine do not do the same.  At\nmost 64 "
           "keys are asked for at once.\n\n%-33s %9s %9s %9s %9s\n",
           keys, rounds, "", "add", "touch", "check", "expire");
    for (unsigned i = 0; i < 4 && ways[i] != NULL; i++) {
        struct stall_setting setting = {ways[i], keys, rounds};
        struct trial trial = {.run = run_stalls, .setting = &setting};
        if (!trial_measure(&trial))
            exit(1);
        printf("%-33s", ways[i]->name);
        for (unsigned value = 0; value < CALLS; value++)
            printf(" %9.1f", trial_median(&trial, value));
        putchar('\n');
        fflush(stdout);
    }
}

static const struct {
    const char *name;
    void (*report)(const struct idle_options *options);
} reports[] = {
    {"touches", idle_report_touches},
    {"virtual", idle_report_virtual},
    {"real", idle_report_real},
    {"stalls", idle_report_stalls},
};

enum { REPORTS = sizeof reports / sizeof reports[0] };

static const char usage_text[] =
    "usage: ./bench idle [OPTION...]\n"
    "\n"
    "Measure the tracker of idle.h and the monitor of monitor.h beside a map\n"
    "that is scanned every second, and a heap in which each touch moves a\n"
    "timer.  This takes about three minutes and 2 GB.\n"
    "\n"
    "    --quick        take less than 20 s: 300,000 keys, one repeat\n"
    "    --only NAME    one of these:\n"
    "        touches    ns a touch, with 100,000 to ten million keys\n"
    "        virtual    share of a core for 100,000 connections, in virtual\n"
    "                   time\n"
    "        real       share of a core in real time\n"
    "        stalls     the longest single calls\n"
    "    --keys N       measure touches with N keys only, up to ten million\n"
    "    --seconds N    seconds of real time; default 10\n"
    "    --repeats N    1 to 10; default 2; one for ten million keys\n";

/* After what is wrong was said. */
static int refuse(void)
{
    fputs("see ./bench idle --help\n", stderr);
    return 2;
}

/* Returns false if something is wrong with it, having said what. */
static bool take_option(struct idle_options *options, int option)
{
    switch (option) {
    case 'q':
        options->is_quick = true;
        options->keys = 300000;
        options->repeats = 1;
        options->seconds = 2;
        return true;
    case 'k':
        options->keys = trial_option("bench idle: --keys", optarg, 10000000);
        return options->keys > 0;
    case 's':
        options->seconds = trial_option("bench idle: --seconds", optarg, 3600);
        return options->seconds > 0;
    case 'r':
        options->repeats = trial_option("bench idle: --repeats", optarg, 10);
        return options->repeats > 0;
    default:
        return false;
    }
}

int main(int count, char **texts)
{
    static const struct option known[] = {
        {"quick", no_argument, NULL, 'q'},
        {"only", required_argument, NULL, 'o'},
        {"keys", required_argument, NULL, 'k'},
        {"seconds", required_argument, NULL, 's'},
        {"repeats", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    struct idle_options options = {.repeats = 2, .seconds = 10};
    const char *only = NULL;
    static char name[] = "bench idle"; /* getopt tells it */
    texts[0] = name;
    for (int option;
         (option = getopt_long(count, texts, "h", known, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage_text, stdout);
            return 0;
        }
        if (option == 'o')
            only = optarg;
        else if (!take_option(&options, option))
            return refuse();
    }

    unsigned first = 0;
    while (only != NULL && first < REPORTS &&
           strcmp(only, reports[first].name) != 0)
        first++;
    if (first == REPORTS || optind < count) {
        fprintf(stderr, "bench idle: there is no '%s'\n",
                first == REPORTS ? only : texts[optind]);
        return refuse();
    }
    for (unsigned i = first; i < (only != NULL ? first + 1 : REPORTS); i++)
        reports[i].report(&options);
    return 0;
}
