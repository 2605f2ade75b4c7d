#include "memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The size of a block, stored in front of it. */
union note {
    size_t bytes;
    max_align_t align;
};

static bool is_failing(const struct memory *memory)
{
    return memory->fail_from != 0 && memory->requests >= memory->fail_from &&
           memory->requests - memory->fail_from < memory->fail_count;
}

static void *allocate(void *context, size_t bytes)
{
    struct memory *memory = context;
    memory->requests++;
    union note *note = is_failing(memory) ? NULL : malloc(sizeof *note + bytes);
    if (note == NULL) {
        memory->failures++;
        return NULL;
    }
    note->bytes = bytes;
    memory->bytes += bytes;
    return memset(note + 1, 0xa5, bytes);
}

static void release(void *context, void *block, size_t bytes)
{
    struct memory *memory = context;
    if (block == NULL)
        return;
    union note *note = (union note *)block - 1;
    if (note->bytes != bytes) {
        fprintf(stderr, "memory: a block of %zu bytes is released as %zu\n",
                note->bytes, bytes);
        abort();
    }
    memory->bytes -= bytes;
    memset(block, 0x5a, bytes);
    free(note);
}

void memory_init(struct memory *memory)
{
    *memory = (struct memory){
        .allocator = {.allocate = allocate,
                      .release = release,
                      .context = memory},
    };
}

void memory_fail(struct memory *memory, uint64_t after, uint64_t count)
{
    memory->fail_from = memory->requests + after + 1;
    memory->fail_count = count;
}
