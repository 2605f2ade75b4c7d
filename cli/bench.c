/*
 * bench.c - `tickwheel bench`: wheel and pool beside other structures, measured
 * on this machine.
 */
#define _GNU_SOURCE

#include "commands.h"

#include "draft.h"
#include "interrupt.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "../benchmarks/core/plan.h"
#include "../benchmarks/core/report.h"

enum { N_MOST = 100000000 };

static const char usage_text[] =
    "usage: tickwheel bench [OPTION...]\n"
    "\n"
    "Measure the wheel and the pool beside a 4-ary heap, a sorted list (small\n"
    "n) and the floor: the time to touch random memory.  All do the same\n"
    "work, in turns.\n"
    "\n"
    "    --quick            take two minutes: n = 100000 and 1000000,\n"
    "                       3 repeats\n"
    "    --n LIST           numbers of timers, 100 to 100000000; default\n"
    "                       100000,1000000,10000000\n"
    "    --workloads LIST   some of arm, cancel, cancel+drop, rearm, touch,\n"
    "                       'fire steps', 'fire jumps', 'worst step', empty,\n"
    "                       bytes, d1, d2, 'd2 worst', d3\n"
    "    --structures LIST  some of floor, wheel, pool, pool_cold,\n"
    "                       pool_ahead, heap, list\n"
    "    --delays LIST      uniform (1 ms to 60 s), log-uniform (1 ms to 1 h)\n"
    "    --repeats N        number of repeats, 1 to 64; default 5\n"
    "    --seed N           seed of the random numbers; default 1\n"
    "    --core N           run on processor N only\n"
    "    --huge             ask for huge pages\n"
    "    --json FILE        write machine, compiler, commit and every sample\n"
    "    --commit NAME      write NAME as the commit into that file\n"
    "    --in-process       start no child processes; to count instructions\n"
    "    --compiler         print the compiler that built this program\n"
    "    --help             print this text\n";

struct bench {
    struct plan plan;
    int core;           /* to run on, or -1 */
    const char *json;   /* file to write, or NULL */
    const char *commit; /* told by the caller */
};

static const struct option options[] = {
    {"quick", no_argument, NULL, 'q'},
    {"n", required_argument, NULL, 'n'},
    {"workloads", required_argument, NULL, 'w'},
    {"structures", required_argument, NULL, 's'},
    {"delays", required_argument, NULL, 'd'},
    {"repeats", required_argument, NULL, 'r'},
    {"seed", required_argument, NULL, 'e'},
    {"core", required_argument, NULL, 'c'},
    {"huge", no_argument, NULL, 'H'},
    {"json", required_argument, NULL, 'j'},
    {"commit", required_argument, NULL, 'm'},
    {"in-process", no_argument, NULL, 'p'},
    {"compiler", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool read_sizes(struct plan *plan, char *text)
{
    plan->size_count = 0;
    for (char *rest = text, *part; (part = strsep(&rest, ",")) != NULL;) {
        uint64_t n;
        if (!option_number("--n", part, 100, N_MOST, &n))
            return false;
        if (plan->size_count == SIZES_MAX) {
            fprintf(stderr,
                    "tickwheel: --n has more than %d sizes; give fewer\n",
                    SIZES_MAX);
            return false;
        }
        plan->sizes[plan->size_count++] = (size_t)n;
    }
    return true;
}

static void be_quick(struct plan *plan)
{
    plan->sizes[0] = 100000;
    plan->sizes[1] = 1000000;
    plan->size_count = 2;
    plan->repeats = 3;
    plan->spreads = "uniform";
}

/* Take an option that is about the machine, or about the report. */
static bool take_other(struct bench *bench, int c, char **argv)
{
    uint64_t number = 0;
    switch (c) {
    case 'c':
        if (!option_number("--core", optarg, 0, CPU_SETSIZE - 1, &number))
            return false;
        bench->core = (int)number;
        return true;
    case 'H':
        bench_use_huge_pages(true);
        return true;
    case 'j':
        bench->json = optarg;
        return true;
    case 'm':
        bench->commit = optarg;
        return true;
    default:
        option_refuse(c, argv, options);
        return false;
    }
}

/* Take one option.  Returns false if it is wrong, having said so. */
static bool take_option(struct bench *bench, int c, char **argv)
{
    struct plan *plan = &bench->plan;
    uint64_t number = 0;
    switch (c) {
    case 'q':
        be_quick(plan);
        return true;
    case 'n':
        return read_sizes(plan, optarg);
    case 'w':
        plan->workloads = optarg;
        return true;
    case 's':
        plan->structures = optarg;
        return true;
    case 'd':
        plan->spreads = optarg;
        return true;
    case 'r':
        if (!option_number("--repeats", optarg, 1, SAMPLES_MAX, &number))
            return false;
        plan->repeats = (unsigned)number;
        return true;
    case 'e':
        return option_number("--seed", optarg, 1, UINT64_MAX, &plan->seed);
    case 'p':
        plan->is_in_process = true;
        return true;
    default:
        return take_other(bench, c, argv);
    }
}

static bool pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0)
        return true;
    fprintf(stderr,
            "tickwheel: --core %d: cannot run on this processor: %s; give "
            "one that taskset -p $$ lists\n",
            core, strerror(errno));
    return false;
}

