/*
 * run.h - case after case, in child processes, until enough is done.
 */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include "trial.h"

#define JOBS_MAX 64

struct run_options {
    const struct engine *engine;
    uint64_t seed;
    uint64_t ops_max;
    uint64_t seconds_max; /* 0: no limit */
    uint64_t first_case;
    bool is_single;    /* only first_case */
    uint32_t patience; /* seconds after which a case is said to hang */
    uint32_t check_every;
    uint32_t job_count;
};

/* What one child did, in shared memory. */
struct run_part {
    struct trial trial; /* the case under way */
    uint64_t case_number;
    uint64_t case_count;
    uint64_t end_count; /* cases that came to the end of time */
    uint64_t op_count;
    double tick_count; /* virtual time passed, all cases together */
    struct work work;
};

/*
 * Run.  `parts` is shared memory, one for each job.  Returns the part that
 * failed, with the verdict in `verdict`, or NULL if all held.
 */
struct run_part *run(const struct run_options *options, struct run_part *parts,
                     enum verdict *verdict);

/* Seconds on a clock that only goes forward. */
double run_clock(void);

#endif
