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

static void set_nothing(struct tkd_store *store, const struct tkd_row *row)
{
    (void)store;
    (void)row;
}

static bool always_has_room(const struct tkd_store *store)
{
    (void)store;
    return true;
}

static bool find_no_row(struct tkd_store *store, struct tkd_row *row)
{
    (void)store;
    (void)row;
    return false;
}

static bool read_no_list(struct tkd_store *store, const struct tkd_range *range,
                         struct tkd_answer *answer)
{
    (void)store;
    (void)range;
    (void)answer;
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

static bool refuse_list(struct tkd_store *store, const struct tkd_range *range)
{
    (void)store;
    (void)range;
    assert(!"a store that keeps nothing is asked");
    return false;
}

static bool answer_nothing(struct tkd_store *store, struct tkd_answer *answer)
{
    (void)store;
    (void)answer;
    return false;
}

static void measure_nothing(struct tkd_store *store,
                            struct tkd_store_figures *figures)
{
    (void)store;
    *figures = (struct tkd_store_figures){0};
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
        .set = set_nothing,
        .has_room = always_has_room,
        .ask = refuse_question,
        .list = refuse_list,
        .find_row = find_no_row,
        .read_list = read_no_list,
        .measure = measure_nothing,
        .poll = answer_nothing,
        .close = close_memory,
    };
    struct memory_store *memory =
        allocator->allocate(allocator->context, sizeof *memory);
    if (memory == NULL)
        return NULL;
    memory->store.calls = &calls;
    memory->store.is_volatile = true;
    memory->store.failure = NULL;
    memory->allocator = allocator;
    return &memory->store;
}
