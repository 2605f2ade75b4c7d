/*
 * server/engine/memory.h - an allocator that counts its bytes, and that fails
 * when a test wants it to.
 *
 * The allocator checks the size of each block that is released, and fills the
 * blocks with garbage.
 */
#ifndef TESTS_SERVER_ENGINE_MEMORY_H
#define TESTS_SERVER_ENGINE_MEMORY_H

#include <stdint.h>

#include <tickwheel/base.h>

struct memory {
    struct tkw_allocator allocator; /* for the engine and its store */
    uint64_t bytes;                 /* allocated now */
    uint64_t requests;              /* calls of allocate(), until now */
    uint64_t failures;              /* those that returned NULL */
    uint64_t fail_from;  /* the number of the first request that fails, from 1;
                           0: none fails */
    uint64_t fail_count; /* how many fail from there on */
};

/* Initialize an allocator that does not fail. */
void memory_init(struct memory *memory);

/* Let the next `count` requests fail, after `after` more that succeed. */
void memory_fail(struct memory *memory, uint64_t after, uint64_t count);

#endif
