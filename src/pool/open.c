/*
 * pool/open.c - opening, closing, asking, popping.
 */
#include <tickwheel/pool.h>

#include <errno.h>
#include <string.h>

#include "ahead.h"
#include "base/allocator.h"
#include "private.h"

static uint64_t occupancy_words(const struct tkw_dial *dial)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < dial->level_count; i++)
        words += bits_words(2 * dial->levels[i].size);
    return words;
}

_Static_assert(2 * (uint64_t)TKW_SLOTS_MAX + SHELVES <= UINT32_MAX,
               "slots and shelves can be numbered");

/* Lay out slots and occupancy in one piece of memory. */
static int open_slots(struct tkw_pool *pool)
{
    uint64_t slots = 2 * (uint64_t)pool->dial.slot_count;
    uint64_t words = occupancy_words(&pool->dial);
    uint64_t bytes = slots * sizeof(struct slot) + words * sizeof(uint64_t);
    pool->arena_bytes = bytes <= SIZE_MAX ? (size_t)bytes : SIZE_MAX;
    pool->arena = tkw__pool_allocate(pool, pool->arena_bytes);
    if (pool->arena == NULL)
        return -ENOMEM;
    memset(pool->arena, 0, pool->arena_bytes);

    uint64_t *word = pool->arena;
    for (uint32_t i = 0; i < pool->dial.level_count; i++) {
        const struct tkw_level *level = &pool->dial.levels[i];
        struct ring *ring = &pool->rings[i];
        ring->size = 2 * level->size;
        ring->mask = level->size_mask ? ring->size - 1 : 0;
        ring->first = 2 * level->first;
        ring->occupancy = word;
        ring->falling = UINT64_MAX;
        tkw__ring_update(pool, i);
        word += bits_words(ring->size);
    }
    pool->slots = (struct slot *)(void *)word;
    pool->slot_count = (uint32_t)slots;
    return 0;
}

const char *tkw_pool_config_fault(const struct tkw_pool_config *config)
{
    if (config == NULL)
        return NULL;
    const char *fault = tkw__config_fault(config->reserved, config->allocator);
    if (fault != NULL)
        return fault;
    if (config->timers_max > TKW_POOL_TIMERS_MAX)
        return "timers_max is more than a pool can hold";
    return tkw_geometry_fault(&config->geometry);
}

int tkw_pool_open(struct tkw_pool **pool, const struct tkw_pool_config *config)
{
    static const struct tkw_pool_config plain;
    if (config == NULL)
        config = &plain;
    if (tkw_pool_config_fault(config) != NULL)
        return -EINVAL;

    const struct tkw_allocator *allocator =
        config->allocator != NULL ? config->allocator : &tkw__allocator_plain;
    struct tkw_pool *made =
        allocator->allocate(allocator->context, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    memset(made, 0, sizeof *made);
    made->allocator = *allocator;
    made->bytes = sizeof *made;
    made->now = config->start;
    made->timers_max =
        config->timers_max != 0 ? config->timers_max : TKW_POOL_TIMERS_MAX;
    tkw_dial_init(&made->dial, &config->geometry, config->start, NULL);
    int error = open_slots(made);
    if (error == 0)
        error = tkw__pool_memory_open(made);
    if (error != 0) {
        tkw_pool_close(made);
        return error;
    }
    *pool = made;
    return 0;
}

void tkw_pool_close(struct tkw_pool *pool)
{
    if (pool == NULL)
        return;
    tkw__pool_memory_close(pool);
    tkw__pool_release(pool, pool->arena, pool->arena_bytes);
    struct tkw_allocator allocator = pool->allocator;
    allocator.release(allocator.context, pool, sizeof *pool);
}

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

tkw_tick tkw_pool_now(const struct tkw_pool *pool)
{
    return pool->now;
}

size_t tkw_pool_count(const struct tkw_pool *pool)
{
    return pool_live(pool);
}

struct tkw_pool_figures tkw_pool_counters(const struct tkw_pool *pool)
{
    struct tkw_pool_figures told = {
        .work = pool->counters,
        .entries = pool->entries,
        .dead = pool_dead(pool),
        .looks = pool->looks,
        .sweeps = pool->sweeps,
        .shares = pool->shares,
        .bytes = pool->bytes,
        .retired = pool->retired,
    };
    return told;
}

const struct tkw_dial *tkw_pool_dial(const struct tkw_pool *pool)
{
    return &pool->dial;
}

int tkw__pool_reserve(struct tkw_pool *pool, size_t n, size_t steps)
{
    if (n > TKW_POOL_TIMERS_MAX)
        return -ENOMEM;
    if (n == 0)
        return 0;
    /* And for the gaps that joining queues may leave meanwhile. */
    size_t gaps = (size_t)(pool_places(pool) + n) / (TKW_JOIN_CHUNKS - 1) + 1;
    return tkw__pool_provide(pool, n + gaps, n, steps);
}

int tkw_pool_reserve(struct tkw_pool *pool, size_t n)
{
    return tkw__pool_reserve(pool, n, RECLAIM_STEPS + n / CHUNK_ENTRIES);
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
