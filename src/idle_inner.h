/*
 * idle_inner.h - a tracker, as the monitor sees it: the calls of idle.h for
 * whoever knows the hash of a key already.
 */
#ifndef TKW_IDLE_INNER_H
#define TKW_IDLE_INNER_H

#include <tickwheel/idle.h>

#include "table.h"

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

#define idle_refresh tkw_inner_idle_refresh
#define idle_add tkw_inner_idle_add
#define idle_touch_limit tkw_inner_idle_touch_limit
#define idle_forget tkw_inner_idle_forget
#define idle_query tkw_inner_idle_query
#define idle_due_ns tkw_inner_idle_due_ns
#define idle_begin_walk tkw_inner_idle_begin_walk
#define idle_end_walk tkw_inner_idle_end_walk

/* Touch a key.  Returns whether it is held. */
bool idle_refresh(struct tkw_idle *idle, struct tkw_key key, uint64_t hash,
                  uint64_t now_ns);

/* Touch a key that is not held, or one that may be, and give it a limit.  They
 * return what the calls of idle.h do. */
int idle_add(struct tkw_idle *idle, const struct tkw_silent *wish,
             uint64_t hash);
int idle_touch_limit(struct tkw_idle *idle, const struct tkw_silent *wish,
                     uint64_t hash);
bool idle_forget(struct tkw_idle *idle, struct tkw_key key, uint64_t hash);
bool idle_query(const struct tkw_idle *idle, struct tkw_key key, uint64_t hash,
                struct tkw_silent *silent);

/* When a key is found that was last touched then and has this limit (0: the
 * common one). */
uint64_t idle_due_ns(const struct tkw_idle *idle, uint64_t last_ns,
                     uint64_t limit_ns);

/* In between, the bytes of keys that are visited stay, whatever becomes of the
 * keys. */
void idle_begin_walk(struct tkw_idle *idle);
void idle_end_walk(struct tkw_idle *idle);

#endif
