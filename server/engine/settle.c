/*
 * engine/settle.c - what becomes of jobs once their changes are durable.
 *
 * A changed job stays in memory until its batch is durable, so that commands
 * see the change and replies can wait for it.  Then:
 *
 *     deleted                         it is freed
 *     delayed, due behind the window  it is evicted: only the store has it;
 *                                     but not during a kick of its tube, which
 *                                     may have read the far jobs already
 *     else                            its body is cached or dropped
 *
 * While a list is being read, nothing settles: the list may be older than the
 * change, and the job in memory is what says so.
 */
#include <assert.h>

#include "private.h"

bool tkd__reserve_write(struct tkd_engine *engine)
{
    struct changes *changes = &engine->changes;
    if (engine->store->is_volatile)
        return true;
    if (!tkd_store_reserve(engine->store, 1))
        return false;
    if (changes->count < changes->room)
        return true;
    uint32_t room = changes->room == 0 ? 64 : 2 * changes->room;
    struct change *ring = tkd__allocate(engine, room * sizeof *ring);
    if (ring == NULL)
        return false;
    for (uint32_t i = 0; i < changes->count; i++)
        ring[i] = changes->ring[(changes->first + i) & (changes->room - 1)];
    tkd__release(engine, changes->ring, changes->room * sizeof *ring);
    changes->ring = ring;
    changes->first = 0;
    changes->room = room;
    return true;
}

void tkd__changes_close(struct tkd_engine *engine)
{
    tkd__release(engine, engine->changes.ring,
                 engine->changes.room * sizeof *engine->changes.ring);
}

void tkd__change_add(struct tkd_engine *engine, const struct job *job)
{
    struct changes *changes = &engine->changes;
    assert(changes->count < changes->room);
    uint32_t at = (changes->first + changes->count) & (changes->room - 1);
    changes->ring[at] = (struct change){job->id, job->batch};
    changes->count++;
}

/* Keep the body of a job that is durable if the cache has room, else drop
 * it. */
static void settle_body(struct tkd_engine *engine, struct job *job)
{
    if (job->body == NULL || job->is_cached)
        return;
    if (engine->cached + job->body->size > TKD_CACHE_MAX / 2)
        tkd__job_drop_body(engine, job);
    else
        tkd__body_cache(engine, job);
}

static void settle_job(struct tkd_engine *engine, struct job *job)
{
    if (engine->store->is_volatile || job->batch > engine->durable ||
        job->state == STATE_ASKED)
        return;
    if (job->state == STATE_DELETED) {
        tkd__job_free(engine, job);
        return;
    }
    if (job->state != STATE_DELAYED || job->due_ns < engine->window.end_ns) {
        settle_body(engine, job);
        return;
    }
    struct tube *tube = job->tube;
    if (tube->kick_count > 0) {
        settle_body(engine, job);
        return;
    }
    tkd__job_leave(engine, job);
    tkd__job_free(engine, job);
    tube->far++;
    engine->far++;
}

void tkd__settle(struct tkd_engine *engine)
{
    struct changes *changes = &engine->changes;
    while (changes->count > 0 && !engine->window.is_asking) {
        struct change change = changes->ring[changes->first];
        if (change.batch > engine->durable)
            return;
        changes->first = (changes->first + 1) & (changes->room - 1);
        changes->count--;
        struct job *job = tkd__job_find(&engine->jobs, change.id);
        if (job != NULL)
            settle_job(engine, job);
    }
}
