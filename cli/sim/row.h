/*
 * row.h - one geometry that was tried: what tables and charts are made of.
 */
#ifndef SIM_ROW_H
#define SIM_ROW_H

#include "replay.h"

struct sim_row {
    char name[160]; /* "wheel 128,512,64" */
    const struct engine_kind *kind;
    struct tkw_geometry geometry;
    struct replay_outcome outcome;
};

/* What is compared. */

static inline double row_each(double sum, uint64_t count)
{
    return count > 0 ? sum / (double)count : 0;
}

static inline double row_visits(const struct replay_outcome *outcome)
{
    return (double)outcome->work.visits;
}

static inline double row_wakeups(const struct replay_outcome *outcome)
{
    return (double)outcome->wakeups;
}

static inline double row_bytes(const struct replay_outcome *outcome)
{
    return (double)outcome->bytes_max;
}

static inline double row_worst(const struct replay_outcome *outcome)
{
    return (double)outcome->worst_moved;
}

/* Of an operation. */
static inline double row_ns(const struct replay_outcome *outcome)
{
    return row_each(outcome->ns, outcome->operations);
}

#endif
