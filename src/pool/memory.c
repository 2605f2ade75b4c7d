/*
 * pool/memory.c - records, chunks, and keeping enough of both.
 *
 * Free records are a stack without memory of its own: a free record is a node
 * that holds a few more indices, so that the next one to use is mostly known
 * without a look at it.
 *
 * Advancing moves entries between streams and must not fail.  So arming keeps
 * chunks in reserve.  A `place` is room that is taken: by an entry, dead or
 * alive, or by nobody, in a chunk that is not full and not the last of its
 * stream.  Of the chunks in use, all are made of places but for the last of
 * each stream and those being read.  No more streams are open than there are
 * entries, and no more than there are streams.  Hence, however things move,
 *
 *     chunks in use <= places / CHUNK_ENTRIES + min(places, streams) + a few
 *
 * Moving an entry makes no place more, but for joining two long queues, which
 * leaves less than a chunk empty between them: one place in TKW_JOIN_CHUNKS at
 * most.  So it is enough that arming checks, before it takes one more, that so
 * many chunks are there: `places_safe` is how many places they are good for,
 * those that joining may add kept aside.
 */
#include <errno.h>

#include "private.h"

struct block {
    struct block *next;
    struct chunk *fresh; /* the first that was never used ... */
    struct chunk *end;
};

#define BLOCK_BYTES \
    (sizeof(struct block) + (TKW_BLOCK_CHUNKS + 1) * sizeof(struct chunk))

void *tkw__pool_allocate(struct tkw_pool *pool, size_t bytes)
{
    void *memory = pool->allocator.allocate(pool->allocator.context, bytes);
    if (memory != NULL)
        pool->bytes += bytes;
    return memory;
}

void tkw__pool_release(struct tkw_pool *pool, void *memory, size_t bytes)
{
    if (memory == NULL)
        return;
    pool->bytes -= bytes;
    pool->allocator.release(pool->allocator.context, memory, bytes);
}

static bool segment_add(struct tkw_pool *pool)
{
    uint32_t count = pool->room >> TKW_SEGMENT_BITS;
    if (count == SEGMENTS)
        return false;
    struct record *segment =
        tkw__pool_allocate(pool, SEGMENT_RECORDS * sizeof *segment);
    if (segment == NULL)
        return false;
    pool->segments[count] = segment;
    pool->room += SEGMENT_RECORDS;
    return true;
}

/* The address of a block's first chunk: a multiple of its size. */
static struct chunk *block_begin(struct block *block)
{
    uintptr_t end = (uintptr_t)(block + 1);
    uintptr_t up = (0 - end) % TKW_CHUNK_BYTES;
    return (struct chunk *)(void *)((char *)(block + 1) + up);
}

/* Chunks that may be partly read, or written before another is free. */
static size_t spare_always(const struct tkw_pool *pool)
{
    return 2 * (size_t)pool->dial.level_count + 2 * SHELVES;
}

/* How many places the chunks there are suffice for. */
static void update_safe(struct tkw_pool *pool)
{
    size_t always = spare_always(pool);
    size_t streams = STREAMS * (size_t)pool->slot_count;
    size_t chunks = pool->chunks_total;
    chunks -= chunks < always ? chunks : always;

    /* While there are fewer places than streams, each may be a chunk. */
    uint64_t few = (uint64_t)chunks * CHUNK_ENTRIES / (CHUNK_ENTRIES + 1);
    uint64_t many =
        chunks > streams ? (uint64_t)(chunks - streams) * CHUNK_ENTRIES : 0;
    uint64_t safe = many > few ? many : few;
    pool->places_safe = safe - safe / TKW_JOIN_CHUNKS;
}

static bool block_add(struct tkw_pool *pool)
{
    struct block *block = tkw__pool_allocate(pool, BLOCK_BYTES);
    if (block == NULL)
        return false;
    block->next = NULL;
    block->fresh = block_begin(block);
    block->end = block->fresh + TKW_BLOCK_CHUNKS;

    /* Last in line: memory is touched only when it is needed. */
    if (pool->blocks == NULL) {
        pool->blocks = block;
        pool->fresh = block;
    } else {
        pool->blocks_last->next = block;
    }
    pool->blocks_last = block;
    pool->chunks_total += TKW_BLOCK_CHUNKS;
    update_safe(pool);
    return true;
}

static struct chunk *chunk_take(struct tkw_pool *pool)
{
    struct chunk *chunk = pool->chunks_free;
    if (chunk != NULL) {
        pool->chunks_free = chunk->header.next;
        return chunk;
    }
    while (pool->fresh->fresh == pool->fresh->end) {
        pool->fresh = pool->fresh->next;
        TKW_ASSERT(pool->fresh != NULL); /* arming has provided for this */
    }
    return pool->fresh->fresh++;
}

