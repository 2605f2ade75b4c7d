/*
 * main.c - the exhaustive test: all sequences of operations on toy wheels.
 *
 *     toy.c       a small wheel under its judge     explore.c   the search
 *     key.c       when two states are the same
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

#define REPRODUCER "exhaustive-failure.c"

/* About 50 bytes each. */
#define STATES_MAX UINT64_C(100000000)

static const char help[] =
    "Usage: exhaustive [options]\n"
    "\n"
    "Does every sequence of operations on toy timing wheels and holds every\n"
    "answer against the laws.  Exits with 0 if all held and nothing was left\n"
    "out, with 1 if not: then the shortest sequence that shows it is printed,\n"
    "and written to ./" REPRODUCER " as a C program.\n"
    "\n"
    "  --long            larger toys and more timers, several minutes\n"
    "  --geometry SIZES  only this one: 2,3 grows, 2,3r goes round; then - "
    "for\n"
    "                    no postponing, + to tell the lanes of a queue apart\n"
    "  --timers N        with --geometry: so many timers (default 3)\n"
    "  --help            this text\n";

struct options {
    bool is_long;
    bool is_single;
    struct toy_config single;
};

/*
 * Two sizes and TKW_ROUNDS make a wheel of two levels and no more.  Postponed
 * timers can be in any slot with any deadline, and so make for many states:
 * three timers without, for the order among them, and two with.
 */
static const struct toy_config everyday[] = {
    {{{2}, TKW_ROUNDS}, 2, true, true},
    {{{2, 2}, TKW_ROUNDS}, 3, false, false},
    {{{2, 3}, TKW_ROUNDS}, 3, false, false},
    {{{3, 2}, TKW_ROUNDS}, 3, false, false},
    {{{3, 3}, TKW_ROUNDS}, 3, false, false},
    {{{2, 2}, TKW_ROUNDS}, 2, true, false},
    {{{2, 3}, TKW_ROUNDS}, 2, true, false},
    {{{3, 2}, TKW_ROUNDS}, 2, true, false},
    {{{2}, TKW_ROUNDS}, 3, true, false},
    {{{3}, TKW_ROUNDS}, 2, true, false},
    {{{2}, TKW_GROW}, 2, false, false},
};

static const struct toy_config larger[] = {
    {{{2, 2}, TKW_ROUNDS}, 3, true, false},
    {{{3, 3}, TKW_ROUNDS}, 2, true, false},
    {{{3}, TKW_ROUNDS}, 3, true, false},
    {{{2}, TKW_ROUNDS}, 3, false, true},
    {{{2, 2}, TKW_ROUNDS}, 4, false, false},
    {{{3, 3}, TKW_ROUNDS}, 4, false, false},
    {{{2, 2, 2}, TKW_ROUNDS}, 4, false, false},
    {{{2, 2, 2}, TKW_ROUNDS}, 3, false, false},
    {{{2, 3, 2}, TKW_ROUNDS}, 3, false, false},
    {{{3, 2, 2}, TKW_ROUNDS}, 3, false, false},
    {{{2, 2, 2}, TKW_ROUNDS}, 2, true, false},
    {{{2}, TKW_GROW}, 2, true, false},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Read "2,3r-+".  Returns whether it makes sense. */
static bool read_geometry(const char *text, struct toy_config *config)
{
    struct tkw_geometry *geometry = &config->geometry;

    for (size_t i = 0; i < TKW_SIZES_MAX; i++) {
        char *end;
        unsigned long size = strtoul(text, &end, 10);

        if (end == text || *text < '0' || *text > '9' || size > UINT32_MAX)
            return false;
        geometry->sizes[i] = (uint32_t)size;
        text = end + (*end == ',');
        if (*end != ',')
            break;
    }
    geometry->beyond = *text == 'r' ? TKW_ROUNDS : TKW_GROW;
    text += *text == 'r';
    config->has_postponing = *text != '-';
    text += *text == '-';
    config->has_exact_turns = *text == '+';
    text += *text == '+';
    return *text == '\0';
}

/* Set one option from its text; returns whether both make sense. */
static bool set_option(struct options *options, const char *name,
                       const char *value)
{
    if (strcmp(name, "--geometry") == 0) {
        options->is_single = true;
        return read_geometry(value, &options->single);
    }
    options->single.timer_count = (uint32_t)(*value - '0');
    return value[0] >= '1' && value[0] <= '9' && value[1] == '\0';
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
        if (strcmp(name, "--geometry") != 0 && strcmp(name, "--timers") != 0) {
            fprintf(stderr, "exhaustive: unknown option %s (try --help)\n",
                    name);
            return false;
        }
        if (value == NULL) {
            fprintf(stderr, "exhaustive: %s needs a value\n", name);
            return false;
        }
        if (!set_option(options, name, value)) {
            fprintf(stderr, "exhaustive: bad value for %s: %s\n", name, value);
            return false;
        }
        i++;
    }

    const char *fault = NULL;
    if (options->is_single && options->single.timer_count == 0)
        options->single.timer_count = 3;
    if (options->is_single)
        fault = toy_fault(&options->single);
    else if (options->single.timer_count != 0)
        fault = "--timers needs --geometry";
    if (fault != NULL)
        fprintf(stderr, "exhaustive: %s\n", fault);
    return fault == NULL;
}

