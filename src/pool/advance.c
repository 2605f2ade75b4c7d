/*
 * pool/advance.c - advancing time: slots fall, timers become due.
 *
 * At the tick at which a slot begins, its entries fall one level, into FALLEN
 * of the slots below.  The highest level falls first; on the lowest, entries
 * fire.  They wait in DUE until the tick is finished, and then move to READY.
 */
#include <tickwheel/pool.h>

#include "private.h"
#include "run.h"

/* Drop a dead entry, file a postponed one anew, append others to DUE. */
static inline void fire_one(struct tkw_pool *pool, uint64_t tick,
                            uint64_t entry)
{
    struct record *timer = entry_wanted(pool, entry);
    if (timer == NULL) {
        pool_drop(pool, entry);
        return;
    }
    tkw_tick deadline = entry_deadline(pool, entry);
    if (deadline > tick) {
        tkw__pool_file_anew(pool, 0, tick, entry, deadline);
        return;
    }
    timer->word |= WORD_QUEUED;
    pool->queued++;
    pool_shelve(pool, DUE, entry);
}

/* Prefetch the first records of a tick that is near. */
static void prefetch_tick(struct tkw_pool *pool, tkw_tick tick)
{
    const struct slot *slot = &pool->slots[ring_slot(&pool->rings[0], tick)];
    for (unsigned i = 0; i < STREAMS; i++) {
        if (!stream_is_empty(&slot->streams[i])) {
            struct run run = slot_run(slot, i, CHUNK_ENTRIES);
            prefetch_run(pool, &run);
        }
    }
    pool->prefetched = tick;
}

static void fire_run(struct tkw_pool *pool, uint64_t tick,
                     const struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        prefetch_ahead(pool, run, i);
        fire_one(pool, tick, run->entries[i]);
    }
    tkw__pool_see(pool, run->count);
}

/* Process up to `most` entries of the slot of `tick`.  Returns how many; if
 * fewer than `most`, the slot is empty. */
static size_t fire(struct tkw_pool *pool, uint64_t tick, size_t most)
{
    uint32_t place = ring_slot(&pool->rings[0], tick);
    struct slot *slot = &pool->slots[place];
    size_t done = 0;
    if (pool->prefetched != tick)
        prefetch_tick(pool, tick);
    for (unsigned i = 0; i < STREAMS; i++) {
        struct stream *stream = &slot->streams[i];
        while (!stream_is_empty(stream) && done < most) {
            struct run run = slot_run(slot, i, most - done);
            fire_run(pool, tick, &run);
            stream_consume(pool, slot, stream, run.count);
            done += run.count;
        }
    }
    if (slot->chunks == 0)
        tkw__pool_vacate(pool, place);
    prefetch_tick(pool, tick + 1);
    return done;
}

/* Empty the current slot of a level.  Returns false if the budget runs out. */
static bool empty_slot(struct tkw_pool *pool, uint32_t level, size_t *budget)
{
    uint64_t number = pool->dial.levels[level].hand;
    uint32_t place = ring_slot(&pool->rings[level], number);
    struct slot *slot = &pool->slots[place];
    if (slot->chunks == 0)
        return true;
    *budget -= level == 0 ? fire(pool, number, *budget)
                          : tkw__pool_fall(pool, level, number, *budget);
    bool is_empty = slot->chunks == 0;
    pool->stats.visits += is_empty;
    return is_empty;
}

/* Append the queue `which` to READY.  Copy a short queue, so that the chunks of
 * READY stay full.  Link a long one: that leaves a gap, small beside it, which
 * tkw_pool_reserve() allows for. */
static void queue_up(struct tkw_pool *pool, uint32_t which)
{
    struct slot *from = &pool->shelves[which];
    struct slot *to = &pool->shelves[READY];
    struct stream *due = shelf(pool, which);
    struct stream *ready = shelf(pool, READY);
    if (stream_is_empty(due))
        return;

    if (!stream_is_empty(ready)) {
        if (from->chunks < TKW_JOIN_CHUNKS) {
            for (; !stream_is_empty(due); stream_consume(pool, from, due, 1))
                pool_shelve(pool, READY, *due->read);
            return;
        }
        struct chunk *tail = stream_tail(ready);
        tail->header.count = (uint32_t)(ready->write - tail->entries);
        tail->header.next = stream_head(due);
        ready->write = due->write;
        slot_change_gap(pool, to, 0, chunk_gap(tail));
        to->chunks += from->chunks;
        to->gaps += from->gaps;
    } else {
        *to = *from;
        pool->ready_end = NULL;
    }
    if (pool->sweep.slot == pool->slot_count + which) {
        pool->sweep.at = NULL; /* its chunks are in READY now */
        pool->sweep.before = NULL;
    }
    *from = (struct slot){.chunks = 0};
}

