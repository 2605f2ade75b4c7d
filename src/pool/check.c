/*
 * pool/check.c - walk a pool and hold it against what must be true (L15).
 *
 * Every entry is counted against its record, every armed timer must be met
 * exactly once, where its deadline wants it, and everything that is counted is
 * counted again.  Records are marked on the way and unmarked at the end.
 */
#include <tickwheel/pool.h>

#include "private.h"

/* What a walk over all streams finds. */
struct census {
    uint64_t entries;
    uint64_t gaps;
    size_t chunks;
    size_t queued;
};

/* Where a stream is, and what may be in it. */
struct site {
    tkw_tick least;  /* deadlines of the living lie from here ... */
    tkw_tick most;   /* ... to here */
    bool is_queue;   /* they are marked as queued, or must not be */
    bool has_ticks;  /* entries were filed for a deadline in the slot ... */
    tkw_tick length; /* ... which begins at `least` and is so long */
};

static bool check_entry(const struct tkw_pool *pool, uint64_t entry,
                        const struct site *site, struct census *census)
{
    if (entry_index(entry) >= pool->used)
        return false;
    const struct record *record = record_at(pool, entry_index(entry));
    census->entries++;
    if ((record->word & WORD_ENTRIES) == 0)
        return false;
    struct record *timer = entry_timer(pool, entry);
    if (timer == NULL)
        return true; /* dead, and nobody's */

    if (timer->word & WORD_SEEN)
        return false;
    timer->word |= WORD_SEEN;
    bool is_queued = timer->word & WORD_QUEUED;
    census->queued += is_queued;
    if (site->has_ticks && ((entry - site->least) & TICK_MASK) >= site->length)
        return false;
    return is_queued == site->is_queue && record->deadline >= site->least &&
           record->deadline <= site->most;
}

static bool check_stream(const struct tkw_pool *pool,
                         const struct stream *stream, const struct site *site,
                         struct census *census)
{
    if (stream_is_empty(stream) || stream->write == NULL)
        return stream->read == NULL && stream->write == NULL;

    struct chunk *chunk = stream_head(stream);
    for (; chunk != NULL; chunk = chunk_next(stream, chunk)) {
        bool is_last = chunk == stream_tail(stream);
        if (++census->chunks > pool->chunks_total ||
            (!is_last && chunk->header.count > CHUNK_ENTRIES))
            return false;
        const uint64_t *end = chunk_end(stream, chunk);
        const uint64_t *entry = chunk_begin(stream, chunk);
        if (entry >= end)
            return false;
        for (; entry < end; entry++) {
            if (!check_entry(pool, *entry, site, census))
                return false;
        }
        if (!is_last)
            census->gaps += chunk_gap(chunk);
    }
    return true;
}

static bool check_slot(const struct tkw_pool *pool, const struct slot *slot,
                       const struct site *site, struct census *census)
{
    size_t before = census->chunks;
    for (unsigned i = 0; i < STREAMS; i++) {
        if (!check_stream(pool, &slot->streams[i], site, census))
            return false;
    }
    return census->chunks - before == slot->chunks;
}

/*
 * The number of a ring's slot when its time comes next, or false if the slot
 * must be empty: the current one, unless an unfinished tick has not come to it
 * yet, and those that are past even the next turn.
 */
static bool next_number(const struct tkw_pool *pool, uint32_t level,
                        uint32_t position, uint64_t *number)
{
    const struct ring *ring = &pool->rings[level];
    uint64_t hand = pool->dial.levels[level].hand;
    uint32_t here = ring_slot(ring, hand) - ring->first;
    uint32_t ahead = position - here + (position < here ? ring->size : 0);
    *number = hand + ahead;
    if (ahead == 0)
        return pool->is_mid_tick && level < pool->levels_left;
    return *number > ring->drained &&
           *number <= UINT64_MAX / pool->dial.levels[level].tick;
}

/* What is known beforehand about filing is what the hand and the ring say. */
static bool check_reach(const struct tkw_pool *pool, uint32_t i)
{
    const struct tkw_level *level = &pool->dial.levels[i];
    const struct ring *ring = &pool->rings[i];
    uint64_t last = ring->drained > level->hand ? ring->drained : level->hand;
    if (ring->hand != level->hand || ring->low != last + 1)
        return false;
    if (ring->mask == 0 || level->tick_shift == TKW_NO_SHIFT)
        return ring->reach == 0;
    return ring->low + ring->reach == level->hand + level->size &&
           ring->shift == level->tick_shift;
}

static bool check_ring(const struct tkw_pool *pool, uint32_t level,
                       struct census *census)
{
    const struct ring *ring = &pool->rings[level];
    const tkw_tick tick = pool->dial.levels[level].tick;
    uint32_t found = bits_find(ring->occupancy, ring->size, 0);
    if (!check_reach(pool, level) ||
        (found != BITS_NONE) != (pool->busy >> level & 1))
        return false;

