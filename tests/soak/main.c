/*
 * main.c - the soak test: services of all kinds under mixed load from several
 * threads, for minutes or hours, while the program is paused, clocks are
 * stepped, and services are stopped, closed and opened anew.
 *
 *     soak [--minutes N | --seconds N] [--seed S] [--threads N] [--no-pauses]
 *
 * Time goes in rounds.  In a round the threads of load.c do as they like; then
 * they rest, and every timer's account is settled, exactly: see settle.c.  What
 * must hold at any time is looked at by the callbacks: see probe.c.
 *
 * The seed decides what is done, not in which order threads get to do it: a run
 * cannot be had again.
 */
#define _GNU_SOURCE

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "load.h"
#include "pauses.h"

#include "../support/figures.h"

enum {
    THREADS_MAX = 64,
    ROOM = 8192,       /* timers of a service in a round */
    GROWTH_MAX = 4096, /* KiB */
};

struct options {
    uint64_t seconds;
    uint64_t seed;
    unsigned threads;
    bool has_pauses;
};

static struct run {
    struct options options;
    struct random random;
    struct field field;
    struct scene scenes[KIND_COUNT];
    struct loader loaders[THREADS_MAX];
    struct station stations[THREADS_MAX + 1];
    char names[THREADS_MAX][24];
    struct station *own;
    uint64_t begin_ns;
    uint64_t rounds;
    uint64_t minutes;      /* told of */
    uint64_t memory_early; /* KiB, after a tenth of the time; 0: not yet */
} run;

/* Memory that is resident, in KiB. */
static uint64_t memory_now(void)
{
    unsigned long pages = 0;
#ifdef __GLIBC__
    malloc_trim(0); /* what malloc keeps for later is not meant */
#endif
    FILE *file = fopen("/proc/self/statm", "r");
    DEMAND(file != NULL, "there is no /proc/self/statm");
    int count = fscanf(file, "%*u %lu", &pages); /* NOLINT(cert-err34-c) */
    fclose(file);
    DEMAND(count == 1, "/proc/self/statm cannot be read");
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static uint64_t elapsed_ns(void)
{
    return monotonic_ns() - run.begin_ns;
}

static uint64_t pending_now(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < KIND_COUNT; i++)
        if (run.scenes[i].service != NULL)
            sum += tkw_service_count(run.scenes[i].service);
    return sum;
}

static void print_minute(void)
{
    uint64_t minutes = elapsed_ns() / (60 * TKW_SECOND);
    if (minutes == run.minutes)
        return;
    run.minutes = minutes;
    printf("%" PRIu64 " min: %" PRIu64 " rounds, %" PRIuFAST64
           " operations, %" PRIuFAST64 " callbacks, %" PRIu64
           " pauses, %" PRIuFAST64 " steps, %" PRIu64 " pending, %" PRIu64
           " KiB\n",
           minutes, run.rounds, atomic_load(&tally.operations),
           atomic_load(&tally.callbacks), pauses_count(),
           atomic_load(&tally.steps), pending_now(), memory_now());
    fflush(stdout);
}

/* For the watchdog: callbacks that do not return. */
static void print_running(void)
{
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        struct scene *scene = &run.scenes[i];
        for (uint32_t j = 0; j < scene->room; j++) {
            struct probe *probe = &scene->probes[j];
            const char *where = atomic_load(&probe->where);
            if (atomic_load(&probe->is_running))
                fprintf(stderr,
                        "soak: %s: the callback of timer %" PRIu32 " is %s\n",
                        kind_name(scene->kind), j,
                        where != NULL ? where : "running");
        }
    }
}

/* Let the threads do as they like, and step the clocks meanwhile. */
static void work_a_round(void)
{
    uint64_t end = monotonic_ns() +
                   (50 + random_below(&run.random, 800)) * TKW_MILLISECOND;
    while (monotonic_ns() < end) {
        station_at(run.own, "letting others work");
        sleep_ns(random_below(&run.random, 60) * TKW_MILLISECOND);
        struct scene *scene =
            &run.scenes[random_percent(&run.random, 50) ? KIND_STEPPED
                                                        : KIND_WALL];
        stepped_step(&scene->stepped, random_next(&run.random));
        tally_add(&tally.steps, 1);
    }
}

