/*
 * idle/private.h - struct tkw_idle, for tracker.c and its tests.
 */
#ifndef TKW_IDLE_PRIVATE_H
#define TKW_IDLE_PRIVATE_H

#include <tickwheel/idle.h>

#include "keys/table.h"

/* Values of a slot: the last touch and the timer.  Its extra is the limit. */
enum { IDLE_LAST, IDLE_TIMER };

struct tkw_idle {
    struct table table;
    struct tkw_pool *pool; /* one armed timer per key */
    uint64_t limit_ns;
    uint64_t tick_ns;
    uint64_t now_ns; /* the latest passed to tkw_idle_pop_silent() */
    size_t keys_max;
    uint32_t room;  /* timers that can be armed from the reserve, besides
                       CHECKED_AT_ONCE and one per moved timer */
    uint64_t moved; /* times that a timer was moved to an earlier tick */
    struct table_bytes *returned_keys; /* bytes of returned keys; the next
                                          tkw_idle_pop_silent() frees them */
    struct table_bytes *forgotten;     /* bytes of removed keys, for walks to
                                          read */
    unsigned walks;                    /* walks under way */
    struct tkw_idle_stats stats;
};

#endif
