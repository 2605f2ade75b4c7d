/*
 * engine/clock.c - what waits for a time.
 *
 * The pool counts ticks of TKD_TICK_NS.  A time is rounded up to a tick, so
 * that nothing happens early.
 */
#include <assert.h>

#include "private.h"

static tkw_tick tick_after(uint64_t ns)
{
    return ns / TKD_TICK_NS + (ns % TKD_TICK_NS != 0);
}

tkw_handle tkd__timer_arm(struct tkd_engine *engine, uint64_t at_ns,
                          enum waiter waiter, void *pointer)
{
    tkw_handle timer = 0;
    int error = tkw_pool_arm(engine->pool, &timer, tick_after(at_ns),
                             (struct tkw_user){pointer, waiter});
    assert(error == 0);
    (void)error;
    return timer;
}

void tkd__timer_cancel(struct tkd_engine *engine, tkw_handle *timer)
{
    if (*timer != 0)
        tkw_pool_cancel(engine->pool, *timer);
    *timer = 0;
}

/* A delayed job is due, or the time to run of a reserved job is over. */
static void handle_job(struct tkd_engine *engine, struct job *job)
{
    job->timer = 0;
    if (job->state == STATE_RESERVED) {
        job->timeouts++;
        engine->counts.timeouts++;
    }
    struct tube *tube = job->tube;
    tkd__job_leave(engine, job);
    tkd__job_enter_ready(engine, job);
    tkd__tube_serve(engine, tube);
}

static void handle(struct tkd_engine *engine,
                   const struct tkw_pool_timer *timer)
{
    switch ((enum waiter)timer->user.word) {
    case WAITER_JOB:
        handle_job(engine, timer->user.pointer);
        break;
    case WAITER_CLIENT: {
        struct tkd_client *client = timer->user.pointer;
        client->timer = 0;
        tkd__reserve_expire(client);
        break;
    }
    case WAITER_TUBE: {
        struct tube *tube = timer->user.pointer;
        tube->timer = 0;
        tkd__tube_resume(engine, tube);
        break;
    }
    }
}

/* Handle at most `budget` timers and clients.  A timer is popped just before it
 * is handled, because handling one may cancel another.  The clients that a
 * timer gives jobs to come before the next timer, which may be the end of their
 * timeout. */
static void handle_due(struct tkd_engine *engine, size_t budget)
{
    size_t done = tkd__serve_later(engine, budget);
    struct tkw_pool_timer timer;
    while (done < budget && tkw_pool_reserve(engine->pool, 1) == 0 &&
           tkw_pool_pop(engine->pool, &timer)) {
        handle(engine, &timer);
        done++;
        done += tkd__serve_later(engine, budget - done);
    }
}

bool tkd_engine_advance(struct tkd_engine *engine, uint64_t now_ns,
                        size_t budget)
{
    if (now_ns > engine->now_ns)
        engine->now_ns = now_ns;
    tkd__window_run(engine);
    size_t left = budget / 2 + tkd__chores_run(engine, budget - budget / 2);
    tkw_pool_advance_some(engine->pool, engine->now_ns / TKD_TICK_NS, budget);
    handle_due(engine, left);
    return tkd_engine_next(engine) > engine->now_ns;
}

uint64_t tkd_engine_next(const struct tkd_engine *engine)
{
    bool has_chores =
        !link_is_alone(&engine->chores) && !tkd_engine_is_behind(engine);
    if (has_chores || !link_is_alone(&engine->unserved))
        return engine->now_ns;
    tkw_tick next = tkw_pool_next(engine->pool);
    uint64_t next_ns = tkd__window_next(engine);
    if (next <= TKD_NEVER / TKD_TICK_NS && next * TKD_TICK_NS < next_ns)
        next_ns = next * TKD_TICK_NS;
    return next_ns > engine->now_ns ? next_ns : engine->now_ns;
}
