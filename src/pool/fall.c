/*
 * pool/fall.c - entries fall a level: whole slots in time, crowds before it.
 *
 * Falling reads one stream and appends to others, in order: an online radix
 * sort.
 *
 * A crowded slot does not wait for its tick.  While the slot before it is the
 * current one, each advance moves a share of it, so that it is empty in time:
 *
 *     level 2   | now |next | . |          next gives up a share a step ...
 *                  |
 *     level 1   |. . h . . . .|. . . . .|  ... to the turn after this one
 *
 * That is why a level has twice the slots of its window.
 *
 * Why equal deadlines still leave in arming order.  Let S(i) be the slot of
 * level i that contains a deadline d.
 *
 *   1. Entries leave S(i) only when all S(j) above it are empty, and stay so:
 *      ensure_drained() ensures that, and arming skips a slot that was drained
 *      (file_past_drained() in pool/arm.c).  So entries fall into S(i) only
 *      before any entry leaves it.
 *   2. An entry armed straight into S(i) was armed after all entries of S(j)
 *      above: the level that takes d never rises.  The entry is in DIRECT, and
 *      leaves after FALLEN.
 *   3. An entry that skips a drained S(i) is appended to FALLEN of S(i-1),
 *      behind all entries that fell from S(i), which were armed before.  And
 *      DIRECT of S(i-1) is still empty: the window of level i-1 does not reach
 *      d, or d would have been filed there.
 *
 * In an unfinished tick no slot falls ahead of time: a current slot may still
 * hold entries that must leave first.
 */
#include "private.h"
#include "run.h"

/* Compute the fields that file() reads, after the hand or `drained` moved. */
void tkw__ring_update(struct tkw_pool *pool, uint32_t i)
{
    const struct tkw_level *level = &pool->dial.levels[i];
    struct ring *ring = &pool->rings[i];
    bool is_binary = ring->mask != 0 && level->tick_shift != TKW_NO_SHIFT;
    ring->low = 1 + (level->hand > ring->drained ? level->hand : ring->drained);
    ring->reach = is_binary ? level->hand + level->size - ring->low : 0;
    ring->shift = is_binary ? level->tick_shift : 0;
    ring->hand = level->hand;
}

/* Mark the slot `place` as empty. */
void tkw__pool_vacate(struct tkw_pool *pool, uint32_t place)
{
    uint32_t i = 0;
    while (place - pool->rings[i].first >= pool->rings[i].size)
        i++;
    struct ring *ring = &pool->rings[i];
    if (bits_remove(ring->occupancy, ring->size, place - ring->first)) {
        pool->busy &= ~(UINT64_C(1) << i);
        pool->crowds &= ~(UINT64_C(1) << i);
    }
}

/* File an entry anew whose deadline lies past its slot, because the timer was
 * postponed or is whole turns ahead. */
void tkw__pool_file_anew(struct tkw_pool *pool, uint32_t level, uint64_t number,
                         uint64_t entry, tkw_tick deadline)
{
    entry = entry_with_deadline(entry, deadline);
    if (deadline == TKW_NEVER) {
        pool_shelve(pool, NEVER, entry);
        pool->stats.refiles++;
    } else if (level_has_rounds(pool, level)) {
        uint32_t size = pool->dial.levels[level].size;
        uint64_t own = level_number(&pool->dial.levels[level], deadline);
        uint64_t ahead = 1 + (own - number - 1) % size;
        slot_append(pool, level, number + ahead, FALLEN, entry);
        pool->stats.passes += ahead == size;
        pool->stats.refiles += ahead != size;
    } else {
        tkw__pool_file(pool, entry, deadline);
        pool->stats.refiles++;
    }
}

/* Move entries a level down by their own bits, without reading records. */
static void fall_blind(struct tkw_pool *pool, uint32_t level, uint64_t number,
                       const struct run *run)
{
    const struct tkw_level *below = &pool->dial.levels[level - 1];
    tkw_tick base = number * pool->dial.levels[level].tick;
    for (size_t i = 0; i < run->count; i++) {
        uint64_t entry = run->entries[i];
        tkw_tick deadline = base + ((entry - base) & TICK_MASK);
        slot_append(pool, level - 1, level_number(below, deadline), FALLEN,
                    entry);
    }
    pool->stats.falls += run->count;
}

/* Subtract `n` records that were read from `unseen`, down to 0. */
void tkw__pool_see(struct tkw_pool *pool, size_t n)
{
    pool->unseen -= pool->unseen < n ? pool->unseen : n;
}

/* Like fall_blind(), but read records: drop the dead, file the postponed
 * anew. */
