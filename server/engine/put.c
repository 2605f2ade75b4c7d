/*
 * engine/put.c - put: a command line, then a body in pieces, then its end.
 *
 * The job gets its id when the line is complete.  It exists from the end of the
 * body on.
 */
#include <assert.h>
#include <string.h>

#include "private.h"

static void mark_producer(struct tkd_client *client)
{
    if (!client->is_producer)
        client->engine->producer_count++;
    client->is_producer = true;
}

void tkd__put_begin(struct tkd_client *client,
                    const struct tkd_command *command)
{
    struct tkd_engine *engine = client->engine;
    mark_producer(client);
    client->wait = WAIT_BODY_IN;
    client->id = tkd__next_id(engine);
    client->pri = command->pri;
    client->delay_ns = command->delay_ns;
    client->ttr_ns = command->ttr_ns;
    if (client->ttr_ns < NS_PER_SECOND)
        client->ttr_ns = NS_PER_SECOND;
    client->done = 0;
    client->body = NULL;
    uint64_t memory =
        tkd__memory_used(engine) + sizeof(struct job) + command->bytes;
    if (engine->memory_max == 0 || memory <= engine->memory_max)
        client->body = tkd_body_open(&engine->allocator, command->bytes);
    if (client->body != NULL)
        engine->memory += client->body->size;
}

void tkd_client_body(struct tkd_client *client, const char *bytes, size_t size)
{
    if (client->body == NULL)
        return;
    assert(client->done + size <= client->body->size);
    memcpy(client->body->bytes + client->done, bytes, size);
    client->done += size;
}

/* Make the job that a put describes.  Returns NULL if there is no memory. */
static struct job *make_job(struct tkd_client *client)
{
    struct tkd_engine *engine = client->engine;
    struct tube *tube = client->used;
    if (client->body == NULL || !tkd__tube_reserve(engine, tube))
        return NULL;
    struct job *job = tkd__job_new(engine, client->id);
    if (job == NULL)
        return NULL;
    job->state = STATE_MOVING;
    tube_hold(tube);
    job->tube = tube;
    job->created_ns = engine->now_ns;
    job->delay_ns = client->delay_ns;
    job->ttr_ns = client->ttr_ns;
    job->pri = client->pri;
    job->size = client->body->size;
    job->body = client->body;
    client->body = NULL;
    return job;
}

static void insert(struct tkd_client *client)
{
    struct tkd_engine *engine = client->engine;
    tkd__askers_dismiss(engine, client->id);
    struct job *job = make_job(client);
    if (job == NULL) {
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
        return;
    }
    tkd__job_file(engine, job);
    engine->counts.total_jobs++;
    job->tube->total_jobs++;
    tkd__reply_about(client, TKD_REPLY_INSERTED, job);
    tkd__tube_serve(engine, client->used);
}

void tkd_client_body_end(struct tkd_client *client, bool has_crlf)
{
    struct tkd_engine *engine = client->engine;
    bool is_discarded = client->wait == WAIT_DISCARD;
    assert(is_discarded || client->wait == WAIT_BODY_IN);
    client->wait = WAIT_NONE;
    if (is_discarded)
        return;
    if (!has_crlf)
        tkd__reply_add(client, TKD_REPLY_EXPECTED_CRLF);
    else if (engine->is_draining)
        tkd__reply_add(client, TKD_REPLY_DRAINING);
    else if (tkw_pool_reserve(engine->pool, 2) != 0 ||
             !tkd_store_has_room(engine->store) || !tkd__reserve_write(engine))
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
    else
        insert(client);
    if (client->body != NULL)
        engine->memory -= client->body->size;
    tkd_body_release(&engine->allocator, client->body);
    client->body = NULL;
}
