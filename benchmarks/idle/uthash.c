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

struct heard {
    uint64_t key;
    uint64_t last_ns;
    UT_hash_handle hh;
};

struct way {
    struct heard *all;
    uint64_t next_ns;
};

static struct way *way_open(size_t keys)
{
    (void)keys; /* it grows */
    return bench_memory(sizeof(struct way));
}

static void drop(struct way *way, struct heard *heard)
{
    HASH_DEL(way->all, heard);
    free(heard);
}

static void way_close(struct way *way)
{
    for (struct heard *heard; (heard = way->all) != NULL;)
        drop(way, heard);
    free(way);
}

static struct heard *add(struct way *way, uint64_t key)
{
    struct heard *heard = malloc(sizeof *heard);
    if (heard == NULL)
        abort();
    heard->key = key;
    HASH_ADD(hh, way->all, key, sizeof heard->key, heard);
    return heard;
}

static inline void way_touch(struct way *way, struct tkw_key key, uint64_t now)
{
    struct heard *heard;
    HASH_FIND(hh, way->all, &key.number, sizeof key.number, heard);
    if (heard == NULL)
        heard = add(way, key.number);
    heard->last_ns = now;
}

static size_t way_expire_some(struct way *way, uint64_t now)
{
    size_t count = 0;
    for (struct heard *heard = way->all, *next; heard != NULL; heard = next) {
        next = heard->hh.next;
        if (now - heard->last_ns < IDLE_LIMIT_NS)
            continue;
        drop(way, heard);
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