/* The name of a config, as --geometry takes it. */
static const char *write_name(const struct toy_config *config, char *name,
                              size_t bytes)
{
    const struct tkw_geometry *geometry = &config->geometry;
    size_t at = 0;

    for (size_t i = 0; i < TKW_SIZES_MAX && geometry->sizes[i] != 0; i++) {
        int length = snprintf(name + at, bytes - at, "%s%" PRIu32, i ? "," : "",
                              geometry->sizes[i]);

        at += length > 0 ? (size_t)length : 0;
    }
    snprintf(name + at, bytes - at, "%s%s%s",
             geometry->beyond == TKW_ROUNDS ? "r" : "",
             config->has_postponing ? "" : "-",
             config->has_exact_turns ? "+" : "");
    return name;
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
    FILE *file = fopen(REPRODUCER, "w");

    printf("FAILED after %" PRIu64 " states, %" PRIu64
           " transitions; no sequence is shorter than this:\n",
           progress->state_count, progress->transition_count);
    write_ops(trial);
    trial_write(stdout, trial, verdict);
    if (file == NULL) {
        printf("could not be written to ./%s\n", REPRODUCER);
        return;
    }
    reproduce(file, trial, &engine_wheel, title);
    if (fclose(file) == 0)
        printf("written to ./%s\n", REPRODUCER);
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
        perror("exhaustive");
        exit(2);
    }
    return trial_verdict(&progress->trial, status);
}

/* Returns whether all held and nothing was left out. */
static bool run_config(const struct toy_config *config,
                       struct progress *progress)
{
    char name[64], title[128];
    double begin = run_clock();

    memset(progress, 0, sizeof *progress);
    write_name(config, name, sizeof name);
    snprintf(title, sizeof title, "exhaustive --geometry %s --timers %" PRIu32,
             name, config->timer_count);
    printf("%-8s %" PRIu32 " timers: ", name, config->timer_count);
    fflush(stdout);

    enum verdict verdict = run_child(config, progress);
    if (verdict != VERDICT_FINE) {
        report(progress, verdict, title);
        return false;
    }
    printf("%9" PRIu64 " states, %10" PRIu64 " transitions, depth %" PRIu32
           ", %s, %.1f s\n",
           progress->state_count, progress->transition_count, progress->depth,
           progress->is_closed ? "closed" : "NOT CLOSED: too many states",
           run_clock() - begin);
    return progress->is_closed;
}

int main(int count, char **texts)
{
    struct options options = {0};

    for (int i = 1; i < count; i++)
        if (strcmp(texts[i], "--help") == 0)
            return fputs(help, stdout) < 0;
    if (!read_options(&options, count, texts))
        return 2;

    struct progress *progress = share(sizeof *progress);
    if (progress == NULL) {
        perror("exhaustive: no memory to share");
        return 2;
    }
    if (options.is_single)
        return run_config(&options.single, progress) ? 0 : 1;

    const struct toy_config *configs = options.is_long ? larger : everyday;
    size_t config_count = options.is_long ? COUNT(larger) : COUNT(everyday);
    for (size_t i = 0; i < config_count; i++)
        if (!run_config(&configs[i], progress))
            return 1;
    printf("all laws held\n");
    return 0;
}
