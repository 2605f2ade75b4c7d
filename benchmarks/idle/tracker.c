/*
 * idle/tracker.c - the tracker of idle.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tickwheel/idle.h>

struct way;

static struct way *way_open(size_t keys)
{
    struct tkw_idle *idle;
    /* A secret, so that all rounds of a trial do the same. */
    struct tkw_idle_config config = {.limit_ns = 30 * TKW_SECOND,
                                     .secret = {1, 2}};
    (void)keys; /* it grows */
    if (tkw_idle_open(&idle, &config) != 0) {
        fprintf(stderr, "bench idle: the tracker does not open\n");
        exit(1);
    }
    return (struct way *)idle;
}

static struct tkw_idle *idle_of(const struct way *way)
{
    return (struct tkw_idle *)way;
}

static void way_close(struct way *way)
{
    tkw_idle_close(idle_of(way));
}

static inline void way_touch(struct way *way, struct tkw_key key, uint64_t now)
{
    if (tkw_idle_touch(idle_of(way), key, now) < 0)
        abort();
}

static size_t way_expire_some(struct way *way, uint64_t now)
{
    struct tkw_idle_key silent[64];
    return tkw_idle_pop_silent(idle_of(way), silent, 64, now);
}

static uint64_t way_next(const struct way *way)
{
    return tkw_idle_next(idle_of(way));
}

#define WAY tracker
#define WAY_NAME "tkw_idle"
#include "play.h"
