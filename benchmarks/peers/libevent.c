/*
 * libevent.c - libevent's timers as everybody has them: a binary heap of
 * pointers.
 */
#include <sys/time.h>

struct event_base;

static void init_commons(struct event_base *base)
{
    (void)base;
}

static inline const struct timeval *timeout_of(struct timeval *delay)
{
    return delay;
}

#define STRUCTURE libevent
#include "libevent_timers.h"

const struct field_peer peer_libevent = {
    .name = "libevent",
    .title = "libevent",
    .settings = "event_add() of events in an array; no locks; in real time the "
                "precise timer",
    .version = event_get_version,
    .structure = &bench_libevent,
    .real = real_workloads,
    .why_not_real = "a base without locks belongs to one thread",
};
