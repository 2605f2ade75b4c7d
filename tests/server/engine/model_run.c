/*
 * server/engine/model_run.c - the acts of the model.
 */
#include "model_private.h"

/* Insert a job whose id may be lower than that of others. */
static struct model_job *insert(struct model *model, uint64_t id)
{
    unsigned i = model->job_count++;
    for (; i > 0 && model->jobs[i - 1].id > id; i--)
        model->jobs[i] = model->jobs[i - 1];
    model->jobs[i] = (struct model_job){.id = id};
    return &model->jobs[i];
}

static void put(struct model *model, const struct act *act, uint64_t id,
                uint64_t created)
{
    model->clients[act->client].is_producer = true;
    if (act->kind == ACT_PUT_BAD_END) {
        model__reply(model, act->client, "EXPECTED_CRLF");
        return;
    }
    if (model->is_draining) {
        model__reply(model, act->client, "DRAINING");
        return;
    }
    struct model_job *job = insert(model, id);
    job->created = created;
    job->pri = act->pri;
    job->delay = act->delay;
    job->ttr = act->ttr > 0 ? act->ttr : 1;
    job->body_size = act->body_size;
    job->seed = act->seed;
    job->tube = model->clients[act->client].used;
    model->puts++;
    model->tubes[job->tube].puts++;
    model__reply(model, act->client, "INSERTED %llu", (unsigned long long)id);
    job->state = MODEL_DELAYED;
    job->end = model__after(model, act->delay);
    job->sequence = model->sequence++;
    if (act->delay == 0)
        model__make_ready(model, job);
}

static void put_line(struct model *model, const struct act *act)
{
    struct model_client *client = &model->clients[act->client];
    client->is_putting = true;
    client->is_producer = true;
    client->put = *act;
    client->put_id = model->next_id++;
    client->put_time = model->now;
    model->counts[TKD_PUT]++;
}

static void put_body(struct model *model, const struct act *act)
{
    struct model_client *client = &model->clients[act->client];
    client->is_putting = false;
    put(model, &client->put, client->put_id, client->put_time);
}

static void connect(struct model *model, unsigned n)
{
    model->clients[n] =
        (struct model_client){.is_connected = true, .watched = 1};
    model->connections++;
}

static void disconnect(struct model *model, unsigned n)
{
    model->clients[n].is_connected = false;
    model->clients[n].is_waiting = false;
    model->clients[n].is_putting = false;
    uint64_t ids[MODEL_JOBS];
    unsigned count = 0;
    for (unsigned i = 0; i < model->job_count; i++)
        if (model->jobs[i].state == MODEL_RESERVED &&
            model->jobs[i].client == n)
            ids[count++] = model->jobs[i].id;
    model__make_all_ready(model, ids, count);
}

static unsigned watched_count(const struct model_client *client)
{
    unsigned count = 0;
    for (unsigned t = 0; t < MODEL_TUBES; t++)
        count += client->watched >> t & 1U;
    return count;
}

static void ignore(struct model *model, const struct act *act)
{
    struct model_client *client = &model->clients[act->client];
    unsigned bit = 1U << act->tube;
    if (client->watched == bit) {
        model__reply(model, act->client, "NOT_IGNORED");
        return;
    }
    client->watched = (uint8_t)(client->watched & ~bit);
    model__reply(model, act->client, "WATCHING %u", watched_count(client));
}

static void pause_tube(struct model *model, const struct act *act)
{
    struct model_tube *tube = &model->tubes[act->tube];
    if (!tube->exists) {
        model__reply(model, act->client, "NOT_FOUND");
        return;
    }
    tube->is_paused = act->delay > 0; /* 0 ends a pause */
    tube->pause = act->delay;
    tube->pause_end = model__after(model, act->delay);
    tube->pause_start = model->sequence++;
    tube->pauses++;
    model__reply(model, act->client, "PAUSED");
    model__serve_tube(model, act->tube);
}

/* The commands that are about tubes, and stats. */
static void tube_command(struct model *model, const struct act *act)
{
    struct model_client *client = &model->clients[act->client];
    unsigned all = 0;
    switch (act->kind) {
    case TKD_USE:
        client->used = act->tube;
        model__reply(model, act->client, "USING %s", model_tubes[client->used]);
        break;
    case TKD_WATCH:
        client->watched = (uint8_t)(client->watched | 1U << act->tube);
        model__reply(model, act->client, "WATCHING %u", watched_count(client));
        break;
    case TKD_IGNORE:
        ignore(model, act);
        break;
    case TKD_PAUSE_TUBE:
        pause_tube(model, act);
        break;
    case TKD_STATS:
        model__stats(model, act->client);
        break;
    case TKD_STATS_TUBE:
        model__stats_tube(model, act->client, act->tube);
        break;
    case TKD_STATS_JOB:
        model__stats_job(model, act->client, model__find(model, act->id));
        break;
    case TKD_LIST_TUBES:
        for (unsigned t = 0; t < MODEL_TUBES; t++)
            all |= (unsigned)model->tubes[t].exists << t;
        model__list(model, act->client, all);
        break;
    case TKD_LIST_TUBES_WATCHED:
        model__list(model, act->client, client->watched);
        break;
    default: /* TKD_LIST_TUBE_USED */
        model__reply(model, act->client, "USING %s", model_tubes[client->used]);
    }
}

static bool is_about_tubes(const struct act *act)
{
    switch (act->kind) {
    case TKD_USE:
    case TKD_WATCH:
    case TKD_IGNORE:
    case TKD_PAUSE_TUBE:
    case TKD_STATS:
    case TKD_STATS_TUBE:
    case TKD_STATS_JOB:
    case TKD_LIST_TUBES:
    case TKD_LIST_TUBES_WATCHED:
    case TKD_LIST_TUBE_USED:
        return true;
    default:
        return false;
    }
}

static void run_command(struct model *model, const struct act *act)
{
    model->counts[act->kind]++;
    if (act->kind == TKD_QUIT)
        disconnect(model, act->client);
    else if (is_about_tubes(act))
        tube_command(model, act);
    else
        model__job_command(model, act);
}

static void run(struct model *model, const struct act *act)
{
    switch (act->kind) {
    case ACT_CONNECT:
        connect(model, act->client);
        break;
    case ACT_DISCONNECT:
        disconnect(model, act->client);
        break;
    case ACT_TURN:
        model__turn(model, act->time);
        break;
    case ACT_GIVE_UP:
        if (model->clients[act->client].is_waiting)
            model__reply(model, act->client, "TIMED_OUT");
        model->clients[act->client].is_waiting = false;
        break;
    case ACT_DRAIN:
        model->is_draining = true;
        break;
    case TKD_PUT:
    case ACT_PUT_BAD_END:
        model->counts[TKD_PUT]++;
        put(model, act, model->next_id++, model->now);
        break;
    case ACT_PUT_LINE:
        put_line(model, act);
        break;
    case ACT_PUT_BODY:
        put_body(model, act);
        break;
    case ACT_PUT_GARBAGE:
        model->counts[TKD_PUT]++;
        model__reply(model, act->client, "BAD_FORMAT");
        break;
    case ACT_PUT_BIG:
        model->counts[TKD_PUT]++;
        model__reply(model, act->client, "JOB_TOO_BIG");
        break;
    case ACT_NONSENSE:
        model__reply(model, act->client, "UNKNOWN_COMMAND");
        break;
    default:
        run_command(model, act);
    }
}

void model_execute(struct model *model, const struct act *act)
{
    model->choices.count = 0;
    run(model, act);
    model__update_tubes(model);
}
