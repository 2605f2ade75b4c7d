/*
 * judge_work.h - the part of the judge that counts: what the engine did for its
 * answers, held against the laws of work, L6, L7, L9 and L16.
 */
#ifndef MODEL_JUDGE_WORK_H
#define MODEL_JUDGE_WORK_H

#include "judge.h"

/*
 * An advance: what there was before, and what became ready by it.  A timer
 * armed in the middle of an advance may have been for the very tick under way:
 * that costs the advance nothing.
 */
struct stride {
    struct work before;
    tkw_tick from;
    uint64_t expired;
    uint64_t late; /* of these, armed in the middle of an advance */
};

static inline bool holds(const struct claim *claim)
{
    switch (claim->relation) {
    case EQUAL:
        return claim->actual == claim->expected;
    case AT_MOST:
        return claim->actual <= claim->expected;
    case AT_LEAST:
        return claim->actual >= claim->expected;
    case BELOW:
        return claim->actual < claim->expected;
    case ABOVE:
        return claim->actual > claim->expected;
    }
    return false;
}

/* Record a claim that does not hold, if it is the first. */
static inline void expect(struct judge *judge, struct claim claim)
{
    if (holds(&claim) || judge->has_failed)
        return;
    judge->has_failed = true;
    judge->failure = claim;
}

/* After an arming: what cancelled timers have left behind. */
void judge_dead(struct judge *judge);

/* After an advance that the oracle has followed. */
void judge_stride(struct judge *judge, const struct op *op,
                  const struct stride *stride);

/* After the last operation, with all filings ended.  This may end the engine's
   story. */
void judge_whole(struct judge *judge);

#endif
