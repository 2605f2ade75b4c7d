/*
 * pool/payload_scene.h - a pool with payload, and the steps of its timers, for
 * tests.
 */
#ifndef TESTS_POOL_PAYLOAD_SCENE_H
#define TESTS_POOL_PAYLOAD_SCENE_H

#include "pool/payload.h"
#include "pool/private.h"
#include "support/pool.h"

enum { FAR = 1000000 };

/* A pool with payload.  Its allocator fills memory with rubbish. */
struct world {
    struct tkw_pool *pool;
    struct ledger ledger;
    uint64_t given_up;
};

static inline void open_world(struct world *world,
                              const struct tkw_geometry *geometry)
{
    struct tkw_pool_config config = {.allocator = &world->ledger.allocator};
    if (geometry != NULL)
        config.geometry = *geometry;
    ledger_init(&world->ledger);
    world->given_up = 0;
    assert_int_equal(
        tkw__pool_open_payload(&world->pool, &config, &world->given_up), 0);
}

static inline uint64_t *payload_of(const struct world *world, uint32_t index)
{
    return (uint64_t *)(void *)(record_at(world->pool, index) + 1);
}

static inline tkw_handle handle_of(const struct world *world, uint32_t index)
{
    return (record_at(world->pool, index)->word & WORD_GENERATION) | index;
}

/* Take a record, and clear its payload, as the service does. */
static inline uint32_t take(struct world *world)
{
    uint32_t index;
    assert_int_equal(tkw__pool_take(world->pool, 0, &index), 0);
    memset(payload_of(world, index), 0, PAYLOAD_BYTES);
    return index;
}

static inline uint32_t arm(struct world *world, tkw_tick deadline)
{
    uint32_t index = take(world);
    assert_int_equal(tkw__pool_arm_taken(world->pool, index, deadline), 0);
    return index;
}

static inline void rearm(struct world *world, uint32_t index, tkw_tick deadline)
{
    tkw_handle handle = handle_of(world, index);
    assert_int_equal(tkw_pool_rearm(world->pool, handle, deadline), 1);
}

static inline void set_given_up(struct world *world, uint32_t index)
{
    __atomic_fetch_or(payload_of(world, index), PAYLOAD_GIVEN_UP,
                      __ATOMIC_RELEASE);
}

static inline void count_given_up(struct world *world)
{
    __atomic_fetch_add(&world->given_up, 1, __ATOMIC_RELAXED);
}

static inline void give_up(struct world *world, uint32_t index)
{
    set_given_up(world, index);
    count_given_up(world);
}

static inline uint64_t entries_of(const struct world *world, uint32_t index)
{
    return (record_at(world->pool, index)->word & WORD_ENTRIES) / WORD_ENTRY;
}

static inline void assert_takes_none(struct world *world)
{
    struct taken_timer taken;
    assert_int_equal(tkw__pool_take_due(world->pool, &taken, 1), 0);
}

static inline void assert_takes(struct world *world, uint32_t index,
                                tkw_tick deadline)
{
    struct taken_timer taken;
    assert_int_equal(tkw__pool_take_due(world->pool, &taken, 1), 1);
    assert_int_equal(taken.index, index);
    assert_int_equal(taken.deadline, deadline);
    assert_pool_state(world->pool, handle_of(world, index), TKW_KEPT);
}

/* Assert that `count` timers are armed.  `unseen` of them are given up. */
static inline void assert_armed(const struct world *world, size_t count,
                                size_t unseen)
{
    struct tkw_fault fault;
    assert_false(tkw_pool_find_fault(world->pool, &fault));
    assert_pool_sound(world->pool);
    assert_int_equal(tkw_pool_count(world->pool), count);
    assert_int_equal(tkw__pool_count_given_up(world->pool), unseen);
}

/* Assert that no record is in use, and close the pool. */
static inline void close_empty(struct world *world)
{
    assert_takes_none(world);
    assert_armed(world, 0, 0);
    assert_int_equal(tkw_pool_read_stats(world->pool).entries, 0);
    assert_int_equal(world->pool->free_count, world->pool->used);
    ledger_done(&world->ledger, world->pool);
}

/* Rearm a timer for `deadline` until it has moved into a body. */
static inline void move_to_body(struct world *world, uint32_t index,
                                tkw_tick deadline)
{
    do
        rearm(world, index, deadline);
    while ((record_at(world->pool, index)->word & WORD_MOVED) == 0);
}

#endif
