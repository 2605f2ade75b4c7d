/*
 * pool/check.c - walk a pool and compare it with its invariants (L15).
 *
 * The walk counts every entry against its record, and must find every armed
 * timer exactly once, where its deadline belongs.  It computes all counters
 * again.  It marks records on the way and unmarks them at the end.  The find
 * functions return whether they found a fault.
 */
#include <tickwheel/pool.h>

#include "base/fault.h"
#include "private.h"

#define WHAT_QUIET "tick before which an advance only moves the hands"

/* The totals of a walk over all streams. */
struct census {
    uint64_t entries;
    uint64_t gaps;
    size_t chunks;
    size_t queued;
};

/* The limits for the living entries of a stream. */
struct site {
    tkw_tick least;  /* the earliest deadline */
    tkw_tick most;   /* the latest deadline */
    bool is_queue;   /* whether the timers must be marked as queued */
    bool has_ticks;  /* whether each entry's tick lies in the slot ... */
    tkw_tick length; /* ... of `length` ticks that begins at `least` */
};

static bool find_in_entry(const struct tkw_pool *pool, uint64_t entry,
                          const struct site *site, struct census *census,
                          struct tkw_fault *fault)
{
    uint32_t index = entry_index(entry);
    if (fault_if_below(fault, "number of records for the index of an entry",
                       pool->used, index + UINT64_C(1)))
        return true;
    const struct record *record = record_at(pool, index);
    census->entries++;
    if (fault_if(fault, "an entry belongs to a record that counts no entries",
                 (record->word & WORD_ENTRIES) == 0))
        return true;
    struct record *timer = entry_timer(pool, entry);
    if (timer == NULL)
        return false; /* the entry is dead */

    if (fault_if(fault, "two entries name the same armed timer",
                 timer->word & WORD_SEEN))
        return true;
    timer->word |= WORD_SEEN;
    bool is_queued = timer->word & WORD_QUEUED;
    census->queued += is_queued;
    return (site->has_ticks &&
            fault_if_above(
                fault, "tick of an entry, counted from the first of the slot,",
                (entry - site->least) & TICK_MASK, site->length - 1)) ||
           fault_unless(fault, "queue mark of a timer", is_queued,
                        site->is_queue) ||
           fault_if_below(fault, "deadline of a timer", record->deadline,
                          site->least) ||
           fault_if_above(fault, "deadline of a timer", record->deadline,
                          site->most);
}

static bool find_in_chunk(const struct tkw_pool *pool,
                          const struct stream *stream, struct chunk *chunk,
                          const struct site *site, struct census *census,
                          struct tkw_fault *fault)
{
    bool is_last = chunk == stream_tail(stream);
    if (fault_if_above(fault, "number of chunks in slots and queues",
                       ++census->chunks, pool->chunks_total))
        return true;
    if (!is_last && fault_if_above(fault, "number of entries of a chunk",
                                   chunk->header.count, CHUNK_ENTRIES))
        return true;
    const uint64_t *end = chunk_end(stream, chunk);
    const uint64_t *entry = chunk_begin(stream, chunk);
    if (fault_if(fault, "a chunk has no entries", entry >= end))
        return true;
    for (; entry < end; entry++) {
        if (find_in_entry(pool, *entry, site, census, fault))
            return true;
    }
    if (!is_last)
        census->gaps += chunk_gap(chunk);
    return false;
}

static bool find_in_stream(const struct tkw_pool *pool,
                           const struct stream *stream, const struct site *site,
                           struct census *census, struct tkw_fault *fault)
{
    if (fault_if(fault, "a stream has only one end",
                 (stream->read == NULL) != (stream->write == NULL)))
        return true;
    if (stream_is_empty(stream))
        return false;
    for (struct chunk *chunk = stream_head(stream); chunk != NULL;
         chunk = chunk_next(stream, chunk)) {
        if (find_in_chunk(pool, stream, chunk, site, census, fault))
            return true;
    }
    return false;
}

static bool find_in_slot(const struct tkw_pool *pool, const struct slot *slot,
                         const struct site *site, struct census *census,
                         struct tkw_fault *fault)
{
    size_t chunks = census->chunks;
    uint64_t gaps = census->gaps;
    for (unsigned i = 0; i < STREAMS; i++) {
        if (find_in_stream(pool, &slot->streams[i], site, census, fault))
            return true;
    }
    return fault_unless(fault, "number of chunks of the slot or queue",
                        slot->chunks, census->chunks - chunks) ||
           fault_unless(fault, "number of unused places of the slot or queue",
                        slot->gaps, census->gaps - gaps);
}

