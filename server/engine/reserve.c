/*
 * engine/reserve.c - workers that reserve jobs, at once or later.
 *
 * A client that finds no job waits in the list of each tube that it watches.
 * The lists are in order of arrival.  A job that becomes ready goes to the
 * first client of its tube's list.
 *
 * A waiting client has one timer, for the earlier of two times: the end of its
 * timeout, and the begin of the last second of a job that it holds.
 */
#include <assert.h>

#include "private.h"

/* How long a timeout that ends while the window is being opened is put off. */
#define PATIENCE_NS (NS_PER_SECOND / 100)

static const struct entry *first_ready(const struct tube *tube)
{
    if (tube_is_paused(tube) || tube->ready.count == 0)
        return NULL;
    return heap_at(&tube->ready, 0);
}

/* While the window is being opened, a more urgent job may follow. */
static bool may_serve(const struct tkd_engine *engine)
{
    return !engine->window.is_opening;
}

/* Return the most urgent job that a client can reserve, or NULL. */
static struct job *find_job(const struct tkd_client *client)
{
    const struct entry *best = NULL;
    if (!may_serve(client->engine))
        return NULL;
    for (uint32_t i = 0; i < client->watched_count; i++) {
        const struct entry *entry = first_ready(client->watched[i].tube);
        if (entry != NULL && (best == NULL || entry_is_less(*entry, *best)))
            best = entry;
    }
    if (best == NULL)
        return NULL;
    return tkd__job_at(&client->engine->jobs, entry_job(*best));
}

/* Return when the first job that the client holds enters its last second. */
static uint64_t margin_of(const struct tkd_client *client)
{
    if (client->held.count == 0)
        return TKD_NEVER;
    uint64_t end_ns = heap_at(&client->held, 0)->high;
    if (end_ns == TKD_NEVER)
        return TKD_NEVER;
    return end_ns > MARGIN_NS ? end_ns - MARGIN_NS : 0;
}

void tkd__choose(struct tkd_client *client, struct job *job)
{
    struct tkd_engine *engine = client->engine;
    tkd__job_enter_reserved(engine, job, client);
    if (!tkd__reply_job(client, TKD_REPLY_RESERVED, job)) {
        tkd__job_leave(engine, job);
        tkd__job_enter_ready(engine, job);
    } else if (engine->store->is_volatile) {
        tkd__job_start(engine, job); /* the reply waits for nothing */
    } else {
        tkd__read_ahead(engine, job->tube);
    }
}

/* A waiting client has at most one timer. */
static void schedule(struct tkd_client *client)
{
    uint64_t at_ns = margin_of(client);
    if (client->wait_until_ns < at_ns)
        at_ns = client->wait_until_ns;
    if (at_ns != TKD_NEVER)
        client->timer =
            tkd__timer_arm(client->engine, at_ns, WAITER_CLIENT, client);
}

void tkd__reserve_reschedule(struct tkd_client *client)
{
    if (client->wait != WAIT_JOB)
        return;
    tkd__timer_cancel(client->engine, &client->timer);
    schedule(client);
}

static void start_waiting(struct tkd_client *client)
{
    client->wait = WAIT_JOB;
    client->wait_number = ++client->engine->wait_number;
    client->engine->waiting_count++;
    for (uint32_t i = 0; i < client->watched_count; i++) {
        struct tube *tube = client->watched[i].tube;
        link_append(&tube->waiting, &client->watched[i].watch->waiting);
        tube->waiting_count++;
    }
    schedule(client);
}

void tkd__reserve_stop(struct tkd_client *client)
{
    assert(client->wait == WAIT_JOB);
    client->wait = WAIT_NONE;
    client->engine->waiting_count--;
    for (uint32_t i = 0; i < client->watched_count; i++) {
        link_remove(&client->watched[i].watch->waiting);
        client->watched[i].tube->waiting_count--;
    }
    tkd__timer_cancel(client->engine, &client->timer);
}

