/*
 * pool_inner.h - what a pool is made of, for the files that make it.
 *
 * Timers stay, entries flow.  A timer is a record of 32 bytes in a slab; what
 * is filed in the slots of the wheel are entries of 8 bytes that name it:
 *
 *      63          36 35       24 23               0
 *     [    index     |    tag    |  deadline, low  ]      an entry
 *
 *      63          32 31    27 26       12 11      0
 *     [  generation  | state  |  entries  |   tag   ]     a record's word
 *     [  generation  | 0    0 |        index        ]     a handle
 *
 * docs/design.md tells the idea.  In short: an entry belongs to the arming
 * under way if and only if its tag is that of the record, and the record says
 * it is armed.  All other entries are dead: dropped by whoever looks at them.
 * A record is used again only when none of its entries is left.
 */
#ifndef TKW_POOL_INNER_H
#define TKW_POOL_INNER_H

#include <tickwheel/pool.h>

#include "dial_inline.h"
#include "rare.h"
#include "stream.h"

/* Of an entry.  What remains of 64 bits is the index. */
#ifndef TKW_ENTRY_TICK_BITS
#define TKW_ENTRY_TICK_BITS 24
#endif
#ifndef TKW_ENTRY_TAG_BITS
#define TKW_ENTRY_TAG_BITS 12
#endif

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

/* Bits of an index at most, and of that part of it that counts records within
 * a segment of them. */
#ifndef TKW_INDEX_BITS
#define TKW_INDEX_BITS 27
#endif
#ifndef TKW_SEGMENT_BITS
#define TKW_SEGMENT_BITS 15
#endif

/* Dead entries that are left alone, however few timers are armed. */
#ifndef TKW_SWEEP_SLACK
#define TKW_SWEEP_SLACK 4096
#endif

/* Timers moved for each wake-up that is asked for because of a crowd. */
#ifndef TKW_WAKE_SHARE
#define TKW_WAKE_SHARE 1024
#endif

#define TICK_MASK ((UINT64_C(1) << TKW_ENTRY_TICK_BITS) - 1)
#define TAG_MAX ((UINT64_C(1) << TKW_ENTRY_TAG_BITS) - 1)
#define INDEX_SHIFT (TKW_ENTRY_TICK_BITS + TKW_ENTRY_TAG_BITS)
#define SEGMENT_RECORDS (UINT32_C(1) << TKW_SEGMENT_BITS)
#define SEGMENTS (1 << (TKW_INDEX_BITS - TKW_SEGMENT_BITS))
#define NO_INDEX UINT32_MAX

_Static_assert(64 - INDEX_SHIFT >= 27, "an entry holds any index");
_Static_assert(TKW_ENTRY_TAG_BITS <= 12, "a word holds any tag");

/*
 * The word.  A handle has the same generation in the same place and zeros where
 * the state is: whether it names a timer that is simply armed is told by one
 * comparison.  Only cancel may later be called from other threads: it
 * changes the state, and nothing else.
 */
#define WORD_TAG UINT64_C(0xfff)
#define WORD_ENTRY (UINT64_C(1) << 12) /* one entry more */
#define WORD_ENTRIES (UINT64_C(0x1fff) << 12)
#define WORD_SEEN (UINT64_C(1) << 25) /* by check() */
#define WORD_MOVED_SHIFT 27
#define WORD_MOVED (UINT64_C(1) << 27)  /* the arming goes on in a body */
#define WORD_QUEUED (UINT64_C(1) << 28) /* the entry is in ready, due or late */
#define WORD_STATE_SHIFT 29
#define WORD_STATE (UINT64_C(7) << WORD_STATE_SHIFT)
#define WORD_GENERATION_SHIFT 32
#define WORD_GENERATION (~UINT64_C(0) << WORD_GENERATION_SHIFT)
#define GENERATION_ONE (UINT64_C(1) << WORD_GENERATION_SHIFT)

#define STATE(n) ((uint64_t)(n) << WORD_STATE_SHIFT)

_Static_assert(TKW_INDEX_BITS <= WORD_MOVED_SHIFT,
               "an index and a state do not overlap");
_Static_assert(TKW_POOL_TIMERS_MAX < UINT32_C(1) << WORD_MOVED_SHIFT,
               "there is an index for every timer");

/* States of a record; those of handles are told from these. */
#define IS_ARMED STATE(1)
#define IS_KEPT STATE(2)
#define IS_CANCELLED STATE(3)
#define IS_DONE STATE(4)
#define IS_BODY STATE(5) /* no timer of its own, but the body of one */

/* Free records are a stack; each node holds some more indices. */
enum { NODE_INDICES = 4 };

struct node {
    uint32_t below;
    uint32_t count;
    uint32_t indices[NODE_INDICES];
};

struct record {
    uint64_t word;
    union {
        struct {
            tkw_tick deadline; /* IS_ARMED and WORD_MOVED: the body's index */
            struct tkw_user user; /* IS_BODY: the word is the timer's index */
        };
        struct node node;
    };
};

_Static_assert(sizeof(struct record) == 32, "a record takes 32 bytes");

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

/* Slots that are no slots: what is ready, and so on. */
enum { READY, DUE, LATE, NEVER, SHELVES };

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
    size_t queued;        /* armed timers in READY, DUE and LATE */
    uint64_t *ready_end;  /* READY can be read up to here; NULL: not known */
    tkw_tick sent_for;    /* the tick whose timers have been sent for */
    struct slot shelves[SHELVES];

    uint64_t gaps;        /* see pool_memory.c */
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

