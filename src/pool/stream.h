/*
 * pool/stream.h - queues of 8-byte entries in chunks, and slots made of them.
 *
 * A stream is a chain of chunks.  It is written at the end of the last and read
 * at the beginning of the first:
 *
 *     read                                            write
 *      v                                                v
 *     [next|count| . . e e e] -> [next|count| e e e] -> [ | | e e . .]
 *
 * A chunk lies at a multiple of its size, so that an address inside tells the
 * chunk, and a `write` at such a multiple says that there is no room (or no
 * chunk yet): to append is one comparison and two stores.  Chunks in the middle
 * need not be full; `count` says how far they are.  That of the last chunk is
 * not kept: `write` tells.
 *
 * Here is what touches no memory but a stream's own; taking and giving back
 * chunks is in pool/memory.c.
 */
#ifndef TKW_POOL_STREAM_H
#define TKW_POOL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A power of two.  Small ones make small tests reach everything. */
#ifndef TKW_CHUNK_BYTES
#define TKW_CHUNK_BYTES 512
#endif

struct chunk_header {
    struct chunk *next;
    uint32_t count; /* where its entries end, if it is not the last */
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

/* What fell from a higher level leaves before what was armed directly. */
enum { FALLEN, DIRECT, STREAMS };

struct slot {
    struct stream streams[STREAMS];
    uint32_t chunks; /* of both streams; 0 if and only if the slot is empty */
};

static inline bool stream_is_empty(const struct stream *stream)
{
    return stream->read == NULL;
}

/* Is there no room for one more entry without another chunk? */
static inline bool stream_is_full(const struct stream *stream)
{
    return (uintptr_t)stream->write % TKW_CHUNK_BYTES == 0;
}

static inline void stream_append(struct stream *stream, uint64_t entry)
{
    *stream->write++ = entry;
}

/* The chunk in which an entry lies. */
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

/* Where the entries of a chunk begin and end. */
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

/* How many entries can be read one after the other from `read` on. */
static inline size_t stream_run(const struct stream *stream)
{
    return (size_t)(chunk_end(stream, stream_head(stream)) - stream->read);
}

/* How many entries more would fit into a chunk that is not the last. */
static inline size_t chunk_gap(const struct chunk *chunk)
{
    return CHUNK_ENTRIES - chunk->header.count;
}

/* The chunk behind, or NULL. */
static inline struct chunk *chunk_next(const struct stream *stream,
                                       struct chunk *chunk)
{
    return chunk == stream_tail(stream) ? NULL : chunk->header.next;
}

#endif
