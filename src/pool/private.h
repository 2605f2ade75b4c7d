/*
 * pool/private.h - what a pool is made of, for the files that make it: its
 * rings, its memory, and what all of them do with records and entries.
 */
#ifndef TKW_POOL_PRIVATE_H
#define TKW_POOL_PRIVATE_H

#include <tickwheel/pool.h>

#include "ahead.h"
#include "base/attributes.h"
#include "dial/inline.h"
#include "record.h"
#include "stream.h"

/* A slot of that many chunks is crowded: it falls in shares, unseen. */
#ifndef TKW_CROWDED_CHUNKS
#define TKW_CROWDED_CHUNKS 8
#endif

/* Queues of fewer chunks are copied when they are joined. */
#ifndef TKW_JOIN_CHUNKS
#define TKW_JOIN_CHUNKS 64
#endif

/* Chunks come in blocks of so many. */
#ifndef TKW_BLOCK_CHUNKS
#define TKW_BLOCK_CHUNKS 128
#endif

/* Dead entries that are left alone, however few timers are armed. */
#ifndef TKW_SWEEP_SLACK
#define TKW_SWEEP_SLACK 4096
#endif

/*
 * The slots of a level: twice as many as the window has, because slots fall
 * ahead of time into the turn that comes next.  What filing needs comes first.
 */
struct ring {
    uint64_t low;   /* slot numbers from here on ... */
    uint64_t reach; /* ... so many, can be armed for with no more thought */
    uint32_t mask;  /* size - 1 if that is a power of two, or 0 */
    uint32_t first; /* the number of its slot 0 among all */
    uint32_t shift; /* log2 of a slot's length, where `reach` is not 0 */
    uint32_t size;
    uint64_t hand;    /* as of the level, when the above was reckoned */
    uint64_t drained; /* arming for this slot number goes a level lower */
    uint64_t falling; /* the slot number that began to fall last ... */
    bool is_blind;    /* ... without a look at its timers */
    uint64_t *occupancy;
};

/*
 * Slots that are no slots.  READY holds what had come due by the last advance,
 * FRESH what was armed since then for a tick that had come already.  In an
 * unfinished tick, DUE holds what expires at that tick, LATE what was armed for
 * it since it began.
 */
enum { READY, FRESH, DUE, LATE, NEVER, SHELVES };

struct block; /* a piece of memory that chunks are cut from */

struct tkw_pool {
    tkw_tick now;     /* the last finished tick */
    uint64_t entries; /* in all streams, dead ones included */
    size_t arms_left; /* armings until prepare() is to be asked again */
    uint64_t unseen;  /* times postponed, timers looked at since taken off */

    struct tkw_wheel_figures counters;
    uint32_t used;       /* records that were ever used */
    uint32_t room;       /* records there is memory for */
    uint32_t free_top;   /* the top node of free records, or NO_INDEX */
    uint32_t free_count; /* free records below `used` */

    struct slot *slots;
    struct ring rings[TKW_LEVELS_MAX];
    uint64_t busy;   /* bit i is set: level i+1 has an occupied slot */
    uint64_t crowds; /* not set: level i+1 has no crowded slot, or is level 1 */
    tkw_tick wake;   /* no slot begins before this; 0: not known */
    tkw_tick quiet;  /* and no crowd moves before this; 0: not known */
    uint32_t slot_count;
    uint32_t levels_left; /* not yet emptied in an unfinished tick */
    bool is_mid_tick;     /* dial.now is not finished: a budget ran out */
    size_t queued;        /* armed timers in READY, FRESH, DUE and LATE */
    uint64_t *ready_end;  /* READY can be read up to here; NULL: not known */
    tkw_tick prefetched;  /* the tick whose timers were prefetched last */
    struct slot shelves[SHELVES];

    uint64_t gaps;        /* see pool/memory.c */
    uint64_t places_safe; /* beyond this, more chunks are needed first */
    struct chunk *chunks_free;
    size_t chunks_total;
    struct block *blocks;
    struct block *blocks_last;
    struct block *fresh; /* the block that is being cut */

    struct {
        struct chunk *before; /* the one swept last, or NULL */
        struct chunk *at;     /* the one to be swept next; NULL: the first */
        uint32_t slot;
        uint32_t stream;
    } sweep;

    uint32_t drain_at;
    uint64_t retired;
    uint64_t looks;
    uint64_t sweeps;
    uint64_t shares;
    uint64_t bytes;
    struct tkw_allocator allocator;
    void *arena; /* slots and occupancy */
    size_t arena_bytes;
    size_t timers_max;
    struct tkw_dial dial;

    /* They neither move nor go before the pool is closed: a stale handle may
     * ask for a record at any time. */
    struct record *segments[SEGMENTS];
};

/* pool/memory.c */
void *tkw__pool_allocate(struct tkw_pool *pool, size_t bytes);
void tkw__pool_release(struct tkw_pool *pool, void *memory, size_t bytes);
int tkw__pool_memory_open(struct tkw_pool *pool);
void tkw__pool_memory_close(struct tkw_pool *pool);
int tkw__pool_provide(struct tkw_pool *pool, size_t n, size_t records,
                      size_t steps);
