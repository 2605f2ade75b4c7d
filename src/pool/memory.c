/*
 * pool/memory.c - allocating records and chunks, and keeping enough of both.
 *
 * Free records are a stack without memory of its own: a free record is a node
 * that holds the indices of a few others (pool/record.h).  So record_pop()
 * mostly returns an index without reading its record.
 *
 * Advancing moves entries between streams and must not fail.  So arming keeps
 * chunks in reserve.  A `place` is room for one entry that is taken: by an
 * entry, dead or alive, or by a gap in a chunk that is not full and not the
 * last of its stream.  All chunks in use consist of places, except the last of
 * each stream and chunks being read.  No more streams are open than there are
 * entries, and no more than there are streams.  Hence, however entries move,
 *
 *     chunks in use <= places / CHUNK_ENTRIES + min(places, streams) + a few
 *
 * Moving an entry adds no place, unless queue_up() joins two long queues.  That
 * leaves less than a chunk empty between them: at most one place in
 * TKW_JOIN_CHUNKS.  So it is enough that arming checks the number of chunks
 * before it takes one more place.  `places_safe` is the number of places that
 * the chunks suffice for, minus those that joining may add.
 */
#include <errno.h>
#include <string.h>

#include "private.h"

struct block {
    struct block *next;
    struct chunk *fresh; /* the first chunk that was never used */
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

/* Return the size of a segment.  It begins at a cache line, so that no record
 * lies in two of them; the address of the allocation is stored before it. */
static size_t segment_bytes(const struct tkw_pool *pool)
{
    return (size_t)SEGMENT_RECORDS * pool->cell_bytes + CELL_BYTES +
           sizeof(char *);
}

static bool segment_add(struct tkw_pool *pool)
{
    uint32_t count = pool->room >> TKW_SEGMENT_BITS;
    if (count == pool->segments_max)
        return false;
    char *memory = tkw__pool_allocate(pool, segment_bytes(pool));
    if (memory == NULL)
        return false;
    char *begin = memory + sizeof memory;
    begin += (0 - (uintptr_t)begin) % CELL_BYTES;
    memcpy(begin - sizeof memory, &memory, sizeof memory);
    pool->segments[count] = begin;
    pool->room += SEGMENT_RECORDS;
    return true;
}

/* Return the first chunk of a block, at a multiple of the chunk size. */
static struct chunk *block_begin(struct block *block)
{
    uintptr_t end = (uintptr_t)(block + 1);
    uintptr_t up = (0 - end) % TKW_CHUNK_BYTES;
    return (struct chunk *)(void *)((char *)(block + 1) + up);
}

/* Return the number of chunks that may be partly read, or written before
 * another chunk is free. */
static size_t spare_always(const struct tkw_pool *pool)
{
    return 2 * (size_t)pool->dial.level_count + 2 * SHELVES;
}

/* Compute `places_safe`. */
static void update_safe(struct tkw_pool *pool)
{
    size_t always = spare_always(pool);
    size_t streams = STREAMS * (size_t)pool->slot_count;
    size_t chunks = pool->chunks_total;
    chunks -= chunks < always ? chunks : always;

    /* With fewer places than streams, each place may need its own chunk. */
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

    /* Append the block, so that its memory is touched only when needed. */
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
        TKW_ASSERT(pool->fresh != NULL); /* arming keeps enough chunks */
    }
    return pool->fresh->fresh++;
}

/* Return the number of chunks that are in no stream. */
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

/* Free a chunk that is no longer in a stream of `slot`. */
void tkw__chunk_free(struct tkw_pool *pool, struct slot *slot,
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

/* Append a chunk to a stream that is full or empty. */
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

/* Free the first chunk of a stream, whose entries have all been read. */
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
        slot_change_gap(pool, slot, chunk_gap(chunk), 0);
    }
    tkw__chunk_free(pool, slot, chunk);
}

