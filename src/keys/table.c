/*
 * keys/table.c - segments that split; see table.h.
 */
#include "table.h"

#include <errno.h>

#include "base/assertion.h"
#include "base/fault.h"

_Static_assert(TKW_TABLE_SLOTS >= 4, "or three quarters are not less than all");
_Static_assert((TKW_TABLE_SLOTS & (TKW_TABLE_SLOTS - 1)) == 0,
               "or the hash does not lead to every slot alike");
_Static_assert(sizeof(struct table_slot) == 32, "two of them a cache line");

enum {
    SLOTS_FULL = TKW_TABLE_SLOTS / 4 * 3, /* split a segment at this many ... */
    SLOTS_MAX = TKW_TABLE_SLOTS - 1,      /* ... one slot always stays free */
    CACHE_LINE = 64,
};

static void *allocate(struct table *table, size_t bytes)
{
    void *memory = table->allocator->allocate(table->allocator->context, bytes);
    if (memory != NULL)
        table->bytes += bytes;
    return memory;
}

static void free_memory(struct table *table, void *memory, size_t bytes)
{
    table->bytes -= bytes;
    table->allocator->release(table->allocator->context, memory, bytes);
}

#define SEGMENT_BYTES (sizeof(struct table_segment) + CACHE_LINE)

static struct table_segment *segment_make(struct table *table, uint32_t depth)
{
    char *memory = allocate(table, SEGMENT_BYTES);
    if (memory == NULL)
        return NULL;
    size_t skip = CACHE_LINE - (uintptr_t)memory % CACHE_LINE;
    struct table_segment *segment =
        (struct table_segment *)(void *)(memory + skip);
    memset(segment, 0, sizeof *segment);
    segment->memory = memory;
    segment->depth = depth;
    return segment;
}

static size_t directory_bytes(uint32_t depth)
{
    return ((size_t)1 << depth) * sizeof(struct table_segment *);
}

int tkw__table_open(struct table *table, const struct tkw_allocator *allocator,
                    struct hash_secret secret)
{
    *table = (struct table){.allocator = allocator, .secret = secret};
    table->directory = allocate(table, directory_bytes(0));
    if (table->directory == NULL)
        return -ENOMEM;
    table->directory[0] = segment_make(table, 0);
    if (table->directory[0] == NULL) {
        free_memory(table, table->directory, directory_bytes(0));
        return -ENOMEM;
    }
    return 0;
}

static size_t bytes_bytes(size_t count)
{
    return sizeof(struct table_bytes) + count + 1; /* a 0 behind the bytes */
}

void tkw__table_release_bytes(struct table *table, struct table_bytes *bytes)
{
    free_memory(table, bytes, bytes_bytes(bytes->count));
}

/* Returns whether entry `at` of the directory is the first one of its
 * segment. */
static bool is_first(const struct table *table, uint64_t at)
{
    uint32_t spare = table->depth - table->directory[at]->depth;
    return at % (UINT64_C(1) << spare) == 0;
}

struct table_slot *tkw__table_next(const struct table *table, uint64_t *cursor)
{
    uint64_t end = (UINT64_C(1) << table->depth) * TKW_TABLE_SLOTS;
    while (*cursor < end) {
        uint64_t at = *cursor / TKW_TABLE_SLOTS;
        if (!is_first(table, at)) {
            *cursor += TKW_TABLE_SLOTS;
            continue;
        }
        struct table_slot *slot =
            &table->directory[at]->slots[(*cursor)++ % TKW_TABLE_SLOTS];
        if (slot->mark != 0)
            return slot;
    }
    return NULL;
}

void tkw__table_close(struct table *table)
{
    uint64_t cursor = 0;
    for (struct table_slot *slot;
         (slot = tkw__table_next(table, &cursor)) != NULL;)
        if (slot_is_bytes(slot))
            tkw__table_release_bytes(table, slot_bytes(slot));

    /* Downwards, so that the first entry of a segment is read last, when the
     * segment is freed. */
    for (uint64_t at = UINT64_C(1) << table->depth; at-- > 0;)
        if (is_first(table, at))
            free_memory(table, table->directory[at]->memory, SEGMENT_BYTES);
    free_memory(table, table->directory, directory_bytes(table->depth));
}

