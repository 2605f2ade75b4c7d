/*
 * pool.c - tickwheel/pool.h as a toy: its memory, its sizes, its bounds.
 *
 * A pool owns memory.  Here all of it, with the engine's own, comes from one
 * arena that is never given back to: to copy the arena is to copy the pool.
 *
 * The operations are those of model/engine_pool.c, but for its turns: it pops
 * in one way or another by counting.  Here the way is part of the operation.
 */
#include "pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Three programs, by the constants that the pool is built with.  With tags and
 * slack enough: how timers fall and in what order they leave.  A crowd takes
 * two or three of them, and every dead entry multiplies the states.
 */
#if TKW_ENTRY_TAG_BITS >= 12 && TKW_SWEEP_SLACK >= 4
#define PROGRAM "exhaustive_pool"

static const struct toy_plan everyday[] = {
    {"2r-d1", 2, 0},     {"2r-fd2", 2, 0},    {"2rkfd1", 2, 0},
    {"2,2r-fd1", 2, 0},  {"2,2rfad0", 2, 0},  {"2,2r-fad1", 3, 0},
    {"2,2r-fad0", 4, 0}, {"3,2r-fad0", 3, 0}, {"2,2,2r-fad0", 3, 0},
    {"2-fad0", 3, 0},
};

static const struct toy_plan larger[] = {
    {"2,2r-fd2", 2, 0},    {"2,2r-ad2", 2, 0},      {"2,2rfad1", 2, 0},
    {"3,2r-kfad1", 2, 0},  {"2,2,2r-fad1", 2, 0},   {"2,2,2rfad0u2", 2, 0},
    {"2,2,2r-fad0", 4, 0}, {"2,2,2,2r-fad0", 3, 0}, {"2-fad1", 2, 0},
};

/* With few tags: timers that move into bodies. */
#elif TKW_ENTRY_TAG_BITS < 12
#define PROGRAM "exhaustive_bodies"

static const struct toy_plan everyday[] = {
    {"2r-kfd2", 1, 0},
    {"2r-fd1", 2, 0},
};

static const struct toy_plan larger[] = {
    {"2r-kfd3", 1, 0},
    {"2rkfd2", 1, 0},
    {"2,2r-fd2", 1, 0},
    {"2r-fd2", 2, 11},
};

/* With little slack: dead entries that are swept. */
#else
#define PROGRAM "exhaustive_sweep"

static const struct toy_plan everyday[] = {
    {"2r-fd2", 1, 0},
    {"2r-fad2", 2, 8},
};

static const struct toy_plan larger[] = {
    {"2r-fd3", 1, 0},
    {"2r-fad2", 2, 0},
    {"2r-fad3", 2, 10},
};
#endif

/* Bytes of the largest pool, with 64 levels, and some for timers. */
#define ARENA_BYTES 65536

/* All that lies in it begins at a multiple of that. */
#define ARENA_STEP 64

static _Alignas(ARENA_STEP) unsigned char arena[ARENA_BYTES];

/* The most that was ever used.  What is used now is noted in the arena. */
static size_t arena_most;

static void *take(size_t bytes)
{
    size_t *used = (size_t *)(void *)arena, at = *used;
    size_t end = at + (bytes + ARENA_STEP - 1) / ARENA_STEP * ARENA_STEP;

    if (end > sizeof arena)
        return NULL;
    *used = end;
    if (end > arena_most)
        arena_most = end;
    return arena + at;
}

static void *allocate(void *context, size_t bytes)
{
    struct memory *memory = context;
    void *block = take(bytes);

    if (memory->mode == MEMORY_FORBIDDEN || block == NULL) {
        fprintf(stderr, "pool.c: asked for %zu bytes, but must not\n", bytes);
        abort();
    }
    memory->requests++;
    memory->blocks++;
    memory->bytes += bytes;
    return memset(block, 0xa5, bytes);
}

static void release(void *context, void *block, size_t bytes)
{
    struct memory *memory = context;

    (void)block;
    memory->blocks--;
    memory->bytes -= bytes;
}

static void *make(const struct world *world)
{
    struct pool_engine *self;
    size_t bytes = sizeof *self + world->timer_count * sizeof self->timers[0];

    memset(arena, 0, sizeof arena);
    take(ARENA_STEP); /* for the note */
    self = take(bytes);
    self->timer_count = world->timer_count;
    memory_init(&self->memory, 0);
    self->memory.allocator.allocate = allocate;
    self->memory.allocator.release = release;
    self->memory.mode = MEMORY_PLENTY;

    struct tkw_pool_config config = {.geometry = world->geometry,
                                     .start = world->start,
                                     .allocator = &self->memory.allocator};
    int error = tkw_pool_open(&self->pool, &config);
    self->memory.mode = MEMORY_FORBIDDEN;
    return error == 0 ? self : NULL;
}

