/*
 * replay.c - a trace, run through an engine in virtual time.
 *
 *     time      8           9              14                    20
 *               |           |               |                     |
 *     trace     arm arm     .           cancel arm                .
 *     sleeper   .           wake, pop     advance                 wake, pop
 *
 * Operations of one tick are done one after the other; what they make ready is
 * popped when the tick is over.  Only the engine's work is timed: operations in
 * batches, because reading the clock takes as long as several of them, and what
 * the ledger makes of their answers in between is not counted.
 */
#define _POSIX_C_SOURCE 200809L

#include "replay.h"

#include "../stopwatch.h"
#include "ledger.h"

#include <assert.h>
#include <errno.h>

enum {
    BATCH = 1024,
    CLOCK_TRIALS = 1000,
    /* Timers touched between two looks at whether to go on: milliseconds. */
    WORK_UNASKED = 65536,
    POLLS_PER_TRACE = 200,
};

/* A timer that was popped. */
struct timer {
    uint32_t id;
    tkw_tick deadline;
};

struct run {
    const struct trace *trace;
    const struct engine_kind *kind;
    struct engine *engine;
    const struct replay_watcher *watcher;
    trace_progress *progress;
    void *context;
    struct replay_outcome *outcome;

    struct ledger ledger;
    tkw_tick now;
    size_t done;        /* operations */
    uint64_t moved;     /* timers touched by advancing, as of the last step */
    uint64_t work;      /* done since `progress` was asked last ... */
    uint64_t work_most; /* ... and when to ask again */
    tkw_tick near;      /* deadlines less far away use no higher level */
    double clock_ns;    /* read last */
    double clock_cost_ns;

    bool was_armed[BATCH];
    struct timer timers[BATCH];
};

/* The time since the clock was read last, without that of reading it. */
static double lap(struct run *run)
{
    double clock_ns = stopwatch_ns();
    double ns = clock_ns - run->clock_ns - run->clock_cost_ns;
    run->clock_ns = clock_ns;
    return ns > 0 ? ns : 0;
}

static double reading_cost_ns(void)
{
    double began = stopwatch_ns(), last = began;
    for (int i = 0; i < CLOCK_TRIALS; i++)
        last = stopwatch_ns();
    return (last - began) / CLOCK_TRIALS;
}

static uint64_t moved_by(const struct tkw_wheel_stats *c)
{
    return c->falls + c->refiles + c->passes + c->fired;
}

/* Ask now and then whether to go on.  Returns 0 or -EINTR. */
static int poll_progress(struct run *run)
{
    if (run->work < run->work_most || run->progress == NULL)
        return 0;
    run->work = 0;

    /* Work is done by operations, and while time goes by. */
    const struct replay_outcome *outcome = run->outcome;
    double operations = (double)run->done / (double)run->trace->op_count;
    double elapsed = (double)(run->now - outcome->start);
    double span = (double)(outcome->end - outcome->start) + 1;
    bool continues =
        run->progress(run->context, (operations + elapsed / span) / 2);
    lap(run);
    return continues ? 0 : -EINTR;
}

/* Pop what is ready, with the time that takes added to `*ns`. */
static size_t pop(struct run *run, double *ns)
{
    size_t count = 0;
    while (count < BATCH) {
        struct timer *timer = &run->timers[count];
        timer->id = run->kind->pop(run->engine, &timer->deadline);
        if (timer->id == ENGINE_NOWHERE)
            break;
        count++;
    }
    *ns += lap(run);
    return count;
}

static size_t pop_all(struct run *run, double *ns)
{
    size_t sum = 0;
    for (size_t count = BATCH; count == BATCH; sum += count) {
        count = pop(run, ns);
        for (size_t i = 0; i < count; i++)
            ledger_pop(&run->ledger, run->timers[i].id, run->timers[i].deadline,
                       run->now);
        if (count > 0)
            lap(run);
    }
    return sum;
}

