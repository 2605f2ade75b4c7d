/*
 * engine/state.c - how a job enters and leaves its states.
 *
 * Each state is one structure that holds the job: the tube's heap of ready
 * jobs, the pool and the tube's delayed jobs, the holder's heap, the tube's
 * list of buried jobs.  A job leaves one before it enters the next.
 */
#include <assert.h>

#include "private.h"

/* Count a job in its state: `by` is 1, or -1 as an unsigned number. */
static void count(struct job_counts *counts, const struct job *job, uint32_t by)
{
    switch ((enum state)job->state) {
    case STATE_DELAYED:
        counts->delayed += by;
        break;
    case STATE_READY:
        counts->ready += by;
        if (job->pri < URGENT_PRI)
            counts->urgent += by;
        break;
    case STATE_RESERVED:
        counts->reserved += by;
        break;
    case STATE_BURIED:
        counts->buried += by;
        break;
    case STATE_MOVING:
    case STATE_DELETED:
    case STATE_ASKED:
        break;
    }
}

static void enter(struct tkd_engine *engine, struct job *job, enum state state)
{
    assert(job->state == STATE_MOVING);
    job->state = (uint8_t)state;
    count(&job->tube->in, job, 1);
    count(&engine->jobs_in, job, 1);
}

static void unlink_buried(struct tkd_engine *engine, struct job *job)
{
    struct tube *tube = job->tube;
    if (job->previous == NO_JOB)
        tube->buried_first = job->next;
    else
        tkd__job_at(&engine->jobs, job->previous)->next = job->next;
    if (job->next == NO_JOB)
        tube->buried_last = job->previous;
    else
        tkd__job_at(&engine->jobs, job->next)->previous = job->previous;
    job->timer = 0;
}

void tkd__job_leave(struct tkd_engine *engine, struct job *job)
{
    enum state state = (enum state)job->state;
    count(&job->tube->in, job, UINT32_MAX);
    count(&engine->jobs_in, job, UINT32_MAX);
    job->state = STATE_MOVING;
    if (state == STATE_DELAYED) {
        tkd__timer_cancel(engine, &job->timer);
        tkd__soonest_forget(engine, job->tube);
    } else if (state == STATE_READY) {
        tkd__heap_remove(&engine->jobs, &job->tube->ready, job->place);
    } else if (state == STATE_RESERVED) {
        tkd__timer_cancel(engine, &job->timer);
        tkd__heap_remove(&engine->jobs, &job->holder->held, job->place);
        job->holder = NULL;
        job->is_chosen = false;
    } else {
        assert(state == STATE_BURIED);
        unlink_buried(engine, job);
    }
}

void tkd__job_enter_ready(struct tkd_engine *engine, struct job *job)
{
    enter(engine, job, STATE_READY);
    struct entry entry = {(uint64_t)job->pri << 32 | job->id >> 32,
                          job->id << 32 | job->number};
    tkd__heap_push(&engine->jobs, &job->tube->ready, entry);
}

void tkd__job_enter_delayed(struct tkd_engine *engine, struct job *job,
                            uint64_t due_ns)
{
    job->due_ns = due_ns;
    enter(engine, job, STATE_DELAYED);
    job->timer = tkd__timer_arm(engine, due_ns, WAITER_JOB, job);
    tkd__soonest_add(job);
}

void tkd__job_enter_buried(struct tkd_engine *engine, struct job *job,
                           uint64_t number)
{
    struct tube *tube = job->tube;
    enter(engine, job, STATE_BURIED);
    job->due_ns = number;
    job->next = NO_JOB;
    job->previous = tube->buried_last;
    if (tube->buried_last == NO_JOB)
        tube->buried_first = job->number;
    else
        tkd__job_at(&engine->jobs, tube->buried_last)->next = job->number;
    tube->buried_last = job->number;
}

/* File a reserved job in its holder's heap. */
static void hold(struct tkd_engine *engine, struct job *job)
{
    struct entry entry = {job->due_ns, job->number};
    tkd__heap_push(&engine->jobs, &job->holder->held, entry);
}

