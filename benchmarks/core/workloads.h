/*
 * core/workloads.h - every workload, compiled around one structure.  Included
 * at the end of the structure's file, which has defined STRUCTURE (its name),
 * N_MAX, and
 *
 *     struct state;
 *     static struct state *make(size_t n);       n idle timers, time at 0
 *     static void unmake(struct state *s);
 *     static void arm(struct state *s, uint32_t id, uint64_t deadline);
 *     static void cancel(struct state *s, uint32_t id);
 *     static void advance(struct state *s, uint64_t now);
 *     static uint32_t pop(struct state *s);      an expired timer, or NO_TIMER
 *     static uint64_t next(const struct state *s);   UINT64_MAX if none
 *
 * Where arming does not move a timer that is armed, or something is cheaper, it
 * has also defined HAS_MOVE, HAS_TOUCH or HAS_RENEW, and
 *
 *     static void move(struct state *s, uint32_t id, uint64_t deadline);
 *     static void touch(struct state *s, uint32_t id, uint64_t deadline);
 *                                                to a later deadline
 *     static bool renew(struct state *s, uint64_t deadline);  pop, arm again
 *
 * and CANNOT_D3 if a timer that was cancelled cannot be armed by its number.
 *
 * What is measured is in functions of their own, named after the workload, so
 * that an instruction counter can be told to look at nothing else.
 */
#include "bench.h"

#define NO_TIMER UINT32_MAX
#define MEASURED static __attribute__((noinline))

enum {
    REARM_OPS = 5000000,
    TOUCH_LIMIT_MS = 30000,
    TOUCH_EVERY_MS = 10000,
    TOUCH_WARM_UP_MS = 20000,
    TOUCH_OPS_MIN = 5000000,
    EMPTY_STEPS = 2000000,
    D1_EVERY_MS = 22500,
    D1_WARM_UP_MS = 30000,
    D1_MS = 60000,
    D2_BURST_MS = 1000,
    D2_DELAY_MS = 1800000,
    D3_TIMEOUT_MS = 30000,
    D3_DONE_EVERY_MS = 100,
    D3_WARM_UP_MS = 10000,
    D3_MS = 60000,
};

#ifndef HAS_MOVE
static inline void move(struct state *s, uint32_t id, uint64_t deadline)
{
    arm(s, id, deadline);
}
#endif

#ifndef HAS_TOUCH
static inline void touch(struct state *s, uint32_t id, uint64_t deadline)
{
    move(s, id, deadline);
}
#endif

/* Take an expired timer and arm it again.  Returns false if there is none. */
#ifndef HAS_RENEW
static inline bool renew(struct state *s, uint64_t deadline)
{
    uint32_t id = pop(s);
    if (id == NO_TIMER)
        return false;
    arm(s, id, deadline);
    return true;
}
#endif

/* Operations shrink with n, so that an instruction counter gets through. */
static size_t ops_for(size_t ops, size_t n)
{
    return n < 100000 && ops > 20 * n ? 20 * n : ops;
}

MEASURED void measured_arm(struct state *s, const struct bench_load *load)
{
    uint64_t dice = load->seed;
    for (uint32_t id = 0; id < load->n; id++)
        arm(s, id, bench_delay(&dice, load->spread));
}

MEASURED void measured_cancel(struct state *s, const struct bench_load *load)
{
    for (size_t i = 0; i < load->n; i++)
        cancel(s, load->order[i]);
}

MEASURED void measured_rearm(struct state *s, const struct bench_load *load,
                             size_t ops)
{
    uint64_t dice = load->seed ^ 0x9e3779b97f4a7c15;
    for (size_t i = 0; i < ops; i++) {
        uint32_t id = (uint32_t)bench_below(&dice, load->n);
        move(s, id, bench_delay(&dice, load->spread));
    }
}

MEASURED size_t measured_fire_steps(struct state *s, uint64_t end)
{
    size_t fired = 0;
    for (uint64_t now = 1; now <= end; now++) {
        advance(s, now);
        while (pop(s) != NO_TIMER)
            fired++;
    }
    return fired;
}