/* Note what one step has cost. */
static void account(struct run *run, double ns)
{
    struct replay_outcome *outcome = run->outcome;
    struct tkw_wheel_stats stats = run->kind->read_stats(run->engine);
    uint64_t moved = moved_by(&stats) - run->moved;
    run->moved += moved;
    run->work += 1 + moved;

    outcome->ns += ns;
    if (ns > outcome->worst_ns)
        outcome->worst_ns = ns;
    if (moved > outcome->worst_moved) {
        outcome->worst_moved = moved;
        outcome->worst_at = run->now;
    }
    double part = (double)(run->now - outcome->start) /
                  ((double)(outcome->end - outcome->start) + 1);
    uint32_t bin = (uint32_t)(part * REPLAY_BINS);
    bin = bin < REPLAY_BINS ? bin : REPLAY_BINS - 1;
    if (moved > outcome->bins[bin])
        outcome->bins[bin] = moved;
}

/* Move time to `now`, and pop what is due.  Returns 0 or -EINTR. */
static int step(struct run *run, tkw_tick now, bool is_wakeup)
{
    double ns = 0;
    run->now = now;
    run->kind->advance(run->engine, now);
    size_t popped = pop_all(run, &ns);
    account(run, ns);
    if (popped > 0)
        run->outcome->last = now;

    run->outcome->wakeups += is_wakeup;
    run->outcome->wakeups_empty += is_wakeup && popped == 0;
    if (run->watcher != NULL && run->watcher->step != NULL) {
        run->watcher->step(run->watcher->context, run->engine, now);
        lap(run);
    }
    return poll_progress(run);
}

/* Wake the sleeper whenever it asks for it, before `until`. */
static int sleep_until(struct run *run, tkw_tick until, tkw_tick *next)
{
    while ((*next = run->kind->next(run->engine)) < until) {
        int error = step(run, *next, true);
        if (error != 0)
            return error;
    }
    return 0;
}

/* Let time come to that of an operation, wherever that leads. */
static int come_to(struct run *run, tkw_tick time)
{
    tkw_tick next;
    int error = sleep_until(run, time, &next);
    if (error != 0 || (time == run->now && next > time))
        return error;
    return step(run, time, next <= time && next != TKW_NEVER);
}

/*
 * Which levels are in use follows from the deadlines.  Nearly all of them are
 * less far away than one before.  One that is postponed counts as if it were
 * filed now: it will be filed later, and not higher.
 */
static void note_level(struct run *run, const struct trace_op *op)
{
    if (op->deadline <= op->time || op->deadline == TKW_NEVER ||
        op->deadline - op->time < run->near)
        return;
    const struct tkw_dial *dial = run->kind->dial(run->engine);
    struct tkw_spot spot = tkw_dial_where(dial, op->deadline);
    if (spot.level <= run->outcome->levels)
        return;
    const struct tkw_level *level = &dial->levels[spot.level - 1];
    run->outcome->levels = spot.level;
    bool is_last = spot.level == dial->level_count;
    run->near = is_last ? TKW_NEVER : level->tick * (level->size - 1);
}

/* Do one operation.  Returns -ENOMEM, or whether its timer was armed. */
static inline int operate(struct run *run, const struct trace_op *op)
{
    switch (op->kind) {
    case TRACE_ARM:
        return run->kind->arm(run->engine, op->key, op->deadline) ? 0 : -ENOMEM;
    case TRACE_POSTPONE:
        return run->kind->postpone(run->engine, op->key, op->deadline);
    case TRACE_CANCEL:
        return run->kind->cancel(run->engine, op->key);
    case TRACE_ADVANCE:
        break;
    }
    return 0;
}

static void enter(struct run *run, const struct trace_op *ops, size_t count)
{
    uint64_t pending_max = run->ledger.pending_max;
    for (size_t i = 0; i < count; i++) {
        uint64_t ignored = run->ledger.ignored;
        ledger_operate(&run->ledger, &ops[i], run->was_armed[i]);
        if (ops[i].kind <= TRACE_POSTPONE && run->ledger.ignored == ignored)
            note_level(run, &ops[i]);
    }
    /* Within a tick there may have been some more. */
    if (run->ledger.pending_max > pending_max) {
        size_t bytes = run->kind->bytes(run->engine);
        if (bytes > run->outcome->bytes_max)
            run->outcome->bytes_max = bytes;
    }
}