static void fall_reading(struct tkw_pool *pool, uint32_t level, uint64_t number,
                         const struct run *run)
{
    const struct tkw_level *from = &pool->dial.levels[level];
    const struct tkw_level *below = from - 1;
    pool->reads += run->count;
    tkw__pool_see(pool, run->count);
    for (size_t i = 0; i < run->count; i++) {
        uint64_t entry = run->entries[i];
        prefetch_ahead(pool, run, i);
        if (entry_wanted(pool, entry) == NULL) {
            pool_drop(pool, entry);
            continue;
        }
        tkw_tick deadline = entry_deadline(pool, entry);
        if (level_number(from, deadline) != number || deadline == TKW_NEVER) {
            tkw__pool_file_anew(pool, level, number, entry, deadline);
            continue;
        }
        entry = entry_with_deadline(entry, deadline);
        slot_append(pool, level - 1, level_number(below, deadline), FALLEN,
                    entry);
        pool->stats.falls++;
    }
}

/* May a slot fall without reading records?  It must be crowded, and its entries
 * must hold enough of the deadline.  Where many entries are dead or postponed,
 * it may not: they would only fall further. */
static bool may_be_blind(const struct tkw_pool *pool, uint32_t level,
                         const struct slot *slot)
{
    return slot->chunks >= TKW_CROWDED_CHUNKS &&
           !level_has_rounds(pool, level) &&
           pool->dial.levels[level].tick <= TICK_MASK + 1 &&
           (pool_dead(pool) + pool_given_up(pool) + pool->unseen) * 8 <=
               pool->entries;
}

/* Move up to `most` entries of a slot a level down.  Returns how many it
 * processed; if fewer than `most`, the slot is empty. */
size_t tkw__pool_fall(struct tkw_pool *pool, uint32_t level, uint64_t number,
                      size_t most)
{
    struct ring *ring = &pool->rings[level];
    uint32_t place = ring_slot(ring, number);
    struct slot *slot = &pool->slots[place];
    size_t done = 0;
    if (slot->chunks == 0)
        return 0;
    if (ring->falling != number) {
        ring->falling = number;
        ring->is_blind = may_be_blind(pool, level, slot);
    }

    for (unsigned i = 0; i < STREAMS; i++) {
        struct stream *stream = &slot->streams[i];
        while (!stream_is_empty(stream) && done < most) {
            struct run run = slot_run(slot, i, most - done);
            if (!ring->is_blind && done == 0)
                prefetch_run(pool, &run);
            if (ring->is_blind)
                fall_blind(pool, level, number, &run);
            else
                fall_reading(pool, level, number, &run);
            stream_consume(pool, slot, stream, run.count);
            done += run.count;
        }
    }
    if (slot->chunks == 0)
        tkw__pool_vacate(pool, place);
    return done;
}

/* Empty a slot ahead of time, after the slot above that contains it.  Skip a
 * slot that is crowded or exceeds `*budget`.  Returns whether both are empty
 * and stay so. */
static bool ensure_drained(struct tkw_pool *pool, uint32_t level,
                           uint64_t number, size_t *budget)
{
    const struct tkw_level *levels = pool->dial.levels;
    if (number <= levels[level].hand || number <= pool->rings[level].drained)
        return true;

    if (level + 1 < pool->dial.level_count) {
        tkw_tick begin = number * levels[level].tick;
        uint64_t above = level_number(&levels[level + 1], begin);
        if (!ensure_drained(pool, level + 1, above, budget))
            return false;
    }
    struct slot *slot = &pool->slots[ring_slot(&pool->rings[level], number)];
    if (slot->chunks >= TKW_CROWDED_CHUNKS ||
        slot->chunks * CHUNK_ENTRIES > *budget)
        return false;
    *budget -= tkw__pool_fall(pool, level, number, SIZE_MAX);
    pool->rings[level].drained = number;
    tkw__ring_update(pool, level);
    return true;
}

/* Return the level, `level` or above, whose next slot must fall first. */
static uint32_t level_in_the_way(struct tkw_pool *pool, uint32_t level,
                                 size_t *budget)
{
    const struct tkw_level *levels = pool->dial.levels;
    while (level + 1 < pool->dial.level_count) {
        tkw_tick begin = (levels[level].hand + 1) * levels[level].tick;
        uint64_t above = level_number(&levels[level + 1], begin);
        if (ensure_drained(pool, level + 1, above, budget))
            break;
        level++;
    }
    return level;
}

/* Move up to `most` entries of a level's next slot a level down.  The slots
 * above that contain it must be drained. */
static size_t fall_ahead(struct tkw_pool *pool, uint32_t level, size_t most)
{
    uint64_t next = pool->dial.levels[level].hand + 1;
    struct ring *ring = &pool->rings[level];
    size_t n = tkw__pool_fall(pool, level, next, most);
    pool->shares++;
    if (pool->slots[ring_slot(ring, next)].chunks == 0) {
        ring->drained = next;
        tkw__ring_update(pool, level);
    }
    return n;
}

