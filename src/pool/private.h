/*
 * pool/private.h - struct tkw_pool, its rings and shelves, and the helpers that
 * all files of this folder use.
 */
#ifndef TKW_POOL_PRIVATE_H
#define TKW_POOL_PRIVATE_H

#include <tickwheel/pool.h>

#include <string.h>

#include "ahead.h"
#include "base/attributes.h"
#include "dial/inline.h"
#include "record.h"
#include "stream.h"

/* A slot of at least this many chunks is crowded.  It falls in shares, if
 * possible without reading its records: see may_be_blind() in pool/fall.c. */
#ifndef TKW_CROWDED_CHUNKS
#define TKW_CROWDED_CHUNKS 8
#endif

/* queue_up() copies queues of fewer chunks, and links longer ones. */
#ifndef TKW_JOIN_CHUNKS
#define TKW_JOIN_CHUNKS 64
#endif

/* Chunks of a block.  The pool allocates whole blocks. */
#ifndef TKW_BLOCK_CHUNKS
#define TKW_BLOCK_CHUNKS 128
#endif

/* Dead entries that the pool tolerates, however few timers are armed. */
#ifndef TKW_SWEEP_SLACK
#define TKW_SWEEP_SLACK 4096
#endif

/* The slots of a level.  There are twice as many as in the window, because
 * slots fall ahead of time into the next turn.  The fields that file() reads
 * come first. */
struct ring {
    uint64_t low;   /* the first slot number that file() takes directly */
    uint64_t reach; /* how many it takes directly, or 0 */
    uint32_t mask;  /* `size` - 1 if `size` is a power of two, or 0 */
    uint32_t first; /* the index of its slot 0 in `pool->slots` */
    uint32_t shift; /* log2 of a slot's length, if `reach` is not 0 */
    uint32_t size;
    uint64_t hand;    /* the level's hand at the last update of this ring */
    uint64_t drained; /* the last slot number emptied ahead of time */
    uint64_t falling; /* the slot number that began to fall last */
    bool is_blind;    /* whether it falls without reading records */
    uint64_t *occupancy;
};

/*
 * Shelves are slots of no level.  READY holds the entries due by the last
 * advance.  FRESH holds the entries armed since then for a tick that had come
 * already.  In an unfinished tick, DUE holds the entries that expire at that
 * tick, and LATE the entries armed for that tick since it began.
 */
enum { READY, FRESH, DUE, LATE, NEVER, SHELVES };

struct block; /* an allocation that chunks are cut from */

struct tkw_pool {
    tkw_tick now;     /* the last finished tick */
    uint64_t entries; /* in all streams, dead ones included */
    size_t arms_left; /* armings until the next call of prepare() */
    uint64_t unseen;  /* postponements, minus records read since */

    struct tkw_wheel_stats stats;
    uint32_t used;                   /* records that were ever used */
    uint32_t room;                   /* records that are allocated */
    uint32_t free_count;             /* free records below `used` */
    uint32_t free_nodes[FREE_NODES]; /* the topmost nodes of free records, from
                                        the top down; NO_INDEX: none */
    uint32_t top_indices; /* in the top node; NODE_INDICES if there is none */
    uint32_t cell_bytes;  /* a record and its payload, if it has one */
    uint32_t segments_max;

    /* With payload: how many timers other threads have given up, and how many
     * of them the pool has cancelled.  Without: NULL, 0. */
    const uint64_t *given_up; /* atomic */
    uint64_t given_up_seen;

    struct slot *slots;
    struct ring rings[TKW_LEVELS_MAX];
    uint64_t busy;   /* bit i is set: level i+1 has an occupied slot */
    uint64_t crowds; /* not set: level i+1 has no crowded slot, or is level 1 */
    tkw_tick wake;   /* no slot begins before this tick; 0: unknown */
    tkw_tick quiet;  /* before this tick advances move hands only; 0: unknown */
    uint32_t slot_count;
    uint32_t levels_left; /* levels not yet emptied in an unfinished tick */
    bool is_mid_tick;     /* dial.now is not finished: a budget ran out */
    size_t queued;        /* armed timers in READY, FRESH, DUE and LATE */
    uint64_t *ready_end;  /* end of the first run of READY; NULL: unknown */
    tkw_tick prefetched;  /* the tick whose records were prefetched last */
    struct slot shelves[SHELVES];

