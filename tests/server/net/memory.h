/*
 * server/net/memory.h - an allocator that counts, and refuses on demand.
 */
#ifndef TESTS_SERVER_NET_MEMORY_H
#define TESTS_SERVER_NET_MEMORY_H

#include <stdlib.h>
#include <tickwheel/base.h>

struct memory {
    struct tkw_allocator allocator;
    size_t bytes;    /* in use */
    size_t left;     /* allocations before one is refused */
    bool is_refused; /* one was */
};

static inline void *memory_allocate(void *context, size_t bytes)
{
    struct memory *memory = context;
    if (memory->left == 0) {
        memory->is_refused = true;
        return NULL;
    }
    memory->left--;
    memory->bytes += bytes;
    return malloc(bytes);
}

static inline void memory_release(void *context, void *block, size_t bytes)
{
    struct memory *memory = context;
    memory->bytes -= bytes;
    free(block);
}

/* Never refuse. */
static inline void memory_init(struct memory *memory)
{
    *memory = (struct memory){
        .allocator = {memory_allocate, memory_release, memory},
        .left = SIZE_MAX,
    };
}

#endif