static void unmake(void *engine)
{
    struct pool_engine *self = engine;

    tkw_pool_close(self->pool);
}

static void write_preamble(FILE *out, const struct world *world, bool has_walks)
{
    fputs("/* To be built with src/pool*.c and the constants of " PROGRAM "\n"
          " * in tests/CMakeLists.txt. */\n",
          out);
    engine_pool_text.write_preamble(out, world, has_walks);
}

/* In the reproducer, too, the turns are those of the operation. */
static void write_call(FILE *out, struct call call)
{
    if (call.kind == CALL_POP)
        fprintf(out, "(pops = %" PRIu64 ", pop())", call.id);
    else if (call.kind == CALL_ARM)
        fputs("arms = 0, ", out);
    if (call.kind != CALL_POP)
        engine_pool_text.write_call(out, call);
}

static const struct engine *engine(void)
{
    static struct engine engine;
    static struct engine_text text;

    text = engine_pool_text;
    text.write_preamble = write_preamble;
    text.write_call = write_call;
    engine = engine_pool_tiny;
    engine.name = "pool-toy";
    engine.make = make;
    engine.free = unmake;
    engine.text = &text;
    return &engine;
}

bool pool_may_sweep(const struct toy_config *config)
{
    return config->dead_limit == 0 || config->dead_limit > TKW_SWEEP_SLACK + 1;
}

/*
 * Slots are told by their distance from the hand, so that a slot of the last
 * level changes nothing; growing, a slot of the first level that is as long as
 * the reach, see wheel.c.  But the sweeper goes by the rings as they lie, which
 * are twice a turn.
 */
static tkw_tick find_period(const struct toy_config *config,
                            const struct ladder *ladder, tkw_tick reach)
{
    uint32_t level = 0;
    uint64_t slots = 1;

    if (ladder->is_rounds)
        level = ladder->level_count - 1;
    while (!ladder->is_rounds && ladder->ticks[level] < reach)
        level++;
    if (pool_may_sweep(config))
        slots = UINT64_C(2) * ladder->sizes[level];
    return ladder->ticks[level] * slots;
}

static void add_engine(struct toy *toy)
{
    struct toy_region region = {
        .at = arena,
        .bytes = sizeof arena,
        .used = &arena_most,
    };

    toy_add_region(toy, region);
}

/*
 * Whether arming lets go of a kept timer first is a question of arms, how to
 * pop one of pops, and whether a handle that is done with is tried in every way
 * one of ends.
 */
static void prepare(struct toy *toy, const struct op *op)
{
    struct pool_engine *self = toy->judge.self;

    self->arms = 0;
    self->ends = 0;
    self->pops = op->kind == OP_POP ? op->id : 0;
}

/*
 * As in wheel.c.  The ledger's filings are of no use to an engine that is not
 * exact.
 */
static void read_inside(struct toy *toy)
{
    struct judge *judge = &toy->judge;
    const struct pool_engine *self = judge->self;
    const struct tkw_pool *pool = self->pool;

    judge->is_unfinished = pool->is_mid_tick;
    judge->farthest = pool->dial.now;
    judge->allowance = 0;
    pool_unbind_never(toy);
    if (!pool->is_mid_tick)
        judge->idle_stops = 0;
}

/*
 * Kept timers have a place in the pool.  Of the others only stale handles
 * differ, and none of them is left out when handles are asked for.
 */
static bool is_plain(const struct toy *toy, uint64_t id)
{
    const struct pool_engine *self = toy->judge.self;

    return self->timers[id].fate != FATE_KEPT;
}

static bool is_reached(uint64_t count, uint32_t limit)
{
    return limit != 0 && count >= limit;
}

static bool is_beyond(const struct toy *toy)
{
    const struct pool_engine *self = toy->judge.self;

    return is_reached(pool_dead(self->pool), toy->config.dead_limit) ||
           is_reached(pool_unseen(toy), toy->config.unseen_limit);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct toy_kind toy_kind = {
    .program = PROGRAM,
    .width = 13,
    .things = "pools of timers",
    .letters = ", k to pop and keep, f for nothing armed for\n"
               "                    ever, a for dead entries are alike, d2 for "
               "at most 2 of\n"
               "                    them, u2 for postponed at most 2 times "
               "without a look;\n"
               "                    in this order",
    .engine = engine,
    .everyday = everyday,
    .larger = larger,
    .everyday_count = COUNT(everyday),
    .larger_count = COUNT(larger),
    .find_period = find_period,
    .add_engine = add_engine,
    .prepare = prepare,
    .read_inside = read_inside,
    .is_plain = is_plain,
    .is_beyond = is_beyond,
    .put = pool_put,
};
