/*
 * engine/ahead.c - bodies that are read before a worker asks for them.
 *
 * When a job of a tube is reserved, the engine asks the store for the bodies of
 * the jobs at the top of the tube's heap, which are the next ones or nearly so.
 * So a worker that reserves one job after the other waits for the first body
 * only.
 *
 * Bodies that the store has, too, count in `cached`.  Jobs that became durable
 * keep theirs up to half of TKD_CACHE_MAX; the other half is for reading ahead.
 */
#include "private.h"

enum { AHEAD = 32, TOKEN_AHEAD = 2 };

void tkd__body_cache(struct tkd_engine *engine, struct job *job)
{
    if (job->body == NULL || job->is_cached)
        return;
    job->is_cached = true;
    engine->cached += job->body->size;
}

static void ask(struct tkd_engine *engine, struct job *job)
{
    struct tkd_question question = {
        .token = job->id << 2 | TOKEN_AHEAD,
        .id = job->id,
        .home = job->home_ns,
        .is_body_only = true,
    };
    job->is_reading = tkd_store_ask(engine->store, &question);
}

void tkd__read_ahead(struct tkd_engine *engine, const struct tube *tube)
{
    if (engine->store->is_volatile)
        return;
    for (uint32_t i = 0; i < tube->ready.count && i < AHEAD; i++) {
        struct job *job =
            tkd__job_at(&engine->jobs, entry_job(*heap_at(&tube->ready, i)));
        if (engine->cached + job->size > TKD_CACHE_MAX)
            return;
        if (job->body == NULL && !job->is_reading)
            ask(engine, job);
    }
}

bool tkd__is_ahead(const struct tkd_answer *answer)
{
    return (answer->token & 3) == TOKEN_AHEAD;
}

void tkd__ahead_answer(struct tkd_engine *engine, struct tkd_answer *answer)
{
    struct job *job = tkd__job_find(&engine->jobs, answer->id);
    if (job == NULL || job->state == STATE_ASKED)
        return;
    job->is_reading = false;
    if (job->state == STATE_DELETED || job->body != NULL ||
        answer->body == NULL)
        return;
    job->body = answer->body;
    answer->body = NULL;
    engine->memory += job->body->size;
    tkd__body_cache(engine, job);
    if (job->state == STATE_DELAYED)
        tkd__job_drop_body(engine, job);
}
