/*
 * service.c - the benchmark of the service: real time, real threads.
 *
 * Each measurement runs in a process of its own, one after the other, then all
 * of them again.  Nothing is measured while another measurement runs.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tickwheel/service.h>
#include <time.h>
#include <unistd.h>

enum { VALUES_MAX = 8, REPEATS_MAX = 32, THREADS = 2 };

struct plan {
    size_t pairs;
    size_t timers;
    uint64_t late_ns;
    uint64_t idle_ns;
    unsigned repeats;
    const char *only;
};

static void fail(const char *what)
{
    fprintf(stderr, "bench-service: %s failed\n", what);
    _exit(1);
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * TKW_SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static void sleep_ns(uint64_t ns)
{
    struct timespec span = {(time_t)(ns / TKW_SECOND), (long)(ns % TKW_SECOND)};
    nanosleep(&span, NULL);
}

static struct tkw_service *open_service(uint64_t tick_ns, uint32_t shards)
{
    struct tkw_service *service;
    struct tkw_service_config config = {.tick_ns = tick_ns, .shards = shards};
    if (tkw_service_open(&service, &config) != 0)
        fail("open");
    return service;
}

static void do_nothing(void *argument, const struct tkw_firing *firing)
{
    (void)argument;
    (void)firing;
}

static tkw_handle arm(struct tkw_service *service, uint64_t delay_ns)
{
    tkw_handle handle;
    struct tkw_task task = {do_nothing, NULL, NULL};
    if (tkw_service_arm(service, &handle, delay_ns, task) != 0)
        fail("arm");
    return handle;
}

/* Arm for 30 s and cancel, over and over: million pairs a second. */

struct pairs {
    struct tkw_service *service;
    size_t count;
};

static void *make_pairs(void *argument)
{
    const struct pairs *pairs = argument;
    for (size_t i = 0; i < pairs->count; i++) {
        tkw_handle handle = arm(pairs->service, 30 * TKW_SECOND);
        if (tkw_service_cancel(pairs->service, handle) != 1)
            fail("cancel");
    }
    return NULL;
}

static double pairs_by(unsigned threads, uint32_t shards, size_t count)
{
    struct pairs pairs = {open_service(0, shards), count};
    pthread_t started[THREADS];
    make_pairs(&(struct pairs){pairs.service, count / 10}); /* warm */
    uint64_t began = now_ns();
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&started[i], NULL, make_pairs, &pairs) != 0)
            fail("a thread");
    for (unsigned i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
    uint64_t took = now_ns() - began;
    tkw_service_close(pairs.service, NULL, NULL);
    return (double)(threads * count) * 1e3 / (double)took;
}

static void measure_pairs(const struct plan *plan, double *values)
{
    values[0] = pairs_by(1, 2, plan->pairs);
    values[1] = pairs_by(2, 2, plan->pairs);
    values[2] = pairs_by(2, 1, plan->pairs);
}

/* One call at a time with many pending, in ns; and their memory. */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double resident_bytes(void)
{
    unsigned long size = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu %lu", &size, &resident) != 2)
        fail("/proc/self/statm");
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void shuffle(tkw_handle *handles, size_t n, uint64_t *dice)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)(next_random(dice) % i);
        tkw_handle swapped = handles[i - 1];
        handles[i - 1] = handles[j];
        handles[j] = swapped;
    }
}

/* Far enough away that none fires meanwhile. */
static uint64_t far_delay(uint64_t *dice)
{
    return 300 * TKW_SECOND + next_random(dice) % (60 * TKW_SECOND);
}

static void measure_calls(const struct plan *plan, double *values)
{
    size_t n = plan->timers;
    uint64_t dice = 88172645463325252;
    tkw_handle *handles = malloc(n * sizeof *handles);
    if (handles == NULL)
        fail("memory");
    memset(handles, 0, n * sizeof *handles);
    struct tkw_service *service = open_service(0, 0);

    double bytes = resident_bytes();
    uint64_t times[5] = {now_ns()};
    for (size_t i = 0; i < n; i++)
        handles[i] = arm(service, far_delay(&dice));
    times[1] = now_ns();
    values[4] = (resident_bytes() - bytes) / (double)n;
    shuffle(handles, n, &dice);

    uint64_t paused = now_ns() - times[1];
    for (size_t i = 0; i < n; i++)
        tkw_service_postpone(service, handles[i], 400 * TKW_SECOND);
    times[2] = now_ns() - paused;
    for (size_t i = 0; i < n; i++)
        tkw_service_rearm(service, handles[i], far_delay(&dice));
    times[3] = now_ns() - paused;
    for (size_t i = 0; i < n; i++)
        if (tkw_service_cancel(service, handles[i]) != 1)
            fail("cancel");
    times[4] = now_ns() - paused;
    for (unsigned i = 0; i < 4; i++)
        values[i] = (double)(times[i + 1] - times[i]) / (double)n;
    tkw_service_close(service, NULL, NULL);
}

