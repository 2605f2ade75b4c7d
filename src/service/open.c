/*
 * service/open.c - opening, stopping and closing a service.
 */
#include "os/system.h"

#include <tickwheel/service.h>

#include <errno.h>

#include "base/allocator.h"
#include "os/clock.h"
#include "os/processors.h"
#include "private.h"

enum {
    SHARDS_BY_DEFAULT_MAX = 16,
    WORKERS_MAX = 1024,
    QUEUE_MAX = 1 << 24,
};

/* Returns whether a service with `config` has `executor`. */
static bool has_executor(const struct tkw_service_config *config,
                         enum tkw_executor executor)
{
    switch (executor) {
    case TKW_ANYWHERE:
    case TKW_ON_DRIVER:
        return true;
    case TKW_ON_WORKERS:
        return config->workers > 0;
    case TKW_BY_SUBMIT:
        return config->submit != NULL;
    }
    return false;
}

static const char *clock_fault(const struct tkw_clock *clock)
{
    if (clock == NULL)
        return NULL;
    if (clock->now == NULL || clock->wait_until == NULL || clock->wake == NULL)
        return "clock lacks now, wait_until or wake; set all three";
    if ((clock->fd == NULL) != (clock->aim == NULL))
        return "clock has only one of fd and aim; set both or neither";
    return NULL;
}

const char *tkw_service_config_fault(const struct tkw_service_config *config)
{
    if (config == NULL)
        return NULL;
    const char *fault = tkw__config_fault(config->reserved, config->allocator);
    if (fault == NULL)
        fault = tkw_geometry_fault(&config->geometry);
    if (fault == NULL)
        fault = clock_fault(config->clock);
    if (fault != NULL)
        return fault;
    if (config->shards > TKW_SHARDS_MAX)
        return "shards is more than 16";
    if ((unsigned)config->driver > TKW_DRIVER_NONE)
        return "driver is not a value of enum tkw_driver";
    if ((unsigned)config->clock_kind > TKW_WALL)
        return "clock_kind is not a value of enum tkw_clock_kind";
    if (config->workers > WORKERS_MAX)
        return "workers is more than 1,024";
    if (config->queue_max > QUEUE_MAX)
        return "queue_max is more than 2^24";
    if (!has_executor(config, config->executor))
        return "executor needs workers or submit to be set, or is not a value "
               "of enum tkw_executor";
    return NULL;
}

static void free_memory(struct tkw_service *service, void *memory, size_t bytes)
{
    service->allocator.release(service->allocator.context, memory, bytes);
}

static int open_shard(struct tkw_service *service, struct crew *crew,
                      const struct tkw_service_config *config)
{
    struct shard *shard =
        tkw__allocate_zeroed(&service->allocator, sizeof *shard);
    if (shard == NULL)
        return -ENOMEM;
    struct tkw_pool_config of_pool = {
        .geometry = config->geometry,
        .start = service->last_ns / service->tick_ns,
        .allocator = &service->allocator,
    };
    int error =
        tkw__pool_open_payload(&shard->pool, &of_pool, &shard->given_up);
    if (error != 0) {
        free_memory(service, shard, sizeof *shard);
        return error;
    }
    sync_mutex_init(&shard->mutex);
    shard->crew = crew;
    shard->segments = tkw__pool_segments(shard->pool);
    shard->target = of_pool.start;
    shard->number = service->shard_count;
    service->shards[service->shard_count++] = shard;
    return 0;
}

static void close_shard(struct tkw_service *service, struct shard *shard)
{
    for (int i = 0; shard->plans[i] != NULL; i++)
        free_memory(service, shard->plans[i], PLAN_SEGMENT_BYTES);
    tkw_pool_close(shard->pool);
    sync_mutex_destroy(&shard->mutex);
    free_memory(service, shard, sizeof *shard);
}

/* Free a service, or the parts of it that exist. */
static void dismantle(struct tkw_service *service)
{
    for (int i = 0; i < CREWS; i++)
        if (service->crews[i].service != NULL) {
            tkw__crew_close(&service->crews[i]);
            sync_cond_destroy(&service->crews[i].work);
        }
    for (uint32_t i = 0; i < service->shard_count; i++)
        close_shard(service, service->shards[i]);
    if (service->has_system_clock)
        tkw__clock_close(&service->clock, &service->allocator);
    tkw__recorder_close(service);
    sync_mutex_destroy(&service->mutex);
    sync_cond_destroy(&service->quiet);
    sync_cond_destroy(&service->ended);
    free_memory(service, service, sizeof *service);
}

static int open_clock(struct tkw_service *service,
                      const struct tkw_service_config *config)
{
    if (config->clock != NULL) {
        service->clock = *config->clock;
    } else {
        int error = tkw__clock_open(&service->clock, config->clock_kind,
                                    &service->allocator);
        if (error != 0)
            return error;
        service->has_system_clock = true;
    }
    service->last_ns = service->clock.now(service->clock.context);
    service->read_ns = service->last_ns;
    service->shown_ns = service->last_ns;
    return 0;
}

/* Open a crew and its shards.  The runner calls callbacks of TKW_ON_DRIVER
 * itself if no other crew would have to wait for them, or if there is no
 * driver. */
