/*
 * main.c - the benchmark: which cells, in which order, and how far we are.
 *
 * Machines drift by a fifth from hour to hour, so only numbers of one run are
 * compared: every cell is measured once, then all of them again, and again.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"
#include "report.h"

const char *const workload_names[WORKLOADS] = {
    [ARM] = "arm",
    [CANCEL] = "cancel",
    [CANCEL_DROP] = "cancel+drop",
    [REARM] = "rearm",
    [TOUCH] = "touch",
    [FIRE_STEPS] = "fire steps",
    [FIRE_JUMPS] = "fire jumps",
    [WORST_STEP] = "worst step",
    [EMPTY] = "empty",
    [BYTES] = "bytes",
    [D1] = "d1",
    [D2] = "d2",
    [D2_WORST] = "d2 worst",
    [D3] = "d3",
};

const char *const spread_names[SPREADS] = {
    [UNIFORM] = "uniform",
    [LOG_UNIFORM] = "log-uniform",
};

static const struct bench_structure *const structures[] = {
    &bench_wheel, &bench_pool, &bench_pool_cold, &bench_heap, &bench_list,
};

static const struct {
    const char *name;
    double (*run)(const struct bench_load *load);
} floors[] = {
    {"independent", floor_independent}, {"dependent", floor_dependent},
    {"unlink", floor_unlink},           {"relink", floor_relink},
    {"by handle", floor_by_handle},
};

enum {
    FLOORS = sizeof floors / sizeof floors[0],
    STRUCTURES = sizeof structures / sizeof structures[0],
    SIZES_MAX = 16,
    N_MOST = 100000000,
    CELLS_MAX = SIZES_MAX * (FLOORS + SPREADS * WORKLOADS * STRUCTURES),
};

struct plan {
    size_t sizes[SIZES_MAX];
    unsigned size_count;
    const char *workloads; /* comma-separated names, or NULL for all */
    const char *structures;
    const char *spreads;
    uint64_t seed;
    unsigned repeats;
    int core;           /* to run on, or -1 */
    const char *json;   /* file to write, or NULL */
    const char *commit; /* told by the caller */
    bool is_in_process; /* no children: for an instruction counter */
    struct cell cells[CELLS_MAX];
    size_t cell_count;
};

static const char usage_text[] =
    "usage: ./run bench [OPTION...]\n"
    "\n"
    "Measures wheel and pool beside a 4-ary heap, a sorted list (small n) and\n"
    "the floor (touching random memory), on the same work, interleaved.\n"
    "\n"
    "    --quick            two minutes: n = 100000 and 1000000, 3 repeats\n"
    "    --n LIST           sizes, 100 to 100000000; default 100000,1000000,\n"
    "                       10000000\n"
    "    --workloads LIST   of arm, cancel, cancel+drop, rearm, touch,\n"
    "                       'fire steps', 'fire jumps', 'worst step', empty,\n"
    "                       bytes, d1, d2, 'd2 worst', d3\n"
    "    --structures LIST  of floor, wheel, pool, pool_cold, heap, list\n"
    "    --delays LIST      of uniform (1 ms to 60 s), log-uniform (1 ms to 1 "
    "h)\n"
    "    --repeats N        1 to 64; default 5\n"
    "    --seed N           of the pseudo-random work; default 1\n"
    "    --core N           run on this core only\n"
    "    --huge             ask for huge pages\n"
    "    --json FILE        write machine, compiler, commit and every sample\n"
    "    --in-process       no child processes, for instruction counters\n"
    "    --version          the compiler that built this\n";

/* Is `name` one of a comma-separated list?  No list has everything. */
static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (list != NULL) {
        const char *comma = strchr(list, ',');
        size_t part = comma ? (size_t)(comma - list) : strlen(list);
        if (part == length && strncmp(list, name, length) == 0)
            return true;
        if (comma == NULL)
            return false;
        list = comma + 1;
    }
    return true;
}

/*
 * Is every name of a comma-separated list one of the `count` known?  If not,
 * say so.
 */
