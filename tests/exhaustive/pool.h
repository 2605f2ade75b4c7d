/*
 * pool.h - what the two files that make toys of pools share.
 */
#ifndef EXHAUSTIVE_POOL_H
#define EXHAUSTIVE_POOL_H

#include "key.h"

#include "../model/engine_pool_handles.h"
#include "pool/private.h"

/* Can so many entries be dead that the pool sweeps? */
bool pool_may_sweep(const struct toy_config *config);

/*
 * How often postponing keeps slots from falling unseen; 0 if there is no level
 * where they could.
 */
uint64_t pool_unseen(const struct toy *toy);

/* What has come to be with those that never expire wakes nobody any more. */
void pool_unbind_never(struct toy *toy);

void pool_put(struct text *text);

#endif
