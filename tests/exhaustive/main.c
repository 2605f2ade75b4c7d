/*
 * main.c - the exhaustive tests: all sequences of operations on toys.
 *
 *     explore.c   the search                  wheel.c      toy wheels
 *     toy.c       a toy under its judge       pool.c       toy pools ...
 *     key.c       when two states are the     pool_key.c   ... and their keys
 *                 same
 *
 * The judge, and all that is right or wrong, is that of the model test.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore.h"

#include "../model/reproduce.h"
#include "../model/run.h"
#include "../support/figures.h"

/* About 50 bytes each. */
#define STATES_MAX UINT64_C(100000000)

static const char help[] =
    "Usage: %s [options]\n"
    "\n"
    "Does every sequence of operations on toy %s and holds every\n"
    "answer against the laws.  Exits with 0 if all held and nothing was left\n"
    "out, with 1 if not: then the shortest sequence that shows it is printed,\n"
    "and written to ./%s-failure.c as a C program.\n"
    "\n"
    "  --long            larger toys and more timers, several minutes\n"
    "  --geometry SIZES  only this one: 2,3 grows, 2,3r goes round; then - "
    "for\n"
    "                    no postponing%s\n"
    "  --timers N        with --geometry: so many timers (default 3)\n"
    "  --depth N         with --geometry: at most so many operations in a row\n"
    "  --help            this text\n";

/* Sums over the plans of a run. */
struct totals {
    uint64_t toys;
    uint64_t bounded; /* toys that depth_max stopped before they closed */
    uint32_t shallow; /* the least of those depths */
    uint64_t states;
    uint64_t transitions;
};

struct options {
    bool is_long;
    bool is_single;
    struct toy_plan single;
};

/* Read a number of one or two digits. */
static bool read_number(const char *text, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    *number = (uint32_t)value;
    return *text >= '1' && *text <= '9' && *end == '\0' && value < 100;
}

/* Set one option from its text; returns whether both make sense. */
static bool set_option(struct options *options, const char *name,
                       const char *value)
{
    struct toy_config config;

    if (strcmp(name, "--depth") == 0)
        return read_number(value, &options->single.depth_max);
    if (strcmp(name, "--timers") == 0)
        return read_number(value, &options->single.timer_count);
    options->is_single = true;
    options->single.toy = value;
    return toy_read(&config, &options->single);
}

static bool is_option(const char *name)
{
    return strcmp(name, "--geometry") == 0 || strcmp(name, "--timers") == 0 ||
           strcmp(name, "--depth") == 0;
}

/* Say what is wrong with the options together, or return NULL. */
static const char *find_fault(struct options *options)
{
    struct toy_plan *single = &options->single;
    struct toy_config config;

    if (!options->is_single && single->timer_count != 0)
        return "--timers needs --geometry";
    if (!options->is_single && single->depth_max != 0)
        return "--depth needs --geometry";
    if (!options->is_single)
        return NULL;
    if (single->timer_count == 0)
        single->timer_count = 3;
    toy_read(&config, single);
    return toy_fault(&config);
}

/* Read all options; a bad one gets one line of complaint. */
static bool read_options(struct options *options, int count, char **texts)
{
    for (int i = 1; i < count; i++) {
        const char *name = texts[i], *value = texts[i + 1];

        if (strcmp(name, "--long") == 0) {
            options->is_long = true;
            continue;
        }
        if (!is_option(name)) {
            fprintf(stderr, "%s: unknown option %s (try --help)\n",
                    toy_kind.program, name);
            return false;
        }
        if (value == NULL) {
            fprintf(stderr, "%s: %s needs a value\n", toy_kind.program, name);
            return false;
        }
        if (!set_option(options, name, value)) {
            fprintf(stderr, "%s: bad value for %s: %s\n", toy_kind.program,
                    name, value);
            return false;
        }
        i++;
    }

    const char *fault = find_fault(options);
    if (fault != NULL)
        fprintf(stderr, "%s: %s\n", toy_kind.program, fault);
    return fault == NULL;
}

static void write_ops(const struct trial *trial)
{
    const struct tape *tape = &trial->tape;
    static const char *const words[] = {
        [OP_ARM] = "arm",       [OP_POSTPONE] = "postpone",
        [OP_CANCEL] = "cancel", [OP_ADVANCE] = "advance",
        [OP_POP] = "pop",       [OP_DRAIN] = "drain",
        [OP_WALK] = "walk",
    };

    printf("    start at %" PRIu64 "\n", tape->world.start);
    for (uint32_t i = 0; i < tape->op_count; i++) {
        const struct op *op = &tape->ops[i];

        printf("    %s", words[op->kind]);
        if (op->kind <= OP_CANCEL)
            printf(" timer %" PRIu32, op->id);
        if (op->kind == OP_WALK && op->id != 0)
            printf(", cancelling");
        if (op->kind == OP_POP && op->id != 0)
            printf(", keeping");
        if (op->kind <= OP_POSTPONE || op->kind == OP_ADVANCE) {
            if (op->tick == TKW_NEVER)
                printf(" to never");
            else
                printf(" to %" PRIu64, op->tick);
        }
        if (op->kind == OP_ADVANCE && op->budget != NO_BUDGET)
            printf(", budget %zu", op->budget);
        printf("\n");
    }
}