void tkd__job_enter_reserved(struct tkd_engine *engine, struct job *job,
                             struct tkd_client *client)
{
    enter(engine, job, STATE_RESERVED);
    job->holder = client;
    job->is_chosen = true;
    job->due_ns = TKD_NEVER;
    hold(engine, job);
}

/* Give a reserved job a new time to run. */
static void run_anew(struct tkd_engine *engine, struct job *job)
{
    tkd__timer_cancel(engine, &job->timer);
    tkd__heap_remove(&engine->jobs, &job->holder->held, job->place);
    job->due_ns = engine->now_ns + job->ttr_ns;
    hold(engine, job);
    job->timer = tkd__timer_arm(engine, job->due_ns, WAITER_JOB, job);
}

void tkd__job_start(struct tkd_engine *engine, struct job *job)
{
    if (!job->is_chosen)
        return;
    job->is_chosen = false;
    job->reserves++;
    run_anew(engine, job);
}

void tkd__job_touch(struct tkd_engine *engine, struct job *job)
{
    run_anew(engine, job);
}

static struct tkd_place place_of(const struct tkd_engine *engine,
                                 const struct job *job)
{
    struct tkd_place place = {.tube = job->tube->number};
    switch ((enum state)job->state) {
    case STATE_DELAYED:
        place.order = TKD_ORDER_DUE;
        place.at = job->due_ns;
        break;
    case STATE_BURIED:
        place.order = TKD_ORDER_BURIED;
        place.at = job->due_ns;
        break;
    case STATE_READY:
    case STATE_RESERVED:
        place.order = TKD_ORDER_DUE;
        place.at = engine->now_ns;
        break;
    case STATE_MOVING:
    case STATE_DELETED:
    case STATE_ASKED:
        place.order = TKD_ORDER_NONE;
        break;
    }
    return place;
}

void tkd__job_write(struct tkd_engine *engine, struct job *job)
{
    if (engine->store->is_volatile)
        return;
    struct tkd_write write = {
        .id = job->id,
        .home = job->home_ns,
        .before = job->stored,
        .after = place_of(engine, job),
    };
    job->stored = write.after;
    if (write.before.order == TKD_ORDER_NONE)
        write.body = job->body;
    if (write.after.order != TKD_ORDER_NONE)
        write.record_size = (uint16_t)tkd__record_encode(job, write.record);
    tkd_store_write(engine->store, &write);
    job->batch = engine->batch;
    engine->is_batch_dirty = true;
    engine->batch_bytes += sizeof write;
    if (write.body != NULL)
        engine->batch_bytes += write.body->size;
    tkd__change_add(engine, job);
    if (link_is_alone(&job->tube->changed))
        link_append(&engine->changed_tubes, &job->tube->changed);
}

void tkd__job_file(struct tkd_engine *engine, struct job *job)
{
    uint64_t due_ns = engine->now_ns;
    uint64_t most_ns = TKD_NEVER - 1 - due_ns;
    due_ns += job->delay_ns < most_ns ? job->delay_ns : most_ns;
    if (job->stored.order == TKD_ORDER_NONE)
        job->home_ns = due_ns;
    if (job->delay_ns > 0)
        tkd__job_enter_delayed(engine, job, due_ns);
    else
        tkd__job_enter_ready(engine, job);
    tkd__job_write(engine, job);
}

void tkd__job_drop_body(struct tkd_engine *engine, struct job *job)
{
    if (job->body != NULL)
        engine->memory -= job->body->size;
    if (job->is_cached)
        engine->cached -= job->body->size;
    job->is_cached = false;
    tkd_body_release(&engine->allocator, job->body);
    job->body = NULL;
}

void tkd__job_delete(struct tkd_engine *engine, struct job *job)
{
    assert(job->state == STATE_MOVING);
    job->tube->deletes++;
    tkd__job_write(engine, job);
    tkd__tube_release(engine, job->tube);
    job->tube = NULL;
    job->state = STATE_DELETED;
    if (engine->store->is_volatile) {
        tkd__job_free(engine, job);
        return;
    }
    tkd__job_drop_body(engine, job);
}
