/*
 * service/main.c - the benchmark of the service: real time, real threads.
 *
 * Each measurement runs in a process of its own, one after the other, then all
 * of them again.  Nothing is measured while another measurement runs.
 */
#define _GNU_SOURCE

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { REPEATS_MAX = 32, MEASUREMENTS_MAX = 64 };

/* What to measure, and what came out. */
struct bench {
    struct scale scale;
    unsigned repeats;
    const char *only; /* NULL: all */
    unsigned count;
    struct cell {
        const struct measurement *measurement;
        double samples[VALUES_MAX][REPEATS_MAX];
    } cells[MEASUREMENTS_MAX];
};

/* Add those of a list that are asked for. */
static void choose(struct bench *bench, const struct measurement *list)
{
    for (; list->name != NULL; list++)
        if (bench->only == NULL || strcmp(bench->only, list->name) == 0)
            bench->cells[bench->count++].measurement = list;
}

static void choose_all(struct bench *bench)
{
    choose(bench, call_measurements);
    choose(bench, late_measurements);
    choose(bench, shard_measurements);
    choose(bench, executor_measurements);
    choose(bench, burst_measurements);
    choose(bench, plan_measurements);
}

/* Returns 0, or why the child ended early. */
static int measure_in_child(const struct scale *scale,
                            const struct measurement *measurement,
                            double *values)
{
    int ends[2];
    if (pipe(ends) != 0)
        fail("a pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    size_t bytes = VALUES_MAX * sizeof *values;
    if (child == 0) {
        measurement->run(scale, &measurement->setting, values);
        _exit(write(ends[1], values, bytes) == (ssize_t)bytes ? 0 : 1);
    }
    close(ends[1]);
    bool is_whole = read(ends[0], values, bytes) == (ssize_t)bytes;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (is_whole)
        return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A machine that is busy needs a longer lead to arm all in time. */
static void measure(struct scale *scale, const struct measurement *measurement,
                    double *values)
{
    enum { LEADS = 5 };
    int error = EXIT_TOO_LATE;
    for (unsigned i = 0; i < LEADS && error == EXIT_TOO_LATE; i++) {
        error = measure_in_child(scale, measurement, values);
        if (error == EXIT_TOO_LATE)
            scale->lead_ns *= 2;
    }
    if (error != 0)
        fail(measurement->name);
}

static void measure_all(struct bench *bench, unsigned repeat)
{
    for (unsigned i = 0; i < bench->count; i++) {
        struct cell *cell = &bench->cells[i];
        double values[VALUES_MAX] = {0};
        measure(&bench->scale, cell->measurement, values);
        for (unsigned k = 0; k < VALUES_MAX; k++)
            cell->samples[k][repeat] = values[k];
    }
    fprintf(stderr, "bench service: repeat %u of %u done\n", repeat + 1,
            bench->repeats);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Four digits, or as many as there are before the point. */
static void print_number(double value)
{
    printf(value < 1000 ? " %9.4g" : " %9.0f", value);
}

static void report(struct bench *bench)
{
    printf("%-9s %-14s %-31s %9s %9s %9s\n", "", "", "", "median", "least",
           "most");
    for (unsigned i = 0; i < bench->count; i++) {
        const struct measurement *m = bench->cells[i].measurement;
        for (unsigned k = 0; k < VALUES_MAX && m->values[k] != NULL; k++) {
            double *sorted = bench->cells[i].samples[k];
            qsort(sorted, bench->repeats, sizeof *sorted, compare_doubles);
            printf("%-9s %-14s %-31s", m->name, m->variant, m->values[k]);
            print_number(sorted[bench->repeats / 2]);
            print_number(sorted[0]);
            print_number(sorted[bench->repeats - 1]);
            putchar('\n');
        }
    }
}

static const char usage_text[] =
    "usage: ./bench service [OPTION...]\n"
    "\n"
    "Measure the service in real time.  Three repeats take about seven "
    "minutes.\n"
    "\n"
    "    --quick        take half a minute: a tenth of the work\n"
    "    --only NAME    one of these:\n"
    "        pairs      pairs of arm and cancel, from one and two threads\n"
    "        calls      single calls with a million timers pending\n"
    "        idle       cost of waiting\n"
    "        late       lateness and cost of a million timers in five "
    "seconds,\n"
    "                   by the length of a tick\n"
    "        sparse     like late, with 10,000 timers\n"
    "        slack      a million timers with slack\n"
    "        shards     cost and gain of shards\n"
    "        executors  on the driver, on workers, through a queue of yours\n"
    "        jitter     a million timers due at one instant, with and without\n"
    "                   jitter\n"
    "        burst      a million timers in a millisecond, and the lateness "
    "of\n"
    "                   others: executor of the burst / of the others\n"
    "        plan       plans, batches, owners, periods, queries\n"
    "    --repeats N    1 to 32; default 3\n";

/* After what is wrong was said. */
static int refuse(void)
{
    fputs("see ./bench service --help\n", stderr);
    return 2;
}

static bool take_option(struct bench *bench, int option)
{
    char *end;
    switch (option) {
    case 'q':
        bench->scale.pairs /= 10;
        bench->scale.timers /= 10;
        bench->scale.span_ns /= 10;
        bench->scale.idle_ns /= 10;
        bench->scale.lead_ns /= 4;
        return true;
    case 'o':
        bench->only = optarg;
        return true;
    case 'r':
        bench->repeats = (unsigned)strtoul(optarg, &end, 10);
        if (*end == '\0' && bench->repeats >= 1 &&
            bench->repeats <= REPEATS_MAX)
            return true;
        fprintf(stderr, "bench service: --repeats is '%s'; give 1 to %d\n",
                optarg, REPEATS_MAX);
        return false;
    default:
        return false;
    }
}

int main(int count, char **texts)
{
    static const struct option known[] = {
        {"quick", no_argument, NULL, 'q'},
        {"only", required_argument, NULL, 'o'},
        {"repeats", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    static struct bench bench = {.scale = {.pairs = 6000000,
                                           .timers = 1000000,
                                           .span_ns = 5 * TKW_SECOND,
                                           .idle_ns = 2 * TKW_SECOND,
                                           .lead_ns = 400 * TKW_MILLISECOND},
                                 .repeats = 3};
    static char name[] = "bench service"; /* getopt tells it */
    texts[0] = name;
    for (int option;
         (option = getopt_long(count, texts, "h", known, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage_text, stdout);
            return 0;
        }
        if (!take_option(&bench, option))
            return refuse();
    }
    if (optind < count) {
        fprintf(stderr, "bench service: there is no '%s'\n", texts[optind]);
        return refuse();
    }
    choose_all(&bench);
    if (bench.count == 0) {
        fprintf(stderr, "bench service: there is no '%s'\n", bench.only);
        return refuse();
    }

    for (unsigned r = 0; r < bench.repeats; r++)
        measure_all(&bench, r);
    report(&bench);
    return 0;
}