/* A static library shows these names to the linker: let them be ours. */
#define pool_allocate tkw_inner_pool_allocate
#define pool_release tkw_inner_pool_release
#define pool_memory_open tkw_inner_pool_memory_open
#define pool_memory_close tkw_inner_pool_memory_close
#define pool_provide tkw_inner_pool_provide
#define record_give_back tkw_inner_record_give_back
#define stream_open tkw_inner_stream_open
#define stream_finish_head tkw_inner_stream_finish_head
#define pool_chunks_idle tkw_inner_pool_chunks_idle
#define chunk_give_back tkw_inner_chunk_give_back
#define slot_open tkw_inner_slot_open
#define pool_file tkw_inner_pool_file
#define pool_drop_last tkw_inner_pool_drop_last
#define ring_update tkw_inner_ring_update
#define pool_vacate tkw_inner_pool_vacate
#define pool_see tkw_inner_pool_see
#define pool_file_anew tkw_inner_pool_file_anew
#define pool_fall tkw_inner_pool_fall
#define pool_help tkw_inner_pool_help
#define pool_spread tkw_inner_pool_spread
#define pool_quiet_until tkw_inner_pool_quiet_until
#define pool_next_share tkw_inner_pool_next_share
#define pool_next_slot tkw_inner_pool_next_slot
#define pool_sweep tkw_inner_pool_sweep

/* pool_memory.c */
void *pool_allocate(struct tkw_pool *pool, size_t bytes);
void pool_release(struct tkw_pool *pool, void *memory, size_t bytes);
int pool_memory_open(struct tkw_pool *pool);
void pool_memory_close(struct tkw_pool *pool);
int pool_provide(struct tkw_pool *pool, size_t n, size_t records);
void record_give_back(struct tkw_pool *pool, uint32_t index,
                      struct record *record);
void stream_open(struct tkw_pool *pool, struct slot *slot,
                 struct stream *stream);
void stream_finish_head(struct tkw_pool *pool, struct slot *slot,
                        struct stream *stream);
size_t pool_chunks_idle(const struct tkw_pool *pool);
void chunk_give_back(struct tkw_pool *pool, struct slot *slot,
                     struct chunk *chunk);

/* pool_arm.c */
void slot_open(struct tkw_pool *pool, uint32_t level, uint32_t place,
               struct stream *stream);
void pool_file(struct tkw_pool *pool, uint64_t entry, tkw_tick deadline);
void pool_drop_last(struct tkw_pool *pool, uint64_t entry);

/* pool_fall.c */
void ring_update(struct tkw_pool *pool, uint32_t level);
void pool_vacate(struct tkw_pool *pool, uint32_t place);
void pool_see(struct tkw_pool *pool, size_t n);
void pool_file_anew(struct tkw_pool *pool, uint32_t level, uint64_t number,
                    uint64_t entry, tkw_tick deadline);
size_t pool_fall(struct tkw_pool *pool, uint32_t level, uint64_t number,
                 size_t most);
void pool_help(struct tkw_pool *pool, uint32_t level);
size_t pool_spread(struct tkw_pool *pool, tkw_tick elapsed, size_t budget);
tkw_tick pool_quiet_until(const struct tkw_pool *pool, tkw_tick wake);
tkw_tick pool_next_share(const struct tkw_pool *pool, uint32_t level,
                         uint64_t number);

/* pool_advance.c */
tkw_tick pool_next_slot(const struct tkw_pool *pool);

/* pool_sweep.c */
void pool_sweep(struct tkw_pool *pool);

static inline uint64_t entry_make(uint32_t index, uint64_t tag,
                                  tkw_tick deadline)
{
    return (uint64_t)index << INDEX_SHIFT | tag << TKW_ENTRY_TICK_BITS |
           (deadline & TICK_MASK);
}

static inline uint32_t entry_index(uint64_t entry)
{
    return (uint32_t)(entry >> INDEX_SHIFT);
}

static inline uint64_t entry_tag(uint64_t entry)
{
    return entry >> TKW_ENTRY_TICK_BITS & TAG_MAX;
}

static inline uint64_t entry_with_deadline(uint64_t entry, tkw_tick deadline)
{
    return (entry & ~TICK_MASK) | (deadline & TICK_MASK);
}

static inline uint64_t word_tag(uint64_t word)
{
    return word & WORD_TAG;
}

static inline uint32_t word_generation(uint64_t word)
{
    return (uint32_t)(word >> WORD_GENERATION_SHIFT);
}

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
        stream_finish_head(pool, slot, stream);
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
        pool_drop_last(pool, entry);
}

/* The record a handle names, if it is of that generation; else NULL. */
static inline struct record *find(const struct tkw_pool *pool,
                                  tkw_handle handle)
{
    uint32_t index = (uint32_t)handle;
    if (index >= pool->used)
        return NULL;
    struct record *record = record_at(pool, index);
    return (record->word ^ handle) & WORD_GENERATION ? NULL : record;
}

static inline void set_state(struct record *record, uint64_t state)
{
    record->word = (record->word & ~WORD_STATE) | state;
}

/* Its entry, wherever it is, is about to die: it is not queued any more. */
static inline void leave_queue(struct tkw_pool *pool, struct record *timer)
{
    if (timer->word & WORD_QUEUED) {
        timer->word &= ~WORD_QUEUED;
        pool->queued--;
    }
}

/* An armed timer has an entry: one without is free, unless it is kept. */
static inline void free_if_unused(struct tkw_pool *pool, uint32_t index,
                                  struct record *record)
{
    if ((record->word & WORD_ENTRIES) == 0 &&
        (record->word & WORD_STATE) != IS_KEPT)
        record_give_back(pool, index, record);
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
        slot_open(pool, level, place, stream);
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
        stream_open(pool, &pool->shelves[which], stream);
    stream_append(stream, entry);
}

#endif
