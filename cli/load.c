/*
 * load.c - what the demonstration's wheel has to do, in virtual time.
 *
 *     burst      tasks created within a second, all to run `delay` later
 *     requests   each with a time limit of `delay`, cancelled by its answer;
 *                one in a thousand gets none
 *     idle       connections hung up after `delay` of silence; each packet
 *                postpones that; one packet in 1600 is a connection's last
 *
 * Only the library's work is timed, in batches: reading the clock takes as
 * long as several armings.
 */
#define _POSIX_C_SOURCE 200809L

#include "load.h"

#include "stopwatch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BURST_MS = 1000,
    REQUESTS_SPAN = 4,   /* requests arrive for that many delays */
    ANSWERS_LOST = 1000, /* one in so many */
    IDLE_SPAN = 4,       /* connections are watched for that many delays */
    PACKETS_LAST = 1600, /* one in so many */
    BATCH = 1024,
    CLOCK_TRIALS = 1000,
};

static const struct load_kind kinds[] = {
    {
        "burst",
        "tasks, each due after",
        1000000,
        1800000,
        true,
        {"tasks are created, all within one virtual second",
         "waiting: timers fall when a hand reaches their slot",
         "all come due within one virtual second, each on its own tick"},
    },
    {
        "requests",
        "requests, each with a time limit of",
        1000000,
        10000,
        false,
        {"requests arrive; nearly every timer is cancelled by an answer",
         "no more requests: the last time limits run out",
         "no more requests: the last time limits run out"},
    },
    {
        "idle",
        "connections, each closed after a silence of",
        100000,
        30000,
        false,
        {"connections open; every packet postpones a time limit",
         "every packet postpones; silent connections are closed",
         "every packet postpones; silent connections are closed"},
    },
};

enum { BURST, REQUESTS, IDLE, KINDS };

const struct load_kind *load_find(const char *name)
{
    for (unsigned i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    }
    return NULL;
}

static bool is_kind(const struct load *load, unsigned kind)
{
    return load->settings.kind == &kinds[kind];
}

