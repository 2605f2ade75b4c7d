/*
 * engine/commands.c - the commands of a client, and those about tubes.
 *
 * put.c has put, job_commands.c has the commands that name a job.
 *
 * Each command first reserves the memory that it may need.  If there is none,
 * the client gets OUT_OF_MEMORY and nothing has changed.
 */
#include <assert.h>
#include <string.h>

#include "private.h"

bool tkd__prepare(struct tkd_client *client)
{
    struct tkd_engine *engine = client->engine;
    if (tkd__reply_reserve(client) && tkw_pool_reserve(engine->pool, 2) == 0 &&
        tkd__reserve_write(engine))
        return true;
    tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
    return false;
}

bool tkd__prepare_hold(struct tkd_client *client)
{
    return tkd__heap_reserve(client->engine, &client->held,
                             client->held.count + 1);
}

void tkd__mark_worker(struct tkd_client *client)
{
    if (!client->is_worker)
        client->engine->worker_count++;
    client->is_worker = true;
}

void tkd__peek_in_tube(struct tkd_client *client)
{
    enum tkd_verb verb = client->verb;
    struct tkd_engine *engine = client->engine;
    struct tube *tube = client->used;
    struct job *job = NULL;
    if (verb == TKD_PEEK_DELAYED)
        job = tkd__soonest_first(engine, tube);
    if (verb != TKD_PEEK_BURIED &&
        (engine->window.is_opening ||
         (verb == TKD_PEEK_DELAYED && tkd__needs_far(client, job)))) {
        tkd__far_wait(client);
        return;
    }
    if (verb == TKD_PEEK_READY && tube->ready.count > 0)
        job = heap_first(&engine->jobs, &tube->ready);
    else if (verb == TKD_PEEK_BURIED && tube->buried_first != NO_JOB)
        job = tkd__job_at(&engine->jobs, tube->buried_first);
    tkd__peek(client, job);
}

static void use_tube(struct tkd_client *client,
                     const struct tkd_command *command)
{
    struct tube *tube =
        tkd__tube_take(client->engine, command->tube, command->tube_length);
    if (tube == NULL) {
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
        return;
    }
    if (!tkd__reply_using(client, tube)) {
        tkd__tube_release(client->engine, tube);
        return;
    }
    tkd__unuse(client);
    client->used = tube;
    tube->using_count++;
}

static void watch_tube(struct tkd_client *client,
                       const struct tkd_command *command)
{
    if (!tkd__watch(client, command->tube, command->tube_length)) {
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
        return;
    }
    tkd__reply_add(client, TKD_REPLY_WATCHING)->number = client->watched_count;
}

static void ignore_tube(struct tkd_client *client,
                        const struct tkd_command *command)
{
    struct tube *tube =
        tkd__tube_find(client->engine, command->tube, command->tube_length);
    uint32_t index = tkd__watched_index(client, tube);
    bool is_watched = index < client->watched_count;
    if (is_watched && client->watched_count == 1) {
        tkd__reply_add(client, TKD_REPLY_NOT_IGNORED);
        return;
    }
    if (is_watched)
        tkd__unwatch(client, index);
    tkd__reply_add(client, TKD_REPLY_WATCHING)->number = client->watched_count;
}

static void pause_tube(struct tkd_client *client,
                       const struct tkd_command *command)
{
    struct tube *tube =
        tkd__tube_find(client->engine, command->tube, command->tube_length);
    if (tube == NULL) {
        tkd__reply_add(client, TKD_REPLY_NOT_FOUND);
        return;
    }
    tkd__reply_add(client, TKD_REPLY_PAUSED);
    tkd__tube_pause(client->engine, tube, command->delay_ns);
    tkd__serve_later(client->engine, TKD_STEP);
}

