/*
 * front.c - the command line of a program of scenarios.
 */
#define _POSIX_C_SOURCE 200809L

#include "sched.h"

#include "../support/figures.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "[options]\n"
    "\n"
    "Runs scenarios of several threads in every order, or in random ones.\n"
    "Exits with 0 if none failed, but for those that are broken on purpose,\n"
    "which must; with 1 if not, or if there are more orders than --max; with "
    "2\n"
    "if an option is wrong.\n"
    "\n"
    "  --only NAME         this scenario only\n"
    "  --bound N           in every order with at most so many preemptions\n"
    "                      (default 2)\n"
    "  --max N             orders per scenario (default 10000000)\n"
    "  --first N           the same, but to have more is no failure\n"
    "  --random N          in so many random orders instead (default 0: in\n"
    "                      every order)\n"
    "  --seed N            of the first random order (default 1)\n"
    "  --replay DECISIONS  in this order, which a failure has printed; needs\n"
    "                      --only\n"
    "  --list              print the names of the scenarios\n"
    "  --help              print this text\n";

/* Sums over the scenarios of a run. */
struct totals {
    uint64_t scenarios;
    uint64_t complete; /* scenarios without a schedule left to try */
    uint64_t schedules;
    uint64_t steps;
};

struct front {
    const char *program;
    const struct sched_scenario *scenarios;
    size_t scenario_count;
    const struct sched_scenario *only; /* NULL: all */
    const char *decisions;             /* NULL: no replay */
    uint64_t random_count;
    bool may_be_cut;
    struct sched_options options;
    struct totals totals;
};

static double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool read_number(const char *text, uint64_t max, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 0);
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 &&
           *number <= max;
}

static const struct sched_scenario *find(const struct front *front,
                                         const char *name)
{
    for (size_t i = 0; i < front->scenario_count; i++)
        if (strcmp(front->scenarios[i].name, name) == 0)
            return &front->scenarios[i];
    return NULL;
}

