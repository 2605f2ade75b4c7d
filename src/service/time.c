/*
 * service/time.c - converting nanoseconds of the clock to ticks of the pools,
 * and back.
 *
 * A due time is rounded up to the next tick, so that no timer is early.  The
 * time of the pools never goes back.  On a wall clock it is the clock's time
 * plus `shift_ns`, which grows when the clock is set back (service/wall.c).
 */
#include <tickwheel/service.h>

#include "private.h"

/*
 * Return the later of `now`, a reading of the clock, and the latest time
 * returned to any thread.  So if a clock of the user goes back, the service's
 * time stands still.  The system's clocks do not go back, and a wall clock is
 * followed.
 */
uint64_t tkw__time_clamp(struct tkw_service *service, uint64_t now)
{
    if (service->has_system_clock || service->clock.is_wall)
        return now;
    uint64_t last = sync_get_relaxed(&service->last_ns);
    do
        if (now <= last)
            return last;
    while (!sync_replace_ordered(&service->last_ns, &last, now));
    return now;
}

uint64_t tkw_service_now(struct tkw_service *service)
{
    return tkw__time_clamp(service, service->clock.now(service->clock.context));
}

/* Convert a time of the clock to the time of the pools, in ns. */
static uint64_t shifted(struct tkw_service *service, uint64_t time_ns)
{
    if (!service->clock.is_wall)
        return time_ns;
    /* Relaxed: if the runner has just changed it, the tick is too early, and
     * tkw__job_fire() puts the job back into the pool. */
    return saturating_add(time_ns, sync_get_relaxed(&service->shift_ns));
}

/* Return the first tick at which `due_ns` has come. */
tkw_tick tkw__time_tick(struct tkw_service *service, uint64_t due_ns)
{
    if (due_ns == UINT64_MAX)
        return TKW_NEVER;
    uint64_t time = shifted(service, due_ns);
    return time / service->tick_ns + (time % service->tick_ns != 0);
}

/* Return the time of the clock at which `tick` begins; UINT64_MAX if that is
 * not representable. */
uint64_t tkw__time_of(struct tkw_service *service, tkw_tick tick)
{
    if (tick == TKW_NEVER || tick > UINT64_MAX / service->tick_ns)
        return UINT64_MAX;
    uint64_t time = tick * service->tick_ns;
    uint64_t shift = sync_get_relaxed(&service->shift_ns);
    return time > shift ? time - shift : 0;
}

/*
 * Return `due_ns` with its tick.  If `due_ns` has come, the timer need not wait
 * for the next tick: its tick is the current one.  It is not an earlier one, or
 * the timer could run again and again before the runner reads the clock once
 * more.
 */
struct due_time tkw__time_due(struct tkw_service *service, uint64_t now,
                              uint64_t due_ns)
{
    tkw_tick tick = due_ns <= now && due_ns != UINT64_MAX
                        ? shifted(service, now) / service->tick_ns
                        : tkw__time_tick(service, due_ns);
    return (struct due_time){due_ns, tick};
}

struct due_time tkw__time_due_at(struct tkw_service *service, uint64_t time_ns)
{
    return tkw__time_due(service, tkw_service_now(service), time_ns);
}

struct due_time tkw__time_due_after(struct tkw_service *service,
                                    uint64_t delay_ns)
{
    uint64_t now = tkw_service_now(service);
    return tkw__time_due(service, now, saturating_add(now, delay_ns));
}
