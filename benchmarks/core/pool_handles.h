/*
 * core/pool_handles.h - the pool in its default geometry.  The file that
 * includes this has defined STRUCTURE, and HANDLE_IS_COLD: 0 if the number of a
 * timer yields its handle, 1 if each handle is read from an array.  With
 * IS_AHEAD, operations on armed timers wait in a queue while their handles and
 * timers are prefetched.
 */
#include <stdlib.h>

#include <tickwheel/pool.h>

#include "bench.h"

/* One piece of memory, its pages touched as those of the others are. */
struct arena {
    char *memory;
    size_t used;
    size_t size;
};

#ifndef IS_AHEAD
#define IS_AHEAD 0
#endif

/* Operations that wait, and those whose handles have arrived. */
enum { AHEAD = 16, TIMERS_AHEAD = 8 };

enum operation { DO_CANCEL, DO_MOVE, DO_TOUCH };

struct waiting {
    enum operation operation;
    uint32_t id;
    uint64_t deadline;
};

struct state {
    struct tkw_pool *pool;
    tkw_handle *handles; /* NULL unless they are cold */
    struct waiting queue[AHEAD];
    uint64_t queued; /* operations ever put into the queue ... */
    uint64_t done;   /* ... and taken from it */
    struct arena arena;
    struct tkw_allocator allocator;
};

static void *allocate(void *context, size_t bytes)
{
    struct arena *arena = context;
    size_t size = (bytes + 63) / 64 * 64;
    if (arena->size - arena->used < size)
        return NULL;
    arena->used += size;
    return arena->memory + arena->used - size;
}

static void release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)memory;
    (void)bytes;
}

static struct state *make(size_t n)
{
    struct state *s = bench_memory(sizeof *s);
    s->handles = HANDLE_IS_COLD ? bench_memory(n * sizeof *s->handles) : NULL;
    s->arena.size = n * 96 + (4 << 20); /* moved timers leave entries */
    s->arena.memory = bench_arena(s->arena.size);
    s->allocator = (struct tkw_allocator){
        .allocate = allocate, .release = release, .context = &s->arena};
    struct tkw_pool_config config = {.allocator = &s->allocator};
    if (tkw_pool_open(&s->pool, &config) != 0)
        abort();
    return s;
}

static void unmake(struct state *s)
{
    tkw_pool_close(s->pool);
    free(s->arena.memory);
    free(s->handles);
    free(s);
}

static inline tkw_handle handle_of(const struct state *s, uint32_t id)
{
    /* The first n handles of a pool: generation 1, in order. */
    return HANDLE_IS_COLD ? s->handles[id] : UINT64_C(1) << 32 | id;
}

static inline void flush(struct state *s);

static inline void arm(struct state *s, uint32_t id, uint64_t deadline)
{
    flush(s); /* `id` may be about to be cancelled */
    struct tkw_user user = {.word = id};
    tkw_handle handle;
    if (tkw_pool_arm(s->pool, &handle, deadline, user) != 0)
        abort();
    if (HANDLE_IS_COLD)
        s->handles[id] = handle;
    else if (handle != handle_of(s, id))
        abort();
}

/* An operation that did what it should returns 1. */
static inline void expect(int result)
{
    if (result != 1)
        abort();
}

static inline void execute(struct state *s, enum operation operation,
                           uint32_t id, uint64_t deadline)
{
    tkw_handle handle = handle_of(s, id);
    if (operation == DO_CANCEL)
        expect(tkw_pool_cancel(s->pool, handle));
    else if (operation == DO_MOVE)
        expect(tkw_pool_rearm(s->pool, handle, deadline));
    else
        expect(tkw_pool_postpone(s->pool, handle, deadline));
}

static inline void execute_first(struct state *s)
{
    const struct waiting *first = &s->queue[s->done++ % AHEAD];
    execute(s, first->operation, first->id, first->deadline);
}

static inline void flush(struct state *s)
{
    while (IS_AHEAD && s->done < s->queued)
        execute_first(s);
}

/* Put an operation into the queue.  Prefetch its handle, and the timer of an
 * earlier operation, whose handle has arrived. */
static inline void wait_for(struct state *s, struct waiting what)
{
    if (s->queued - s->done == AHEAD)
        execute_first(s);
    __builtin_prefetch(&s->handles[what.id]);
    s->queue[s->queued++ % AHEAD] = what;
    if (s->queued - s->done <= TIMERS_AHEAD)
        return;
    uint64_t arrived = s->queued - 1 - TIMERS_AHEAD;
    tkw_pool_prefetch(s->pool, handle_of(s, s->queue[arrived % AHEAD].id));
}

static inline void operate(struct state *s, enum operation operation,
                           uint32_t id, uint64_t deadline)
{
    if (IS_AHEAD)
        wait_for(s, (struct waiting){operation, id, deadline});
    else
        execute(s, operation, id, deadline);
}

static inline void cancel(struct state *s, uint32_t id)
{
    operate(s, DO_CANCEL, id, 0);
}

#define HAS_MOVE
static inline void move(struct state *s, uint32_t id, uint64_t deadline)
{
    operate(s, DO_MOVE, id, deadline);
}

#define HAS_TOUCH
static inline void touch(struct state *s, uint32_t id, uint64_t deadline)
{
    operate(s, DO_TOUCH, id, deadline);
}

static inline void advance(struct state *s, uint64_t now)
{
    flush(s);
    tkw_pool_advance(s->pool, now);
}

static inline uint32_t pop(struct state *s)
{
    struct tkw_pool_timer timer;
    return tkw_pool_pop(s->pool, &timer) ? (uint32_t)timer.user.word
                                         : UINT32_MAX;
}

#define HAS_RENEW
static inline bool renew(struct state *s, uint64_t deadline)
{
    struct tkw_pool_timer timer;
    return tkw_pool_pop_keep(s->pool, &timer) &&
           tkw_pool_rearm(s->pool, timer.handle, deadline) == 1;
}

static inline uint64_t next(const struct state *s)
{
    return tkw_pool_next(s->pool);
}

#define N_MAX SIZE_MAX
#include "workloads.h"
