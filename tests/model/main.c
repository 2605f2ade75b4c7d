/*
 * main.c - the model test: random operations against a sorted array.
 *
 *     engine.h     what is under test          generate.c    which operations
 *     oracle.c     what must come of them      judge.c       does it?
 *     ledger.c     how much work it may be     judge_work.c  is it?
 *     run.c        many cases                  trial.c       one, in a child
 *     shrink.c     a smaller one               reproduce.c   ... in C
 */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "reproduce.h"
#include "run.h"
#include "shrink.h"

#include "../support/figures.h"

#define REPRODUCER "model-failure.c"

/*
 * The program whose pool is built with constants for toys has engines of its
 * own, and so must its reproducers be built.  The first engine is the default.
 */
#ifdef MODEL_TINY
#define PROGRAM "model_tiny"
#define NOTE "with the definitions of pool_tiny in tests/CMakeLists.txt, "
#define ENGINES                                                          \
    "pool-tiny (default): the pool with tiny\n"                          \
    "                   chunks, segments and tags; or\n"                 \
    "                   pool-tiny-oom: and with too little memory; or\n" \
    "                   pool-tiny-payload: and with payload, too\n"
static const struct engine *const engines[] = {
    &engine_pool_tiny, &engine_pool_tiny_oom, &engine_pool_tiny_payload};
#else
#define PROGRAM "model"
#define NOTE ""
#define ENGINES                                                           \
    "wheel (default), pool, pool-oom: the pool\n"                         \
    "                   with too little memory, pool-payload: and with\n" \
    "                   payload, too, or broken-...: one of them\n"       \
    "                   with a bug, for testing this test\n"
static const struct engine *const engines[] = {
    &engine_wheel, &engine_pool, &engine_pool_oom, &engine_pool_payload};
#endif

#define ENGINE_COUNT (sizeof engines / sizeof engines[0])

static const char help[] =
    "Usage: " PROGRAM " [options]\n"
    "\n"
    "Does random operations on a timing wheel and holds every answer against\n"
    "a sorted array of timers.  Exits with 0 if all laws held, with 1 if not:\n"
    "then a shrunk C program that shows it is printed, and written to\n"
    "./" REPRODUCER ".\n"
    "\n"
    "  --ops N          operations in all (default 1000000)\n"
    "  --seconds N      stop after so long, whatever --ops says\n"
    "  --seed N         begin from this seed (default: a new one each time)\n"
    "  --case N         only this case of the seed\n"
    "  --engine NAME    what to test: " ENGINES
    "  --check-every N  operations between two full checks (default: by cost)\n"
    "  --patience N     seconds after which a case is said to hang "
    "(default 20)\n"
    "  --jobs N         processes (default 1)\n"
    "  --help           this text\n";

static const struct engine *find_engine(const char *name)
{
    for (size_t i = 0; i < ENGINE_COUNT; i++)
        if (strcmp(name, engines[i]->name) == 0)
            return engines[i];
    for (size_t i = 0; engine_broken(i) != NULL; i++)
        if (strcmp(name, engine_broken(i)->name) == 0)
            return engine_broken(i);
    return NULL;
}

static bool read_number(const char *text, uint64_t max, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 0);
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 &&
           *number <= max;
}

/* Set one option from its text; returns whether both make sense. */
static bool set_option(struct run_options *options, const char *name,
                       const char *value)
{
    uint64_t number;

    if (strcmp(name, "--engine") == 0) {
        options->engine = find_engine(value);
        return options->engine != NULL;
    }
    if (!read_number(value, UINT64_MAX, &number))
        return false;
    if (strcmp(name, "--ops") == 0) {
        options->ops_max = number;
    } else if (strcmp(name, "--seed") == 0) {
        options->seed = number;
    } else if (strcmp(name, "--seconds") == 0) {
        options->seconds_max = number;
        options->ops_max = UINT64_MAX;
    } else if (strcmp(name, "--case") == 0) {
        options->first_case = number;
        options->is_single = true;
    } else if (strcmp(name, "--check-every") == 0) {
        options->check_every = (uint32_t)number;
        return number <= UINT32_MAX;
    } else if (strcmp(name, "--patience") == 0) {
        options->patience = (uint32_t)number;
        return number >= 1 && number <= 86400;
    } else if (strcmp(name, "--jobs") == 0) {
        options->job_count = (uint32_t)number;
        return number >= 1 && number <= JOBS_MAX;
    }
    return true;
}

