/*
 * servers/workload.h - the workloads: their options, and the functions that run
 * them.
 */
#ifndef SERVERS_WORKLOAD_H
#define SERVERS_WORKLOAD_H

#include "options.h"
#include "report.h"

struct workload {
    const char *name;
    unsigned takes; /* TAKES() of its options; others are rejected */
    uint64_t defaults[SETTINGS];
    uint64_t delay_min; /* the least --delay */
    void (*run)(const struct options *options, struct report *report);
};

extern const struct workload puts_workload;
extern const struct workload cycles_workload;
extern const struct workload late_workload;
extern const struct workload crowd_workload;
extern const struct workload idle_workload;
extern const struct workload fill_workload;

enum { TUBE_NAME_MAX = 64 };

/*
 * Writes the name of a tube that no other run uses to `name`, so that jobs of
 * an earlier run do not disturb this one.
 */
void workload_tube(char name[TUBE_NAME_MAX], const char *purpose);

#endif