static void rest_all(bool is_to_close)
{
    static const char *const where[KIND_COUNT] = {
        "letting the driver's service rest",
        "letting the workers' service rest",
        "letting the crew's service rest",
        "letting the loop's service rest",
        "letting the service on the stepped clock rest",
        "letting the service on the wall clock rest",
        "letting the limited service rest",
    };
    for (unsigned i = 0; i < KIND_COUNT; i++) {
        station_at(run.own, where[i]);
        scene_rest(&run.scenes[i], is_to_close);
    }
}

static void wait_at_gate(const char *where)
{
    station_at(run.own, where);
    atomic_store(&run.own->is_waiting, true);
    pthread_barrier_wait(&run.field.gate);
    atomic_store(&run.own->is_waiting, false);
}

/* Returns whether it was the last. */
static bool do_a_round(void)
{
    station_at(run.own, "opening");
    for (unsigned i = 0; i < KIND_COUNT; i++)
        if (run.scenes[i].service == NULL)
            scene_open(&run.scenes[i]);
    atomic_store(&run.field.is_resting, false);
    wait_at_gate("starting a round");
    work_a_round();
    print_minute();
    atomic_store(&run.field.is_resting, true);
    wait_at_gate("ending a round");

    uint64_t limit = run.options.seconds * TKW_SECOND;
    bool is_last = elapsed_ns() >= limit;
    bool is_to_measure = run.memory_early == 0 && elapsed_ns() >= limit / 10;
    rest_all(is_last || is_to_measure);
    run.rounds++;
    if (is_to_measure)
        run.memory_early = memory_now();
    return is_last;
}

static void start(void)
{
    struct options *options = &run.options;
    run.random.state = options->seed;
    if (options->has_pauses)
        pauses_start(random_next(&run.random));
    run.begin_ns = monotonic_ns();
    run.field.scenes = run.scenes;
    run.field.scene_count = KIND_COUNT;
    pthread_barrier_init(&run.field.gate, NULL, options->threads + 1);
    for (unsigned i = 0; i < KIND_COUNT; i++)
        scene_init(&run.scenes[i], (enum kind)i, ROOM,
                   random_next(&run.random));
    run.own = &run.stations[options->threads];
    run.own->name = "main";
    station_at(run.own, "starting");
    for (unsigned i = 0; i < options->threads; i++) {
        snprintf(run.names[i], sizeof run.names[i], "thread %u", i + 1);
        run.stations[i].name = run.names[i];
        station_at(&run.stations[i], "starting");
    }
    watch_start(run.stations, options->threads + 1, options->seed,
                print_running);
    for (unsigned i = 0; i < options->threads; i++)
        loader_start(&run.loaders[i], &run.field, &run.stations[i],
                     random_next(&run.random));
}

static void finish(void)
{
    atomic_store(&run.field.is_over, true);
    wait_at_gate("the end");
    for (unsigned i = 0; i < run.options.threads; i++)
        loader_join(&run.loaders[i]);
    watch_stop();
    pauses_stop();
}

static void print_line(const char *name, uint64_t value)
{
    printf("%-28s %14" PRIu64 "\n", name, value);
}

static void print_table(uint64_t memory_late)
{
    print_line("seconds", elapsed_ns() / TKW_SECOND);
    print_line("rounds", run.rounds);
    print_line("services opened, closed", atomic_load(&tally.openings));
    print_line("  stopped while in use", atomic_load(&tally.stops));
    print_line("operations", atomic_load(&tally.operations));
    print_line("timers armed", atomic_load(&tally.armed));
    print_line("  refused: limit", atomic_load(&tally.refused_limit));
    print_line("  refused: no memory", atomic_load(&tally.refused_memory));
    print_line("  refused: stopped", atomic_load(&tally.refused_stopped));
    print_line("callbacks", atomic_load(&tally.callbacks));
    print_line("  inside of another", atomic_load(&tally.nested));
    print_line("  slow", atomic_load(&tally.slow));
    print_line("moved", atomic_load(&tally.moved));
    print_line("cancelled", atomic_load(&tally.cancelled));
    print_line("  by owner", atomic_load(&tally.by_owner));
    print_line("  while running", atomic_load(&tally.caught_running));
    print_line("handed back", atomic_load(&tally.handed_back));
    print_line("dropped", atomic_load(&tally.dropped));
    print_line("jobs refused", atomic_load(&tally.jobs_refused));
    print_line("  returned", atomic_load(&tally.jobs_returned));
    print_line("steps of the clocks", atomic_load(&tally.steps));
    print_line("  steps back logged", atomic_load(&tally.logged));
    print_line("pauses", pauses_count());
    print_line("  ms altogether", pauses_ns() / TKW_MILLISECOND);
    print_line("latest, us", atomic_load(&tally.late_max_ns) / TKW_MICROSECOND);
    print_line("memory after a tenth, KiB", run.memory_early);
    print_line("  at the end", memory_late);
}

