/*
 * pool/run.h - reading the entries of a slot run by run, and prefetching the
 * memory of the next run.
 */
#ifndef TKW_POOL_RUN_H
#define TKW_POOL_RUN_H

#include "private.h"

/* A run of entries to process, and the run after it.  A function that processes
 * `entries` prefetches the records of `ahead`, if it reads records.  slot_run()
 * prefetches the chunk behind `ahead`. */
struct run {
    const uint64_t *entries;
    size_t count;
    const uint64_t *ahead;
    size_t ahead_count;
};

static inline void prefetch_chunk(const struct chunk *chunk)
{
    for (size_t i = 0; i < TKW_CHUNK_BYTES; i += 64)
        __builtin_prefetch((const char *)chunk + i);
}

/* Return the first run of the stream `which`, which must not be empty.  The run
 * has at most `most` entries. */
static inline struct run slot_run(const struct slot *slot, unsigned which,
                                  size_t most)
{
    const struct stream *stream = &slot->streams[which];
    struct chunk *next = chunk_next(stream, stream_head(stream));
    struct run run = {.entries = stream->read, .count = stream_run(stream)};
    if (next != NULL) {
        run.ahead = next->entries;
        run.ahead_count = (size_t)(chunk_end(stream, next) - next->entries);
        if (chunk_next(stream, next) != NULL)
            prefetch_chunk(next->header.next);
    } else if (which + 1 < STREAMS && !stream_is_empty(stream + 1)) {
        run.ahead = stream[1].read;
        run.ahead_count = stream_run(stream + 1);
    }
    if (run.count > most)
        run.count = most;
    return run;
}

static inline void prefetch_ahead(const struct tkw_pool *pool,
                                  const struct run *run, size_t i)
{
    if (i < run->ahead_count)
        entry_prefetch(pool, run->ahead[i]);
}

static inline void prefetch_run(const struct tkw_pool *pool,
                                const struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        entry_prefetch(pool, run->entries[i]);
}

#endif
