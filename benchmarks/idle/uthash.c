/*
 * idle/uthash.c - the scan again, on the hash table that most C programs have:
 * is one of our own worth it?
 */
#include "bench.h"

#if __has_include(<uthash.h>)
#include <stdlib.h>
#include <tickwheel/key.h>
#include <uthash.h>

#include "core/bench.h"

/* Macros that are long and hard to follow.
 * NOLINTBEGIN(readability-function-size,clang-analyzer-unix.Malloc) */

struct tracked {
    uint64_t key;
    uint64_t last_ns;
    UT_hash_handle hh;
};

struct way {
    struct tracked *all;
    uint64_t next_ns;
};

static struct way *way_open(size_t keys)
{
    (void)keys; /* it grows */
    return bench_memory(sizeof(struct way));
}

static void drop(struct way *way, struct tracked *tracked)
{
    HASH_DEL(way->all, tracked);
    free(tracked);
}

static void way_close(struct way *way)
{
    for (struct tracked *tracked; (tracked = way->all) != NULL;)
        drop(way, tracked);
    free(way);
}

static struct tracked *add(struct way *way, uint64_t key)
{
    struct tracked *tracked = malloc(sizeof *tracked);
    if (tracked == NULL)
        abort();
    tracked->key = key;
    HASH_ADD(hh, way->all, key, sizeof tracked->key, tracked);
    return tracked;
}

static inline void way_touch(struct way *way, struct tkw_key key, uint64_t now)
{
    struct tracked *tracked;
    HASH_FIND(hh, way->all, &key.number, sizeof key.number, tracked);
    if (tracked == NULL)
        tracked = add(way, key.number);
    tracked->last_ns = now;
}

static size_t way_expire_some(struct way *way, uint64_t now)
{
    size_t count = 0;
    for (struct tracked *tracked = way->all, *next; tracked != NULL;
         tracked = next) {
        next = tracked->hh.next;
        if (now - tracked->last_ns < IDLE_LIMIT_NS)
            continue;
        drop(way, tracked);
        count++;
    }
    way->next_ns = now + TKW_SECOND;
    return count;
}

static uint64_t way_next(const struct way *way)
{
    return way->next_ns;
}

/* NOLINTEND(readability-function-size,clang-analyzer-unix.Malloc) */

#define WAY by_uthash
#define WAY_NAME "uthash, scanned every second"
#include "play.h"

const struct idle_way *const idle_way_uthash = &idle_way_by_uthash;

#else

const struct idle_way *const idle_way_uthash = NULL;

#endif
