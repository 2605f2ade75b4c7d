/*
 * tape.h - a case written out: a world and the operations done in it.
 */
#ifndef MODEL_TAPE_H
#define MODEL_TAPE_H

#include "judge.h"

#define TAPE_OPS_MAX 8192

struct tape {
    struct world world;
    uint32_t check_every; /* as for judge_open() */
    uint32_t op_count;
    struct op ops[TAPE_OPS_MAX];
};

#endif
