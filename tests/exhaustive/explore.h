/*
 * explore.h - every sequence of operations on a toy, until nothing is new.
 *
 * Breadth first, from a fresh toy: from each state every operation of a small
 * alphabet is done, and what it leads to is a new state or one seen before.
 * When all have been left in every way, all sequences of any length have been
 * judged, because each goes from known state to known state.
 *
 * A state is kept as its last step only; the way to it is replayed when its
 * turn comes.  So the way is also the shortest one, which a failure shows.
 */
#ifndef EXHAUSTIVE_EXPLORE_H
#define EXHAUSTIVE_EXPLORE_H

#include "toy.h"

#include "../model/trial.h"

/* How far a run got; in shared memory, so that it outlives a crash. */
struct progress {
    struct trial trial; /* the way being tried */
    uint64_t state_count;
    uint64_t transition_count;
    uint64_t beyond_count; /* of these, to states past the bounds */
    uint32_t depth;        /* of the state under way */
    bool is_closed;        /* every state was left in every way ... */
    bool is_bounded;       /* ... but for those as deep as is allowed */
    bool is_out_of_memory;
};

/*
 * Explore until closure, the first failure, or more than `states_max` states.
 * Returns whether all laws held.
 */
bool explore(const struct toy_config *config, uint64_t states_max,
             struct progress *progress);

#endif
