/*
 * engine/heap.c - a heap of jobs, with four children a node.
 *
 * A tube's heap of ready jobs is ordered by priority and id, a client's heap of
 * reserved jobs by the end of their time to run.  The four children of a node
 * are 64 bytes side by side.  Each job stores its place, so that a job in the
 * middle can be removed.
 *
 * The heap of a tube's delayed jobs does not store places: see soonest.c.
 *
 * The entries are in segments, so that a heap grows without copying much: the
 * first segment doubles until it is whole, and then whole segments are added.
 */
#include <assert.h>
#include <string.h>

#include "private.h"

enum {
    CHILDREN = 4,
    ROOM_MIN = 4,
    SEGMENT = 1 << HEAP_SEGMENT_BITS,
};

static size_t bytes_of(uint32_t entries)
{
    return entries * sizeof(struct entry);
}

/* Replace the only segment, which is not whole yet, by one of `room`
 * entries. */
static bool grow_first(struct tkd_engine *engine, struct heap *heap,
                       uint32_t room)
{
    struct entry *entries = tkd__allocate(engine, bytes_of(room));
    if (entries == NULL)
        return false;
    if (heap->room > 0) {
        memcpy(entries, heap->segments[0], bytes_of(heap->count));
        tkd__release(engine, heap->segments[0], bytes_of(heap->room));
    }
    heap->segments[0] = entries;
    heap->room = room;
    return true;
}

static bool add_segment(struct tkd_engine *engine, struct heap *heap)
{
    struct entry *entries = tkd__allocate(engine, bytes_of(SEGMENT));
    if (entries == NULL)
        return false;
    heap->segments[heap->room / SEGMENT] = entries;
    heap->room += SEGMENT;
    return true;
}

static bool grow(struct tkd_engine *engine, struct heap *heap)
{
    uint32_t count = heap->room / SEGMENT + 1;
    if (!tkd__grow(engine, &heap->segments, &heap->segment_room, count,
                   sizeof *heap->segments))
        return false;
    if (heap->room >= SEGMENT)
        return add_segment(engine, heap);
    return grow_first(engine, heap,
                      heap->room < ROOM_MIN ? ROOM_MIN : 2 * heap->room);
}

bool tkd__heap_reserve(struct tkd_engine *engine, struct heap *heap,
                       uint32_t room)
{
    while (heap->room < room)
        if (!grow(engine, heap))
            return false;
    return true;
}

void tkd__heap_close(struct tkd_engine *engine, struct heap *heap)
{
    uint32_t segment = heap->room < SEGMENT ? heap->room : SEGMENT;
    for (uint32_t i = 0; i < heap->room; i += segment)
        tkd__release(engine, heap->segments[i / SEGMENT], bytes_of(segment));
    tkd__release(engine, heap->segments,
                 heap->segment_room * sizeof *heap->segments);
    *heap = (struct heap){0};
}

static void put_at(struct jobs *jobs, struct heap *heap, uint32_t place,
                   struct entry entry)
{
    *heap_at(heap, place) = entry;
    if (jobs != NULL)
        tkd__job_at(jobs, entry_job(entry))->place = place;
}

/* Move an entry up from a free place. */
static void sift_up(struct jobs *jobs, struct heap *heap, uint32_t place,
                    struct entry entry)
{
    while (place > 0) {
        uint32_t parent = (place - 1) / CHILDREN;
        if (!entry_is_less(entry, *heap_at(heap, parent)))
            break;
        put_at(jobs, heap, place, *heap_at(heap, parent));
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
        if (entry_is_less(*heap_at(heap, i), *heap_at(heap, least)))
            least = i;
    return least;
}

/* Move an entry down from a free place. */
static void sift_down(struct jobs *jobs, struct heap *heap, uint32_t place,
                      struct entry entry)
{
    for (;;) {
        uint32_t child = least_child(heap, place);
        if (child >= heap->count ||
            !entry_is_less(*heap_at(heap, child), entry))
            break;
        put_at(jobs, heap, place, *heap_at(heap, child));
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
    *heap_at(heap, heap->count) = entry;
    heap->count++;
}

void tkd__heap_make(struct heap *heap)
{
    for (uint32_t place = heap->count; place-- > 0;)
        sift_down(NULL, heap, place, *heap_at(heap, place));
}

void tkd__heap_remove(struct jobs *jobs, struct heap *heap, uint32_t place)
{
    assert(place < heap->count);
    heap->count--;
    if (place == heap->count)
        return;
    struct entry last = *heap_at(heap, heap->count);
    if (place > 0 &&
        entry_is_less(last, *heap_at(heap, (place - 1) / CHILDREN)))
        sift_up(jobs, heap, place, last);
    else
        sift_down(jobs, heap, place, last);
}
