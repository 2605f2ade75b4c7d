/*
 * idle/heap.c - the second obvious way: a timer a key in a heap, moved at each
 * touch.
 *
 * The heap is the benchmark's, 4-ary with back-indices; the map from a key to
 * its place there is the library's own table.
 */
/* For its functions.  NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "core/heap.c"

#include "base/allocator.h"
#include "bench.h"
#include "keys/table.h"

struct way {
    struct table places; /* of a key: its number in the heap */
    struct state *heap;
    uint64_t *keys;  /* by that number */
    uint32_t *spare; /* numbers that no key has */
    size_t spare_count;
};

static struct way *way_open(size_t keys)
{
    struct way *way = bench_memory(sizeof *way);
    /* All rounds do the same. */
    struct hash_secret secret = tkw__hash_secret_of((uint64_t[2]){1, 2}, NULL);
    if (tkw__table_open(&way->places, &tkw__allocator_plain, secret) != 0)
        abort();
    way->heap = make(keys);
    way->keys = bench_memory(keys * sizeof *way->keys);
    way->spare = bench_memory(keys * sizeof *way->spare);
    while (way->spare_count < keys) {
        way->spare[way->spare_count] = (uint32_t)(keys - way->spare_count - 1);
        way->spare_count++;
    }
    return way;
}

static void way_close(struct way *way)
{
    free(way->spare);
    free(way->keys);
    unmake(way->heap);
    tkw__table_close(&way->places);
    free(way);
}

static void add(struct way *way, struct tkw_key key, uint64_t hash,
                uint64_t now)
{
    struct table_slot *slot;
    if (tkw__table_insert(&way->places, &slot, key, hash) != 0)
        abort();
    uint32_t id = way->spare[--way->spare_count];
    slot->value[0] = id;
    way->keys[id] = key.number;
    arm(way->heap, id, now + IDLE_LIMIT_NS);
}

static inline void way_touch(struct way *way, struct tkw_key key, uint64_t now)
{
    uint64_t hash = table_hash(&way->places, key);
    struct table_slot *slot = table_find(&way->places, key, hash);
    if (slot != NULL)
        move(way->heap, (uint32_t)slot->value[0], now + IDLE_LIMIT_NS);
    else
        add(way, key, hash, now);
}

/* As many as the tracker at once. */
static size_t way_expire_some(struct way *way, uint64_t now)
{
    size_t count = 0;
    advance(way->heap, now);
    for (uint32_t id; count < 64 && (id = pop(way->heap)) != NO_TIMER;) {
        struct tkw_key key = tkw_key_number(way->keys[id]);
        uint64_t hash = table_hash(&way->places, key);
        tkw__table_remove(&way->places, table_find(&way->places, key, hash),
                          hash);
        way->spare[way->spare_count++] = id;
        count++;
    }
    return count;
}

static uint64_t way_next(const struct way *way)
{
    return next(way->heap);
}

#define WAY heap
#define WAY_NAME "map and 4-ary heap"
#include "play.h"
