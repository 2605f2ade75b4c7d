/*
 * memory.h - an allocator that counts, and that fails when it is told to.
 *
 * It knows the size of everything it gave out, so that what comes back can be
 * held against it, and it gives out garbage, never zeros.
 */
#ifndef MODEL_MEMORY_H
#define MODEL_MEMORY_H

#include <tickwheel/pool.h>

enum memory_mode {
    MEMORY_FORBIDDEN, /* whoever asks is not allowed to */
    MEMORY_PLENTY,
    MEMORY_SCARCE, /* one call in eight fails, at random */
    MEMORY_NONE,
};

struct memory {
    struct tkw_allocator allocator; /* for the pool; its context is this */
    enum memory_mode mode;
    uint64_t state; /* of the random numbers */
    uint64_t bytes; /* given out and not come back ... */
    uint64_t blocks;
    uint64_t requests; /* calls, and those that got nothing */
    uint64_t failures;
};

/* The same seed fails at the same calls. */
void memory_init(struct memory *memory, uint64_t seed);

#endif
