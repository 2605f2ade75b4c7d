/*
 * base/allocator.c - the default allocator, the only place where the library
 * calls malloc(); and the checks that all configurations share.
 */
#include "allocator.h"

#include <stdlib.h>

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

const char *tkw__config_fault(const uint64_t reserved[4],
                              const struct tkw_allocator *allocator)
{
    for (int i = 0; i < 4; i++)
        if (reserved[i] != 0)
            return "a reserved field is not 0";
    if (allocator != NULL &&
        (allocator->allocate == NULL || allocator->release == NULL))
        return "the allocator lacks a function";
    return NULL;
}
