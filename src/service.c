/*
 * service.c - opening, stopping and closing a service, and its figures.
 */
#define _DEFAULT_SOURCE

#include <tickwheel/service.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "allocator.h"
#include "clock_inner.h"
#include "service_inner.h"

enum { SHARDS_BY_DEFAULT_MAX = 16 };

static int check_config(const struct tkw_service_config *config)
{
    const struct tkw_clock *clock = config->clock;
    if (tkw_geometry_fault(&config->geometry) != NULL ||
        !allocator_is_whole(config->allocator) ||
        config->shards > TKW_SHARDS_MAX ||
        (unsigned)config->driver > TKW_DRIVER_NONE ||
        (unsigned)config->clock_kind > TKW_WALL)
        return -EINVAL;
    if (clock != NULL && (clock->now == NULL || clock->wait_until == NULL ||
                          clock->wake == NULL))
        return -EINVAL;
    for (size_t i = 0; i < sizeof config->reserved / sizeof(uint64_t); i++)
        if (config->reserved[i] != 0)
            return -EINVAL;
    return 0;
}

static void *allocate(struct tkw_service *service, size_t bytes)
{
    void *memory =
        service->allocator.allocate(service->allocator.context, bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

static void release(struct tkw_service *service, void *memory, size_t bytes)
{
    service->allocator.release(service->allocator.context, memory, bytes);
}

static int open_shard(struct tkw_service *service,
                      const struct tkw_service_config *config)
{
    struct shard *shard = allocate(service, sizeof *shard);
    if (shard == NULL)
        return -ENOMEM;
    struct tkw_pool_config of_pool = {
        .geometry = config->geometry,
        .start = service->last_ns / service->tick_ns,
        .allocator = &service->allocator,
    };
    int error = tkw_pool_open(&shard->pool, &of_pool);
    if (error != 0) {
        release(service, shard, sizeof *shard);
        return error;
    }
    sync_mutex_init(&shard->mutex);
    shard->number = service->shard_count;
    service->shards[service->shard_count++] = shard;
    return 0;
}

static void close_shard(struct tkw_service *service, struct shard *shard)
{
    for (int i = 0; shard->segments[i] != NULL; i++)
        release(service, shard->memory[i], JOB_SEGMENT_BYTES);
    tkw_pool_close(shard->pool);
    sync_mutex_destroy(&shard->mutex);
    release(service, shard, sizeof *shard);
}

static uint32_t default_shards(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors > SHARDS_BY_DEFAULT_MAX)
        processors = SHARDS_BY_DEFAULT_MAX;
    return processors > 1 ? (uint32_t)processors : 1;
}

/* Free a service, or as much of one as there is. */
static void dismantle(struct tkw_service *service)
{
    for (uint32_t i = 0; i < service->shard_count; i++)
        close_shard(service, service->shards[i]);
    if (service->has_own_clock)
        clock_close(&service->clock, &service->allocator);
    sync_mutex_destroy(&service->mutex);
    sync_cond_destroy(&service->quiet);
    sync_cond_destroy(&service->ended);
    release(service, service, sizeof *service);
}

static int open_clock(struct tkw_service *service,
                      const struct tkw_service_config *config)
{
    if (config->clock != NULL) {
        service->clock = *config->clock;
    } else {
        int error = clock_open(&service->clock, config->clock_kind,
                               &service->allocator);
        if (error != 0)
            return error;
        service->has_own_clock = true;
    }
    service->last_ns = service->clock.now(service->clock.context);
    service->read_ns = service->last_ns;
    service->shown_ns = service->last_ns;
    return 0;
}

static int open_parts(struct tkw_service *service,
                      const struct tkw_service_config *config)
{
    int error = open_clock(service, config);
    uint32_t shards = config->shards != 0 ? config->shards : default_shards();
    while (error == 0 && service->shard_count < shards)
        error = open_shard(service, config);
    if (error == 0 && service->has_driver)
        error = sync_start(&service->driver, service_drive, service,
                           config->thread_name != NULL ? config->thread_name
                                                       : "tickwheel");
    return error;
}

int tkw_service_open(struct tkw_service **service,
                     const struct tkw_service_config *config)
{
    static const struct tkw_service_config plain;
    if (config == NULL)
        config = &plain;
    int error = check_config(config);
    if (error != 0)
        return error;

    const struct tkw_allocator *allocator =
        config->allocator != NULL ? config->allocator : &allocator_plain;
    struct tkw_service *made =
        allocator->allocate(allocator->context, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    *made = (struct tkw_service){
        .tick_ns = config->tick_ns != 0 ? config->tick_ns : TKW_MILLISECOND,
        .has_driver = config->driver == TKW_DRIVER_THREAD,
        .allocator = *allocator,
        .timers_max = config->timers_max,
        .thread_start = config->thread_start,
        .log = config->log,
        .context = config->context,
        .earliest = TKW_NEVER,
        .is_asleep = config->driver == TKW_DRIVER_NONE, /* always to be told */
    };
    sync_mutex_init(&made->mutex);
    sync_cond_init(&made->quiet);
    sync_cond_init(&made->ended);
    error = open_parts(made, config);
    if (error != 0) {
        dismantle(made);
        return error;
    }
    *service = made;
    return 0;
}

void tkw_service_stop(struct tkw_service *service)
{
    sync_put_ordered(&service->is_stopping, true); /* see enter() */
    service->clock.wake(service->clock.context);
    if (is_in_callback(service))
        return;
    sync_lock(&service->mutex);
    while (sync_get_ordered(&service->is_active))
        sync_wait(&service->quiet, &service->mutex);
    sync_unlock(&service->mutex);
}

/* Hand back what is pending in a shard.  Nobody else is there any more. */
static void hand_back(struct shard *shard, tkw_hand_back *each, void *context)
{
    for (uint32_t i = 0; i < shard->used; i++) {
        struct job *job = job_at(shard, i);
        uint64_t word = sync_get_acquire(&job->word);
        if ((word & JOB_ARMED) == 0)
            continue;
        /* So that nobody, called from here, ends it once more. */
        word = (word & ~JOB_ARMED) | JOB_CANCELLED;
        sync_put_relaxed(&job->word, word);
        struct tkw_rest rest = {
            .handle = job_handle(shard, job, word),
            .due_ns = job->due_ns,
            .task = {job->callback, job->argument, job->drop},
        };
        if (each != NULL)
            each(context, &rest);
        if (rest.task.drop != NULL)
            rest.task.drop(rest.task.argument);
    }
}

int tkw_service_close(struct tkw_service *service, tkw_hand_back *each,
                      void *context)
{
    if (service == NULL)
        return 0;
    if (is_in_callback(service))
        return -EDEADLK;
    tkw_service_stop(service);
    if (service->has_driver)
        sync_join(&service->driver);
    for (uint32_t i = 0; i < service->shard_count; i++)
        hand_back(service->shards[i], each, context);
    dismantle(service);
    return 0;
}

struct tkw_service_figures tkw_service_counters(struct tkw_service *service)
{
    /* Relaxed: exact when nothing moves. */
    struct tkw_service_figures told = {
        .wakeups = sync_get_relaxed(&service->wakeups),
        .calls = sync_get_relaxed(&service->calls),
        .steps_back = sync_get_relaxed(&service->steps_back),
    };
    for (uint32_t i = 0; i < service->shard_count; i++) {
        struct shard *shard = service->shards[i];
        sync_lock(&shard->mutex); /* against reaping, which moves counts */
        told.fired += sync_get_relaxed(&shard->fired);
        told.cancelled += shard->reaped;
        told.cancelled +=
            sync_get_relaxed(&shard->cancelled) >> CANCELLED_SHIFT;
        told.cancelled += sync_get_relaxed(&shard->cancelled_running);
        told.armed += shard->armed;
        sync_unlock(&shard->mutex);
    }
    told.pending = told.armed - told.fired - told.cancelled;
    return told;
}

size_t tkw_service_count(struct tkw_service *service)
{
    return (size_t)tkw_service_counters(service).pending;
}
