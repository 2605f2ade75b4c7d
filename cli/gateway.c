/*
 * gateway.c - connections that are heard from now and then, and a tracker that
 * finds those that are not, in real time.
 *
 * Every millisecond the thread collects the packets that have come, then gives
 * them to the tracker and asks it for the silent ones.  Only these calls are
 * between two readings of the thread's processor time, less what a reading
 * costs: that is what the tracker takes.  Making up the packets, and judging
 * what was found, are not in it; but they push the tracker's memory out of the
 * caches as a real gateway would.
 */
#define _POSIX_C_SOURCE 200809L

#include "gateway.h"

#include "live.h"
#include "stopwatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The gateway's clock shows this at the start, so that there is a past. */
#define START_NS (1000000 * TKW_SECOND)

enum { BATCH = 64 };

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double cpu_clock_cost(void)
{
    enum { TIMES = 1000 };
    double began = cpu_ns(), now = began;
    for (int i = 0; i < TIMES; i++)
        now = cpu_ns();
    return (now - began) / TIMES;
}

/* A random number below `below`, by splitmix64. */
static uint64_t pick(struct gateway *g, uint64_t below)
{
    uint64_t z = g->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

/* From one packet to the next. */
static uint64_t pick_interval(struct gateway *g)
{
    return g->limit_ns / 3 * 2 + pick(g, g->limit_ns / 6);
}

static void expect_packet(struct gateway *g, struct gateway_connection *c,
                          uint64_t time_ns)
{
    tkw_wheel_arm(g->outside, &c->packet, time_ns / TKW_MILLISECOND + 1);
}

static uint64_t last_of(struct gateway_connection *c)
{
    return atomic_load_explicit(&c->last_ns, memory_order_relaxed);
}

/* The picture is drawn by another thread, which may be a moment behind. */
static void set_last(struct gateway_connection *c, uint64_t time_ns)
{
    atomic_store_explicit(&c->last_ns, time_ns, memory_order_relaxed);
}

/*
 * One that has been there for long: heard from some time ago, and before that,
 * when its timer was filed: timers come round at any time, as they would.
 */
static int settle(struct gateway *g, uint64_t index, bool is_silent)
{
    struct gateway_connection *c = &g->connections[index];
    uint64_t interval = is_silent ? g->limit_ns : pick_interval(g);
    uint64_t age = pick(g, interval);
    uint64_t filed = age + pick(g, g->limit_ns - age);

    c->id = index;
    set_last(c, START_NS - age);
    if (!is_silent)
        expect_packet(g, c, START_NS - age + interval);
    int answer =
        tkw_idle_touch(g->idle, tkw_key_number(c->id), START_NS - filed);
    tkw_idle_touch(g->idle, tkw_key_number(c->id), START_NS - age);
    return answer;
}

static int settle_all(struct gateway *g)
{
    uint64_t count = g->settings.connections;
    double silent = g->settings.silent_rate * g->settings.limit_s;

    for (uint64_t i = 0; i < count; i++) {
        if (settle(g, i, (double)pick(g, count) < silent) != 1)
            return -ENOMEM;
    }
    return 0;
}

int gateway_open(struct gateway *g, const struct gateway_settings *settings)
{
    *g = (struct gateway){
        .settings = *settings,
        .limit_ns = (uint64_t)(settings->limit_s * 1e9),
        .tick_ns = (uint64_t)(settings->tick_ms * 1e6),
        .now_ns = START_NS,
        .random = settings->seed,
        .cpu_clock_ns = cpu_clock_cost(),
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    struct tkw_idle_config config = {
        .limit_ns = g->limit_ns,
        .tick_ns = g->tick_ns,
        .start_ns = START_NS - g->limit_ns,
    };
    size_t bytes = tkw_wheel_bytes(NULL);
    g->connections = calloc(settings->connections, sizeof *g->connections);
    g->outside = malloc(bytes);
    if (g->connections == NULL || g->outside == NULL ||
        tkw_idle_open(&g->idle, &config) != 0) {
        gateway_close(g);
        return -ENOMEM;
    }
    tkw_wheel_init(g->outside, bytes, NULL, START_NS / TKW_MILLISECOND);
    if (settle_all(g) != 0) {
        gateway_close(g);
        return -ENOMEM;
    }
    return 0;
}

void gateway_close(struct gateway *g)
{
    tkw_idle_close(g->idle);
    free(g->outside);
    free(g->connections);
}

/* What the tracker took, for calls since the clock showed `began`. */
static void charge(struct gateway *g, double began)
{
    g->stats.tracker_ns += cpu_ns() - began - g->cpu_clock_ns;
}

static void welcome(struct gateway *g, struct gateway_connection *c)
{
    c->id += g->settings.connections;
    set_last(c, g->now_ns);
    expect_packet(g, c, g->now_ns + pick_interval(g));
    double began = cpu_ns();
    int answer = tkw_idle_touch(g->idle, tkw_key_number(c->id), g->now_ns);
    charge(g, began);
    /* Without memory the tracker has not added the key.  That is no wrong
     * answer, but the work ends: the gateway expects the key to be held. */
    if (answer == -ENOMEM)
        g->stats.error = answer;
    else if (answer != 1)
        g->stats.wrong++;
}

/* Somebody is said to have been silent for the limit: hang up, and see. */
static void judge(struct gateway *g, const struct tkw_idle_key *silent)
{
    struct gateway_stats *f = &g->stats;
    uint64_t id = silent->key.number;
    struct gateway_connection *c =
        &g->connections[id % g->settings.connections];
    double silence = (double)(g->now_ns - last_of(c));
    double late_ms = (silence - (double)g->limit_ns) / 1e6;

    f->found++;
    if (late_ms < 0)
        f->early++;
    if (id != c->id || silent->last_ns != last_of(c) ||
        tkw_timer_is_armed(&c->packet)) {
        f->wrong++;
        return;
    }
    if (f->found == 1 || late_ms < f->late_min_ms)
        f->late_min_ms = late_ms;
    if (late_ms > f->late_max_ms)
        f->late_max_ms = late_ms;
    memmove(&f->recent[1], &f->recent[0],
            (GATEWAY_RECENT - 1) * sizeof f->recent[0]);
    f->recent[0] = (struct gateway_found){id, silence / 1e9, late_ms};
    welcome(g, c);
}

/* Take up to BATCH connections of which a packet has come. */
static unsigned collect(struct gateway *g, struct gateway_connection **batch)
{
    double packet_rate =
        (double)g->settings.connections * 4 / 3 / g->settings.limit_s;
    double last_share = g->settings.silent_rate / packet_rate;
    unsigned count = 0;

    while (count < BATCH) {
        struct tkw_timer *timer = tkw_wheel_pop(g->outside);
        if (timer == NULL)
            break;
        struct gateway_connection *c = (struct gateway_connection *)timer;
        batch[count++] = c;
        set_last(c, g->now_ns);
        if ((double)pick(g, 1000000) >= last_share * 1e6)
            expect_packet(g, c, g->now_ns + pick_interval(g));
    }
    return count;
}

/* Returns whether all packets that have come are done with. */
static bool take_packets(struct gateway *g)
{
    struct gateway_connection *batch[BATCH];
    unsigned count = collect(g, batch), wrong = 0;

    double began = cpu_ns();
    for (unsigned i = 0; i < count; i++)
        wrong += tkw_idle_touch(g->idle, tkw_key_number(batch[i]->id),
                                g->now_ns) != 0;
    charge(g, began);
    g->stats.packets += count;
    g->stats.wrong += wrong;
    return count < BATCH;
}

static void find_silent(struct gateway *g)
{
    struct tkw_idle_key silent[BATCH];
    do {
        double began = cpu_ns();
        size_t count = tkw_idle_pop_silent(g->idle, silent, BATCH, g->now_ns);
        charge(g, began);
        for (size_t i = 0; i < count; i++)
            judge(g, &silent[i]);
    } while (tkw_idle_next(g->idle) <= g->now_ns);
}

static void *work(void *argument)
{
    struct gateway *g = argument;

    while (!atomic_load(&g->is_over) && g->stats.error == 0) {
        double now = stopwatch_ns() - g->began_ns;
        g->now_ns = START_NS + (uint64_t)now;
        tkw_wheel_advance(g->outside, g->now_ns / TKW_MILLISECOND);
        while (!take_packets(g))
            continue;
        if (tkw_idle_next(g->idle) <= g->now_ns)
            find_silent(g);
        g->stats.idle = tkw_idle_read_stats(g->idle);
        pthread_mutex_lock(&g->lock);
        g->shared = g->stats;
        pthread_mutex_unlock(&g->lock);
        live_sleep_until(g->began_ns + now + 1e6);
    }
    return NULL;
}

bool gateway_start(struct gateway *g)
{
    g->began_ns = stopwatch_ns();
    return live_start(&g->thread, work, g);
}

void gateway_stop(struct gateway *g)
{
    atomic_store(&g->is_over, true);
    pthread_join(g->thread, NULL);

    struct gateway_stats *f = &g->stats;
    for (uint64_t i = 0; i < g->settings.connections; i++) {
        struct gateway_connection *c = &g->connections[i];
        struct tkw_idle_key held;
        if (last_of(c) + g->limit_ns + g->tick_ns <= g->now_ns)
            f->lost++;
        if (!tkw_idle_query(g->idle, tkw_key_number(c->id), &held) ||
            held.last_ns != last_of(c))
            f->wrong++;
    }
    if (tkw_idle_count(g->idle) != g->settings.connections ||
        !tkw_idle_check(g->idle))
        f->wrong++;
    g->shared = *f;
}

struct gateway_stats gateway_read_stats(struct gateway *g)
{
    pthread_mutex_lock(&g->lock);
    struct gateway_stats stats = g->shared;
    pthread_mutex_unlock(&g->lock);
    return stats;
}

void gateway_ages(struct gateway *g, uint64_t *bins, unsigned count)
{
    uint64_t now = START_NS + (uint64_t)(stopwatch_ns() - g->began_ns);
    memset(bins, 0, count * sizeof *bins);
    for (uint64_t i = 0; i < g->settings.connections; i++) {
        uint64_t last = last_of(&g->connections[i]);
        uint64_t age = now > last ? now - last : 0;
        uint64_t bin = age / (g->limit_ns / count + 1);
        bins[bin < count ? bin : count - 1]++;
    }
}
