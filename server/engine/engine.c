/*
 * engine/engine.c - opening, closing, and the store's answers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

static void *allocate_by_malloc(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

static void release_by_free(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

static const struct tkw_allocator default_allocator = {
    .allocate = allocate_by_malloc,
    .release = release_by_free,
};

static void fill(struct tkd_engine *engine,
                 const struct tkd_engine_config *config,
                 const struct tkw_allocator *allocator)
{
    memset(engine, 0, sizeof *engine);
    engine->allocator = *allocator;
    engine->store = config->store;
    engine->now_ns = config->now_ns;
    engine->start_ns = config->now_ns;
    engine->next_id = config->next_id == 0 ? 1 : config->next_id;
    engine->id_ceiling = engine->next_id;
    engine->next_buried = 1;
    engine->time_saved_ns = config->now_ns;
    engine->window_jobs = config->window_jobs == 0 ? TKD_WINDOW_JOBS_DEFAULT
                                                   : config->window_jobs;
    memcpy(engine->boot, config->boot, sizeof engine->boot);
    engine->memory_max = config->memory_max;
    engine->body_max =
        config->body_max == 0 ? TKD_BODY_MAX_DEFAULT : config->body_max;
    engine->batch = 1;
    link_init(&engine->clients);
    link_init(&engine->sendable);
    link_init(&engine->stalled);
    link_init(&engine->chores);
    link_init(&engine->unserved);
    link_init(&engine->listers);
    link_init(&engine->changed_tubes);
    engine->facts = (struct tkd_facts){"", "", "", "", "", 0, 0, 0};
    tkd__jobs_open(&engine->jobs, config->hash_seed);
}

int tkd_engine_open(struct tkd_engine **opened,
                    const struct tkd_engine_config *config)
{
    const struct tkw_allocator *allocator =
        config->allocator == NULL ? &default_allocator : config->allocator;
    struct tkd_engine *engine =
        allocator->allocate(allocator->context, sizeof *engine);
    if (engine == NULL)
        return -ENOMEM;
    fill(engine, config, allocator);
    struct tkw_pool_config pool = {
        .start = config->now_ns / TKD_TICK_NS,
        .allocator = &engine->allocator,
    };
    if (tkw_pool_open(&engine->pool, &pool) != 0 || !tkd__tubes_open(engine)) {
        bool is_damaged = config->store->failure != NULL;
        tkd_engine_close(engine);
        return is_damaged ? -EBADMSG : -ENOMEM;
    }
    tkd__window_open(engine);
    *opened = engine;
    return 0;
}

void tkd_engine_close(struct tkd_engine *engine)
{
    if (engine == NULL)
        return;
    tkd__popped_release(engine);
    tkd__clients_close(engine);
    tkd__jobs_close(engine);
    tkd__changes_close(engine);
    tkd__tubes_close(engine);
    tkw_pool_close(engine->pool);
    struct tkw_allocator allocator = engine->allocator;
    allocator.release(allocator.context, engine, sizeof *engine);
}

void tkd_engine_drain(struct tkd_engine *engine)
{
    engine->is_draining = true;
}

void tkd_engine_describe(struct tkd_engine *engine,
                         const struct tkd_facts *facts)
{
    engine->facts = *facts;
}

static void submit(struct tkd_engine *engine)
{
    if (!engine->is_batch_dirty || engine->has_failed ||
        tkd_store_is_busy(engine->store))
        return;
    if (!engine->store->is_volatile && !tkd__rows_write(engine))
        return;
    tkd_store_submit(engine->store, engine->batch);
    engine->batch++;
    engine->batch_bytes = 0;
    engine->is_batch_dirty = false;
}

static void handle(struct tkd_engine *engine, struct tkd_answer *answer)
{
    switch (answer->kind) {
    case TKD_ANSWER_DURABLE:
        engine->durable = answer->token;
        tkd__replies_wake(engine);
        break;
    case TKD_ANSWER_JOB:
        tkd__fetch_answer(engine, answer);
        break;
    case TKD_ANSWER_LIST:
        tkd__list_answer(engine, answer);
        break;
    case TKD_ANSWER_FAILED:
        engine->has_failed = true;
        break;
    }
}

bool tkd_engine_is_behind(const struct tkd_engine *engine)
{
    return engine->batch_bytes > TKD_BATCH_MAX;
}

bool tkd_engine_sync(struct tkd_engine *engine)
{
    struct tkd_answer answer;
    submit(engine);
    while (tkd_store_poll(engine->store, &answer))
        handle(engine, &answer);
    tkd__settle(engine);
    tkd__window_run(engine);
    submit(engine);
    return !engine->has_failed;
}
