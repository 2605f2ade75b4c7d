/*
 * engine_pool_handles.c - what a handle answers when its timer is armed, kept
 * or gone, and that forged ones name nobody.
 */
#include "engine_pool_handles.h"

#include <stdio.h>
#include <stdlib.h>

void pooled_fail(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    abort();
}

void pooled_verify_sound(const struct pool_engine *self)
{
    struct tkw_fault fault;
    char text[TKW_FAULT_TEXT_MAX];

    if (!tkw_pool_find_fault(self->pool, &fault))
        return;
    tkw_fault_describe(&fault, text, sizeof text);
    fprintf(stderr, "the pool is broken: %s\n", text);
    abort();
}

static bool is_live(enum tkw_state state)
{
    return state == TKW_PENDING || state == TKW_READY || state == TKW_KEPT;
}

bool pooled_fits(enum fate fate, enum tkw_state state)
{
    switch (fate) {
    case FATE_NONE:
        return state == TKW_STALE;
    case FATE_ARMED:
        return state == TKW_PENDING || state == TKW_READY;
    case FATE_KEPT:
        return state == TKW_KEPT;
    case FATE_RELEASED:
        return !is_live(state);
    case FATE_CANCELLED:
        return state == TKW_CANCELLED || state == TKW_STALE;
    case FATE_DONE:
        return state == TKW_DONE || state == TKW_STALE;
    }
    return false;
}

void pooled_verify_shot(const struct pool_engine *self,
                        const struct tkw_pool_timer *popped)
{
    DEMAND(popped->user.word < self->timer_count);
    const struct pooled *timer = &self->timers[popped->user.word];

    DEMAND(popped->user.pointer == timer);
    DEMAND(popped->handle == timer->handle);
    DEMAND(popped->deadline == timer->deadline);
}

enum tkw_state pooled_query(struct pool_engine *self, uint64_t id)
{
    const struct pooled *timer = &self->timers[id];
    struct tkw_pool_timer popped;
    enum tkw_state state = tkw_pool_query(self->pool, timer->handle, &popped);

    if (is_live(state))
        pooled_verify_shot(self, &popped);
    if (state == TKW_PENDING || state == TKW_READY) {
        bool is_due = timer->deadline != TKW_NEVER &&
                      timer->deadline <= tkw_pool_now(self->pool);
        DEMAND((state == TKW_READY) == is_due);
    }
    return state;
}

struct pooled_view pooled_view_of(const struct pool_engine *self)
{
    return (struct pooled_view){
        tkw_pool_count(self->pool), tkw_pool_next(self->pool),
        tkw_pool_now(self->pool), tkw_pool_read_stats(self->pool)};
}

void pooled_verify_unchanged(const struct pool_engine *self,
                             struct pooled_view view)
{
    struct pooled_view after = pooled_view_of(self);

    DEMAND(after.count == view.count);
    DEMAND(after.next == view.next);
    DEMAND(after.now == view.now);
    DEMAND(after.counters.work.armed == view.counters.work.armed);
    DEMAND(after.counters.work.cancelled == view.counters.work.cancelled);
    DEMAND(after.counters.entries == view.counters.entries);
    DEMAND(after.counters.dead == view.counters.dead);
}

/*
 * The call was refused for lack of memory.  Sweeping may have dropped dead
 * entries, and with them slots that held nothing else.
 */
void pooled_verify_refused(const struct pool_engine *self,
                           struct pooled_view view)
{
    struct pooled_view after = pooled_view_of(self);

    DEMAND(after.count == view.count);
    DEMAND(after.next >= view.next);
    DEMAND(after.now == view.now);
    DEMAND(after.counters.work.armed == view.counters.work.armed);
    DEMAND(after.counters.work.cancelled == view.counters.work.cancelled);
    DEMAND(after.counters.dead <= view.counters.dead);
    DEMAND(after.counters.entries - after.counters.dead ==
           view.counters.entries - view.counters.dead);
}

/* A handle that names no timer: whatever is asked, the answer is no. */
static void verify_nobody(struct pool_engine *self, tkw_handle handle)
{
    struct pooled_view view = pooled_view_of(self);
    tkw_tick soon = tkw_tick_after(view.now, 1);

    DEMAND(!is_live(tkw_pool_query(self->pool, handle, NULL)));
    DEMAND(!tkw_pool_cancel(self->pool, handle));
    DEMAND(tkw_pool_rearm(self->pool, handle, soon) == 0);
    DEMAND(tkw_pool_postpone(self->pool, handle, TKW_NEVER) == 0);
    pooled_verify_unchanged(self, view);
}

static void verify_forged(struct pool_engine *self, tkw_handle handle)
{
    for (size_t id = 0; id < self->timer_count; id++)
        if (pooled_is_held(&self->timers[id]) &&
            self->timers[id].handle == handle)
            return; /* not forged after all */
    verify_nobody(self, handle);
}

/* Handles that were never given out, made from one that was. */
static void forge(struct pool_engine *self, tkw_handle handle)
{
    tkw_handle bit = UINT64_C(1) << self->ends / 16 % 64;

    DEMAND(tkw_pool_query(self->pool, 0, NULL) == TKW_STALE);
    DEMAND(tkw_pool_query(self->pool, UINT64_MAX, NULL) == TKW_STALE);
    DEMAND(tkw_pool_query(self->pool, handle | UINT32_MAX, NULL) == TKW_STALE);
    verify_nobody(self, 0);
    verify_nobody(self, UINT64_MAX);
    verify_forged(self, handle ^ bit);
    verify_forged(self, handle + bit);
    verify_forged(self, handle - bit);
    verify_forged(self, handle ^ 1);
    verify_forged(self, handle & UINT32_MAX);
    verify_forged(self, handle | UINT32_MAX);
}

void pooled_end(struct pool_engine *self, uint64_t id, enum fate fate)
{
    struct pooled *timer = &self->timers[id];
    enum tkw_state state = pooled_query(self, id);

    timer->fate = fate;
    DEMAND(pooled_fits(fate, state));
    DEMAND(state != TKW_STALE); /* used again by whom? */
    if (fate != FATE_KEPT && self->ends % 4 == 0)
        verify_nobody(self, timer->handle);
    if (fate == FATE_KEPT)
        DEMAND(tkw_pool_postpone(self->pool, timer->handle, 0) == 0);
    if (self->ends % 16 == 0) {
        forge(self, timer->handle);
        verify_nobody(self, timer->older);
    }
    self->ends++;
}