static uint64_t slot_hash(const struct table *table,
                          const struct table_slot *slot)
{
    return slot_is_bytes(slot) ? slot_bytes(slot)->hash
                               : hash_number(&table->secret, slot->key);
}

/* Return the bits of a hash that the mark of bytes keeps above its flags. */
static uint64_t hash_tag(uint64_t hash)
{
    return hash >> SLOT_SHIFT << SLOT_SHIFT;
}

struct table_slot *tkw__table_find_bytes(const struct table *table,
                                         struct tkw_key key, uint64_t hash)
{
    struct table_segment *segment = table_segment(table, hash);
    uint64_t mark = hash_tag(hash) | SLOT_IS_TAKEN | SLOT_IS_BYTES;
    for (uint64_t at = hash;; at++) {
        struct table_slot *slot = &segment->slots[at % TKW_TABLE_SLOTS];
        if (slot->mark == 0)
            return NULL;
        if (slot->mark != mark)
            continue;
        const struct table_bytes *bytes = slot_bytes(slot);
        if (bytes->count == key.number &&
            memcmp(bytes->bytes, key.bytes, bytes->count) == 0)
            return slot;
    }
}

static struct table_slot *find_free(struct table_segment *segment,
                                    uint64_t hash)
{
    uint64_t at = hash;
    while (segment->slots[at % TKW_TABLE_SLOTS].mark != 0)
        at++;
    return &segment->slots[at % TKW_TABLE_SLOTS];
}

/*
 * Move each key of `segment` to its place there or in `other`, by its next bit.
 * The loop begins behind a free slot and goes up.  So a key's new place is its
 * old one or one that was passed already: no key is met twice or left behind a
 * gap.
 */
static void divide(struct table *table, struct table_segment *segment,
                   struct table_segment *other)
{
    uint64_t begin = 0;
    while (segment->slots[begin].mark != 0)
        begin++;
    uint32_t bit = 64 - segment->depth; /* split() has incremented the depth */
    for (uint64_t i = 1; i < TKW_TABLE_SLOTS; i++) {
        struct table_slot *slot =
            &segment->slots[(begin + i) % TKW_TABLE_SLOTS];
        if (slot->mark == 0)
            continue;
        struct table_slot moving = *slot;
        uint64_t hash = slot_hash(table, &moving);
        struct table_segment *to = hash >> bit & 1 ? other : segment;
        *slot = (struct table_slot){0};
        segment->used--;
        *find_free(to, hash) = moving;
        to->used++;
    }
}

/* Double the directory: every entry becomes two.  Returns false without
 * memory. */
static bool directory_double(struct table *table)
{
    struct table_segment **directory =
        allocate(table, directory_bytes(table->depth + 1));
    if (directory == NULL)
        return false;
    for (uint64_t at = 0; at < UINT64_C(2) << table->depth; at++)
        directory[at] = table->directory[at / 2];
    free_memory(table, table->directory, directory_bytes(table->depth));
    table->directory = directory;
    table->depth++;
    return true;
}

/* Split the segment of `hash`.  Returns false if that fails. */
static bool split(struct table *table, uint64_t hash)
{
    struct table_segment *segment = table_segment(table, hash);
    if (segment->depth == TKW_TABLE_DEPTH_MAX)
        return false;
    struct table_segment *other = segment_make(table, segment->depth + 1);
    if (other == NULL)
        return false;
    if (segment->depth == table->depth && !directory_double(table)) {
        free_memory(table, other->memory, SEGMENT_BYTES);
        return false;
    }

    uint64_t span = UINT64_C(1) << (table->depth - segment->depth);
    uint64_t first = (hash >> 1 >> (63 - table->depth)) / span * span;
    for (uint64_t at = first + span / 2; at < first + span; at++)
        table->directory[at] = other;
    segment->depth++;
    divide(table, segment, other);
    return true;
}

