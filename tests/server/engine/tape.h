/*
 * server/engine/tape.h - operations of a trial: acts whose details depend on
 * what the model knows when they are done.
 *
 * So every subset of a tape is a tape, and a tape that fails can be shrunk by
 * leaving out operations.
 */
#ifndef TESTS_SERVER_ENGINE_TAPE_H
#define TESTS_SERVER_ENGINE_TAPE_H

#include "model.h"

enum { TAPE_OPS = 1024 };

struct op {
    uint8_t kind; /* a verb, or an enum act_kind */
    uint8_t client;
    bool is_lazy;    /* do not pop the replies at once */
    uint32_t detail; /* random numbers, of which op_resolve() makes an act */
    uint32_t more;
};

/* On which store a tape is played. */
enum tape_store {
    TAPE_MEMORY,  /* one that keeps nothing */
    TAPE_INSTANT, /* one that commits and answers at once */
    TAPE_SLOW,    /* one that takes its time, while time stands still */
};

struct tape {
    unsigned clients; /* of these many clients, */
    unsigned tubes;   /* and tubes */
    enum tape_store store;
    unsigned count;
    struct op ops[TAPE_OPS];
};

/* Record random operations: the same for the same seed. */
void tape_record(struct tape *tape, uint64_t seed);

/* Make an act of an operation.  `next` is the result of tkd_engine_next(). */
struct act op_resolve(const struct op *op, const struct tape *tape,
                      const struct model *model, uint64_t next);

#endif
