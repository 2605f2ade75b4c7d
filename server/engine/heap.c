/*
 * engine/heap.c - a heap of jobs, with four children a node.
 *
 * A tube's heap of ready jobs is ordered by priority and id, a client's heap of
 * reserved jobs by the end of their time to run.  The four children of a node
 * are 64 bytes side by side.  Each job stores its place, so that a job in the
 * middle can be removed.
 *
 * The heap of a tube's delayed jobs does not store places: see soonest.c.
 */
#include <assert.h>

#include "private.h"

enum { CHILDREN = 4 };

bool tkd__heap_reserve(struct tkd_engine *engine, struct heap *heap,
                       uint32_t room)
{
    return tkd__grow(engine, &heap->entries, &heap->room, room,
                     sizeof *heap->entries);
}

void tkd__heap_close(struct tkd_engine *engine, struct heap *heap)
{
    tkd__release(engine, heap->entries, heap->room * sizeof *heap->entries);
    *heap = (struct heap){0};
}

static void put_at(struct jobs *jobs, struct heap *heap, uint32_t place,
                   struct entry entry)
{
    heap->entries[place] = entry;
    if (jobs != NULL)
        tkd__job_at(jobs, entry_job(entry))->place = place;
}

/* Move an entry up from a free place. */
static void sift_up(struct jobs *jobs, struct heap *heap, uint32_t place,
                    struct entry entry)
{
    while (place > 0) {
        uint32_t parent = (place - 1) / CHILDREN;
        if (!entry_is_less(entry, heap->entries[parent]))
            break;
        put_at(jobs, heap, place, heap->entries[parent]);
        place = parent;
    }
    put_at(jobs, heap, place, entry);
}

/* Return the least child of a node, or `count` if it has none. */
static uint32_t least_child(const struct heap *heap, uint32_t place)
{
    uint64_t first = (uint64_t)place * CHILDREN + 1;
    if (first >= heap->count)
        return heap->count;
    uint32_t least = (uint32_t)first;
    for (uint32_t i = least + 1; i < heap->count && i < first + CHILDREN; i++)
        if (entry_is_less(heap->entries[i], heap->entries[least]))
            least = i;
    return least;
}

/* Move an entry down from a free place. */
static void sift_down(struct jobs *jobs, struct heap *heap, uint32_t place,
                      struct entry entry)
{
    for (;;) {
        uint32_t child = least_child(heap, place);
        if (child >= heap->count || !entry_is_less(heap->entries[child], entry))
            break;
        put_at(jobs, heap, place, heap->entries[child]);
        place = child;
    }
    put_at(jobs, heap, place, entry);
}

void tkd__heap_push(struct jobs *jobs, struct heap *heap, struct entry entry)
{
    assert(heap->count < heap->room);
    heap->count++;
    sift_up(jobs, heap, heap->count - 1, entry);
}

void tkd__heap_append(struct heap *heap, struct entry entry)
{
    assert(heap->count < heap->room);
    heap->entries[heap->count++] = entry;
}

void tkd__heap_make(struct heap *heap)
{
    for (uint32_t place = heap->count; place-- > 0;)
        sift_down(NULL, heap, place, heap->entries[place]);
}

void tkd__heap_remove(struct jobs *jobs, struct heap *heap, uint32_t place)
{
    assert(place < heap->count);
    heap->count--;
    if (place == heap->count)
        return;
    struct entry last = heap->entries[heap->count];
    if (place > 0 && entry_is_less(last, heap->entries[(place - 1) / CHILDREN]))
        sift_up(jobs, heap, place, last);
    else
        sift_down(jobs, heap, place, last);
}