/* Called in a signal handler. */
static void remove_draft(void *context)
{
    draft_unlink(context);
}

/* Before the measurements, which may take an hour. */
static bool open_json(struct draft *json, const char *path)
{
    if (path != NULL)
        interrupt_clean(remove_draft, json);
    int error = draft_open(json, path);
    if (error != 0)
        fprintf(stderr,
                "tickwheel: cannot write %s: %s; give another --json FILE\n",
                path, strerror(-error));
    return error == 0;
}

static bool write_json(const struct report *report, const char *path,
                       struct draft *json)
{
    if (json->file == NULL)
        return true;
    report_json(report, json->file);
    int error = draft_finish(json);
    if (error != 0)
        fprintf(stderr,
                "tickwheel: cannot write %s: %s; give another --json FILE\n",
                path, strerror(-error));
    return error == 0;
}

static void report_failure(const struct cell *cell)
{
    fprintf(stderr,
            "tickwheel: %s failed at %s, n = %zu, %s: ", cell->structure,
            cell->workload, cell->n, spread_names[cell->spread]);
    if (cell->signal != 0)
        fprintf(stderr, "ended by signal %d (%s)\n", cell->signal,
                strsignal(cell->signal));
    else if (cell->error == -ENOMEM)
        fprintf(stderr, "not enough memory; give a smaller --n\n");
    else
        fprintf(stderr, "%s\n", strerror(-cell->error));
}

/* Returns false: the caller's measurements have failed. */
static bool report_failures(const struct plan *plan, const char *json)
{
    for (size_t i = 0; i < plan->cell_count; i++) {
        if (cell_has_failed(&plan->cells[i]))
            report_failure(&plan->cells[i]);
    }
    if (json != NULL)
        fprintf(stderr, "tickwheel: %s is not written: a measurement failed\n",
                json);
    return false;
}

static int run(struct bench *bench)
{
    static struct draft json; /* a signal handler may use it until the end */
    if (!plan_lay(&bench->plan))
        return EXIT_USAGE;
    if (bench->core >= 0 && !pin(bench->core))
        return EXIT_FAILED;
    if (!open_json(&json, bench->json))
        return EXIT_FAILED;
    bool is_fine = plan_measure(&bench->plan);

    struct report report = {.cells = bench->plan.cells,
                            .cell_count = bench->plan.cell_count,
                            .seed = bench->plan.seed,
                            .repeats = bench->plan.repeats,
                            .commit = bench->commit};
    report_table(&report, stdout);
    is_fine = is_fine ? write_json(&report, bench->json, &json)
                      : report_failures(&bench->plan, bench->json);
    draft_drop(&json);
    return is_fine ? EXIT_FINE : EXIT_FAILED;
}

int bench_main(int argc, char **argv)
{
    static struct bench bench = {
        .plan = {.sizes = {100000, 1000000, 10000000},
                 .size_count = 3,
                 .seed = 1,
                 .repeats = 5},
        .core = -1,
        .commit = "unknown",
    };
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (c == 'h')
            return fputs(usage_text, stdout) < 0 ? EXIT_FAILED : EXIT_FINE;
        if (c == 'v')
            return puts(bench_compiler()) < 0 ? EXIT_FAILED : EXIT_FINE;
        if (!take_option(&bench, c, argv))
            return EXIT_USAGE;
    }
    if (optind < argc) {
        fprintf(stderr,
                "tickwheel: bench does not take '%s'; see tickwheel bench "
                "--help\n",
                argv[optind]);
        return EXIT_USAGE;
    }
    return run(&bench);
}
