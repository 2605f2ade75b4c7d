/*
 * service.c - tickwheel's timer service as it opens by default: a thread of its
 * own, a tick of 100 us, a shard for each processor.
 */
#include <stdlib.h>

#include <tickwheel/service.h>
#include <tickwheel/version.h>

#include "field.h"

struct facility {
    struct tkw_service *service;
    _Atomic tkw_handle *handles; /* a callback may set its own anew */
};

/* A callback gets one pointer: the number of its timer. */
static struct facility *opened;

static void fired(struct facility *f, uint32_t id);

static void call(void *argument, const struct tkw_firing *firing)
{
    (void)firing;
    fired(opened, (uint32_t)(uintptr_t)argument);
}

static struct facility *facility_open(size_t n)
{
    struct facility *f = field_memory(1, sizeof *f);
    f->handles = field_memory(n, sizeof *f->handles);
    if (tkw_service_open(&f->service, NULL) != 0)
        field_fail("the service does not open");
    opened = f;
    return f;
}

static void facility_close(struct facility *f)
{
    tkw_service_close(f->service, NULL, NULL);
    free(f->handles);
    free(f);
}

static inline tkw_handle handle_of(struct facility *f, uint32_t id)
{
    return atomic_load_explicit(&f->handles[id], memory_order_relaxed);
}

static inline void set(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    struct tkw_task task = {call, (void *)(uintptr_t)id, NULL};
    tkw_handle handle;
    if (tkw_service_arm(f->service, &handle, delay_ms * TKW_MILLISECOND,
                        task) != 0)
        field_fail("tkw_service_arm() failed");
    atomic_store_explicit(&f->handles[id], handle, memory_order_relaxed);
}

static inline void clear(struct facility *f, uint32_t id)
{
    if (tkw_service_cancel(f->service, handle_of(f, id)) != 1)
        field_fail("tkw_service_cancel() came too late");
}

#define HAS_RESET
static inline void reset(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    if (tkw_service_rearm(f->service, handle_of(f, id),
                          delay_ms * TKW_MILLISECOND) != 1)
        field_fail("tkw_service_rearm() came too late");
}

/* One that fires at this moment sets itself again. */
#define HAS_PUSH
static inline void push(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    if (tkw_service_postpone(f->service, handle_of(f, id),
                             delay_ms * TKW_MILLISECOND) < 0)
        field_fail("tkw_service_postpone() failed");
}

static void run_until(struct facility *f, uint64_t ns)
{
    (void)f;
    field_sleep_until(ns);
}

#define HAS_THREADS
#include "real.h"

const struct field_peer peer_service = {
    .name = "service",
    .title = "tickwheel service",
    .settings = "as it opens by default: tick 100 us, a shard a processor",
    .version = tkw_version,
    .real = real_workloads,
    .why_not_virtual = "the wheel and the pool are its parts",
};