/*
 * Store in `*number` the number that a ring's slot has when it comes next.
 * Returns false if the slot must be empty: it was drained; it begins after the
 * last tick; or it is the current one, and no unfinished tick has yet to empty
 * it.
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

/* Compare the fields that file() reads with the hand and `drained`. */
static bool find_in_reach(const struct tkw_pool *pool, uint32_t i,
                          struct tkw_fault *fault)
{
    const struct tkw_level *level = &pool->dial.levels[i];
    const struct ring *ring = &pool->rings[i];
    bool is_binary = ring->mask != 0 && level->tick_shift != TKW_NO_SHIFT;
    uint64_t last = ring->drained > level->hand ? ring->drained : level->hand;
    return fault_unless(fault, "current slot that filing counts on", ring->hand,
                        level->hand) ||
           fault_unless(fault, "first slot number to file in", ring->low,
                        last + 1) ||
           fault_unless(fault, "number of slots to file in without a search",
                        ring->reach,
                        is_binary ? level->hand + level->size - ring->low
                                  : 0) ||
           (is_binary &&
            fault_unless(fault, "logarithm of the length of a ring's slot",
                         ring->shift, level->tick_shift));
}

/* Check a slot that has entries, by its position in the ring of a level. */
static bool find_in_filled(const struct tkw_pool *pool, uint32_t level,
                           uint32_t position, struct census *census,
                           struct tkw_fault *fault)
{
    const tkw_tick tick = pool->dial.levels[level].tick;
    const struct slot *slot = &pool->slots[pool->rings[level].first + position];
    bool must_be_known = slot->chunks >= TKW_CROWDED_CHUNKS && level > 0;
    if (must_be_known && fault_unless(fault, "crowd bit of the level",
                                      pool->crowds >> level & 1, 1))
        return true;

    uint64_t number;
    if (!next_number(pool, level, position, &number))
        return fault_unless(fault,
                            "number of chunks of a slot that must be empty",
                            slot->chunks, 0);
    struct site site = {
        .least = number * tick,
        .most = TKW_NEVER,
        .has_ticks = tick <= TICK_MASK + 1 && !level_has_rounds(pool, level),
        .length = tick,
    };
    return find_in_slot(pool, slot, &site, census, fault);
}

/* Check a ring.  It has two turns of a level: each slot of the dial twice. */
static bool find_in_ring(const struct tkw_pool *pool, uint32_t level,
                         struct census *census, struct tkw_fault *fault)
{
    const struct ring *ring = &pool->rings[level];
    uint32_t found = bits_find(ring->occupancy, ring->size, 0);
    if (find_in_reach(pool, level, fault) ||
        fault_unless(fault, "busy bit of the level", pool->busy >> level & 1,
                     found != BITS_NONE))
        return fault_in(fault, level + 1, TKW_NO_SLOT);

    for (uint32_t i = 0; i < ring->size; i++) {
        const struct slot *slot = &pool->slots[ring->first + i];
        if (fault_unless(fault, "occupancy bit of the slot", found == i,
                         slot->chunks != 0) ||
            (slot->chunks != 0 &&
             find_in_filled(pool, level, i, census, fault)))
            return fault_in(fault, level + 1,
                            i % pool->dial.levels[level].size);
        if (found == i)
            found = bits_find(ring->occupancy, ring->size, i + 1);
    }
    return false;
}

static bool find_in_shelves(const struct tkw_pool *pool, struct census *census,
                            struct tkw_fault *fault)
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
        if (find_in_slot(pool, &pool->shelves[i], &sites[i], census, fault))
            return true;
    }
    /* Else the next advance would skip timers armed for the past. */
    if (pool->shelves[FRESH].chunks != 0 &&
        fault_unless(fault, WHAT_QUIET, pool->quiet, 0))
        return true;
    return !pool->is_mid_tick &&
           fault_unless(
               fault, "number of chunks that wait for the end of a tick",
               (uint64_t)pool->shelves[DUE].chunks + pool->shelves[LATE].chunks,
               0);
}

/* Check that the walk met all armed timers, and all entries that records
 * count. */