static struct table_bytes *bytes_make(struct table *table, struct tkw_key key,
                                      uint64_t hash)
{
    struct table_bytes *bytes =
        allocate(table, bytes_bytes((size_t)key.number));
    if (bytes == NULL)
        return NULL;
    bytes->hash = hash;
    bytes->extra = 0;
    bytes->count = (size_t)key.number;
    memcpy(bytes->bytes, key.bytes, bytes->count);
    bytes->bytes[bytes->count] = 0;
    return bytes;
}

int tkw__table_insert(struct table *table, struct table_slot **slot,
                      struct tkw_key key, uint64_t hash)
{
    TKW_ASSERT(table_find(table, key, hash) == NULL);
    while (table_segment(table, hash)->used >= SLOTS_FULL && split(table, hash))
        ;
    /* A segment that cannot be split may still have room. */
    struct table_segment *segment = table_segment(table, hash);
    if (segment->used == SLOTS_MAX)
        return -ENOMEM;

    struct table_slot made = {.key = key.number, .mark = SLOT_IS_TAKEN};
    if (key.bytes != NULL) {
        struct table_bytes *bytes = bytes_make(table, key, hash);
        if (bytes == NULL)
            return -ENOMEM;
        made.key = (uintptr_t)bytes;
        made.mark = hash_tag(hash) | SLOT_IS_TAKEN | SLOT_IS_BYTES;
    }
    *slot = find_free(segment, hash);
    **slot = made;
    segment->used++;
    table->count++;
    return 0;
}

/*
 * Remove a key and close the gap: a key behind it, before the next free slot,
 * moves into the gap if its search passes it.  Then its old slot is the gap.
 */
struct table_bytes *tkw__table_remove(struct table *table,
                                      struct table_slot *slot, uint64_t hash)
{
    struct table_segment *segment = table_segment(table, hash);
    struct table_bytes *bytes = slot_is_bytes(slot) ? slot_bytes(slot) : NULL;
    uint64_t gap = (uint64_t)(slot - segment->slots);
    for (uint64_t at = gap + 1;; at++) {
        const struct table_slot *next = &segment->slots[at % TKW_TABLE_SLOTS];
        if (next->mark == 0)
            break;
        uint64_t way = (at - slot_hash(table, next)) % TKW_TABLE_SLOTS;
        if (way < at - gap)
            continue;
        segment->slots[gap % TKW_TABLE_SLOTS] = *next;
        gap = at;
    }
    segment->slots[gap % TKW_TABLE_SLOTS] = (struct table_slot){0};
    segment->used--;
    table->count--;
    return bytes;
}

static bool find_in_segment(const struct table *table, uint64_t at,
                            struct tkw_fault *fault)
{
    const struct table_segment *segment = table->directory[at];
    uint32_t used = 0;
    for (uint32_t i = 0; i < TKW_TABLE_SLOTS; i++)
        used += segment->slots[i].mark != 0;
    return fault_if_above(fault, "depth of a table's segment", segment->depth,
                          table->depth) ||
           fault_if_above(fault, "number of keys of a table's segment",
                          segment->used, SLOTS_MAX) ||
           fault_unless(fault, "number of keys of a table's segment",
                        segment->used, used);
}

bool tkw__table_find_fault(const struct table *table, struct tkw_fault *fault)
{
    for (uint64_t at = 0; at < UINT64_C(1) << table->depth; at++) {
        if (find_in_segment(table, at, fault))
            return true;
    }
    size_t count = 0;
    uint64_t cursor = 0;
    for (struct table_slot *slot;
         (slot = tkw__table_next(table, &cursor)) != NULL; count++) {
        struct tkw_key key = slot_key(slot);
        if (fault_if(fault, "a key is not where a search looks for it",
                     table_find(table, key, slot_hash(table, slot)) != slot) ||
            fault_unless(fault, "hash of a key", slot_hash(table, slot),
                         table_hash(table, key)))
            return true;
    }
    return fault_unless(fault, "number of keys of the table", table->count,
                        count);
}
