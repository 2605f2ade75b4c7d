/*
 * pool/pop.c - handing timers out: popping, querying, visiting and draining.
 */
#include "private.h"

static struct tkw_shot describe(const struct tkw_pool *pool, uint32_t index,
                                struct record *timer)
{
    uint32_t at = index;
    return (struct tkw_shot){
        .handle = (timer->word & WORD_GENERATION) | index,
        .deadline = timer_body(pool, timer, &at)->deadline,
        .user = timer->user,
    };
}

enum tkw_state tkw_pool_query(const struct tkw_pool *pool, tkw_handle handle,
                              struct tkw_shot *shot)
{
    struct record *timer = record_find(pool, handle);
    if (timer == NULL)
        return TKW_STALE;
    uint64_t state = timer->word & WORD_STATE;
    if (state == IS_CANCELLED)
        return TKW_CANCELLED;
    if (state == IS_DONE)
        return TKW_DONE;
    if (state != IS_ARMED && state != IS_KEPT)
        return TKW_STALE;

    struct tkw_shot told = describe(pool, (uint32_t)handle, timer);
    if (shot != NULL)
        *shot = told;
    if (state == IS_KEPT)
        return TKW_KEPT;
    bool has_come = (timer->word & WORD_QUEUED) && told.deadline <= pool->now;
    return has_come ? TKW_READY : TKW_PENDING;
}

/* End an arming by handing the timer out; `state` is what it is then. */
static void hand_out(struct tkw_pool *pool, uint32_t index,
                     struct record *timer, uint64_t state,
                     struct tkw_shot *shot)
{
    *shot = describe(pool, index, timer);
    pool_leave_queue(pool, timer);
    record_set_state(timer, state);
}

/* Take the first entry of what is ready; there is one. */
static inline uint64_t take_ready(struct tkw_pool *pool)
{
    enum { AHEAD = 8 };
    struct stream *ready = shelf(pool, READY);
    uint64_t entry = *ready->read;
    if (ready->read + AHEAD < pool->ready_end)
        entry_prefetch(pool, ready->read[AHEAD]);
    if (ready->read + 1 < pool->ready_end) {
        ready->read++;
        return entry;
    }
    /* At the end of what was known.  There may be more by now. */
    stream_consume(pool, &pool->shelves[READY], ready, 1);
    pool->ready_end =
        stream_is_empty(ready) ? NULL : ready->read + stream_run(ready);
    return entry;
}

/* The entry is not simply that of an armed timer. */
static RARE bool pop_any(struct tkw_pool *pool, uint64_t entry,
                         struct tkw_shot *shot, uint64_t state)
{
    struct record *timer = entry_timer(pool, entry);
    if (timer != NULL) {
        uint32_t index = entry_index(entry);
        if (timer->word & WORD_MOVED)
            index = (uint32_t)record_at(pool, index)->user.word;
        hand_out(pool, index, timer, state, shot);
        pool->counters.fired++;
    }
    pool_drop(pool, entry);
    return timer != NULL;
}

/* Take the first entry of what was armed since the last advance; there is one.
 * (Mostly an advance has moved it to READY before anybody asks.) */
static RARE uint64_t take_fresh(struct tkw_pool *pool)
{
    struct stream *fresh = shelf(pool, FRESH);
    uint64_t entry = *fresh->read;
    stream_consume(pool, &pool->shelves[FRESH], fresh, 1);
    return entry;
}

/* Which timers to pop. */
enum popped { POP_ANY, POP_DUE };

static inline bool take_entry(struct tkw_pool *pool, enum popped which,
                              uint64_t *entry)
{
    if (!stream_is_empty(shelf(pool, READY))) {
        *entry = take_ready(pool);
        return true;
    }
    if (which == POP_DUE || stream_is_empty(shelf(pool, FRESH)))
        return false;
    *entry = take_fresh(pool);
    return true;
}

static inline bool pop(struct tkw_pool *pool, struct tkw_shot *shot,
                       uint64_t state, enum popped which)
{
    uint64_t entry;
    while (take_entry(pool, which, &entry)) {
        uint32_t index = entry_index(entry);
        struct record *timer = record_at(pool, index);
        const uint64_t mask = WORD_STATE | WORD_MOVED | WORD_ENTRIES | WORD_TAG;
        uint64_t alone = IS_ARMED | WORD_ENTRY | entry_tag(entry);
        if ((timer->word & mask) != alone) {
            if (pop_any(pool, entry, shot, state))
                return true;
            continue;
        }
        shot->handle = (timer->word & WORD_GENERATION) | index;
        shot->deadline = timer->deadline;
        shot->user = timer->user;
        timer->word = (timer->word & (WORD_GENERATION | WORD_TAG)) | state;
        pool->entries--;
        pool->queued--;
        pool->counters.fired++;
        if (state == IS_DONE)
            tkw__record_give_back(pool, index, timer);
        return true;
    }
    return false;
}

bool tkw_pool_pop(struct tkw_pool *pool, struct tkw_shot *shot)
{
    return pop(pool, shot, IS_DONE, POP_ANY);
}

size_t tkw_pool_pop_many(struct tkw_pool *pool, struct tkw_shot *shots,
                         size_t count)
{
    size_t stored = 0;
    while (stored < count && pop(pool, &shots[stored], IS_DONE, POP_ANY))
        stored++;
    return stored;
}

size_t tkw_pool_pop_due(struct tkw_pool *pool, struct tkw_shot *shots,
                        size_t count)
{
    size_t stored = 0;
    while (stored < count && pop(pool, &shots[stored], IS_DONE, POP_DUE))
        stored++;
    return stored;
}

bool tkw_pool_pop_keep(struct tkw_pool *pool, struct tkw_shot *shot)
{
    return pop(pool, shot, IS_KEPT, POP_ANY);
}

bool tkw_pool_walk(const struct tkw_pool *pool, struct tkw_pool_cursor *walk,
                   struct tkw_shot *shot)
{
    if (walk->next == 0)
        walk->end = pool->used;
    while (walk->next < walk->end) {
        uint32_t index = walk->next++;
        struct record *timer = record_at(pool, index);
        if ((timer->word & WORD_STATE) == IS_ARMED) {
            *shot = describe(pool, index, timer);
            return true;
        }
    }
    return false;
}

bool tkw_pool_drain(struct tkw_pool *pool, struct tkw_shot *shot)
{
    if (pool_live(pool) == 0)
        return false;
    for (;; pool->drain_at++) {
        if (pool->drain_at >= pool->used)
            pool->drain_at = 0;
        struct record *timer = record_at(pool, pool->drain_at);
        if ((timer->word & WORD_STATE) == IS_ARMED) {
            hand_out(pool, pool->drain_at, timer, IS_DONE, shot);
            pool->counters.drained++;
            return true;
        }
    }
}
