/*
 * floor.c - what memory itself costs: the least that touching a random timer
 * can take.
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
