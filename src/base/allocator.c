/*
 * base/allocator.c - the default allocator, the only place where the library
 * calls malloc() and calloc(); and the checks that all configurations share.
 */
#include "allocator.h"

#include <stdlib.h>
#include <string.h>

static void *allocate_plain(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

static void release_plain(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

const struct tkw_allocator tkw__allocator_plain = {
    .allocate = allocate_plain,
    .release = release_plain,
};

void *tkw__allocate_zeroed(const struct tkw_allocator *allocator, size_t bytes)
{
    if (allocator->allocate == allocate_plain)
        return calloc(1, bytes);
    void *memory = allocator->allocate(allocator->context, bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

const char *tkw__config_fault(const uint64_t reserved[4],
                              const struct tkw_allocator *allocator)
{
    for (int i = 0; i < 4; i++)
        if (reserved[i] != 0)
            return "reserved is not all 0; initialise the structure with {0}";
    if (allocator != NULL &&
        (allocator->allocate == NULL || allocator->release == NULL))
        return "allocator lacks allocate or release; set both";
    return NULL;
}