static bool is_option(const char *name)
{
    static const char *const names[] = {
        "--ops",    "--seconds",     "--seed", "--case",
        "--engine", "--check-every", "--jobs", "--patience",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void complain(const char *name, const char *value)
{
    if (!is_option(name))
        fprintf(stderr, PROGRAM ": unknown option %s (try --help)\n", name);
    else if (value == NULL)
        fprintf(stderr, PROGRAM ": %s needs a value\n", name);
    else
        fprintf(stderr, PROGRAM ": bad value for %s: %s\n", name, value);
}

/* Read all options; a bad one gets one line of complaint. */
static bool read_options(struct run_options *options, int count, char **texts)
{
    for (int i = 1; i < count; i += 2) {
        const char *name = texts[i];
        const char *value = i + 1 < count ? texts[i + 1] : NULL;

        if (is_option(name) && value != NULL &&
            set_option(options, name, value))
            continue;
        complain(name, value);
        return false;
    }
    if (options->is_single)
        options->job_count = 1;
    return true;
}

static uint64_t new_seed(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return ((uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec) ^
           ((uint64_t)getpid() << 32);
}

static void write_summary(const struct run_options *options,
                          const struct run_part *parts, double seconds)
{
    const double ticks_per_year = 1000.0 * 86400 * 365.25;
    struct run_part sum = {0};

    for (uint32_t i = 0; i < options->job_count; i++) {
        sum.op_count += parts[i].op_count;
        sum.case_count += parts[i].case_count;
        sum.end_count += parts[i].end_count;
        sum.tick_count += parts[i].tick_count;
        sum.work.fired += parts[i].work.fired;
        sum.work.falls += parts[i].work.falls;
        sum.work.refiles += parts[i].work.refiles;
        sum.work.passes += parts[i].work.passes;
        sum.work.stops += parts[i].work.stops;
    }
    printf("%s: all laws held: %" PRIu64
           " cases reached the end of time, %" PRIu64 " falls, %" PRIu64
           " refiles, %" PRIu64 " passes, %.1f s, %.2f million operations/s\n",
           options->engine->name, sum.end_count, sum.work.falls,
           sum.work.refiles, sum.work.passes, seconds,
           (double)sum.op_count / seconds / 1e6);

    char of[64];
    snprintf(of, sizeof of, "model of %s", options->engine->name);
    figures_begin(of);
    figures_count("operations", sum.op_count);
    figures_count("cases", sum.case_count);
    figures_real("virtual years", sum.tick_count / ticks_per_year);
    figures_count("fired", sum.work.fired);
    figures_count("budget stops", sum.work.stops);
    figures_seed(options->seed);
    figures_end();
}

static void write_reproducer(const struct trial *trial,
                             const struct engine *engine, const char *title)
{
    FILE *file = fopen(REPRODUCER, "w");

    if (file != NULL) {
        reproduce(file, trial, engine, title);
        if (fclose(file) == 0)
            printf("written to ./%s:\n\n", REPRODUCER);
    } else {
        printf("could not be written to ./%s:\n\n", REPRODUCER);
    }
    reproduce(stdout, trial, engine, title);
}

static void report(const struct run_options *options, struct run_part *part,
                   enum verdict verdict)
{
    struct trial *trial = &part->trial;
    char title[160];
    int length =
        snprintf(title, sizeof title,
                 PROGRAM " --engine %s --seed %" PRIu64 " --case %" PRIu64,
                 options->engine->name, options->seed, part->case_number);

    if (options->check_every > 0 && length > 0)
        snprintf(title + length, sizeof title - (size_t)length,
                 " --check-every %" PRIu32, options->check_every);
    printf("FAILED in case %" PRIu64 " after %" PRIu32 " operations\n",
           part->case_number, trial->op_at);
    trial_write(stdout, trial, verdict);
    printf("replay: %s\nshrinking ...\n", title);
    fflush(stdout);

    /* A case is short: what hangs shows sooner than that. */
    verdict = shrink(trial, options->engine, verdict,
                     options->patience < 2 ? options->patience : 2);
    if (verdict == VERDICT_FINE)
        printf("it did not fail again when replayed; as it was:\n");
    printf("%" PRIu32 " operations, " NOTE, trial->tape.op_count);
    write_reproducer(trial, options->engine, title);
}

int main(int count, char **texts)
{
    struct run_options options = {.engine = engines[0],
                                  .seed = new_seed(),
                                  .ops_max = 1000000,
                                  .patience = 20,
                                  .job_count = 1};
    enum verdict verdict = VERDICT_FINE;

    for (int i = 1; i < count; i++)
        if (strcmp(texts[i], "--help") == 0)
            return fputs(help, stdout) < 0;
    if (!read_options(&options, count, texts))
        return 2;

    struct run_part *parts = share(options.job_count * sizeof parts[0]);
    if (parts == NULL) {
        perror(PROGRAM ": no memory to share");
        return 2;
    }

    printf(PROGRAM " --engine %s --seed %" PRIu64 "\n", options.engine->name,
           options.seed);
    fflush(stdout);
    double begin = run_clock();
    struct run_part *failed = run(&options, parts, &verdict);
    if (failed != NULL) {
        report(&options, failed, verdict);
        return 1;
    }
    write_summary(&options, parts, run_clock() - begin);
    return 0;
}
