/*
 * os/lock_order.h - the order in which locks are taken, and in debug builds, an
 * assertion that it is kept.
 *
 *     1. a shard of a monitor
 *     2. a shard of a purgatory
 *     3. a shard of a service
 *     4. a service
 *     5. a clock, or the recorder of a service
 *
 * Whoever holds one takes only those further down, and never two of a kind.
 * With a monitor's, the service is called; with a purgatory's, nothing but the
 * allocator is.  Callbacks of the user are called with none: they may call
 * anything, and would sooner or later wait for themselves.
 *
 * The first two are asserted here; those of the service are in its own hands.
 */
#ifndef TKW_OS_LOCK_ORDER_H
#define TKW_OS_LOCK_ORDER_H

#include "base/assertion.h"
#include "sync.h"

enum order {
    ORDER_MONITOR = 1,
    ORDER_PURGATORY = 2,
};

#ifdef NDEBUG

static inline void order_lock(struct sync_mutex *mutex, enum order order)
{
    (void)order;
    sync_lock(mutex);
}

static inline void order_unlock(struct sync_mutex *mutex, enum order order)
{
    (void)order;
    sync_unlock(mutex);
}

static inline void order_assert_free(void)
{
}

#else

static inline void order_lock(struct sync_mutex *mutex, enum order order)
{
    TKW_ASSERT(sync_self()->locks < (uint32_t)order);
    sync_lock(mutex);
    sync_self()->locks |= (uint32_t)order;
}

static inline void order_unlock(struct sync_mutex *mutex, enum order order)
{
    TKW_ASSERT(sync_self()->locks & (uint32_t)order);
    sync_self()->locks &= ~(uint32_t)order;
    sync_unlock(mutex);
}

static inline void order_assert_free(void)
{
    TKW_ASSERT(sync_self()->locks == 0);
}

#endif

#endif