/* Is there memory for `n` more entries and `records` more records? */
static bool has_room(const struct tkw_pool *pool, size_t n, size_t records)
{
    size_t unused = (size_t)(pool->room - pool->used) + pool->free_count;
    return unused >= records && pool->places_safe >= pool_places(pool) + n;
}

/* Allocate the memory that has_room() requires.  Returns false if the allocator
 * refuses; memory allocated before that stays. */
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
 * Ensure memory for `n` more entries and `records` more records.  If the
 * allocator refuses, sweep to reuse the memory of dead entries.  Make at most
 * `steps` steps, to bound the time.  Returns 0, or -ENOMEM: then the next call
 * goes on sweeping where this one stopped.
 */
int tkw__pool_provide(struct tkw_pool *pool, size_t n, size_t records,
                      size_t steps)
{
    if (grow(pool, n, records))
        return 0;
    for (; steps > 0; steps--) {
        if (pool_dead(pool) + pool_given_up(pool) + pool->gaps == 0)
            break;
        tkw__pool_sweep(pool);
        if (has_room(pool, n, records))
            return 0;
    }
    return -ENOMEM;
}

/* Push the index of a record that no entry refers to on the free stack. */
void tkw__record_free(struct tkw_pool *pool, uint32_t index,
                      struct record *record)
{
    if (word_generation(record->word) == UINT32_MAX) {
        pool->retired++; /* its next handle would repeat an old one */
        return;
    }
    pool->free_count++;
    if (pool->top_indices < NODE_INDICES) {
        struct node *top = &record_at(pool, pool->free_nodes[0])->node;
        top->indices[pool->top_indices++] = index;
        return;
    }
    record->node.deeper = pool->free_nodes[FREE_NODES - 1];
    for (unsigned i = FREE_NODES - 1; i > 0; i--)
        pool->free_nodes[i] = pool->free_nodes[i - 1];
    pool->free_nodes[0] = index;
    pool->top_indices = 0;
}

static void index_prefetch(const struct tkw_pool *pool, uint32_t index)
{
    __builtin_prefetch(record_at(pool, index), 1);
}

/*
 * Pop the top node, which holds no index, and return its own.  The node below
 * it is the top then, and full.
 *
 * Free records have mostly left the cache.  A node is prefetched when the pool
 * names it first.  It has arrived when two nodes are above it: then the records
 * that it names are prefetched.
 */
uint32_t tkw__node_pop(struct tkw_pool *pool)
{
    uint32_t index = pool->free_nodes[0];
    uint32_t deeper = record_at(pool, index)->node.deeper;
    for (unsigned i = 0; i + 1 < FREE_NODES; i++)
        pool->free_nodes[i] = pool->free_nodes[i + 1];
    pool->free_nodes[FREE_NODES - 1] = deeper;
    pool->top_indices = NODE_INDICES;
    if (deeper != NO_INDEX)
        index_prefetch(pool, deeper);
    if (pool->free_nodes[2] == NO_INDEX)
        return index;
    const struct node *node = &record_at(pool, pool->free_nodes[2])->node;
    for (unsigned i = 0; i < NODE_INDICES; i++)
        index_prefetch(pool, node->indices[i]);
    return index;
}

int tkw__pool_memory_open(struct tkw_pool *pool)
{
    for (unsigned i = 0; i < FREE_NODES; i++)
        pool->free_nodes[i] = NO_INDEX;
    pool->top_indices = NODE_INDICES;
    update_safe(pool);
    return tkw__pool_provide(pool, 1, 1, 0);
}

void tkw__pool_memory_close(struct tkw_pool *pool)
{
    for (uint32_t at = 0; at < pool->room >> TKW_SEGMENT_BITS; at++) {
        char *memory;
        memcpy(&memory, pool->segments[at] - sizeof memory, sizeof memory);
        tkw__pool_release(pool, memory, segment_bytes(pool));
    }
    for (struct block *block = pool->blocks; block != NULL;) {
        struct block *next = block->next;
        tkw__pool_release(pool, block, BLOCK_BYTES);
        block = next;
    }
}
