/*
 * poll_loop.c - the wheel under a real clock: deadlines rounded up, the
 * timeout of poll() from tkw_wheel_next(), never early.
 */
#define _POSIX_C_SOURCE 200809L

#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <tickwheel/wheel.h>

#define TICK_NS UINT64_C(1000000) /* a tick is a millisecond */

enum { TIMERS = 5 };

struct alarm {
    struct tkw_timer timer;
    uint64_t due_ns;
};

static union {
    struct tkw_wheel wheel;
    char bytes[TKW_WHEEL_DEFAULT_BYTES];
} memory;

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* For ever, not at all, or so many milliseconds, rounded up. */
static int poll_timeout(const struct tkw_wheel *wheel)
{
    tkw_tick next = tkw_wheel_next(wheel);
    if (next == TKW_NEVER)
        return -1;
    uint64_t now = clock_ns();
    if (next <= now / TICK_NS)
        return 0;
    uint64_t ms = (next * TICK_NS - now + 999999) / 1000000;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

int main(void)
{
    struct tkw_wheel *wheel = &memory.wheel;
    struct alarm alarms[TIMERS] = {0};
    int early = 0;

    tkw_wheel_init(wheel, sizeof memory, NULL,
                   tkw_tick_now(clock_ns(), TICK_NS));
    for (unsigned i = 0; i < TIMERS; i++) {
        /* A delay counts from the clock, not from the tick it stands in. */
        alarms[i].due_ns = clock_ns() + i * 3500000;
        tkw_wheel_arm(wheel, &alarms[i].timer,
                      tkw_tick_deadline(alarms[i].due_ns, TICK_NS));
    }

    while (tkw_wheel_count(wheel) > 0) {
        poll(NULL, 0, poll_timeout(wheel)); /* and your descriptors */
        tkw_wheel_advance(wheel, tkw_tick_now(clock_ns(), TICK_NS));
        for (struct tkw_timer *t; (t = tkw_wheel_pop(wheel)) != NULL;)
            early += clock_ns() < TKW_CONTAINER(t, struct alarm, timer)->due_ns;
    }
    printf("%d timers, %d early\n", TIMERS, early);
    return early != 0;
}
