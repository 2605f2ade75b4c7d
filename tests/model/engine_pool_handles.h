/*
 * engine_pool_handles.h - what the handles of the pool must answer, whichever
 * arming they are of, and what must be the same after a call that did nothing.
 * The model cannot see it.
 */
#ifndef MODEL_ENGINE_POOL_HANDLES_H
#define MODEL_ENGINE_POOL_HANDLES_H

#include <tickwheel/pool.h>

#include "memory.h"

/* How the last arming of a timer ended, if it did. */
enum fate {
    FATE_NONE,
    FATE_ARMED,
    FATE_KEPT,
    FATE_RELEASED, /* popped, kept, then cancelled */
    FATE_CANCELLED,
    FATE_DONE,
};

struct pooled {
    tkw_handle handle; /* of the last arming; 0: never armed */
    tkw_handle older;  /* one before that */
    tkw_tick deadline;
    enum fate fate;
};

struct pool_engine {
    struct tkw_pool *pool;
    struct memory memory;
    bool is_oom;
    bool is_unfinished; /* the last advance said false */
    size_t reserved;    /* armings that cannot fail */
    uint32_t arms;
    uint32_t pops;
    uint32_t ends;
    size_t timer_count;
    struct pooled timers[];
};

/* Say that something is not so, and where, and end the program. */
_Noreturn void pooled_fail(const char *what, const char *file, int line);

#define DEMAND(condition) \
    ((condition) ? (void)0 : pooled_fail(#condition, __FILE__, __LINE__))

/* Fail if an invariant of the pool is broken, and say which. */
void pooled_verify_sound(const struct pool_engine *self);

/* May a timer of this fate have this state?  A place may be used again. */
bool pooled_fits(enum fate fate, enum tkw_state state);

/* Is it the pool's: armed, or kept? */
static inline bool pooled_is_held(const struct pooled *timer)
{
    return timer->fate == FATE_ARMED || timer->fate == FATE_KEPT;
}

/* What a popped says must be what was given. */
void pooled_verify_shot(const struct pool_engine *self,
                        const struct tkw_pool_timer *popped);

/* The state of a timer, which must go with what was given. */
enum tkw_state pooled_query(struct pool_engine *self, uint64_t id);

/* What must be the same after a call that did nothing. */
struct pooled_view {
    size_t count;
    tkw_tick next;
    tkw_tick now;
    struct tkw_pool_stats counters;
};

struct pooled_view pooled_view_of(const struct pool_engine *self);
void pooled_verify_unchanged(const struct pool_engine *self,
                             struct pooled_view view);
void pooled_verify_refused(const struct pool_engine *self,
                           struct pooled_view view);

/* A timer is gone, or kept: now and then, see that it is. */
void pooled_end(struct pool_engine *self, uint64_t id, enum fate fate);

#endif
