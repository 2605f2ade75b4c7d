/*
 * engine.h - a wheel or a pool, as a replay sees it: timers are numbers.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <tickwheel/wheel.h>

struct engine; /* of engine_wheel.c or engine_pool.c */

/* How many timers wait in each slot of the dial, and of each level. */
struct engine_census {
    uint32_t *slots;  /* by number among all slots: dial->levels[i].first + j */
    uint32_t *places; /* or NULL: by timer, that number, or ENGINE_NOWHERE */
};

#define ENGINE_NOWHERE UINT32_MAX

struct engine_kind {
    const char *name; /* "wheel" or "pool" */
    /* For timers 0 to n-1, all idle.  NULL: there is no memory. */
    struct engine *(*open)(const struct tkw_geometry *geometry, tkw_tick start,
                           uint32_t n);
    void (*close)(struct engine *engine);
    /* Arm, or move if it is armed.  Returns whether there was memory. */
    bool (*arm)(struct engine *engine, uint32_t id, tkw_tick deadline);
    /* Returns 1, or 0 if it was not armed, or -ENOMEM. */
    int (*postpone)(struct engine *engine, uint32_t id, tkw_tick deadline);
    /* Returns whether it was armed. */
    bool (*cancel)(struct engine *engine, uint32_t id);
    void (*advance)(struct engine *engine, tkw_tick now);
    /* The next timer that is ready, or ENGINE_NOWHERE. */
    uint32_t (*pop)(struct engine *engine, tkw_tick *deadline);
    tkw_tick (*next)(const struct engine *engine);
    size_t (*count)(const struct engine *engine);
    struct tkw_wheel_stats (*read_stats)(const struct engine *engine);
    /* All memory that it takes now, armed timers included. */
    size_t (*bytes)(const struct engine *engine);
    const struct tkw_dial *(*dial)(const struct engine *engine);
    void (*take_census)(const struct engine *engine,
                        struct engine_census *census);
    /* Returns whether an invariant is broken, and describes it in `*fault`. */
    bool (*find_fault)(const struct engine *engine, struct tkw_fault *fault);
};

extern const struct engine_kind engine_wheel, engine_pool;

#endif
