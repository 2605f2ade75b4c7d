/*
 * purgatory/main.c - the benchmark of the purgatory, beside the obvious way to
 * do the same.
 */
#define _GNU_SOURCE

#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/trial.h"
#include "service/bench.h"

/* What the values of a trial are. */
enum {
    KILO_OPS,
    CPU_NS,
    ALL_BYTES,
    REQUEST_BYTES,
    PURGATORY_BYTES,
    SERVICE_BYTES
};

struct run {
    const struct purgatory_setting *setting;
    void *state;
    struct purgatory_events *events;
    struct purgatory_lane lanes[THREADS_MAX];
    double kilo_ops[THREADS_MAX]; /* a second */
    double share[THREADS_MAX];    /* of a core that the process had meanwhile */
    _Atomic unsigned started;
    pthread_barrier_t filled;
    double bytes; /* resident, when it is */
};

/* One turn of the ring goes by first, unless that takes too long. */
static void measure(struct run *run, unsigned number)
{
    enum { AT_ONCE = 64 };
    const struct purgatory_setting *setting = run->setting;
    struct purgatory_lane *lane = &run->lanes[number];
    uint64_t warm_until = now_ns() + setting->for_ns;
    while (now_ns() < warm_until && lane->completed < lane->outstanding)
        setting->way->step(run->state, lane, AT_ONCE);

    uint64_t completed = lane->completed;
    uint64_t cpu = cpu_ns();
    uint64_t began = now_ns();
    uint64_t took;
    do {
        setting->way->step(run->state, lane, AT_ONCE);
        took = now_ns() - began;
    } while (took < setting->for_ns);
    completed = lane->completed - completed;
    run->kilo_ops[number] = (double)completed * 1e6 / (double)took;
    run->share[number] = (double)(cpu_ns() - cpu) / (double)took;
}

static void *run_lane(void *argument)
{
    struct run *run = argument;
    unsigned number = run->started++;
    run->setting->way->fill(run->state, &run->lanes[number]);
    pthread_barrier_wait(&run->filled);
    if (number == 0)
        run->bytes = resident_bytes() - run->bytes;
    pthread_barrier_wait(&run->filled);
    measure(run, number);
    return NULL;
}

static void open_lane(struct run *run, unsigned number)
{
    const struct purgatory_setting *setting = run->setting;
    struct purgatory_lane *lane = &run->lanes[number];
    size_t outstanding = setting->outstanding / setting->threads;
    *lane = (struct purgatory_lane){
        .load = setting->load,
        .events = run->events,
        .outstanding = outstanding,
        .next_key = (uint64_t)number << 40,
        .dice = 88172645463325252 + number,
    };
    lane->ring = must_allocate(outstanding, sizeof(struct request *));
    for (size_t i = 0; i < outstanding; i++)
        lane->ring[i] =
            (struct request *)lane; /* so that its memory is there */
}

static void run_purgatory(const void *argument, double *values)
{
    const struct purgatory_setting *setting = argument;
    struct run run = {.setting = setting,
                      .events = must_allocate(1, sizeof *run.events)};
    for (unsigned i = 0; i < setting->threads; i++)
        open_lane(&run, i);
    pthread_barrier_init(&run.filled, NULL, setting->threads);
    run.bytes = resident_bytes();
    run.state = setting->way->open(setting);
    in_threads(setting->threads, run_lane, &run);

    struct purgatory_bytes bytes = {0};
    setting->way->report_bytes(run.state, &bytes);
    uint64_t made = 0;
    uint64_t completed = 0;
    for (unsigned i = 0; i < setting->threads; i++) {
        made += run.lanes[i].made;
        completed += run.lanes[i].completed;
        values[KILO_OPS] += run.kilo_ops[i];
    }
    setting->way->close(run.state, made, completed);
    values[CPU_NS] = run.share[0] * 1e6 / values[KILO_OPS];
    values[ALL_BYTES] = run.bytes / (double)setting->outstanding;
    values[REQUEST_BYTES] = bytes.request;
    values[PURGATORY_BYTES] = bytes.purgatory;
    values[SERVICE_BYTES] = bytes.service;
}

enum { ROWS = 4 };

struct row {
    const char *name;
    struct purgatory_setting setting;
    struct trial trial;
};

static void print_row(const struct row *row, const struct trial *naive)
{
    const struct trial *trial = &row->trial;
    double kilo_ops = trial_median(trial, KILO_OPS);
    printf("%-43s %7.0f %7.0f..%-7.0f %7.1f %7.0f %6.0f %5.0f", row->name,
           kilo_ops, trial_least(trial, KILO_OPS), trial_most(trial, KILO_OPS),
           kilo_ops / trial_median(naive, KILO_OPS),
           trial_median(trial, CPU_NS), trial_median(trial, ALL_BYTES),
           trial_median(trial, REQUEST_BYTES));
    if (trial_median(trial, PURGATORY_BYTES) > 0)
        printf(" %9.0f %7.0f", trial_median(trial, PURGATORY_BYTES),
               trial_median(trial, SERVICE_BYTES));
    putchar('\n');
}

