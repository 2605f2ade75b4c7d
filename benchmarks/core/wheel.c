/*
 * core/wheel.c - the intrusive wheel in its default geometry.
 */
#include <stdlib.h>

#include <tickwheel/wheel.h>

#include "bench.h"

struct state {
    struct tkw_wheel *wheel;
    struct tkw_timer *timers;
};

static struct state *make(size_t n)
{
    struct state *s = bench_memory(sizeof *s);
    s->wheel = bench_memory(tkw_wheel_bytes(NULL));
    s->timers = bench_memory(n * sizeof *s->timers);
    if (tkw_wheel_init(s->wheel, tkw_wheel_bytes(NULL), NULL, 0) != 0)
        abort();
    return s;
}

static void unmake(struct state *s)
{
    free(s->timers);
    free(s->wheel);
    free(s);
}

static inline void arm(struct state *s, uint32_t id, uint64_t deadline)
{
    tkw_wheel_arm(s->wheel, &s->timers[id], deadline);
}

static inline void cancel(struct state *s, uint32_t id)
{
    tkw_wheel_cancel(s->wheel, &s->timers[id]);
}

#define HAS_TOUCH
static inline void touch(struct state *s, uint32_t id, uint64_t deadline)
{
    tkw_wheel_postpone(s->wheel, &s->timers[id], deadline);
}

static inline void advance(struct state *s, uint64_t now)
{
    tkw_wheel_advance(s->wheel, now);
}

static inline uint32_t pop(struct state *s)
{
    const struct tkw_timer *timer = tkw_wheel_pop(s->wheel);
    return timer == NULL ? UINT32_MAX : (uint32_t)(timer - s->timers);
}

static inline uint64_t next(const struct state *s)
{
    return tkw_wheel_next(s->wheel);
}

#define STRUCTURE wheel
#define N_MAX SIZE_MAX
#include "workloads.h"
