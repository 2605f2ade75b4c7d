/*
 * engine_payload.c - src/pool/payload.h as an engine of the model test.
 *
 * Timers are taken, armed and freed.  Cancelling gives up most of them, as
 * another thread would: the pool finds them later.  So the engine subtracts
 * them from the pool's counts.  Its allocator fails one time in eight.
 */
#include "engine_common.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine_pool_handles.h"
#include "pool/ahead.h"
#include "pool/payload.h"

/* What the engine did last with a timer of the model. */
enum ownership { OWN_NONE, OWN_ARMED, OWN_TAKEN, OWN_GIVEN_UP };

struct owned {
    uint32_t index;
    tkw_handle handle; /* 0: never taken */
    tkw_tick deadline;
    enum ownership ownership;
};

struct payload_engine {
    struct tkw_pool *pool;
    struct memory memory;
    uint64_t given_up; /* the pool reads it */
    unsigned segment_bits;
    bool is_unfinished; /* the last advance returned false */
    size_t reserved;    /* armings that cannot fail */
    uint32_t arms;
    uint32_t pops;
    uint32_t cancels;
    uint64_t drained;
    uint64_t fired_given_up; /* popped although given up, then freed */
    size_t drain_at;
    bool *was_taken; /* of each index below `was_taken_count` */
    size_t was_taken_count;
    size_t timer_count;
    struct owned timers[];
};

/* The words of a payload.  The pool reads the first one only. */
enum { WORD_OF_POOL, WORD_OF_ID, WORD_OF_CHECK, WORD_UNUSED, PAYLOAD_WORDS };

static struct record *record_of(const struct payload_engine *self,
                                uint32_t index)
{
    char *segment = tkw__pool_segments(self->pool)[index >> self->segment_bits];
    size_t at = index & ((UINT32_C(1) << self->segment_bits) - 1);
    char *cell = segment + at * CELL_BYTES;

    DEMAND((uintptr_t)cell % CELL_BYTES == 0);
    return (struct record *)(void *)cell;
}

static uint64_t *payload_of(const struct payload_engine *self, uint32_t index)
{
    return (uint64_t *)(void *)(record_of(self, index) + 1);
}

/* Return the model's number of a record that is taken or armed. */
static uint64_t id_of(const struct payload_engine *self, uint32_t index)
{
    const uint64_t *payload = payload_of(self, index);

    DEMAND(payload[WORD_OF_ID] < self->timer_count);
    DEMAND(payload[WORD_OF_CHECK] == ~payload[WORD_OF_ID]);
    DEMAND(record_of(self, index)->user.word == payload[WORD_OF_ID]);
    return payload[WORD_OF_ID];
}

static bool is_given_up(const struct payload_engine *self, uint32_t index)
{
    return payload_of(self, index)[WORD_OF_POOL] & PAYLOAD_GIVEN_UP;
}

static void verify_sound(const struct payload_engine *self)
{
    DEMAND(tkw_pool_check(self->pool));
}

static size_t count(void *engine)
{
    struct payload_engine *self = engine;
    uint64_t unseen = tkw__pool_count_given_up(self->pool);

    DEMAND(unseen <= tkw_pool_count(self->pool));
    return tkw_pool_count(self->pool) - (size_t)unseen;
}

static int open_pool(struct payload_engine *self, const struct world *world)
{
    struct tkw_pool_config config = {.geometry = world->geometry,
                                     .start = world->start,
                                     .allocator = &self->memory.allocator};

    self->memory.mode = MEMORY_SCARCE;
    int error = tkw__pool_open_payload(&self->pool, &config, &self->given_up);
    if (error == -ENOMEM) {
        DEMAND(self->pool == NULL && self->memory.blocks == 0);
        self->memory.mode = MEMORY_PLENTY;
        error = tkw__pool_open_payload(&self->pool, &config, &self->given_up);
    }
    self->memory.mode = MEMORY_FORBIDDEN;
    return error;
}

static void *make_with(const struct world *world, unsigned segment_bits)
{
    struct payload_engine *self =
        calloc(1, sizeof *self + world->timer_count * sizeof self->timers[0]);
    if (self == NULL)
        return NULL;

    self->timer_count = world->timer_count;
    self->segment_bits = segment_bits;
    memory_init(&self->memory, world->seed);
    if (open_pool(self, world) != 0) {
        free(self);
        return NULL;
    }
    return self;
}

static void *make(const struct world *world)
{
    return make_with(world, TKW_SEGMENT_BITS);
}