/* The first row is what the others are compared with. */
static void report(struct purgatory_setting like, unsigned repeats)
{
    like.way = &purgatory_way_naive;
    struct row rows[ROWS] = {
        {.name = "one mutex, purged every 1,000 completions"},
        {.name = "one mutex, purged when a fifth is completed"},
        {.name = "one mutex, nothing to purge"},
        {.name = "tkw_purgatory"},
    };
    for (unsigned i = 0; i < ROWS; i++) {
        rows[i].setting = like;
        rows[i].trial.run = run_purgatory;
        rows[i].trial.setting = &rows[i].setting;
    }
    rows[0].setting.purge_every = 1000;
    rows[1].setting.purge_every = like.outstanding / 4;
    rows[3].setting.way = &purgatory_way_ours;
    for (unsigned repeat = 0; repeat < repeats; repeat++)
        for (unsigned i = 0; i < ROWS; i++)
            trial_must(trial_measure(&rows[i].trial), rows[i].name);

    printf("\n%s, %zu outstanding, %u thread%s\n",
           like.load == UNIQUE ? "keys of their own" : "shared keys",
           like.outstanding, like.threads, like.threads == 1 ? "" : "s");
    printf("%-43s %7s %16s %7s %7s %6s %5s %9s %7s\n", "", "k ops/s",
           "least..most", "x first", "CPU, ns", "bytes", "own", "purgatory",
           "service");
    for (unsigned i = 0; i < ROWS; i++)
        print_row(&rows[i], &rows[0].trial);
    fflush(stdout);
}

static const char header_text[] =
    "Operations that wait for one of two keys, 30 s at most: watched on both,\n"
    "completed by a check of one, allocated and freed.  So many are always\n"
    "outstanding: for each that is completed another is made.  Thousands of\n"
    "completions a second of all threads together, and CPU for each, medians.\n"
    "  keys of their own: the oldest is completed by either of its keys;\n"
    "  shared keys: 10,000 of one kind and 10,000 of another; what waits for\n"
    "  one of them is completed all at once.\n"
    "The naive way has one mutex, a 4-ary heap for the timeouts, which the\n"
    "completed leave at once, and lists, which they leave when the key is\n"
    "checked or all lists are purged; or at once.\n"
    "Bytes are resident, per operation: with its own, the purgatory's, and "
    "its\n"
    "share of the service.  No operation expires, and all are accounted for.\n";

static const char usage_text[] =
    "usage: ./bench purgatory [OPTION...]\n"
    "\n"
    "Measure operations that are watched on two keys and completed before\n"
    "their timeout, beside a simpler design, with 100,000 and a million\n"
    "outstanding.  This takes about two minutes.\n"
    "\n"
    "    --quick        take less than 20 s: 100,000 and 300,000 outstanding,\n"
    "                   --ms 150, one repeat\n"
    "    --ms N         milliseconds for each measurement; default 700\n"
    "    --repeats N    1 to 10; default 2\n";

/* After what is wrong was said. */
static int refuse(void)
{
    fputs("see ./bench purgatory --help\n", stderr);
    return 2;
}

static void report_all(size_t most, uint64_t for_ns, unsigned repeats)
{
    enum { KINDS = 8 }; /* of loads, sizes and threads two each */
    fputs(header_text, stdout);
    for (unsigned i = 0; i < KINDS; i++) {
        struct purgatory_setting setting = {
            .load = i / 4 == 0 ? UNIQUE : SHARED,
            .outstanding = i / 2 % 2 == 0 ? 100000 : most,
            .threads = 1 + i % 2,
            .for_ns = for_ns,
        };
        report(setting, repeats);
    }
}

int main(int count, char **texts)
{
    static const struct option known[] = {
        {"quick", no_argument, NULL, 'q'},
        {"ms", required_argument, NULL, 'm'},
        {"repeats", required_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    size_t most = 1000000;
    unsigned ms = 700;
    unsigned repeats = 2;
    static char name[] = "bench purgatory"; /* getopt tells it */
    texts[0] = name;
    for (int option;
         (option = getopt_long(count, texts, "h", known, NULL)) != -1;) {
        switch (option) {
        case 'h':
            fputs(usage_text, stdout);
            return 0;
        case 'q':
            most = 300000;
            ms = 150;
            repeats = 1;
            break;
        case 'm':
            ms = trial_option("bench purgatory: --ms", optarg, 60000);
            break;
        case 'r':
            repeats = trial_option("bench purgatory: --repeats", optarg, 10);
            break;
        default:
            return refuse();
        }
        if (ms == 0 || repeats == 0)
            return refuse();
    }
    if (optind < count) {
        fprintf(stderr, "bench purgatory: there is no '%s'\n", texts[optind]);
        return refuse();
    }
    report_all(most, ms * TKW_MILLISECOND, repeats);
    return 0;
}
