/*
 * pool/record.h - what a pool's timers are: records, entries, handles.
 *
 * Timers stay, entries flow.  A timer is a record of 32 bytes in a slab; what
 * is filed in the slots of the wheel are entries of 8 bytes that name it:
 *
 *      63          36 35       24 23               0
 *     [    index     |    tag    |  deadline, low  ]      an entry
 *
 *      63          32 31 29 28 27 26 25 24     12 11   0
 *     [  generation  |state| q| m|  | s| entries | tag ]  a record's word
 *     [  generation  | 0        0|        index        ]  a handle
 *
 * q: its entry is in a queue; m: the arming has moved to a body; s: check() has
 * seen it.
 *
 * docs/internals/design.md explains the idea.  In short: an entry belongs to
 * the arming under way if and only if its tag is that of the record, and the
 * record says it is armed.  All other entries are dead: the next function that
 * reads one drops it.  A record is used again only when none of its entries is
 * left.
 */
#ifndef TKW_POOL_RECORD_H
#define TKW_POOL_RECORD_H

#include <tickwheel/pool.h>

/* Of an entry.  What remains of 64 bits is the index. */
#ifndef TKW_ENTRY_TICK_BITS
#define TKW_ENTRY_TICK_BITS 24
#endif
#ifndef TKW_ENTRY_TAG_BITS
#define TKW_ENTRY_TAG_BITS 12
#endif

/* Bits of an index at most, and of that part of it that counts records within
 * a segment of them. */
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

/*
 * The word.  A handle has the same generation in the same place and zeros where
 * the state is: whether it names a timer that is simply armed is told by one
 * comparison.
 */
#define WORD_TAG UINT64_C(0xfff)
#define WORD_ENTRY (UINT64_C(1) << 12) /* one entry more */
#define WORD_ENTRIES (UINT64_C(0x1fff) << 12)
#define WORD_SEEN (UINT64_C(1) << 25) /* by check() */
#define WORD_MOVED_SHIFT 27
#define WORD_MOVED (UINT64_C(1) << 27)  /* the arming goes on in a body */
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
