/*
 * account.c - an allocator that counts.
 */
#include "account.h"

#include <stdlib.h>
#include <string.h>

#include "watch.h"

/* In front of every block; as large as malloc's alignment. */
union note {
    size_t bytes;
    max_align_t align;
};

static void *account_allocate(void *context, size_t bytes)
{
    struct account *account = context;
    uint64_t call = atomic_fetch_add(&account->calls, 1) + 1;
    unsigned fails_each = atomic_load(&account->fails_each);
    if (fails_each != 0 && call % fails_each == 0)
        return NULL;
    union note *note = malloc(sizeof *note + bytes);
    if (note == NULL)
        return NULL;
    atomic_fetch_add(&account->bytes, bytes);
    atomic_fetch_add(&account->blocks, 1);
    note->bytes = bytes;
    /* Nobody may lean on zeros. */
    memset(note + 1, 0xa5, bytes < 256 ? bytes : 256);
    return note + 1;
}

static void account_release(void *context, void *memory, size_t bytes)
{
    struct account *account = context;
    union note *note = (union note *)memory - 1;
    DEMAND(note->bytes == bytes, "%zu bytes come back as %zu", note->bytes,
           bytes);
    atomic_fetch_sub(&account->bytes, bytes);
    atomic_fetch_sub(&account->blocks, 1);
    memset(memory, 0x5a, bytes < 256 ? bytes : 256);
    free(note);
}

void account_init(struct account *account)
{
    account->allocator =
        (struct tkw_allocator){account_allocate, account_release, account};
    atomic_store(&account->fails_each, 0);
    atomic_store(&account->bytes, 0);
    atomic_store(&account->blocks, 0);
    atomic_store(&account->calls, 0);
}
