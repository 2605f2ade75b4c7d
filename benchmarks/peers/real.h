/*
 * real.h - every workload in real time, compiled around one facility.  Included
 * at the end of the peer's file, which has defined
 *
 *     struct facility;
 *     static struct facility *facility_open(size_t n);   n idle timers
 *     static void facility_close(struct facility *f);
 *     static void set(struct facility *f, uint32_t id, uint64_t delay_ms);
 *     static void clear(struct facility *f, uint32_t id);
 *     static void run_until(struct facility *f, uint64_t ns);
 *
 * and whose callbacks call
 *
 *     static void fired(struct facility *f, uint32_t id);
 *
 * Where set() does not move a timer that is set, or something is cheaper, it
 * has also defined HAS_RESET or HAS_PUSH, and
 *
 *     static void reset(struct facility *f, uint32_t id, uint64_t delay_ms);
 *     static void push(struct facility *f, uint32_t id, uint64_t delay_ms);
 *                                                        to a later time
 *
 * run_until() lets the facility work until that time of the monotonic clock:
 * an event loop runs then; one that has threads is left alone.  With
 * HAS_THREADS defined, set() and clear() may be called by two threads at once;
 * with ONLY_D1 there is no other workload; with NEVER_FIRES none is looked for;
 * with MEMORY_IS_THE_KERNELS its bytes
 * are not told.  The peer finds them in
 * real_workloads.
 */
#include <stdlib.h>

#include "field.h"

#ifdef HAS_THREADS
#include <pthread.h>
#endif

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS UINT64_C(1000000)

enum {
    FAR_MS = 60000, /* none fires while it is measured */
    IDLE_MS = 600000,
    PAIR_MS = 30000,
    LIMIT_MS = 30000,
    D1_BEAT_MS = 10,
    D1_BEATS = 2250, /* between two packets of one connection: 22.5 s */
    TASK_MS = 1800000,
    DRAIN_AFTER_MS = 3000,
};

#ifndef HAS_RESET
static inline void reset(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    set(f, id, delay_ms);
}
#endif

#ifndef HAS_PUSH
static inline void push(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    reset(f, id, delay_ms);
}
#endif

/* What happens when a timer fires: at most one of these. */
static struct field_record *noted; /* its lateness is noted, or ... */
static bool is_set_again;          /* ... it gets another limit ... */
static _Atomic size_t set_again;   /* ... and so many did */

static void fired(struct facility *f, uint32_t id)
{
    if (noted != NULL)
        field_record_note(noted, id);
    else if (!is_set_again)
        field_fail("a timer fired that should not");
    else {
        set(f, id, LIMIT_MS);
        atomic_fetch_add_explicit(&set_again, 1, memory_order_relaxed);
    }
}

#ifndef ONLY_D1

static void run_for(struct facility *f, uint64_t ns)
{
    run_until(f, field_now_ns() + ns);
}

/* The time of processors until then, in percent of one. */
static double percent_for(struct facility *f, uint64_t ns)
{
    uint64_t began = field_now_ns();
    uint64_t cpu = field_cpu_ns();
    run_until(f, began + ns);
    cpu = field_cpu_ns() - cpu;
    return 100.0 * (double)cpu / (double)(field_now_ns() - began);
}

static void set_all(struct facility *f, const struct bench_load *load,
                    uint64_t least_ms, uint64_t span_ms)
{
    uint64_t dice = load->seed;
    for (uint32_t id = 0; id < load->n; id++)
        set(f, id, least_ms + bench_below(&dice, span_ms));
}

static double each(uint64_t began_ns, size_t n)
{
    return (double)(field_now_ns() - began_ns) / (double)n;
}

static void print_bytes(size_t before, size_t n)
{
#ifdef MEMORY_IS_THE_KERNELS
    (void)before;
    (void)n;
#else
    field_print("bytes",
                ((double)bench_resident_bytes() - (double)before) / (double)n);
#endif
}

/* Arm all, move so many, cancel all; say what each took, or nothing. */
static void call_all(struct facility *f, const struct bench_load *load,
                     bool is_printed)
{
    size_t n = load->n;
    uint64_t times[4] = {field_now_ns()};
    set_all(f, load, FAR_MS, FAR_MS);

    times[1] = field_now_ns();
    uint64_t dice = load->seed ^ 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < n; i++) {
        uint32_t id = (uint32_t)bench_below(&dice, n);
        reset(f, id, FAR_MS + bench_below(&dice, FAR_MS));
    }

    times[2] = field_now_ns();
    for (size_t i = 0; i < n; i++)
        clear(f, load->order[i]);

    times[3] = field_now_ns();
    static const char *const names[] = {"arm_ns", "rearm_ns", "cancel_ns"};
    for (unsigned i = 0; i < 3 && is_printed; i++)
        field_print(names[i], (double)(times[i + 1] - times[i]) / (double)n);
}

