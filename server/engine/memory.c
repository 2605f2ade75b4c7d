/*
 * engine/memory.c - the allocator of an engine.
 */
#include <string.h>

#include "private.h"

void *tkd__allocate(struct tkd_engine *engine, size_t bytes)
{
    return engine->allocator.allocate(engine->allocator.context, bytes);
}

void tkd__release(struct tkd_engine *engine, void *memory, size_t bytes)
{
    if (memory != NULL)
        engine->allocator.release(engine->allocator.context, memory, bytes);
}

bool tkd__grow(struct tkd_engine *engine, void *array, uint32_t *room,
               uint32_t wanted, size_t size)
{
    if (wanted <= *room)
        return true;
    uint32_t larger = *room + *room / 2;
    if (larger < wanted)
        larger = wanted;
    if (larger < 4)
        larger = 4;
    void *memory = tkd__allocate(engine, larger * size);
    if (memory == NULL)
        return false;
    void *old;
    memcpy(&old, array, sizeof old);
    if (old != NULL)
        memcpy(memory, old, *room * size);
    tkd__release(engine, old, *room * size);
    memcpy(array, &memory, sizeof memory);
    *room = larger;
    return true;
}