    for (uint32_t i = 0; i < ring->size; i++) {
        const struct slot *slot = &pool->slots[ring->first + i];
        if ((slot->chunks != 0) != (found == i))
            return false;
        if (slot->chunks == 0)
            continue;
        found = bits_find(ring->occupancy, ring->size, i + 1);
        if (slot->chunks >= TKW_CROWDED_CHUNKS && level > 0 &&
            (pool->crowds >> level & 1) == 0)
            return false;

        uint64_t number;
        if (!next_number(pool, level, i, &number))
            return false;
        struct site site = {
            .least = number * tick,
            .most = TKW_NEVER,
            .has_ticks = tick <= TICK_MASK + 1 && !goes_round(pool, level),
            .length = tick,
        };
        if (!check_slot(pool, slot, &site, census))
            return false;
    }
    return true;
}

static bool check_shelves(const struct tkw_pool *pool, struct census *census)
{
    const tkw_tick tick = pool->dial.now;
    const struct site sites[SHELVES] = {
        [READY] = {.most = pool->now, .is_queue = true},
        [FRESH] = {.most = pool->now, .is_queue = true},
        [DUE] = {.least = tick, .most = tick, .is_queue = true},
        [LATE] = {.least = tick, .most = tick, .is_queue = true},
        [NEVER] = {.least = TKW_NEVER, .most = TKW_NEVER},
    };
    for (unsigned i = 0; i < SHELVES; i++) {
        if (!check_slot(pool, &pool->shelves[i], &sites[i], census))
            return false;
    }
    if (pool->shelves[FRESH].chunks != 0 && pool->quiet != 0)
        return false; /* the next advance would not look at it */
    return pool->is_mid_tick ||
           (pool->shelves[DUE].chunks == 0 && pool->shelves[LATE].chunks == 0);
}

/* Every armed timer was seen; the entries that records count are all there. */
static bool check_records(const struct tkw_pool *pool,
                          const struct census *census)
{
    size_t live = 0;
    uint64_t entries = 0;
    for (uint32_t i = 0; i < pool->used; i++) {
        uint64_t word = record_at(pool, i)->word;
        bool is_armed = (word & WORD_STATE) == IS_ARMED;
        if (is_armed != ((word & WORD_SEEN) != 0) ||
            (!is_armed && (word & WORD_QUEUED)))
            return false;
        live += is_armed;
        entries += (word & WORD_ENTRIES) / WORD_ENTRY;
        entries -= (word & WORD_MOVED) != 0;
    }
    return live == pool_live(pool) && entries == census->entries;
}

static void unmark(const struct tkw_pool *pool)
{
    for (uint32_t i = 0; i < pool->used; i++)
        record_at(pool, i)->word &= ~WORD_SEEN;
}

/* Free records are not in use, and all those that are not in use are free. */
static bool check_free(const struct tkw_pool *pool)
{
    uint32_t idle = 0;
    for (uint32_t i = 0; i < pool->used; i++) {
        uint64_t word = record_at(pool, i)->word;
        uint64_t state = word & WORD_STATE;
        idle += (word & WORD_ENTRIES) == 0 && state != IS_KEPT;
    }
    uint32_t count = 0;
    for (uint32_t top = pool->free_top; top != NO_INDEX;) {
        if (top >= pool->used)
            return false;
        const struct node *node = &record_at(pool, top)->node;
        if (node->count > NODE_INDICES || count > pool->used)
            return false;
        count += 1 + node->count;
        top = node->below;
    }
    return count == pool->free_count && idle == count + pool->retired;
}

static bool check_time(const struct tkw_pool *pool)
{
    if (!tkw_dial_check(&pool->dial))
        return false;
    if (pool->is_mid_tick)
        return pool->now == pool->dial.now - 1 && pool->quiet == 0;
    tkw_tick next = tkw__pool_next_slot(pool);
    return pool->now == pool->dial.now && pool->wake <= next &&
           pool->quiet <= tkw__pool_quiet_until(pool, next);
}

static bool check_marking(const struct tkw_pool *pool)
{
    struct census census = {.entries = 0};
    for (uint32_t i = 0; i < pool->dial.level_count; i++) {
        if (!check_ring(pool, i, &census))
            return false;
    }
    return check_shelves(pool, &census) && check_records(pool, &census) &&
           census.entries == pool->entries && census.gaps == pool->gaps &&
           census.queued == pool->queued &&
           census.chunks + tkw__pool_chunks_idle(pool) == pool->chunks_total;
}

bool tkw_pool_check(const struct tkw_pool *pool)
{
    bool is_right = check_time(pool) && check_marking(pool);
    unmark(pool);
    return is_right && check_free(pool);
}