static void real_calls(const struct bench_load *load)
{
    size_t before = bench_resident_bytes();
    struct facility *f = facility_open(load->n);
    set_all(f, load, FAR_MS, FAR_MS);
    print_bytes(before, load->n);
    for (uint32_t id = 0; id < load->n; id++)
        clear(f, id);
    call_all(f, load, false);
    call_all(f, load, true);
    facility_close(f);
}

struct pairing {
    struct facility *facility;
    uint32_t id;
    uint64_t pairs; /* of the second that counts */
};

static uint64_t pair_until(const struct pairing *own, uint64_t end_ns)
{
    enum { BETWEEN_READINGS = 1000 };
    uint64_t pairs = 0;
    for (; field_now_ns() < end_ns; pairs += BETWEEN_READINGS) {
        for (unsigned i = 0; i < BETWEEN_READINGS; i++) {
            set(own->facility, own->id, PAIR_MS);
            clear(own->facility, own->id);
        }
    }
    return pairs;
}

static void *make_pairs(void *argument)
{
    struct pairing *own = argument;
    pair_until(own, field_now_ns() + SECOND_NS);
    uint64_t began = field_now_ns();
    uint64_t pairs = pair_until(own, began + SECOND_NS);
    own->pairs = pairs * SECOND_NS / (field_now_ns() - began);
    return NULL;
}

static void real_pairs_1(const struct bench_load *load)
{
    (void)load;
    struct pairing own = {.facility = facility_open(1)};
    make_pairs(&own);
    field_print("million_a_second", (double)own.pairs / 1e6);
    facility_close(own.facility);
}

#ifdef HAS_THREADS
static void real_pairs_2(const struct bench_load *load)
{
    (void)load;
    struct facility *f = facility_open(128);
    struct pairing own[2] = {{.facility = f}, {.facility = f, .id = 64}};
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_pairs, &own[1]) != 0)
        field_fail("no thread");
    make_pairs(&own[0]);
    pthread_join(thread, NULL);
    field_print("million_a_second",
                (double)(own[0].pairs + own[1].pairs) / 1e6);
    facility_close(f);
}
#endif

/* Wait until all have run.  Returns the time of processors for each. */
static double cpu_until_all(struct facility *f)
{
    uint64_t cpu = field_cpu_ns();
    uint64_t patience = field_now_ns() + 120 * SECOND_NS;
    while (atomic_load_explicit(&noted->count, memory_order_acquire) <
           noted->n) {
        if (field_now_ns() > patience)
            field_fail("not all timers have fired");
        run_for(f, 20 * MS_NS);
    }
    return (double)(field_cpu_ns() - cpu) / (double)noted->n;
}

static void real_late(const struct bench_load *load)
{
    bool is_many = load->n > 100000;
    uint64_t lead_ms = is_many ? 2000 : 500;
    uint64_t span_ms = is_many ? 5000 : 2000;
    struct field_record record;
    field_record_open(&record, load->n);
    struct facility *f = facility_open(load->n);
    noted = &record;

    uint64_t dice = load->seed;
    uint64_t began = field_now_ns();
    for (uint32_t id = 0; id < load->n; id++) {
        uint64_t delay_ms = lead_ms + bench_below(&dice, span_ms);
        record.asked_ns[id] = field_now_ns() + delay_ms * MS_NS;
        set(f, id, delay_ms);
    }
    if (field_now_ns() - began > lead_ms * MS_NS)
        field_fail("arming took longer than the lead");
    field_print("cpu_ns", cpu_until_all(f));
    facility_close(f);
    field_record_print(&record);
    field_record_close(&record);
}

static void real_idle(const struct bench_load *load)
{
    struct facility *f = facility_open(load->n);
    set_all(f, load, IDLE_MS, IDLE_MS);
    run_for(f, SECOND_NS);
    field_print("percent", percent_for(f, 3 * SECOND_NS));
    facility_close(f);
}

