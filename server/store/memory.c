/*
 * store/memory.c - a store that keeps nothing.
 *
 * A server without a directory uses it.  The engine keeps every job in memory,
 * so no question finds one here.
 */
#include <assert.h>

#include "store.h"

struct memory_store {
    struct tkd_store store;
    const struct tkw_allocator *allocator;
};

static bool reserve_nothing(struct tkd_store *store, size_t count)
{
    (void)store;
    (void)count;
    return true;
}

static void write_nothing(struct tkd_store *store,
                          const struct tkd_write *write)
{
    (void)store;
    (void)write;
}

static void submit_nothing(struct tkd_store *store, uint64_t batch)
{
    (void)store;
    (void)batch;
}

static bool is_never_busy(const struct tkd_store *store)
{
    (void)store;
    return false;
}

/* The engine of a volatile store asks nothing. */
static bool refuse_question(struct tkd_store *store,
                            const struct tkd_question *question)
{
    (void)store;
    (void)question;
    assert(!"a store that keeps nothing is asked");
    return false;
}

static bool answer_nothing(struct tkd_store *store, struct tkd_answer *answer)
{
    (void)store;
    (void)answer;
    return false;
}

static void close_memory(struct tkd_store *store)
{
    struct memory_store *memory = (struct memory_store *)store;
    memory->allocator->release(memory->allocator->context, memory,
                               sizeof *memory);
}

struct tkd_store *tkd_memory_open(const struct tkw_allocator *allocator)
{
    static const struct tkd_store_calls calls = {
        .reserve = reserve_nothing,
        .write = write_nothing,
        .submit = submit_nothing,
        .is_busy = is_never_busy,
        .ask = refuse_question,
        .poll = answer_nothing,
        .close = close_memory,
    };
    struct memory_store *memory =
        allocator->allocate(allocator->context, sizeof *memory);
    if (memory == NULL)
        return NULL;
    memory->store.calls = &calls;
    memory->store.is_volatile = true;
    memory->allocator = allocator;
    return &memory->store;
}
