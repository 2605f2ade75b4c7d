/*
 * engine.h - what is under test, as a table of operations.
 *
 * Timers are numbers from 0 up to the count given to make().  A second engine
 * is one more file with one more table; the oracle, the generator and the
 * shrinking know nothing else of it.
 */
#ifndef MODEL_ENGINE_H
#define MODEL_ENGINE_H

#include <stdio.h>

#include <tickwheel/dial.h>

/* No timer: what pop and drain return when there is none. */
#define NO_TIMER UINT64_MAX

/* No bound on what an advance may touch. */
#define NO_BUDGET SIZE_MAX

/* What an engine has done since it was made. */
struct work {
    uint64_t armed;
    uint64_t fired;
    uint64_t cancelled;
    uint64_t drained;
    uint64_t falls;
    uint64_t refiles;
    uint64_t passes;
    uint64_t visits;
    uint64_t stops;

    /* Where cancelling leaves something behind; else 0. */
    uint64_t entries; /* in slots and queues now, for timers armed or not */
    uint64_t dead;    /* of these, those of no use */
};

/* A call, so that a reproducer can be written in the engine's own words. */
enum call_kind {
    CALL_ARM,      /* statements ... */
    CALL_ADVANCE,  /* ... without a budget */
    CALL_POSTPONE, /* bool */
    CALL_CANCEL,
    CALL_ADVANCE_SOME,
    CALL_IS_ARMED,
    CALL_CHECK,
    CALL_POP, /* a timer */
    CALL_DRAIN,
    CALL_NOW, /* a tick */
    CALL_NEXT,
    CALL_COUNT, /* a number */
    CALL_WALK,
    CALL_ARMED,
    CALL_FIRED,
    CALL_CANCELLED,
    CALL_DRAINED,
    CALL_FALLS,
    CALL_REFILES,
    CALL_PASSES,
    CALL_VISITS,
    CALL_STOPS,
    CALL_MOVES,      /* falls, refiles and passes together */
    CALL_DEAD,       /* what was left behind */
    CALL_TOUCHED,    /* no call, but what the judge saw: timers touched ... */
    CALL_IDLE_STOPS, /* ... stops in a row without progress ... */
    CALL_WAKES,      /* ... and advances to what next() said */
};

struct call {
    enum call_kind kind;
    uint64_t id; /* walk: cancel every timer divisible by it; 0: none */
    tkw_tick tick;
    size_t budget;
};

/* What a fresh engine is made of. */
struct world {
    struct tkw_geometry geometry;
    tkw_tick start;
    size_t timer_count;
    uint64_t seed; /* for what the engine itself does at random */
};

/* The reproducer: what comes before, a call as an expression, the end. */
struct engine_text {
    void (*write_preamble)(FILE *out, const struct world *world,
                           bool has_walks);
    void (*write_call)(FILE *out, struct call call);
    void (*write_timer)(FILE *out, uint64_t id);
    void (*write_epilogue)(FILE *out);
};

struct engine {
    const char *name;

    /*
     * Nothing is left in the slot of a cancelled timer, and slots fall at
     * their expiration: so no wake-up is in vain, and falls can be foretold
     * timer by timer.  Of an engine that is not exact the laws bound sums.
     */
    bool is_exact;

    /* What may be dead, however few timers are armed. */
    uint64_t dead_slack;

    void *(*make)(const struct world *world); /* NULL: out of memory */
    void (*free)(void *self);
    void (*arm)(void *self, uint64_t id, tkw_tick deadline);
    bool (*postpone)(void *self, uint64_t id, tkw_tick deadline);
    bool (*cancel)(void *self, uint64_t id);
    bool (*is_armed)(void *self, uint64_t id);
    bool (*advance)(void *self, tkw_tick to, size_t budget);
    uint64_t (*pop)(void *self);
    uint64_t (*pop_due)(void *self); /* NULL: pop is all there is */
    uint64_t (*drain)(void *self);
    tkw_tick (*next)(void *self);
    tkw_tick (*now)(void *self);
    size_t (*count)(void *self);
    /* Returns whether an invariant is broken, and describes it in `*fault`. */
    bool (*find_fault)(void *self, struct tkw_fault *fault);
    struct work (*work)(void *self);
    uint32_t (*level_count)(void *self);
    uint32_t (*slot_count)(void *self);

    /*
     * Visit all armed timers, cancelling those whose number `divisor` divides
     * (0: none), and store the numbers in `ids`.  Returns how many there were;
     * gives up after one more than there are timers.
     */
    size_t (*walk)(void *self, uint64_t divisor, uint64_t *ids);

    const struct engine_text *text;
};

extern const struct engine engine_wheel;
extern const struct engine_text engine_wheel_text;

/* The pool, with memory and with too little of it. */
extern const struct engine engine_pool;
extern const struct engine engine_pool_oom;

/* The same in a program whose pool is built with constants for toys. */
extern const struct engine engine_pool_tiny;
extern const struct engine engine_pool_tiny_oom;
extern const struct engine_text engine_pool_text;
extern const struct engine_text engine_pool_oom_text;

/* The pool with payload, with too little memory.  The second one is for a
 * program whose pool is built with constants for toys. */
extern const struct engine engine_pool_payload;
extern const struct engine engine_pool_tiny_payload;
extern const struct engine_text engine_payload_text;

/* Engines with a bug each, to see that it is found; NULL past the last. */
const struct engine *engine_broken(size_t index);

#endif
