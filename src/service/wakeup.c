/*
 * service/wakeup.c - waking the runner, only for a timer that is due earlier
 * than all others.
 *
 * Three atomics say when the runner begins its next pass:
 *
 *     earliest   the tick at which it begins
 *     is_asleep  whether it must be woken to begin earlier; always true in a
 *                service without a driver
 *     is_active  whether a pass is under way
 *
 * A pass sets `earliest` to never.  Then it visits each shard under the shard's
 * mutex, runs the jobs that are due, and lowers `earliest` to the tick at which
 * each shard needs its next visit.
 *
 * A thread that arms a timer holds the mutex of the timer's shard.  If the pass
 * visits that shard later, it finds the timer there.  If the pass has visited
 * the shard already, the mutex makes its `earliest` visible to the arming
 * thread, which compares the timer's tick with it.  If the timer is earlier,
 * the thread lowers `earliest`, and wakes the driver if the driver sleeps:
 *
 *     arming thread                      driver
 *     lowers `earliest`                  is_asleep = true
 *     reads is_asleep: wakes the clock   reads `earliest`, sleeps until then
 *
 * All four accesses are sequentially consistent.  So the driver reads the new
 * `earliest`, or the arming thread reads that the driver sleeps.  In the second
 * case the thread calls the clock's wake().  If no wait is under way yet,
 * wake() ends the next one.
 *
 * In a service without a driver, an event loop polls the clock's descriptor,
 * which is aimed at `earliest`: it is readable from then on.  During a pass no
 * thread aims it; the runner does so when its pass has ended:
 *
 *     arming thread                      runner
 *     lowers `earliest`                  is_active = false
 *     reads is_active: leaves it to      reads `earliest`, aims
 *     the runner, else aims
 *
 * Again one of the two reads the value that the other wrote.  Both aim with the
 * service's mutex, and read `earliest` under it: the last one to aim has read
 * the last value.
 */
#include <tickwheel/service.h>

#include <errno.h>
#include <limits.h>

#include "os/probes.h"
#include "pool/ahead.h"
#include "private.h"

/* Armings of a shard between two calls of tkw_pool_next() by
 * tkw__wakeup_announce(), which find a crowd that has grown.  (Tests that try
 * every order of threads use more.) */
#ifndef TKW_ARMINGS_PER_POLL
#define TKW_ARMINGS_PER_POLL TKW_WAKE_SHARE
#endif

/* Lower `earliest` to `tick`.  Returns false if it is not above `tick`. */
bool tkw__wakeup_lower(struct tkw_service *service, tkw_tick tick)
{
    uint64_t earliest = sync_get_relaxed(&service->earliest);
    do
        if (tick >= earliest)
            return false;
    while (!sync_replace_ordered(&service->earliest, &earliest, tick));
    return true;
}

/* Make the runner begin a pass at `tick` at the latest.  If it is for a timer,
 * the caller holds the mutex of the timer's shard. */
void tkw__wakeup_wake(struct tkw_service *service, tkw_tick tick)
{
    if (!tkw__wakeup_lower(service, tick))
        return;
    if (sync_get_ordered(&service->is_asleep)) {
        sync_add_relaxed(&service->woken, 1);
        service->clock.wake(service->clock.context);
        tkw__wakeup_aim(service);
    }
}

/* After a job was filed in `shard` for `deadline`: wake the runner if its next
 * pass is later.  The caller holds the shard's mutex. */
void tkw__wakeup_announce(struct tkw_service *service, struct shard *shard,
                          tkw_tick deadline)
{
    if (deadline < sync_get_relaxed(&service->earliest))
        tkw__wakeup_wake(service, deadline);
    /* The pool begins to move a crowd before it is due. */
    if (++shard->announced % TKW_ARMINGS_PER_POLL == 0)
        tkw__wakeup_wake(service, tkw_pool_next(shard->pool));
}

/* Sleep until `time`.  Return at once if it has come: the clock's wait would
 * take many times as long as a pass. */