    uint64_t gaps;        /* see pool/memory.c */
    uint64_t places_safe; /* places that the chunks suffice for */
    struct chunk *chunks_free;
    size_t chunks_total;
    struct block *blocks;
    struct block *blocks_last;
    struct block *fresh; /* the block that chunks are cut from */

    struct {
        struct chunk *before; /* the chunk swept last, or NULL */
        struct chunk *at;     /* the chunk to sweep next; NULL: the first */
        uint32_t slot;
        uint32_t stream;
    } sweep;

    uint32_t drain_at;
    uint64_t retired;
    uint64_t reads;
    uint64_t sweeps;
    uint64_t shares;
    uint64_t bytes;
    struct tkw_allocator allocator;
    void *arena; /* slots and occupancy */
    size_t arena_bytes;
    size_t timers_max;
    struct tkw_dial dial;

    /* Segments stay at their addresses until the pool is closed: a stale handle
     * may refer to a record at any time. */
    char *segments[SEGMENTS];
};

/* pool/memory.c */
void *tkw__pool_allocate(struct tkw_pool *pool, size_t bytes);
void tkw__pool_release(struct tkw_pool *pool, void *memory, size_t bytes);
int tkw__pool_memory_open(struct tkw_pool *pool);
void tkw__pool_memory_close(struct tkw_pool *pool);
int tkw__pool_provide(struct tkw_pool *pool, size_t n, size_t records,
                      size_t steps);
uint32_t tkw__node_pop(struct tkw_pool *pool);
void tkw__record_free(struct tkw_pool *pool, uint32_t index,
                      struct record *record);
void tkw__stream_open(struct tkw_pool *pool, struct slot *slot,
                      struct stream *stream);
void tkw__stream_finish_head(struct tkw_pool *pool, struct slot *slot,
                             struct stream *stream);
size_t tkw__pool_chunks_idle(const struct tkw_pool *pool);
void tkw__chunk_free(struct tkw_pool *pool, struct slot *slot,
                     struct chunk *chunk);

/* pool/arm.c */
void tkw__slot_open(struct tkw_pool *pool, uint32_t level, uint32_t place,
                    struct stream *stream);
void tkw__pool_file(struct tkw_pool *pool, uint64_t entry, tkw_tick deadline);
void tkw__pool_drop_last(struct tkw_pool *pool, uint64_t entry);
void tkw__pool_cancel_given_up(struct tkw_pool *pool, struct record *timer);

/* pool/fall.c */
void tkw__ring_update(struct tkw_pool *pool, uint32_t level);
void tkw__pool_vacate(struct tkw_pool *pool, uint32_t place);
void tkw__pool_see(struct tkw_pool *pool, size_t n);
void tkw__pool_file_anew(struct tkw_pool *pool, uint32_t level, uint64_t number,
                         uint64_t entry, tkw_tick deadline);
size_t tkw__pool_fall(struct tkw_pool *pool, uint32_t level, uint64_t number,
                      size_t most);
void tkw__pool_help(struct tkw_pool *pool, uint32_t level);
size_t tkw__pool_spread(struct tkw_pool *pool, tkw_tick elapsed, size_t budget);
tkw_tick tkw__pool_quiet_until(const struct tkw_pool *pool, tkw_tick wake);
tkw_tick tkw__pool_next_share(const struct tkw_pool *pool, uint32_t level,
                              uint64_t number);

/* pool/advance.c */
tkw_tick tkw__pool_next_slot(const struct tkw_pool *pool);

/* pool/sweep.c */
size_t tkw__pool_sweep(struct tkw_pool *pool);

static inline struct record *record_at(const struct tkw_pool *pool,
                                       uint32_t index)
{
    char *segment = pool->segments[index >> TKW_SEGMENT_BITS];
    size_t at = (size_t)(index & (SEGMENT_RECORDS - 1)) * pool->cell_bytes;
    return (struct record *)(void *)(segment + at);
}

