/*
 * support/pool.c - see pool.h.
 */
#include "pool.h"

#include "pool/private.h"

const struct tkw_geometry pool_shapes[8] = {
    {.sizes = {0}},
    {.sizes = {20}},
    {.sizes = {4, 4}},
    {.sizes = {2}},
    {.sizes = {60, 60, 12}},
    {.sizes = {512}, .beyond = TKW_ROUNDS},
    {.sizes = {5, 7}, .beyond = TKW_ROUNDS},
    {.sizes = {3, 5, 7}},
};

struct tkw_pool *pool_of(const struct tkw_geometry *geometry, tkw_tick start)
{
    struct tkw_pool *pool = NULL;
    struct tkw_pool_config config = {.start = start};
    if (geometry != NULL)
        config.geometry = *geometry;
    assert_int_equal(tkw_pool_open(&pool, &config), 0);
    assert_non_null(pool);
    return pool;
}

tkw_handle pool_arm(struct tkw_pool *pool, tkw_tick deadline, uint64_t word)
{
    tkw_handle handle = 0;
    struct tkw_user user = {.word = word};
    assert_int_equal(tkw_pool_arm(pool, &handle, deadline, user), 0);
    assert_int_not_equal(handle, 0);
    return handle;
}

size_t pool_walked_count(const struct tkw_pool *pool)
{
    struct tkw_pool_cursor walk = {0};
    size_t count = 0;
    for (struct tkw_pool_timer timer; tkw_pool_walk(pool, &walk, &timer);)
        count++;
    return count;
}

void assert_pool_sound(const struct tkw_pool *pool)
{
    struct tkw_pool_stats c = tkw_pool_read_stats(pool);
    assert_true(tkw_pool_check(pool));
    assert_int_equal(c.work.armed, c.work.fired + c.work.cancelled +
                                       c.work.drained + tkw_pool_count(pool));
    assert_int_equal(pool_walked_count(pool), tkw_pool_count(pool));
    assert_true(c.dead <= c.entries);
}

void pool_set_broken(struct tkw_pool *pool, bool is_broken)
{
    pool->entries += is_broken ? 1 : (uint64_t)-1;
}

void pool_done(struct tkw_pool *pool)
{
    assert_pool_sound(pool);
    for (struct tkw_pool_timer timer; tkw_pool_drain(pool, &timer);)
        continue;
    assert_int_equal(tkw_pool_count(pool), 0);
    assert_pool_pops_none(pool);
    tkw_pool_advance(pool, TKW_NEVER); /* finish what a budget stopped */
    assert_int_equal(tkw_pool_next(pool), TKW_NEVER);
    assert_pool_sound(pool);
    tkw_pool_close(pool);
}

void assert_pool_state(const struct tkw_pool *pool, tkw_handle handle,
                       enum tkw_state expected)
{
    assert_int_equal(tkw_pool_query(pool, handle, NULL), expected);
}

tkw_tick pool_deadline(const struct tkw_pool *pool, tkw_handle handle)
{
    struct tkw_pool_timer timer = {0};
    enum tkw_state state = tkw_pool_query(pool, handle, &timer);
    assert_true(state == TKW_PENDING || state == TKW_READY ||
                state == TKW_KEPT);
    assert_int_equal(timer.handle, handle);
    return timer.deadline;
}

void assert_pool_pops(struct tkw_pool *pool, tkw_handle handle)
{
    struct tkw_pool_timer timer = {0};
    assert_true(tkw_pool_pop(pool, &timer));
    assert_int_equal(timer.handle, handle);
    assert_true(timer.deadline <= tkw_pool_now(pool));
    assert_pool_state(pool, handle, TKW_DONE);
}

void assert_pool_pops_none(struct tkw_pool *pool)
{
    struct tkw_pool_timer timer;
    assert_false(tkw_pool_pop(pool, &timer));
}

void pool_advance_surely(struct tkw_pool *pool, tkw_tick now)
{
    assert_true(tkw_pool_advance_some(pool, now, 1 << 22));
    assert_int_equal(tkw_pool_now(pool), now);
}

void assert_pool_fires_on_time(struct tkw_pool *pool, tkw_handle handle)
{
    tkw_tick deadline = pool_deadline(pool, handle);
    if (tkw_pool_now(pool) < deadline) {
        pool_advance_surely(pool, deadline - 1);
        assert_pool_pops_none(pool);
        assert_pool_state(pool, handle, TKW_PENDING);
        pool_advance_surely(pool, deadline);
    }
    assert_pool_state(pool, handle, TKW_READY);
    assert_pool_pops(pool, handle);
}

size_t pool_wakes(struct tkw_pool *pool)
{
    size_t wakes = 0;
    for (;; wakes++) {
        tkw_tick next = tkw_pool_next(pool);
        if (next == TKW_NEVER || next <= tkw_pool_now(pool))
            return wakes;
        pool_advance_surely(pool, next);
        assert_true(wakes < 100000);
    }
}

uint64_t pool_moved(const struct tkw_pool *pool)
{
    struct tkw_wheel_stats c = tkw_pool_read_stats(pool).work;
    return c.falls + c.refiles + c.passes;
}

/* What stands before each block, as wide as the strictest alignment. */
union header {
    size_t bytes;
    max_align_t align;
};

static void *ledger_allocate(void *context, size_t bytes)
{
    struct ledger *ledger = context;
    ledger->calls++;
    if (ledger->fails_from != 0 && ledger->calls >= ledger->fails_from &&
        ledger->calls - ledger->fails_from < ledger->fails_count) {
        ledger->failed++;
        return NULL;
    }
    union header *header = malloc(sizeof(*header) + bytes);
    assert_non_null(header);
    header->bytes = bytes;
    memset(header + 1, 0xa5, bytes);
    ledger->blocks++;
    ledger->bytes += bytes;
    return header + 1;
}

static void ledger_release(void *context, void *memory, size_t bytes)
{
    struct ledger *ledger = context;
    if (memory == NULL)
        return;
    union header *header = (union header *)memory - 1;
    assert_int_equal(header->bytes, bytes);
    memset(memory, 0x5a, bytes);
    ledger->blocks--;
    ledger->bytes -= bytes;
    free(header);
}

void ledger_init(struct ledger *ledger)
{
    *ledger = (struct ledger){.allocator = {.allocate = ledger_allocate,
                                            .release = ledger_release,
                                            .context = ledger}};
}

void ledger_fail(struct ledger *ledger, uint64_t skip, uint64_t count)
{
    ledger->fails_from = ledger->calls + skip + 1;
    ledger->fails_count = count;
}

void ledger_relent(struct ledger *ledger)
{
    ledger->fails_from = 0;
}

struct tkw_pool *ledger_pool(struct ledger *ledger,
                             const struct tkw_geometry *geometry)
{
    struct tkw_pool *pool = NULL;
    struct tkw_pool_config config = {.allocator = &ledger->allocator};
    if (geometry != NULL)
        config.geometry = *geometry;
    ledger_init(ledger);
    assert_int_equal(tkw_pool_open(&pool, &config), 0);
    assert_non_null(pool);
    return pool;
}

void ledger_done(struct ledger *ledger, struct tkw_pool *pool)
{
    assert_pool_sound(pool);
    assert_int_equal(tkw_pool_read_stats(pool).bytes, ledger->bytes);
    tkw_pool_close(pool);
    assert_int_equal(ledger->blocks, 0);
    assert_int_equal(ledger->bytes, 0);
}
