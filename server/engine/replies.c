/*
 * engine/replies.c - replies that wait to be sent.
 *
 * Each client has a ring of replies, in the order of its commands.  The first
 * reply of the ring waits for one of these:
 *
 *     nothing             the client is in the list `sendable`
 *     a batch             tkd_engine_pop() moves the client to `stalled`
 *     a body              ... takes the client out of both lists
 *     (there is none)     the client is in no list
 *
 * A durable batch moves all stalled clients back to `sendable`.  A body that
 * arrives moves its client back.  So a list may have clients that cannot be
 * served now, but never misses one that can.
 */
#include <assert.h>
#include <string.h>

#include "private.h"

static struct answer *answer_at(struct tkd_client *client, uint32_t index)
{
    uint32_t at = client->answer_first + index;
    return &client->answers[at & (client->answer_room - 1)];
}

/* Double the ring. */
static bool grow(struct tkd_client *client)
{
    uint32_t room = client->answer_room == 0 ? 2 : 2 * client->answer_room;
    struct answer *answers =
        tkd__allocate(client->engine, room * sizeof *answers);
    if (answers == NULL)
        return false;
    for (uint32_t i = 0; i < client->answer_count; i++)
        answers[i] = *answer_at(client, i);
    tkd__release(client->engine, client->answers,
                 client->answer_room * sizeof *answers);
    client->answers = answers;
    client->answer_first = 0;
    client->answer_room = room;
    return true;
}

bool tkd__reply_reserve(struct tkd_client *client)
{
    return client->answer_count + 2 <= client->answer_room || grow(client);
}

struct answer *tkd__reply_add(struct tkd_client *client,
                              enum tkd_reply_kind kind)
{
    assert(client->answer_count < client->answer_room);
    struct answer *answer = answer_at(client, client->answer_count);
    memset(answer, 0, sizeof *answer);
    answer->kind = (uint8_t)kind;
    client->answer_count++;
    if (client->answer_count == 1)
        link_append(&client->engine->sendable, &client->queued);
    return answer;
}

struct answer *tkd__reply_about(struct tkd_client *client,
                                enum tkd_reply_kind kind, const struct job *job)
{
    struct answer *answer = tkd__reply_add(client, kind);
    if (job != NULL) {
        answer->id = job->id;
        answer->batch = job->batch;
    }
    return answer;
}

/* Ask the store for the body of the client's last reply. */
static bool ask_for_body(struct tkd_client *client, const struct job *job)
{
    struct tkd_question question = {
        .token = (uint64_t)(uintptr_t)client,
        .id = job->id,
        .home = job->home_ns,
        .is_body_only = true,
    };
    if (!tkd_store_ask(client->engine->store, &question))
        return false;
    client->is_asking = true;
    client->wait = WAIT_BODY;
    return true;
}

bool tkd__reply_job(struct tkd_client *client, enum tkd_reply_kind kind,
                    const struct job *job)
{
    struct answer *answer = tkd__reply_about(client, kind, job);
    answer->number = job->size;
    if (job->body != NULL) {
        answer->body = tkd_body_hold(job->body);
    } else if (ask_for_body(client, job)) {
        answer->wants_body = true;
    } else {
        answer->kind = TKD_REPLY_OUT_OF_MEMORY;
        return false;
    }
    return true;
}

bool tkd__reply_using(struct tkd_client *client, const struct tube *tube)
{
    struct tkd_body *name =
        tkd_body_open(&client->engine->allocator, tube->name_length);
    if (name == NULL) {
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
        return false;
    }
    memcpy(name->bytes, tube->name, tube->name_length);
    tkd__reply_add(client, TKD_REPLY_USING)->body = name;
    return true;
}

void tkd__reply_text(struct tkd_client *client, struct tkd_body *text)
{
    if (text == NULL) {
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
        return;
    }
    struct answer *answer = tkd__reply_add(client, TKD_REPLY_OK);
    answer->number = text->size;
    answer->body = text;
}

/* The store has no body for a job that was chosen: bury the job, so that no
 * other worker stumbles over it. */
static void bury_chosen(struct tkd_client *client, uint64_t id)
{
    struct tkd_engine *engine = client->engine;
    struct job *job = tkd__job_find(&engine->jobs, id);
    if (job == NULL || job->holder != client || !job->is_chosen)
        return;
    tkd__job_leave(engine, job);
    job->buries++;
    tkd__job_enter_buried(engine, job, engine->next_buried++);
    if (tkd__reserve_write(engine))
        tkd__job_write(engine, job);
}

