/*
 * purgatory/bench.h - requests that wait for something, ways to keep them, and
 * the load that they all get.
 *
 * A way plugs in as one file: it defines a handful of static functions and
 * includes purgatory_play.h, which compiles the load around them.
 *
 * Every request waits for one of two things, its keys, for 30 s at most, and is
 * completed long before.  Requests are allocated one by one, and freed when the
 * way has done with them.
 */
#ifndef PURGATORY_BENCH_H
#define PURGATORY_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tickwheel/clock.h>

#define PURGATORY_TIMEOUT_NS (30 * TKW_SECOND)

enum { PURGATORY_KEYS = 10000 }; /* of each of two kinds, where shared */

enum purgatory_load {
    /* Each request has keys of its own; the oldest is completed by one of them,
     * and another takes its place. */
    UNIQUE,
    /* Any key of 10,000 partitions and any of 10,000 others; something happens
     * to one of these, all that wait for it are completed, and others take
     * their places. */
    SHARED,
};

/* How often something has happened to a key. */
struct purgatory_events {
    _Atomic uint32_t counts[2 * PURGATORY_KEYS];
};

/* What is waited for. */
struct request {
    uint64_t keys[2];
    const struct purgatory_events *events; /* NULL: not shared */
    uint32_t seen[2];                      /* of the keys' counts */
    _Atomic bool is_met;                   /* where not shared */
    unsigned completions;                  /* to be one, in the end */
};

/* One thread's share of a load. */
struct purgatory_lane {
    enum purgatory_load load;
    struct purgatory_events *events;
    struct request **ring; /* where not shared: the oldest is at `at` */
    size_t at;
    size_t outstanding;
    uint64_t next_key;
    uint64_t dice;
    uint64_t made;
    uint64_t completed;
};

struct purgatory_setting {
    const struct purgatory_way *way;
    enum purgatory_load load;
    size_t outstanding;
    unsigned threads;
    size_t purge_every; /* completions, for ways that purge; 0: unlink at once
                         */
    uint64_t for_ns;
};

/* Where the bytes of a request are. */
struct purgatory_bytes {
    double request;   /* its own */
    double purgatory; /* as it says; 0: no such thing */
    double service;   /* as its allocator counted; 0: no such thing */
};

struct purgatory_way {
    const char *name;
    void *(*open)(const struct purgatory_setting *setting);
    /* Any thread, each with a lane of its own. */
    void (*fill)(void *state, struct purgatory_lane *lane);
    void (*step)(void *state, struct purgatory_lane *lane, unsigned steps);
    void (*report_bytes)(void *state, struct purgatory_bytes *bytes);
    /* End the program unless it holds what is left, and none has expired. */
    void (*close)(void *state, uint64_t made, uint64_t completed);
};

extern const struct purgatory_way purgatory_way_ours;
extern const struct purgatory_way purgatory_way_naive;

#endif
