/*
 * core/plan.c - which cells, in which order, and how far we are.
 *
 * Machines drift by a fifth from hour to hour, so only numbers of one run are
 * compared: every cell is measured once, then all of them again, and again.
 */
#define _POSIX_C_SOURCE 200809L

#include "plan.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    &bench_wheel,      &bench_pool, &bench_pool_cold,
    &bench_pool_ahead, &bench_heap, &bench_list,
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
};
_Static_assert((int)FLOORS <= FLOORS_MAX && (int)STRUCTURES <= STRUCTURES_MAX,
               "a plan has cells for all");

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
            fprintf(
                stderr,
                "tickwheel: --%s has no '%.*s'; see tickwheel bench --help\n",
                option, (int)part, list);
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

bool plan_lay(struct plan *plan)
{
    if (!check_names(plan))
        return false;
    plan->cell_count = 0;
    for (unsigned i = 0; i < plan->size_count; i++) {
        add_floor(plan, plan->sizes[i]);
        for (unsigned k = 0; k < SPREADS * WORKLOADS; k++) {
            enum workload workload = (enum workload)(k % WORKLOADS);
            if (is_listed(plan->workloads, workload_names[workload]))
                add_workload(plan, plan->sizes[i], (enum spread)(k / WORKLOADS),
                             workload);
        }
    }
    if (plan->cell_count == 0)
        fprintf(stderr, "tickwheel: the chosen structures and workloads have "
                        "nothing to measure at --n; give other sizes\n");
    return plan->cell_count > 0;
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

bool plan_measure(struct plan *plan)
{
    bool is_terminal = isatty(STDERR_FILENO);
    bool is_fine = true;
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
            if (!cell_has_failed(cell))
                is_fine &= measure(cell, plan->seed + k, plan->is_in_process);
            done += weight(cell);
        }
        if (!is_terminal)
            fprintf(stderr, "tickwheel: repeat %u of %u done\n", k + 1,
                    plan->repeats);
    }
    if (is_terminal)
        fprintf(stderr, "\r%79s\r", "");
    return is_fine;
}
