/*
 * engine/far.c - peek-delayed and kick over jobs that only the store has.
 *
 * Memory has all jobs of a tube that are due before a position: `loaded` of the
 * window, or `cursor` of the client, whichever is later.  If the soonest job in
 * memory is behind that position, a far job may be sooner.  Then the client
 * waits in the list `listers`.  One list is read at a time, in turns with the
 * window.  Its jobs are filed in memory, and the command goes on.
 */
#include <assert.h>

#include "private.h"

enum { PEEK_PART = 8 };

static bool is_before(struct tkd_position a, uint64_t at, uint64_t id)
{
    return a.at < at || (a.at == at && a.id <= id);
}

bool tkd__needs_far(const struct tkd_client *client, const struct job *job)
{
    const struct tkd_engine *engine = client->engine;
    const struct tube *tube = client->used;
    if (engine->window.is_opening)
        return true;
    if (tube->far == 0 || client->cursor.at == TKD_NEVER)
        return false;
    return job == NULL ||
           (is_before(engine->window.loaded, job->due_ns, job->id) &&
            is_before(client->cursor, job->due_ns, job->id));
}

void tkd__far_wait(struct tkd_client *client)
{
    client->wait = WAIT_LIST;
    link_remove(&client->chore);
    link_append(&client->engine->listers, &client->chore);
    tkd__window_run(client->engine);
}

/* Go on with the command of a client that waited. */
static void resume(struct tkd_client *client)
{
    link_remove(&client->chore);
    client->wait = WAIT_NONE;
    if (client->verb == TKD_KICK)
        tkd__kick_resume(client);
    else if (tkd__prepare(client))
        tkd__peek_in_tube(client);
}

/* Ask for the next far jobs of the client's tube.  Returns whether the store is
 * asked. */
static bool ask(struct tkd_client *client)
{
    struct tkd_engine *engine = client->engine;
    struct tkd_position from = engine->window.loaded;
    if (is_before(from, client->cursor.at, client->cursor.id))
        from = client->cursor;
    struct tkd_range range = {
        .token = (uint64_t)(uintptr_t)client,
        .list = TKD_LIST_TUBE_DUE,
        .tube = client->used->number,
        .from = from,
        .end = TKD_NEVER,
        .most = client->verb == TKD_KICK ? TKD_STEP : PEEK_PART,
    };
    if (!tkd_store_list(engine->store, &range))
        return false;
    engine->window.is_asking = true;
    client->is_asking = true;
    return true;
}

bool tkd__far_ask(struct tkd_engine *engine)
{
    while (!link_is_alone(&engine->listers)) {
        struct tkd_client *client =
            TKW_CONTAINER(engine->listers.next, struct tkd_client, chore);
        const struct job *soonest = tkd__soonest_first(engine, client->used);
        bool is_needed = (client->verb == TKD_KICK && !client->kicks_buried) ||
                         client->verb == TKD_PEEK_DELAYED;
        if (is_needed && tkd__needs_far(client, soonest))
            return ask(client);
        resume(client);
        if (engine->window.is_asking)
            return true;
    }
    return false;
}

void tkd__far_answer(struct tkd_client *client, const struct tkd_answer *answer)
{
    struct tkd_engine *engine = client->engine;
    size_t done = tkd__file_items(engine, answer);
    client->is_asking = false;
    if (client->wait != WAIT_LIST) {
        assert(client->wait == WAIT_CLOSE);
        tkd__client_wind_up(client, TKD_STEP);
        return;
    }
    const struct tkd_item *items =
        answer->body == NULL ? NULL : (const void *)answer->body->bytes;
    size_t count = items == NULL ? 0 : answer->body->size / sizeof *items;
    if (items == NULL || done < count || answer->is_at_end)
        client->cursor = (struct tkd_position){.at = TKD_NEVER};
    else if (done > 0)
        client->cursor = (struct tkd_position){.at = items[done - 1].place.at,
                                               .id = items[done - 1].id + 1};
    resume(client);
}
