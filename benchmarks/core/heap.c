/*
 * core/heap.c - a 4-ary heap with back-indices: what a wheel has to beat.
 *
 * The heap holds (deadline, timer) pairs, so that comparing touches no timer;
 * each timer knows its place, so that it can be cancelled and moved.
 */
#include <stdlib.h>

#include "bench.h"

struct entry {
    uint64_t deadline;
    uint64_t id;
};

struct timer {
    uint32_t place; /* in the heap, counted from 1; 0: idle */
};

struct state {
    struct entry *heap; /* four children share a cache line */
    struct entry *memory;
    struct timer *timers;
    size_t count;
    uint64_t now;
};

enum { BEFORE_ROOT = 3 }; /* so that the children of one begin a line */

static struct state *make(size_t n)
{
    struct state *s = bench_memory(sizeof *s);
    s->memory = bench_memory((n + BEFORE_ROOT) * sizeof *s->memory);
    s->heap = s->memory + BEFORE_ROOT;
    s->timers = bench_memory(n * sizeof *s->timers);
    return s;
}

static void unmake(struct state *s)
{
    free(s->timers);
    free(s->memory);
    free(s);
}

static inline void put(struct state *s, size_t at, struct entry entry)
{
    s->heap[at] = entry;
    s->timers[entry.id].place = (uint32_t)at + 1;
}

static inline void sift_up(struct state *s, size_t at, struct entry entry)
{
    while (at > 0) {
        size_t parent = (at - 1) / 4;
        if (s->heap[parent].deadline <= entry.deadline)
            break;
        put(s, at, s->heap[parent]);
        at = parent;
    }
    put(s, at, entry);
}

static inline void sift_down(struct state *s, size_t at, struct entry entry)
{
    for (;;) {
        size_t child = 4 * at + 1;
        if (child >= s->count)
            break;
        size_t end = child + 4 < s->count ? child + 4 : s->count;
        size_t least = child;
        for (size_t i = child + 1; i < end; i++) {
            if (s->heap[i].deadline < s->heap[least].deadline)
                least = i;
        }
        if (s->heap[least].deadline >= entry.deadline)
            break;
        put(s, at, s->heap[least]);
        at = least;
    }
    put(s, at, entry);
}

static inline void arm(struct state *s, uint32_t id, uint64_t deadline)
{
    struct entry entry = {deadline, id};
    sift_up(s, s->count++, entry);
}

static inline void cancel(struct state *s, uint32_t id)
{
    size_t at = s->timers[id].place - 1;
    s->timers[id].place = 0;
    struct entry last = s->heap[--s->count];
    if (at == s->count)
        return;
    if (at > 0 && s->heap[(at - 1) / 4].deadline > last.deadline)
        sift_up(s, at, last);
    else
        sift_down(s, at, last);
}

#define HAS_MOVE
static inline void move(struct state *s, uint32_t id, uint64_t deadline)
{
    size_t at = s->timers[id].place - 1;
    uint64_t before = s->heap[at].deadline;
    struct entry entry = {deadline, id};
    if (deadline < before)
        sift_up(s, at, entry);
    else
        sift_down(s, at, entry);
}

static inline void advance(struct state *s, uint64_t now)
{
    s->now = now;
}

static inline uint32_t pop(struct state *s)
{
    if (s->count == 0 || s->heap[0].deadline > s->now)
        return UINT32_MAX;
    uint32_t id = (uint32_t)s->heap[0].id;
    cancel(s, id);
    return id;
}

static inline uint64_t next(const struct state *s)
{
    return s->count == 0 ? UINT64_MAX : s->heap[0].deadline;
}

#define STRUCTURE heap
#define N_MAX SIZE_MAX
#include "workloads.h"