static inline bool pool_has_payload(const struct tkw_pool *pool)
{
    return pool->given_up != NULL;
}

static inline void entry_prefetch(const struct tkw_pool *pool, uint64_t entry)
{
    __builtin_prefetch(record_at(pool, entry_index(entry)), 1);
}

/* Pop the index of a free record.  There must be one. */
static inline uint32_t record_pop(struct tkw_pool *pool)
{
    pool->free_count--;
    if (pool->top_indices == 0)
        return tkw__node_pop(pool);
    return record_at(pool, pool->free_nodes[0])
        ->node.indices[--pool->top_indices];
}

/* Return the index of an unused record, and store its new generation in
 * `*generation`.  There must be one. */
static inline uint32_t record_take(struct tkw_pool *pool, uint64_t *generation)
{
    *generation = GENERATION_ONE;
    if (pool->free_count == 0) {
        TKW_ASSERT(pool->used < pool->room);
        if (pool_has_payload(pool))
            memset(record_at(pool, pool->used) + 1, 0, PAYLOAD_BYTES);
        return pool->used++;
    }
    uint32_t index = record_pop(pool);
    *generation += record_at(pool, index)->word & WORD_GENERATION;
    return index;
}

/* Remove the first `n` entries.  The first chunk holds all of them. */
static inline void stream_consume(struct tkw_pool *pool, struct slot *slot,
                                  struct stream *stream, size_t n)
{
    if (n < stream_run(stream))
        stream->read += n;
    else
        tkw__stream_finish_head(pool, slot, stream);
}

/* Update the counts of gaps: that of a chunk was `before`, and is `after`. */
static inline void slot_change_gap(struct tkw_pool *pool, struct slot *slot,
                                   size_t before, size_t after)
{
    pool->gaps = pool->gaps - before + after;
    slot->gaps = slot->gaps - (uint32_t)before + (uint32_t)after;
}

/* Return the number of places that entries and gaps take. */
static inline uint64_t pool_places(const struct tkw_pool *pool)
{
    return pool->entries + pool->gaps;
}

/* Return the number of armed timers.  Each operation updates one counter. */
static inline size_t pool_live(const struct tkw_pool *pool)
{
    const struct tkw_wheel_stats *c = &pool->stats;
    return (size_t)(c->armed - c->fired - c->cancelled - c->drained);
}

/* Return the number of timers that were given up and not cancelled yet. */
static inline uint64_t pool_given_up(const struct tkw_pool *pool)
{
    if (!pool_has_payload(pool))
        return 0;
    uint64_t count = __atomic_load_n(pool->given_up, __ATOMIC_RELAXED);
    /* A thread counts a timer after it has set the bit. */
    return count > pool->given_up_seen ? count - pool->given_up_seen : 0;
}

/* Return the number of dead entries. */
static inline uint64_t pool_dead(const struct tkw_pool *pool)
{
    return pool->entries - pool_live(pool);
}

/* Are there more dead entries than the pool tolerates? */
static inline bool pool_has_many_dead(const struct tkw_pool *pool)
{
    uint64_t given_up = pool_given_up(pool);
    uint64_t wanted = pool_live(pool);
    wanted -= given_up < wanted ? given_up : wanted;
    return pool->entries > wanted + wanted / 4 * 3 + TKW_SWEEP_SLACK;
}

/* Return the armed timer that `entry` belongs to; NULL: `entry` is dead. */
static inline struct record *entry_timer(const struct tkw_pool *pool,
                                         uint64_t entry)
{
    struct record *record = record_at(pool, entry_index(entry));
    const uint64_t mask = WORD_STATE | WORD_MOVED | WORD_TAG;
    if ((record->word & mask) == (IS_ARMED | entry_tag(entry)))
        return record;

    if ((record->word & mask) != (IS_BODY | entry_tag(entry)))
        return NULL;
    struct record *timer = record_at(pool, (uint32_t)record->user.word);
    bool is_its =
        (timer->word & (WORD_STATE | WORD_MOVED)) == (IS_ARMED | WORD_MOVED) &&
        timer->deadline == entry_index(entry);
    return is_its ? timer : NULL;
}

