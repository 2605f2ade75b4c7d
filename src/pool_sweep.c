/*
 * pool_sweep.c - clearing away dead entries, some chunks at a time.
 *
 * The sweeper goes round all streams.  It looks at the timers of a chunk, moves
 * the entries that are alive together, and joins them with those of the chunk
 * before if all fit there:
 *
 *     before       at                       before
 *     [a b . .] -> [x c x .] -> ...   =>    [a b c .] -> ...
 *
 * While more than three quarters as many entries are dead as timers are armed,
 * arming sweeps eight entries for every one it makes, and a whole advance as
 * many as fill a chunk, be they in one or, in slots that have few, in several.
 * A round over E entries is over after E/8 armings, so that what dies meanwhile
 * is an eighth of these, a quarter of the armed: the dead stay below the armed,
 * plus twice TKW_SWEEP_SLACK.
 */
#include "pool_inner.h"

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

/* Move what is alive together.  Returns where it ends. */
static uint64_t *keep_living(struct tkw_pool *pool, uint64_t *begin,
                             const uint64_t *end)
{
    for (const uint64_t *entry = begin; entry < end; entry++)
        entry_prefetch(pool, *entry);
    pool->looks += (uint64_t)(end - begin);

    uint64_t *kept = begin;
    for (const uint64_t *entry = begin; entry < end; entry++) {
        if (entry_timer(pool, *entry) != NULL)
            *kept++ = *entry;
        else
            pool_drop(pool, *entry);
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
    uint64_t *end = keep_living(pool, begin, chunk_end(stream, chunk));
    size_t kept = (size_t)(end - begin);

    if (before != NULL && before->header.count + kept <= CHUNK_ENTRIES) {
        for (size_t i = 0; i < kept; i++)
            before->entries[before->header.count++] = begin[i];
        pool->gaps -= kept;
        kept = 0;
    }
    if (kept == 0) {
        unlink_chunk(pool, stream, before, chunk);
        chunk_give_back(pool, slot, chunk);
    } else {
        set_end(pool, stream, chunk, end);
        before = chunk;
    }
    pool->sweep.before = before;
    pool->sweep.at = next;
    if (next == NULL)
        next_stream(pool);
}

/* A step.  Returns how many entries it has looked at. */
size_t pool_sweep(struct tkw_pool *pool)
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
            pool_vacate(pool, place);
    }
    return CHUNK_ENTRIES - left;
}