void tkd__reserve(struct tkd_client *client, bool has_timeout)
{
    struct tkd_engine *engine = client->engine;
    struct job *job = find_job(client);
    if (job != NULL) {
        tkd__job_leave(engine, job);
        tkd__choose(client, job);
        return;
    }
    if (margin_of(client) <= engine->now_ns) {
        tkd__reply_add(client, TKD_REPLY_DEADLINE_SOON);
        return;
    }
    if (has_timeout && client->delay_ns == 0 && may_serve(engine)) {
        tkd__reply_add(client, TKD_REPLY_TIMED_OUT);
        return;
    }
    client->wait_until_ns = TKD_NEVER;
    if (has_timeout && client->delay_ns < TKD_NEVER - engine->now_ns)
        client->wait_until_ns = engine->now_ns + client->delay_ns;
    start_waiting(client);
}

void tkd__reserve_expire(struct tkd_client *client)
{
    uint64_t now_ns = client->engine->now_ns;
    if (!may_serve(client->engine)) {
        client->timer = tkd__timer_arm(client->engine, now_ns + PATIENCE_NS,
                                       WAITER_CLIENT, client);
        return;
    }
    bool is_soon = margin_of(client) <= now_ns;
    if (!is_soon && client->wait_until_ns > now_ns) {
        schedule(client); /* the job that it held is gone */
        return;
    }
    tkd__reserve_stop(client);
    tkd__reply_add(client,
                   is_soon ? TKD_REPLY_DEADLINE_SOON : TKD_REPLY_TIMED_OUT);
}

void tkd_client_give_up(struct tkd_client *client)
{
    if (client->wait != WAIT_JOB)
        return;
    tkd__reserve_stop(client);
    tkd__reply_add(client, TKD_REPLY_TIMED_OUT);
}

/* Return the client that waits longest for a tube, or NULL if the tube has no
 * job for it. */
static struct tkd_client *first_waiting(const struct tkd_engine *engine,
                                        const struct tube *tube)
{
    if (!may_serve(engine) || link_is_alone(&tube->waiting) ||
        first_ready(tube) == NULL)
        return NULL;
    return TKW_CONTAINER(tube->waiting.next, struct watch, waiting)->client;
}

/* Give the most urgent job that a waiting client can have to it.  Returns false
 * if there is no memory. */
static bool serve(struct tkd_client *client)
{
    struct tkd_engine *engine = client->engine;
    if (tkw_pool_reserve(engine->pool, 1) != 0)
        return false;
    struct job *job = find_job(client);
    tkd__reserve_stop(client);
    tkd__job_leave(engine, job);
    tkd__choose(client, job);
    return true;
}

void tkd__tube_serve(struct tkd_engine *engine, struct tube *tube)
{
    struct tkd_client *client = first_waiting(engine, tube);
    if (client != NULL && !serve(client))
        tkd__tube_serve_later(engine, tube);
}

void tkd__tube_serve_later(struct tkd_engine *engine, struct tube *tube)
{
    if (link_is_alone(&tube->unserved))
        link_append(&engine->unserved, &tube->unserved);
}

/* Return the client that waits longest for any tube that was marked, or NULL.
 * Tubes that need no service leave the list. */
static struct tkd_client *next_to_serve(struct tkd_engine *engine)
{
    struct tkd_client *found = NULL;
    struct link *next;
    for (struct link *link = engine->unserved.next; link != &engine->unserved;
         link = next) {
        next = link->next;
        struct tkd_client *client =
            first_waiting(engine, TKW_CONTAINER(link, struct tube, unserved));
        if (client == NULL)
            link_remove(link);
        else if (found == NULL || client->wait_number < found->wait_number)
            found = client;
    }
    return found;
}

size_t tkd__serve_later(struct tkd_engine *engine, size_t most)
{
    size_t done = 0;
    while (done < most) {
        struct tkd_client *client = next_to_serve(engine);
        if (client == NULL || !serve(client))
            break;
        done++;
    }
    return done;
}