/* All due at one instant. */
static void drain(struct facility *f, size_t n)
{
    struct field_record record;
    field_record_open(&record, n);
    noted = &record;
    uint64_t due = field_now_ns() + DRAIN_AFTER_MS * MS_NS;
    for (uint32_t id = 0; id < n; id++) {
        uint64_t now = field_now_ns();
        if (now >= due)
            field_fail("arming took longer than the lead");
        record.asked_ns[id] = due;
        set(f, id, (due - now + MS_NS - 1) / MS_NS);
    }
    field_print("cpu_ns", cpu_until_all(f));
    field_print("drain_ms", (double)(record.last_ns - due) / 1e6);
    noted = NULL;
    field_record_close(&record);
}

static void real_d2(const struct bench_load *load)
{
    size_t before = bench_resident_bytes();
    struct facility *f = facility_open(load->n);
    uint64_t began = field_now_ns();
    set_all(f, load, TASK_MS, 1);
    field_print("arm_ns", each(began, load->n));
    print_bytes(before, load->n);
    run_for(f, SECOND_NS);
    field_print("percent", percent_for(f, 2 * SECOND_NS));
    for (uint32_t id = 0; id < load->n; id++)
        clear(f, id);
    drain(f, load->n);
    facility_close(f);
}

static uint64_t complete_until(struct facility *f, size_t n, uint64_t *dice,
                               uint64_t end_ns)
{
    enum { BETWEEN_READINGS = 100 };
    uint64_t done = 0;
    for (; field_now_ns() < end_ns; done += BETWEEN_READINGS) {
        for (unsigned i = 0; i < BETWEEN_READINGS; i++) {
            uint32_t id = (uint32_t)bench_below(dice, n);
            clear(f, id);
            set(f, id, LIMIT_MS);
        }
    }
    return done;
}

static void real_d3(const struct bench_load *load)
{
    size_t before = bench_resident_bytes();
    struct facility *f = facility_open(load->n);
    set_all(f, load, LIMIT_MS, 1);
    uint64_t dice = load->seed ^ 0x9e3779b97f4a7c15;
    complete_until(f, load->n, &dice, field_now_ns() + SECOND_NS);
    uint64_t began = field_now_ns();
    uint64_t done = complete_until(f, load->n, &dice, began + 2 * SECOND_NS);
    field_print("million_a_second",
                (double)done * 1e3 / (double)(field_now_ns() - began));
    print_bytes(before, load->n);
    facility_close(f);
}

#endif

/* Packets of connections, some every 10 ms, until then. */
static size_t receive_until(struct facility *f, const struct bench_load *load,
                            size_t beat, uint64_t *beat_ns, uint64_t end_ns)
{
    for (; *beat_ns < end_ns; beat++) {
        *beat_ns += D1_BEAT_MS * MS_NS;
        run_until(f, *beat_ns);
        for (size_t i = beat * load->n / D1_BEATS;
             i < (beat + 1) * load->n / D1_BEATS; i++)
            push(f, load->order[i % load->n], LIMIT_MS);
    }
    return beat;
}

static void real_d1(const struct bench_load *load)
{
    is_set_again = true;
    struct facility *f = facility_open(load->n);
    uint64_t dice = load->seed;
    for (uint32_t id = 0; id < load->n; id++)
        set(f, id, 1 + bench_below(&dice, LIMIT_MS));

    uint64_t beat_ns = field_now_ns();
    size_t beat = receive_until(f, load, 0, &beat_ns, beat_ns + 3 * SECOND_NS);
    uint64_t began = field_now_ns();
    uint64_t cpu = field_cpu_ns();
    receive_until(f, load, beat, &beat_ns, beat_ns + 5 * SECOND_NS);
    cpu = field_cpu_ns() - cpu;
    field_print("percent",
                100.0 * (double)cpu / (double)(field_now_ns() - began));
    facility_close(f);
    /* About a fifth fire before their packet comes; few may be luckier. */
#ifndef NEVER_FIRES
    if (set_again > load->n || set_again + 10 < load->n / 10)
        field_fail("connections timed out that should not, or did not");
#endif
}

static void (*const real_workloads[REAL_WORKLOADS])(
    const struct bench_load *load) = {
#ifndef ONLY_D1
    [REAL_CALLS] = real_calls,     [REAL_PAIRS_1] = real_pairs_1,
#ifdef HAS_THREADS
    [REAL_PAIRS_2] = real_pairs_2,
#endif
    [REAL_LATE] = real_late,       [REAL_IDLE] = real_idle,
    [REAL_D2] = real_d2,           [REAL_D3] = real_d3,
#endif
    [REAL_D1] = real_d1,
};