/* The pool's sources are compiled with TKW_SEGMENT_BITS=2, this file is not. */
static void *make_tiny(const struct world *world)
{
    return make_with(world, 2);
}

static void unmake(void *engine)
{
    struct payload_engine *self = engine;

    tkw_pool_close(self->pool);
    DEMAND(self->memory.blocks == 0 && self->memory.bytes == 0);
    free(self->was_taken);
    free(self);
}

/* Note that `index` is taken.  Returns whether it was before. */
static bool note_taken(struct payload_engine *self, uint32_t index)
{
    if (index >= self->was_taken_count) {
        size_t wanted = 2 * (size_t)index + 16;
        bool *more = realloc(self->was_taken, wanted * sizeof *more);
        DEMAND(more != NULL);
        memset(more + self->was_taken_count, 0,
               (wanted - self->was_taken_count) * sizeof *more);
        self->was_taken = more;
        self->was_taken_count = wanted;
    }
    bool was_taken = self->was_taken[index];
    self->was_taken[index] = true;
    return was_taken;
}

/* Verify the payload of a record just taken, and write the timer's own. */
static void begin(struct payload_engine *self, uint64_t id, uint32_t index)
{
    struct record *record = record_of(self, index);
    uint64_t *payload = payload_of(self, index);

    if (note_taken(self, index)) {
        DEMAND(payload[WORD_OF_CHECK] == ~payload[WORD_OF_ID]);
        DEMAND(payload[WORD_UNUSED] == index);
    } else {
        for (size_t i = 0; i < PAYLOAD_WORDS; i++)
            DEMAND(payload[i] == 0);
    }
    payload[WORD_OF_POOL] = 0;
    payload[WORD_OF_ID] = id;
    payload[WORD_OF_CHECK] = ~id;
    payload[WORD_UNUSED] = index;
    record->user = (struct tkw_user){.word = id};
    struct owned *timer = &self->timers[id];
    timer->handle = (record->word & WORD_GENERATION) | index;
    timer->index = index;
    timer->ownership = OWN_TAKEN;
}

/* One arming.  Returns 0 or -ENOMEM. */
static int try_arm(struct payload_engine *self, uint64_t id, tkw_tick deadline)
{
    struct owned *timer = &self->timers[id];

    if (timer->ownership == OWN_ARMED) {
        int result = tkw_pool_rearm(self->pool, timer->handle, deadline);

        DEMAND(result == 1 || result == -ENOMEM);
        return result == 1 ? 0 : result;
    }
    if (timer->ownership != OWN_TAKEN) {
        uint32_t index;
        int error = tkw__pool_take(self->pool, 0, &index);
        if (error != 0)
            return error;
        begin(self, id, index);
    }
    return tkw__pool_arm_taken(self->pool, timer->index, deadline);
}

static int try_postpone(struct payload_engine *self, uint64_t id,
                        tkw_tick deadline)
{
    int result =
        tkw_pool_postpone(self->pool, self->timers[id].handle, deadline);

    DEMAND(result == 1 || result == -ENOMEM);
    return result == 1 ? 0 : result;
}

/* Try with little memory first.  If that is refused, no armed timer changes. */
static void insist(struct payload_engine *self, uint64_t id, tkw_tick deadline,
                   int (*try)(struct payload_engine *, uint64_t, tkw_tick))
{
    struct memory *memory = &self->memory;
    size_t armed = count(self);
    bool is_reserved = self->reserved > 0;

    self->reserved -= is_reserved;
    memory->mode = is_reserved ? MEMORY_NONE : MEMORY_SCARCE;
    int error = try(self, id, deadline);
    if (error != 0) {
        DEMAND(error == -ENOMEM && !is_reserved);
        DEMAND(count(self) == armed);
        verify_sound(self);
        memory->mode = MEMORY_PLENTY;
        DEMAND(try(self, id, deadline) == 0);
    }
    memory->mode = MEMORY_FORBIDDEN;
}

/* After a successful call the next `n` armings need no memory. */
static void reserve(struct payload_engine *self)
{
    size_t n = 1 + self->arms / 32 % 8;

    self->memory.mode = MEMORY_SCARCE;
    int error = tkw__pool_reserve(self->pool, n, n, POOL_RECLAIM_STEPS);
    self->memory.mode = MEMORY_FORBIDDEN;
    DEMAND(error == 0 || error == -ENOMEM);
    if (error == 0)
        self->reserved = n;
}

