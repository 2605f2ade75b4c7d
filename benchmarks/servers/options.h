/*
 * servers/options.h - the options of the command line.
 */
#ifndef SERVERS_OPTIONS_H
#define SERVERS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "address.h"

/* Options that are numbers. */
enum setting {
    CONNECTIONS,
    PIPELINE,
    BODY,
    JOBS,
    SECONDS,
    DELAY,
    SPAN,
    BATCH,
    BYSTANDERS,
    FRACTIONS, /* 1 if given; takes no number */
    PID,
    SETTINGS
};

#define TAKES(setting) (1u << (setting))

struct workload;

struct options {
    const struct workload *workload;
    struct address address;
    uint64_t number[SETTINGS];
    bool is_json;
};

/* The name of an option, without dashes. */
const char *setting_name(enum setting setting);

/*
 * Reads the command line into `options`.  `workloads` ends with NULL.  Returns
 * -1 if the workload can run, 0 after --help, or 2 after a message to stderr:
 * the caller exits with that status.
 */
int options_read(struct options *options, int count, char **texts,
                 const struct workload *const *workloads);

#endif
