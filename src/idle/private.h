/*
 * idle/private.h - a tracker, as the monitor sees it: the calls of idle.h for
 * whoever knows the hash of a key already.
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

/* Touch a key.  Returns whether it is held. */
bool tkw__idle_refresh(struct tkw_idle *idle, struct tkw_key key, uint64_t hash,
                       uint64_t now_ns);

/* Touch a key that is not held, or one that may be, and give it a limit.  They
 * return what the calls of idle.h do. */
int tkw__idle_add(struct tkw_idle *idle, const struct tkw_silent *wish,
                  uint64_t hash);
int tkw__idle_touch_limit(struct tkw_idle *idle, const struct tkw_silent *wish,
                          uint64_t hash);
bool tkw__idle_forget(struct tkw_idle *idle, struct tkw_key key, uint64_t hash);
bool tkw__idle_query(const struct tkw_idle *idle, struct tkw_key key,
                     uint64_t hash, struct tkw_silent *silent);

/* When a key is found that was last touched then and has this limit (0: the
 * common one). */
uint64_t tkw__idle_due_ns(const struct tkw_idle *idle, uint64_t last_ns,
                          uint64_t limit_ns);

/* In between, the bytes of keys that are visited stay, whatever becomes of the
 * keys. */
void tkw__idle_begin_walk(struct tkw_idle *idle);
void tkw__idle_end_walk(struct tkw_idle *idle);

#endif
