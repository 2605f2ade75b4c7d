/*
 * core/plan.h - which cells are measured, in which order, and how far we are.
 */
#ifndef PLAN_H
#define PLAN_H

#include "measure.h"

enum {
    SIZES_MAX = 16,
    STRUCTURES_MAX = 6,
    FLOORS_MAX = 5,
    CELLS_MAX = SIZES_MAX * (FLOORS_MAX + SPREADS * WORKLOADS * STRUCTURES_MAX),
};

struct plan {
    size_t sizes[SIZES_MAX];
    unsigned size_count;
    const char *workloads; /* comma-separated names, or NULL for all */
    const char *structures;
    const char *spreads;
    uint64_t seed;
    unsigned repeats;
    bool is_in_process; /* no children: for an instruction counter */
    struct cell cells[CELLS_MAX];
    size_t cell_count;
};

/*
 * List the cells that are asked for.  Returns false, having said so, if a name
 * is not known or there are none.
 */
bool plan_lay(struct plan *plan);

/* Measure each, and all of them again.  A cell that fails is not measured
 * again.  Returns whether no cell has failed. */
bool plan_measure(struct plan *plan);

#endif