/* A million timers over five seconds: how late they are, what they cost. */

struct late {
    uint64_t *lateness; /* of the timer that ran n-th */
    size_t count;
    uint64_t early_count;
};

static void note_lateness(void *argument, const struct tkw_firing *firing)
{
    struct late *late = argument;
    uint64_t now = now_ns();
    if (now < firing->due_ns)
        late->early_count++;
    late->lateness[late->count++] = now - firing->due_ns;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void measure_late(const struct plan *plan, double *values,
                         uint64_t tick_ns)
{
    size_t n = plan->timers;
    uint64_t dice = 88172645463325252;
    struct late late = {.lateness = malloc(n * sizeof *late.lateness)};
    if (late.lateness == NULL)
        fail("memory");
    memset(late.lateness, 0, n * sizeof *late.lateness);
    struct tkw_service *service = open_service(tick_ns, 0);

    /* Arming a million takes a while: the first is due after that. */
    uint64_t start = now_ns() + TKW_SECOND;
    for (size_t i = 0; i < n; i++) {
        struct tkw_task task = {note_lateness, &late, NULL};
        uint64_t due = start + next_random(&dice) % plan->late_ns;
        if (tkw_service_arm_at(service, NULL, due, task) != 0)
            fail("arm");
    }
    if (now_ns() > start)
        fail("arming in time");
    uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    while (tkw_service_count(service) > 0)
        sleep_ns(50 * TKW_MILLISECOND);
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    tkw_service_close(service, NULL, NULL);
    if (late.count != n || late.early_count > 0)
        fail("never early, all of them");

    qsort(late.lateness, n, sizeof *late.lateness, compare);
    const double shares[] = {0, 0.5, 0.99, 0.999};
    for (unsigned i = 0; i < 4; i++)
        values[i] =
            (double)late.lateness[(size_t)((double)n * shares[i])] / 1e3;
    values[4] = (double)late.lateness[n - 1] / 1e3;
    values[5] = (double)cpu / (double)n;
    free(late.lateness);
}

static void measure_late_ms(const struct plan *plan, double *values)
{
    measure_late(plan, values, TKW_MILLISECOND);
}

static void measure_late_100us(const struct plan *plan, double *values)
{
    measure_late(plan, values, 100 * TKW_MICROSECOND);
}

/* Waiting: per mille of a core, with one and with many timers pending. */

static double idle_share(size_t n, uint64_t for_ns)
{
    uint64_t dice = 88172645463325252;
    struct tkw_service *service = open_service(0, 0);
    for (size_t i = 0; i < n; i++)
        arm(service, far_delay(&dice));
    sleep_ns(100 * TKW_MILLISECOND);
    uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t began = now_ns();
    sleep_ns(for_ns);
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    double share = (double)cpu / (double)(now_ns() - began);
    tkw_service_close(service, NULL, NULL);
    return share * 100;
}

static void measure_idle(const struct plan *plan, double *values)
{
    values[0] = idle_share(1, plan->idle_ns);
    values[1] = idle_share(plan->timers, plan->idle_ns);
}

struct measurement {
    const char *name;
    void (*run)(const struct plan *plan, double *values);
    const char *values[VALUES_MAX]; /* what each is, with its unit */
};

static const struct measurement measurements[] = {
    {"pairs",
     measure_pairs,
     {"1 thread, M/s", "2 threads, a shard each, M/s",
      "2 threads, one shard, M/s"}},
    {"calls",
     measure_calls,
     {"arm, ns", "postpone, ns", "rearm, ns", "cancel, ns", "bytes per timer"}},
    {"late",
     measure_late_ms,
     {"tick 1 ms: least, us", "p50, us", "p99, us", "p99.9, us", "most, us",
      "CPU per timer, ns"}},
    {"late100",
     measure_late_100us,
     {"tick 100 us: least, us", "p50, us", "p99, us", "p99.9, us", "most, us",
      "CPU per timer, ns"}},
    {"idle",
     measure_idle,
     {"1 pending, % of a core", "many pending, % of a core"}},
};

enum { MEASUREMENTS = sizeof measurements / sizeof measurements[0] };

static double samples[MEASUREMENTS][VALUES_MAX][REPEATS_MAX];

static void measure_in_child(const struct plan *plan, unsigned which,
                             double *values)
{
    int ends[2];
    if (pipe(ends) != 0)
        fail("a pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        measurements[which].run(plan, values);
        size_t bytes = VALUES_MAX * sizeof *values;
        _exit(write(ends[1], values, bytes) == (ssize_t)bytes ? 0 : 1);
    }
    close(ends[1]);
    size_t bytes = VALUES_MAX * sizeof *values;
    if (read(ends[0], values, bytes) != (ssize_t)bytes)
        fail(measurements[which].name);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const struct plan *plan)
{
    printf("%-9s %-30s %10s %10s %10s\n", "", "", "median", "least", "most");
    for (unsigned i = 0; i < MEASUREMENTS; i++) {
        const struct measurement *m = &measurements[i];
        if (plan->only != NULL && strcmp(plan->only, m->name) != 0)
            continue;
        for (unsigned k = 0; k < VALUES_MAX && m->values[k] != NULL; k++) {
            double *sorted = samples[i][k];
            qsort(sorted, plan->repeats, sizeof *sorted, compare_doubles);
            printf("%-9s %-30s %10.4g %10.4g %10.4g\n", m->name, m->values[k],
                   sorted[plan->repeats / 2], sorted[0],
                   sorted[plan->repeats - 1]);
        }
    }
}

static const char usage_text[] =
    "usage: ./run bench-service [OPTION...]\n"
    "\n"
    "Measures the service in real time: pairs of arm and cancel from one and\n"
    "two threads, single calls with a million timers pending, how late a\n"
    "million timers over five seconds are and what they cost, and what "
    "waiting\n"
    "costs.  Three repeats take about two minutes.\n"
    "\n"
    "    --quick        a tenth of everything\n"
    "    --only NAME    pairs, calls, late, late100 or idle\n"
    "    --repeats N    1 to 32; default 3\n";

static bool is_known(const char *name)
{
    for (unsigned i = 0; i < MEASUREMENTS; i++)
        if (strcmp(measurements[i].name, name) == 0)
            return true;
    fprintf(stderr, "bench-service: no measurement '%s'; see --help\n", name);
    return false;
}

static bool take_option(struct plan *plan, int option)
{
    char *end;
    switch (option) {
    case 'q':
        plan->pairs /= 10;
        plan->timers /= 10;
        plan->late_ns /= 10;
        plan->idle_ns /= 10;
        return true;
    case 'o':
        plan->only = optarg;
        return is_known(optarg);
    case 'r':
        plan->repeats = (unsigned)strtoul(optarg, &end, 10);
        if (*end == '\0' && plan->repeats >= 1 && plan->repeats <= REPEATS_MAX)
            return true;
        fprintf(stderr, "bench-service: --repeats wants 1 to %d, not '%s'\n",
                REPEATS_MAX, optarg);
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
    struct plan plan = {.pairs = 10000000,
                        .timers = 1000000,
                        .late_ns = 5 * TKW_SECOND,
                        .idle_ns = 5 * TKW_SECOND,
                        .repeats = 3};
    for (int option;
         (option = getopt_long(count, texts, "h", known, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage_text, stdout);
            return 0;
        }
        if (!take_option(&plan, option))
            return 2;
    }
    if (optind < count) {
        fprintf(stderr, "bench-service: what is '%s'? see --help\n",
                texts[optind]);
        return 2;
    }

    for (unsigned r = 0; r < plan.repeats; r++) {
        for (unsigned i = 0; i < MEASUREMENTS; i++) {
            if (plan.only != NULL &&
                strcmp(plan.only, measurements[i].name) != 0)
                continue;
            double values[VALUES_MAX] = {0};
            measure_in_child(&plan, i, values);
            for (unsigned k = 0; k < VALUES_MAX; k++)
                samples[i][k][r] = values[k];
        }
        fprintf(stderr, "bench-service: repeat %u of %u done\n", r + 1,
                plan.repeats);
    }
    report(&plan);
    return 0;
}
