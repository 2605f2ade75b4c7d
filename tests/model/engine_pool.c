/*
 * engine_pool.c - tickwheel/pool.h as an engine of the model test.
 *
 * The model's timers are numbers that stay; the pool's are handles that come
 * and go.  What the model cannot see is demanded on the way: that handles
 * answer as they should, see engine_pool_handles.h; that nothing changes when
 * there is no memory, and that all of it is given back.
 */
#include "engine_common.h"

#include <errno.h>
#include <stdlib.h>

#include "engine_pool_handles.h"

static int open_pool(struct pool_engine *self, const struct world *world)
{
    struct tkw_pool_config config = {.geometry = world->geometry,
                                     .start = world->start,
                                     .allocator = &self->memory.allocator};

    self->memory.mode = self->is_oom ? MEMORY_SCARCE : MEMORY_PLENTY;
    int error = tkw_pool_open(&self->pool, &config);
    if (error == -ENOMEM && self->is_oom) {
        DEMAND(self->pool == NULL && self->memory.blocks == 0);
        self->memory.mode = MEMORY_PLENTY;
        error = tkw_pool_open(&self->pool, &config);
    }
    self->memory.mode = MEMORY_FORBIDDEN;
    return error;
}

static void *make_with(const struct world *world, bool is_oom)
{
    struct pool_engine *self =
        calloc(1, sizeof *self + world->timer_count * sizeof self->timers[0]);
    if (self == NULL)
        return NULL;

    self->timer_count = world->timer_count;
    self->is_oom = is_oom;
    memory_init(&self->memory, world->seed);
    if (open_pool(self, world) != 0) {
        free(self);
        return NULL;
    }
    return self;
}

static void *make(const struct world *world)
{
    return make_with(world, false);
}

static void *make_oom(const struct world *world)
{
    return make_with(world, true);
}

static void unmake(void *engine)
{
    struct pool_engine *self = engine;

    tkw_pool_close(self->pool);
    DEMAND(self->memory.blocks == 0 && self->memory.bytes == 0);
    free(self);
}

static bool is_armed(void *engine, uint64_t id)
{
    struct pool_engine *self = engine;
    enum tkw_state state = pooled_query(self, id);

    /* Armed or not is for the judge to say. */
    if (!pooled_fits(FATE_ARMED, state))
        DEMAND(self->timers[id].fate == FATE_ARMED ||
               pooled_fits(self->timers[id].fate, state));
    return pooled_fits(FATE_ARMED, state);
}

/* One arming, under the handle there is or a new one.  0 or -ENOMEM. */
static int try_arm(struct pool_engine *self, uint64_t id, tkw_tick deadline)
{
    struct pooled *timer = &self->timers[id];
    struct tkw_user user = {.pointer = timer, .word = id};
    tkw_handle handle = 0;

    if (pooled_is_held(timer)) {
        int result = tkw_pool_rearm(self->pool, timer->handle, deadline);

        DEMAND(result == 1 || result == -ENOMEM);
        return result == 1 ? 0 : result;
    }
    int error = tkw_pool_arm(self->pool, &handle, deadline, user);
    DEMAND((error == 0 && handle != 0) || (error == -ENOMEM && handle == 0));
    if (error == 0) {
        timer->older = timer->handle;
        timer->handle = handle;
    }
    return error;
}

static int try_postpone(struct pool_engine *self, uint64_t id,
                        tkw_tick deadline)
{
    int result =
        tkw_pool_postpone(self->pool, self->timers[id].handle, deadline);

    DEMAND(result == 1 || result == -ENOMEM);
    return result == 1 ? 0 : result;
}

