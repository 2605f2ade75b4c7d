/*
 * engine_broken.c - an engine with a bug each: who tests the test?
 *
 * Each is the wheel or the pool behind a small lie, so that the model test must
 * fail on it, and must come down to a handful of operations.
 */
#include "engine.h"

#include <stdlib.h>

struct broken {
    const struct engine *sound; /* what is behind the lie ... */
    void *inner;                /* ... and an instance of it */
    uint64_t held;  /* order: popped, but handed out one place later */
    uint64_t freed; /* stale: cancelled last, its place to be used again */
    uint64_t lies;
    bool is_faulty; /* check: an invariant is broken */
    uint64_t timer_count;
    struct {
        tkw_tick deadline;
        bool was_cancelled;
        uint64_t heir; /* stale: the timer that has its place, plus 1 */
    } timers[];
};

static void *make_on(const struct engine *sound, const struct world *world)
{
    struct broken *self =
        calloc(1, sizeof *self + world->timer_count * sizeof self->timers[0]);
    if (self == NULL)
        return NULL;

    self->sound = sound;
    self->held = NO_TIMER;
    self->freed = NO_TIMER;
    self->timer_count = world->timer_count;
    self->inner = sound->make(world);
    if (self->inner == NULL) {
        free(self);
        return NULL;
    }
    return self;
}

static void *make(const struct world *world)
{
    return make_on(&engine_wheel, world);
}

static void *make_pool(const struct world *world)
{
    return make_on(&engine_pool, world);
}

static void unmake(void *engine)
{
    struct broken *self = engine;

    self->sound->free(self->inner);
    free(self);
}

/* The honest part. */

static void arm(void *engine, uint64_t id, tkw_tick deadline)
{
    struct broken *self = engine;

    if (self->held == id)
        self->held = NO_TIMER;
    self->timers[id].deadline = deadline;
    self->sound->arm(self->inner, id, deadline);
}

static bool postpone(void *engine, uint64_t id, tkw_tick deadline)
{
    struct broken *self = engine;

    if (self->held == id) {
        arm(self, id, deadline);
        return true;
    }
    self->timers[id].deadline = deadline;
    return self->sound->postpone(self->inner, id, deadline);
}

static bool cancel(void *engine, uint64_t id)
{
    struct broken *self = engine;

    if (self->held == id) {
        self->held = NO_TIMER;
        return true;
    }
    self->timers[id].was_cancelled = true;
    return self->sound->cancel(self->inner, id);
}

static bool is_armed(void *engine, uint64_t id)
{
    struct broken *self = engine;

    return self->held == id || self->sound->is_armed(self->inner, id);
}

static bool advance(void *engine, tkw_tick to, size_t budget)
{
    struct broken *self = engine;

    return self->sound->advance(self->inner, to, budget);
}

static uint64_t pop(void *engine)
{
    struct broken *self = engine;

    return self->sound->pop(self->inner);
}

static uint64_t drain(void *engine)
{
    struct broken *self = engine;

    if (self->held != NO_TIMER) {
        uint64_t id = self->held;
        self->held = NO_TIMER;
        return id;
    }
    return self->sound->drain(self->inner);
}

static tkw_tick now(void *engine)
{
    struct broken *self = engine;

    return self->sound->now(self->inner);
}

static tkw_tick next(void *engine)
{
    struct broken *self = engine;

    return self->held != NO_TIMER ? now(self) : self->sound->next(self->inner);
}

static size_t count(void *engine)
{
    struct broken *self = engine;

    return self->sound->count(self->inner) + (self->held != NO_TIMER);
}

static bool find_fault(void *engine, struct tkw_fault *fault)
{
    struct broken *self = engine;

    if (!self->is_faulty)
        return self->sound->find_fault(self->inner, fault);
    *fault = (struct tkw_fault){
        .what = "planted number", .level = 2, .slot = 17, .found = 3};
    return true;
}

