/*
 * idle/scan.c - the first obvious way: remember when each key was last heard
 * of, and look through all of them once a second.
 *
 * The map is the library's own table, so that what is compared is not hash
 * tables.
 */
#include <stdlib.h>

#include "base/allocator.h"
#include "bench.h"
#include "core/bench.h"
#include "keys/table.h"

struct way {
    struct table last_touch;
    uint64_t next_ns;
};

static struct way *way_open(size_t keys)
{
    struct way *way = bench_memory(sizeof *way);
    /* All rounds do the same. */
    struct hash_secret secret = tkw__hash_secret_of((uint64_t[2]){1, 2}, NULL);
    (void)keys; /* it grows */
    if (tkw__table_open(&way->last_touch, &tkw__allocator_plain, secret) != 0)
        abort();
    return way;
}

static void way_close(struct way *way)
{
    tkw__table_close(&way->last_touch);
    free(way);
}

static inline void way_touch(struct way *way, struct tkw_key key, uint64_t now)
{
    uint64_t hash = table_hash(&way->last_touch, key);
    struct table_slot *slot = table_find(&way->last_touch, key, hash);
    if (slot == NULL &&
        tkw__table_insert(&way->last_touch, &slot, key, hash) != 0)
        abort();
    slot->value[0] = now;
}

static void drop(struct table *table, struct table_slot *slot)
{
    struct table_bytes *bytes =
        tkw__table_remove(table, slot, table_hash(table, slot_key(slot)));
    if (bytes != NULL)
        tkw__table_release_bytes(table, bytes);
}

static size_t scan_segment(struct way *way, struct table_segment *segment,
                           uint64_t now)
{
    size_t count = 0;
    for (unsigned at = 0; at < TKW_TABLE_SLOTS; at++) {
        struct table_slot *slot = &segment->slots[at];
        /* Both at once: which slots are free nobody can foresee, and who is
         * silent is rare. */
        while ((slot->mark != 0) & (now - slot->value[0] >= IDLE_LIMIT_NS)) {
            drop(&way->last_touch, slot); /* another may move up to here */
            count++;
        }
    }
    return count;
}

/* By segments: to go from key to key takes several times as long. */
static size_t way_expire_some(struct way *way, uint64_t now)
{
    size_t count = 0;
    const struct table *table = &way->last_touch;
    const struct table_segment *last = NULL;
    for (uint64_t at = 0; at < UINT64_C(1) << table->depth; at++) {
        struct table_segment *segment = table->directory[at];
        if (segment != last)
            count += scan_segment(way, segment, now);
        last = segment;
    }
    way->next_ns = now + TKW_SECOND;
    return count;
}

static uint64_t way_next(const struct way *way)
{
    return way->next_ns;
}

#define WAY scan
#define WAY_NAME "map, scanned every second"
#include "play.h"
