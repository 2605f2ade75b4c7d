/*
 * generate.h - cases at random, each from its own seed.
 *
 * The mix leans towards what breaks wheels: equal deadlines, deadlines on the
 * edges of levels, time near the powers of two and near its end, and things
 * done in the middle of an unfinished advance.
 */
#ifndef MODEL_GENERATE_H
#define MODEL_GENERATE_H

#include "judge.h"
#include "random.h"

struct generator {
    struct random random;
    uint32_t ops_left;
    uint32_t delay_bits; /* delays are shorter than 2^this */
    uint32_t jump_bits;
    uint32_t tie_percent;      /* deadlines borrowed from another timer */
    uint32_t postpone_percent; /* of the moves */
    uint32_t budget_percent;   /* of the advances */
    uint32_t crowd_percent;    /* deadlines in the slot that falls next, for
                                  engines to which crowds are a matter */
    tkw_tick jump_max;         /* while anything is pending */
    bool is_popping;           /* until nothing is ready */
    bool is_draining;          /* until nothing is armed */
    bool is_near_end;          /* time may well reach its end */
    bool is_reading_out;       /* the end has come: a few more operations */
};

/* Choose the world of a case, and how its operations will be chosen. */
void generate_world(struct generator *generator, uint64_t seed, uint64_t number,
                    struct world *world);

/* Choose the next operation; returns false when the case is over. */
bool generate_op(struct generator *generator, const struct judge *judge,
                 struct op *op);

#endif