/* A number from 0 to below - 1 (splitmix64). */
static uint64_t draw(struct load *load, uint64_t below)
{
    uint64_t z = load->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

static void charge(const struct load *load, struct load_cost *cost,
                   uint64_t count, double began)
{
    double ns = stopwatch_ns() - began - load->clock_cost_ns;
    cost->count += count;
    cost->ns += ns > 0 ? ns : 0;
}

/* Tell of what was done to a task just now: never while the watch runs. */
static void note(const struct load *load, enum load_event event,
                 const struct tkw_timer *timer, tkw_tick deadline)
{
    if (load->note != NULL)
        load->note(load->note_context, event, tkw_wheel_now(load->wheel),
                   (uint64_t)(timer - load->timers), deadline);
}

/* When the task of this number arrives: evenly spread, the first at once. */
static tkw_tick arrival(const struct load *load, uint64_t number)
{
    uint64_t n = load->settings.task_count;
    uint64_t span = BURST_MS;
    if (is_kind(load, REQUESTS))
        span = load->settings.delay_ms * REQUESTS_SPAN;
    else if (is_kind(load, IDLE))
        span = load->settings.delay_ms;
    /* span * number / n, in steps that cannot overflow */
    return LOAD_START_MS + span / n * number + span % n * number / n;
}

/* Answers come sooner rather than later, and within half the time limit. */
static uint64_t answer_delay(struct load *load)
{
    uint64_t longest = load->settings.delay_ms / 2 + 1;
    return draw(load, draw(load, longest) + 1) + 1;
}

static uint64_t packet_delay(struct load *load)
{
    return draw(load, load->settings.delay_ms / 2 + 1) + 1;
}

/* What will happen outside to a task that has just arrived. */
static void expect(struct load *load, uint64_t number, tkw_tick now)
{
    struct tkw_timer *event = &load->events[number];
    if (is_kind(load, IDLE))
        tkw_wheel_arm(load->outside, event, now + packet_delay(load));
    else if (draw(load, ANSWERS_LOST) != 0)
        tkw_wheel_arm(load->outside, event, now + answer_delay(load));
}

static void arrive(struct load *load, tkw_tick now)
{
    uint64_t first = load->arrived, last = first;
    tkw_tick deadline = tkw_tick_after(now, load->settings.delay_ms);

    while (last < load->settings.task_count && arrival(load, last) <= now)
        last++;
    if (last == first)
        return;

    double began = stopwatch_ns();
    for (uint64_t i = first; i < last; i++)
        tkw_wheel_arm(load->wheel, &load->timers[i], deadline);
    charge(load, &load->arm, last - first, began);

    load->arrived = last;
    for (uint64_t i = first; i < last; i++)
        note(load, LOAD_ARM, &load->timers[i], deadline);
    for (uint64_t i = first; i < last && load->events != NULL; i++)
        expect(load, i, now);
}

static void cancel(struct load *load, struct tkw_timer **batch, size_t count)
{
    double began = stopwatch_ns();
    for (size_t i = 0; i < count; i++)
        tkw_wheel_cancel(load->wheel, batch[i]);
    charge(load, &load->cancel, count, began);
    for (size_t i = 0; i < count; i++)
        note(load, LOAD_CANCEL, batch[i], 0);
}

static void postpone(struct load *load, struct tkw_timer **batch, size_t count)
{
    tkw_tick deadline =
        tkw_tick_after(tkw_wheel_now(load->wheel), load->settings.delay_ms);
    double began = stopwatch_ns();
    for (size_t i = 0; i < count; i++)
        tkw_wheel_postpone(load->wheel, batch[i], deadline);
    charge(load, &load->postpone, count, began);
    for (size_t i = 0; i < count; i++)
        note(load, LOAD_POSTPONE, batch[i], deadline);
}

/* Take the tasks to which something happens outside, at most BATCH. */
static size_t take_events(struct load *load, struct tkw_timer **batch)
{
    size_t count = 0;
    for (struct tkw_timer *event;
         count < BATCH && (event = tkw_wheel_pop(load->outside)) != NULL;)
        batch[count++] = &load->timers[event - load->events];
    return count;
}

/* A connection hung up on gets no packets; nor does one fallen silent. */
static void expect_packets(struct load *load, struct tkw_timer **batch,
                           size_t count, tkw_tick now)
{
    for (size_t i = 0; i < count; i++) {
        if (tkw_timer_is_armed(batch[i]) && draw(load, PACKETS_LAST) != 0)
            tkw_wheel_arm(load->outside, &load->events[batch[i] - load->timers],
                          now + packet_delay(load));
    }
}

static void handle_events(struct load *load, tkw_tick now)
{
    struct tkw_timer *batch[BATCH];
    tkw_wheel_advance(load->outside, now);
    for (size_t count; (count = take_events(load, batch)) > 0;) {
        if (is_kind(load, REQUESTS)) {
            cancel(load, batch, count);
        } else {
            postpone(load, batch, count);
            expect_packets(load, batch, count, now);
        }
    }
}

static void advance(struct load *load, tkw_tick now)
{
    load->wakeups += tkw_wheel_next(load->wheel) <= now;

    double began = stopwatch_ns();
    tkw_wheel_advance(load->wheel, now);
    for (struct tkw_timer *t; (t = tkw_wheel_pop(load->wheel)) != NULL;) {
        load->early += t->deadline > now;
        load->late += t->deadline < now;
    }
    charge(load, &load->advance, 1, began);
}

static tkw_tick next_event(const struct load *load)
{
    tkw_tick next = tkw_wheel_next(load->wheel);
    if (load->arrived < load->settings.task_count) {
        tkw_tick other = arrival(load, load->arrived);
        next = other < next ? other : next;
    }
    if (load->outside != NULL) {
        tkw_tick other = tkw_wheel_next(load->outside);
        next = other < next ? other : next;
    }
    return next;
}

bool load_run(struct load *load, tkw_tick until, double deadline_ns)
{
    for (tkw_tick next; (next = next_event(load)) <= until;) {
        advance(load, next);
        if (load->outside != NULL)
            handle_events(load, next);
        arrive(load, next);
        if (stopwatch_ns() >= deadline_ns)
            return false;
    }
    /* Nothing happens here: this only moves the hands for those who look. */
    if (until > tkw_wheel_now(load->wheel))
        tkw_wheel_advance(load->wheel, until);
    return true;
}

tkw_tick load_elapsed(const struct load *load)
{
    return tkw_wheel_now(load->wheel) - LOAD_START_MS;
}

bool load_holds(const struct load *load)
{
    struct tkw_wheel_stats c = tkw_wheel_read_stats(load->wheel);
    return load->early == 0 && load->late == 0 &&
           c.armed == c.fired + c.cancelled + tkw_wheel_count(load->wheel) &&
           tkw_wheel_check(load->wheel);
}

static double clock_cost_ns(void)
{
    double began = stopwatch_ns();
    for (int i = 1; i < CLOCK_TRIALS; i++)
        stopwatch_ns();
    return (stopwatch_ns() - began) / CLOCK_TRIALS;
}

static struct tkw_wheel *wheel_new(const struct tkw_geometry *geometry)
{
    size_t bytes = tkw_wheel_bytes(geometry);
    struct tkw_wheel *wheel = malloc(bytes);
    if (wheel != NULL)
        tkw_wheel_init(wheel, bytes, geometry, LOAD_START_MS);
    return wheel;
}

int load_open(struct load *load, const struct load_settings *settings)
{
    size_t n = settings->task_count;
    *load = (struct load){.settings = *settings, .random = settings->seed};
    assert(n > 0);

    load->timers = calloc(n, sizeof *load->timers);
    load->wheel = wheel_new(&settings->geometry);
    bool is_fine = load->timers != NULL && load->wheel != NULL;
    if (!settings->kind->is_burst) {
        load->events = calloc(n, sizeof *load->events);
        load->outside = wheel_new(NULL);
        is_fine = is_fine && load->events != NULL && load->outside != NULL;
    }
    if (!is_fine) {
        load_close(load);
        return -ENOMEM;
    }
    /* Touch the memory now, or the kernel's work would count as ours. */
    for (size_t i = 0; i < n; i++)
        load->timers[i].deadline = TKW_NEVER;

    load->clock_cost_ns = clock_cost_ns();
    load->arrivals_end = arrival(load, n - 1);
    load->end = is_kind(load, IDLE)
                    ? LOAD_START_MS + settings->delay_ms * IDLE_SPAN
                    : load->arrivals_end + settings->delay_ms;
    return 0;
}

void load_close(struct load *load)
{
    free(load->outside);
    free(load->events);
    free(load->wheel);
    free(load->timers);
    *load = (struct load){0};
}