static bool are_known(const char *option, const char *list,
                      const char *const *known, unsigned count)
{
    while (list != NULL) {
        size_t part = strcspn(list, ",");
        unsigned i = 0;
        while (i < count &&
               (strlen(known[i]) != part || strncmp(list, known[i], part) != 0))
            i++;
        if (i == count) {
            fprintf(stderr, "bench: --%s knows no '%.*s'; see --help\n", option,
                    (int)part, list);
            return false;
        }
        list = list[part] == ',' ? list + part + 1 : NULL;
    }
    return true;
}

static bool check_names(const struct plan *plan)
{
    const char *names[STRUCTURES + 1] = {"floor"};
    for (unsigned i = 0; i < STRUCTURES; i++)
        names[i + 1] = structures[i]->name;
    return are_known("structures", plan->structures, names, STRUCTURES + 1) &&
           are_known("workloads", plan->workloads, workload_names, WORKLOADS) &&
           are_known("delays", plan->spreads, spread_names, SPREADS);
}

static void add_cell(struct plan *plan, struct cell cell)
{
    bool is_wanted = is_listed(plan->structures, cell.structure) &&
                     is_listed(plan->spreads, spread_names[cell.spread]);
    if (is_wanted && plan->cell_count < CELLS_MAX)
        plan->cells[plan->cell_count++] = cell;
}

static void add_floor(struct plan *plan, size_t n)
{
    struct cell cell = {.structure = "floor", .n = n, .is_timed = true};
    cell.spread = is_listed(plan->spreads, "uniform") ? UNIFORM : LOG_UNIFORM;
    for (unsigned i = 0; i < FLOORS; i++) {
        cell.workload = floors[i].name;
        cell.run = floors[i].run;
        add_cell(plan, cell);
    }
}

static void add_workload(struct plan *plan, size_t n, enum spread spread,
                         enum workload workload)
{
    /* Touching has a fixed limit: delays do not matter to it. */
    if (workload == TOUCH && spread != UNIFORM &&
        is_listed(plan->spreads, "uniform"))
        return;
    for (unsigned i = 0; i < STRUCTURES; i++) {
        const struct bench_structure *structure = structures[i];
        if (structure->run[workload] == NULL || n > structure->n_max)
            continue;
        struct cell cell = {
            .structure = structure->name,
            .workload = workload_names[workload],
            .n = n,
            .spread = spread,
            .run = structure->run[workload],
            .is_timed = workload != WORST_STEP && workload != BYTES &&
                        workload != D2_WORST,
        };
        add_cell(plan, cell);
    }
}

static void lay_plan(struct plan *plan)
{
    for (unsigned i = 0; i < plan->size_count; i++) {
        add_floor(plan, plan->sizes[i]);
        for (unsigned k = 0; k < SPREADS * WORKLOADS; k++) {
            enum workload workload = (enum workload)(k % WORKLOADS);
            if (is_listed(plan->workloads, workload_names[workload]))
                add_workload(plan, plan->sizes[i], (enum spread)(k / WORKLOADS),
                             workload);
        }
    }
}

static void show_progress(double share, double elapsed_s,
                          const struct cell *cell)
{
    char bar[31];
    for (unsigned i = 0; i < 30; i++)
        bar[i] = i < share * 30 ? '#' : '.';
    bar[30] = '\0';
    unsigned left = share > 0 ? (unsigned)(elapsed_s / share - elapsed_s) : 0;
    fprintf(stderr, "\r%s %3.0f%%  %2u:%02u left  %-10s %-11s %-9zu ", bar,
            share * 100, left / 60, left % 60, cell->structure, cell->workload,
            cell->n);
}

/* Time goes with n; small ones are repeated up to a million. */
static double weight(const struct cell *cell)
{
    return cell->n < 1000000 && cell->is_timed ? 1e6 : (double)cell->n + 1e5;
}

static void measure_all(struct plan *plan)
{
    bool is_terminal = isatty(STDERR_FILENO);
    double began = bench_now_ns();
    double total = 0;
    double done = 0;
    for (size_t i = 0; i < plan->cell_count; i++)
        total += weight(&plan->cells[i]) * plan->repeats;

    for (unsigned k = 0; k < plan->repeats; k++) {
        for (size_t i = 0; i < plan->cell_count; i++) {
            struct cell *cell = &plan->cells[i];
            if (is_terminal)
                show_progress(done / total, (bench_now_ns() - began) / 1e9,
                              cell);
            measure(cell, plan->seed + k, plan->is_in_process);
            done += weight(cell);
        }
        if (!is_terminal)
            fprintf(stderr, "bench: repeat %u of %u done\n", k + 1,
                    plan->repeats);
    }
    if (is_terminal)
        fprintf(stderr, "\r%79s\r", "");
}

