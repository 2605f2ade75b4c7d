/*
 * field.c - the adapter of all peers in C: README.md has its questions and
 * answers.
 */
#define _GNU_SOURCE

#include "field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tickwheel/version.h>
#include <time.h>

#include "core/measure.h"

extern const struct field_peer peer_service;
extern const struct field_peer peer_monitor;
extern const struct field_peer peer_nothing;
extern const struct field_peer peer_libuv;
extern const struct field_peer peer_libevent;
extern const struct field_peer peer_libevent_common;
extern const struct field_peer peer_libev;
extern const struct field_peer peer_glib;
extern const struct field_peer peer_timerfd;
extern const struct field_peer peer_timeout;

static const char *no_version(void)
{
    return "";
}

#define NO_CLOCK "has no thread and no clock of its own"

static const struct field_peer peer_wheel = {
    .name = "wheel",
    .title = "tickwheel wheel",
    .settings = "intrusive, default geometry, timers in an array",
    .version = tkw_version,
    .structure = &bench_wheel,
    .why_not_real = NO_CLOCK,
};

static const struct field_peer peer_pool = {
    .name = "pool",
    .title = "tickwheel pool",
    .settings =
        "default geometry, handles in an array, its memory reserved and "
        "touched beforehand",
    .version = tkw_version,
    .structure = &bench_pool_cold,
    .why_not_real = NO_CLOCK,
};

static const struct field_peer peer_heap = {
    .name = "heap",
    .title = "4-ary heap",
    .settings = "of this benchmark, (deadline, timer) pairs with back-indices",
    .version = no_version,
    .structure = &bench_heap,
    .why_not_real = NO_CLOCK,
};

/* It touches memory, and is no timer facility: see run_workload(). */
static const struct field_peer peer_floor = {
    .name = "floor",
    .title = "one random access to memory",
    .settings = "32 bytes of N times as many, the address known beforehand",
    .version = no_version,
    .why_not_virtual = "no timers",
    .why_not_real = "no timers",
};

static const struct field_peer *const peers[] = {
    &peer_wheel,    &peer_pool,
    &peer_service,  &peer_monitor,
    &peer_heap,
#ifdef HAS_TIMEOUT
    &peer_timeout,
#endif
#ifdef HAS_LIBEV
    &peer_libev,
#endif
#ifdef HAS_LIBEVENT
    &peer_libevent, &peer_libevent_common,
#endif
#ifdef HAS_LIBUV
    &peer_libuv,
#endif
#ifdef HAS_GLIB
    &peer_glib,
#endif
    &peer_timerfd,  &peer_floor,
    &peer_nothing,
};

enum { PEERS = sizeof peers / sizeof peers[0] };

/* What was not built, and why. */
static const struct {
    const char *name;
    const char *why;
} missing[] = {
#ifndef HAS_TIMEOUT
    {"wahern/timeout", "its source is not there: see ./bench --setup"},
#endif
#ifndef HAS_LIBEV
    {"libev", "libev-dev is not installed"},
#endif
#ifndef HAS_LIBEVENT
    {"libevent", "libevent-dev is not installed"},
#endif
#ifndef HAS_LIBUV
    {"libuv", "libuv1-dev is not installed"},
#endif
#ifndef HAS_GLIB
    {"GLib", "libglib2.0-dev is not installed"},
#endif
    {NULL, NULL},
};

static const char *const workloads[WORKLOADS] = {
    [ARM] = "arm",
    [CANCEL] = "cancel",
    [CANCEL_DROP] = "cancel+drop",
    [REARM] = "rearm",
    [TOUCH] = "touch",
    [FIRE_STEPS] = "fire-steps",
    [FIRE_JUMPS] = "fire-jumps",
    [WORST_STEP] = "worst-step",
    [EMPTY] = "empty",
    [BYTES] = "bytes",
    [D1] = "d1",
    [D2] = "d2",
    [D3] = "d3",
};

static const char *const real_names[REAL_WORKLOADS] = {
    [REAL_CALLS] = "real-calls",     [REAL_PAIRS_1] = "real-pairs-1",
    [REAL_PAIRS_2] = "real-pairs-2", [REAL_LATE] = "real-late",
    [REAL_IDLE] = "real-idle",       [REAL_D1] = "real-d1",
    [REAL_D2] = "real-d2",           [REAL_D3] = "real-d3",
};

static const char floor_name[] = "touch-memory";

static void print_list(const struct field_peer *peer, bool is_able)
{
    const char *comma = "";
    for (unsigned i = 0; i < WORKLOADS + REAL_WORKLOADS; i++) {
        bool is_real = i >= WORKLOADS;
        unsigned k = is_real ? i - WORKLOADS : i;
        const char *name = is_real ? real_names[k] : workloads[k];
        const char *reason =
            is_real ? peer->why_not_real : peer->why_not_virtual;
        bool can = is_real ? peer->real != NULL && peer->real[k] != NULL
                           : peer->structure != NULL &&
                                 peer->structure->run[k] != NULL;
        if (name == NULL || can != is_able)
            continue;
        printf(is_able ? "%s\"%s\"" : "%s\"%s\": ", comma, name);
        if (!is_able)
            printf("\"%s\"", reason != NULL ? reason : "no way to do it");
        comma = ", ";
    }
    if (is_able && peer == &peer_floor)
        printf("\"%s\"", floor_name);
}

