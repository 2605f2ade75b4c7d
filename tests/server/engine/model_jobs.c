/*
 * server/engine/model_jobs.c - the commands of the model that are about jobs.
 */
#include "model_private.h"

static struct model_job *find_held(struct model *model, const struct act *act)
{
    struct model_job *job = model__find(model, act->id);
    bool is_held = job != NULL && job->state == MODEL_RESERVED &&
                   job->client == act->client;
    return is_held ? job : NULL;
}

static void reserve(struct model *model, const struct act *act)
{
    struct model_client *client = &model->clients[act->client];
    client->is_worker = true;
    struct model_job *job = model__best(model, client->watched, false);
    bool has_timeout = act->kind == TKD_RESERVE_WITH_TIMEOUT;
    if (job != NULL) {
        model__reserve(model, act->client, job);
    } else if (model->now >= model__soon(model, act->client)) {
        model__reply(model, act->client, "DEADLINE_SOON");
    } else if (has_timeout && act->delay == 0) {
        model__reply(model, act->client, "TIMED_OUT");
    } else {
        client->is_waiting = true;
        client->wait_start = model->sequence++;
        client->wait_end =
            has_timeout ? model__after(model, act->delay) : TKD_NEVER;
    }
}

static void delete_job(struct model *model, const struct act *act)
{
    struct model_job *job = model__find(model, act->id);
    if (job == NULL ||
        (job->state == MODEL_RESERVED && job->client != act->client)) {
        model__reply(model, act->client, "NOT_FOUND");
        return;
    }
    model->tubes[job->tube].deletes++;
    model->job_count--;
    for (unsigned i = (unsigned)(job - model->jobs); i < model->job_count; i++)
        model->jobs[i] = model->jobs[i + 1];
    model__reply(model, act->client, "DELETED");
}

static void release(struct model *model, const struct act *act)
{
    struct model_job *job = find_held(model, act);
    if (job == NULL) {
        model__reply(model, act->client, "NOT_FOUND");
        return;
    }
    job->pri = act->pri;
    job->delay = act->delay;
    job->releases++;
    model__reply(model, act->client, "RELEASED");
    job->state = MODEL_DELAYED;
    job->end = model__after(model, act->delay);
    job->sequence = model->sequence++;
    if (act->delay == 0)
        model__make_ready(model, job);
}

static void bury(struct model *model, const struct act *act)
{
    struct model_job *job = find_held(model, act);
    if (job == NULL) {
        model__reply(model, act->client, "NOT_FOUND");
        return;
    }
    job->pri = act->pri;
    job->buries++;
    job->state = MODEL_BURIED;
    job->sequence = model->sequence++;
    model__reply(model, act->client, "BURIED");
}

static void touch(struct model *model, const struct act *act)
{
    struct model_job *job = find_held(model, act);
    if (job != NULL) {
        job->end = model__after(model, job->ttr);
        job->sequence = model->sequence++;
    }
    model__reply(model, act->client, job != NULL ? "TOUCHED" : "NOT_FOUND");
}

void model__make_all_ready(struct model *model, uint64_t *ids, unsigned count)
{
    while (count > 0 && !model_is_refuted(model)) {
        unsigned chosen = 0;
        if (model_is_anyone_waiting(model))
            chosen = model__choose(model, count);
        model__make_ready(model, model__find(model, ids[chosen]));
        count--;
        for (unsigned i = chosen; i < count; i++)
            ids[i] = ids[i + 1];
    }
}

static void kick(struct model *model, const struct act *act)
{
    unsigned tube = model->clients[act->client].used;
    enum model_state state = model__first(model, tube, MODEL_BURIED) != NULL
                                 ? MODEL_BURIED
                                 : MODEL_DELAYED;
    uint64_t ids[MODEL_JOBS];
    unsigned count = 0;
    struct model_job *job;
    while (count < act->id &&
           (job = model__first(model, tube, state)) != NULL) {
        job->kicks++;
        job->state = MODEL_RESERVED; /* by nobody, until it is made ready */
        job->client = MODEL_CLIENTS;
        ids[count++] = job->id;
    }
    if (model->bug == MODEL_CRASH && count == 2)
        abort();
    model__make_all_ready(model, ids, count);
    model__reply(model, act->client, "KICKED %u", count);
}

static void kick_job(struct model *model, const struct act *act)
{
    struct model_job *job = model__find(model, act->id);
    if (job == NULL ||
        (job->state != MODEL_BURIED && job->state != MODEL_DELAYED)) {
        model__reply(model, act->client, "NOT_FOUND");
        return;
    }
    job->kicks++;
    model__make_ready(model, job);
    model__reply(model, act->client, "KICKED");
}

static void reserve_job(struct model *model, const struct act *act)
{
    struct model_job *job = model__find(model, act->id);
    if (job == NULL || job->state == MODEL_RESERVED) {
        model__reply(model, act->client, "NOT_FOUND");
        return;
    }
    model->clients[act->client].is_worker = true;
    model__reserve(model, act->client, job);
}

static void peek(struct model *model, const struct act *act)
{
    unsigned tube = model->clients[act->client].used;
    struct model_job *job = NULL;
    if (act->kind == TKD_PEEK)
        job = model__find(model, act->id);
    else if (act->kind == TKD_PEEK_READY)
        job = model__best(model, 1U << tube, true);
    else
        job = model__first(model, tube,
                           act->kind == TKD_PEEK_DELAYED ? MODEL_DELAYED
                                                         : MODEL_BURIED);
    if (job != NULL)
        model__reply_job(model, act->client, "FOUND", job);
    else
        model__reply(model, act->client, "NOT_FOUND");
}

void model__job_command(struct model *model, const struct act *act)
{
    switch (act->kind) {
    case TKD_RESERVE:
    case TKD_RESERVE_WITH_TIMEOUT:
        reserve(model, act);
        break;
    case TKD_RESERVE_JOB:
        reserve_job(model, act);
        break;
    case TKD_DELETE:
        delete_job(model, act);
        break;
    case TKD_RELEASE:
        release(model, act);
        break;
    case TKD_BURY:
        bury(model, act);
        break;
    case TKD_TOUCH:
        touch(model, act);
        break;
    case TKD_KICK:
        kick(model, act);
        break;
    case TKD_KICK_JOB:
        kick_job(model, act);
        break;
    default:
        peek(model, act);
    }
}