MEASURED size_t measured_fire_jumps(struct state *s)
{
    size_t fired = 0;
    for (uint64_t now; (now = next(s)) != UINT64_MAX;) {
        advance(s, now);
        while (pop(s) != NO_TIMER)
            fired++;
    }
    return fired;
}

MEASURED size_t measured_empty(struct state *s, size_t steps)
{
    size_t fired = 0;
    for (uint64_t now = 1; now <= steps; now++) {
        advance(s, now);
        fired += pop(s) != NO_TIMER;
    }
    return fired;
}

/* A limit of 30 s, and a packet from each so often; of every `silent`th, if
 * that is not 0, none comes. */
struct packets {
    uint64_t every_ms;
    uint32_t silent;
};

/* How many packets there were, and how many timers fired all the same. */
struct touched {
    size_t touches;
    size_t fired;
};

static inline size_t packets_until(const struct packets *packets, size_t n,
                                   uint64_t now)
{
    return (size_t)(now * n / packets->every_ms);
}

/*
 * Touch timers while time goes by, from `from` to `to`: all of them once in so
 * often, in random order.  What fires all the same starts anew.
 */
static inline struct touched touch_through(struct state *s,
                                           const struct bench_load *load,
                                           uint64_t from, uint64_t to,
                                           struct packets packets)
{
    struct touched touched = {0, 0};
    size_t at = packets_until(&packets, load->n, from - 1) % load->n;
    for (uint64_t now = from; now < to; now++) {
        advance(s, now);
        while (renew(s, now + TOUCH_LIMIT_MS))
            touched.fired++;

        size_t due = packets_until(&packets, load->n, now) -
                     packets_until(&packets, load->n, now - 1);
        for (size_t i = 0; i < due; i++) {
            uint32_t id = load->order[at];
            at = at + 1 < load->n ? at + 1 : 0;
            if (packets.silent != 0 && id % packets.silent == 0)
                continue;
            touch(s, id, now + TOUCH_LIMIT_MS);
            touched.touches++;
        }
    }
    return touched;
}

MEASURED struct touched measured_touch(struct state *s,
                                       const struct bench_load *load,
                                       uint64_t from, uint64_t to)
{
    const struct packets packets = {TOUCH_EVERY_MS, 0};
    return touch_through(s, load, from, to, packets);
}

MEASURED struct touched measured_d1(struct state *s,
                                    const struct bench_load *load,
                                    uint64_t from, uint64_t to)
{
    const struct packets packets = {D1_EVERY_MS, 100};
    return touch_through(s, load, from, to, packets);
}

/*
 * A burst of tasks, all of them created in a second and due half an hour after
 * that, and every millisecond until then.  Returns how many have fired.
 */
static inline size_t burst_through(struct state *s, size_t n, double *worst_ns)
{
    size_t fired = 0;
    uint32_t armed = 0;
    double before = bench_now_ns();
    for (uint64_t now = 1; now <= D2_BURST_MS + D2_DELAY_MS; now++) {
        advance(s, now);
        while (pop(s) != NO_TIMER)
            fired++;
        size_t end = now < D2_BURST_MS ? n * now / D2_BURST_MS : n;
        while (armed < end)
            arm(s, armed++, now + D2_DELAY_MS);
        if (worst_ns == NULL)
            continue;
        double after = bench_now_ns();
        *worst_ns = after - before > *worst_ns ? after - before : *worst_ns;
        before = after;
    }
    return fired;
}

MEASURED size_t measured_d2(struct state *s, size_t n)
{
    return burst_through(s, n, NULL);
}

#ifndef CANNOT_D3
/*
 * Requests of which nearly all are done before their timeout: every millisecond
 * a hundred are, and others take their places.
 */
