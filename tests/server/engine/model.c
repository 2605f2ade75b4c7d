/*
 * server/engine/model.c - the jobs and tubes of the model, and which client
 * gets a job.
 */
#include "model_private.h"

void model_init(struct model *model, uint64_t now, enum model_bug bug)
{
    *model = (struct model){.now = now, .start = now, .next_id = 1, .bug = bug};
}

void model_free(struct model *model)
{
    for (unsigned n = 0; n < MODEL_CLIENTS; n++)
        bytes_free(&model->out[n]);
}

uint64_t model__tick(uint64_t ns)
{
    return (ns + TKD_TICK_NS - 1) / TKD_TICK_NS * TKD_TICK_NS;
}

uint64_t model__after(const struct model *model, uint32_t seconds)
{
    return model->now + seconds * MODEL_SECOND;
}

bool model_is_anyone_waiting(const struct model *model)
{
    for (unsigned n = 0; n < MODEL_CLIENTS; n++)
        if (model->clients[n].is_waiting)
            return true;
    return false;
}

unsigned model__choose(struct model *model, unsigned limit)
{
    struct model_choices *choices = &model->choices;
    if (limit < 2 || choices->count == MODEL_CHOICES)
        return 0;
    choices->limits[choices->count] = (uint8_t)limit;
    return choices->taken[choices->count++];
}

bool model_is_refuted(const struct model *model)
{
    for (unsigned n = 0; n < MODEL_CLIENTS; n++) {
        const struct bytes *out = &model->out[n], *seen = model->seen[n];
        if (seen != NULL && out->size > 0 &&
            (seen->size < out->size ||
             memcmp(seen->data, out->data, out->size) != 0))
            return true;
    }
    return false;
}

bool model_try_next(struct model_choices *choices)
{
    while (choices->count > 0) {
        unsigned last = --choices->count;
        if (++choices->taken[last] < choices->limits[last])
            return true;
        choices->taken[last] = 0;
    }
    return false;
}

struct model_job *model__find(struct model *model, uint64_t id)
{
    for (unsigned i = 0; i < model->job_count; i++)
        if (model->jobs[i].id == id)
            return &model->jobs[i];
    return NULL;
}

/* A tube exists while a client uses or watches it, or a job is in it.  As in
 * beanstalkd, the tube "default" always exists. */
void model__update_tubes(struct model *model)
{
    bool is_referenced[MODEL_TUBES] = {true};
    for (unsigned i = 0; i < model->job_count; i++)
        is_referenced[model->jobs[i].tube] = true;
    for (unsigned n = 0; n < MODEL_CLIENTS; n++) {
        const struct model_client *client = &model->clients[n];
        for (unsigned t = 0; t < MODEL_TUBES && client->is_connected; t++)
            if (client->used == t || client->watched >> t & 1)
                is_referenced[t] = true;
    }
    for (unsigned t = 0; t < MODEL_TUBES; t++) {
        if (model->bug == MODEL_KEEPS_TUBES && model->tubes[t].exists)
            continue;
        if (model->tubes[t].exists != is_referenced[t])
            model->tubes[t] = (struct model_tube){.exists = is_referenced[t]};
    }
}

static bool is_better(const struct model *model, const struct model_job *a,
                      const struct model_job *b)
{
    if (a->pri != b->pri)
        return a->pri < b->pri;
    return model->bug == MODEL_LARGEST_ID ? a->id > b->id : a->id < b->id;
}

struct model_job *model__best(struct model *model, unsigned tubes,
                              bool is_paused_too)
{
    struct model_job *best = NULL;
    for (unsigned i = 0; i < model->job_count; i++) {
        struct model_job *job = &model->jobs[i];
        if (job->state == MODEL_READY && (tubes >> job->tube & 1) &&
            (is_paused_too || !model->tubes[job->tube].is_paused) &&
            (best == NULL || is_better(model, job, best)))
            best = job;
    }
    return best;
}

void model__reserve(struct model *model, unsigned client, struct model_job *job)
{
    model->clients[client].is_waiting = false;
    job->state = MODEL_RESERVED;
    job->client = (uint8_t)client;
    job->end = model__after(model, job->ttr);
    job->sequence = model->sequence++;
    if (model->bug == MODEL_EARLY_TTR)
        job->end -= TKD_TICK_NS;
    job->reserves++;
    model__reply_job(model, client, "RESERVED", job);
}

unsigned model__first_waiting(const struct model *model, unsigned tube)
{
    unsigned first = MODEL_CLIENTS;
    for (unsigned n = 0; n < MODEL_CLIENTS; n++) {
        const struct model_client *client = &model->clients[n];
        if (!client->is_waiting || !(client->watched >> tube & 1))
            continue;
        if (first == MODEL_CLIENTS ||
            (client->wait_start < model->clients[first].wait_start) !=
                (model->bug == MODEL_LAST_WAITER))
            first = n;
    }
    return first;
}

void model__serve_tube(struct model *model, unsigned tube)
{
    for (;;) {
        struct model_job *job = model__best(model, 1U << tube, false);
        unsigned client = model__first_waiting(model, tube);
        if (job == NULL || client == MODEL_CLIENTS)
            return;
        model__reserve(model, client, job);
    }
}

void model__make_ready(struct model *model, struct model_job *job)
{
    job->state = MODEL_READY;
    model__serve_tube(model, job->tube);
}

uint64_t model__soon(const struct model *model, unsigned client)
{
    uint64_t soon = TKD_NEVER;
    for (unsigned i = 0; i < model->job_count; i++) {
        const struct model_job *job = &model->jobs[i];
        if (job->state == MODEL_RESERVED && job->client == client &&
            job->end - MODEL_SECOND < soon)
            soon = job->end - MODEL_SECOND;
    }
    return soon;
}

struct model_job *model__first(struct model *model, unsigned tube,
                               enum model_state state)
{
    struct model_job *first = NULL;
    for (unsigned i = 0; i < model->job_count; i++) {
        struct model_job *job = &model->jobs[i];
        if (job->state != state || job->tube != tube)
            continue;
        if (first == NULL ||
            (state == MODEL_DELAYED && job->end < first->end) ||
            (state == MODEL_BURIED && (job->sequence < first->sequence) !=
                                          (model->bug == MODEL_LIFO_KICK)))
            first = job;
    }
    return first;
}
