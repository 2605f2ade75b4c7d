/*
 * core/list.c - a list sorted by deadline, searched from its end: what the
 * first event loops had, for small n.
 */
#include <stdlib.h>

#include "bench.h"

struct timer {
    uint64_t deadline;
    struct timer *next;
    struct timer *prev;
};

struct state {
    struct timer head;
    struct timer *timers;
    uint64_t now;
};

static struct state *make(size_t n)
{
    struct state *s = bench_memory(sizeof *s);
    s->timers = bench_memory(n * sizeof *s->timers);
    s->head.next = &s->head;
    s->head.prev = &s->head;
    return s;
}

static void unmake(struct state *s)
{
    free(s->timers);
    free(s);
}

static inline void arm(struct state *s, uint32_t id, uint64_t deadline)
{
    struct timer *timer = &s->timers[id];
    struct timer *before = s->head.prev;
    while (before != &s->head && before->deadline > deadline)
        before = before->prev;
    timer->deadline = deadline;
    timer->prev = before;
    timer->next = before->next;
    before->next->prev = timer;
    before->next = timer;
}

static inline void cancel(struct state *s, uint32_t id)
{
    struct timer *timer = &s->timers[id];
    timer->prev->next = timer->next;
    timer->next->prev = timer->prev;
}

#define HAS_MOVE
static inline void move(struct state *s, uint32_t id, uint64_t deadline)
{
    cancel(s, id);
    arm(s, id, deadline);
}

static inline void advance(struct state *s, uint64_t now)
{
    s->now = now;
}

static inline uint32_t pop(struct state *s)
{
    const struct timer *timer = s->head.next;
    if (timer == &s->head || timer->deadline > s->now)
        return UINT32_MAX;
    uint32_t id = (uint32_t)(timer - s->timers);
    cancel(s, id);
    return id;
}

static inline uint64_t next(const struct state *s)
{
    return s->head.next == &s->head ? UINT64_MAX : s->head.next->deadline;
}

#define STRUCTURE list
#define N_MAX 10000
#include "workloads.h"
