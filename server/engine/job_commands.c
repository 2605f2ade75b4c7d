/*
 * engine/job_commands.c - the commands that name a job.
 */
#include <assert.h>

#include "private.h"

static bool is_held(const struct tkd_client *client, const struct job *job)
{
    return job != NULL && job->state == STATE_RESERVED && job->holder == client;
}

static bool is_alive(const struct job *job)
{
    return job != NULL && job->state != STATE_DELETED;
}

static void reserve_job(struct tkd_client *client, struct job *job)
{
    struct tkd_engine *engine = client->engine;
    if (!is_alive(job) || job->state == STATE_RESERVED) {
        tkd__reply_about(client, TKD_REPLY_NOT_FOUND, job);
        return;
    }
    if (!tkd__prepare_hold(client)) {
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
        return;
    }
    bool was_ready = job->state == STATE_READY;
    tkd__mark_worker(client);
    tkd__job_leave(engine, job);
    if (!was_ready) {
        /* The store has it as ready from now on. */
        tkd__job_enter_ready(engine, job);
        tkd__job_write(engine, job);
        tkd__job_leave(engine, job);
    }
    tkd__choose(client, job);
}

static void delete_job(struct tkd_client *client, struct job *job)
{
    struct tkd_engine *engine = client->engine;
    if (!is_alive(job) ||
        (job->state == STATE_RESERVED && job->holder != client)) {
        tkd__reply_about(client, TKD_REPLY_NOT_FOUND, job);
        return;
    }
    tkd__job_leave(engine, job);
    struct answer *answer = tkd__reply_add(client, TKD_REPLY_DELETED);
    /* The reply waits for the batch that the deletion goes into. */
    answer->batch = engine->store->is_volatile ? 0 : engine->batch;
    tkd__job_delete(engine, job);
}

static void release_job(struct tkd_client *client, struct job *job)
{
    struct tkd_engine *engine = client->engine;
    if (!is_held(client, job)) {
        tkd__reply_about(client, TKD_REPLY_NOT_FOUND, job);
        return;
    }
    if (!tkd__soonest_reserve(engine, job->tube)) {
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
        return;
    }
    struct tube *tube = job->tube;
    tkd__job_start(engine, job);
    tkd__job_leave(engine, job);
    job->pri = client->pri;
    job->delay_ns = client->delay_ns;
    job->releases++;
    tkd__job_file(engine, job);
    tkd__reply_about(client, TKD_REPLY_RELEASED, job);
    tkd__tube_serve(engine, tube);
}

static void bury_job(struct tkd_client *client, struct job *job)
{
    struct tkd_engine *engine = client->engine;
    if (!is_held(client, job)) {
        tkd__reply_about(client, TKD_REPLY_NOT_FOUND, job);
        return;
    }
    tkd__job_start(engine, job);
    tkd__job_leave(engine, job);
    job->pri = client->pri;
    job->buries++;
    tkd__job_enter_buried(engine, job, engine->next_buried++);
    tkd__job_write(engine, job);
    tkd__reply_about(client, TKD_REPLY_BURIED, job);
}

static void touch_job(struct tkd_client *client, struct job *job)
{
    if (!is_held(client, job)) {
        tkd__reply_about(client, TKD_REPLY_NOT_FOUND, job);
        return;
    }
    tkd__job_start(client->engine, job);
    tkd__job_touch(client->engine, job);
    tkd__reply_about(client, TKD_REPLY_TOUCHED, job);
}

static void kick_job(struct tkd_client *client, struct job *job)
{
    struct tkd_engine *engine = client->engine;
    if (job == NULL ||
        (job->state != STATE_DELAYED && job->state != STATE_BURIED)) {
        tkd__reply_about(client, TKD_REPLY_NOT_FOUND, job);
        return;
    }
    struct tube *tube = job->tube;
    tkd__kick_job(engine, job);
    tkd__reply_about(client, TKD_REPLY_KICKED_JOB, job);
    tkd__tube_serve(engine, tube);
}

void tkd__peek(struct tkd_client *client, struct job *job)
{
    if (is_alive(job))
        tkd__reply_job(client, TKD_REPLY_FOUND, job);
    else
        tkd__reply_about(client, TKD_REPLY_NOT_FOUND, job);
}

/* Statistics do not wait until what they show is durable. */
static void stats_job(struct tkd_client *client, struct job *job)
{
    if (!is_alive(job)) {
        tkd__reply_add(client, TKD_REPLY_NOT_FOUND);
        return;
    }
    if (is_held(client, job))
        tkd__job_start(client->engine, job);
    tkd__reply_text(client, tkd__stats_job(client->engine, job));
}

void tkd__run(struct tkd_client *client, struct job *job)
{
    switch (client->verb) {
    case TKD_RESERVE_JOB:
        reserve_job(client, job);
        break;
    case TKD_DELETE:
        delete_job(client, job);
        break;
    case TKD_RELEASE:
        release_job(client, job);
        break;
    case TKD_BURY:
        bury_job(client, job);
        break;
    case TKD_TOUCH:
        touch_job(client, job);
        break;
    case TKD_KICK_JOB:
        kick_job(client, job);
        break;
    case TKD_PEEK:
        tkd__peek(client, job);
        break;
    default:
        assert(client->verb == TKD_STATS_JOB);
        stats_job(client, job);
        break;
    }
}
