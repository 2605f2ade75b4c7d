/*
 * toy.h - something small under its judge, whose whole state can be put back.
 *
 * The engine, its oracle and the ledger are plain memory that stays where it
 * is: to copy the bytes back is to be back in that state.
 *
 * What is under test is a kind of toy, one a program: wheel.c and pool.c.
 */
#ifndef EXHAUSTIVE_TOY_H
#define EXHAUSTIVE_TOY_H

#include "../model/judge.h"

#define TOY_TIMERS_MAX 6

/* Ticks that anything can lie ahead: a relative deadline fits in a byte. */
#define TOY_REACH_MAX 200

struct toy_config {
    struct tkw_geometry geometry;
    uint32_t timer_count;
    bool has_postponing;
    bool has_exact_turns;  /* tell apart how timers lie in the lanes, too */
    bool has_keeping;      /* a timer may be popped and kept */
    bool is_finite;        /* nothing is armed for ever */
    bool is_coarse;        /* the dead entries of all timers are alike */
    uint32_t dead_limit;   /* states with so many dead entries are judged, but
                             not left again; 0: all are */
    uint32_t unseen_limit; /* likewise for what was postponed so often */
    uint32_t depth_max;    /* operations in a row; 0: any number */
};

/* A config as it is written; see --help of the programs. */
struct toy_plan {
    const char *toy;
    uint32_t timer_count;
    uint32_t depth_max;
};

struct toy_region {
    void *at;
    size_t bytes;
    const size_t *used; /* how many of them were ever used; NULL: all */
};

struct toy {
    struct toy_config config;
    struct judge judge;
    tkw_tick reach;  /* the farthest that is armed or advanced to */
    tkw_tick period; /* what happens at t happens at t + period, too */
    struct toy_region regions[8];
    size_t region_count;
    size_t bytes; /* of all regions together */
};

struct text; /* see key.h */

struct toy_kind {
    const char *program;
    int width;           /* of the longest plan, for a table */
    const char *things;  /* what it is about, and what may follow the sizes, */
    const char *letters; /* for --help */
    const struct engine *(*engine)(void);
    const struct toy_plan *everyday;
    const struct toy_plan *larger;
    size_t everyday_count;
    size_t larger_count;

    tkw_tick (*find_period)(const struct toy_config *config,
                            const struct ladder *ladder, tkw_tick reach);

    /* Add the regions that make up the engine. */
    void (*add_engine)(struct toy *toy);

    /* Before an operation: choose among the ways of doing it. */
    void (*prepare)(struct toy *toy, const struct op *op);

    /*
     * Tell the judge what it cannot see from outside, after every operation:
     * where a budget ran out.  It then claims more, and has less to remember.
     */
    void (*read_inside)(struct toy *toy);

    /* Is this idle timer like all others that are idle? */
    bool (*is_plain)(const struct toy *toy, uint64_t id);

    /* Is this state past the bounds that the config sets? */
    bool (*is_beyond)(const struct toy *toy);

    /* Put what the engine's future depends on into the key. */
    void (*put)(struct text *text);
};

/* That of the program. */
extern const struct toy_kind toy_kind;

/*
 * Read a plan.  After the sizes come, in this order, r to go round, - for no
 * postponing, + for exact turns, k for keeping, f for finite, a for the dead
 * are alike, d and a digit for the most that may be dead, u and a
 * digit for how often may be postponed unseen.  Returns whether it makes sense.
 */
bool toy_read(struct toy_config *config, const struct toy_plan *plan);

/*
 * Say what is wrong with a config, in words fit for an error message, or
 * return NULL.
 */
const char *toy_fault(const struct toy_config *config);

/* Returns false if there is no memory. */
bool toy_open(struct toy *toy, const struct toy_config *config);
void toy_close(struct toy *toy);

void toy_add_region(struct toy *toy, struct toy_region region);

/* Copy the state to `memory`, `toy->bytes` of it, and back. */
void toy_save(const struct toy *toy, void *memory);
void toy_restore(struct toy *toy, const void *memory);

#endif
