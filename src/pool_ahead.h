/*
 * pool_ahead.h - what a pool does for those who know ahead what they will ask.
 */
#ifndef TKW_POOL_AHEAD_H
#define TKW_POOL_AHEAD_H

#include <tickwheel/pool.h>

/* A static library shows these names to the linker: let them be ours. */
#define pool_prefetch tkw_inner_pool_prefetch
#define pool_prefetch_free tkw_inner_pool_prefetch_free

/* Prefetch what is known of a timer, any number being fine for a handle. */
void pool_prefetch(const struct tkw_pool *pool, tkw_handle handle);

/* Prefetch places that timers will take: to be asked once for every so many of
 * them, if many are to be armed. */
#define POOL_PREFETCHED 4
void pool_prefetch_free(const struct tkw_pool *pool);

#endif
