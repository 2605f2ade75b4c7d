/*
 * pool/open.c - opening and closing a pool, its statistics and its reserve.
 */
#include <tickwheel/pool.h>

#include <errno.h>

#include "ahead.h"
#include "base/allocator.h"
#include "payload.h"
#include "private.h"

static uint64_t occupancy_words(const struct tkw_dial *dial)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < dial->level_count; i++)
        words += bits_words(2 * dial->levels[i].size);
    return words;
}

_Static_assert(2 * (uint64_t)TKW_SLOTS_MAX + SHELVES <= UINT32_MAX,
               "slots and shelves can be numbered");

/* Allocate slots and occupancy as one piece.  Returns 0 or -ENOMEM. */
static int open_slots(struct tkw_pool *pool)
{
    uint64_t slots = 2 * (uint64_t)pool->dial.slot_count;
    uint64_t words = occupancy_words(&pool->dial);
    uint64_t bytes = slots * sizeof(struct slot) + words * sizeof(uint64_t);
    pool->arena_bytes = bytes <= SIZE_MAX ? (size_t)bytes : SIZE_MAX;
    pool->arena = tkw__allocate_zeroed(&pool->allocator, pool->arena_bytes);
    if (pool->arena == NULL)
        return -ENOMEM;
    pool->bytes += pool->arena_bytes;

    uint64_t *word = pool->arena;
    for (uint32_t i = 0; i < pool->dial.level_count; i++) {
        const struct tkw_level *level = &pool->dial.levels[i];
        struct ring *ring = &pool->rings[i];
        ring->size = 2 * level->size;
        ring->mask = level->size_mask ? ring->size - 1 : 0;
        ring->first = 2 * level->first;
        ring->occupancy = word;
        ring->falling = UINT64_MAX;
        tkw__ring_update(pool, i);
        word += bits_words(ring->size);
    }
    pool->slots = (struct slot *)(void *)word;
    pool->slot_count = (uint32_t)slots;
    return 0;
}

const char *tkw_pool_config_fault(const struct tkw_pool_config *config)
{
    if (config == NULL)
        return NULL;
    const char *fault = tkw__config_fault(config->reserved, config->allocator);
    if (fault != NULL)
        return fault;
    if (config->timers_max > TKW_POOL_TIMERS_MAX)
        return "timers_max is more than TKW_POOL_TIMERS_MAX";
    return tkw_geometry_fault(&config->geometry);
}

int tkw__pool_open_payload(struct tkw_pool **pool,
                           const struct tkw_pool_config *config,
                           const uint64_t *given_up)
{
    const struct tkw_allocator *allocator =
        config->allocator != NULL ? config->allocator : &tkw__allocator_plain;
    struct tkw_pool *made = tkw__allocate_zeroed(allocator, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    made->allocator = *allocator;
    made->bytes = sizeof *made;
    made->now = config->start;
    made->timers_max =
        config->timers_max != 0 ? config->timers_max : TKW_POOL_TIMERS_MAX;
    made->given_up = given_up;
    made->cell_bytes = given_up != NULL ? CELL_BYTES : sizeof(struct record);
    made->segments_max = given_up != NULL ? PAYLOAD_SEGMENTS : SEGMENTS;
    tkw_dial_init(&made->dial, &config->geometry, config->start, NULL);
    int error = open_slots(made);
    if (error == 0)
        error = tkw__pool_memory_open(made);
    if (error != 0) {
        tkw_pool_close(made);
        return error;
    }
    *pool = made;
    return 0;
}

int tkw_pool_open(struct tkw_pool **pool, const struct tkw_pool_config *config)
{
    static const struct tkw_pool_config plain;
    if (config == NULL)
        config = &plain;
    if (tkw_pool_config_fault(config) != NULL)
        return -EINVAL;
    return tkw__pool_open_payload(pool, config, NULL);
}

uint64_t tkw__pool_count_given_up(const struct tkw_pool *pool)
{
    return pool_given_up(pool);
}

char *const *tkw__pool_segments(const struct tkw_pool *pool)
{
    return pool->segments;
}

void tkw_pool_close(struct tkw_pool *pool)
{
    if (pool == NULL)
        return;
    tkw__pool_memory_close(pool);
    tkw__pool_release(pool, pool->arena, pool->arena_bytes);
    struct tkw_allocator allocator = pool->allocator;
    allocator.release(allocator.context, pool, sizeof *pool);
}

tkw_tick tkw_pool_now(const struct tkw_pool *pool)
{
    return pool->now;
}

size_t tkw_pool_count(const struct tkw_pool *pool)
{
    return pool_live(pool);
}

struct tkw_pool_stats tkw_pool_read_stats(const struct tkw_pool *pool)
{
    struct tkw_pool_stats stats = {
        .work = pool->stats,
        .entries = pool->entries,
        .dead = pool_dead(pool),
        .reads = pool->reads,
        .sweeps = pool->sweeps,
        .shares = pool->shares,
        .bytes = pool->bytes,
        .retired = pool->retired,
    };
    return stats;
}

const struct tkw_dial *tkw_pool_dial(const struct tkw_pool *pool)
{
    return &pool->dial;
}

int tkw__pool_reserve(struct tkw_pool *pool, size_t n, size_t records,
                      size_t steps)
{
    if (n > TKW_POOL_TIMERS_MAX)
        return -ENOMEM;
    if (n == 0)
        return 0;
    /* Add the gaps that queue_up() may leave when it joins queues. */
    size_t gaps = (size_t)(pool_places(pool) + n) / (TKW_JOIN_CHUNKS - 1) + 1;
    return tkw__pool_provide(pool, n + gaps, records, steps);
}

int tkw_pool_reserve(struct tkw_pool *pool, size_t n)
{
    return tkw__pool_reserve(pool, n, n,
                             POOL_RECLAIM_STEPS + n / CHUNK_ENTRIES);
}
