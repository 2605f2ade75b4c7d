/*
 * server/engine/model_text.c - the replies of the model, and its acts, as text.
 */
#include <stdarg.h>

#include "model_private.h"
#include "server.h"

const char *const model_tubes[MODEL_TUBES] = {
    "default",
    "a",
    "b.c",
    "12",
    "x;y/z+$_()-",
    "aa",
    "ab",
    "long.long.long.long.long.long.long.long.long.long.long.long.long.long.",
};

void model__reply(struct model *model, unsigned client, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    bytes_append(&model->out[client], line, (size_t)length);
    bytes_append(&model->out[client], "\r\n", 2);
}

static void append_body(struct bytes *bytes, unsigned seed, unsigned size)
{
    char body[MODEL_BODY_MAX];
    for (unsigned i = 0; i < size; i++)
        body[i] = (char)('a' + (seed + i) % 26);
    bytes_append(bytes, body, size);
    bytes_append(bytes, "\r\n", 2);
}

void model__reply_job(struct model *model, unsigned client, const char *word,
                      const struct model_job *job)
{
    model__reply(model, client, "%s %llu %u", word, (unsigned long long)job->id,
                 job->body_size);
    append_body(&model->out[client], job->seed, job->body_size);
}

void model__reply_yaml(struct model *model, unsigned client, const char *yaml,
                       size_t length)
{
    model__reply(model, client, "OK %zu", length);
    bytes_append(&model->out[client], yaml, length);
    bytes_append(&model->out[client], "\r\n", 2);
}

static unsigned long long seconds(uint64_t ns)
{
    return ns / MODEL_SECOND;
}

static unsigned long long seconds_left(const struct model *model, uint64_t end)
{
    return end > model->now ? seconds(end - model->now) : 0;
}

void model__stats_job(struct model *model, unsigned client,
                      const struct model_job *job)
{
    static const char *const states[] = {"ready", "delayed", "buried",
                                         "reserved"};
    char yaml[512];
    if (job == NULL) {
        model__reply(model, client, "NOT_FOUND");
        return;
    }
    bool has_end = job->state == MODEL_DELAYED || job->state == MODEL_RESERVED;
    int length = snprintf(
        yaml, sizeof yaml,
        "---\nid: %llu\ntube: \"%s\"\nstate: %s\npri: %u\nage: %llu\n"
        "delay: %u\nttr: %u\ntime-left: %llu\nfile: 0\nreserves: %u\n"
        "timeouts: %u\nreleases: %u\nburies: %u\nkicks: %u\n",
        (unsigned long long)job->id, model_tubes[job->tube], states[job->state],
        job->pri, seconds(model->now - job->created), job->delay, job->ttr,
        has_end ? seconds_left(model, job->end) : 0, job->reserves,
        job->timeouts, job->releases, job->buries, job->kicks);
    model__reply_yaml(model, client, yaml, (size_t)length);
}

static unsigned count(const struct model *model, unsigned tube,
                      enum model_state state)
{
    unsigned found = 0;
    for (unsigned i = 0; i < model->job_count; i++)
        found += (tube == MODEL_ALL || model->jobs[i].tube == tube) &&
                 model->jobs[i].state == state;
    return found;
}

static unsigned count_urgent(const struct model *model, unsigned tube)
{
    unsigned found = 0;
    for (unsigned i = 0; i < model->job_count; i++)
        found += (tube == MODEL_ALL || model->jobs[i].tube == tube) &&
                 model->jobs[i].state == MODEL_READY &&
                 model->jobs[i].pri < 1024;
    return found;
}

int model__write_jobs(const struct model *model, unsigned tube, char *yaml,
                      size_t size)
{
    return snprintf(yaml, size,
                    "current-jobs-urgent: %u\ncurrent-jobs-ready: %u\n"
                    "current-jobs-reserved: %u\ncurrent-jobs-delayed: %u\n"
                    "current-jobs-buried: %u\n",
                    count_urgent(model, tube), count(model, tube, MODEL_READY),
                    count(model, tube, MODEL_RESERVED),
                    count(model, tube, MODEL_DELAYED),
                    count(model, tube, MODEL_BURIED));
}

/* How many clients use a tube, watch it and wait for its jobs. */
static void count_clients(const struct model *model, unsigned tube,
                          unsigned counts[3])
{
    for (unsigned n = 0; n < MODEL_CLIENTS; n++) {
        const struct model_client *client = &model->clients[n];
        if (!client->is_connected)
            continue;
        bool is_watching = client->watched >> tube & 1;
        counts[0] += client->used == tube;
        counts[1] += is_watching;
        counts[2] += is_watching && client->is_waiting;
    }
}

void model__stats_tube(struct model *model, unsigned client, unsigned tube)
{
    const struct model_tube *t = &model->tubes[tube];
    unsigned clients[3] = {0};
    char yaml[768];
    if (!t->exists) {
        model__reply(model, client, "NOT_FOUND");
        return;
    }
    count_clients(model, tube, clients);
    int at =
        snprintf(yaml, sizeof yaml, "---\nname: \"%s\"\n", model_tubes[tube]);
    at += model__write_jobs(model, tube, yaml + at, sizeof yaml - (size_t)at);
    at +=
        snprintf(yaml + at, sizeof yaml - (size_t)at,
                 "total-jobs: %llu\ncurrent-using: %u\ncurrent-watching: %u\n"
                 "current-waiting: %u\ncmd-delete: %llu\ncmd-pause-tube: %llu\n"
                 "pause: %u\npause-time-left: %llu\n",
                 (unsigned long long)t->puts, clients[0], clients[1],
                 clients[2], (unsigned long long)t->deletes,
                 (unsigned long long)t->pauses, t->is_paused ? t->pause : 0,
                 t->is_paused ? seconds_left(model, t->pause_end) : 0);
    model__reply_yaml(model, client, yaml, (size_t)at);
}

void model__list(struct model *model, unsigned client, unsigned tubes)
{
    struct bytes yaml = {0};
    bytes_append(&yaml, "---\n", 4);
    for (unsigned t = 0; t < MODEL_TUBES; t++) {
        if (!(tubes >> t & 1))
            continue;
        bytes_append(&yaml, "- ", 2);
        bytes_append(&yaml, model_tubes[t], strlen(model_tubes[t]));
        bytes_append(&yaml, "\n", 1);
    }
    model__reply_yaml(model, client, yaml.data, yaml.size);
    bytes_free(&yaml);
}
