/*
 * judge.h - do an operation on the engine, and hold it against the laws.
 */
#ifndef MODEL_JUDGE_H
#define MODEL_JUDGE_H

#include "engine.h"
#include "ledger.h"
#include "oracle.h"

enum op_kind {
    OP_ARM,
    OP_POSTPONE,
    OP_CANCEL,
    OP_ADVANCE,
    OP_POP,
    OP_DRAIN,
    OP_WALK /* the id is the divisor, see engine.h */
};

struct op {
    enum op_kind kind;
    uint32_t id;
    tkw_tick tick;
    size_t budget;
    uint64_t result; /* what the engine returned, filled in by the judge */
    bool is_done;    /* likewise; not done is what would be a caller's bug */
};

enum relation { EQUAL, AT_MOST, AT_LEAST, BELOW, ABOVE };

/* Something that must hold after a call; it is recorded when it does not. */
struct claim {
    const char *law; /* "L8"; static text */
    enum call_kind about;
    uint64_t id;
    uint64_t actual;
    enum relation relation;
    uint64_t expected;
};

struct judge {
    const struct engine *engine;
    void *self;
    struct world world;
    struct oracle oracle;
    struct ledger ledger;
    uint32_t check_every;
    uint32_t until_check; /* operations to the next check() */
    uint64_t *visited;    /* for walks */

    tkw_tick next;       /* the engine's answer after the last operation */
    struct work work;    /* likewise, after the last advance */
    uint64_t expired;    /* timers that became ready by advancing */
    uint64_t stops;      /* advances that said false */
    uint64_t meddled;    /* operations in the middle of an advance */
    tkw_tick farthest;   /* where time may have got to: the latest target */
    bool is_unfinished;  /* the last advance said false */
    uint64_t allowance;  /* timers that may yet be touched, until it is done */
    uint64_t idle_stops; /* stops in a row that changed nothing visible ... */
    uint64_t idle_max;   /* ... and how many there may be */
    uint64_t filings;    /* armings and movings, but for postponing */
    uint64_t wakes;      /* advances to what next() had said */
    uint64_t live_max;   /* the most timers that were armed at a time */
    uint64_t dead_slack; /* entries of no use beside them that are none too
                            many */

    bool has_failed;
    struct claim failure;   /* the first claim that did not hold */
    struct tkw_fault fault; /* the invariant that is broken, if that is about
                               CALL_CHECK */
};

/*
 * Make an engine and its oracle.  `check_every` is how many operations pass
 * between two calls of check(); 0 lets the judge choose by their cost.
 * Returns false if there is no memory.
 */
bool judge_open(struct judge *judge, const struct engine *engine,
                const struct world *world, uint32_t check_every);
void judge_close(struct judge *judge);

/* Do one operation.  Returns whether all laws held so far. */
bool judge_do(struct judge *judge, struct op *op);

/* Is anything in slots that an advance may have to deal with? */
static inline bool judge_is_pending(const struct judge *judge)
{
    return oracle_earliest(&judge->oracle) != TKW_NEVER ||
           (!judge->engine->is_exact && judge->next != TKW_NEVER);
}

/* What holds over a whole run.  Returns whether all laws held. */
bool judge_finish(struct judge *judge);

#endif
