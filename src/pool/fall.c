/*
 * pool/fall.c - entries fall a level: whole slots in time, crowds before it.
 *
 * Falling reads one stream and writes others, in order: an online radix sort.
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
 * level i that a deadline d lies in.
 *
 *   1. S(i) gives up entries only when all S(j) above it are empty, and stay
 *      so: ensure_drained() sees to that, and arming passes by a slot that was
 *      drained (file_past_drained() in pool/arm.c).  So what falls into S(i)
 *      comes before anything leaves it.
 *   2. What is armed straight into S(i) was armed after all that is in S(j)
 *      above: the level that takes d never rises.  It is kept apart from what
 *      fell, and leaves after it.
 *   3. What passes by a drained S(i) goes to `fallen` of S(i-1), behind all
 *      that fell from S(i): all of that was armed before.  And nothing has been
 *      armed straight into S(i-1) yet: the window of level i-1 does not reach
 *      d, or d would have been filed there.
 *
 * In an unfinished tick nothing falls ahead of time: a current slot may still
 * hold what must go first.
 */
#include "private.h"
#include "run.h"

/* To be called when the hand or what is drained has moved. */
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

/* A slot is empty now. */
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

/*
 * A timer's deadline lies past the slot that its entry is in: it was postponed,
 * or goes round.  File it anew.
 */
void tkw__pool_file_anew(struct tkw_pool *pool, uint32_t level, uint64_t number,
                         uint64_t entry, tkw_tick deadline)
{
    entry = entry_with_deadline(entry, deadline);
    if (deadline == TKW_NEVER) {
        pool_shelve(pool, NEVER, entry);
        pool->counters.refiles++;
    } else if (goes_round(pool, level)) {
        uint32_t size = pool->dial.levels[level].size;
        uint64_t own = level_number(&pool->dial.levels[level], deadline);
        uint64_t ahead = 1 + (own - number - 1) % size;
        slot_append(pool, level, number + ahead, FALLEN, entry);
        pool->counters.passes += ahead == size;
        pool->counters.refiles += ahead != size;
    } else {
        tkw__pool_file(pool, entry, deadline);
        pool->counters.refiles++;
    }
}

/* Let entries fall whose bits tell all, without a look at their timers. */
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
    pool->counters.falls += run->count;
}

/* So many timers are looked at: whatever was postponed of them is seen. */
void tkw__pool_see(struct tkw_pool *pool, size_t n)
{
    pool->unseen -= pool->unseen < n ? pool->unseen : n;
}

/* The same with a look: the dead are dropped, the postponed filed anew. */
static void fall_looking(struct tkw_pool *pool, uint32_t level, uint64_t number,
                         const struct run *run)
{
    const struct tkw_level *from = &pool->dial.levels[level];
    const struct tkw_level *below = from - 1;
    pool->looks += run->count;
    tkw__pool_see(pool, run->count);
    for (size_t i = 0; i < run->count; i++) {
        uint64_t entry = run->entries[i];
        prefetch_ahead(pool, run, i);
        if (entry_timer(pool, entry) == NULL) {
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
        pool->counters.falls++;
    }
}

/*
 * Can the entries of a slot be trusted, and is it worth while?  Not where many
 * are dead or postponed: better that they go no further.
 */
static bool may_be_blind(const struct tkw_pool *pool, uint32_t level,
                         const struct slot *slot)
{
    return slot->chunks >= TKW_CROWDED_CHUNKS && !goes_round(pool, level) &&
           pool->dial.levels[level].tick <= TICK_MASK + 1 &&
           (pool_dead(pool) + pool->unseen) * 8 <= pool->entries;
}

/*
 * Let up to `most` entries of a slot fall.  Returns how many did; if that is
 * less than `most`, the slot is empty.
 */
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
                fall_looking(pool, level, number, &run);
            stream_consume(pool, slot, stream, run.count);
            done += run.count;
        }
    }
    if (slot->chunks == 0)
        tkw__pool_vacate(pool, place);
    return done;
}

/*
 * Empty a slot ahead of time, if that is not much work: first the one above
 * that it is part of.  Returns whether both are empty and will stay so.
 */
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

/* The level whose next slot must fall before that of `level` may. */
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

/* Let some of a level's next slot fall, nothing being in the way. */
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

/*
 * A chunk was added to the next slot of a level, which is crowded: let two
 * fall, of that slot or of what is in its way.
 */
void tkw__pool_help(struct tkw_pool *pool, uint32_t level)
{
    size_t budget = SIZE_MAX;
    fall_ahead(pool, level_in_the_way(pool, level, &budget), 2 * CHUNK_ENTRIES);
}

/* How many entries are in a crowded slot, as if its chunks were full; 0: it is
 * not crowded. */
static uint64_t crowd_size(const struct tkw_pool *pool, uint32_t level,
                           uint64_t number)
{
    uint32_t chunks =
        pool->slots[ring_slot(&pool->rings[level], number)].chunks;
    return chunks >= TKW_CROWDED_CHUNKS ? chunks * (uint64_t)CHUNK_ENTRIES : 0;
}

/* The same of the next slot of a level.  A drained one is empty. */
static uint64_t crowd_next(const struct tkw_pool *pool, uint32_t level)
{
    return crowd_size(pool, level, pool->dial.levels[level].hand + 1);
}

/*
 * When a crowd must have fallen: at the beginning of its slot; on higher levels
 * earlier, so that the slot below can fall ahead of time as well.
 */
static tkw_tick crowd_finish(const struct tkw_pool *pool, uint32_t level)
{
    const struct tkw_level *levels = pool->dial.levels;
    tkw_tick begin = (levels[level].hand + 1) * levels[level].tick;
    return level > 1 ? begin - levels[level - 1].tick : begin;
}

/*
 * The share of a level's crowd that is due after `elapsed` ticks more.  It will
 * take as long again until the next one, or so it seems; but not if the hand
 * has come here meanwhile: for who has slept until then, this is the first, and
 * tkw_pool_next() will ask for more.
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

/*
 * Time has moved by `elapsed` ticks: let crowds fall in shares.  Returns how
 * many entries that were, at most `budget`.
 */
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

/*
 * Until when nothing is to be done but to move the hands, no slot beginning
 * before `wake`; 0: something is.  A level's next slot is another one when its
 * hand moves.
 */
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
 * When the next share of a large crowd is due, TKW_WAKE_SHARE timers of it.
 * `number` is that of the next occupied slot of the level.  It begins to fall
 * when the hand comes to the slot before it: whoever sleeps is to wake then.
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
