/*
 * engine/client.c - connections: what they use and watch, and their end.
 *
 * A client that is closed gives the jobs that it holds back, in steps if they
 * are many.  Its memory stays until then, and until the store has answered the
 * client's question.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "private.h"

void tkd__unuse(struct tkd_client *client)
{
    struct tube *tube = client->used;
    client->used = NULL;
    tube->using_count--;
    tkd__tube_release(client->engine, tube);
}

uint32_t tkd__watched_index(const struct tkd_client *client,
                            const struct tube *tube)
{
    uint32_t i = 0;
    while (i < client->watched_count && client->watched[i].tube != tube)
        i++;
    return i;
}

void tkd__unwatch(struct tkd_client *client, uint32_t index)
{
    struct tkd_engine *engine = client->engine;
    struct watched gone = client->watched[index];
    client->watched_count--;
    memmove(client->watched + index, client->watched + index + 1,
            (client->watched_count - index) * sizeof gone);
    gone.tube->watching_count--;
    tkd__tube_release(engine, gone.tube);
    tkd__release(engine, gone.watch, sizeof *gone.watch);
}

static bool add_watch(struct tkd_client *client, struct tube *tube)
{
    struct tkd_engine *engine = client->engine;
    if (client->watched_count == TKD_WATCH_MAX ||
        !tkd__grow(engine, &client->watched, &client->watched_room,
                   client->watched_count + 1, sizeof *client->watched))
        return false;
    struct watch *watch = tkd__allocate(engine, sizeof *watch);
    if (watch == NULL)
        return false;
    watch->client = client;
    link_init(&watch->waiting);
    client->watched[client->watched_count++] = (struct watched){tube, watch};
    tube->watching_count++;
    return true;
}

bool tkd__watch(struct tkd_client *client, const char *name, uint8_t length)
{
    struct tkd_engine *engine = client->engine;
    struct tube *tube = tkd__tube_take(engine, name, length);
    if (tube == NULL)
        return false;
    bool is_watched = tkd__watched_index(client, tube) < client->watched_count;
    if (!is_watched && add_watch(client, tube))
        return true; /* the watch has the reference */
    tkd__tube_release(engine, tube);
    return is_watched;
}

/* Use and watch `default`. */
static bool begin(struct tkd_client *client)
{
    struct tube *tube = client->engine->default_tube;
    if (!tkd__watch(client, tube->name, tube->name_length))
        return false;
    tube_hold(tube);
    tube->using_count++;
    client->used = tube;
    return true;
}

static void release_memory(struct tkd_client *client)
{
    struct tkd_engine *engine = client->engine;
    tkd__heap_close(engine, &client->held);
    tkd__release(engine, client->watched,
                 client->watched_room * sizeof *client->watched);
    tkd__release(engine, client->answers,
                 client->answer_room * sizeof *client->answers);
    tkd__release(engine, client, sizeof *client);
}

int tkd_client_open(struct tkd_engine *engine, struct tkd_client **opened,
                    void *user)
{
    struct tkd_client *client = tkd__allocate(engine, sizeof *client);
    if (client == NULL)
        return -ENOMEM;
    memset(client, 0, sizeof *client);
    client->engine = engine;
    client->user = user;
    link_init(&client->queued);
    link_init(&client->chore);
    link_init(&client->asking);
    if (!tkd__reply_reserve(client) || !begin(client)) {
        release_memory(client);
        return -ENOMEM;
    }
    link_append(&engine->clients, &client->all);
    engine->client_count++;
    engine->counts.total_clients++;
    *opened = client;
    return 0;
}

bool tkd_client_is_open_to_commands(const struct tkd_client *client)
{
    return (client->wait == WAIT_NONE || client->wait == WAIT_BODY_IN ||
            client->wait == WAIT_DISCARD) &&
           client->answer_count < client->answer_room;
}

bool tkd_client_is_waiting(const struct tkd_client *client)
{
    return client->wait == WAIT_JOB;
}

size_t tkd__client_wind_up(struct tkd_client *client, size_t most)
{
    struct tkd_engine *engine = client->engine;
    size_t done = 0;
    while (client->held.count > 0 && done < most) {
        struct job *job = heap_first(&engine->jobs, &client->held);
        struct tube *tube = job->tube;
        tkd__job_leave(engine, job);
        tkd__job_enter_ready(engine, job);
        tkd__tube_serve_later(engine, tube);
        done++;
    }
    tkd__serve_later(engine, most);
    if (client->held.count > 0) {
        if (link_is_alone(&client->chore))
            link_append(&engine->chores, &client->chore);
    } else if (!client->is_asking) {
        link_remove(&client->chore);
        link_remove(&client->all);
        release_memory(client);
    } else {
        link_remove(&client->chore);
    }
    return done;
}

/* Drop the command that the client waits with. */
static void abandon_command(struct tkd_client *client)
{
    struct tkd_engine *engine = client->engine;
    if (client->wait == WAIT_JOB)
        tkd__reserve_stop(client);
    tkd__kick_end(client);
    link_remove(&client->asking);
    link_remove(&client->chore);
    if (client->body != NULL)
        engine->memory -= client->body->size;
    tkd_body_release(&engine->allocator, client->body);
    client->body = NULL;
}

static void leave_engine(struct tkd_client *client)
{
    struct tkd_engine *engine = client->engine;
    abandon_command(client);
    tkd__replies_close(client);
    while (client->watched_count > 0)
        tkd__unwatch(client, client->watched_count - 1);
    tkd__unuse(client);
    engine->client_count--;
    engine->worker_count -= client->is_worker;
    engine->producer_count -= client->is_producer;
    client->wait = WAIT_CLOSE;
}

void tkd_client_close(struct tkd_client *client)
{
    leave_engine(client);
    tkd__client_wind_up(client, TKD_STEP);
}

void tkd__clients_close(struct tkd_engine *engine)
{
    while (engine->clients.next != NULL && !link_is_alone(&engine->clients)) {
        struct tkd_client *client =
            TKW_CONTAINER(engine->clients.next, struct tkd_client, all);
        if (client->wait != WAIT_CLOSE)
            leave_engine(client);
        link_remove(&client->all);
        release_memory(client);
    }
}
