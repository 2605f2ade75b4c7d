/*
 * libev.c - libev's timers, in a 4-ary heap that has the times beside the
 * pointers.
 *
 * A timer that runs is moved by ev_timer_again(), the second of the ways that
 * its manual has for idle limits.  (The third, to note the last packet and look
 * when the timer fires, can be had on top of any timer.)
 */
#include "loop.h"

#include <ev.h>
#include <stdio.h>

struct timers {
    struct ev_loop *loop;
    ev_timer *all;
};

static void timers_open(struct timers *timers, size_t n,
                        void (*call)(struct ev_loop *, ev_timer *, int))
{
    timers->loop = ev_loop_new(EVFLAG_AUTO);
    if (timers->loop == NULL)
        field_fail("ev_loop_new() failed");
    timers->all = bench_memory(n * sizeof *timers->all);
    for (size_t i = 0; i < n; i++)
        ev_init(&timers->all[i], call);
}

static void timers_close(struct timers *timers)
{
    ev_loop_destroy(timers->loop);
    free(timers->all);
}

static inline void start(struct timers *timers, uint32_t id, ev_tstamp delay)
{
    ev_timer_set(&timers->all[id], delay, 0);
    ev_timer_start(timers->loop, &timers->all[id]);
}

static inline void stop(struct timers *timers, uint32_t id)
{
    ev_timer_stop(timers->loop, &timers->all[id]);
}

static inline void start_again(struct timers *timers, uint32_t id,
                               ev_tstamp delay)
{
    timers->all[id].repeat = delay;
    ev_timer_again(timers->loop, &timers->all[id]);
}

/* The number of one that has fired, and is to fire once. */
static inline uint32_t number_of(struct timers *timers, ev_timer *timer)
{
    if (timer->repeat > 0)
        ev_timer_stop(timers->loop, timer);
    return (uint32_t)(timer - timers->all);
}

/* Virtual time. */

struct state {
    struct timers timers;
    struct expired expired;
    uint64_t now;
};

static void put(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    struct state *s = ev_userdata(loop);
    expired_put(&s->expired, number_of(&s->timers, timer));
}

static struct state *make(size_t n)
{
    field_time_is_virtual(true);
    field_set_time(0);
    struct state *s = bench_memory(sizeof *s);
    timers_open(&s->timers, n, put);
    ev_set_userdata(s->timers.loop, s);
    expired_open(&s->expired, n);
    return s;
}

static void unmake(struct state *s)
{
    timers_close(&s->timers);
    expired_close(&s->expired);
    free(s);
    field_time_is_virtual(false);
}

/*
 * In seconds, and a microsecond less: only what is before the time of the loop
 * fires, and a sum of fractions may be either side of it.
 */
static inline ev_tstamp delay_to(const struct state *s, uint64_t deadline)
{
    return (ev_tstamp)(deadline - s->now) * 1e-3 - 1e-6;
}

static inline void arm(struct state *s, uint32_t id, uint64_t deadline)
{
    start(&s->timers, id, delay_to(s, deadline));
}

static inline void cancel(struct state *s, uint32_t id)
{
    stop(&s->timers, id);
}

#define HAS_MOVE
static inline void move(struct state *s, uint32_t id, uint64_t deadline)
{
    start_again(&s->timers, id, delay_to(s, deadline));
}

static inline void advance(struct state *s, uint64_t now)
{
    if (now == s->now)
        return; /* next() has been there */
    s->now = now;
    field_set_time(now);
    ev_run(s->timers.loop, EVRUN_NOWAIT);
}

static inline uint32_t pop(struct state *s)
{
    return expired_take(&s->expired);
}

static inline uint64_t next(struct state *s)
{
    ev_run(s->timers.loop, EVRUN_ONCE);
    return time_slept_to(&s->now);
}

#define STRUCTURE libev
#define N_MAX SIZE_MAX
#include "core/workloads.h"

/* Real time. */

struct facility {
    struct timers timers;
    ev_timer until;
    unsigned calls;
};

static void fired(struct facility *f, uint32_t id);

static void call(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    struct facility *f = ev_userdata(loop);
    fired(f, number_of(&f->timers, timer));
}

static void end_run(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)timer;
    (void)events;
    ev_break(loop, EVBREAK_ONE);
}

static struct facility *facility_open(size_t n)
{
    struct facility *f = field_memory(1, sizeof *f);
    timers_open(&f->timers, n, call);
    ev_set_userdata(f->timers.loop, f);
    ev_init(&f->until, end_run);
    return f;
}

static void facility_close(struct facility *f)
{
    timers_close(&f->timers);
    free(f);
}

static inline void update_now(struct facility *f)
{
    if (must_read_clock(&f->calls))
        ev_now_update(f->timers.loop);
}

static inline void set(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    update_now(f);
    start(&f->timers, id, (ev_tstamp)delay_ms * 1e-3);
}

static inline void clear(struct facility *f, uint32_t id)
{
    stop(&f->timers, id);
}

#define HAS_RESET
static inline void reset(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    update_now(f);
    start_again(&f->timers, id, (ev_tstamp)delay_ms * 1e-3);
}

static void run_until(struct facility *f, uint64_t ns)
{
    ev_now_update(f->timers.loop);
    ev_timer_set(&f->until, (ev_tstamp)ms_until(ns) * 1e-3, 0);
    ev_timer_start(f->timers.loop, &f->until);
    ev_run(f->timers.loop, 0);
}

#include "real.h"

static const char *version(void)
{
    static char text[32];
    snprintf(text, sizeof text, "%d.%d", ev_version_major(),
             ev_version_minor());
    return text;
}

const struct field_peer peer_libev = {
    .name = "libev",
    .title = "libev",
    .settings = "ev_timer_start(), moved by ev_timer_again(), watchers in an "
                "array; delays count from the loop's time",
    .version = version,
    .structure = &bench_libev,
    .real = real_workloads,
    .why_not_real = "a loop belongs to one thread",
};