static void report(const struct progress *progress, enum verdict verdict,
                   const char *title)
{
    const struct trial *trial = &progress->trial;
    char path[64];

    snprintf(path, sizeof path, "%s-failure.c", toy_kind.program);
    FILE *file = fopen(path, "w");
    printf("FAILED after %" PRIu64 " states, %" PRIu64
           " transitions; no sequence is shorter than this:\n",
           progress->state_count, progress->transition_count);
    write_ops(trial);
    trial_write(stdout, trial, verdict);
    if (file == NULL) {
        printf("could not be written to ./%s\n", path);
        return;
    }
    reproduce(file, trial, toy_kind.engine(), title);
    if (fclose(file) == 0)
        printf("written to ./%s\n", path);
}

/* Explore in a child, so that a crash is an answer, too. */
static enum verdict run_child(const struct toy_config *config,
                              struct progress *progress)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(explore(config, STATES_MAX, progress) ? 0 : 1);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror(toy_kind.program);
        exit(2);
    }
    return trial_verdict(&progress->trial, status);
}

/* How it ended, after "depth 7, ". */
static void write_end(const struct toy_config *config,
                      const struct progress *progress)
{
    if (progress->is_bounded)
        printf("bounded at depth %" PRIu32, config->depth_max);
    else if (progress->is_closed)
        printf("closed");
    else
        printf("NOT CLOSED: too many states");
    if (progress->beyond_count > 0 && config->dead_limit != 0)
        printf(" up to %" PRIu32 " dead", config->dead_limit - 1);
    if (progress->beyond_count > 0 && config->unseen_limit != 0)
        printf(" up to %" PRIu32 " unseen", config->unseen_limit - 1);
}

/* Returns whether all held and nothing was left out. */
static bool run_plan(const struct toy_plan *plan, struct progress *progress)
{
    struct toy_config config;
    char title[128];
    double begin = run_clock();

    memset(progress, 0, sizeof *progress);
    toy_read(&config, plan);
    snprintf(title, sizeof title, "%s --geometry %s --timers %" PRIu32,
             toy_kind.program, plan->toy, plan->timer_count);
    printf("%-*s %" PRIu32 " timers: ", toy_kind.width, plan->toy,
           plan->timer_count);
    fflush(stdout);

    enum verdict verdict = run_child(&config, progress);
    if (verdict != VERDICT_FINE) {
        report(progress, verdict, title);
        return false;
    }
    printf("%9" PRIu64 " states, %10" PRIu64 " transitions, depth %" PRIu32
           ", ",
           progress->state_count, progress->transition_count, progress->depth);
    write_end(&config, progress);
    printf(", %.1f s\n", run_clock() - begin);
    return progress->is_closed || progress->is_bounded;
}

static void add_toy(struct totals *totals, const struct progress *progress,
                    uint32_t depth_max)
{
    totals->toys++;
    totals->states += progress->state_count;
    totals->transitions += progress->transition_count;
    if (!progress->is_bounded)
        return;
    if (totals->bounded++ == 0 || depth_max < totals->shallow)
        totals->shallow = depth_max;
}

static void write_figures(const struct totals *totals)
{
    figures_begin(toy_kind.program);
    figures_count("toys", totals->toys);
    figures_count("closed toys", totals->toys - totals->bounded);
    if (totals->bounded > 0) {
        figures_count("toys bounded by depth", totals->bounded);
        figures_count("operations deep at least", totals->shallow);
    }
    figures_count("states", totals->states);
    figures_count("transitions", totals->transitions);
    figures_end();
}

/* Run plans up to the first that fails.  Returns the exit status. */
static int run_plans(const struct toy_plan *plans, size_t count,
                     struct progress *progress)
{
    struct totals totals = {0};

    for (size_t i = 0; i < count; i++) {
        if (!run_plan(&plans[i], progress))
            return 1;
        add_toy(&totals, progress, plans[i].depth_max);
    }
    printf("all laws held\n");
    write_figures(&totals);
    return 0;
}

int main(int count, char **texts)
{
    struct options options = {0};

    for (int i = 1; i < count; i++)
        if (strcmp(texts[i], "--help") == 0)
            return printf(help, toy_kind.program, toy_kind.things,
                          toy_kind.program, toy_kind.letters) < 0;
    if (!read_options(&options, count, texts))
        return 2;

    struct progress *progress = share(sizeof *progress);
    if (progress == NULL) {
        fprintf(stderr, "%s: no memory to share\n", toy_kind.program);
        return 2;
    }
    if (options.is_single)
        return run_plans(&options.single, 1, progress);
    if (options.is_long)
        return run_plans(toy_kind.larger, toy_kind.larger_count, progress);
    return run_plans(toy_kind.everyday, toy_kind.everyday_count, progress);
}
