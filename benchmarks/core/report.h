/*
 * core/report.h - what was measured, for people and for programs.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "measure.h"

struct report {
    const struct cell *cells;
    size_t cell_count;
    uint64_t seed;
    unsigned repeats;
    const char *commit; /* as the caller told, or "unknown" */
};

/* Medians, spread and ratios to the floor and to the heap, as a table. */
void report_table(const struct report *report, FILE *out);

/* Everything, every sample included, as JSON. */
void report_json(const struct report *report, FILE *out);

#endif
