/*
 * os/lock_order.h - the order in which threads take locks; in debug builds, an
 * assertion that each thread keeps to it.
 *
 *     ORDER_MONITOR    a shard of a monitor
 *     ORDER_PURGATORY  a shard of a purgatory
 *     ORDER_SHARD      a shard of a service
 *     ORDER_SERVICE    a service
 *     ORDER_LEAF       a clock, or the recorder of a service
 *
 * A thread that holds a lock takes only locks further down, and never two of a
 * kind.  With a monitor's lock it may call the service, with a purgatory's only
 * the allocator.  With any lock it calls no callback of the user: callbacks may
 * call any function, and would sooner or later block on that lock.
 */
#ifndef TKW_OS_LOCK_ORDER_H
#define TKW_OS_LOCK_ORDER_H

#include "base/assertion.h"
#include "sync.h"

enum order {
    ORDER_MONITOR = 1,
    ORDER_PURGATORY = 2,
    ORDER_SHARD = 4,
    ORDER_SERVICE = 8,
    ORDER_LEAF = 16,
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
