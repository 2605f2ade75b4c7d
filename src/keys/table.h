/*
 * keys/table.h - a hash table of keys that grows without a stall.
 *
 * The first bits of a key's hash select, through a directory, a segment of 512
 * slots; the last ones a slot there.  From that the search goes on slot by slot
 * until one is free.  A segment that is three quarters full is split in two by
 * one more bit: adding a key moves a few hundred others at most, however many
 * there are.  (A table that doubles all at once blocks for seconds at ten
 * million keys.)  The directory doubles when a segment needs more bits than the
 * directory uses.
 *
 *     directory   000 001 010 011 100 101 110 111     depth 3
 *                   |   |   |   |   `---+---+---'
 *     segments      A   B   `-C-'         D           depths 3 3 2 1
 *
 * A slot has the key and the user's values.  A search needs nothing else: it
 * reads one cache line.  Removing a key closes the gap, so there are no
 * tombstones.  Slots move: a pointer to one is valid until the next insert or
 * remove.
 *
 * Of the tables that Debian has for C, some end the process when memory runs
 * out, some take a node and a cache miss a key (uthash, glib), some stall when
 * they grow.
 *
 * Threads: *owner*.
 */
#ifndef TKW_KEYS_TABLE_H
#define TKW_KEYS_TABLE_H

#include <stdbool.h>

#include <tickwheel/base.h>
#include <tickwheel/key.h>

#include "hash.h"

/* Slots of a segment, a power of two; fewer in tests. */
#ifndef TKW_TABLE_SLOTS
#define TKW_TABLE_SLOTS 512
#endif

/* Bits of the hash that the directory can use.  The others select the shard and
 * the slot. */
#ifndef TKW_TABLE_DEPTH_MAX
#define TKW_TABLE_DEPTH_MAX 32
#endif

/* A key of this many bytes or more is rejected. */
#define TABLE_BYTES_MAX (UINT64_C(1) << 31)

#define SLOT_IS_TAKEN UINT64_C(1)
#define SLOT_IS_BYTES UINT64_C(2)
#define SLOT_SHIFT 2

/* The largest number that fits beside a key. */
#define SLOT_EXTRA_MAX (UINT64_MAX >> SLOT_SHIFT)

/* The bytes of a key. */
struct table_bytes {
    uint64_t hash;
    uint64_t extra;
    struct table_bytes *next; /* for the caller of tkw__table_remove() */
    size_t count;
    unsigned char bytes[];
};

/* A key, or none if `mark` is 0. */
struct table_slot {
    uint64_t key;  /* the number, or the address of the bytes */
    uint64_t mark; /* two flags; above them a number's extra, or bits of the
                      hash of bytes */
    uint64_t value[2];
};

struct table_segment {
    struct table_slot slots[TKW_TABLE_SLOTS];
    void *memory; /* as allocated, before alignment */
    uint32_t depth;
    uint32_t used;
};

struct table {
    struct table_segment **directory;
    uint32_t depth;
    struct hash_secret secret;
    const struct tkw_allocator *allocator;
    size_t count;
    size_t bytes; /* allocated in total */
};

/* Open an empty table.  Returns 0 or -ENOMEM. */
int tkw__table_open(struct table *table, const struct tkw_allocator *allocator,
                    struct hash_secret secret);

/* Free all memory of a table, including the bytes of keys. */
void tkw__table_close(struct table *table);

/*
 * Add a key that the table does not have, and store its slot, without values,
 * in `*slot`.  Returns 0, or -ENOMEM with no key added.
 */
int tkw__table_insert(struct table *table, struct table_slot **slot,
                      struct tkw_key key, uint64_t hash);

/* Remove a key.  Returns its bytes, which the caller must release, or NULL. */
struct table_bytes *tkw__table_remove(struct table *table,
                                      struct table_slot *slot, uint64_t hash);
void tkw__table_release_bytes(struct table *table, struct table_bytes *bytes);