MEASURED void measured_d3(struct state *s, const struct bench_load *load,
                          uint64_t *dice, uint64_t from, uint64_t to)
{
    for (uint64_t now = from; now < to; now++) {
        advance(s, now);
        while (renew(s, now + D3_TIMEOUT_MS))
            continue;
        for (unsigned i = 0; i < D3_DONE_EVERY_MS; i++) {
            uint32_t id = (uint32_t)bench_below(dice, load->n);
            cancel(s, id);
            arm(s, id, now + D3_TIMEOUT_MS);
        }
    }
}
#endif

/* A workload needs n timers pending first. */
static struct state *make_pending(const struct bench_load *load)
{
    struct state *s = make(load->n);
    measured_arm(s, load);
    return s;
}

static double run_arm(const struct bench_load *load)
{
    struct state *s = make(load->n);
    double began = bench_now_ns();
    measured_arm(s, load);
    double took = bench_now_ns() - began;
    unmake(s);
    return took / (double)load->n;
}

static double run_cancel(const struct bench_load *load)
{
    struct state *s = make_pending(load);
    double began = bench_now_ns();
    measured_cancel(s, load);
    double took = bench_now_ns() - began;
    unmake(s);
    return took / (double)load->n;
}

static uint64_t last_deadline(const struct bench_load *load)
{
    return load->spread == UNIFORM ? UNIFORM_MS : LOG_UNIFORM_MS;
}

static double run_cancel_drop(const struct bench_load *load)
{
    struct state *s = make_pending(load);
    double began = bench_now_ns();
    measured_cancel(s, load);
    advance(s, last_deadline(load));
    size_t fired = pop(s) != NO_TIMER;
    double took = bench_now_ns() - began;
    unmake(s);
    return fired == 0 ? took / (double)load->n : -1;
}

static double run_rearm(const struct bench_load *load)
{
    struct state *s = make_pending(load);
    size_t ops = ops_for(REARM_OPS, load->n);
    double began = bench_now_ns();
    measured_rearm(s, load, ops);
    double took = bench_now_ns() - began;
    unmake(s);
    return took / (double)ops;
}

/* As many in each millisecond of the limit. */
static struct state *make_spread(const struct bench_load *load, uint64_t *dice)
{
    struct state *s = make(load->n);
    *dice = load->seed;
    for (uint32_t id = 0; id < load->n; id++)
        arm(s, id, 1 + bench_below(dice, TOUCH_LIMIT_MS));
    return s;
}

static double run_touch(const struct bench_load *load)
{
    uint64_t dice;
    struct state *s = make_spread(load, &dice);

    /* A limit long, or longer where n is small. */
    uint64_t length = TOUCH_LIMIT_MS;
    size_t ops = ops_for(TOUCH_OPS_MIN, load->n);
    if (length * load->n / TOUCH_EVERY_MS < ops)
        length = ops * TOUCH_EVERY_MS / load->n;

    measured_touch(s, load, 1, TOUCH_WARM_UP_MS);
    double began = bench_now_ns();
    struct touched touched =
        measured_touch(s, load, TOUCH_WARM_UP_MS, TOUCH_WARM_UP_MS + length);
    double took = bench_now_ns() - began;
    unmake(s);
    return touched.fired == 0 ? took / (double)touched.touches : -1;
}

static double run_fire_steps(const struct bench_load *load)
{
    struct state *s = make_pending(load);
    double began = bench_now_ns();
    size_t fired = measured_fire_steps(s, last_deadline(load));
    double took = bench_now_ns() - began;
    unmake(s);
    return fired == load->n ? took / (double)fired : -1;
}

static double run_fire_jumps(const struct bench_load *load)
{
    struct state *s = make_pending(load);
    double began = bench_now_ns();
    size_t fired = measured_fire_jumps(s);
    double took = bench_now_ns() - began;
    unmake(s);
    return fired == load->n ? took / (double)fired : -1;
}