static struct work work(void *engine)
{
    struct broken *self = engine;

    return self->sound->work(self->inner);
}

static uint32_t level_count(void *engine)
{
    struct broken *self = engine;

    return self->sound->level_count(self->inner);
}

static uint32_t slot_count(void *engine)
{
    struct broken *self = engine;

    return self->sound->slot_count(self->inner);
}

static size_t walk(void *engine, uint64_t divisor, uint64_t *ids)
{
    struct broken *self = engine;
    size_t visited = self->sound->walk(self->inner, divisor, ids);

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
        first = self->sound->pop(self->inner);
    if (first == NO_TIMER)
        return NO_TIMER;

    uint64_t second = self->sound->pop(self->inner);
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

/* A timer takes the place of the one that was cancelled last ... */
static void arm_reusing(void *engine, uint64_t id, tkw_tick deadline)
{
    struct broken *self = engine;

    if (self->freed != NO_TIMER && !is_armed(engine, id))
        self->timers[self->freed].heir = id + 1;
    self->freed = NO_TIMER;
    self->timers[id].heir = 0;
    arm(engine, id, deadline);
}

/* ... and can be cancelled under its name. */
static bool cancel_stale(void *engine, uint64_t id)
{
    struct broken *self = engine;

    if (self->timers[id].heir != 0 && !is_armed(engine, id)) {
        cancel(engine, self->timers[id].heir - 1);
        return false;
    }
    bool is_cancelled = cancel(engine, id);
    if (is_cancelled)
        self->freed = id;
    return is_cancelled;
}

/* An invariant is broken by arming. */
static void arm_breaking(void *engine, uint64_t id, tkw_tick deadline)
{
    struct broken *self = engine;

    self->is_faulty = true;
    arm(engine, id, deadline);
}

/* All that no lie replaces. */
#define HONEST                                                            \
    .free = unmake, .postpone = postpone, .is_armed = is_armed,           \
    .drain = drain, .now = now, .count = count, .find_fault = find_fault, \
    .level_count = level_count, .slot_count = slot_count, .walk = walk

#define ENGINE(name_, arm_, cancel_, advance_, pop_, next_, work_) \
    {                                                              \
        .name = (name_), .arm = (arm_), .cancel = (cancel_),       \
        .advance = (advance_), .pop = (pop_), .next = (next_),     \
        .work = (work_), .is_exact = true, .make = make,           \
        .text = &engine_wheel_text, HONEST                         \
    }

#define POOL(name_, arm_, cancel_, pop_)                                   \
    {                                                                      \
        .name = (name_), .arm = (arm_), .cancel = (cancel_),               \
        .advance = advance, .pop = (pop_), .next = next, .work = work,     \
        .dead_slack = 16384, .make = make_pool, .text = &engine_pool_text, \
        HONEST                                                             \
    }

static const struct engine engines[] = {
    ENGINE("broken-order", arm, cancel, advance, pop_swapped, next, work),
    ENGINE("broken-early", arm_early, cancel, advance, pop, next, work),
    ENGINE("broken-rearm", arm_once, cancel, advance, pop, next, work),
    ENGINE("broken-next", arm, cancel, advance, pop, next_late, work),
    ENGINE("broken-advance", arm, cancel, advance_short, pop, next, work),
    ENGINE("broken-work", arm, cancel, advance, pop, next, work_more),
    ENGINE("broken-check", arm_breaking, cancel, advance, pop, next, work),
    ENGINE("broken-crash", arm, cancel, advance, pop_crashing, next, work),
    ENGINE("broken-hang", arm, cancel_hanging, advance, pop, next, work),
    POOL("broken-pool-order", arm, cancel, pop_swapped),
    POOL("broken-pool-stale", arm_reusing, cancel_stale, pop),
};

const struct engine *engine_broken(size_t index)
{
    return index < sizeof engines / sizeof engines[0] ? &engines[index] : NULL;
}
