/*
 * server/engine/model_time.c - what time does in the model.
 */
#include "model_private.h"

enum event_kind { JOB, PAUSE, WAIT };

/* Something that happens at a time.  `number` is that of a job in the array, of
 * a tube or of a client. */
struct event {
    uint64_t time;
    uint64_t sequence; /* of what the event ends */
    enum event_kind kind;
    unsigned number;
};

/* The events of one time, the earliest, in the order in which they were
 * arranged: an engine is likely to have this order, too. */
struct events {
    unsigned count;
    struct event list[MODEL_JOBS + MODEL_TUBES + MODEL_CLIENTS];
};

/* Add an event at the first tick that is not before its time, unless others are
 * earlier. */
static void add(struct events *events, struct event event)
{
    if (event.time == TKD_NEVER)
        return;
    event.time = model__tick(event.time);
    if (events->count > 0 && events->list[0].time < event.time)
        return;
    if (events->count > 0 && events->list[0].time > event.time)
        events->count = 0;
    unsigned i = events->count++;
    for (; i > 0 && events->list[i - 1].sequence > event.sequence; i--)
        events->list[i] = events->list[i - 1];
    events->list[i] = event;
}

static void collect(const struct model *model, struct events *events)
{
    events->count = 0;
    for (unsigned i = 0; i < model->job_count; i++) {
        const struct model_job *job = &model->jobs[i];
        if (job->state == MODEL_DELAYED || job->state == MODEL_RESERVED)
            add(events, (struct event){job->end, job->sequence, JOB, i});
    }
    for (unsigned t = 0; t < MODEL_TUBES; t++) {
        const struct model_tube *tube = &model->tubes[t];
        if (tube->is_paused)
            add(events,
                (struct event){tube->pause_end, tube->pause_start, PAUSE, t});
    }
    for (unsigned n = 0; n < MODEL_CLIENTS; n++) {
        const struct model_client *client = &model->clients[n];
        if (!client->is_waiting)
            continue;
        uint64_t soon =
            model->bug != MODEL_NO_SOON ? model__soon(model, n) : TKD_NEVER;
        uint64_t end = soon < client->wait_end ? soon : client->wait_end;
        add(events, (struct event){end, client->wait_start, WAIT, n});
    }
}

uint64_t model_next(const struct model *model)
{
    struct events events;
    collect(model, &events);
    return events.count > 0 ? events.list[0].time : TKD_NEVER;
}

static void end_job(struct model *model, struct model_job *job)
{
    if (job->state == MODEL_RESERVED && model->bug != MODEL_NO_TIMEOUTS) {
        job->timeouts++;
        model->timeouts++;
    }
    model__make_ready(model, job);
}

/* End a reserve without a job.  If time has jumped, DEADLINE_SOON may be right
 * though the timeout was earlier. */
static void end_wait(struct model *model, unsigned n)
{
    bool is_soon =
        model->bug != MODEL_NO_SOON && model__soon(model, n) <= model->now;
    model->clients[n].is_waiting = false;
    model__reply(model, n, is_soon ? "DEADLINE_SOON" : "TIMED_OUT");
}

static void happen(struct model *model, const struct event *event)
{
    switch (event->kind) {
    case JOB:
        end_job(model, &model->jobs[event->number]);
        break;
    case PAUSE:
        model->tubes[event->number].is_paused = false;
        model__serve_tube(model, event->number);
        break;
    case WAIT:
        end_wait(model, event->number);
        break;
    }
}

/* Return whether an event does not concern a client that waits, now or later in
 * this instant. */
static bool is_silent(const struct model *model, const struct event *event)
{
    if (event->kind == WAIT)
        return false;
    unsigned tube = event->number;
    if (event->kind == JOB)
        tube = model->jobs[event->number].tube;
    return model__first_waiting(model, tube) == MODEL_CLIENTS;
}

/* Choose one of the events of an instant.  The order of the silent ones does
 * not matter. */
static const struct event *choose(struct model *model,
                                  const struct events *events)
{
    for (unsigned i = 0; i < events->count; i++)
        if (is_silent(model, &events->list[i]))
            return &events->list[i];
    return &events->list[model__choose(model, events->count)];
}

/* Events happen in the order of their times.  What they begin begins now. */
void model__turn(struct model *model, uint64_t now)
{
    model->now = now;
    while (!model_is_refuted(model)) {
        struct events events;
        collect(model, &events);
        if (events.count == 0 || events.list[0].time > now)
            return;
        happen(model, choose(model, &events));
    }
}
