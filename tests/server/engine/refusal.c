/*
 * server/engine/refusal.c - OUT_OF_MEMORY, where memory was refused.
 */
#include "trial.h"

/* Return whether a client has received OUT_OF_MEMORY, and no other client has
 * received anything. */
static bool is_only_reply(const struct trial *trial, unsigned client)
{
    static const char reply[] = "OUT_OF_MEMORY\r\n";
    for (unsigned n = 0; n < MODEL_CLIENTS; n++) {
        const struct bytes *out = &trial->server.connections[n].out;
        if (out->size != (n == client ? sizeof reply - 1 : 0))
            return false;
    }
    return memcmp(trial->server.connections[client].out.data, reply,
                  sizeof reply - 1) == 0;
}

/* The contract does not say whether a put without memory takes an id.  Adopt
 * the engine's id of the next put. */
static void adopt_id(struct trial *trial, unsigned client)
{
    static const char word[] = "INSERTED ";
    const struct bytes *out = &trial->server.connections[client].out;
    if (trial->ids_lost == 0 || out->size < sizeof word - 1 ||
        memcmp(out->data, word, sizeof word - 1) != 0)
        return;
    uint64_t id = strtoull(out->data + sizeof word - 1, NULL, 10);
    if (id >= trial->model.next_id &&
        id <= trial->model.next_id + trial->ids_lost)
        trial->model.next_id = id;
    trial->ids_lost = 0;
}

bool trial__is_refused(struct trial *trial, const struct act *act,
                       uint64_t failures)
{
    if (trial->options.fail_from == 0)
        return false;
    bool is_put = act->kind == TKD_PUT || act->kind == ACT_PUT_BAD_END;
    if (is_put)
        adopt_id(trial, act->client);
    if (trial->memory.failures == failures)
        return false;
    if (act->kind == ACT_CONNECT) {
        bool is_refused = trial->server.connections[act->client].client == NULL;
        trial->refusals += is_refused;
        return is_refused;
    }
    bool is_sent = act->kind < TKD_VERBS || act->kind >= ACT_PUT_LINE;
    if (!is_sent || !is_only_reply(trial, act->client))
        return false;
    bytes_clear(&trial->server.connections[act->client].out);
    trial->ids_lost += is_put;
    trial->refusals++;
    return true;
}