/* With too little memory at first; then no timer may have changed. */
static void insist(struct pool_engine *self, uint64_t id, tkw_tick deadline,
                   int (*try)(struct pool_engine *, uint64_t, tkw_tick))
{
    struct memory *memory = &self->memory;
    uint64_t failures = memory->failures;

    if (self->is_oom) {
        struct pooled_view view = pooled_view_of(self);
        bool is_reserved = self->reserved > 0;

        self->reserved -= is_reserved;
        memory->mode = is_reserved ? MEMORY_NONE : MEMORY_SCARCE;
        int error = try(self, id, deadline);
        memory->mode = MEMORY_FORBIDDEN;
        if (error == 0)
            return;
        DEMAND(!is_reserved);
        DEMAND(memory->failures > failures);
        pooled_verify_refused(self, view);
        DEMAND(pooled_fits(self->timers[id].fate, pooled_query(self, id)));
        pooled_verify_sound(self);
    }
    memory->mode = MEMORY_PLENTY;
    DEMAND(try(self, id, deadline) == 0);
    memory->mode = MEMORY_FORBIDDEN;
}

/* Now and then the next few armings must do without any memory. */
static void reserve(struct pool_engine *self)
{
    struct pooled_view view = pooled_view_of(self);
    size_t n = 1 + self->arms / 32 % 8;

    self->memory.mode = MEMORY_SCARCE;
    int error = tkw_pool_reserve(self->pool, n);
    self->memory.mode = MEMORY_FORBIDDEN;
    DEMAND(error == 0 || error == -ENOMEM);
    pooled_verify_refused(self, view);
    if (error == 0)
        self->reserved = n;
}

static bool cancel(void *engine, uint64_t id)
{
    struct pool_engine *self = engine;
    struct pooled *timer = &self->timers[id];
    bool was_armed = tkw_pool_cancel(self->pool, timer->handle);

    if (was_armed)
        pooled_end(self, id, FATE_CANCELLED);
    else if (timer->fate == FATE_KEPT)
        pooled_end(self, id, FATE_RELEASED);
    return was_armed;
}

static void arm(void *engine, uint64_t id, tkw_tick deadline)
{
    struct pool_engine *self = engine;
    struct pooled *timer = &self->timers[id];

    self->arms++;
    if (timer->fate == FATE_KEPT && self->arms % 4 == 0)
        cancel(self, id);
    if (self->is_oom && self->arms % 32 == 0)
        reserve(self);
    insist(self, id, deadline, try_arm);
    timer->fate = FATE_ARMED;
    timer->deadline = deadline;
}

static bool postpone(void *engine, uint64_t id, tkw_tick deadline)
{
    struct pool_engine *self = engine;
    struct pooled *timer = &self->timers[id];

    if (timer->fate != FATE_ARMED)
        return tkw_pool_postpone(self->pool, timer->handle, deadline) != 0;

    /* In an unfinished tick those of that tick may be in line already. */
    tkw_tick tick = tkw_pool_now(self->pool) + self->is_unfinished;
    bool is_lazy = pooled_query(self, id) == TKW_PENDING &&
                   timer->deadline > tick && deadline > timer->deadline;
    uint64_t requests = self->memory.requests;
    insist(self, id, deadline, try_postpone);
    DEMAND(!is_lazy || self->memory.requests == requests);
    timer->deadline = deadline;
    return true;
}

static bool advance(void *engine, tkw_tick to, size_t budget)
{
    struct pool_engine *self = engine;

    self->is_unfinished = false;
    if (budget != NO_BUDGET)
        self->is_unfinished = !tkw_pool_advance_some(self->pool, to, budget);
    else
        tkw_pool_advance(self->pool, to);
    return !self->is_unfinished;
}

/* The number of a timer that was handed out. */
static uint64_t take(struct pool_engine *self,
                     const struct tkw_pool_timer *popped, enum fate fate)
{
    pooled_verify_shot(self, popped);
    pooled_end(self, popped->user.word, fate);
    return popped->user.word;
}

/* By turns, in all the ways there are. */
static uint64_t pop(void *engine)
{
    struct pool_engine *self = engine;
    struct tkw_pool_timer popped;
    bool is_popped = false;
    enum fate fate = FATE_DONE;

    switch (self->pops++ % 3) {
    case 0:
        is_popped = tkw_pool_pop(self->pool, &popped);
        break;
    case 1:
        is_popped = tkw_pool_pop_keep(self->pool, &popped);
        fate = FATE_KEPT;
        break;
    default:
        is_popped = tkw_pool_pop_many(self->pool, &popped, 1) == 1;
        break;
    }
    return is_popped ? take(self, &popped, fate) : NO_TIMER;
}

