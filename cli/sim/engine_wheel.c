/*
 * engine_wheel.c - the wheel as an engine: its timers lie side by side.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

struct engine {
    struct tkw_wheel *wheel;
    size_t wheel_bytes;
    struct tkw_timer *timers;
    uint32_t timer_count;
};

static void wheel_close(struct engine *engine)
{
    if (engine == NULL)
        return;
    free(engine->timers);
    free(engine->wheel);
    free(engine);
}

static bool make_wheel(struct engine *engine,
                       const struct tkw_geometry *geometry, tkw_tick start)
{
    engine->wheel_bytes = tkw_wheel_bytes(geometry);
    if (engine->wheel_bytes == 0)
        return false;
    engine->wheel = malloc(engine->wheel_bytes);
    return engine->wheel != NULL &&
           tkw_wheel_init(engine->wheel, engine->wheel_bytes, geometry,
                          start) == 0;
}

static bool make_timers(struct engine *engine, uint32_t n)
{
    engine->timer_count = n;
    engine->timers = calloc(n > 0 ? n : 1, sizeof *engine->timers);
    if (engine->timers == NULL)
        return false;
    /* Touch the memory now, or the kernel's work would count as ours. */
    for (uint32_t i = 0; i < n; i++)
        engine->timers[i].deadline = TKW_NEVER;
    return true;
}

static struct engine *wheel_open(const struct tkw_geometry *geometry,
                                 tkw_tick start, uint32_t n)
{
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL)
        return NULL;
    if (!make_wheel(engine, geometry, start) || !make_timers(engine, n)) {
        wheel_close(engine);
        return NULL;
    }
    return engine;
}

static bool wheel_arm(struct engine *engine, uint32_t id, tkw_tick deadline)
{
    tkw_wheel_arm(engine->wheel, &engine->timers[id], deadline);
    return true;
}

static int wheel_postpone(struct engine *engine, uint32_t id, tkw_tick deadline)
{
    return tkw_wheel_postpone(engine->wheel, &engine->timers[id], deadline);
}

static bool wheel_cancel(struct engine *engine, uint32_t id)
{
    return tkw_wheel_cancel(engine->wheel, &engine->timers[id]);
}

static void wheel_advance(struct engine *engine, tkw_tick now)
{
    tkw_wheel_advance(engine->wheel, now);
}

static uint32_t wheel_pop(struct engine *engine, tkw_tick *deadline)
{
    struct tkw_timer *timer = tkw_wheel_pop(engine->wheel);
    if (timer == NULL)
        return ENGINE_NOWHERE;
    *deadline = timer->deadline;
    return (uint32_t)(timer - engine->timers);
}

static tkw_tick wheel_next(const struct engine *engine)
{
    return tkw_wheel_next(engine->wheel);
}

static size_t wheel_count(const struct engine *engine)
{
    return tkw_wheel_count(engine->wheel);
}

static struct tkw_wheel_stats wheel_stats(const struct engine *engine)
{
    return tkw_wheel_read_stats(engine->wheel);
}

/* A program has timers where it has objects: those that are idle would not be
 * there. */
static size_t wheel_bytes(const struct engine *engine)
{
    return engine->wheel_bytes +
           tkw_wheel_count(engine->wheel) * sizeof(struct tkw_timer);
}

static const struct tkw_dial *wheel_dial(const struct engine *engine)
{
    return tkw_wheel_dial(engine->wheel);
}

static void wheel_take_census(const struct engine *engine,
                              struct engine_census *census)
{
    const struct tkw_dial *dial = tkw_wheel_dial(engine->wheel);
    memset(census->slots, 0, dial->slot_count * sizeof *census->slots);
    for (uint32_t i = 0; i < engine->timer_count && census->places; i++)
        census->places[i] = ENGINE_NOWHERE;

    struct tkw_wheel_cursor walk = {0};
    for (struct tkw_timer *t;
         (t = tkw_wheel_walk(engine->wheel, &walk)) != NULL;) {
        if (walk.level == 0)
            continue;
        uint32_t place = dial->levels[walk.level - 1].first + walk.slot;
        census->slots[place]++;
        if (census->places != NULL)
            census->places[t - engine->timers] = place;
    }
}

static bool wheel_find_fault(const struct engine *engine,
                             struct tkw_fault *fault)
{
    return tkw_wheel_find_fault(engine->wheel, fault);
}

const struct engine_kind engine_wheel = {
    .name = "wheel",
    .open = wheel_open,
    .close = wheel_close,
    .arm = wheel_arm,
    .postpone = wheel_postpone,
    .cancel = wheel_cancel,
    .advance = wheel_advance,
    .pop = wheel_pop,
    .next = wheel_next,
    .count = wheel_count,
    .read_stats = wheel_stats,
    .bytes = wheel_bytes,
    .dial = wheel_dial,
    .take_census = wheel_take_census,
    .find_fault = wheel_find_fault,
};