void tkw__record_give_back(struct tkw_pool *pool, uint32_t index,
                           struct record *record);
void tkw__stream_open(struct tkw_pool *pool, struct slot *slot,
                      struct stream *stream);
void tkw__stream_finish_head(struct tkw_pool *pool, struct slot *slot,
                             struct stream *stream);
size_t tkw__pool_chunks_idle(const struct tkw_pool *pool);
void tkw__chunk_give_back(struct tkw_pool *pool, struct slot *slot,
                          struct chunk *chunk);

/* pool/arm.c */
void tkw__slot_open(struct tkw_pool *pool, uint32_t level, uint32_t place,
                    struct stream *stream);
void tkw__pool_file(struct tkw_pool *pool, uint64_t entry, tkw_tick deadline);
void tkw__pool_drop_last(struct tkw_pool *pool, uint64_t entry);

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
    return &pool->segments[index >> TKW_SEGMENT_BITS]
                          [index & (SEGMENT_RECORDS - 1)];
}

static inline void entry_prefetch(const struct tkw_pool *pool, uint64_t entry)
{
    __builtin_prefetch(record_at(pool, entry_index(entry)), 1);
}

/* Pop a free record; there is one. */
static inline uint32_t record_pop(struct tkw_pool *pool)
{
    uint32_t index = pool->free_top;
    struct node *top = &record_at(pool, index)->node;
    pool->free_count--;
    if (top->count == 0) {
        pool->free_top = top->below;
        return index;
    }
    if (top->count == 1 && top->below != NO_INDEX)
        __builtin_prefetch(record_at(pool, top->below));
    return top->indices[--top->count];
}

/* Take a record, the caller having made sure of one; tell its generation. */
static inline uint32_t record_take(struct tkw_pool *pool, uint64_t *generation)
{
    *generation = GENERATION_ONE;
    if (pool->free_top == NO_INDEX) {
        TKW_ASSERT(pool->used < pool->room);
        return pool->used++;
    }
    uint32_t index = record_pop(pool);
    *generation += record_at(pool, index)->word & WORD_GENERATION;
    return index;
}

/* Be done with the first `n` entries, of the run that is being read. */
static inline void stream_consume(struct tkw_pool *pool, struct slot *slot,
                                  struct stream *stream, size_t n)
{
    if (n < stream_run(stream))
        stream->read += n;
    else
        tkw__stream_finish_head(pool, slot, stream);
}

/* Room for entries that is taken, by entries or by nobody. */
static inline uint64_t pool_places(const struct tkw_pool *pool)
{
    return pool->entries + pool->gaps;
}

/* Armed timers.  One counter an operation is enough to tell. */
static inline size_t pool_live(const struct tkw_pool *pool)
{
    const struct tkw_wheel_figures *c = &pool->counters;
    return (size_t)(c->armed - c->fired - c->cancelled - c->drained);
}

/* How many of the entries belong to nobody any more. */
static inline uint64_t pool_dead(const struct tkw_pool *pool)
{
    return pool->entries - pool_live(pool);
}

/* Are there more dead entries than are left alone? */
static inline bool pool_has_many_dead(const struct tkw_pool *pool)
{
    return pool_dead(pool) > pool_live(pool) / 4 * 3 + TKW_SWEEP_SLACK;
}

/* The timer that an entry stands for, or NULL if the entry is dead. */
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

/* The record that holds a timer's deadline and tag, and its index. */
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

/* Which slot of the ring has that number, counted over all levels. */
static inline uint32_t ring_slot(const struct ring *ring, uint64_t number)
{
    if (ring->mask != 0)
        return ring->first + ((uint32_t)number & ring->mask);
    return ring->first + (uint32_t)(number % ring->size);
}

/* Forget a dead entry; if it was its record's last, more may go. */
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

/* The record a handle names, if it is of that generation; else NULL. */
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

/* Its entry, wherever it is, is about to die: it is not queued any more. */
static inline void pool_leave_queue(struct tkw_pool *pool, struct record *timer)
{
    if (timer->word & WORD_QUEUED) {
        timer->word &= ~WORD_QUEUED;
        pool->queued--;
    }
}

/* An armed timer has an entry: one without is free, unless it is kept. */
static inline void record_free_if_unused(struct tkw_pool *pool, uint32_t index,
                                         struct record *record)
{
    if ((record->word & WORD_ENTRIES) == 0 &&
        (record->word & WORD_STATE) != IS_KEPT)
        tkw__record_give_back(pool, index, record);
}

/* Is it the last level, where deadlines can lie whole turns ahead? */
static inline bool goes_round(const struct tkw_pool *pool, uint32_t level)
{
    return pool->dial.beyond == TKW_ROUNDS &&
           level + 1 == pool->dial.level_count;
}

/* Append to a slot of a level. */
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
