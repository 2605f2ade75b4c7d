/*
 * oracle.h - what the laws say must happen: a sorted array of timers.
 *
 * Slow and plain on purpose.  It has no levels and no slots, and it never asks
 * the engine anything: it is told what was done and says what may come of it.
 *
 * Pending timers are sorted by deadline, then by arming.  Advancing cuts off
 * those that are due, as one batch, and appends them to the ready ones.  The
 * only freedom is that of postponed timers among their equals: those of the
 * same deadline in the same batch (L4).
 */
#ifndef MODEL_ORACLE_H
#define MODEL_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tickwheel/dial.h>

enum oracle_state { ORACLE_IDLE, ORACLE_PENDING, ORACLE_READY };

struct oracle_timer {
    tkw_tick deadline; /* of the arming under way, or the last */
    uint64_t sequence; /* grows with every arming and every moving */
    enum oracle_state state;
    bool is_free; /* postponed: anywhere among its equals */
};

struct oracle_entry {
    tkw_tick deadline;
    uint64_t sequence; /* pending: of the arming; ready: of the batch */
    uint32_t id;
};

struct oracle {
    tkw_tick now;
    uint64_t sequence;
    uint64_t advanced; /* the sequence at the last advance */
    uint64_t armed;
    uint64_t fired;
    uint64_t cancelled;
    uint64_t drained;
    size_t timer_count;
    size_t pending_count;
    size_t ready_first;
    size_t ready_end;
    struct oracle_timer *timers;
    struct oracle_entry *pending; /* sorted */
    struct oracle_entry *ready;   /* a queue: ready_first up to ready_end */
};

/* Returns false if there is no memory. */
bool oracle_open(struct oracle *oracle, size_t timer_count, tkw_tick start);
void oracle_close(struct oracle *oracle);

void oracle_arm(struct oracle *oracle, uint64_t id, tkw_tick deadline);

/* These return what the call must return. */
bool oracle_postpone(struct oracle *oracle, uint64_t id, tkw_tick deadline);
bool oracle_cancel(struct oracle *oracle, uint64_t id);

/* Make ready what is due at `now`; returns how many that are. */
size_t oracle_advance(struct oracle *oracle, tkw_tick now);

/* The timer `back` places from the end of those ready. */
uint64_t oracle_ready_from_end(const struct oracle *oracle, size_t back);

/* A timer that may be popped next, or UINT64_MAX if none is ready. */
uint64_t oracle_first(const struct oracle *oracle);

/* Tell whether the first ready timer was so at the last advance. */
bool oracle_is_first_due(const struct oracle *oracle);

/* Tell whether `id` may be popped next. */
bool oracle_may_pop(const struct oracle *oracle, uint64_t id);

/* Follow a pop of `id`, one that may be popped. */
void oracle_pop(struct oracle *oracle, uint64_t id);

/* Follow a drain of `id`, one that is armed. */
void oracle_drain(struct oracle *oracle, uint64_t id);

static inline size_t oracle_ready_count(const struct oracle *oracle)
{
    return oracle->ready_end - oracle->ready_first;
}

static inline size_t oracle_count(const struct oracle *oracle)
{
    return oracle->pending_count + oracle_ready_count(oracle);
}

static inline bool oracle_is_armed(const struct oracle *oracle, uint64_t id)
{
    return oracle->timers[id].state != ORACLE_IDLE;
}

/* The earliest deadline pending, TKW_NEVER if there is none. */
static inline tkw_tick oracle_earliest(const struct oracle *oracle)
{
    return oracle->pending_count > 0 ? oracle->pending[0].deadline : TKW_NEVER;
}

#endif
