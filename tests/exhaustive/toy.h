/*
 * toy.h - a small wheel under its judge, whose whole state can be put back.
 *
 * Wheel, timers, oracle and ledger are plain memory that stays where it is: to
 * copy the bytes back is to be back in that state.
 */
#ifndef EXHAUSTIVE_TOY_H
#define EXHAUSTIVE_TOY_H

#include <tickwheel/wheel.h>

#include "../model/judge.h"

#define TOY_TIMERS_MAX 6

/* Ticks that anything can lie ahead: a relative deadline fits in a byte. */
#define TOY_REACH_MAX 200

struct toy_config {
    struct tkw_geometry geometry;
    uint32_t timer_count;
    bool has_postponing;
    bool has_exact_turns; /* tell apart how timers lie in the lanes, too */
};

struct toy_region {
    void *at;
    size_t bytes;
};

struct toy {
    struct toy_config config;
    struct judge judge;
    struct tkw_wheel *wheel;
    struct tkw_timer *timers;
    tkw_tick reach;  /* the farthest that is armed or advanced to */
    tkw_tick period; /* what happens at t happens at t + period, too */
    struct toy_region regions[8];
    size_t region_count;
    size_t bytes; /* of all regions together */
};

/*
 * Say what is wrong with a config, in words fit for an error message, or
 * return NULL.
 */
const char *toy_fault(const struct toy_config *config);

/* Returns false if there is no memory. */
bool toy_open(struct toy *toy, const struct toy_config *config);
void toy_close(struct toy *toy);

/* Copy the state to `memory`, `toy->bytes` of it, and back. */
void toy_save(const struct toy *toy, void *memory);
void toy_restore(struct toy *toy, const void *memory);

/*
 * Tell the judge what it cannot see from outside, after every operation: where
 * a budget ran out.  It then claims more, and has less to remember.
 */
void toy_look_inside(struct toy *toy);

#endif
