/*
 * libevent_timers.h - timers of libevent.  Included by a file that has defined
 * STRUCTURE, and which timeout event_add() gets for a delay:
 *
 *     static void init_commons(struct event_base *base);
 *     static const struct timeval *timeout_of(struct timeval *delay);
 *
 * event_add() moves an event that is pending.  Called outside of callbacks it
 * reads the clock, each time.
 */
#include "loop.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/thread.h>

struct timers {
    struct event_base *base;
    struct event *all;
};

/* The callback gets the event itself, and its base has but one owner. */
static void *owner;

static void timers_open(struct timers *timers, size_t n, int flags,
                        event_callback_fn call)
{
    struct event_config *config = event_config_new();
    if (config == NULL || event_config_set_flag(config, flags) != 0)
        field_fail("no configuration of libevent");
    timers->base = event_base_new_with_config(config);
    event_config_free(config);
    if (timers->base == NULL)
        field_fail("event_base_new_with_config() failed");
    init_commons(timers->base);
    timers->all = bench_memory(n * sizeof *timers->all);
    for (size_t i = 0; i < n; i++)
        evtimer_assign(&timers->all[i], timers->base, call, &timers->all[i]);
}

static void timers_close(struct timers *timers)
{
    event_base_free(timers->base);
    free(timers->all);
}

static inline struct timeval timeval_of(uint64_t ms)
{
    return (struct timeval){.tv_sec = (time_t)(ms / 1000),
                            .tv_usec = (suseconds_t)(ms % 1000 * 1000)};
}

static inline void add(struct timers *timers, uint32_t id, uint64_t delay_ms)
{
    struct timeval delay = timeval_of(delay_ms);
    event_add(&timers->all[id], timeout_of(&delay));
}

static inline uint32_t number_of(const struct timers *timers,
                                 const struct event *event)
{
    return (uint32_t)(event - timers->all);
}

/* Virtual time, which needs no precise clock. */

struct state {
    struct timers timers;
    struct expired expired;
    uint64_t now;
};

static void put(evutil_socket_t none, short what, void *event)
{
    (void)none;
    (void)what;
    struct state *s = owner;
    expired_put(&s->expired, number_of(&s->timers, event));
}

static struct state *make(size_t n)
{
    field_time_is_virtual(true);
    field_set_time(0);
    struct state *s = bench_memory(sizeof *s);
    timers_open(&s->timers, n, 0, put);
    expired_open(&s->expired, n);
    owner = s;
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
    add(&s->timers, id, deadline - s->now);
}

static inline void cancel(struct state *s, uint32_t id)
{
    event_del(&s->timers.all[id]);
}

static inline void advance(struct state *s, uint64_t now)
{
    if (now == s->now)
        return; /* next() has been there */
    s->now = now;
    field_set_time(now);
    event_base_loop(s->timers.base, EVLOOP_NONBLOCK);
}

static inline uint32_t pop(struct state *s)
{
    return expired_take(&s->expired);
}

static inline uint64_t next(struct state *s)
{
    event_base_loop(s->timers.base, EVLOOP_ONCE);
    return time_slept_to(&s->now);
}

#define N_MAX SIZE_MAX
#include "core/workloads.h"

/* Real time: without the precise timer its clock ticks with the kernel, which
 * may be every 4 ms. */

struct facility {
    struct timers timers;
    struct event until;
};

static void fired(struct facility *f, uint32_t id);

static void call(evutil_socket_t none, short what, void *event)
{
    (void)none;
    (void)what;
    struct facility *f = owner;
    fired(f, number_of(&f->timers, event));
}

static void stop(evutil_socket_t none, short what, void *base)
{
    (void)none;
    (void)what;
    event_base_loopbreak(base);
}

static struct facility *facility_open(size_t n)
{
    struct facility *f = field_memory(1, sizeof *f);
    timers_open(&f->timers, n, EVENT_BASE_FLAG_PRECISE_TIMER, call);
    evtimer_assign(&f->until, f->timers.base, stop, f->timers.base);
    owner = f;
    return f;
}

static void facility_close(struct facility *f)
{
    timers_close(&f->timers);
    free(f);
}

static inline void set(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    add(&f->timers, id, delay_ms);
}

static inline void clear(struct facility *f, uint32_t id)
{
    event_del(&f->timers.all[id]);
}

static void run_until(struct facility *f, uint64_t ns)
{
    struct timeval delay = timeval_of(ms_until(ns));
    event_add(&f->until, &delay);
    event_base_dispatch(f->timers.base);
}

/* Threads could share a base that has locks; this one has none, which is
 * faster. */
#include "real.h"