static bool read_number(const char *option, const char *text, uint64_t least,
                        uint64_t most, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 &&
        *number >= least && *number <= most)
        return true;
    fprintf(stderr,
            "bench: --%s wants a whole number from %" PRIu64 " to %" PRIu64
            ", not '%s'\n",
            option, least, most, text);
    return false;
}

static bool read_sizes(struct plan *plan, char *text)
{
    plan->size_count = 0;
    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        uint64_t n;
        if (!read_number("n", part, 100, N_MOST, &n))
            return false;
        if (plan->size_count == SIZES_MAX) {
            fprintf(stderr, "bench: --n takes at most %d sizes\n", SIZES_MAX);
            return false;
        }
        plan->sizes[plan->size_count++] = (size_t)n;
    }
    return plan->size_count > 0;
}

static void be_quick(struct plan *plan)
{
    plan->sizes[0] = 100000;
    plan->sizes[1] = 1000000;
    plan->size_count = 2;
    plan->repeats = 3;
    plan->spreads = "uniform";
}

/* Take one option.  Returns false if it is wrong, having said so. */
static bool take_option(struct plan *plan, int option, char *text)
{
    uint64_t number = 0;
    switch (option) {
    case 'q':
        be_quick(plan);
        return true;
    case 'n':
        return read_sizes(plan, text);
    case 'w':
        plan->workloads = text;
        return true;
    case 's':
        plan->structures = text;
        return true;
    case 'd':
        plan->spreads = text;
        return true;
    case 'r':
        if (!read_number("repeats", text, 1, SAMPLES_MAX, &number))
            return false;
        plan->repeats = (unsigned)number;
        return true;
    case 'e':
        return read_number("seed", text, 1, UINT64_MAX, &plan->seed);
    case 'c':
        if (!read_number("core", text, 0, CPU_SETSIZE - 1, &number))
            return false;
        plan->core = (int)number;
        return true;
    case 'H':
        bench_use_huge_pages(true);
        return true;
    case 'j':
        plan->json = text;
        return true;
    case 'm':
        plan->commit = text;
        return true;
    case 'p':
        plan->is_in_process = true;
        return true;
    default:
        fprintf(stderr, "bench: see ./run bench --help\n");
        return false; /* getopt has said what is wrong */
    }
}

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
    {"version", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0)
        return true;
    fprintf(stderr, "bench: cannot run on core %d: %s\n", core,
            strerror(errno));
    return false;
}

static int run(struct plan *plan)
{
    if (!check_names(plan))
        return 2;
    if (plan->core >= 0 && !pin(plan->core))
        return 1;
    lay_plan(plan);
    if (plan->cell_count == 0) {
        fprintf(stderr, "bench: nothing to measure at these sizes\n");
        return 2;
    }
    FILE *json = plan->json == NULL ? NULL : fopen(plan->json, "w");
    if (plan->json != NULL && json == NULL) {
        fprintf(stderr, "bench: cannot write %s: %s\n", plan->json,
                strerror(errno));
        return 1;
    }
    measure_all(plan);

    struct report report = {.cells = plan->cells,
                            .cell_count = plan->cell_count,
                            .seed = plan->seed,
                            .repeats = plan->repeats,
                            .commit = plan->commit};
    report_table(&report, stdout);
    if (json != NULL) {
        report_json(&report, json);
        if (fclose(json) != 0)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct plan plan = {
        .sizes = {100000, 1000000, 10000000},
        .size_count = 3,
        .seed = 1,
        .repeats = 5,
        .core = -1,
        .commit = "unknown",
    };
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (c == 'h')
            return fputs(usage_text, stdout) < 0;
        if (c == 'v')
            return puts(bench_compiler()) < 0;
        if (!take_option(&plan, c, optarg))
            return 2;
    }
    if (optind < argc) {
        fprintf(stderr, "bench: there is no '%s' to measure; see --help\n",
                argv[optind]);
        return 2;
    }
    return run(&plan);
}
