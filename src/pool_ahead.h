/*
 * pool_ahead.h - what a pool does for those who know ahead what they will ask.
 */
#ifndef TKW_POOL_AHEAD_H
#define TKW_POOL_AHEAD_H

#include <tickwheel/pool.h>

/* A static library shows this name to the linker: let it be ours. */
#define pool_send_for tkw_inner_pool_send_for

/* Send for what is known of a timer, any number being fine for a handle. */
void pool_send_for(const struct tkw_pool *pool, tkw_handle handle);

#endif
