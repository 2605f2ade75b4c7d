/*
 * server/engine/hunt.h - many random trials, in processes of their own; a trial
 * that fails is shrunk and described.
 */
#ifndef TESTS_SERVER_ENGINE_HUNT_H
#define TESTS_SERVER_ENGINE_HUNT_H

#include <stdbool.h>

#include "trial.h"

struct hunt {
    /* set by the caller */
    uint64_t seed;
    uint64_t acts_max;   /* stop after these many acts */
    uint64_t first_case; /* of the seed */
    bool is_single;      /* try the first case only */
    enum model_bug bug;

    /* results */
    uint64_t acts;
    uint64_t cases;
    uint64_t failed_case;
    unsigned shrunk_count;  /* operations that are left */
    struct bytes script;    /* of the shrunk trial, for a reader */
    struct bytes diagnosis; /* what is wrong there */
};

/* Try cases.  Returns whether all were sound.  If not, the last results
 * describe the first case that was not. */
bool hunt_run(struct hunt *hunt);

void hunt_free(struct hunt *hunt);

#endif
