/*
 * servers/lateness.h - how late delayed jobs arrive.
 *
 * The server computes the due time of a job from its own clock reading, which
 * the client does not know.  It lies between two clock readings of the client:
 *
 *     sent        before the put was given to send()
 *     inserted    after recv() returned its INSERTED reply
 *
 *     client  sent                inserted                    received
 *     server        accepted                   due   sends
 *     -----------|-----|-------------|----------|------|-----------|----> time
 *
 * so   sent + delay <= due <= inserted + delay, and the job was late by
 *
 *     at most    received - (sent + delay)         the upper bound
 *     at least   received - (inserted + delay)     the lower bound
 *
 * `received` is read after recv() returned the job.  The upper bound contains
 * the whole way of the put to the server and of the job to the client.  Reports
 * and targets use the upper bound.  The bounds differ by the reply time of the
 * put.
 *
 * A negative upper bound proves that the server sent the job early, or that its
 * clock runs faster than CLOCK_MONOTONIC.  Linux slews CLOCK_MONOTONIC and
 * CLOCK_REALTIME alike, so on one machine an error comes only from a step of
 * CLOCK_REALTIME under a server that uses it.
 */
#ifndef SERVERS_LATENESS_H
#define SERVERS_LATENESS_H

#include <stddef.h>
#include <stdint.h>

#include "histogram.h"
#include "report.h"

/* A zero-filled record is empty and valid.  lateness_close() frees it. */
struct lateness {
    struct job_times *jobs; /* private */
    size_t size;            /* private */
};

/* How late one job arrived. */
struct late {
    uint64_t due_ns; /* the earliest that it can have been due */
    int64_t most_ns;
    int64_t least_ns;
};

void lateness_close(struct lateness *lateness);

/* Job `index` was put at `sent_ns`. */
void lateness_sent(struct lateness *lateness, uint32_t index, uint64_t delay_ms,
                   uint64_t sent_ns);

/* The INSERTED reply of job `index` arrived at `inserted_ns`. */
void lateness_inserted(struct lateness *lateness, uint32_t index,
                       uint64_t inserted_ns);

/* Job `index` arrived at `received_ns`.  Fails the program if the job was not
 * put or has arrived before. */
struct late lateness_received(struct lateness *lateness, uint32_t index,
                              uint64_t received_ns);

/* The bounds of many jobs; zero-filled is empty and valid. */
struct late_summary {
    struct histogram most;
    struct histogram least;
};

void late_summary_add(struct late_summary *summary, const struct late *late);

/* Adds the upper bound as NAME_, the lower bound as NAME_least_, and the least
 * upper bound as NAME_earliest_us. */
void late_summary_report(const struct late_summary *summary, const char *name,
                         struct report *report);

#endif
