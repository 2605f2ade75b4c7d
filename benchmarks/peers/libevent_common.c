/*
 * libevent_common.c - libevent's common timeouts: delays that it is told of
 * beforehand, each with a list in place of the heap.  That is for programs with
 * few different delays, so workloads that have more are left out.  Those of the
 * beginning, which are spread, are in the heap.
 */
#include <event2/event.h>

static struct {
    struct timeval delay;
    const struct timeval *common; /* the same, marked */
} commons[] = {
    {.delay = {.tv_sec = 30}},   /* TOUCH_LIMIT_MS and others */
    {.delay = {.tv_sec = 1800}}, /* D2_DELAY_MS */
};

enum { COMMONS = sizeof commons / sizeof commons[0] };

static void init_commons(struct event_base *base)
{
    for (int i = 0; i < COMMONS; i++)
        commons[i].common =
            event_base_init_common_timeout(base, &commons[i].delay);
}

static inline const struct timeval *timeout_of(struct timeval *delay)
{
    for (int i = 0; i < COMMONS; i++) {
        if (evutil_timercmp(delay, &commons[i].delay, ==))
            return commons[i].common;
    }
    return delay;
}

#define STRUCTURE libevent_common
#include "libevent_timers.h"

static const struct bench_structure common = {
    .name = "libevent_common",
    .n_max = SIZE_MAX,
    .run = {[TOUCH] = run_touch,
            [D1] = run_d1,
            [D2] = run_d2,
            [D2_WORST] = run_d2_worst,
            [D3] = run_d3},
};

static void (*const real[])(const struct bench_load *load) = {
    [REAL_PAIRS_1] = real_pairs_1,
    [REAL_D1] = real_d1,
    [REAL_D2] = real_d2,
    [REAL_D3] = real_d3,
};
_Static_assert(sizeof real == sizeof real_workloads, "some of them");

#define WHY_NOT "for delays that are all equal"

const struct field_peer peer_libevent_common = {
    .name = "libevent_common",
    .title = "libevent, common timeouts",
    .settings = "as libevent, with event_base_init_common_timeout() of the "
                "delays that recur",
    .version = event_get_version,
    .structure = &common,
    .why_not_virtual = WHY_NOT,
    .real = real,
    .why_not_real = WHY_NOT,
};
