/*
 * pool/sweep.c - clearing away dead entries, some chunks at a time.
 *
 * The sweeper goes round all streams.  It looks at the timers of a chunk, drops
 * the dead entries (x), and moves the living ones towards the front: into the
 * chunk before until that is full, the others to the chunk's own beginning.
 *
 *     before       at                       before       at
 *     [a b . .] -> [x c d e] -> ...   =>    [a b c d] -> [e . . .] -> ...
 *
 * So behind the sweeper every chunk of a stream is full, but for the one that
 * it filled last: dropping as many entries as a chunk holds sets a chunk free.
 *
 * While more than three quarters as many entries are dead as timers are armed,
 * arming sweeps eight entries for every one it makes, and a whole advance as
 * many as fill a chunk, be they in one or, in slots that have few, in several.
 * A round over E entries is over after E/8 armings, so that what dies meanwhile
 * is an eighth of these, a quarter of the armed: the dead stay below the armed,
 * plus twice TKW_SWEEP_SLACK.
 *
 * When the allocator refuses memory, arming and tkw_pool_reserve() sweep as
 * well, however few entries are dead: see tkw__pool_provide() in pool/memory.c.
 */
#include "private.h"

/* Streams that a step comes to: for every one that has entries, a slot has some
 * that do not. */
enum { STREAMS_A_STEP = STREAMS * (CHUNK_ENTRIES + SHELVES) };

static struct slot *slot_swept(struct tkw_pool *pool)
{
    uint32_t slot = pool->sweep.slot;
    return slot < pool->slot_count ? &pool->slots[slot]
                                   : &pool->shelves[slot - pool->slot_count];
}

/* The first slot from there on that is occupied or a shelf; 0 if they are past
 * all. */
static uint32_t slot_from(const struct tkw_pool *pool, uint32_t slot)
{
    for (uint32_t i = 0; i < pool->dial.level_count; i++) {
        const struct ring *ring = &pool->rings[i];
        if (slot >= ring->first + ring->size)
            continue;
        uint32_t found =
            bits_find(ring->occupancy, ring->size, slot - ring->first);
        if (found != BITS_NONE)
            return ring->first + found;
        slot = ring->first + ring->size;
    }
    return slot < pool->slot_count + SHELVES ? slot : 0;
}

static void next_stream(struct tkw_pool *pool)
{
    pool->sweep.at = NULL;
    pool->sweep.before = NULL;
    if (++pool->sweep.stream < STREAMS)
        return;
    pool->sweep.stream = 0;
    pool->sweep.slot = slot_from(pool, pool->sweep.slot + 1);
}

/*
 * Drop the dead entries of a chunk.  The living ones fill up the chunk `before`
 * (NULL: there is none), then follow each other from `begin` on.  Returns where
 * they end.
 */
static uint64_t *keep_living(struct tkw_pool *pool, struct chunk *before,
                             uint64_t *begin, const uint64_t *end)
{
    for (const uint64_t *entry = begin; entry < end; entry++)
        entry_prefetch(pool, *entry);
    pool->looks += (uint64_t)(end - begin);

    size_t room = before != NULL ? chunk_gap(before) : 0;
    uint64_t *kept = begin;
    for (const uint64_t *entry = begin; entry < end; entry++) {
        if (entry_timer(pool, *entry) == NULL) {
            pool_drop(pool, *entry);
        } else if (room > 0) {
            before->entries[before->header.count++] = *entry;
            pool->gaps--;
            room--;
        } else {
            *kept++ = *entry;
        }
    }
    return kept;
}

/* Let a chunk's entries end at `end`. */
static void set_end(struct tkw_pool *pool, struct stream *stream,
                    struct chunk *chunk, uint64_t *end)
{
    if (chunk == stream_tail(stream)) {
        stream->write = end;
        return;
    }
    pool->gaps -= chunk_gap(chunk);
    chunk->header.count = (uint32_t)(end - chunk->entries);
    pool->gaps += chunk_gap(chunk);
}

/* Take a chunk out whose entries are no longer needed. */
static void unlink_chunk(struct tkw_pool *pool, struct stream *stream,
                         struct chunk *before, struct chunk *chunk)
{
    struct chunk *next = chunk_next(stream, chunk);
    if (next != NULL)
        pool->gaps -= chunk_gap(chunk);

    if (before == NULL) {
        stream->read = next == NULL ? NULL : next->entries;
        if (next == NULL)
            stream->write = NULL;
    } else if (next == NULL) {
        stream->write = before->entries + before->header.count;
        pool->gaps -= chunk_gap(before);
    } else {
        before->header.next = next;
    }
}

static void sweep_chunk(struct tkw_pool *pool, struct slot *slot,
                        struct stream *stream, struct chunk *chunk)
{
    struct chunk *before = pool->sweep.before;
    struct chunk *next = chunk_next(stream, chunk);
    uint64_t *begin = chunk_begin(stream, chunk);
    uint64_t *end = keep_living(pool, before, begin, chunk_end(stream, chunk));

    if (end == begin) {
        unlink_chunk(pool, stream, before, chunk);
        tkw__chunk_give_back(pool, slot, chunk);
    } else {
        set_end(pool, stream, chunk, end);
        before = chunk;
    }
    pool->sweep.before = before;
    pool->sweep.at = next;
    if (next == NULL)
        next_stream(pool);
}

/* Make one step of the round.  Returns how many entries it has looked at. */
size_t tkw__pool_sweep(struct tkw_pool *pool)
{
    size_t left = CHUNK_ENTRIES;
    pool->sweeps++;
    pool->ready_end = NULL;
    for (unsigned i = 0; i < STREAMS_A_STEP; i++) {
        struct slot *slot = slot_swept(pool);
        struct stream *stream = &slot->streams[pool->sweep.stream];
        if (stream_is_empty(stream)) {
            next_stream(pool);
            continue;
        }
        struct chunk *chunk =
            pool->sweep.at != NULL ? pool->sweep.at : stream_head(stream);
        size_t count =
            (size_t)(chunk_end(stream, chunk) - chunk_begin(stream, chunk));
        if (count > left)
            break;
        left -= count;
        uint32_t place = pool->sweep.slot;
        sweep_chunk(pool, slot, stream, chunk);
        if (slot->chunks == 0 && place < pool->slot_count)
            tkw__pool_vacate(pool, place);
    }
    return CHUNK_ENTRIES - left;
}
