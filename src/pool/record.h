/*
 * pool/record.h - the parts of a pool's timers: records, entries, handles.
 *
 * Timers stay, entries move.  A timer is a record of 32 bytes in a slab.  The
 * slots of the wheel hold entries of 8 bytes, each of which names a record:
 *
 *      63          36 35       24 23               0
 *     [    index     |    tag    |  deadline, low  ]      an entry
 *
 *      63          32 31 29 28 27 26 25 24     12 11   0
 *     [  generation  |state| q| m|  | s| entries | tag ]  a record's word
 *     [  generation  | 0        0|        index        ]  a handle
 *
 * q: the timer's entry is in a queue; m: the arming has moved to a body (see
 * pool/arm.c); s: tkw_pool_find_fault() has visited the timer.
 *
 * docs/internals/design.md explains the idea.  In short: an entry is alive if
 * and only if its tag equals its record's tag, and the record is an armed timer
 * or the body of one.  All other entries are dead: the next function that reads
 * their records drops them.  A record is reused only when it has no entries.
 */
#ifndef TKW_POOL_RECORD_H
#define TKW_POOL_RECORD_H

#include <tickwheel/pool.h>

/* Bits of the tick and of the tag in an entry.  The others hold the index. */
#ifndef TKW_ENTRY_TICK_BITS
#define TKW_ENTRY_TICK_BITS 24
#endif
#ifndef TKW_ENTRY_TAG_BITS
#define TKW_ENTRY_TAG_BITS 12
#endif

/* Bits of an index at most, and how many of them number the records within a
 * segment. */
#ifndef TKW_INDEX_BITS
#define TKW_INDEX_BITS 27
#endif
#ifndef TKW_SEGMENT_BITS
#define TKW_SEGMENT_BITS 15
#endif

#define TICK_MASK ((UINT64_C(1) << TKW_ENTRY_TICK_BITS) - 1)
#define TAG_MAX ((UINT64_C(1) << TKW_ENTRY_TAG_BITS) - 1)
#define INDEX_SHIFT (TKW_ENTRY_TICK_BITS + TKW_ENTRY_TAG_BITS)
#define SEGMENT_RECORDS (UINT32_C(1) << TKW_SEGMENT_BITS)
#define SEGMENTS (1 << (TKW_INDEX_BITS - TKW_SEGMENT_BITS))
#define NO_INDEX UINT32_MAX

_Static_assert(64 - INDEX_SHIFT >= 27, "an entry holds any index");
_Static_assert(TKW_ENTRY_TAG_BITS <= 12, "a word holds any tag");

/* The fields of a record's word.  A handle has the generation at these bits,
 * too, and zeros at the state.  So find_filed() needs only one comparison. */
#define WORD_TAG UINT64_C(0xfff)
#define WORD_ENTRY (UINT64_C(1) << 12) /* adds one to the entries */
#define WORD_ENTRIES (UINT64_C(0x1fff) << 12)
#define WORD_SEEN (UINT64_C(1) << 25) /* visited by tkw_pool_find_fault() */
#define WORD_MOVED_SHIFT 27
#define WORD_MOVED (UINT64_C(1) << 27)  /* the arming has moved to a body */
#define WORD_QUEUED (UINT64_C(1) << 28) /* the entry is in a queue */
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

/* States of a record, from which tkw_pool_query() derives those of a handle. */
#define IS_ARMED STATE(1)
#define IS_KEPT STATE(2)
#define IS_CANCELLED STATE(3)
#define IS_DONE STATE(4)
#define IS_BODY STATE(5) /* not a timer, but the body of one */

/*
 * Free records form a stack of nodes.  A node is a free record that holds the
 * indices of NODE_INDICES others; only the top node may hold fewer.  The pool
 * itself names the FREE_NODES topmost nodes, and each node names the one
 * FREE_NODES below it.  So the pool can prefetch several nodes at a time, and
 * does not wait for one to learn the address of the next.
 */
enum { NODE_INDICES = 5, FREE_NODES = 6 };

struct node {
    uint32_t deeper; /* the node FREE_NODES below, or NO_INDEX */
    uint32_t indices[NODE_INDICES];
};

struct record {
    uint64_t word;
    union {
        struct {
            tkw_tick deadline;    /* WORD_MOVED: the body's index */
            struct tkw_user user; /* IS_BODY: `word` is the timer's index */
        };
        struct node node;
    };
};

_Static_assert(sizeof(struct record) == 32, "a record takes 32 bytes");

/*
 * A pool can be opened with payload: then PAYLOAD_BYTES of the layer above
 * follow each record, in the same cache line (pool/payload.h).  The pool reads
 * one bit of their first word.  Any thread may set that bit, at any time, to
 * give up the timer.  The pool cancels an armed timer, and frees its record,
 * when it next reads an entry of it.
 */
#define CELL_BYTES 64
#define PAYLOAD_BYTES (CELL_BYTES - sizeof(struct record))
#define PAYLOAD_GIVEN_UP UINT64_C(128)

/* Returns whether a thread has given up the timer of a record with payload. */
static inline bool record_is_given_up(const struct record *record)
{
    const uint64_t *payload = (const uint64_t *)(const void *)(record + 1);
    /* Acquire: the thread has done with the payload when it sets the bit. */
    return __atomic_load_n(payload, __ATOMIC_ACQUIRE) & PAYLOAD_GIVEN_UP;
}

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

#endif
