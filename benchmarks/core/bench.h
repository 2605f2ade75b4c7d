/*
 * core/bench.h - what a benchmark is: a structure, a workload, a size.
 *
 * A structure plugs in as one file.  It defines a handful of static functions
 * on its own state and includes workloads.h, which compiles every workload
 * around them, so that nothing is measured through a function pointer.
 *
 * All structures get the same work: the same pseudo-random delays from the same
 * seed, the same random order.  Timers are numbered 0 to n-1; a tick is a
 * millisecond.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum workload {
    ARM,         /* arm n timers, in order of their numbers */
    CANCEL,      /* cancel all n, in random order */
    CANCEL_DROP, /* the same, and what it costs later */
    REARM,       /* n pending: move random ones to new delays */
    TOUCH,       /* 30 s limit, pushed back about every 10 s, clock moving */
    FIRE_STEPS,  /* arm n, advance to the end by steps of a tick; per timer */
    FIRE_JUMPS,  /* the same by jumps to what is next */
    WORST_STEP,  /* the longest single step of the former, in ns */
    EMPTY,       /* n pending far away: advance by a tick with nothing due */
    BYTES,       /* resident bytes per pending timer */
    D1,          /* connections that go silent now and then; per packet */
    D2,          /* a burst of tasks, due in half an hour; per task */
    D2_WORST,    /* the longest step of that, in ns */
    D3,          /* requests, nearly all done in time; per request */
    WORKLOADS
};

extern const char *const workload_names[WORKLOADS];

enum spread { UNIFORM, LOG_UNIFORM, SPREADS };

extern const char *const spread_names[SPREADS];

struct bench_load {
    size_t n;
    enum spread spread;
    uint64_t seed;
    const uint32_t *order; /* a random permutation of 0 to n-1 */
};

struct bench_structure {
    const char *name;
    size_t n_max; /* beyond this it would take for ever */
    /* Each returns ns per operation (BYTES: bytes), or below 0 if not all have
     * fired that should have; NULL: cannot do it. */
    double (*run[WORKLOADS])(const struct bench_load *load);
};

extern const struct bench_structure bench_wheel;
extern const struct bench_structure bench_pool;
extern const struct bench_structure bench_pool_cold;
extern const struct bench_structure bench_pool_ahead;
extern const struct bench_structure bench_heap;
extern const struct bench_structure bench_list;

/*
 * The floor: read and write one 32-byte element of n in random order; each
 * knowing its address beforehand, or only from the element before.
 */
double floor_independent(const struct bench_load *load);
double floor_dependent(const struct bench_load *load);

/*
 * The same for linked lists: take a random element out of its list, or move it
 * to the end of another.  No wheel of lists can cancel and move for less.
 */
double floor_unlink(const struct bench_load *load);
double floor_relink(const struct bench_load *load);

/* And for records found by handles: no pool can cancel for less. */
double floor_by_handle(const struct bench_load *load);

/* A random permutation of 0 to n-1, to be freed. */
uint32_t *bench_order(size_t n, uint64_t seed);

/* The compiler that built this, with its version. */
const char *bench_compiler(void);

double bench_now_ns(void);
size_t bench_resident_bytes(void);

/* Ask for huge pages from now on, or not. */
void bench_use_huge_pages(bool is_wanted);

/* Allocate and touch every page.  If there is not enough memory the call does
 * not return: measure() fails, or outside of it the program ends. */
void *bench_memory(size_t bytes);

/* The same for memory that will not all be used: see bench_count_pages(). */
void *bench_arena(size_t bytes);

/* From now on leave the pages of arenas untouched: they are to be counted. */
void bench_count_pages(void);

/* A small generator, inlined: the work must cost more than the dice. */
static inline uint64_t bench_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A number below `bound`, from the upper bits. */
static inline uint64_t bench_below(uint64_t *state, uint64_t bound)
{
    return ((bench_random(state) >> 32) * bound) >> 32;
}

enum { UNIFORM_MS = 60000, LOG_UNIFORM_MS = 3600000 };

/*
 * A delay of 1 ms to 60 s, all alike; or of 1 ms to an hour, each doubling as
 * likely as the other.
 */
static inline uint64_t bench_delay(uint64_t *state, enum spread spread)
{
    if (spread == UNIFORM)
        return 1 + bench_below(state, UNIFORM_MS);
    for (;;) {
        uint64_t octave = bench_below(state, 22);
        uint64_t delay =
            (UINT64_C(1) << octave) + bench_below(state, UINT64_C(1) << octave);
        if (delay <= LOG_UNIFORM_MS)
            return delay;
    }
}

#endif
