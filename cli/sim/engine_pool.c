/*
 * engine_pool.c - the pool as an engine: a handle for each timer.
 *
 * A film follows each armed timer from slot to slot.  tkw_pool_occupancy() only
 * counts, and counts entries of cancelled timers as well.  So this file reads
 * the slots itself, through the pool's private header.
 */
#include "engine.h"

#include <tickwheel/pool.h>

#include "pool/private.h"

#include <stdlib.h>
#include <string.h>

struct engine {
    struct tkw_pool *pool;
    tkw_handle *handles; /* by timer, of its last arming; 0: there was none */
    uint32_t timer_count;
};

static void close_pool(struct engine *engine)
{
    if (engine == NULL)
        return;
    tkw_pool_close(engine->pool);
    free(engine->handles);
    free(engine);
}

static struct engine *open_pool(const struct tkw_geometry *geometry,
                                tkw_tick start, uint32_t n)
{
    struct tkw_pool_config config = {.geometry = *geometry, .start = start};
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL)
        return NULL;
    engine->timer_count = n;
    engine->handles = malloc((n > 0 ? n : 1) * sizeof *engine->handles);
    if (engine->handles == NULL || tkw_pool_open(&engine->pool, &config) != 0) {
        close_pool(engine);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        engine->handles[i] = 0;
    return engine;
}

/* The pool knows by the handle whether the timer is still armed. */
static bool arm(struct engine *engine, uint32_t id, tkw_tick deadline)
{
    tkw_handle *handle = &engine->handles[id];
    if (*handle != 0) {
        int answer = tkw_pool_rearm(engine->pool, *handle, deadline);
        if (answer != 0)
            return answer > 0;
    }
    return tkw_pool_arm(engine->pool, handle, deadline,
                        (struct tkw_user){.word = id}) == 0;
}

static int postpone(struct engine *engine, uint32_t id, tkw_tick deadline)
{
    return tkw_pool_postpone(engine->pool, engine->handles[id], deadline);
}

static bool cancel(struct engine *engine, uint32_t id)
{
    return tkw_pool_cancel(engine->pool, engine->handles[id]);
}

static void advance(struct engine *engine, tkw_tick now)
{
    tkw_pool_advance(engine->pool, now);
}

static uint32_t pop_next(struct engine *engine, tkw_tick *deadline)
{
    struct tkw_pool_timer popped;
    if (!tkw_pool_pop(engine->pool, &popped))
        return ENGINE_NOWHERE;
    *deadline = popped.deadline;
    return (uint32_t)popped.user.word;
}

static tkw_tick next(const struct engine *engine)
{
    return tkw_pool_next(engine->pool);
}

static size_t count(const struct engine *engine)
{
    return tkw_pool_count(engine->pool);
}

static struct tkw_wheel_stats read_stats(const struct engine *engine)
{
    return tkw_pool_read_stats(engine->pool).work;
}

/* A program keeps a handle for each timer that is armed. */
static size_t bytes(const struct engine *engine)
{
    return (size_t)tkw_pool_read_stats(engine->pool).bytes +
           tkw_pool_count(engine->pool) * sizeof(tkw_handle);
}

static const struct tkw_dial *dial(const struct engine *engine)
{
    return tkw_pool_dial(engine->pool);
}

static void count_stream(const struct engine *engine,
                         const struct stream *stream, uint32_t place,
                         struct engine_census *census)
{
    if (stream_is_empty(stream))
        return;
    struct chunk *chunk = stream_head(stream);
    for (; chunk != NULL; chunk = chunk_next(stream, chunk)) {
        const uint64_t *end = chunk_end(stream, chunk);
        const uint64_t *entry = chunk_begin(stream, chunk);
        for (; entry < end; entry++) {
            const struct record *timer = entry_timer(engine->pool, *entry);
            if (timer == NULL)
                continue; /* dead */
            census->slots[place]++;
            if (census->places != NULL)
                census->places[timer->user.word] = place;
        }
    }
}

static void take_census(const struct engine *engine,
                        struct engine_census *census)
{
    const struct tkw_pool *pool = engine->pool;
    memset(census->slots, 0, pool->dial.slot_count * sizeof *census->slots);
    for (uint32_t i = 0; i < engine->timer_count && census->places; i++)
        census->places[i] = ENGINE_NOWHERE;

    for (uint32_t i = 0; i < pool->dial.level_count; i++) {
        const struct tkw_level *level = &pool->dial.levels[i];
        const struct ring *ring = &pool->rings[i];
        /* The ring goes round in two turns of the level. */
        for (uint32_t j = 0; j < ring->size; j++) {
            const struct slot *slot = &pool->slots[ring->first + j];
            uint32_t place = level->first + j % level->size;
            for (unsigned k = 0; k < STREAMS; k++)
                count_stream(engine, &slot->streams[k], place, census);
        }
    }
}

static bool find_fault(const struct engine *engine, struct tkw_fault *fault)
{
    return tkw_pool_find_fault(engine->pool, fault);
}

const struct engine_kind engine_pool = {
    .name = "pool",
    .open = open_pool,
    .close = close_pool,
    .arm = arm,
    .postpone = postpone,
    .cancel = cancel,
    .advance = advance,
    .pop = pop_next,
    .next = next,
    .count = count,
    .read_stats = read_stats,
    .bytes = bytes,
    .dial = dial,
    .take_census = take_census,
    .find_fault = find_fault,
};