static RARE void update_rings(struct tkw_pool *pool)
{
    uint32_t i = 1;
    while (i < pool->dial.level_count &&
           pool->rings[i].hand != pool->dial.levels[i].hand)
        tkw__ring_update(pool, i++);
}

/* Move all hands to `now`, and update the rings.  The lowest ring needs little,
 * as its slots are not drained ahead of time.  Where a hand does not move, no
 * hand above it moves. */
static inline void turn(struct tkw_pool *pool, tkw_tick now)
{
    struct ring *rings = pool->rings;
    dial_turn(&pool->dial, now);
    rings[0].low = now + 1;
    rings[0].hand = now;
    if (rings[1].hand != pool->dial.levels[1].hand)
        update_rings(pool);
}

/* Begin `tick`, at which a slot begins. */
static void begin_tick(struct tkw_pool *pool, tkw_tick tick)
{
    turn(pool, tick);
    pool->now = tick - 1;
    pool->quiet = 0;
    pool->is_mid_tick = true;
    pool->levels_left = dial_beginning(&pool->dial);
}

/* Continue a tick, and subtract the work from `*budget`.  Returns whether the
 * tick is finished. */
static bool finish_tick(struct tkw_pool *pool, size_t *budget)
{
    for (; pool->levels_left > 0; pool->levels_left--) {
        if (!empty_slot(pool, pool->levels_left - 1, budget))
            return false;
    }
    queue_up(pool, DUE);
    queue_up(pool, LATE);
    pool->now = pool->dial.now;
    pool->is_mid_tick = false;
    return true;
}

/* Return the number of a ring's next occupied slot.  There must be one. */
static uint64_t ring_next(const struct tkw_pool *pool, uint32_t level)
{
    const struct ring *ring = &pool->rings[level];
    uint64_t hand = pool->dial.levels[level].hand;
    uint32_t here = ring_slot(ring, hand) - ring->first;
    return hand + bits_ahead(ring->occupancy, ring->size, here);
}

tkw_tick tkw__pool_next_slot(const struct tkw_pool *pool)
{
    tkw_tick next = TKW_NEVER;
    for (uint64_t busy = pool->busy; busy != 0; busy &= busy - 1) {
        uint32_t level = (uint32_t)__builtin_ctzll(busy);
        tkw_tick begin = ring_next(pool, level) * pool->dial.levels[level].tick;
        if (begin < next)
            next = begin;
    }
    return next;
}

/* Begin the next tick at which a slot begins, if it is not after `now`.
 * Returns whether it has. */
static bool begin_next(struct tkw_pool *pool, tkw_tick now)
{
    if (now >= pool->wake)
        pool->wake = tkw__pool_next_slot(pool);
    if (now < pool->wake || pool->wake == TKW_NEVER)
        return false;
    begin_tick(pool, pool->wake);
    return true;
}

static RARE bool advance_through(struct tkw_pool *pool, tkw_tick now,
                                 size_t budget)
{
    if (pool->is_mid_tick && now < pool->dial.now)
        now = pool->dial.now; /* an earlier advance has begun that tick */

    tkw_tick before = pool->now;
    if (pool->shelves[FRESH].chunks != 0)
        queue_up(pool, FRESH);
    while (now > pool->now) {
        if (!pool->is_mid_tick && !begin_next(pool, now)) {
            turn(pool, now);
            pool->now = now;
        } else if (!finish_tick(pool, &budget)) {
            pool->stats.stops++;
            return false;
        }
    }
    if (pool->now > before && pool->crowds != 0)
        budget -= tkw__pool_spread(pool, pool->now - before, budget);
    if (pool_has_many_dead(pool) && budget >= CHUNK_ENTRIES)
        tkw__pool_sweep(pool);
    pool->quiet = tkw__pool_quiet_until(pool, pool->wake);
    return true;
}

bool tkw_pool_advance_some(struct tkw_pool *pool, tkw_tick now, size_t budget)
{
    TKW_ASSERT(now >= pool->now);
    if (now >= pool->quiet || now < pool->now || pool_has_many_dead(pool))
        return advance_through(pool, now, budget);
    turn(pool, now);
    pool->now = now;
    return true;
}

void tkw_pool_advance(struct tkw_pool *pool, tkw_tick now)
{
    tkw_pool_advance_some(pool, now, SIZE_MAX);
}

tkw_tick tkw_pool_next(const struct tkw_pool *pool)
{
    if (pool->is_mid_tick || pool->queued != 0)
        return pool->now;
    tkw_tick next = tkw__pool_next_slot(pool);
    for (uint64_t crowds = pool->crowds & pool->busy; crowds != 0;
         crowds &= crowds - 1) {
        uint32_t level = (uint32_t)__builtin_ctzll(crowds);
        tkw_tick share =
            tkw__pool_next_share(pool, level, ring_next(pool, level));
        if (share < next)
            next = share;
    }
    return next;
}
