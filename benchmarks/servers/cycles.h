/*
 * servers/cycles.h - put, reserve and delete, again and again.
 */
#ifndef SERVERS_CYCLES_H
#define SERVERS_CYCLES_H

#include <stdint.h>

#include "histogram.h"
#include "loop.h"

struct cycles {
    /* Set these before cycles_run(). */
    uint64_t connections;
    uint64_t jobs;
    uint64_t seconds;

    /* cycles_run() sets these. */
    uint64_t stop_ns; /* private */
    uint32_t put_count;
    uint32_t done_count;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t cpu_ns;        /* processor time of this client in between */
    struct histogram times; /* from the put to the reply of the delete */
};

/*
 * Runs cycles until `jobs` of them are done or `seconds` have passed, in a tube
 * that all connections share.  Each connection sends a command after the reply
 * of the one before.  No job is left in the server.
 */
void cycles_run(struct cycles *cycles, const struct address *address,
                size_t body_size);

#endif
