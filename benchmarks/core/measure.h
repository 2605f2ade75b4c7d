/*
 * core/measure.h - one measurement in a process of its own, and all of them.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "bench.h"

enum { SAMPLES_MAX = 64 };

/* One line of the result: what was measured, on what, how often. */
struct cell {
    const char *structure;
    const char *workload;
    size_t n;
    enum spread spread;
    double (*run)(const struct bench_load *load);
    bool is_timed; /* ns per operation: small n is run several times */
    int error;     /* why a measurement failed: 0, or a negative errno ... */
    int signal;    /* ... or the signal that ended its process */
    unsigned sample_count;
    double samples[SAMPLES_MAX];
};

/*
 * Run a cell once, in a child process unless `is_in_process`, so that no
 * measurement inherits the memory of another.  Returns true with a new sample,
 * or false with `cell->error` or `cell->signal` set.  A measurement that runs
 * out of memory in this process does not free what it has allocated.
 */
bool measure(struct cell *cell, uint64_t seed, bool is_in_process);

/* Returns whether a measurement of the cell has failed. */
bool cell_has_failed(const struct cell *cell);

double cell_median(const struct cell *cell);
double cell_least(const struct cell *cell);
double cell_most(const struct cell *cell);

#endif