/* Return the next key's slot, or NULL at the end.  `*cursor` is 0 at first. */
struct table_slot *tkw__table_next(const struct table *table, uint64_t *cursor);

/* Returns whether an invariant is broken, and describes the first that is. */
bool tkw__table_find_fault(const struct table *table, struct tkw_fault *fault);

static inline bool table_key_is_sound(struct tkw_key key)
{
    return key.bytes == NULL || key.number < TABLE_BYTES_MAX;
}

static inline uint64_t table_hash(const struct table *table, struct tkw_key key)
{
    return key.bytes == NULL
               ? hash_number(&table->secret, key.number)
               : hash_bytes(&table->secret, key.bytes, (size_t)key.number);
}

static inline struct table_segment *table_segment(const struct table *table,
                                                  uint64_t hash)
{
    return table->directory[hash >> 1 >> (63 - table->depth)];
}

static inline struct table_bytes *slot_bytes(const struct table_slot *slot)
{
    return (struct table_bytes *)(uintptr_t)slot->key;
}

static inline bool slot_is_bytes(const struct table_slot *slot)
{
    return (slot->mark & SLOT_IS_BYTES) != 0;
}

/* Return the key of a slot, as tkw__table_insert() got it. */
static inline struct tkw_key slot_key(const struct table_slot *slot)
{
    if (!slot_is_bytes(slot))
        return tkw_key_number(slot->key);
    const struct table_bytes *bytes = slot_bytes(slot);
    return tkw_key_bytes(bytes->bytes, bytes->count);
}

/* Return a number that is stored with the key, and not read by searches: up to
 * SLOT_EXTRA_MAX. */
static inline uint64_t slot_extra(const struct table_slot *slot)
{
    return slot_is_bytes(slot) ? slot_bytes(slot)->extra
                               : slot->mark >> SLOT_SHIFT;
}

static inline void slot_set_extra(struct table_slot *slot, uint64_t extra)
{
    if (slot_is_bytes(slot))
        slot_bytes(slot)->extra = extra;
    else
        slot->mark = extra << SLOT_SHIFT | SLOT_IS_TAKEN;
}

/* Find a slot by its `key`: a number, or the address of the table's bytes. */
static inline struct table_slot *table_find_slot(const struct table *table,
                                                 uint64_t key, bool is_bytes,
                                                 uint64_t hash)
{
    struct table_segment *segment = table_segment(table, hash);
    for (uint64_t at = hash;; at++) {
        struct table_slot *slot = &segment->slots[at % TKW_TABLE_SLOTS];
        if (slot->mark == 0)
            return NULL;
        if (slot->key == key && slot_is_bytes(slot) == is_bytes)
            return slot;
    }
}

/* Find the slot that has `value` among its values and whose key has `hash`.  It
 * must exist. */
static inline struct table_slot *table_find_value(const struct table *table,
                                                  uint64_t hash, uint64_t value)
{
    struct table_segment *segment = table_segment(table, hash);
    struct table_slot *slot;
    do
        slot = &segment->slots[hash++ % TKW_TABLE_SLOTS];
    while (slot->value[0] != value && slot->value[1] != value);
    return slot;
}

struct table_slot *tkw__table_find_bytes(const struct table *table,
                                         struct tkw_key key, uint64_t hash);

/* Find a key by its hash.  Returns its slot, or NULL. */
static inline struct table_slot *table_find(const struct table *table,
                                            struct tkw_key key, uint64_t hash)
{
    return key.bytes != NULL ? tkw__table_find_bytes(table, key, hash)
                             : table_find_slot(table, key.number, false, hash);
}

/* Prefetch the slot at which a search for `hash` begins. */
static inline void table_prefetch(const struct table *table, uint64_t hash)
{
    struct table_segment *segment = table_segment(table, hash);
    __builtin_prefetch(&segment->slots[hash % TKW_TABLE_SLOTS], 1);
}

#endif
