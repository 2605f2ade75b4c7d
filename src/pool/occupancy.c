/*
 * pool/occupancy.c - counting the entries in the slots of a level.
 *
 * tkw_pool_occupancy() reads no entries.  A slot stores the number of its
 * chunks and of the gaps in them, and its streams store `read` and `write`.
 *
 *     read                                  write
 *      v                                      v
 *     [. . e e e] -> [e e e . .] -> [e e e e . .]
 *      skipped            gap               free
 */
#include <tickwheel/pool.h>

#include "private.h"

/* Return the places already read in a stream's first chunk, plus those not yet
 * written in its last. */
static size_t stream_unused(const struct stream *stream)
{
    if (stream_is_empty(stream))
        return 0;
    size_t skipped = (size_t)(stream->read - stream_head(stream)->entries);
    size_t written = (size_t)(stream->write - stream_tail(stream)->entries);
    return skipped + CHUNK_ENTRIES - written;
}

static uint32_t slot_entries(const struct slot *slot)
{
    size_t places = slot->chunks * CHUNK_ENTRIES - slot->gaps;
    for (unsigned i = 0; i < STREAMS; i++)
        places -= stream_unused(&slot->streams[i]);
    return (uint32_t)places;
}

size_t tkw_pool_occupancy(const struct tkw_pool *pool, uint32_t level,
                          uint32_t *counts, size_t room)
{
    if (level == 0 || level > pool->dial.level_count)
        return 0;
    uint32_t size = pool->dial.levels[level - 1].size;
    const struct slot *turns = &pool->slots[pool->rings[level - 1].first];
    for (uint32_t i = 0; i < size && i < room; i++)
        counts[i] = slot_entries(&turns[i]) + slot_entries(&turns[size + i]);
    return size;
}