/* Do operations of one tick, at most BATCH.  Returns 0, -ENOMEM or -EINTR. */
static int operate_batch(struct run *run, const struct trace_op *ops,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int answer = operate(run, &ops[i]);
        if (answer < 0)
            return answer;
        run->was_armed[i] = answer;
    }
    run->outcome->ns += lap(run);

    enter(run, ops, count);
    run->outcome->last = run->now;
    run->done += count;
    run->work += count;
    if (run->watcher != NULL && run->watcher->done != NULL)
        run->watcher->done(run->watcher->context, run->engine, ops);
    lap(run);
    return poll_progress(run);
}

/* How many operations from this one on are of the same tick: at most BATCH, and
 * one at a time for those who want to see each. */
static size_t batch_size(const struct run *run, size_t first)
{
    const struct trace_op *ops = run->trace->ops;
    size_t most = run->watcher != NULL ? 1 : BATCH, count = 1;
    if (most > run->trace->op_count - first)
        most = run->trace->op_count - first;
    while (count < most && ops[first + count].time == ops[first].time)
        count++;
    return count;
}

static int run_trace(struct run *run)
{
    const struct trace *trace = run->trace;
    lap(run);
    while (run->done < trace->op_count) {
        const struct trace_op *op = &trace->ops[run->done];
        assert(op->time >= run->now);
        /* Within a tick, nobody wakes up between two operations. */
        bool is_new = run->done == 0 || op->time > run->now;
        int error = is_new ? come_to(run, op->time) : 0;
        if (error == 0)
            error = operate_batch(run, op, batch_size(run, run->done));
        if (error != 0)
            return error;
    }
    tkw_tick next;
    int error = sleep_until(run, TKW_NEVER, &next);
    /* At the end of time `next` cannot tell what is ready from nothing. */
    if (error == 0 && run->now == TKW_NEVER)
        error = step(run, TKW_NEVER, false);
    return error;
}

static void conclude(struct run *run)
{
    struct replay_outcome *outcome = run->outcome;
    outcome->work = run->kind->read_stats(run->engine);
    outcome->operations = run->trace->op_count;
    outcome->ignored = run->ledger.ignored;
    outcome->pending_max = run->ledger.pending_max;
    if (outcome->bytes_max == 0)
        outcome->bytes_max = run->kind->bytes(run->engine);
    bool is_broken = run->kind->find_fault(run->engine, &outcome->fault);
    outcome->is_sound = ledger_holds(&run->ledger, &outcome->work,
                                     run->kind->count(run->engine)) &&
                        !is_broken;
}

tkw_tick replay_span(const struct trace *trace)
{
    tkw_tick last = trace->start;
    for (size_t i = 0; i < trace->op_count; i++) {
        const struct trace_op *op = &trace->ops[i];
        bool has_deadline = op->kind <= TRACE_POSTPONE;
        if (op->time > last)
            last = op->time;
        if (has_deadline && op->deadline != TKW_NEVER && op->deadline > last)
            last = op->deadline;
    }
    return last - trace->start;
}

int replay(const struct trace *trace, const struct engine_kind *kind,
           const struct tkw_geometry *geometry,
           const struct replay_watcher *watcher, trace_progress *progress,
           void *context, struct replay_outcome *outcome)
{
    struct run run = {
        .trace = trace,
        .kind = kind,
        .watcher = watcher,
        .progress = progress,
        .context = context,
        .outcome = outcome,
        .now = trace->start,
        .work_most = WORK_UNASKED + trace->op_count / POLLS_PER_TRACE,
    };
    *outcome =
        (struct replay_outcome){.start = trace->start, .last = trace->start};
    outcome->end = trace->start + replay_span(trace);

    int error = ledger_open(&run.ledger, trace->key_count);
    if (error != 0)
        return error;
    run.engine = kind->open(geometry, trace->start, trace->key_count);
    if (run.engine == NULL) {
        ledger_close(&run.ledger);
        return -ENOMEM;
    }
    run.clock_cost_ns = reading_cost_ns();
    error = run_trace(&run);
    if (error == 0)
        conclude(&run);
    kind->close(run.engine);
    ledger_close(&run.ledger);
    return error;
}