static void write_figures(uint64_t memory_late)
{
    figures_begin("soak");
    figures_count("seconds", elapsed_ns() / TKW_SECOND);
    figures_count("threads", run.options.threads);
    figures_count("operations", atomic_load(&tally.operations));
    figures_count("timers armed", atomic_load(&tally.armed));
    figures_count("callbacks", atomic_load(&tally.callbacks));
    figures_count("timers cancelled", atomic_load(&tally.cancelled));
    figures_count("timers handed back", atomic_load(&tally.handed_back));
    figures_count("services opened and closed", atomic_load(&tally.openings));
    figures_count("clock steps", atomic_load(&tally.steps));
    figures_count("pauses", pauses_count());
    figures_count("ms in pauses", pauses_ns() / TKW_MILLISECOND);
    figures_count("us late at most",
                  atomic_load(&tally.late_max_ns) / TKW_MICROSECOND);
    figures_count("KiB resident after a tenth", run.memory_early);
    figures_count("KiB resident at the end", memory_late);
    figures_seed(run.options.seed);
    figures_end();
}

static int usage(void)
{
    fprintf(stderr, "usage: soak [--minutes N | --seconds N] [--seed S] "
                    "[--threads N] [--no-pauses]\n");
    return 2;
}

static bool parse(int argc, char **argv)
{
    struct options *options = &run.options;
    *options = (struct options){
        .seconds = 30 * 60,
        .seed = monotonic_ns() ^ (uint64_t)time(NULL) << 32,
        .threads = 4,
        .has_pauses = true,
    };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-pauses") == 0) {
            options->has_pauses = false;
            continue;
        }
        if (i + 1 == argc)
            return false;
        char *end;
        uint64_t value = strtoull(argv[i + 1], &end, 10);
        if (*end != '\0' || end == argv[i + 1])
            return false;
        if (strcmp(argv[i], "--minutes") == 0)
            options->seconds = value * 60;
        else if (strcmp(argv[i], "--seconds") == 0)
            options->seconds = value;
        else if (strcmp(argv[i], "--seed") == 0)
            options->seed = value;
        else if (strcmp(argv[i], "--threads") == 0)
            options->threads = (unsigned)value;
        else
            return false;
        i++;
    }
    return options->threads >= 1 && options->threads <= THREADS_MAX;
}

int main(int argc, char **argv)
{
    if (!parse(argc, argv))
        return usage();
    printf("soak: %" PRIu64 " s, %u threads, seed %" PRIu64
           " (it does not replay the threads' turns)\n",
           run.options.seconds, run.options.threads, run.options.seed);
    fflush(stdout);
#ifdef __GLIBC__
    /* So that what is freed is seen to be: large blocks go back at once. */
    mallopt(M_MMAP_THRESHOLD, 1 << 16);
    mallopt(M_ARENA_MAX, 2);
#endif
    start();
    while (!do_a_round())
        continue;
    finish();

    uint64_t memory_late = memory_now();
    print_table(memory_late);
    DEMAND(SOAK_IS_SANITIZED || memory_late <= run.memory_early + GROWTH_MAX,
           "memory has grown from %" PRIu64 " to %" PRIu64 " KiB",
           run.memory_early, memory_late);
    for (unsigned i = 0; i < KIND_COUNT; i++)
        scene_done(&run.scenes[i]);
    write_figures(memory_late);
    return 0;
}
