/*
 * allocator.c - the only place where the library asks for memory by itself.
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

const struct tkw_allocator allocator_plain = {
    .allocate = allocate_plain,
    .release = release_plain,
};

bool allocator_is_whole(const struct tkw_allocator *allocator)
{
    return allocator == NULL ||
           (allocator->allocate != NULL && allocator->release != NULL);
}
