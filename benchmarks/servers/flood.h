/*
 * servers/flood.h - put many jobs as fast as the server accepts them.
 */
#ifndef SERVERS_FLOOD_H
#define SERVERS_FLOOD_H

#include <stdint.h>

#include "histogram.h"
#include "loop.h"
#include "options.h"
#include "report.h"

struct flood {
    /* Set these before flood_run(). */
    uint64_t connections;
    uint64_t pipeline; /* puts of a connection that wait for replies */
    uint64_t jobs;
    uint64_t seconds; /* put nothing more when they have passed */
    const char *tube;
    /* Returns the delay of job `index`, which is put at `now_ns`. */
    uint32_t (*delay_ms)(struct flood *flood, uint32_t index, uint64_t now_ns);
    void *owner;      /* for delay_ms() */
    uint64_t delay_s; /* for delay_ms() */
    uint64_t span_s;  /* for delay_ms() */

    /* flood_run() sets these. */
    uint64_t stop_ns;   /* private */
    uint32_t put_count; /* at most `jobs` */
    uint64_t begin_ns;  /* before the first put */
    uint64_t end_ns;    /* of the last reply */
    uint64_t cpu_ns;    /* processor time of this client in between */
    struct histogram replies;
};

/* Fills connections, pipeline, jobs, seconds, delay_s and span_s. */
void flood_init(struct flood *flood, const struct options *options);

/* Opens the connections in `loop`, puts the jobs, and waits for all replies.
 * The connections stay open. */
void flood_run(struct flood *flood, struct loop *loop);

/* Adds how many jobs were put, the rate, and the client's processor time. */
void flood_report(const struct flood *flood, struct report *report);

#endif
