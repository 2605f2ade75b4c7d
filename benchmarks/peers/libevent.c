/*
 * libevent.c - libevent's timers as everybody has them: a binary heap of
 * pointers.
 */
#include <sys/time.h>

struct event_base;

static void get_ready(struct event_base *base)
{
    (void)base;
}

static inline const struct timeval *told(struct timeval *delay)
{
    return delay;
}

#define STRUCTURE libevent
#include "libevent_timers.h"

static void (*const real[])(const struct bench_load *load) = {
    [REAL_CALLS] = real_calls,
    [REAL_PAIRS_1] = real_pairs_1,
    [REAL_PAIRS_2] = pairs_2_with_locks,
    [REAL_LATE] = real_late,
    [REAL_IDLE] = real_idle,
    [REAL_D1] = real_d1,
    [REAL_D2] = real_d2,
    [REAL_D3] = real_d3,
};
_Static_assert(sizeof real == sizeof real_workloads, "all of them");

const struct field_peer peer_libevent = {
    .name = "libevent",
    .title = "libevent",
    .settings = "event_add() of events in an array; in real time the precise "
                "timer, with two threads locks",
    .version = event_get_version,
    .structure = &bench_libevent,
    .real = real,
    .why_not_virtual = "does not tell what is next",
};
