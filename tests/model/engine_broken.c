/*
 * engine_broken.c - the wheel with a bug each: who tests the test?
 *
 * Each is the wheel behind a small lie, so that the model test must fail on
 * it, and must come down to a handful of operations.
 */
#include "engine.h"

#include <stdlib.h>

struct broken {
    void *wheel;
    uint64_t held; /* order: popped, but handed out one place later */
    uint64_t lies;
    uint64_t timer_count;
    struct {
        tkw_tick deadline;
        bool was_cancelled;
    } timers[];
};

static void *make(const struct world *world)
{
    struct broken *self =
        calloc(1, sizeof *self + world->timer_count * sizeof self->timers[0]);
    if (self == NULL)
        return NULL;

    self->held = NO_TIMER;
    self->timer_count = world->timer_count;
    self->wheel = engine_wheel.make(world);
    if (self->wheel == NULL) {
        free(self);
        return NULL;
    }
    return self;
}

static void unmake(void *engine)
{
    struct broken *self = engine;

    engine_wheel.free(self->wheel);
    free(self);
}

/* The honest part. */

static void arm(void *engine, uint64_t id, tkw_tick deadline)
{
    struct broken *self = engine;

    if (self->held == id)
        self->held = NO_TIMER;
    self->timers[id].deadline = deadline;
    engine_wheel.arm(self->wheel, id, deadline);
}

static bool postpone(void *engine, uint64_t id, tkw_tick deadline)
{
    struct broken *self = engine;

    if (self->held == id) {
        arm(self, id, deadline);
        return true;
    }
    self->timers[id].deadline = deadline;
    return engine_wheel.postpone(self->wheel, id, deadline);
}

static bool cancel(void *engine, uint64_t id)
{
    struct broken *self = engine;

    if (self->held == id) {
        self->held = NO_TIMER;
        return true;
    }
    self->timers[id].was_cancelled = true;
    return engine_wheel.cancel(self->wheel, id);
}

static bool is_armed(void *engine, uint64_t id)
{
    struct broken *self = engine;

    return self->held == id || engine_wheel.is_armed(self->wheel, id);
}

static bool advance(void *engine, tkw_tick to, size_t budget)
{
    struct broken *self = engine;

    return engine_wheel.advance(self->wheel, to, budget);
}

static uint64_t pop(void *engine)
{
    struct broken *self = engine;

    return engine_wheel.pop(self->wheel);
}

static uint64_t drain(void *engine)
{
    struct broken *self = engine;

    if (self->held != NO_TIMER) {
        uint64_t id = self->held;
        self->held = NO_TIMER;
        return id;
    }
    return engine_wheel.drain(self->wheel);
}

static tkw_tick now(void *engine)
{
    struct broken *self = engine;

    return engine_wheel.now(self->wheel);
}

static tkw_tick next(void *engine)
{
    struct broken *self = engine;

    return self->held != NO_TIMER ? now(self) : engine_wheel.next(self->wheel);
}

static size_t count(void *engine)
{
    struct broken *self = engine;

    return engine_wheel.count(self->wheel) + (self->held != NO_TIMER);
}

static bool check(void *engine)
{
    struct broken *self = engine;

    return engine_wheel.check(self->wheel);
}

static struct work work(void *engine)
{
    struct broken *self = engine;

    return engine_wheel.work(self->wheel);
}

static uint32_t level_count(void *engine)
{
    struct broken *self = engine;

    return engine_wheel.level_count(self->wheel);
}

static uint32_t slot_count(void *engine)
{
    struct broken *self = engine;

    return engine_wheel.slot_count(self->wheel);
}

static size_t walk(void *engine, uint64_t divisor, uint64_t *ids)
{
    struct broken *self = engine;
    size_t visited = engine_wheel.walk(self->wheel, divisor, ids);

    if (self->held != NO_TIMER) {
        ids[visited++] = self->held;
        if (divisor != 0 && self->held % divisor == 0)
            self->held = NO_TIMER;
    }
    return visited;
}

/* The lies. */

/* Of two equals, the second comes first. */
static uint64_t pop_swapped(void *engine)
{
    struct broken *self = engine;
    uint64_t first = self->held;

    self->held = NO_TIMER;
    if (first == NO_TIMER)
        first = engine_wheel.pop(self->wheel);
    if (first == NO_TIMER)
        return NO_TIMER;

    uint64_t second = engine_wheel.pop(self->wheel);
    if (second == NO_TIMER)
        return first;
    bool is_equal =
        self->timers[first].deadline == self->timers[second].deadline;
    self->held = is_equal ? first : second;
    return is_equal ? second : first;
}

static void arm_early(void *engine, uint64_t id, tkw_tick deadline)
{
    arm(engine, id, deadline > 0 && deadline != TKW_NEVER ? deadline - 1 : 0);
}

/* Cancelled once, it is never armed again. */
static void arm_once(void *engine, uint64_t id, tkw_tick deadline)
{
    struct broken *self = engine;

    if (!self->timers[id].was_cancelled)
        arm(engine, id, deadline);
}

static tkw_tick next_late(void *engine)
{
    struct broken *self = engine;
    tkw_tick tick = next(engine);

    return tick > now(self) && tick < TKW_NEVER - 1 ? tick + 1 : tick;
}

/* An advance that forgets the last tick of its way. */
static bool advance_short(void *engine, tkw_tick to, size_t budget)
{
    return advance(engine, to > now(engine) ? to - 1 : to, budget);
}

static struct work work_more(void *engine)
{
    struct broken *self = engine;
    struct work more = work(engine);

    more.visits += ++self->lies;
    return more;
}

static uint64_t pop_crashing(void *engine)
{
    struct broken *self = engine;

    if (++self->lies == 3)
        abort();
    return pop(engine);
}

static bool cancel_hanging(void *engine, uint64_t id)
{
    struct broken *self = engine;
    bool is_cancelled = cancel(engine, id);
    volatile uint64_t *lies = &self->lies;

    while (is_cancelled && *lies < UINT64_MAX)
        *lies += 1;
    return is_cancelled;
}

/* All that no lie replaces. */
#define HONEST                                                            \
    .is_exact = true, .make = make, .free = unmake, .postpone = postpone, \
    .is_armed = is_armed, .drain = drain, .now = now, .count = count,     \
    .check = check, .level_count = level_count, .slot_count = slot_count, \
    .walk = walk, .text = &engine_wheel_text

#define ENGINE(name_, arm_, cancel_, advance_, pop_, next_, work_) \
    {                                                              \
        .name = (name_), .arm = (arm_), .cancel = (cancel_),       \
        .advance = (advance_), .pop = (pop_), .next = (next_),     \
        .work = (work_), HONEST                                    \
    }

static const struct engine engines[] = {
    ENGINE("broken-order", arm, cancel, advance, pop_swapped, next, work),
    ENGINE("broken-early", arm_early, cancel, advance, pop, next, work),
    ENGINE("broken-rearm", arm_once, cancel, advance, pop, next, work),
    ENGINE("broken-next", arm, cancel, advance, pop, next_late, work),
    ENGINE("broken-advance", arm, cancel, advance_short, pop, next, work),
    ENGINE("broken-work", arm, cancel, advance, pop, next, work_more),
    ENGINE("broken-crash", arm, cancel, advance, pop_crashing, next, work),
    ENGINE("broken-hang", arm, cancel_hanging, advance, pop, next, work),
};

const struct engine *engine_broken(size_t index)
{
    return index < sizeof engines / sizeof engines[0] ? &engines[index] : NULL;
}
