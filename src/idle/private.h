/*
 * idle/private.h - what a tracker is made of, for tracker.c and its tests.
 */
#ifndef TKW_IDLE_PRIVATE_H
#define TKW_IDLE_PRIVATE_H

#include <tickwheel/idle.h>

#include "keys/table.h"

/* What a slot of the table has for its key; its limit is the slot's extra. */
enum { IDLE_LAST, IDLE_TIMER };

struct tkw_idle {
    struct table table;
    struct tkw_pool *pool; /* a timer a key, always armed */
    uint64_t limit_ns;
    uint64_t tick_ns;
    uint64_t now_ns; /* the latest that expired() was told */
    size_t keys_max;
    uint32_t room;  /* timers that the pool has memory for, besides one, and one
                      for each key ... */
    uint64_t moved; /* ... whose limit was shortened: no more than this */
    struct table_bytes *told; /* of keys that were handed out, to be freed by
                                 the next expired() */
    struct table_bytes *forgotten; /* of keys that are gone, while ... */
    unsigned walks;                /* ... so many may still look at them */
    struct tkw_idle_figures figures;
};

#endif
