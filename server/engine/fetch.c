/*
 * engine/fetch.c - jobs that are only in the store.
 *
 * A command that names a job which is not in memory asks the store.  Until the
 * answer comes, a placeholder stands for the job (STATE_ASKED), and commands of
 * other clients for the same id line up behind the first.  The answer fills or
 * frees the placeholder, and the commands run in the order of their arrival.
 */
#include "private.h"

enum { IS_PLACEHOLDER = 1 };

/* The token of a question: its number.  A token of a body is the address of a
 * client, which is even. */
static uint64_t token_of(uint64_t number)
{
    return number << 1 | IS_PLACEHOLDER;
}

/* Ask the store for a job.  Returns its placeholder, or NULL if there is no
 * memory. */
static struct job *ask(struct tkd_engine *engine, uint64_t id)
{
    struct job *job = tkd__job_new(engine, id);
    if (job == NULL)
        return NULL;
    job->state = STATE_ASKED;
    job->question = ++engine->questions;
    struct tkd_question question = {.token = token_of(job->question), .id = id};
    if (tkd_store_ask(engine->store, &question))
        return job;
    tkd__job_free(engine, job);
    return NULL;
}

bool tkd__fetch(struct tkd_client *client, struct job **found)
{
    struct tkd_engine *engine = client->engine;
    struct job *job = tkd__job_find(&engine->jobs, client->id);
    if (job == NULL && !engine->store->is_volatile && client->id > 0 &&
        client->id < engine->next_id) {
        job = ask(engine, client->id);
        if (job == NULL) {
            tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
            return false;
        }
    }
    *found = job;
    if (job == NULL || job->state != STATE_ASKED)
        return true;
    link_append(&job->askers, &client->asking);
    client->wait = WAIT_FETCH;
    return false;
}

bool tkd__damaged(struct tkd_engine *engine)
{
    engine->has_failed = true;
    if (engine->store->failure == NULL)
        engine->store->failure =
            "the store is damaged: its jobs and tubes do not agree; restore a "
            "backup";
    return false;
}

/* Give a job without fields those of a record, and the reference to its tube.
 * Returns false and changes nothing if there is no memory. */
static bool fill(struct tkd_engine *engine, struct job *job,
                 const struct record *record)
{
    struct tube *tube = tkd__tube_numbered(engine, record->tube);
    if (tube == NULL || (!record->is_buried && tube->far == 0))
        return tkd__damaged(engine);
    if (!tkd__tube_reserve(engine, tube) ||
        tkw_pool_reserve(engine->pool, 1) != 0)
        return false;
    if (record->is_buried) {
        tube_hold(tube);
    } else {
        tube->far--; /* the reference of the far job */
        engine->far--;
    }
    job->tube = tube;
    job->created_ns = record->created_ns;
    job->home_ns = record->home_ns;
    job->delay_ns = record->delay_ns;
    job->ttr_ns = record->ttr_ns;
    job->pri = record->pri;
    job->size = record->size;
    job->reserves = record->reserves;
    job->timeouts = record->timeouts;
    job->releases = record->releases;
    job->buries = record->buries;
    job->kicks = record->kicks;
    return true;
}

/* File a job by its record. */
static void file(struct tkd_engine *engine, struct job *job,
                 const struct record *record)
{
    job->stored = (struct tkd_place){
        .at = record->due_ns,
        .tube = job->tube->number,
        .order = record->is_buried ? TKD_ORDER_BURIED : TKD_ORDER_DUE,
    };
    job->state = STATE_MOVING;
    if (record->is_buried)
        tkd__job_enter_buried(engine, job, record->due_ns);
    else if (record->due_ns > engine->now_ns)
        tkd__job_enter_delayed(engine, job, record->due_ns);
    else
        tkd__job_enter_ready(engine, job);
}

bool tkd__file_item(struct tkd_engine *engine, const struct tkd_item *item)
{
    struct record record;
    if (tkd__job_find(&engine->jobs, item->id) != NULL)
        return true;
    if (!tkd__record_decode(&record, item->record, item->record_size))
        return tkd__damaged(engine);
    struct job *job = tkd__job_new(engine, item->id);
    if (job == NULL)
        return false;
    if (!fill(engine, job, &record)) {
        tkd__job_free(engine, job);
        return false;
    }
    file(engine, job, &record);
    tkd__tube_serve(engine, job->tube);
    return true;
}