static void stats_tube(struct tkd_client *client,
                       const struct tkd_command *command)
{
    struct tube *tube =
        tkd__tube_find(client->engine, command->tube, command->tube_length);
    if (tube == NULL)
        tkd__reply_add(client, TKD_REPLY_NOT_FOUND);
    else
        tkd__reply_text(client, tkd__stats_tube(client->engine, tube));
}

static void reserve(struct tkd_client *client, bool has_timeout)
{
    tkd__mark_worker(client);
    if (tkd__prepare_hold(client))
        tkd__reserve(client, has_timeout);
    else
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
}

/* Execute a command that names no job. */
static void execute(struct tkd_client *client,
                    const struct tkd_command *command)
{
    struct tkd_engine *engine = client->engine;
    switch (command->verb) {
    case TKD_PUT:
        tkd__put_begin(client, command);
        break;
    case TKD_PEEK_READY:
    case TKD_PEEK_DELAYED:
    case TKD_PEEK_BURIED:
        tkd__peek_in_tube(client);
        break;
    case TKD_RESERVE:
    case TKD_RESERVE_WITH_TIMEOUT:
        reserve(client, command->verb == TKD_RESERVE_WITH_TIMEOUT);
        break;
    case TKD_KICK:
        tkd__kick(client, command->id);
        break;
    case TKD_USE:
        use_tube(client, command);
        break;
    case TKD_WATCH:
        watch_tube(client, command);
        break;
    case TKD_IGNORE:
        ignore_tube(client, command);
        break;
    case TKD_LIST_TUBE_USED:
        tkd__reply_using(client, client->used);
        break;
    case TKD_LIST_TUBES:
        tkd__reply_text(client, tkd__list_tubes(engine));
        break;
    case TKD_LIST_TUBES_WATCHED:
        tkd__reply_text(client, tkd__list_watched(client));
        break;
    case TKD_STATS:
        tkd__reply_text(client, tkd__stats_all(engine));
        break;
    case TKD_STATS_TUBE:
        stats_tube(client, command);
        break;
    case TKD_PAUSE_TUBE:
        pause_tube(client, command);
        break;
    default:
        assert(command->verb == TKD_QUIT);
        break;
    }
}

static bool names_a_job(enum tkd_verb verb)
{
    switch (verb) {
    case TKD_RESERVE_JOB:
    case TKD_DELETE:
    case TKD_RELEASE:
    case TKD_BURY:
    case TKD_TOUCH:
    case TKD_KICK_JOB:
    case TKD_PEEK:
    case TKD_STATS_JOB:
        return true;
    default:
        return false;
    }
}

void tkd_client_command(struct tkd_client *client,
                        const struct tkd_command *command)
{
    assert(tkd_client_is_open_to_commands(client));
    client->engine->counts.commands[command->verb]++;
    if (!tkd__prepare(client)) {
        if (command->verb == TKD_PUT)
            client->wait = WAIT_DISCARD;
        return;
    }
    client->verb = command->verb;
    client->delay_ns = command->delay_ns;
    client->cursor = (struct tkd_position){0};
    if (!names_a_job(command->verb)) {
        execute(client, command);
        return;
    }
    struct job *job;
    client->id = command->id;
    client->pri = command->pri;
    if (tkd__fetch(client, &job))
        tkd__run(client, job);
}

void tkd_client_refuse(struct tkd_client *client, enum tkd_refusal refusal,
                       enum tkd_verb counted)
{
    static const enum tkd_reply_kind kinds[] = {
        [TKD_REFUSED_FORMAT] = TKD_REPLY_BAD_FORMAT,
        [TKD_REFUSED_UNKNOWN] = TKD_REPLY_UNKNOWN_COMMAND,
        [TKD_REFUSED_SIZE] = TKD_REPLY_JOB_TOO_BIG,
    };
    if (counted < TKD_VERBS)
        client->engine->counts.commands[counted]++;
    if (tkd__reply_reserve(client))
        tkd__reply_add(client, kinds[refusal]);
    else
        tkd__reply_add(client, TKD_REPLY_OUT_OF_MEMORY);
}