static void arm(void *engine, uint64_t id, tkw_tick deadline)
{
    struct payload_engine *self = engine;
    struct owned *timer = &self->timers[id];

    self->arms++;
    if (timer->ownership == OWN_TAKEN && self->arms % 4 == 0) {
        tkw__pool_free(self->pool, timer->index, false);
        timer->ownership = OWN_NONE;
    }
    if (self->arms % 32 == 0)
        reserve(self);
    insist(self, id, deadline, try_arm);
    timer->ownership = OWN_ARMED;
    timer->deadline = deadline;
}

static bool postpone(void *engine, uint64_t id, tkw_tick deadline)
{
    struct payload_engine *self = engine;
    struct owned *timer = &self->timers[id];

    if (timer->ownership == OWN_GIVEN_UP)
        return false;
    if (timer->ownership != OWN_ARMED)
        return tkw_pool_postpone(self->pool, timer->handle, deadline) != 0;
    insist(self, id, deadline, try_postpone);
    timer->deadline = deadline;
    return true;
}

static void give_up(struct payload_engine *self, uint32_t index)
{
    __atomic_fetch_or(&payload_of(self, index)[WORD_OF_POOL], PAYLOAD_GIVEN_UP,
                      __ATOMIC_RELEASE);
    __atomic_fetch_add(&self->given_up, 1, __ATOMIC_RELAXED);
}

/* Cancel by giving up, by freeing, or by both. */
static bool cancel(void *engine, uint64_t id)
{
    struct payload_engine *self = engine;
    struct owned *timer = &self->timers[id];
    bool was_armed = timer->ownership == OWN_ARMED;

    if (timer->ownership == OWN_TAKEN) {
        tkw__pool_free(self->pool, timer->index, false);
        timer->ownership = OWN_NONE;
    }
    if (!was_armed)
        return false;
    unsigned way = self->cancels++ % 6;
    timer->ownership = way <= 3 ? OWN_GIVEN_UP : OWN_NONE;
    if (way != 4)
        give_up(self, timer->index);
    if (way >= 4)
        tkw__pool_free(self->pool, timer->index, way == 5);
    return true;
}

static bool is_armed(void *engine, uint64_t id)
{
    struct payload_engine *self = engine;
    struct owned *timer = &self->timers[id];
    struct tkw_pool_timer found;
    enum tkw_state state = tkw_pool_query(self->pool, timer->handle, &found);
    bool is_live = state == TKW_PENDING || state == TKW_READY;

    switch (timer->ownership) {
    case OWN_ARMED:
        DEMAND(id_of(self, timer->index) == id);
        DEMAND(is_live && found.deadline == timer->deadline);
        DEMAND(tkw__pool_deadline(self->pool, timer->index) == timer->deadline);
        return true;
    case OWN_TAKEN:
        DEMAND(id_of(self, timer->index) == id);
        DEMAND(state == TKW_KEPT);
        return false;
    case OWN_GIVEN_UP:
        DEMAND(state != TKW_KEPT && state != TKW_DONE);
        return false;
    case OWN_NONE:
        break;
    }
    DEMAND(!is_live && state != TKW_KEPT);
    return false;
}

static bool advance(void *engine, tkw_tick to, size_t budget)
{
    struct payload_engine *self = engine;

    self->is_unfinished = !tkw_pool_advance_some(self->pool, to, budget);
    return !self->is_unfinished;
}

/* Return the number of a timer that the pool has returned as due.  Keep some of
 * the records, and free the others. */
static uint64_t end(struct payload_engine *self, uint32_t index,
                    tkw_tick deadline)
{
    uint64_t id = id_of(self, index);
    struct owned *timer = &self->timers[id];

    DEMAND(timer->ownership == OWN_ARMED && timer->index == index);
    DEMAND(timer->deadline == deadline);
    timer->ownership = OWN_TAKEN;
    if (self->pops++ % 3 != 0) {
        tkw__pool_free(self->pool, index, false);
        timer->ownership = OWN_NONE;
    }
    return id;
}

static uint64_t pop_due(void *engine)
{
    struct payload_engine *self = engine;
    struct taken_timer taken;

    if (tkw__pool_take_due(self->pool, &taken, 1) == 0)
        return NO_TIMER;
    return end(self, taken.index, taken.deadline);
}

/* tkw__pool_take_due() keeps back what was armed since the last advance.
 * tkw_pool_pop_keep() does not, but returns timers given up as well. */
static uint64_t pop(void *engine)
{
    struct payload_engine *self = engine;
    struct tkw_pool_timer popped;
    uint64_t id = pop_due(self);

    while (id == NO_TIMER && tkw_pool_pop_keep(self->pool, &popped)) {
        uint32_t index = (uint32_t)popped.handle;
        if (is_given_up(self, index)) {
            tkw__pool_free(self->pool, index, true);
            self->fired_given_up++;
        } else {
            id = end(self, index, popped.deadline);
        }
    }
    return id;
}