static double run_worst_step(const struct bench_load *load)
{
    struct state *s = make_pending(load);
    size_t fired = 0;
    double worst = 0;
    double before = bench_now_ns();
    for (uint64_t now = 1; now <= last_deadline(load); now++) {
        advance(s, now);
        while (pop(s) != NO_TIMER)
            fired++;
        double after = bench_now_ns();
        worst = after - before > worst ? after - before : worst;
        before = after;
    }
    unmake(s);
    return fired == load->n ? worst : -1;
}

static double run_empty(const struct bench_load *load)
{
    const uint64_t far = UINT64_C(1) << 40;
    struct state *s = make(load->n);
    uint64_t dice = load->seed;
    for (uint32_t id = 0; id < load->n; id++)
        arm(s, id, far + bench_delay(&dice, load->spread));
    size_t steps = ops_for(EMPTY_STEPS, load->n);
    double began = bench_now_ns();
    size_t fired = measured_empty(s, steps);
    double took = bench_now_ns() - began;
    unmake(s);
    return fired == 0 ? took / (double)steps : -1;
}

static double run_bytes(const struct bench_load *load)
{
    bench_count_pages();
    size_t before = bench_resident_bytes();
    struct state *s = make_pending(load);
    size_t after = bench_resident_bytes();
    unmake(s);
    return (double)(after - before) / (double)load->n;
}

static double run_d1(const struct bench_load *load)
{
    const uint64_t from = 1 + D1_WARM_UP_MS;
    uint64_t dice;
    struct state *s = make_spread(load, &dice);
    measured_d1(s, load, 1, from);
    double began = bench_now_ns();
    struct touched touched = measured_d1(s, load, from, from + D1_MS);
    double took = bench_now_ns() - began;
    unmake(s);
    /* The silent ones, after each limit. */
    size_t due = D1_MS / TOUCH_LIMIT_MS * ((load->n + 99) / 100);
    return touched.fired == due ? took / (double)touched.touches : -1;
}

static double run_d2(const struct bench_load *load)
{
    struct state *s = make(load->n);
    double began = bench_now_ns();
    size_t fired = measured_d2(s, load->n);
    double took = bench_now_ns() - began;
    unmake(s);
    return fired == load->n ? took / (double)load->n : -1;
}

/* Apart from the former: a clock that is read at every step takes its time. */
static double run_d2_worst(const struct bench_load *load)
{
    double worst_ns = 0;
    struct state *s = make(load->n);
    size_t fired = burst_through(s, load->n, &worst_ns);
    unmake(s);
    return fired == load->n ? worst_ns : -1;
}

#ifndef CANNOT_D3
static double run_d3(const struct bench_load *load)
{
    const uint64_t from = 1 + D3_WARM_UP_MS;
    uint64_t dice;
    struct state *s = make_spread(load, &dice);
    measured_d3(s, load, &dice, 1, from);
    double began = bench_now_ns();
    measured_d3(s, load, &dice, from, from + D3_MS);
    double took = bench_now_ns() - began;
    unmake(s);
    return took / ((double)D3_MS * D3_DONE_EVERY_MS);
}
#endif

#define NAME_OF_(structure) #structure
#define NAME_OF(structure) NAME_OF_(structure)
#define SYMBOL_OF_(structure) bench_##structure
#define SYMBOL_OF(structure) SYMBOL_OF_(structure)

const struct bench_structure SYMBOL_OF(STRUCTURE) = {
    .name = NAME_OF(STRUCTURE),
    .n_max = N_MAX,
    .run =
        {
            [ARM] = run_arm,
            [CANCEL] = run_cancel,
            [CANCEL_DROP] = run_cancel_drop,
            [REARM] = run_rearm,
            [TOUCH] = run_touch,
            [FIRE_STEPS] = run_fire_steps,
            [FIRE_JUMPS] = run_fire_jumps,
            [WORST_STEP] = run_worst_step,
            [EMPTY] = run_empty,
            [BYTES] = run_bytes,
            [D1] = run_d1,
            [D2] = run_d2,
            [D2_WORST] = run_d2_worst,
#ifndef CANNOT_D3
            [D3] = run_d3,
#endif
        },
};