/* Turn a placeholder into the job that the store has found.  Returns the reply
 * that the commands get instead if that is not possible, or TKD_REPLY_FOUND. */
static enum tkd_reply_kind complete(struct tkd_engine *engine, struct job *job,
                                    struct tkd_answer *answer)
{
    struct record record;
    if (!tkd__record_decode(&record, answer->record, answer->record_size))
        return TKD_REPLY_INTERNAL_ERROR;
    if (!fill(engine, job, &record))
        return TKD_REPLY_OUT_OF_MEMORY;
    job->body = answer->body;
    answer->body = NULL;
    if (job->body != NULL)
        engine->memory += job->body->size;
    file(engine, job, &record);
    return TKD_REPLY_FOUND;
}

/* Run the commands that waited for a job, or give all of them one reply. */
static void run_askers(struct link *askers, struct job *job,
                       enum tkd_reply_kind kind)
{
    while (!link_is_alone(askers)) {
        struct tkd_client *client =
            TKW_CONTAINER(askers->next, struct tkd_client, asking);
        link_remove(&client->asking);
        client->wait = WAIT_NONE;
        if (kind != TKD_REPLY_FOUND)
            tkd__reply_add(client, kind);
        else if (tkd__prepare(client))
            tkd__run(client, job);
    }
}

/* Move the clients that wait for a job to another list. */
static void take_askers(struct job *job, struct link *askers)
{
    link_init(askers);
    while (!link_is_alone(&job->askers)) {
        struct link *link = job->askers.next;
        link_remove(link);
        link_append(askers, link);
    }
}

/* Free a placeholder, and give its commands a reply, or if `kind` is
 * TKD_REPLY_FOUND, run them without a job. */
static void dismiss(struct tkd_engine *engine, struct job *job,
                    enum tkd_reply_kind kind)
{
    struct link askers;
    take_askers(job, &askers);
    tkd__job_free(engine, job);
    run_askers(&askers, NULL, kind);
}

void tkd__askers_dismiss(struct tkd_engine *engine, uint64_t id)
{
    struct job *job = tkd__job_find(&engine->jobs, id);
    if (job != NULL)
        dismiss(engine, job, TKD_REPLY_FOUND);
}

/* A put may have made the job meanwhile: then the answer comes too late. */
static void answer_job(struct tkd_engine *engine, struct tkd_answer *answer)
{
    struct job *job = tkd__job_find(&engine->jobs, answer->id);
    if (job == NULL || job->state != STATE_ASKED ||
        token_of(job->question) != answer->token)
        return;
    enum tkd_reply_kind kind = TKD_REPLY_FOUND;
    if (answer->is_found)
        kind = complete(engine, job, answer);
    if (!answer->is_found || kind != TKD_REPLY_FOUND) {
        dismiss(engine, job, kind);
        return;
    }
    /* If no command changes the job, it settles as it came. */
    if (tkd__reserve_write(engine))
        tkd__change_add(engine, job);
    struct tube *tube = job->tube;
    struct link askers;
    tube_hold(tube);
    take_askers(job, &askers);
    run_askers(&askers, job, TKD_REPLY_FOUND);
    tkd__tube_serve(engine, tube);
    tkd__tube_release(engine, tube);
}

void tkd__fetch_answer(struct tkd_engine *engine, struct tkd_answer *answer)
{
    if ((answer->token & IS_PLACEHOLDER) != 0) {
        answer_job(engine, answer);
    } else if (tkd__is_ahead(answer)) {
        tkd__ahead_answer(engine, answer);
    } else {
        struct tkd_client *client =
            (struct tkd_client *)(uintptr_t)answer->token;
        client->is_asking = false;
        if (client->wait == WAIT_CLOSE) {
            tkd__client_wind_up(client, TKD_STEP);
        } else if (client->wait == WAIT_BODY) {
            client->wait = WAIT_NONE;
            tkd__reply_complete(client, answer->body);
            answer->body = NULL;
        }
    }
    tkd_body_release(&engine->allocator, answer->body);
    answer->body = NULL;
}