/* Return whether a job was deleted while its body was being read for a peek. */
static bool is_gone(const struct tkd_engine *engine,
                    const struct answer *answer)
{
    const struct job *job = tkd__job_find(&engine->jobs, answer->id);
    return answer->kind == TKD_REPLY_FOUND &&
           (job == NULL || job->state == STATE_DELETED);
}

void tkd__reply_complete(struct tkd_client *client, struct tkd_body *body)
{
    struct answer *answer = answer_at(client, client->answer_count - 1);
    assert(answer->wants_body);
    answer->wants_body = false;
    answer->body = body;
    if (body == NULL) {
        if (answer->kind == TKD_REPLY_RESERVED)
            bury_chosen(client, answer->id);
        answer->kind = is_gone(client->engine, answer)
                           ? TKD_REPLY_NOT_FOUND
                           : TKD_REPLY_INTERNAL_ERROR;
    }
    if (link_is_alone(&client->queued))
        link_append(&client->engine->sendable, &client->queued);
}

void tkd__replies_wake(struct tkd_engine *engine)
{
    while (!link_is_alone(&engine->stalled)) {
        struct link *link = engine->stalled.next;
        link_remove(link);
        link_append(&engine->sendable, link);
    }
}

static void release(struct tkd_engine *engine, struct answer *answer)
{
    tkd_body_release(&engine->allocator, answer->body);
    answer->body = NULL;
}

void tkd__popped_release(struct tkd_engine *engine)
{
    release(engine, &engine->popped);
}

void tkd__replies_close(struct tkd_client *client)
{
    link_remove(&client->queued);
    for (uint32_t i = 0; i < client->answer_count; i++)
        release(client->engine, answer_at(client, i));
    client->answer_count = 0;
}

/* Return the first client whose first reply can be sent now, or NULL.  The
 * other clients leave the list. */
static struct tkd_client *first_sendable(struct tkd_engine *engine)
{
    while (!link_is_alone(&engine->sendable)) {
        struct tkd_client *client =
            TKW_CONTAINER(engine->sendable.next, struct tkd_client, queued);
        const struct answer *answer = answer_at(client, 0);
        if (!answer->wants_body && answer->batch <= engine->durable)
            return client;
        link_remove(&client->queued);
        if (!answer->wants_body)
            link_append(&engine->stalled, &client->queued);
    }
    return NULL;
}

/* RESERVED is sent: begin the job's time to run.  The client may have given the
 * job up already, by a command that it sent ahead. */
static void start_job(struct tkd_client *client, const struct answer *answer)
{
    struct tkd_engine *engine = client->engine;
    struct job *job = tkd__job_find(&engine->jobs, answer->id);
    if (job != NULL && job->state == STATE_RESERVED && job->holder == client) {
        tkd__job_start(engine, job);
        tkd__reserve_reschedule(client);
    }
}

static struct tkd_reply reply_of(const struct answer *answer)
{
    struct tkd_reply reply = {
        .kind = (enum tkd_reply_kind)answer->kind,
        .id = answer->id,
        .number = answer->number,
    };
    if (reply.kind == TKD_REPLY_USING) {
        reply.tube = answer->body->bytes;
        reply.tube_length = (uint8_t)answer->body->size;
    }
    return reply;
}

bool tkd_engine_pop(struct tkd_engine *engine, struct tkd_delivery *delivery)
{
    tkd__popped_release(engine);
    struct tkd_client *client = first_sendable(engine);
    if (client == NULL || tkw_pool_reserve(engine->pool, 2) != 0)
        return false;
    struct answer *popped = &engine->popped;
    *popped = *answer_at(client, 0);
    client->answer_first =
        (client->answer_first + 1) & (client->answer_room - 1);
    client->answer_count--;
    if (client->answer_count == 0)
        link_remove(&client->queued);
    if (popped->kind == TKD_REPLY_RESERVED)
        start_job(client, popped);
    delivery->client = client;
    delivery->user = client->user;
    delivery->reply = reply_of(popped);
    delivery->body = popped->kind == TKD_REPLY_USING ? NULL : popped->body;
    return true;
}

size_t tkd_client_pending_count(const struct tkd_client *client)
{
    bool will_reply = client->wait == WAIT_JOB || client->wait == WAIT_FETCH ||
                      client->wait == WAIT_KICK || client->wait == WAIT_LIST;
    return client->answer_count + will_reply;
}
