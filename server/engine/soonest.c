/*
 * engine/soonest.c - the delayed jobs of a tube, soonest first.
 *
 * The pool knows when each delayed job is due, but peek-delayed and kick ask
 * for the soonest one of a tube.  That is rare.  So a tube keeps an array of
 * its delayed jobs that costs next to nothing until a client asks:
 *
 *   - a job that becomes delayed is appended;
 *   - a job that is no longer delayed leaves a dead entry behind.  An entry is
 *     alive if its job is delayed in this tube, with the entry's due time;
 *   - the first question makes the array a heap, and later jobs are filed as in
 *     a heap;
 *   - for each job that leaves, SWEEP entries are read, and the dead ones are
 *     removed.  So dead entries are at most about as many as the others, and no
 *     call takes long.
 *
 * Making the heap takes some 5 ns for each entry, once.
 */
#include "private.h"

enum { SWEEP = 2 };

static bool is_alive(const struct tkd_engine *engine, const struct tube *tube,
                     struct entry entry)
{
    const struct job *job = tkd__job_at(&engine->jobs, entry_job(entry));
    return job->state == STATE_DELAYED && job->tube == tube &&
           job->due_ns == entry.high &&
           (uint32_t)job->id == (uint32_t)(entry.low >> 32);
}

static void remove_at(struct soonest *list, uint32_t place)
{
    struct heap *heap = &list->heap;
    if (list->is_ordered) {
        tkd__heap_remove(NULL, heap, place);
        return;
    }
    heap->count--;
    *heap_at(heap, place) = *heap_at(heap, heap->count);
}

bool tkd__soonest_reserve(struct tkd_engine *engine, struct tube *tube)
{
    struct heap *heap = &tube->delayed.heap;
    return tkd__heap_reserve(engine, heap, heap->count + 1);
}

void tkd__soonest_add(struct job *job)
{
    struct soonest *list = &job->tube->delayed;
    struct entry entry = {job->due_ns, job->id << 32 | job->number};
    if (list->is_ordered)
        tkd__heap_push(NULL, &list->heap, entry);
    else
        tkd__heap_append(&list->heap, entry);
}

/* Read a few entries, and remove those that are dead. */
static void sweep(struct tkd_engine *engine, struct tube *tube)
{
    struct soonest *list = &tube->delayed;
    for (int i = 0; i < SWEEP && list->heap.count > 0; i++) {
        if (list->cursor >= list->heap.count)
            list->cursor = 0;
        if (is_alive(engine, tube, *heap_at(&list->heap, list->cursor)))
            list->cursor++;
        else
            remove_at(list, list->cursor);
    }
}

void tkd__soonest_forget(struct tkd_engine *engine, struct tube *tube)
{
    if (tube->in.delayed > 0) {
        sweep(engine, tube);
        return;
    }
    tube->delayed.heap.count = 0;
    tube->delayed.cursor = 0;
    tube->delayed.is_ordered = false;
}

struct job *tkd__soonest_first(struct tkd_engine *engine, struct tube *tube)
{
    struct soonest *list = &tube->delayed;
    if (tube->in.delayed == 0)
        return NULL;
    if (!list->is_ordered) {
        tkd__heap_make(&list->heap);
        list->is_ordered = true;
    }
    while (!is_alive(engine, tube, *heap_at(&list->heap, 0)))
        remove_at(list, 0);
    return heap_first(&engine->jobs, &list->heap);
}