static void describe(void)
{
    printf("{\"language\": \"C\", \"toolchain\": \"%s\", \"flags\": "
           "\"%s\",\n \"peers\": [",
           bench_compiler(), BENCH_FLAGS);
    for (unsigned i = 0; i < PEERS; i++) {
        const struct field_peer *peer = peers[i];
        printf("%s\n  {\"name\": \"%s\", \"title\": \"%s\", \"version\": "
               "\"%s\", \"settings\": \"%s\",\n   \"can\": [",
               i == 0 ? "" : ",", peer->name, peer->title, peer->version(),
               peer->settings);
        print_list(peer, true);
        printf("],\n   \"cannot\": {");
        print_list(peer, false);
        printf("}}");
    }
    printf("],\n \"missing\": [");
    for (unsigned i = 0; missing[i].name != NULL; i++)
        printf("%s{\"name\": \"%s\", \"why\": \"%s\"}", i == 0 ? "" : ", ",
               missing[i].name, missing[i].why);
    printf("]}\n");
}

static void throw_dice(const struct bench_load *load)
{
    enum { SHOWN = 8 };
    uint64_t dice = load->seed;
    uint64_t sum = 0;
    printf("delays");
    for (size_t i = 0; i < load->n; i++) {
        uint64_t delay = bench_delay(&dice, load->spread);
        sum += (i + 1) * (delay + load->order[i]);
        if (i < SHOWN)
            printf(" %" PRIu64, delay);
    }
    printf("\norder");
    for (size_t i = 0; i < load->n && i < SHOWN; i++)
        printf(" %" PRIu32, load->order[i]);
    printf("\nsum %" PRIu64 "\n", sum);
}

/* Operations of one round, steps of time among them. */
static size_t ops_of(enum workload workload, const struct bench_load *load)
{
    const size_t often = 20 * load->n;
    switch (workload) {
    case REARM:
    case EMPTY:
        return often;
    case TOUCH:
        return often + 200000;
    case FIRE_STEPS:
        return load->n +
               (load->spread == UNIFORM ? UNIFORM_MS : LOG_UNIFORM_MS);
    case WORST_STEP:
    case BYTES:
    case D1:
    case D2:
    case D2_WORST:
    case D3:
        return SIZE_MAX; /* once */
    default:
        return load->n;
    }
}

/* The mean of as many rounds as make a million operations. */
static void print_mean(const char *name,
                       double (*run)(const struct bench_load *load),
                       const struct bench_load *load, size_t ops)
{
    const size_t enough = 1000000;
    size_t rounds = ops < enough ? (enough + ops - 1) / ops : 1;
    double sum = 0;
    for (size_t i = 0; i < rounds; i++) {
        double result = run(load);
        if (result < 0)
            field_fail("timers fired that should not, or did not");
        sum += result;
    }
    field_print(name, sum / (double)rounds);
}

static void run_structure(const struct bench_structure *structure,
                          enum workload workload, const struct bench_load *load)
{
    print_mean(workload == BYTES ? "bytes" : "ns", structure->run[workload],
               load, ops_of(workload, load));
    if (workload == D2)
        print_mean("worst_ns", structure->run[D2_WORST], load,
                   ops_of(D2_WORST, load));
}

/* Returns false if the peer cannot. */
static bool run_workload(const struct field_peer *peer, const char *name,
                         const struct bench_load *load)
{
    if (peer == &peer_floor && strcmp(name, floor_name) == 0) {
        print_mean("ns", floor_independent, load, load->n);
        return true;
    }
    for (unsigned i = 0; i < WORKLOADS; i++) {
        if (workloads[i] != NULL && strcmp(workloads[i], name) == 0 &&
            peer->structure != NULL && peer->structure->run[i] != NULL) {
            run_structure(peer->structure, (enum workload)i, load);
            return true;
        }
    }
    for (unsigned i = 0; i < REAL_WORKLOADS; i++) {
        if (strcmp(real_names[i], name) == 0 && peer->real != NULL &&
            peer->real[i] != NULL) {
            peer->real[i](load);
            return true;
        }
    }
    return false;
}

static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 &&
           *number >= 1 && *number <= most;
}

/* The last three of the command line. */
static bool read_load(char **texts, struct bench_load *load)
{
    uint64_t n;
    if (!read_number(texts[0], UINT32_MAX - 1, &n) ||
        !read_number(texts[2], UINT64_MAX, &load->seed))
        return false;
    load->n = (size_t)n;
    bool is_uniform = strcmp(texts[1], "uniform") == 0;
    load->spread = is_uniform ? UNIFORM : LOG_UNIFORM;
    return is_uniform || strcmp(texts[1], "log-uniform") == 0;
}

static int run_peer(const char *name, const char *workload,
                    const struct bench_load *load)
{
    for (unsigned i = 0; i < PEERS; i++) {
        if (strcmp(peers[i]->name, name) != 0)
            continue;
        if (run_workload(peers[i], workload, load))
            return 0;
        fprintf(stderr, "bench_field: %s cannot do '%s'\n", name, workload);
        return 1;
    }
    fprintf(stderr, "bench_field: there is no peer '%s'\n", name);
    return 1;
}

int main(int count, char **texts)
{
    struct bench_load load = {0};
    bool is_asked = count == 5 && strcmp(texts[1], "dice") == 0;
    bool is_run = count == 7 && strcmp(texts[1], "run") == 0;
    if (count == 2 && strcmp(texts[1], "describe") == 0) {
        describe();
    } else if ((is_asked || is_run) && read_load(texts + count - 3, &load)) {
        uint32_t *order = bench_order(load.n, load.seed);
        load.order = order;
        int status = 0;
        if (is_asked)
            throw_dice(&load);
        else
            status = run_peer(texts[2], texts[3], &load);
        free(order);
        if (status != 0)
            return status;
    } else {
        fprintf(stderr, "usage: bench_field describe\n"
                        "       bench_field dice N DELAYS SEED\n"
                        "       bench_field run PEER WORKLOAD N DELAYS SEED\n"
                        "Measures one peer once; ./bench asks it.  DELAYS is "
                        "uniform or log-uniform.\n");
        return 2;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
