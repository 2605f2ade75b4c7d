/*
 * pool/scene.h - a pool with something of everything in it, for tests that
 * break it in one place.
 */
#ifndef TESTS_POOL_SCENE_H
#define TESTS_POOL_SCENE_H

#include "pool/private.h"
#include "support/pool.h"

/* Set a field to a wrong value, and assert how the fault is described; see
 * ASSERT_SEEN_BY(). */
#define ASSERT_SEEN(object, field, wrong, ...) \
    ASSERT_SEEN_BY(pool, object, field, wrong, __VA_ARGS__)

enum { CROWD = 3 * CHUNK_ENTRIES + 14, READIES = 100, POPPED = 12 };

/*
 * On rings of 20, at 22: two timers in a slot of level 1, of which one fell; a
 * crowd in one of level 2; one there that has got a body; some that are ready,
 * some free places, one that is kept, and some that never come.
 */
struct scene {
    struct tkw_pool *pool;
    tkw_handle fallen, direct, crowd[CROWD], bodied;
    tkw_handle ready[READIES], fresh, kept, never[2];
};

static inline void set_scene(struct scene *scene)
{
    struct tkw_pool *pool = scene->pool = pool_of(&kafka, 0);
    struct tkw_pool_timer timer;
    scene->fallen = pool_arm(pool, 30, 0);
    tkw_pool_advance(pool, 22);
    scene->direct = pool_arm(pool, 30, 0);
    for (size_t i = 0; i < CROWD; i++)
        scene->crowd[i] = pool_arm(pool, 70, i);
    scene->bodied = pool_arm(pool, 150, 0);
    for (size_t i = 0; i < TAG_MAX + 5; i++)
        assert_int_equal(tkw_pool_rearm(pool, scene->bodied, 150), 1);
    for (size_t i = 0; i < READIES; i++)
        scene->ready[i] = pool_arm(pool, i % 22, i);
    tkw_pool_advance(pool, 22);
    scene->fresh = pool_arm(pool, 7, 0);
    for (size_t i = 0; i < 2; i++)
        scene->never[i] = pool_arm(pool, TKW_NEVER, i);
    for (size_t i = 0; i < POPPED; i++)
        assert_true(tkw_pool_pop(pool, &timer));
    assert_true(tkw_pool_pop_keep(pool, &timer));
    scene->kept = timer.handle;
    assert_int_equal(tkw_pool_cancel(pool, scene->crowd[5]), 1);
    assert_true(tkw_pool_check(pool));
}

static inline struct record *record_of(const struct scene *scene,
                                       tkw_handle handle)
{
    return record_at(scene->pool, (uint32_t)handle);
}

/* The slot of a level that a tick lies in. */
static inline struct slot *slot_at(const struct tkw_pool *pool, uint32_t level,
                                   tkw_tick tick)
{
    uint64_t number = tick / pool->dial.levels[level].tick;
    return &pool->slots[ring_slot(&pool->rings[level], number)];
}

#endif
