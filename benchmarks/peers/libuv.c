/*
 * libuv.c - libuv's timers, in a binary heap of pointers.
 *
 * uv_timer_start() moves a timer that is running; uv_timer_again() would do the
 * same by way of it.
 */
#define _GNU_SOURCE /* for uv.h */

#include "loop.h"

#include <uv.h>

struct timers {
    uv_loop_t loop;
    uv_timer_t *all;
    size_t n;
    uv_timer_cb call;
};

static void timers_open(struct timers *timers, size_t n, uv_timer_cb call)
{
    timers->all = bench_memory(n * sizeof *timers->all);
    timers->n = n;
    timers->call = call;
    if (uv_loop_init(&timers->loop) != 0)
        field_fail("uv_loop_init() failed");
    for (size_t i = 0; i < n; i++)
        uv_timer_init(&timers->loop, &timers->all[i]);
}

static void timers_close(struct timers *timers)
{
    for (size_t i = 0; i < timers->n; i++)
        uv_close((uv_handle_t *)&timers->all[i], NULL);
    uv_run(&timers->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&timers->loop) != 0)
        field_fail("uv_loop_close() failed");
    free(timers->all);
}

static inline void start(struct timers *timers, uint32_t id, uint64_t delay_ms)
{
    uv_timer_start(&timers->all[id], timers->call, delay_ms, 0);
}

static inline uint32_t number_of(const struct timers *timers,
                                 const uv_timer_t *timer)
{
    return (uint32_t)(timer - timers->all);
}

/* Virtual time. */

struct state {
    struct timers timers;
    struct expired expired;
    uint64_t begin; /* of the loop's time */
};

static void put(uv_timer_t *timer)
{
    struct state *s = timer->loop->data;
    expired_put(&s->expired, number_of(&s->timers, timer));
}

static struct state *make(size_t n)
{
    field_time_is_virtual(true);
    field_set_time(0);
    struct state *s = bench_memory(sizeof *s);
    timers_open(&s->timers, n, put);
    s->timers.loop.data = s;
    expired_open(&s->expired, n);
    s->begin = uv_now(&s->timers.loop);
    return s;
}

static void unmake(struct state *s)
{
    timers_close(&s->timers);
    expired_close(&s->expired);
    free(s);
    field_time_is_virtual(false);
}

static inline void arm(struct state *s, uint32_t id, uint64_t deadline)
{
    start(&s->timers, id, s->begin + deadline - uv_now(&s->timers.loop));
}

static inline void cancel(struct state *s, uint32_t id)
{
    uv_timer_stop(&s->timers.all[id]);
}

static inline void advance(struct state *s, uint64_t now)
{
    field_set_time(now);
    uv_run(&s->timers.loop, UV_RUN_NOWAIT);
}

static inline uint32_t pop(struct state *s)
{
    return expired_take(&s->expired);
}

static inline uint64_t next(const struct state *s)
{
    const uv_loop_t *loop = &s->timers.loop;
    if (!uv_loop_alive(loop))
        return UINT64_MAX;
    return uv_now(loop) - s->begin + (uint64_t)uv_backend_timeout(loop);
}

#define STRUCTURE libuv
#define N_MAX SIZE_MAX
#include "core/workloads.h"

/* Real time. */

struct facility {
    struct timers timers;
    uv_timer_t until;
    unsigned calls;
};

static void fired(struct facility *f, uint32_t id);

static void call(uv_timer_t *timer)
{
    struct facility *f = timer->loop->data;
    fired(f, number_of(&f->timers, timer));
}

static struct facility *facility_open(size_t n)
{
    struct facility *f = field_memory(1, sizeof *f);
    timers_open(&f->timers, n, call);
    f->timers.loop.data = f;
    uv_timer_init(&f->timers.loop, &f->until);
    return f;
}

static void facility_close(struct facility *f)
{
    uv_close((uv_handle_t *)&f->until, NULL);
    timers_close(&f->timers);
    free(f);
}

static inline void set(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    if (must_read_clock(&f->calls))
        uv_update_time(&f->timers.loop);
    start(&f->timers, id, delay_ms);
}

static inline void clear(struct facility *f, uint32_t id)
{
    uv_timer_stop(&f->timers.all[id]);
}

static void stop(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static void run_until(struct facility *f, uint64_t ns)
{
    uv_update_time(&f->timers.loop);
    uv_timer_start(&f->until, stop, ms_until(ns), 0);
    uv_run(&f->timers.loop, UV_RUN_DEFAULT);
}

#include "real.h"

const struct field_peer peer_libuv = {
    .name = "libuv",
    .title = "libuv",
    .settings = "uv_timer_start() of handles in an array; delays count from "
                "the loop's time",
    .version = uv_version_string,
    .structure = &bench_libuv,
    .real = real_workloads,
    .why_not_real = "a loop belongs to one thread",
};
