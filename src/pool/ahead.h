/*
 * pool/ahead.h - what a pool does for the layers above it, beside pool.h.
 */
#ifndef TKW_POOL_AHEAD_H
#define TKW_POOL_AHEAD_H

#include <tickwheel/pool.h>

/* tkw_pool_next() asks for a wake-up for each so many timers of a crowd.  A
 * caller that arms as many should ask it again. */
#ifndef TKW_WAKE_SHARE
#define TKW_WAKE_SHARE 1024
#endif

/* Prefetch what is known of a timer, any number being fine for a handle. */
void tkw__pool_prefetch(const struct tkw_pool *pool, tkw_handle handle);

/* Prefetch places that timers will take: to be asked once for every so many of
 * them, if many are to be armed. */
#define POOL_PREFETCHED 4
void tkw__pool_prefetch_free(const struct tkw_pool *pool);

/* Steps of the sweeper that an arming makes when the allocator refuses.  A step
 * looks at as many entries as a chunk holds, at most. */
#define POOL_RECLAIM_STEPS 16

/*
 * Like tkw_pool_reserve(), but when the allocator refuses, make no more than
 * `steps` steps of the sweeper, however large `n` is: 0 for a caller that has
 * another way to go on, POOL_RECLAIM_STEPS for one that would have to give up.
 */
int tkw__pool_reserve(struct tkw_pool *pool, size_t n, size_t steps);

#endif