static bool find_in_records(const struct tkw_pool *pool,
                            const struct census *census,
                            struct tkw_fault *fault)
{
    size_t live = 0;
    uint64_t entries = 0;
    for (uint32_t i = 0; i < pool->used; i++) {
        uint64_t word = record_at(pool, i)->word;
        bool is_armed = (word & WORD_STATE) == IS_ARMED;
        bool is_seen = word & WORD_SEEN;
        if (fault_unless(fault, "number of entries that name a timer", is_seen,
                         is_armed) ||
            fault_if(fault, "a timer that is not armed is marked as queued",
                     !is_armed && (word & WORD_QUEUED)))
            return true;
        live += is_armed;
        entries += (word & WORD_ENTRIES) / WORD_ENTRY;
        entries -= (word & WORD_MOVED) != 0;
    }
    return fault_unless(fault, "number of armed timers", pool_live(pool),
                        live) ||
           fault_unless(fault, "number of entries that the records count",
                        entries, census->entries);
}

static void unmark(const struct tkw_pool *pool)
{
    for (uint32_t i = 0; i < pool->used; i++)
        record_at(pool, i)->word &= ~WORD_SEEN;
}

/* Check the stack of free records.  Store their number in `*count`. */
static bool find_in_stack(const struct tkw_pool *pool, uint32_t *count,
                          struct tkw_fault *fault)
{
    uint32_t nodes[FREE_NODES];
    memcpy(nodes, pool->free_nodes, sizeof nodes);
    *count = 0;
    uint32_t indices = pool->top_indices;
    if (fault_if_above(fault, "number of indices in a node of free records",
                       indices, NODE_INDICES))
        return true;
    for (uint32_t i = 0; nodes[i % FREE_NODES] != NO_INDEX; i++) {
        uint32_t *node = &nodes[i % FREE_NODES];
        if (fault_if_below(fault,
                           "number of records for the index of a free one",
                           pool->used, *node + UINT64_C(1)) ||
            fault_if_above(fault, "number of records on the stack of free ones",
                           *count, pool->used))
            return true;
        *count += 1 + indices;
        indices = NODE_INDICES;
        *node = record_at(pool, *node)->node.deeper;
    }
    return false;
}

/* Check that as many records are free or retired as are not in use. */
static bool find_in_free(const struct tkw_pool *pool, struct tkw_fault *fault)
{
    uint32_t idle = 0;
    for (uint32_t i = 0; i < pool->used; i++) {
        uint64_t word = record_at(pool, i)->word;
        uint64_t state = word & WORD_STATE;
        idle += (word & WORD_ENTRIES) == 0 && state != IS_KEPT;
    }
    uint32_t count;
    return find_in_stack(pool, &count, fault) ||
           fault_unless(fault, "number of free records", pool->free_count,
                        count) ||
           fault_unless(fault, "number of free and retired records",
                        count + pool->retired, idle);
}

static bool find_in_time(const struct tkw_pool *pool, struct tkw_fault *fault)
{
    if (tkw_dial_find_fault(&pool->dial, fault) ||
        fault_unless(fault, "last finished tick", pool->now,
                     pool->dial.now - pool->is_mid_tick))
        return true;
    if (pool->is_mid_tick)
        return fault_unless(fault, WHAT_QUIET, pool->quiet, 0);
    tkw_tick next = tkw__pool_next_slot(pool);
    return fault_if_above(fault, "tick before which no slot begins", pool->wake,
                          next) ||
           fault_if_above(fault, WHAT_QUIET, pool->quiet,
                          tkw__pool_quiet_until(pool, next));
}

static bool find_marking(const struct tkw_pool *pool, struct tkw_fault *fault)
{
    struct census census = {.entries = 0};
    for (uint32_t i = 0; i < pool->dial.level_count; i++) {
        if (find_in_ring(pool, i, &census, fault))
            return true;
    }
    return find_in_shelves(pool, &census, fault) ||
           find_in_records(pool, &census, fault) ||
           fault_unless(fault, "number of entries", pool->entries,
                        census.entries) ||
           fault_unless(fault, "number of unused places in chunks", pool->gaps,
                        census.gaps) ||
           fault_unless(fault, "number of queued timers", pool->queued,
                        census.queued) ||
           fault_unless(fault, "number of chunks of the pool",
                        pool->chunks_total,
                        census.chunks + tkw__pool_chunks_idle(pool));
}

bool tkw_pool_find_fault(const struct tkw_pool *pool, struct tkw_fault *fault)
{
    bool is_broken = find_in_time(pool, fault) || find_marking(pool, fault);
    unmark(pool);
    return is_broken || find_in_free(pool, fault);
}

bool tkw_pool_check(const struct tkw_pool *pool)
{
    struct tkw_fault ignored;
    return !tkw_pool_find_fault(pool, &ignored);
}
