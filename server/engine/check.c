/*
 * engine/check.c - the invariants of an engine.
 */
#include "private.h"

static bool are_equal(const struct job_counts *a, const struct job_counts *b)
{
    return a->ready == b->ready && a->urgent == b->urgent &&
           a->reserved == b->reserved && a->delayed == b->delayed &&
           a->buried == b->buried;
}

static void count(struct job_counts *counts, const struct job *job)
{
    counts->ready += job->state == STATE_READY;
    counts->urgent += job->state == STATE_READY && job->pri < URGENT_PRI;
    counts->reserved += job->state == STATE_RESERVED;
    counts->delayed += job->state == STATE_DELAYED;
    counts->buried += job->state == STATE_BURIED;
}

/* Each parent is not larger than its child, and each job knows its place. */
static bool heap_is_sound(const struct tkd_engine *engine,
                          const struct heap *heap, enum state state)
{
    for (uint32_t i = 0; i < heap->count; i++) {
        struct entry entry = *heap_at(heap, i);
        const struct job *job = tkd__job_at(&engine->jobs, entry_job(entry));
        if (job->state != state || job->place != i)
            return false;
        if (i > 0 && entry_is_less(entry, *heap_at(heap, (i - 1) / 4)))
            return false;
    }
    return heap->count <= heap->room;
}

static bool timer_is_right(const struct tkd_engine *engine,
                           const struct job *job)
{
    bool wants = job->state == STATE_DELAYED ||
                 (job->state == STATE_RESERVED && !job->is_chosen);
    if (!wants)
        return true;
    struct tkw_pool_timer timer;
    enum tkw_state state = tkw_pool_query(engine->pool, job->timer, &timer);
    return (state == TKW_PENDING || state == TKW_READY) &&
           timer.user.pointer == job &&
           timer.deadline >= job->due_ns / TKD_TICK_NS;
}

static bool job_is_sound(const struct tkd_engine *engine, const struct job *job)
{
    if (tkd__job_find(&engine->jobs, job->id) != job)
        return false;
    switch ((enum state)job->state) {
    case STATE_READY:
        return heap_at(&job->tube->ready, job->place)->low ==
               (job->id << 32 | job->number);
    case STATE_RESERVED:
        return job->holder != NULL &&
               entry_job(*heap_at(&job->holder->held, job->place)) ==
                   job->number &&
               timer_is_right(engine, job);
    case STATE_DELAYED:
    case STATE_BURIED:
        return timer_is_right(engine, job);
    case STATE_DELETED:
        return !engine->store->is_volatile && job->tube == NULL;
    case STATE_ASKED:
        return !engine->store->is_volatile;
    case STATE_MOVING:
        break;
    }
    return false;
}

static bool jobs_are_sound(const struct tkd_engine *engine)
{
    struct job_counts counts = {0};
    uint32_t count_all = 0;
    for (uint32_t i = 0; i < engine->jobs.used; i++) {
        const struct job *job = tkd__job_at(&engine->jobs, i);
        if (job->id == 0)
            continue;
        if (!job_is_sound(engine, job))
            return false;
        count(&counts, job);
        count_all++;
    }
    return count_all == engine->jobs.count &&
           are_equal(&counts, &engine->jobs_in);
}

static bool buried_are_sound(const struct tkd_engine *engine,
                             const struct tube *tube)
{
    uint32_t seen = 0, previous = NO_JOB;
    uint64_t last = 0;
    for (uint32_t i = tube->buried_first; i != NO_JOB; seen++) {
        const struct job *job = tkd__job_at(&engine->jobs, i);
        if (job->state != STATE_BURIED || job->tube != tube ||
            job->previous != previous || job->due_ns <= last)
            return false;
        last = job->due_ns;
        previous = i;
        i = job->next;
    }
    return previous == tube->buried_last && seen == tube->in.buried;
}

/* A tube that is not paused has no ready job while a client waits, unless it is
 * about to be served. */
static bool tube_is_sound(const struct tkd_engine *engine,
                          const struct tube *tube)
{
    bool is_served = engine->window.is_opening || tube_is_paused(tube) ||
                     tube->ready.count == 0 || link_is_alone(&tube->waiting) ||
                     !link_is_alone(&tube->unserved);
    return is_served && tube->in.ready == tube->ready.count &&
           tube->in.delayed <= tube->delayed.heap.count &&
           heap_is_sound(engine, &tube->ready, STATE_READY) &&
           buried_are_sound(engine, tube) && tube->references > 0;
}

static bool tubes_are_sound(const struct tkd_engine *engine)
{
    struct job_counts sum = {0};
    uint32_t seen = 0, far = 0;
    const struct link *head = &engine->all_tubes;
    for (struct link *link = head->next; link != head; link = link->next) {
        const struct tube *tube = TKW_CONTAINER(link, struct tube, all);
        if (!tube_is_sound(engine, tube) ||
            tkd__tube_find(engine, tube->name, tube->name_length) != tube)
            return false;
        sum.ready += tube->in.ready;
        sum.urgent += tube->in.urgent;
        sum.reserved += tube->in.reserved;
        sum.delayed += tube->in.delayed;
        sum.buried += tube->in.buried;
        far += tube->far;
        seen++;
    }
    return seen == engine->tube_count && far == engine->far &&
           are_equal(&sum, &engine->jobs_in);
}

static bool clients_are_sound(const struct tkd_engine *engine)
{
    uint32_t seen = 0, waiting = 0;
    const struct link *head = &engine->clients;
    for (struct link *link = head->next; link != head; link = link->next) {
        const struct tkd_client *client =
            TKW_CONTAINER(link, struct tkd_client, all);
        if (!heap_is_sound(engine, &client->held, STATE_RESERVED))
            return false;
        seen += client->wait != WAIT_CLOSE;
        waiting += client->wait == WAIT_JOB;
    }
    return seen == engine->client_count && waiting == engine->waiting_count;
}

bool tkd_engine_check(const struct tkd_engine *engine)
{
    return tkw_pool_check(engine->pool) && jobs_are_sound(engine) &&
           tubes_are_sound(engine) && clients_are_sound(engine);
}
