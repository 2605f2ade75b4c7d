/*
 * server/engine/transcript.c - what happens in a trial, for a reader.
 */
#include "trial.h"

/* Return a description of an act that sends nothing. */
static const char *name_of(const struct act *act)
{
    switch (act->kind) {
    case ACT_CONNECT:
        return "(connects)\n";
    case ACT_DISCONNECT:
        return "(disconnects)\n";
    case ACT_DRAIN:
        return "(the server drains)\n";
    case ACT_GIVE_UP:
        return "(gives up)\n";
    default:
        return "";
    }
}

void trial__record(struct trial *trial, const struct act *act)
{
    char line[64];
    if (act->kind == ACT_TURN) {
        uint64_t ns = act->time - trial->model.start;
        snprintf(line, sizeof line, "       time is %llu.%09llu\n",
                 (unsigned long long)(ns / MODEL_SECOND),
                 (unsigned long long)(ns % MODEL_SECOND));
    } else {
        snprintf(line, sizeof line, "%u > %s", act->client, name_of(act));
    }
    bytes_append(trial->options.script, line, strlen(line));
    bytes_append(trial->options.script, trial->text.data, trial->text.size);
}

void trial__record_replies(struct trial *trial)
{
    for (unsigned n = 0; n < MODEL_CLIENTS; n++) {
        const struct bytes *out = &trial->server.connections[n].out;
        char line[16];
        snprintf(line, sizeof line, "%u < ", n);
        if (out->size > 0) {
            bytes_append(trial->options.script, line, strlen(line));
            bytes_append(trial->options.script, out->data, out->size);
        }
    }
}
