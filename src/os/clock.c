/*
 * os/clock.c - the clocks of the system: the only place where one is read.
 *
 * Threads wait on the monotonic clock with a condition variable.  Condition
 * variables know neither the boot clock, which goes on while the machine
 * sleeps, nor steps of the wall clock.  These two clocks have a timer
 * descriptor, which also reports steps of the wall clock, and an event
 * descriptor for wake().
 */
#include "system.h"

#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "lock_order.h"
#include "sync.h"

/* For languages that cannot inline it. */
extern inline uint64_t tkw_duration_ns(uint64_t count, uint64_t unit_ns);

struct sleeper {
    clockid_t id;
    int timer; /* -1 on the monotonic clock, which has no `event` */
    int event;
    int aimed; /* for event loops, or -1 */
    struct sync_mutex mutex;
    struct sync_cond cond; /* `woken` was set */
    bool woken;            /* mutex */
};

static uint64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * TKW_SECOND + (uint64_t)now.tv_nsec;
}

static uint64_t monotonic_now(void *context)
{
    (void)context;
    return read_clock(CLOCK_MONOTONIC);
}

static void monotonic_wait_until(void *context, uint64_t time)
{
    struct sleeper *sleeper = context;
    order_lock(&sleeper->mutex, ORDER_LEAF);
    if (!sleeper->woken)
        tkw__sync_wait_until(&sleeper->cond, &sleeper->mutex, time);
    sleeper->woken = false;
    order_unlock(&sleeper->mutex, ORDER_LEAF);
}

static void monotonic_wake(void *context)
{
    struct sleeper *sleeper = context;
    order_lock(&sleeper->mutex, ORDER_LEAF);
    sleeper->woken = true;
    sync_broadcast(&sleeper->cond);
    order_unlock(&sleeper->mutex, ORDER_LEAF);
}

static uint64_t descriptor_now(void *context)
{
    const struct sleeper *sleeper = context;
    return read_clock(sleeper->id);
}

/* Set a timer descriptor to `time`.  Returns 0, or ECANCELED if the wall clock
 * was set since the last call: the timer is set nevertheless. */
static int set_timer(const struct sleeper *sleeper, int timer, uint64_t time)
{
    struct itimerspec until = {
        .it_value.tv_sec = (time_t)(time / TKW_SECOND),
        .it_value.tv_nsec = (long)(time % TKW_SECOND),
    };
    if (time == 0)
        until.it_value.tv_nsec = 1; /* 0 would disarm the timer */
    int flags = TFD_TIMER_ABSTIME;
    if (sleeper->id == CLOCK_REALTIME)
        flags |= TFD_TIMER_CANCEL_ON_SET;
    return timerfd_settime(timer, flags, &until, NULL) == 0 ? 0 : errno;
}

static void descriptor_wait_until(void *context, uint64_t time)
{
    struct sleeper *sleeper = context;
    /* The kernel reports a step of the wall clock by ECANCELED, once: the
     * caller has to read the clock again. */
    if (set_timer(sleeper, sleeper->timer, time) == ECANCELED)
        return;

    struct pollfd descriptors[] = {
        {.fd = sleeper->timer, .events = POLLIN},
        {.fd = sleeper->event, .events = POLLIN},
    };
    poll(descriptors, 2, -1);

    /* Neither read blocks: without data it fails.  If the clock was set,
     * reading the timer fails, too: it is enough that poll() has returned. */
    uint64_t count;
    (void)!read(sleeper->timer, &count, sizeof count);
    (void)!read(sleeper->event, &count, sizeof count);
}

static void descriptor_wake(void *context)
{
    const struct sleeper *sleeper = context;
    uint64_t one = 1;
    (void)!write(sleeper->event, &one, sizeof one);
}

static int clock_fd(void *context)
{
    struct sleeper *sleeper = context;
    if (sleeper->aimed < 0)
        sleeper->aimed =
            timerfd_create(sleeper->id, TFD_CLOEXEC | TFD_NONBLOCK);
    return sleeper->aimed >= 0 ? sleeper->aimed : -errno;
}

static void clock_aim(void *context, uint64_t time)
{
    const struct sleeper *sleeper = context;
    /* The clock was set, and the caller has not read it yet: be readable at
     * once. */
    if (set_timer(sleeper, sleeper->aimed, time) == ECANCELED)
        set_timer(sleeper, sleeper->aimed, 0);
}

static int open_descriptors(struct sleeper *sleeper)
{
    sleeper->timer = timerfd_create(sleeper->id, TFD_CLOEXEC | TFD_NONBLOCK);
    if (sleeper->timer < 0)
        return -errno;
    sleeper->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (sleeper->event < 0) {
        int error = -errno;
        close(sleeper->timer);
        return error;
    }
    return 0;
}

int tkw__clock_open(struct tkw_clock *clock, enum tkw_clock_kind kind,
                    const struct tkw_allocator *allocator)
{
    struct sleeper *sleeper =
        allocator->allocate(allocator->context, sizeof *sleeper);
    if (sleeper == NULL)
        return -ENOMEM;
    *sleeper =
        (struct sleeper){.id = CLOCK_MONOTONIC, .timer = -1, .aimed = -1};
    *clock = (struct tkw_clock){monotonic_now,  monotonic_wait_until,
                                monotonic_wake, sleeper,
                                false,          clock_fd,
                                clock_aim};
    if (kind != TKW_MONOTONIC) {
        sleeper->id = kind == TKW_WALL ? CLOCK_REALTIME : CLOCK_BOOTTIME;
        clock->now = descriptor_now;
        clock->wait_until = descriptor_wait_until;
        clock->wake = descriptor_wake;
        clock->is_wall = kind == TKW_WALL;
        int error = open_descriptors(sleeper);
        if (error != 0) {
            allocator->release(allocator->context, sleeper, sizeof *sleeper);
            return error;
        }
    }
    sync_mutex_init(&sleeper->mutex);
    tkw__sync_cond_init(&sleeper->cond);
    return 0;
}

void tkw__clock_close(struct tkw_clock *clock,
                      const struct tkw_allocator *allocator)
{
    struct sleeper *sleeper = clock->context;
    if (sleeper->timer >= 0) {
        close(sleeper->timer);
        close(sleeper->event);
    }
    if (sleeper->aimed >= 0)
        close(sleeper->aimed);
    sync_mutex_destroy(&sleeper->mutex);
    sync_cond_destroy(&sleeper->cond);
    allocator->release(allocator->context, sleeper, sizeof *sleeper);
}
