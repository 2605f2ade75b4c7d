/*
 * measure.h - one measurement in a process of its own, and all of them.
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
    unsigned sample_count;
    double samples[SAMPLES_MAX];
};

/*
 * Run a cell once, in a child process unless told not to, so that no
 * measurement inherits the memory of another.  Returns false if it died.
 */
bool measure(struct cell *cell, uint64_t seed, bool is_in_process);

double cell_median(const struct cell *cell);
double cell_least(const struct cell *cell);
double cell_most(const struct cell *cell);

#endif