/* Like entry_timer(), but first cancel the timer if it was given up. */
static inline struct record *entry_wanted(struct tkw_pool *pool, uint64_t entry)
{
    struct record *timer = entry_timer(pool, entry);
    if (pool_has_payload(pool) && timer != NULL && record_is_given_up(timer)) {
        tkw__pool_cancel_given_up(pool, timer);
        return NULL;
    }
    return timer;
}

/* Return the record that holds a timer's deadline and tag.  If that is a body,
 * store its index in `*index`. */
static inline struct record *timer_body(const struct tkw_pool *pool,
                                        struct record *timer, uint32_t *index)
{
    if ((timer->word & WORD_MOVED) == 0)
        return timer;
    *index = (uint32_t)timer->deadline;
    return record_at(pool, *index);
}

static inline tkw_tick entry_deadline(const struct tkw_pool *pool,
                                      uint64_t entry)
{
    return record_at(pool, entry_index(entry))->deadline;
}

/* Return the index in `pool->slots` of the slot with this number. */
static inline uint32_t ring_slot(const struct ring *ring, uint64_t number)
{
    if (ring->mask != 0)
        return ring->first + ((uint32_t)number & ring->mask);
    return ring->first + (uint32_t)(number % ring->size);
}

/* Drop a dead entry, and the records that no other entry needs. */
static inline void pool_drop(struct tkw_pool *pool, uint64_t entry)
{
    struct record *record = record_at(pool, entry_index(entry));
    TKW_ASSERT((record->word & WORD_ENTRIES) != 0);
    pool->entries--;
    record->word -= WORD_ENTRY;
    if ((record->word & WORD_ENTRIES) == 0 ||
        (record->word & WORD_STATE) == IS_BODY)
        tkw__pool_drop_last(pool, entry);
}

/* Return the record that `handle` names, or NULL if its generation differs. */
static inline struct record *record_find(const struct tkw_pool *pool,
                                         tkw_handle handle)
{
    uint32_t index = (uint32_t)handle;
    if (index >= pool->used)
        return NULL;
    struct record *record = record_at(pool, index);
    return (record->word ^ handle) & WORD_GENERATION ? NULL : record;
}

static inline void record_set_state(struct record *record, uint64_t state)
{
    record->word = (record->word & ~WORD_STATE) | state;
}

/* Count a timer off the queues, if it is in one: its entry is about to die. */
static inline void pool_leave_queue(struct tkw_pool *pool, struct record *timer)
{
    if (timer->word & WORD_QUEUED) {
        timer->word &= ~WORD_QUEUED;
        pool->queued--;
    }
}

/* Free a record that has no entry, and so is not armed, unless it is kept. */
static inline void record_free_if_unused(struct tkw_pool *pool, uint32_t index,
                                         struct record *record)
{
    if ((record->word & WORD_ENTRIES) == 0 &&
        (record->word & WORD_STATE) != IS_KEPT)
        tkw__record_free(pool, index, record);
}

/* Is `level` the last one, and can deadlines lie whole turns ahead? */
static inline bool level_has_rounds(const struct tkw_pool *pool, uint32_t level)
{
    return pool->dial.beyond == TKW_ROUNDS &&
           level + 1 == pool->dial.level_count;
}

/* Append `entry` to the stream `which` of a slot of `level`. */
static inline void slot_append(struct tkw_pool *pool, uint32_t level,
                               uint64_t number, uint32_t which, uint64_t entry)
{
    uint32_t place = ring_slot(&pool->rings[level], number);
    struct stream *stream = &pool->slots[place].streams[which];
    if (stream_is_full(stream))
        tkw__slot_open(pool, level, place, stream);
    stream_append(stream, entry);
}

static inline struct stream *shelf(struct tkw_pool *pool, uint32_t which)
{
    return &pool->shelves[which].streams[DIRECT];
}

static inline void pool_shelve(struct tkw_pool *pool, uint32_t which,
                               uint64_t entry)
{
    struct stream *stream = shelf(pool, which);
    if (stream_is_full(stream))
        tkw__stream_open(pool, &pool->shelves[which], stream);
    stream_append(stream, entry);
}

#endif
