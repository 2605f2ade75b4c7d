/*
 * pool/pop.c - returning timers: pop, query, walk and drain.
 */
#include "payload.h"
#include "private.h"

static struct tkw_pool_timer describe(const struct tkw_pool *pool,
                                      uint32_t index, struct record *timer)
{
    uint32_t at = index;
    return (struct tkw_pool_timer){
        .handle = (timer->word & WORD_GENERATION) | index,
        .deadline = timer_body(pool, timer, &at)->deadline,
        .user = timer->user,
    };
}

enum tkw_state tkw_pool_query(const struct tkw_pool *pool, tkw_handle handle,
                              struct tkw_pool_timer *found)
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

    struct tkw_pool_timer description = describe(pool, (uint32_t)handle, timer);
    if (found != NULL)
        *found = description;
    if (state == IS_KEPT)
        return TKW_KEPT;
    bool is_due =
        (timer->word & WORD_QUEUED) && description.deadline <= pool->now;
    return is_due ? TKW_READY : TKW_PENDING;
}

/* End an arming: store the timer in `*popped`, and set its state to `state`. */
static void hand_out(struct tkw_pool *pool, uint32_t index,
                     struct record *timer, uint64_t state,
                     struct tkw_pool_timer *popped)
{
    *popped = describe(pool, index, timer);
    pool_leave_queue(pool, timer);
    record_set_state(timer, state);
}

/* Remove and return the first entry of READY, which must not be empty. */
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
    /* This was the last entry before `ready_end`.  There may be more by now. */
    stream_consume(pool, &pool->shelves[READY], ready, 1);
    pool->ready_end =
        stream_is_empty(ready) ? NULL : ready->read + stream_run(ready);
    return entry;
}

/* Pop an entry that is dead, or whose record is a body or has more entries.
 * Returns whether it popped a timer. */
static RARE bool pop_any(struct tkw_pool *pool, uint64_t entry,
                         struct tkw_pool_timer *popped, uint64_t state)
{
    struct record *timer = entry_timer(pool, entry);
    if (timer != NULL) {
        uint32_t index = entry_index(entry);
        if (timer->word & WORD_MOVED)
            index = (uint32_t)record_at(pool, index)->user.word;
        hand_out(pool, index, timer, state, popped);
        pool->stats.fired++;
    }
    pool_drop(pool, entry);
    return timer != NULL;
}

/* Like take_ready(), for FRESH.  (Usually an advance has moved the entries of
 * FRESH to READY before.) */
static RARE uint64_t take_fresh(struct tkw_pool *pool)
{
    struct stream *fresh = shelf(pool, FRESH);
    uint64_t entry = *fresh->read;
    stream_consume(pool, &pool->shelves[FRESH], fresh, 1);
    return entry;
}

/* Which shelves to pop from: READY and FRESH, or READY only. */
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

static inline bool pop(struct tkw_pool *pool, struct tkw_pool_timer *popped,
                       uint64_t state, enum popped which)
{
    uint64_t entry;
    while (take_entry(pool, which, &entry)) {
        uint32_t index = entry_index(entry);
        struct record *timer = record_at(pool, index);
        const uint64_t mask = WORD_STATE | WORD_MOVED | WORD_ENTRIES | WORD_TAG;
        uint64_t alone = IS_ARMED | WORD_ENTRY | entry_tag(entry);
        if ((timer->word & mask) != alone) {
            if (pop_any(pool, entry, popped, state))
                return true;
            continue;
        }
        popped->handle = (timer->word & WORD_GENERATION) | index;
        popped->deadline = timer->deadline;
        popped->user = timer->user;
        timer->word = (timer->word & (WORD_GENERATION | WORD_TAG)) | state;
        pool->entries--;
        pool->queued--;
        pool->stats.fired++;
        if (state == IS_DONE)
            tkw__record_free(pool, index, timer);
        return true;
    }
    return false;
}

bool tkw_pool_pop(struct tkw_pool *pool, struct tkw_pool_timer *popped)
{
    return pop(pool, popped, IS_DONE, POP_ANY);
}

size_t tkw_pool_pop_many(struct tkw_pool *pool, struct tkw_pool_timer *popped,
                         size_t count)
{
    size_t stored = 0;
    while (stored < count && pop(pool, &popped[stored], IS_DONE, POP_ANY))
        stored++;
    return stored;
}

size_t tkw_pool_pop_due(struct tkw_pool *pool, struct tkw_pool_timer *popped,
                        size_t count)
{
    size_t stored = 0;
    while (stored < count && pop(pool, &popped[stored], IS_DONE, POP_DUE))
        stored++;
    return stored;
}

bool tkw_pool_pop_keep(struct tkw_pool *pool, struct tkw_pool_timer *popped)
{
    return pop(pool, popped, IS_KEPT, POP_ANY);
}

tkw_tick tkw__pool_deadline(const struct tkw_pool *pool, uint32_t index)
{
    return timer_body(pool, record_at(pool, index), &index)->deadline;
}

size_t tkw__pool_take_due(struct tkw_pool *pool, struct taken_timer *taken,
                          size_t count)
{
    size_t stored = 0;
    uint64_t entry;
    while (stored < count && take_entry(pool, POP_DUE, &entry)) {
        struct record *timer = entry_wanted(pool, entry);
        if (timer != NULL) {
            uint32_t index = entry_index(entry);
            taken[stored].deadline = entry_deadline(pool, entry);
            if (timer->word & WORD_MOVED)
                index = (uint32_t)record_at(pool, index)->user.word;
            taken[stored++].index = index;
            pool_leave_queue(pool, timer);
            record_set_state(timer, IS_KEPT);
            pool->stats.fired++;
        }
        pool_drop(pool, entry);
    }
    return stored;
}

bool tkw_pool_walk(const struct tkw_pool *pool, struct tkw_pool_cursor *walk,
                   struct tkw_pool_timer *found)
{
    if (walk->next == 0)
        walk->end = pool->used;
    while (walk->next < walk->end) {
        uint32_t index = walk->next++;
        struct record *timer = record_at(pool, index);
        if ((timer->word & WORD_STATE) == IS_ARMED) {
            *found = describe(pool, index, timer);
            return true;
        }
    }
    return false;
}

bool tkw_pool_drain(struct tkw_pool *pool, struct tkw_pool_timer *popped)
{
    if (pool_live(pool) == 0)
        return false;
    for (;; pool->drain_at++) {
        if (pool->drain_at >= pool->used)
            pool->drain_at = 0;
        struct record *timer = record_at(pool, pool->drain_at);
        if ((timer->word & WORD_STATE) == IS_ARMED) {
            hand_out(pool, pool->drain_at, timer, IS_DONE, popped);
            pool->stats.drained++;
            return true;
        }
    }
}
