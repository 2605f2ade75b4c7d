/*
 * memory.c - malloc with a note of its size in front of every block.
 */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As large as malloc's alignment, and no larger: more is not promised. */
union note {
    size_t bytes;
    max_align_t align;
};

/* The reproducer has the same numbers: see engine_pool_text.c. */
static bool is_failing(struct memory *memory)
{
    if (memory->mode != MEMORY_SCARCE)
        return memory->mode == MEMORY_NONE;
    memory->state = memory->state * UINT64_C(6364136223846793005) +
                    UINT64_C(1442695040888963407);
    return memory->state >> 61 == 0;
}

static void *allocate(void *context, size_t bytes)
{
    struct memory *memory = context;

    if (memory->mode == MEMORY_FORBIDDEN) {
        fprintf(stderr, "memory: asked for %zu bytes, but must not\n", bytes);
        abort();
    }
    memory->requests++;
    union note *note = is_failing(memory) ? NULL : malloc(sizeof *note + bytes);
    if (note == NULL) {
        memory->failures++;
        return NULL;
    }
    note->bytes = bytes;
    memory->bytes += bytes;
    memory->blocks++;
    return memset(note + 1, 0xa5, bytes);
}

static void release(void *context, void *block, size_t bytes)
{
    struct memory *memory = context;
    union note *note = (union note *)block - 1;

    if (note->bytes != bytes) {
        fprintf(stderr, "memory: %zu bytes come back as %zu\n", note->bytes,
                bytes);
        abort();
    }
    memory->bytes -= bytes;
    memory->blocks--;
    memset(block, 0x5a, bytes);
    free(note);
}

void memory_init(struct memory *memory, uint64_t seed)
{
    *memory = (struct memory){
        .allocator = {.allocate = allocate,
                      .release = release,
                      .context = memory},
        .state = seed,
    };
}