static void sleep_until(struct tkw_service *service, uint64_t time)
{
    if (time != UINT64_MAX && /* never, whatever the clock says */
        time <= service->clock.now(service->clock.context))
        return;
    PROBE2(sleep, service, time);
    service->clock.wait_until(service->clock.context, time);
    PROBE1(wake, service);
}

/* Sleep until `earliest`, or until a thread wakes the driver.  The driver calls
 * this between two passes. */
void tkw__wakeup_sleep(struct tkw_service *service)
{
    sync_put_ordered(&service->is_asleep, true);
    tkw_tick tick = sync_get_ordered(&service->earliest);
    if (!sync_get_ordered(&service->is_stopping))
        sleep_until(service, tkw__time_of(service, tick));
    sync_put_relaxed(&service->is_asleep, false);
    sync_add_relaxed(&service->wakeups, 1);
}

/*
 * Aim the descriptor at `time`.  The caller holds the service's mutex.  If the
 * descriptor is readable already and `time` has come, leave it as it is: that
 * saves a system call for each pass.  (Not on a wall clock, which may have been
 * set back.)
 */
static void aim_at(struct tkw_service *service, uint64_t time)
{
    if (!service->clock.is_wall && time != UINT64_MAX) {
        uint64_t now = service->clock.now(service->clock.context);
        if (time <= now && service->aimed_ns <= now)
            return;
    }
    service->aimed_ns = time;
    service->clock.aim(service->clock.context, time);
}

/* Aim the descriptor at `earliest`, if the user has asked for it.  Do nothing
 * during a pass: the runner does it afterwards. */
void tkw__wakeup_aim(struct tkw_service *service)
{
    if (!sync_get_ordered(&service->has_fd) ||
        sync_get_ordered(&service->is_active))
        return;
    service_lock(service);
    tkw_tick earliest = sync_get_ordered(&service->earliest);
    if (sync_get_ordered(&service->is_stopping))
        earliest = TKW_NEVER;
    aim_at(service, tkw__time_of(service, earliest));
    service_unlock(service);
}

/*
 * Make the descriptor unreadable for a caller of tkw_service_run() that must
 * not run now: a loop inside of a callback, a second thread, or a loop of a
 * stopped service.  Otherwise its loop would call again at once, for ever.  The
 * runner aims the descriptor again when its pass has ended.
 */
RARE void tkw__wakeup_mute(struct tkw_service *service)
{
    if (!sync_get_ordered(&service->has_fd))
        return;
    service_lock(service);
    if (sync_get_ordered(&service->is_active) ||
        sync_get_ordered(&service->is_stopping))
        aim_at(service, UINT64_MAX);
    service_unlock(service);
}

uint64_t tkw_service_next(struct tkw_service *service)
{
    if (sync_get_relaxed(&service->is_stopping))
        return UINT64_MAX;
    /* During a pass `earliest` is incomplete until all shards are visited. */
    if (sync_get_ordered(&service->is_active))
        return tkw_service_now(service);
    return tkw__time_of(service, sync_get_ordered(&service->earliest));
}

int tkw_service_poll_timeout(struct tkw_service *service)
{
    uint64_t next = tkw_service_next(service);
    if (next == UINT64_MAX)
        return -1;
    uint64_t now = tkw_service_now(service);
    uint64_t left = next > now ? next - now : 0;
    uint64_t ms = left / TKW_MILLISECOND + (left % TKW_MILLISECOND != 0);
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

int tkw_service_fd(struct tkw_service *service)
{
    if (service->has_driver)
        return -EINVAL;
    if (service->clock.fd == NULL)
        return -ENOTSUP;
    service_lock(service);
    int fd = service->clock.fd(service->clock.context);
    service_unlock(service);
    if (fd >= 0) {
        sync_put_ordered(&service->has_fd, true);
        tkw__wakeup_aim(service);
    }
    return fd;
}