static uint64_t pop_due(void *engine)
{
    struct pool_engine *self = engine;
    struct tkw_pool_timer popped;

    if (tkw_pool_pop_due(self->pool, &popped, 1) == 0)
        return NO_TIMER;
    return take(self, &popped, FATE_DONE);
}

static uint64_t drain(void *engine)
{
    struct pool_engine *self = engine;
    struct tkw_pool_timer popped;

    if (!tkw_pool_drain(self->pool, &popped))
        return NO_TIMER;
    return take(self, &popped, FATE_DONE);
}

static tkw_tick next(void *engine)
{
    struct pool_engine *self = engine;

    return tkw_pool_next(self->pool);
}

static tkw_tick now(void *engine)
{
    struct pool_engine *self = engine;

    return tkw_pool_now(self->pool);
}

static size_t count(void *engine)
{
    struct pool_engine *self = engine;

    return tkw_pool_count(self->pool);
}

static bool find_fault(void *engine, struct tkw_fault *fault)
{
    struct pool_engine *self = engine;

    return tkw_pool_find_fault(self->pool, fault);
}

static struct work work(void *engine)
{
    struct pool_engine *self = engine;
    struct tkw_pool_stats counters = tkw_pool_read_stats(self->pool);
    struct work work = common_work(&counters.work);

    DEMAND(counters.dead <= counters.entries);
    DEMAND(counters.bytes == self->memory.bytes);
    DEMAND(counters.retired == 0); /* 2^32 generations take longer */
    work.entries = counters.entries;
    work.dead = counters.dead;
    return work;
}

static uint32_t level_count(void *engine)
{
    struct pool_engine *self = engine;

    return tkw_pool_dial(self->pool)->level_count;
}

static uint32_t slot_count(void *engine)
{
    struct pool_engine *self = engine;

    return tkw_pool_dial(self->pool)->slot_count;
}

static size_t walk(void *engine, uint64_t divisor, uint64_t *ids)
{
    struct pool_engine *self = engine;
    struct tkw_pool_cursor state = {0};
    size_t visited = 0;

    for (struct tkw_pool_timer popped;
         visited <= self->timer_count &&
         tkw_pool_walk(self->pool, &state, &popped);) {
        pooled_verify_shot(self, &popped);
        ids[visited] = popped.user.word;
        if (divisor != 0 && ids[visited] % divisor == 0)
            cancel(self, ids[visited]);
        visited++;
    }
    return visited;
}

/* All but the name, the slack, the memory and the text. */
#define POOL                                                                  \
    .free = unmake, .arm = arm, .postpone = postpone, .cancel = cancel,       \
    .is_armed = is_armed, .advance = advance, .pop = pop, .pop_due = pop_due, \
    .drain = drain, .next = next, .now = now, .count = count,                 \
    .find_fault = find_fault, .work = work, .level_count = level_count,       \
    .slot_count = slot_count, .walk = walk

const struct engine engine_pool = {
    .name = "pool",
    .dead_slack = 8192,
    .make = make,
    .text = &engine_pool_text,
    POOL,
};

const struct engine engine_pool_oom = {
    .name = "pool-oom",
    .dead_slack = 8192,
    .make = make_oom,
    .text = &engine_pool_oom_text,
    POOL,
};

const struct engine engine_pool_tiny = {
    .name = "pool-tiny",
    .dead_slack = 64,
    .make = make,
    .text = &engine_pool_text,
    POOL,
};

const struct engine engine_pool_tiny_oom = {
    .name = "pool-tiny-oom",
    .dead_slack = 64,
    .make = make_oom,
    .text = &engine_pool_oom_text,
    POOL,
};
