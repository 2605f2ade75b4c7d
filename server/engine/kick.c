/*
 * engine/kick.c - kicks, and all work that takes many steps.
 *
 * kick makes buried jobs of a tube ready, or if there are none, delayed ones. A
 * client whose kick is larger than one step waits in the list of chores, beside
 * the clients that are being closed.  tkd_engine_advance() gives each chore a
 * step in turn.
 */
#include "private.h"

void tkd__kick_job(struct tkd_engine *engine, struct job *job)
{
    tkd__job_leave(engine, job);
    job->kicks++;
    tkd__job_enter_ready(engine, job);
    tkd__job_write(engine, job);
}

/* Return the next job to kick, or NULL. */
static struct job *next_job(struct tkd_client *client)
{
    struct tkd_engine *engine = client->engine;
    struct tube *tube = client->used;
    if (!client->kicks_buried) {
        struct job *job = tkd__soonest_first(engine, tube);
        client->wants_far = tkd__needs_far(client, job);
        return job;
    }
    if (tube->buried_first == NO_JOB)
        return NULL;
    return tkd__job_at(&engine->jobs, tube->buried_first);
}

/* Kick at most `most` jobs.  Returns how many; fewer if the kick is done. */
static size_t step(struct tkd_client *client, size_t most)
{
    struct tkd_engine *engine = client->engine;
    struct tube *tube = client->used;
    size_t done = 0;
    while (done < most && client->done < client->id) {
        struct job *job = next_job(client);
        if (client->wants_far || job == NULL || !tkd__reserve_write(engine))
            break;
        tkd__kick_job(engine, job);
        client->done++;
        done++;
        client->batch = job->batch;
        tkd__tube_serve(engine, tube);
    }
    return done;
}

void tkd__kick_end(struct tkd_client *client)
{
    if (client->is_kicking)
        client->used->kick_count--;
    client->is_kicking = false;
}

static void finish(struct tkd_client *client)
{
    tkd__kick_end(client);
    link_remove(&client->chore);
    client->wait = WAIT_NONE;
    struct answer *answer = tkd__reply_add(client, TKD_REPLY_KICKED);
    answer->number = client->done;
    answer->batch = client->batch;
}

/* Take a step of at most `most` jobs.  Returns how many it took. */
static size_t go_on(struct tkd_client *client, size_t most)
{
    size_t done = step(client, most);
    if (client->wants_far)
        tkd__far_wait(client);
    else if (done < most)
        finish(client);
    return done;
}

void tkd__kick(struct tkd_client *client, uint64_t bound)
{
    struct tkd_engine *engine = client->engine;
    struct tube *tube = client->used;
    client->kicks_buried = tube->in.buried > 0;
    uint64_t most = client->kicks_buried
                        ? tube->in.buried
                        : (uint64_t)tube->in.delayed + tube->far;
    client->id = bound < most ? bound : most;
    client->done = 0;
    client->batch = 0;
    client->wants_far = false;
    if (!client->kicks_buried) {
        tube->kick_count++;
        client->is_kicking = true;
    }
    client->wait = WAIT_KICK;
    link_append(&engine->chores, &client->chore);
    go_on(client, TKD_STEP);
}

void tkd__kick_resume(struct tkd_client *client)
{
    client->wants_far = false;
    client->wait = WAIT_KICK;
    link_append(&client->engine->chores, &client->chore);
}

/* Give one chore a step.  Returns how many jobs it handled. */
static size_t run_one(struct tkd_client *client, size_t most)
{
    struct tkd_engine *engine = client->engine;
    link_remove(&client->chore);
    link_append(&engine->chores, &client->chore);
    if (client->wait == WAIT_CLOSE)
        return tkd__client_wind_up(client, most);
    return go_on(client, most);
}

size_t tkd__chores_run(struct tkd_engine *engine, size_t budget)
{
    while (budget > 0 && !link_is_alone(&engine->chores) &&
           !tkd_engine_is_behind(engine)) {
        struct tkd_client *client =
            TKW_CONTAINER(engine->chores.next, struct tkd_client, chore);
        size_t most = budget < TKD_STEP ? budget : TKD_STEP;
        size_t done = run_one(client, most);
        budget -= done > 0 ? done : 1;
    }
    return budget;
}
