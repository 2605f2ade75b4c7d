/*
 * pool/stream.h - queues of 8-byte entries in chunks, and slots made of them.
 *
 * A stream is a chain of chunks.  Entries are appended to the last chunk, and
 * read from the first:
 *
 *     read                                            write
 *      v                                                v
 *     [next|count| . . e e e] -> [next|count| e e e] -> [ | | e e . .]
 *
 * The address of a chunk is a multiple of its size.  So the address of an entry
 * yields its chunk.  If `write` is such a multiple, the last chunk is full, or
 * there is no chunk: appending takes one comparison and two stores.  Chunks
 * before the last need not be full: their entries end at `count`.  The last
 * chunk does not use `count`: its entries end at `write`.
 *
 * pool/memory.c appends and frees chunks.
 */
#ifndef TKW_POOL_STREAM_H
#define TKW_POOL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A power of two.  Tests use a small one to reach every case. */
#ifndef TKW_CHUNK_BYTES
#define TKW_CHUNK_BYTES 512
#endif

struct chunk_header {
    struct chunk *next;
    uint32_t count; /* where its entries end; unused in the last chunk */
};

#define CHUNK_ENTRIES ((TKW_CHUNK_BYTES - sizeof(struct chunk_header)) / 8)

struct chunk {
    struct chunk_header header;
    uint64_t entries[CHUNK_ENTRIES];
};

_Static_assert(sizeof(struct chunk) == TKW_CHUNK_BYTES,
               "a chunk is filled by its entries");
_Static_assert((TKW_CHUNK_BYTES & (TKW_CHUNK_BYTES - 1)) == 0,
               "the address of an entry tells its chunk");

struct stream {
    uint64_t *read;  /* the first entry, or NULL if there is none */
    uint64_t *write; /* behind the last entry, or NULL */
};

/* FALLEN has the entries that fell from a higher level, DIRECT those that were
 * armed into the slot.  FALLEN leaves first. */
enum { FALLEN, DIRECT, STREAMS };

struct slot {
    struct stream streams[STREAMS];
    uint32_t chunks; /* of both streams; 0 if and only if the slot is empty */
    uint32_t gaps;   /* entries that would still fit into its chunks, without
                        the last of each stream */
};

static inline bool stream_is_empty(const struct stream *stream)
{
    return stream->read == NULL;
}

/* Does the stream need another chunk before an entry can be appended? */
static inline bool stream_is_full(const struct stream *stream)
{
    return (uintptr_t)stream->write % TKW_CHUNK_BYTES == 0;
}

static inline void stream_append(struct stream *stream, uint64_t entry)
{
    *stream->write++ = entry;
}

/* Return the chunk that contains `entry`. */
static inline struct chunk *chunk_of(const uint64_t *entry)
{
    uintptr_t offset = (uintptr_t)entry % TKW_CHUNK_BYTES;
    return (struct chunk *)(void *)((char *)(uintptr_t)entry - offset);
}

static inline struct chunk *stream_head(const struct stream *stream)
{
    return chunk_of(stream->read);
}

static inline struct chunk *stream_tail(const struct stream *stream)
{
    return chunk_of(stream->write - 1);
}

/* Return where the entries of a chunk begin, and where they end. */
static inline uint64_t *chunk_begin(const struct stream *stream,
                                    struct chunk *chunk)
{
    return chunk == stream_head(stream) ? stream->read : chunk->entries;
}

static inline uint64_t *chunk_end(const struct stream *stream,
                                  struct chunk *chunk)
{
    return chunk == stream_tail(stream) ? stream->write
                                        : chunk->entries + chunk->header.count;
}

/* Return the number of entries in the first chunk from `read` on. */
static inline size_t stream_run(const struct stream *stream)
{
    return (size_t)(chunk_end(stream, stream_head(stream)) - stream->read);
}

/* Return how many more entries fit into a chunk that is not the last. */
static inline size_t chunk_gap(const struct chunk *chunk)
{
    return CHUNK_ENTRIES - chunk->header.count;
}

/* Return the chunk after `chunk`, or NULL. */
static inline struct chunk *chunk_next(const struct stream *stream,
                                       struct chunk *chunk)
{
    return chunk == stream_tail(stream) ? NULL : chunk->header.next;
}

#endif
