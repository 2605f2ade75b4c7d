/*
 * core/pool_handles.h - the pool in its default geometry.  The file that
 * includes this has defined STRUCTURE, and HANDLE_IS_COLD: 0 if handles are
 * told from the number of a timer, 1 if each is fetched from an array.
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

struct state {
    struct tkw_pool *pool;
    tkw_handle *handles; /* NULL unless they are cold */
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

static inline void arm(struct state *s, uint32_t id, uint64_t deadline)
{
    struct tkw_user user = {.word = id};
    tkw_handle handle;
    if (tkw_pool_arm(s->pool, &handle, deadline, user) != 0)
        abort();
    if (HANDLE_IS_COLD)
        s->handles[id] = handle;
    else if (handle != handle_of(s, id))
        abort();
}

static inline void cancel(struct state *s, uint32_t id)
{
    if (!tkw_pool_cancel(s->pool, handle_of(s, id)))
        abort();
}

#define HAS_MOVE
static inline void move(struct state *s, uint32_t id, uint64_t deadline)
{
    if (tkw_pool_rearm(s->pool, handle_of(s, id), deadline) != 1)
        abort();
}

#define HAS_TOUCH
static inline void touch(struct state *s, uint32_t id, uint64_t deadline)
{
    if (tkw_pool_postpone(s->pool, handle_of(s, id), deadline) != 1)
        abort();
}

static inline void advance(struct state *s, uint64_t now)
{
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
