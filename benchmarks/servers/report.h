/*
 * servers/report.h - the values that a workload measured, as a table or as a
 * line of JSON.
 */
#ifndef SERVERS_REPORT_H
#define SERVERS_REPORT_H

#include <stddef.h>

#include "histogram.h"
#include "options.h"

enum { VALUES_MAX = 96, VALUE_NAME_MAX = 40 };

/* A zero-filled report is empty and valid. */
struct report {
    size_t count;
    struct value {
        char name[VALUE_NAME_MAX]; /* with the unit last */
        double number;
    } values[VALUES_MAX];
};

void report_add(struct report *report, const char *name, double number);

/* Adds NAME_p50_us, _p90_, _p99_, _p99.9_ and _max_ of `times`, which are in
 * nanoseconds, and NAME_count.  Adds the count alone if it is 0. */
void report_times(struct report *report, const char *name,
                  const struct histogram *times);

/* Like report_times(), but p50, p99 and max only. */
void report_times_briefly(struct report *report, const char *name,
                          const struct histogram *times);

void report_print(const struct report *report, const struct options *options);

#endif