/* How many chunks are in no stream. */
size_t tkw__pool_chunks_idle(const struct tkw_pool *pool)
{
    size_t count = 0;
    for (const struct chunk *chunk = pool->chunks_free;
         chunk != NULL && count <= pool->chunks_total;
         chunk = chunk->header.next)
        count++;
    for (const struct block *block = pool->fresh; block != NULL;
         block = block->next)
        count += (size_t)(block->end - block->fresh);
    return count;
}

/* Give a chunk back that is no longer part of a slot's streams. */
void tkw__chunk_give_back(struct tkw_pool *pool, struct slot *slot,
                          struct chunk *chunk)
{
    if (pool->sweep.at == chunk || pool->sweep.before == chunk) {
        pool->sweep.at = NULL;
        pool->sweep.before = NULL;
    }
    slot->chunks--;
    chunk->header.next = pool->chunks_free;
    pool->chunks_free = chunk;
}

/* Give a stream that is full, or empty, room at its end. */
void tkw__stream_open(struct tkw_pool *pool, struct slot *slot,
                      struct stream *stream)
{
    struct chunk *chunk = chunk_take(pool);
    if (stream->write == NULL) {
        stream->read = chunk->entries;
    } else {
        struct chunk *tail = stream_tail(stream);
        tail->header.next = chunk;
        tail->header.count = CHUNK_ENTRIES;
    }
    stream->write = chunk->entries;
    slot->chunks++;
}

/* All entries of a stream's first chunk have been read. */
void tkw__stream_finish_head(struct tkw_pool *pool, struct slot *slot,
                             struct stream *stream)
{
    struct chunk *chunk = stream_head(stream);
    struct chunk *next = chunk_next(stream, chunk);
    if (next == NULL) {
        stream->read = NULL;
        stream->write = NULL;
    } else {
        stream->read = next->entries;
        pool->gaps -= chunk_gap(chunk);
    }
    tkw__chunk_give_back(pool, slot, chunk);
}

/* Is there memory for `n` more entries and `records` more records? */
static bool has_room(const struct tkw_pool *pool, size_t n, size_t records)
{
    size_t unused = (size_t)(pool->room - pool->used) + pool->free_count;
    return unused >= records && pool->places_safe >= pool_places(pool) + n;
}

/* Ask the allocator for it.  Returns false if the allocator refuses; what it
 * gave before that stays. */
static bool grow(struct tkw_pool *pool, size_t n, size_t records)
{
    while ((size_t)(pool->room - pool->used) + pool->free_count < records) {
        if (!segment_add(pool))
            return false;
    }
    while (pool->places_safe < pool_places(pool) + n) {
        if (!block_add(pool))
            return false;
    }
    return true;
}

/*
 * Make sure of memory for `n` more entries and `records` more records.  Where
 * the allocator refuses, use the memory of dead entries again: sweep, but make
 * no more than `steps` steps, so that the time is bounded.  Returns 0, or
 * -ENOMEM; then the next call goes on sweeping where this one stopped.
 */
int tkw__pool_provide(struct tkw_pool *pool, size_t n, size_t records,
                      size_t steps)
{
    if (grow(pool, n, records))
        return 0;
    for (; steps > 0 && pool_dead(pool) + pool->gaps > 0; steps--) {
        tkw__pool_sweep(pool);
        if (has_room(pool, n, records))
            return 0;
    }
    return -ENOMEM;
}

/* Push the index of a record that nothing refers to any more. */
void tkw__record_give_back(struct tkw_pool *pool, uint32_t index,
                           struct record *record)
{
    if (word_generation(record->word) == UINT32_MAX) {
        pool->retired++; /* its next handle would be one given out before */
        return;
    }
    pool->free_count++;
    if (pool->free_top != NO_INDEX) {
        struct node *top = &record_at(pool, pool->free_top)->node;
        if (top->count < NODE_INDICES) {
            top->indices[top->count++] = index;
            return;
        }
    }
    record->node.below = pool->free_top;
    record->node.count = 0;
    pool->free_top = index;
}

int tkw__pool_memory_open(struct tkw_pool *pool)
{
    pool->free_top = NO_INDEX;
    update_safe(pool);
    return tkw__pool_provide(pool, 1, 1, 0);
}

void tkw__pool_memory_close(struct tkw_pool *pool)
{
    for (uint32_t at = 0; at < pool->room; at += SEGMENT_RECORDS)
        tkw__pool_release(pool, record_at(pool, at),
                          SEGMENT_RECORDS * sizeof(struct record));
    for (struct block *block = pool->blocks; block != NULL;) {
        struct block *next = block->next;
        tkw__pool_release(pool, block, BLOCK_BYTES);
        block = next;
    }
}
