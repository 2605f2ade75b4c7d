/*
 * server/engine/slow.c - a tape on a store that takes its time.
 *
 * Time stands still, so that it does not matter when a reply comes.  Each
 * client must receive what the model says, in its order: at any moment the
 * first part of it, and all of it when the store has done all.
 */
#include "fake_store.h"
#include "trial.h"

/* Acts between two calls of tkd_engine_check(). */
enum { CHECK_EVERY = 61 };

static struct fake_store *fake_of(const struct trial *trial)
{
    return (struct fake_store *)(void *)trial->store;
}

/* Fail if a client has received something else than the model says, or, at the
 * end, less. */
static void compare(struct trial *trial, bool is_end)
{
    for (unsigned n = 0; n < MODEL_CLIENTS && trial->fault == NULL; n++) {
        const struct bytes *out = &trial->server.connections[n].out;
        const struct bytes *all = &trial->model.out[n];
        if (trial->server.connections[n].client == NULL)
            continue;
        if (out->size <= all->size && (!is_end || out->size == all->size) &&
            (out->size == 0 || memcmp(out->data, all->data, out->size) == 0))
            continue;
        trial->fault = "a client receives something else of a slow store";
        bytes_append(&trial->received, out->data, out->size);
        bytes_append(&trial->expected, all->data, all->size);
    }
    if (trial->fault == NULL)
        trial->fault = trial->server.fault;
    if (trial->fault == NULL)
        trial->fault = fake_of(trial)->fault;
}

/* Change an act to one whose reply does not depend on time, and not on what is
 * on its way. */
static void make_timeless(struct act *act, const struct model *model)
{
    act->ttr = 60;
    if (act->kind == TKD_RESERVE_WITH_TIMEOUT)
        act->delay = act->delay % 2 * 60;
    if (act->kind == TKD_STATS || act->kind == TKD_STATS_JOB ||
        act->kind == TKD_STATS_TUBE)
        act->kind = TKD_PEEK;
    if (act->kind == TKD_LIST_TUBES || act->kind == TKD_LIST_TUBES_WATCHED)
        act->kind = TKD_LIST_TUBE_USED;
    if (act->kind == TKD_QUIT)
        act->kind = ACT_DISCONNECT;
    if (act->kind == TKD_KICK && model_is_anyone_waiting(model))
        act->id = 1;
}

/* Return whether a client can do an act now, for which the model has one
 * outcome only. */
static bool is_possible(const struct trial *trial, const struct act *act)
{
    const struct model_client *client = &trial->model.clients[act->client];
    unsigned held = 0, jobs = trial->model.job_count;
    if (act->kind == ACT_DISCONNECT || act->kind == ACT_GIVE_UP) {
        for (unsigned i = 0; i < trial->model.job_count; i++)
            held += trial->model.jobs[i].state == MODEL_RESERVED &&
                    trial->model.jobs[i].client == act->client;
        return client->is_connected &&
               (held < 2 || !model_is_anyone_waiting(&trial->model));
    }
    for (unsigned n = 0; n < MODEL_CLIENTS; n++)
        jobs += trial->model.clients[n].is_putting;
    bool is_put = act->kind == TKD_PUT || act->kind == ACT_PUT_LINE;
    return !(is_put && jobs == MODEL_JOBS) && !client->is_waiting &&
           (client->is_putting ||
            tkd_client_is_open_to_commands(
                trial->server.connections[act->client].client));
}

static void send(struct trial *trial, const struct act *act)
{
    struct server *server = &trial->server;
    switch (act->kind) {
    case ACT_CONNECT:
        bytes_clear(&trial->model.out[act->client]);
        if (server_connect(server, act->client) != 0)
            abort();
        break;
    case ACT_DISCONNECT:
        server_disconnect(server, act->client);
        break;
    case ACT_GIVE_UP:
        tkd_client_give_up(server->connections[act->client].client);
        break;
    case ACT_DRAIN:
        tkd_engine_drain(server->engine);
        break;
    default:
        server_queue(server, act->client, trial->text.data, trial->text.size);
        server_feed(server, act->client);
    }
}

static void perform(struct trial *trial, const struct act *act, bool is_lazy)
{
    bytes_clear(&trial->text);
    if (act->kind < TKD_VERBS || act->kind >= ACT_PUT_LINE)
        act_format(act, &trial->text);
    if (trial->options.script != NULL)
        trial__record(trial, act);
    trial->acts++;
    send(trial, act);
    model_execute(&trial->model, act);
    if (!is_lazy)
        server_turn(&trial->server, trial->server.now);
}

/* Let the store do something. */
static void progress(struct trial *trial, const struct op *op)
{
    static const char note[] = "(the store works)\n";
    struct fake_store *fake = fake_of(trial);
    bool is_idle = !fake->is_busy && fake->question_count == 0;
    if (fake->is_busy && (op->detail % 2 || fake->question_count == 0))
        fake_commit(fake);
    else if (fake->question_count > 0)
        fake_answer(fake, op->more % fake->question_count);
    if (trial->options.script != NULL && !is_idle)
        bytes_append(trial->options.script, note, sizeof note - 1);
    server_turn(&trial->server, trial->server.now);
}

static void play(struct trial *trial, const struct op *op)
{
    struct act act = op_resolve(op, trial->tape, &trial->model, 0);
    struct act connect = {.kind = ACT_CONNECT, .client = act.client};
    if (act.kind == ACT_TURN) {
        progress(trial, op);
        return;
    }
    if (!trial->model.clients[act.client].is_connected)
        perform(trial, &connect, false);
    make_timeless(&act, &trial->model);
    if (trial->model.clients[act.client].is_waiting && op->more % 4 == 0)
        act.kind = ACT_GIVE_UP; /* no timeout ends the reserve */
    if (trial->model.clients[act.client].is_putting &&
        act.kind != ACT_DISCONNECT && act.kind != ACT_DRAIN) {
        act = trial->model.clients[act.client].put;
        act.kind = ACT_PUT_BODY;
    }
    if (act.kind == ACT_DRAIN || is_possible(trial, &act))
        perform(trial, &act, op->is_lazy);
}

void trial__play_slowly(struct trial *trial)
{
    const struct op last = {.detail = 1};
    for (unsigned i = 0; i < trial->tape->count && trial->fault == NULL; i++) {
        trial->op_at = i;
        play(trial, &trial->tape->ops[i]);
        compare(trial, false);
        if (i % CHECK_EVERY == 0 && !tkd_engine_check(trial->server.engine))
            trial->fault = "tkd_engine_check() returns false";
    }
    server_turn(&trial->server, trial->server.now);
    while (trial->fault == NULL &&
           (fake_of(trial)->is_busy || fake_of(trial)->question_count > 0)) {
        progress(trial, &last);
        compare(trial, false);
    }
    compare(trial, true);
}
