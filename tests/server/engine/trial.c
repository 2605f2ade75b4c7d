#include "trial.h"

#include "fake_store.h"

/* What the model may try, before its choices are at fault. */
enum { TRIES = 100000 };

/* Acts between two calls of tkd_engine_check(). */
enum { CHECK_EVERY = 61 };

static void blame(struct trial *trial, const char *fault)
{
    if (trial->fault == NULL)
        trial->fault = fault;
}

static bool is_equal(const struct bytes *a, const struct bytes *b)
{
    return a->size == b->size &&
           (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* Return a client that has received something else than the model says, or
 * MODEL_CLIENTS. */
static unsigned find_difference(const struct trial *trial)
{
    for (unsigned n = 0; n < MODEL_CLIENTS; n++)
        if (!is_equal(&trial->server.connections[n].out, &trial->model.out[n]))
            return n;
    return MODEL_CLIENTS;
}

/* Restore the model as it was before the last act, but for the choices. */
static void restore(struct trial *trial, const size_t sizes[MODEL_CLIENTS])
{
    struct model_choices choices = trial->model.choices;
    struct bytes out[MODEL_CLIENTS];
    memcpy(out, trial->model.out, sizeof out);
    trial->model = trial->before;
    memcpy(trial->model.out, out, sizeof out);
    for (unsigned n = 0; n < MODEL_CLIENTS; n++)
        trial->model.out[n].size = sizes[n];
    trial->model.choices = choices;
}

/* Execute an act on the model, with the choices that make its replies those
 * that the engine has sent, if there are such choices. */
static void execute(struct trial *trial, const struct act *act)
{
    struct model *model = &trial->model;
    memset(&model->choices, 0, sizeof model->choices);
    memset(model->seen, 0, sizeof model->seen);
    if (!model_is_anyone_waiting(model)) {
        model_execute(model, act);
        return;
    }
    size_t sizes[MODEL_CLIENTS];
    for (unsigned n = 0; n < MODEL_CLIENTS; n++)
        sizes[n] = model->out[n].size;
    for (unsigned n = 0; n < MODEL_CLIENTS; n++)
        model->seen[n] = &trial->server.connections[n].out;
    trial->before = *model;
    model_execute(model, act);
    for (unsigned tries = 0; find_difference(trial) != MODEL_CLIENTS; tries++) {
        bool is_last = tries == TRIES || !model_try_next(&model->choices);
        if (is_last) /* show what the first choices would have been */
            memset(&model->choices, 0, sizeof model->choices);
        restore(trial, sizes);
        if (is_last)
            memset(model->seen, 0, sizeof model->seen);
        model_execute(model, act);
        if (is_last)
            break;
    }
}

static void check_client(struct trial *trial, unsigned n)
{
    const struct tkd_client *client = trial->server.connections[n].client;
    const struct model_client *expected = &trial->model.clients[n];
    if ((client != NULL) != expected->is_connected) {
        blame(trial, "a client is connected, or not");
        return;
    }
    if (client == NULL)
        return;
    if (tkd_client_is_waiting(client) != expected->is_waiting)
        blame(trial, "tkd_client_is_waiting() is wrong");
    if (!expected->is_putting &&
        tkd_client_is_open_to_commands(client) == expected->is_waiting)
        blame(trial, "tkd_client_is_open_to_commands() is wrong");
    if (tkd_client_pending_count(client) != expected->is_waiting)
        blame(trial, "tkd_client_pending_count() is wrong");
}

static void check(struct trial *trial)
{
    unsigned n = find_difference(trial);
    if (trial->options.script != NULL)
        trial__record_replies(trial);
    if (n != MODEL_CLIENTS && trial->fault == NULL) {
        const struct bytes *out = &trial->server.connections[n].out;
        blame(trial, "a client receives something else");
        bytes_append(&trial->received, out->data, out->size);
        bytes_append(&trial->expected, trial->model.out[n].data,
                     trial->model.out[n].size);
    }
    for (n = 0; n < MODEL_CLIENTS; n++) {
        check_client(trial, n);
        bytes_clear(&trial->server.connections[n].out);
        bytes_clear(&trial->model.out[n]);
    }
    uint64_t next = tkd_engine_next(trial->server.engine);
    if (next > model_next(&trial->model))
        blame(trial, "tkd_engine_next() is too late");
    if (trial->server.fault != NULL)
        blame(trial, trial->server.fault);
    if (trial->acts % CHECK_EVERY == 0 &&
        !tkd_engine_check(trial->server.engine))
        blame(trial, "tkd_engine_check() returns false");
}

/* Collect all replies.  A store that answers at once needs some rounds: for the
 * record of a job, its change, and the time to run that begins. */
static void collect(struct trial *trial)
{
    unsigned rounds = trial->tape->store == TAPE_MEMORY ? 1 : 4;
    for (unsigned i = 0; i < rounds; i++)
        server_turn(&trial->server, trial->server.now);
}

/* Collect and compare all replies. */
static void flush(struct trial *trial)
{
    collect(trial);
    check(trial);
}

static void send(struct trial *trial, const struct act *act)
{
    struct server *server = &trial->server;
    switch (act->kind) {
    case ACT_CONNECT:
        if (server_connect(server, act->client) != 0 &&
            trial->memory.failures == 0)
            blame(trial, "a client does not open though there is memory");
        break;
    case ACT_DISCONNECT:
        server_disconnect(server, act->client);
        break;
    case ACT_TURN:
        server_turn(server, act->time);
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
        if (server->connections[act->client].in.size > 0)
            blame(trial, "a client does not take its whole command");
    }
}

/* Acts whose replies are normalized, or that need all replies popped. */
static bool is_lonely(const struct act *act)
{
    return act->kind >= TKD_VERBS || act->kind == TKD_QUIT ||
           act->kind == TKD_STATS || act->kind == TKD_LIST_TUBES ||
           act->kind == TKD_LIST_TUBES_WATCHED;
}

/* Return whether the replies to an act can be popped after the next acts.  With
 * a store, the TTR of a job starts when its client gets it: then not those to a
 * reserve. */
static bool can_be_late(const struct trial *trial, const struct act *act)
{
    bool is_reserve = act->kind == TKD_RESERVE ||
                      act->kind == TKD_RESERVE_WITH_TIMEOUT ||
                      act->kind == TKD_RESERVE_JOB;
    return trial->options.fail_from == 0 && !is_lonely(act) &&
           !model_is_anyone_waiting(&trial->model) &&
           (trial->tape->store == TAPE_MEMORY || !is_reserve);
}

static void perform(struct trial *trial, const struct act *act, bool is_lazy)
{
    bool is_late = is_lazy && can_be_late(trial, act);
    if (is_lonely(act) || (!trial->model.clients[act->client].is_putting &&
                           !tkd_client_is_open_to_commands(
                               trial->server.connections[act->client].client)))
        flush(trial);
    bytes_clear(&trial->text);
    if (act->kind < TKD_VERBS || act->kind >= ACT_PUT_LINE)
        act_format(act, &trial->text);
    if (trial->options.script != NULL)
        trial__record(trial, act);
    trial->acts++;
    if (trial->fault != NULL)
        return;
    uint64_t failures = trial->memory.failures;
    send(trial, act);
    if (!is_late)
        collect(trial);
    if (trial__is_refused(trial, act, failures)) {
        check(trial);
        return;
    }
    if (act->kind < TKD_VERBS)
        trial_normalize(&trial->server.connections[act->client].out,
                        (enum tkd_verb)act->kind);
    execute(trial, act);
    if (!is_late)
        check(trial);
}

/* Send the bodies that are missing: no time passes between a put and its
 * body, of which the contract does not say which counts. */
static void finish_put(struct trial *trial, unsigned n)
{
    if (!trial->model.clients[n].is_putting)
        return;
    struct act act = trial->model.clients[n].put;
    act.kind = ACT_PUT_BODY;
    perform(trial, &act, false);
}

static bool has_room(const struct model *model)
{
    unsigned count = model->job_count;
    for (unsigned n = 0; n < MODEL_CLIENTS; n++)
        count += model->clients[n].is_putting;
    return count < MODEL_JOBS;
}

/* Returns false if there is no memory for a client. */
static bool connect_if_needed(struct trial *trial, unsigned n)
{
    struct act act = {.kind = ACT_CONNECT, .client = (uint8_t)n};
    if (!trial->model.clients[n].is_connected)
        perform(trial, &act, false);
    return trial->model.clients[n].is_connected;
}

/* Where memory is refused, do without acts of which the contract leaves details
 * open: the counters of stats, and the ids of puts that are not complete. */
static void make_plain(struct act *act)
{
    if (act->kind == TKD_STATS)
        act->kind = TKD_STATS_TUBE;
    if (act->kind == ACT_PUT_LINE)
        act->kind = TKD_PUT;
}

static void do_op(struct trial *trial, const struct op *op)
{
    struct act act = op_resolve(op, trial->tape, &trial->model,
                                tkd_engine_next(trial->server.engine));
    if (trial->options.fail_from != 0)
        make_plain(&act);
    bool is_put = act.kind == TKD_PUT || act.kind == ACT_PUT_LINE;
    if (is_put && !has_room(&trial->model))
        return;
    for (unsigned n = 0; n < MODEL_CLIENTS && act.kind == ACT_TURN; n++)
        finish_put(trial, n);
    if (act.kind < TKD_VERBS || act.kind >= ACT_PUT_LINE)
        finish_put(trial, act.client);
    if (act.kind == ACT_TURN)
        trial->server.budget = op->detail & 512 ? TKD_STEP : 1 + op->more % 3;
    perform(trial, &act, op->is_lazy);
}

/* Do what clients have sent while they waited. */
static void unqueue(struct trial *trial)
{
    bool is_busy;
    do {
        is_busy = false;
        for (unsigned n = 0; n < MODEL_CLIENTS; n++) {
            struct queue *queue = &trial->queues[n];
            if (trial->model.clients[n].is_waiting || queue->count == 0)
                continue;
            struct op op = queue->ops[0];
            queue->count--;
            memmove(queue->ops, queue->ops + 1,
                    queue->count * sizeof queue->ops[0]);
            if (connect_if_needed(trial, n))
                do_op(trial, &op);
            is_busy = true;
        }
    } while (is_busy && trial->fault == NULL);
}

static void play_op(struct trial *trial, const struct op *op)
{
    const struct model_client *client = &trial->model.clients[op->client];
    struct queue *queue = &trial->queues[op->client];
    bool is_possible = true;
    if (op->kind == ACT_DISCONNECT)
        queue->count = 0;
    if (op->kind == ACT_DISCONNECT || op->kind == ACT_GIVE_UP)
        is_possible = client->is_connected;
    else if (op->kind != ACT_TURN && op->kind != ACT_DRAIN)
        is_possible =
            !client->is_waiting && connect_if_needed(trial, op->client);
    if (is_possible)
        do_op(trial, op);
    else if (client->is_waiting && queue->count < TRIAL_QUEUE)
        queue->ops[queue->count++] = *op;
    unqueue(trial);
}

static struct tkd_store *open_store(struct trial *trial)
{
    if (trial->tape->store == TAPE_MEMORY)
        return tkd_memory_open(&trial->memory.allocator);
    struct fake_store *fake = fake_open(&trial->memory.allocator);
    fake->is_automatic = trial->tape->store == TAPE_INSTANT;
    fake->is_forgetful = true;
    return &fake->store;
}

/* Blame the engine for what it has done to its store. */
static void check_store(struct trial *trial)
{
    struct fake_store *fake = (struct fake_store *)(void *)trial->store;
    if (trial->tape->store != TAPE_MEMORY && fake->fault != NULL)
        blame(trial, fake->fault);
}

/* Returns false if there is no memory. */
static bool begin(struct trial *trial)
{
    uint64_t now = UINT64_C(1000000) * MODEL_SECOND;
    memory_init(&trial->memory);
    trial->memory.fail_from = trial->options.fail_from;
    trial->memory.fail_count = trial->options.fail_count;
    model_init(&trial->model, now, trial->options.bug);
    trial->store = open_store(trial);
    struct tkd_engine_config config = {
        .allocator = &trial->memory.allocator,
        .store = trial->store,
        .now_ns = now,
        .hash_seed = 42,
        .body_max = MODEL_BODY_MAX,
    };
    return trial->store != NULL &&
           server_open(&trial->server, &config, MODEL_CLIENTS) == 0;
}

static void play_ops(struct trial *trial)
{
    const struct tape *tape = trial->tape;
    for (unsigned i = 0; i < tape->count && trial->fault == NULL; i++) {
        trial->op_at = i;
        play_op(trial, &tape->ops[i]);
    }
    if (trial->fault == NULL)
        flush(trial);
}

static void finish(struct trial *trial)
{
    if (!tkd_engine_check(trial->server.engine))
        blame(trial, "tkd_engine_check() returns false");
    check_store(trial);
    server_close(&trial->server);
}

bool trial_play(struct trial *trial, const struct tape *tape,
                const struct trial_options *options)
{
    *trial = (struct trial){.tape = tape, .options = *options};
    bool has_begun = begin(trial);
    if (has_begun && tape->store == TAPE_SLOW)
        trial__play_slowly(trial);
    else if (has_begun)
        play_ops(trial);
    if (has_begun)
        finish(trial);
    else if (trial->memory.failures == 0)
        blame(trial, "an engine does not open though there is memory");
    tkd_store_close(trial->store);
    if (trial->memory.bytes != 0)
        blame(trial, "memory is still allocated after the end");
    return trial->fault == NULL;
}

void trial_free(struct trial *trial)
{
    model_free(&trial->model);
    bytes_free(&trial->text);
    bytes_free(&trial->received);
    bytes_free(&trial->expected);
}