static uint64_t drain(void *engine)
{
    struct payload_engine *self = engine;

    for (size_t i = 0; i < self->timer_count; i++) {
        size_t id = self->drain_at++ % self->timer_count;
        struct owned *timer = &self->timers[id];
        if (timer->ownership == OWN_ARMED) {
            tkw__pool_free(self->pool, timer->index, false);
            timer->ownership = OWN_NONE;
            self->drained++;
            return id;
        }
    }
    DEMAND(count(self) == 0);
    return NO_TIMER;
}

static bool has_due(const struct payload_engine *self)
{
    tkw_tick now = tkw_pool_now(self->pool);

    for (size_t i = 0; i < self->timer_count; i++) {
        const struct owned *timer = &self->timers[i];
        if (timer->ownership == OWN_ARMED && timer->deadline <= now &&
            timer->deadline != TKW_NEVER)
            return true;
    }
    return false;
}

/* Timers given up while they are ready wake the caller once more.  The caller
 * then finds that none is due. */
static tkw_tick next(void *engine)
{
    struct payload_engine *self = engine;
    tkw_tick now = tkw_pool_now(self->pool);
    struct taken_timer taken;

    if (tkw_pool_next(self->pool) <= now && now != TKW_NEVER &&
        !self->is_unfinished && !has_due(self)) {
        DEMAND(tkw__pool_count_given_up(self->pool) > 0);
        tkw_pool_advance(self->pool, now);
        DEMAND(tkw__pool_take_due(self->pool, &taken, 1) == 0);
    }
    return tkw_pool_next(self->pool);
}

static tkw_tick now(void *engine)
{
    struct payload_engine *self = engine;

    return tkw_pool_now(self->pool);
}

static bool find_fault(void *engine, struct tkw_fault *fault)
{
    struct payload_engine *self = engine;

    return tkw_pool_find_fault(self->pool, fault);
}

/* Count timers given up as cancelled when they are given up, and those that
 * drain() has freed as drained. */
static struct work work(void *engine)
{
    struct payload_engine *self = engine;
    struct tkw_pool_stats counters = tkw_pool_read_stats(self->pool);
    uint64_t unseen = tkw__pool_count_given_up(self->pool);
    struct work work = common_work(&counters.work);

    DEMAND(counters.dead + unseen <= counters.entries);
    DEMAND(counters.bytes == self->memory.bytes);
    DEMAND(counters.work.drained == 0 && counters.retired == 0);
    work.fired -= self->fired_given_up;
    work.cancelled += unseen + self->fired_given_up - self->drained;
    work.drained = self->drained;
    work.entries = counters.entries;
    work.dead = counters.dead + unseen;
    return work;
}

static uint32_t level_count(void *engine)
{
    struct payload_engine *self = engine;

    return tkw_pool_dial(self->pool)->level_count;
}

static uint32_t slot_count(void *engine)
{
    struct payload_engine *self = engine;

    return tkw_pool_dial(self->pool)->slot_count;
}

static size_t walk(void *engine, uint64_t divisor, uint64_t *ids)
{
    struct payload_engine *self = engine;
    struct tkw_pool_cursor state = {0};
    size_t visited = 0;

    for (struct tkw_pool_timer found;
         visited <= self->timer_count &&
         tkw_pool_walk(self->pool, &state, &found);) {
        uint32_t index = (uint32_t)found.handle;
        if (is_given_up(self, index))
            continue;
        ids[visited] = id_of(self, index);
        if (divisor != 0 && ids[visited] % divisor == 0)
            cancel(self, ids[visited]);
        visited++;
    }
    return visited;
}

/* All but the name, the slack and the memory. */
#define PAYLOAD                                                               \
    .free = unmake, .arm = arm, .postpone = postpone, .cancel = cancel,       \
    .is_armed = is_armed, .advance = advance, .pop = pop, .pop_due = pop_due, \
    .drain = drain, .next = next, .now = now, .count = count,                 \
    .find_fault = find_fault, .work = work, .level_count = level_count,       \
    .slot_count = slot_count, .walk = walk, .text = &engine_payload_text

const struct engine engine_pool_payload = {
    .name = "pool-payload",
    .dead_slack = 8192,
    .make = make,
    PAYLOAD,
};

const struct engine engine_pool_tiny_payload = {
    .name = "pool-tiny-payload",
    .dead_slack = 64,
    .make = make_tiny,
    PAYLOAD,
};
