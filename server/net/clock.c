/*
 * net/clock.c - the only place of the server where a clock is read.
 *
 * The timers of libuv have steps of a millisecond.  A timer descriptor has the
 * steps of the clock.
 */
#define _GNU_SOURCE

#include "clock.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND UINT64_C(1000000000)

static uint64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

int tkd_clock_open(struct tkd_clock *clock)
{
    clock->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (clock->timer < 0)
        return -errno;
    /* The difference may wrap around: tkd_clock_now() wraps it back. */
    clock->anchor_ns = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME);
    clock->aimed_ns = UINT64_MAX;
    return 0;
}

void tkd_clock_close(struct tkd_clock *clock)
{
    close(clock->timer);
}

uint64_t tkd_clock_now(const struct tkd_clock *clock)
{
    return read_clock(CLOCK_BOOTTIME) + clock->anchor_ns;
}

/* Return the timer's setting for a time.  All zeroes disarm the timer. */
static struct itimerspec setting_for(const struct tkd_clock *clock,
                                     uint64_t time_ns)
{
    struct itimerspec setting = {0};
    if (time_ns == UINT64_MAX)
        return setting;
    uint64_t boot_ns = read_clock(CLOCK_BOOTTIME);
    uint64_t now_ns = boot_ns + clock->anchor_ns;
    if (time_ns > now_ns)
        boot_ns += time_ns - now_ns;
    setting.it_value.tv_sec = (time_t)(boot_ns / NS_PER_SECOND);
    setting.it_value.tv_nsec = (long)(boot_ns % NS_PER_SECOND);
    return setting;
}

void tkd_clock_aim(struct tkd_clock *clock, uint64_t time_ns)
{
    if (time_ns == clock->aimed_ns)
        return;
    struct itimerspec setting = setting_for(clock, time_ns);
    timerfd_settime(clock->timer, TFD_TIMER_ABSTIME, &setting, NULL);
    clock->aimed_ns = time_ns;
}