static int open_crew(struct tkw_service *service, enum tkw_executor executor,
                     const struct tkw_service_config *config)
{
    if (!has_executor(config, executor))
        return 0;
    struct crew *crew = &service->crews[executor - TKW_ON_DRIVER];
    bool is_alone = config->workers == 0 && config->submit == NULL;
    crew->service = service;
    crew->first_shard = service->shard_count;
    crew->is_direct =
        executor == TKW_ON_DRIVER && (is_alone || !service->has_driver);
    crew->is_submit = executor == TKW_BY_SUBMIT;
    tkw__sync_cond_init(&crew->work);
    if (config->executor == TKW_ANYWHERE || config->executor == executor)
        service->crew = crew;

    int error = 0;
    for (uint32_t i = 0; error == 0 && i < service->crew_shards; i++)
        error = open_shard(service, crew, config);
    if (error == 0 && executor == TKW_ON_WORKERS)
        error = tkw__crew_open(crew, config, config->workers, 'w');
    else if (error == 0 && executor == TKW_ON_DRIVER && !crew->is_direct)
        error = tkw__crew_open(crew, config, 1, 'd');
    return error;
}

static int open_parts(struct tkw_service *service,
                      const struct tkw_service_config *config)
{
    int error = open_clock(service, config);
    service->crew_shards = config->shards != 0
                               ? config->shards
                               : processors(SHARDS_BY_DEFAULT_MAX);
    for (int i = 0; error == 0 && i < CREWS; i++)
        error =
            open_crew(service, TKW_ON_DRIVER + (enum tkw_executor)i, config);
    if (error == 0 && service->has_driver)
        error = tkw__sync_start(
            &service->driver, tkw__service_drive, service,
            config->thread_name != NULL ? config->thread_name : THREAD_NAME);
    return error;
}

int tkw_service_open(struct tkw_service **service,
                     const struct tkw_service_config *config)
{
    static const struct tkw_service_config plain;
    if (config == NULL)
        config = &plain;
    if (tkw_service_config_fault(config) != NULL)
        return -EINVAL;

    const struct tkw_allocator *allocator =
        config->allocator != NULL ? config->allocator : &tkw__allocator_plain;
    struct tkw_service *made =
        allocator->allocate(allocator->context, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    *made = (struct tkw_service){
        .tick_ns = config->tick_ns != 0 ? config->tick_ns : TICK_NS,
        .has_driver = config->driver == TKW_DRIVER_THREAD,
        .allocator = *allocator,
        .timers_max = config->timers_max,
        .thread_start = config->thread_start,
        .log = config->log,
        .context = config->context,
        .submit = config->submit,
        .submit_context = config->submit_context,
        .earliest = TKW_NEVER,
        .aimed_ns = UINT64_MAX,
        .is_asleep = config->driver == TKW_DRIVER_NONE, /* always wake it */
    };
    sync_mutex_init(&made->mutex);
    sync_mutex_init(&made->recorder.mutex);
    tkw__sync_cond_init(&made->quiet);
    tkw__sync_cond_init(&made->ended);
    int error = open_parts(made, config);
    if (error != 0) {
        dismantle(made);
        return error;
    }
    *service = made;
    return 0;
}

void tkw_service_stop(struct tkw_service *service)
{
    sync_put_ordered(&service->is_stopping, true); /* see begin_pass() */
    service->clock.wake(service->clock.context);
    tkw__wakeup_aim(service);
    if (frame_is_inside(service))
        return;
    service_lock(service);
    while (sync_get_ordered(&service->is_active) || service->running_count > 0)
        sync_wait(&service->quiet, &service->mutex);
    service_unlock(service);
}

/* Hand back the pending timers of a shard.  No other thread is left. */
static void hand_back(struct shard *shard, tkw_pending_each *each,
                      void *context)
{
    for (uint32_t i = 0; i < shard->used; i++) {
        struct job *job = job_at(shard, i);
        uint64_t word = sync_get_acquire(&job->word);
        if ((word & JOB_ARMED) == 0)
            continue;
        /* First: a cancel from `each` or from drop then has no effect. */
        word = (word & ~JOB_ARMED) | JOB_CANCELLED;
        sync_put_relaxed(&job->word, word);
        shard->handed_back++;
        struct tkw_pending_timer rest = {
            .handle = job_handle(shard, i, word),
            .due_ns = job->due_ns,
            .task = {job->callback, job->argument, job->drop},
        };
        if (each != NULL)
            each(context, &rest);
        if (rest.task.drop != NULL)
            rest.task.drop(rest.task.argument);
    }
}

int tkw_service_close(struct tkw_service *service, tkw_pending_each *each,
                      void *context)
{
    if (service == NULL)
        return 0;
    if (frame_is_inside(service))
        return -EDEADLK;
    tkw_service_stop(service);
    service_lock(service);
    while (service->out_count > 0)
        sync_wait(&service->quiet, &service->mutex);
    service_unlock(service);
    if (service->has_driver)
        sync_join(&service->driver);
    for (int i = 0; i < CREWS; i++)
        if (service->crews[i].service != NULL)
            tkw__crew_close(&service->crews[i]);
    /* `each` and drop count as callbacks: they cannot close the service. */
    struct frame frame;
    frame_enter(&frame, service, 0);
    for (uint32_t i = 0; i < service->shard_count; i++)
        hand_back(service->shards[i], each, context);
    frame_leave(&frame);
    dismantle(service);
    return 0;
}