/* Move entries of two chunks down, as arming has added one to the crowded next
 * slot of `level`: from that slot, or from a slot that must fall first. */
void tkw__pool_help(struct tkw_pool *pool, uint32_t level)
{
    size_t budget = SIZE_MAX;
    fall_ahead(pool, level_in_the_way(pool, level, &budget), 2 * CHUNK_ENTRIES);
}

/* Return the entries of a slot as if its chunks were full; 0: not crowded. */
static uint64_t crowd_size(const struct tkw_pool *pool, uint32_t level,
                           uint64_t number)
{
    uint32_t chunks =
        pool->slots[ring_slot(&pool->rings[level], number)].chunks;
    return chunks >= TKW_CROWDED_CHUNKS ? chunks * (uint64_t)CHUNK_ENTRIES : 0;
}

/* Like crowd_size(), for the next slot of a level.  A drained slot is empty. */
static uint64_t crowd_next(const struct tkw_pool *pool, uint32_t level)
{
    return crowd_size(pool, level, pool->dial.levels[level].hand + 1);
}

/* Return the tick by which a crowded slot must have fallen.  On level 2 that is
 * the tick at which the slot begins.  On higher levels it is one slot of the
 * level below earlier, so that this lower slot can fall ahead of time, too. */
static tkw_tick crowd_finish(const struct tkw_pool *pool, uint32_t level)
{
    const struct tkw_level *levels = pool->dial.levels;
    tkw_tick begin = (levels[level].hand + 1) * levels[level].tick;
    return level > 1 ? begin - levels[level - 1].tick : begin;
}

/*
 * Return the share of a level's crowd that must fall now.  Assume that the next
 * advance comes after `elapsed` ticks, like this one.  But if the hand has
 * moved meanwhile, the caller slept until this first share.  Then assume one
 * tick: tkw_pool_next() requests the others.
 */
static size_t crowd_share(const struct tkw_pool *pool, uint32_t level,
                          tkw_tick elapsed)
{
    tkw_tick finish = crowd_finish(pool, level);
    if (finish <= pool->now)
        return SIZE_MAX;
    if (elapsed > pool->now - pool->dial.levels[level].start)
        elapsed = 1;
    uint64_t steps = (finish - pool->now) / elapsed + 1;
    return (size_t)(crowd_next(pool, level) / steps) + 1;
}

/* Move shares of crowds after `elapsed` ticks.  Returns how many entries fell,
 * at most `budget`. */
size_t tkw__pool_spread(struct tkw_pool *pool, tkw_tick elapsed, size_t budget)
{
    uint64_t crowds = pool->crowds;
    size_t left = budget;
    while (crowds != 0 && left != 0) {
        uint32_t level = 63 - (uint32_t)__builtin_clzll(crowds);
        crowds &= ~(UINT64_C(1) << level);
        if (crowd_next(pool, level) == 0 ||
            level_in_the_way(pool, level, &left) != level)
            continue;
        size_t share = crowd_share(pool, level, elapsed);
        left -= fall_ahead(pool, level, share < left ? share : left);
    }
    return budget - left;
}

/* Return the tick before which an advance only moves the hands, if no slot
 * begins before `wake`; 0: a crowd must move.  A level's next slot changes when
 * its hand moves. */
tkw_tick tkw__pool_quiet_until(const struct tkw_pool *pool, tkw_tick wake)
{
    tkw_tick quiet = wake;
    for (uint64_t crowds = pool->crowds; crowds != 0; crowds &= crowds - 1) {
        uint32_t level = (uint32_t)__builtin_ctzll(crowds);
        if (crowd_next(pool, level) != 0)
            return 0;
        const struct tkw_level *own = &pool->dial.levels[level];
        tkw_tick begin = (own->hand + 1) * own->tick;
        quiet = begin < quiet ? begin : quiet;
    }
    return quiet;
}

/*
 * Return the tick at which TKW_WAKE_SHARE more timers of a crowd must fall, or
 * TKW_NEVER.  `number` is that of the level's next occupied slot.  It begins to
 * fall when the hand reaches the slot before it: a sleeping caller must wake
 * then.
 */
tkw_tick tkw__pool_next_share(const struct tkw_pool *pool, uint32_t level,
                              uint64_t number)
{
    const struct tkw_level *own = &pool->dial.levels[level];
    uint64_t shares = crowd_size(pool, level, number) / TKW_WAKE_SHARE;
    if (shares < 2)
        return TKW_NEVER;
    if (number > own->hand + 1)
        return (number - 1) * own->tick;
    tkw_tick finish = crowd_finish(pool, level);
    if (finish <= pool->now)
        return TKW_NEVER;
    return pool->now + (finish - pool->now) / shares + 1;
}
