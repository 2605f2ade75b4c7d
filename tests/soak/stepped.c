/*
 * stepped.c - the monotonic clock with an offset that is stepped.
 */
#define _GNU_SOURCE

#include "stepped.h"

#include <time.h>

#include "watch.h"

static uint64_t stepped_now(void *context)
{
    struct stepped *stepped = context;
    return monotonic_ns() + atomic_load(&stepped->offset);
}

/* Ends also when the clock is stepped: the time may have come by that. */
static void stepped_wait_until(void *context, uint64_t time)
{
    struct stepped *stepped = context;
    pthread_mutex_lock(&stepped->mutex);
    uint64_t offset = atomic_load(&stepped->offset);
    uint64_t until = time > offset ? time - offset : 0;
    struct timespec limit = {(time_t)(until / TKW_SECOND),
                             (long)(until % TKW_SECOND)};
    if (!stepped->is_woken && time == UINT64_MAX)
        pthread_cond_wait(&stepped->cond, &stepped->mutex);
    else if (!stepped->is_woken)
        pthread_cond_timedwait(&stepped->cond, &stepped->mutex, &limit);
    stepped->is_woken = false;
    pthread_mutex_unlock(&stepped->mutex);
}

static void stepped_wake(void *context)
{
    struct stepped *stepped = context;
    pthread_mutex_lock(&stepped->mutex);
    stepped->is_woken = true;
    pthread_cond_broadcast(&stepped->cond);
    pthread_mutex_unlock(&stepped->mutex);
}

void stepped_open(struct stepped *stepped, bool is_wall)
{
    stepped->clock = (struct tkw_clock){
        .now = stepped_now,
        .wait_until = stepped_wait_until,
        .wake = stepped_wake,
        .context = stepped,
        .is_wall = is_wall,
    };
    atomic_store(&stepped->offset, STEPPED_LEAST);
    stepped->is_woken = false;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&stepped->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&stepped->mutex, NULL);
}

void stepped_step(struct stepped *stepped, uint64_t part)
{
    pthread_mutex_lock(&stepped->mutex);
    atomic_store(&stepped->offset, STEPPED_LEAST + part % STEPPED_RANGE);
    stepped->is_woken = true;
    pthread_cond_broadcast(&stepped->cond);
    pthread_mutex_unlock(&stepped->mutex);
}

void stepped_close(struct stepped *stepped)
{
    pthread_cond_destroy(&stepped->cond);
    pthread_mutex_destroy(&stepped->mutex);
}