static bool is_option(const char *name)
{
    static const char *const names[] = {"--only",  "--bound",  "--max",
                                        "--first", "--random", "--seed",
                                        "--replay"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Set one option from its text; returns whether both make sense. */
static bool set_option(struct front *front, const char *name, const char *value)
{
    uint64_t number;

    if (strcmp(name, "--only") == 0) {
        front->only = find(front, value);
        return front->only != NULL;
    }
    if (strcmp(name, "--replay") == 0) {
        front->decisions = value;
        return true;
    }
    if (!read_number(value, UINT64_MAX, &number))
        return false;
    if (strcmp(name, "--bound") == 0) {
        front->options.bound = (unsigned)number;
        return number <= 1000000;
    }
    bool is_first = strcmp(name, "--first") == 0;
    if (is_first || strcmp(name, "--max") == 0) {
        front->may_be_cut = is_first;
        front->options.schedules_max = number;
        return number > 0;
    }
    if (strcmp(name, "--random") == 0)
        front->random_count = number;
    else
        front->options.seed = number;
    return true;
}

static void complain(const struct front *front, const char *name,
                     const char *value)
{
    if (!is_option(name))
        fprintf(stderr, "%s: unknown option %s (try --help)\n", front->program,
                name);
    else if (value == NULL)
        fprintf(stderr, "%s: %s needs a value\n", front->program, name);
    else
        fprintf(stderr, "%s: bad value for %s: %s\n", front->program, name,
                value);
}

/* Read all options; a bad one gets one line of complaint. */
static bool read_options(struct front *front, int count, char **texts)
{
    for (int i = 1; i < count; i += 2) {
        const char *name = texts[i];
        const char *value = i + 1 < count ? texts[i + 1] : NULL;

        if (is_option(name) && value != NULL && set_option(front, name, value))
            continue;
        complain(front, name, value);
        return false;
    }
    if (front->decisions != NULL && front->only == NULL) {
        fprintf(stderr, "%s: --replay needs --only\n", front->program);
        return false;
    }
    return true;
}

static void search(const struct front *front,
                   const struct sched_scenario *scenario,
                   struct sched_result *result)
{
    struct sched_options options = front->options;

    if (front->decisions != NULL) {
        sched_replay(scenario, front->decisions, result);
    } else if (front->random_count > 0) {
        options.schedules_max = front->random_count;
        sched_random(scenario, &options, result);
    } else {
        sched_explore(scenario, &options, result);
    }
}

static void write_failure(const struct front *front,
                          const struct sched_scenario *scenario,
                          const struct sched_result *result)
{
    printf("    %s: %s\n    decisions: %s\n", scenario->name, result->what,
           result->decisions);
    if (front->decisions != NULL)
        return;
    printf("    replay: %s --only %s --replay \"%s\"\n", front->program,
           scenario->name, result->decisions);
    if (front->random_count > 0)
        printf("    or: %s --only %s --random 1 --seed %" PRIu64 "\n",
               front->program, scenario->name, result->seed);
}

static void add_result(struct totals *totals, const struct sched_result *result)
{
    totals->scenarios++;
    totals->complete += result->is_complete;
    totals->schedules += result->schedule_count;
    totals->steps += result->step_count;
}

static void write_figures(const struct front *front, const char *of)
{
    const struct totals *totals = &front->totals;

    figures_begin(of);
    figures_count("scenarios", totals->scenarios);
    if (front->random_count > 0) {
        figures_count("random schedules", totals->schedules);
        figures_count("steps", totals->steps);
        figures_seed(front->options.seed);
        figures_end();
        return;
    }
    figures_count("preemptions at most", front->options.bound);
    figures_count("schedules", totals->schedules);
    figures_count("steps", totals->steps);
    figures_count("scenarios searched completely", totals->complete);
    if (totals->complete < totals->scenarios)
        figures_count("schedules in each of the others",
                      front->options.schedules_max);
    figures_end();
}

/* Returns whether the scenario does as it should. */
static bool try(struct front *front, const struct sched_scenario *scenario)
{
    struct sched_result result;
    double begin = seconds_now();

    search(front, scenario, &result);
    add_result(&front->totals, &result);

    bool is_sampled = front->decisions != NULL || front->random_count > 0;
    bool is_cut = !result.has_failed && !result.is_complete && !is_sampled;
    bool is_fine = result.has_failed == scenario->is_broken &&
                   (!is_cut || front->may_be_cut);
    const char *outcome = is_fine ? "fine" : "FAILED";
    if (is_cut)
        outcome =
            front->may_be_cut ? "fine, and there are more" : "NOT COMPLETE";
    else if (scenario->is_broken)
        outcome = is_fine ? "broken, and found" : "BROKEN, BUT NOT FOUND";
    printf("%-40s %9" PRIu64 " schedules %11" PRIu64 " steps %7.2f s  %s\n",
           scenario->name, result.schedule_count, result.step_count,
           seconds_now() - begin, outcome);
    if (result.has_failed && (!is_fine || front->decisions != NULL))
        write_failure(front, scenario, &result);
    fflush(stdout);
    return is_fine;
}

int sched_main(int count, char **texts, const struct sched_program *program)
{
    struct front front = {.program = texts[0],
                          .scenarios = program->scenarios,
                          .scenario_count = program->scenario_count,
                          .options = {.bound = 2, .seed = 1}};
    bool is_fine = true;

    for (int i = 1; i < count; i++) {
        if (strcmp(texts[i], "--help") == 0)
            return printf("Usage: %s %s", front.program, help) < 0;
        if (strcmp(texts[i], "--list") != 0)
            continue;
        for (size_t at = 0; at < front.scenario_count; at++)
            puts(front.scenarios[at].name);
        return 0;
    }
    if (!read_options(&front, count, texts))
        return 2;
    for (size_t i = 0; i < front.scenario_count; i++)
        if (front.only == NULL || front.only == &front.scenarios[i])
            is_fine &= try(&front, &front.scenarios[i]);
    if (is_fine && front.decisions == NULL && program->figures_of != NULL)
        write_figures(&front, program->figures_of);
    return is_fine ? 0 : 1;
}
