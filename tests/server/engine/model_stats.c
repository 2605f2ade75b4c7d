/*
 * server/engine/model_stats.c - the text of stats.
 *
 * The lines of the binlog, and those after "platform", are left out: the trial
 * removes them from what an engine shows.
 */
#include "model_private.h"
#include "server.h"

/* Lines "cmd-...", in the order of stats. */
static const struct {
    const char *name;
    enum tkd_verb verb;
} commands[] = {
    {"put", TKD_PUT},
    {"peek", TKD_PEEK},
    {"peek-ready", TKD_PEEK_READY},
    {"peek-delayed", TKD_PEEK_DELAYED},
    {"peek-buried", TKD_PEEK_BURIED},
    {"reserve", TKD_RESERVE},
    {"reserve-with-timeout", TKD_RESERVE_WITH_TIMEOUT},
    {"delete", TKD_DELETE},
    {"release", TKD_RELEASE},
    {"use", TKD_USE},
    {"watch", TKD_WATCH},
    {"ignore", TKD_IGNORE},
    {"bury", TKD_BURY},
    {"kick", TKD_KICK},
    {"touch", TKD_TOUCH},
    {"stats", TKD_STATS},
    {"stats-job", TKD_STATS_JOB},
    {"stats-tube", TKD_STATS_TUBE},
    {"list-tubes", TKD_LIST_TUBES},
    {"list-tube-used", TKD_LIST_TUBE_USED},
    {"list-tubes-watched", TKD_LIST_TUBES_WATCHED},
    {"pause-tube", TKD_PAUSE_TUBE},
};

static int write_commands(const struct model *model, char *yaml, size_t size)
{
    int at = 0;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        at += snprintf(yaml + at, size - (size_t)at, "cmd-%s: %llu\n",
                       commands[i].name,
                       (unsigned long long)model->counts[commands[i].verb]);
    return at;
}

struct census {
    unsigned tubes, connections, producers, workers, waiting;
};

static struct census take_census(const struct model *model)
{
    struct census census = {0};
    for (unsigned t = 0; t < MODEL_TUBES; t++)
        census.tubes += model->tubes[t].exists;
    for (unsigned n = 0; n < MODEL_CLIENTS; n++) {
        const struct model_client *client = &model->clients[n];
        if (!client->is_connected)
            continue;
        census.connections++;
        census.producers += client->is_producer;
        census.workers += client->is_worker;
        census.waiting += client->is_waiting;
    }
    return census;
}

static int write_census(const struct model *model, char *yaml, size_t size)
{
    struct census census = take_census(model);
    return snprintf(
        yaml, size,
        "job-timeouts: %llu\ntotal-jobs: %llu\nmax-job-size: %d\n"
        "current-tubes: %u\ncurrent-connections: %u\n"
        "current-producers: %u\ncurrent-workers: %u\ncurrent-waiting: %u\n"
        "total-connections: %llu\n",
        (unsigned long long)model->timeouts, (unsigned long long)model->puts,
        MODEL_BODY_MAX, census.tubes, census.connections, census.producers,
        census.workers, census.waiting, (unsigned long long)model->connections);
}

static int write_facts(const struct model *model, char *yaml, size_t size)
{
    const struct tkd_facts *facts = &server_facts;
    return snprintf(
        yaml, size,
        "pid: %llu\nversion: \"%s\"\nrusage-utime: %llu.%06llu\n"
        "rusage-stime: %llu.%06llu\nuptime: %llu\ndraining: %s\nid: %s\n"
        "hostname: \"%s\"\nos: \"%s\"\nplatform: \"%s\"\n",
        (unsigned long long)facts->pid, facts->version,
        (unsigned long long)facts->user_us / 1000000,
        (unsigned long long)facts->user_us % 1000000,
        (unsigned long long)facts->system_us / 1000000,
        (unsigned long long)facts->system_us % 1000000,
        (unsigned long long)((model->now - model->start) / MODEL_SECOND),
        model->is_draining ? "true" : "false", facts->id, facts->hostname,
        facts->os, facts->platform);
}

void model__stats(struct model *model, unsigned client)
{
    char yaml[2048];
    size_t room = sizeof yaml;
    int at = snprintf(yaml, room, "---\n");
    at += model__write_jobs(model, MODEL_ALL, yaml + at, room - (size_t)at);
    at += write_commands(model, yaml + at, room - (size_t)at);
    at += write_census(model, yaml + at, room - (size_t)at);
    at += write_facts(model, yaml + at, room - (size_t)at);
    model__reply_yaml(model, client, yaml, (size_t)at);
}
