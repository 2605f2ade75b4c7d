/*
 * pool/ahead.h - functions of a pool for the layers above, beside pool.h.
 */
#ifndef TKW_POOL_AHEAD_H
#define TKW_POOL_AHEAD_H

#include <tickwheel/pool.h>

/* tkw_pool_next() requests one wake-up for each TKW_WAKE_SHARE timers of a
 * crowd.  A caller that arms this many timers should call it again. */
#ifndef TKW_WAKE_SHARE
#define TKW_WAKE_SHARE 1024
#endif

/* Steps of the sweeper that an arming makes if the allocator refuses memory.  A
 * step reads at most as many entries as a chunk holds. */
#define POOL_RECLAIM_STEPS 16

/* Like tkw_pool_reserve(), for `n` armings of which `records` need a record.
 * If the allocator refuses memory, make at most `steps` steps of the sweeper,
 * however large `n` is.  Pass 0 if the caller has a fallback, or
 * POOL_RECLAIM_STEPS if it would have to fail. */
int tkw__pool_reserve(struct tkw_pool *pool, size_t n, size_t records,
                      size_t steps);

#endif
