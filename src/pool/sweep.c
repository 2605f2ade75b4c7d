/*
 * pool/sweep.c - dropping dead entries, some chunks at a time.
 *
 * The sweeper visits all streams in turn.  It reads the records of a chunk,
 * drops the dead entries (x), and moves the living ones towards the front: into
 * the chunk before until that is full, the others to the chunk's own beginning.
 *
 *     before       at                       before       at
 *     [a b . .] -> [x c d e] -> ...   =>    [a b c d] -> [e . . .] -> ...
 *
 * So behind the sweeper every chunk of a stream is full, except the last it
 * filled: dropping as many entries as a chunk holds frees a chunk.
 *
 * While dead > 3/4 armed + TKW_SWEEP_SLACK, arming sweeps eight entries for
 * every one it adds.  A complete advance sweeps as many as fill a chunk, from
 * one chunk or from several that hold few.  A round over E entries ends after
 * E/8 armings.  The entries that die meanwhile are an eighth of E, a quarter of
 * the armed: the dead stay below the armed, plus twice TKW_SWEEP_SLACK.
 *
 * If the allocator refuses memory, arming and tkw_pool_reserve() sweep as well,
 * however few entries are dead: see tkw__pool_provide() in pool/memory.c.
 */
#include "private.h"
#include "run.h"

/* Streams that a step visits at most.  Beside each stream that has entries, a
 * slot has some that are empty. */
enum { STREAMS_A_STEP = STREAMS * (CHUNK_ENTRIES + SHELVES) };

/* Records that are being fetched while the sweeper reads one.  A processor
 * fetches some ten lines at a time: more prefetches would stall it. */
enum { READ_AHEAD = 16 };

/* Prefetch the first records of a chunk, from `at` to `end`. */
static const uint64_t *prefetch_some(const struct tkw_pool *pool,
                                     const uint64_t *at, const uint64_t *end)
{
    for (const uint64_t *most = at + READ_AHEAD; at < end && at < most; at++)
        entry_prefetch(pool, *at);
    return at;
}

static struct slot *slot_swept(struct tkw_pool *pool)
{
    uint32_t slot = pool->sweep.slot;
    return slot < pool->slot_count ? &pool->slots[slot]
                                   : &pool->shelves[slot - pool->slot_count];
}

/* Return the first slot from `slot` on that is occupied or a shelf, or 0 if
 * `slot` is past the last shelf. */
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

/* Drop the dead entries of a chunk, from `begin` to `end`.  Move the living
 * ones into the chunk `before` until it is full (NULL: there is none), and the
 * others to `begin`.  Returns where they end. */
static uint64_t *keep_living(struct tkw_pool *pool, struct slot *slot,
                             struct chunk *before, uint64_t *begin,
                             const uint64_t *end)
{
    const uint64_t *ahead = prefetch_some(pool, begin, end);
    pool->reads += (uint64_t)(end - begin);

    size_t room = before != NULL ? chunk_gap(before) : 0;
    uint64_t *kept = begin;
    for (const uint64_t *entry = begin; entry < end; entry++) {
        if (ahead < end)
            entry_prefetch(pool, *ahead++);
        if (entry_wanted(pool, *entry) == NULL) {
            pool_drop(pool, *entry);
        } else if (room > 0) {
            before->entries[before->header.count++] = *entry;
            slot_change_gap(pool, slot, 1, 0);
            room--;
        } else {
            *kept++ = *entry;
        }
    }
    return kept;
}

/* Set the end of a chunk's entries to `end`. */
static void set_end(struct tkw_pool *pool, struct slot *slot,
                    struct stream *stream, struct chunk *chunk, uint64_t *end)
{
    if (chunk == stream_tail(stream)) {
        stream->write = end;
        return;
    }
    size_t gap = chunk_gap(chunk);
    chunk->header.count = (uint32_t)(end - chunk->entries);
    slot_change_gap(pool, slot, gap, chunk_gap(chunk));
}

/* Remove a chunk from its stream.  Its entries are all dropped or moved. */
static void unlink_chunk(struct tkw_pool *pool, struct slot *slot,
                         struct stream *stream, struct chunk *before,
                         struct chunk *chunk)
{
    struct chunk *next = chunk_next(stream, chunk);
    if (next != NULL)
        slot_change_gap(pool, slot, chunk_gap(chunk), 0);

    if (before == NULL) {
        stream->read = next == NULL ? NULL : next->entries;
        if (next == NULL)
            stream->write = NULL;
    } else if (next == NULL) {
        stream->write = before->entries + before->header.count;
        slot_change_gap(pool, slot, chunk_gap(before), 0);
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
    uint64_t *end =
        keep_living(pool, slot, before, begin, chunk_end(stream, chunk));

    if (end == begin) {
        unlink_chunk(pool, slot, stream, before, chunk);
        tkw__chunk_free(pool, slot, chunk);
    } else {
        set_end(pool, slot, stream, chunk, end);
        before = chunk;
    }
    pool->sweep.before = before;
    pool->sweep.at = next;
    if (next == NULL) {
        next_stream(pool);
    } else {
        prefetch_some(pool, next->entries, chunk_end(stream, next));
        if (chunk_next(stream, next) != NULL)
            prefetch_chunk(next->header.next);
    }
}

/* Make one step of the sweeper.  Returns how many entries it has read. */
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
