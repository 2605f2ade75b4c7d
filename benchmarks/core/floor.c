/*
 * core/floor.c - what memory itself costs: the least that touching a random
 * timer can take, and the least that any wheel of linked lists can.
 */
#include <stdlib.h>

#include "bench.h"

struct element {
    uint64_t value;
    uint64_t next;
    uint64_t rest[2];
};

static __attribute__((noinline)) void
independent(struct element *elements, const uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        elements[order[i]].value += i;
}

static __attribute__((noinline)) uint64_t dependent(struct element *elements,
                                                    size_t n)
{
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        elements[at].value += i;
        at = elements[at].next;
    }
    return at;
}

/*
 * Bare lists, as many as a wheel of a few hundred slots has: no levels, no
 * order, no clock, nothing checked, everything inlined.
 */
enum { LISTS = 2048 };

struct node {
    struct node *next;
    struct node *prev;
    uint64_t rest[2];
};

struct lists {
    struct node *nodes;
    struct node heads[LISTS];
};

static inline void join(struct lists *lists, struct node *node, uint64_t *dice)
{
    struct node *head = &lists->heads[bench_below(dice, LISTS)];
    node->next = head;
    node->prev = head->prev;
    head->prev->next = node;
    head->prev = node;
}

static inline void leave(struct node *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
}

static struct lists *lists_make(const struct bench_load *load)
{
    struct lists *lists = bench_memory(sizeof *lists);
    lists->nodes = bench_memory(load->n * sizeof *lists->nodes);
    for (size_t i = 0; i < LISTS; i++)
        lists->heads[i].next = lists->heads[i].prev = &lists->heads[i];
    uint64_t dice = load->seed;
    for (size_t i = 0; i < load->n; i++)
        join(lists, &lists->nodes[i], &dice);
    return lists;
}

static void lists_unmake(struct lists *lists)
{
    free(lists->nodes);
    free(lists);
}

static __attribute__((noinline)) void unlink_all(struct lists *lists,
                                                 const struct bench_load *load)
{
    for (size_t i = 0; i < load->n; i++)
        leave(&lists->nodes[load->order[i]]);
}

static __attribute__((noinline)) void
relink_some(struct lists *lists, const struct bench_load *load, size_t count)
{
    uint64_t dice = load->seed;
    for (size_t i = 0; i < count; i++) {
        struct node *node = &lists->nodes[bench_below(&dice, load->n)];
        leave(node);
        join(lists, node, &dice);
    }
}

double floor_unlink(const struct bench_load *load)
{
    struct lists *lists = lists_make(load);
    double began = bench_now_ns();
    unlink_all(lists, load);
    double took = bench_now_ns() - began;
    lists_unmake(lists);
    return took / (double)load->n;
}

double floor_relink(const struct bench_load *load)
{
    struct lists *lists = lists_make(load);
    size_t count = load->n / 2;
    double began = bench_now_ns();
    relink_some(lists, load, count);
    double took = bench_now_ns() - began;
    lists_unmake(lists);
    return took / (double)count;
}

/*
 * The same element found by a handle, and checked: is there such an index, in
 * which segment is it, is it of this generation and armed; then its state is
 * changed and a count kept.  Inlined, with nothing else.
 */
enum { SEGMENT_BITS = 15, ARMED = 4 };

struct slab {
    struct element *segments[4096];
    uint64_t used;
    uint64_t armed;
};

static __attribute__((noinline)) void
disarm_all(struct slab *slab, const uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t handle = UINT64_C(1) << 32 | order[i];
        if ((uint32_t)handle >= slab->used)
            continue;
        struct element *segment =
            slab->segments[(uint32_t)handle >> SEGMENT_BITS];
        struct element *element = &segment[handle & ((1 << SEGMENT_BITS) - 1)];
        if ((element->value ^ handle) >> 27 != ARMED)
            continue;
        element->value ^= (uint64_t)ARMED << 28;
        slab->armed--;
    }
}

double floor_by_handle(const struct bench_load *load)
{
    struct element *elements = bench_memory(load->n * sizeof *elements);
    struct slab *slab = bench_memory(sizeof *slab);
    for (size_t i = 0; i < load->n; i++) {
        slab->segments[i >> SEGMENT_BITS] =
            elements + (i >> SEGMENT_BITS << SEGMENT_BITS);
        elements[i].value = UINT64_C(1) << 32 | (uint64_t)ARMED << 27;
    }
    slab->used = load->n;
    slab->armed = load->n;
    double began = bench_now_ns();
    disarm_all(slab, load->order, load->n);
    double took = bench_now_ns() - began;
    bool is_done = slab->armed == 0;
    free(slab);
    free(elements);
    return is_done ? took / (double)load->n : -1;
}

double floor_independent(const struct bench_load *load)
{
    struct element *elements = bench_memory(load->n * sizeof *elements);
    double began = bench_now_ns();
    independent(elements, load->order, load->n);
    double took = bench_now_ns() - began;
    free(elements);
    return took / (double)load->n;
}

double floor_dependent(const struct bench_load *load)
{
    struct element *elements = bench_memory(load->n * sizeof *elements);
    for (size_t i = 0; i < load->n; i++)
        elements[load->order[i]].next = load->order[(i + 1) % load->n];
    double began = bench_now_ns();
    volatile uint64_t end = dependent(elements, load->n);
    double took = bench_now_ns() - began;
    (void)end;
    free(elements);
    return took / (double)load->n;
}
