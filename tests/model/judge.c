/*
 * judge.c - after every operation: the answer, the time, the count, the next
 * wake-up; now and then: everything.  What it took is for judge_work.c.
 *
 * The oracle says what is right.  Where a law leaves room (which tick a budget
 * stops at, which timer a drain takes) the engine's answer is tested for being
 * allowed and then followed.
 */
#include "judge.h"

#include <stdlib.h>

#include "judge_work.h"

/* The latest tick whose slots may have fallen already. */
static tkw_tick reached(const struct judge *judge)
{
    return judge->is_unfinished ? judge->farthest : judge->oracle.now;
}

/* Close the books on a timer before it is moved or taken out. */
static void end_filing(struct judge *judge, uint64_t id)
{
    if (judge->oracle.timers[id].state == ORACLE_PENDING)
        ledger_end(&judge->ledger, id, reached(judge));
}

static void begin_filing(struct judge *judge, uint64_t id)
{
    const struct oracle_timer *timer = &judge->oracle.timers[id];
    struct filing filing = {.at = judge->oracle.now,
                            .deadline = timer->deadline,
                            .is_late = judge->is_unfinished};

    judge->filings++;
    if (timer->state == ORACLE_PENDING)
        ledger_file(&judge->ledger, id, filing);
}

static void meddle(struct judge *judge)
{
    judge->meddled += judge->is_unfinished;
    judge->idle_stops = 0;
}

static void do_arm(struct judge *judge, struct op *op)
{
    judge->engine->arm(judge->self, op->id, op->tick);
    end_filing(judge, op->id);
    oracle_arm(&judge->oracle, op->id, op->tick);
    begin_filing(judge, op->id);
    meddle(judge);
    if (!judge->engine->is_exact)
        judge_dead(judge);
}

static void do_postpone(struct judge *judge, struct op *op)
{
    struct oracle *oracle = &judge->oracle;
    const struct oracle_timer *timer = &oracle->timers[op->id];
    bool is_later =
        timer->state == ORACLE_PENDING && op->tick >= timer->deadline;

    op->result = judge->engine->postpone(judge->self, op->id, op->tick);
    if (!is_later)
        end_filing(judge, op->id);
    bool is_moved = oracle_postpone(oracle, op->id, op->tick);
    expect(judge, (struct claim){"L3", CALL_POSTPONE, op->id, op->result, EQUAL,
                                 is_moved});
    if (is_later)
        ledger_postpone(&judge->ledger, op->id, oracle->now, op->tick);
    else if (is_moved)
        begin_filing(judge, op->id);
    meddle(judge);
}

static void do_cancel(struct judge *judge, struct op *op)
{
    op->result = judge->engine->cancel(judge->self, op->id);
    end_filing(judge, op->id);
    bool is_stopped = oracle_cancel(&judge->oracle, op->id);
    expect(judge, (struct claim){"L3", CALL_CANCEL, op->id, op->result, EQUAL,
                                 is_stopped});
    meddle(judge);
}

/*
 * Pop by either call of the engine: which one depends on the timer `first` that
 * is to come.  A timer that was armed since the last advance must not come from
 * pop_due(), and must come from pop().
 */
static uint64_t pop_next(struct judge *judge, uint64_t first)
{
    const struct engine *engine = judge->engine;
    bool is_due = oracle_is_first_due(&judge->oracle);

    if (engine->pop_due == NULL || (is_due && first % 2 == 1))
        return engine->pop(judge->self);
    uint64_t id = engine->pop_due(judge->self);
    if (is_due)
        return id;
    expect(judge, (struct claim){"L5", CALL_POP, 0, id, EQUAL, NO_TIMER});
    return engine->pop(judge->self);
}

static void do_pop(struct judge *judge, struct op *op)
{
    struct oracle *oracle = &judge->oracle;
    uint64_t first = oracle_first(oracle);
    const char *law = "L4";

    op->result = pop_next(judge, first);
    if (op->result == NO_TIMER && first == NO_TIMER)
        return;
    if (op->result < oracle->timer_count &&
        oracle_may_pop(oracle, op->result)) {
        oracle_pop(oracle, op->result);
        return;
    }

    if (op->result == NO_TIMER)
        law = "L2";
    else if (op->result >= oracle->timer_count ||
             oracle->timers[op->result].state == ORACLE_IDLE)
        law = "L3";
    else if (oracle->timers[op->result].state == ORACLE_PENDING)
        law = oracle->timers[op->result].deadline == TKW_NEVER ? "L5" : "L1";
    expect(judge, (struct claim){law, CALL_POP, 0, op->result, EQUAL, first});
}

static void do_drain(struct judge *judge, struct op *op)
{
    struct oracle *oracle = &judge->oracle;

    op->result = judge->engine->drain(judge->self);
    if (op->result == NO_TIMER && oracle_count(oracle) == 0)
        return;
    if (op->result < oracle->timer_count &&
        oracle_is_armed(oracle, op->result)) {
        end_filing(judge, op->result);
        oracle_drain(oracle, op->result);
        meddle(judge);
        return;
    }

    uint64_t any = 0;
    while (any < oracle->timer_count && !oracle_is_armed(oracle, any))
        any++;
    if (any == oracle->timer_count)
        any = NO_TIMER;
    expect(judge, (struct claim){"L3", CALL_DRAIN, 0, op->result, EQUAL, any});
}

static void do_walk(struct judge *judge, struct op *op)
{
    struct oracle *oracle = &judge->oracle;
    uint64_t divisor = op->id;
    size_t count = oracle_count(oracle), seen = 0;

    op->result = judge->engine->walk(judge->self, divisor, judge->visited);
    expect(judge,
           (struct claim){"L3", CALL_WALK, divisor, op->result, EQUAL, count});
    if (judge->has_failed)
        return;

    /* As many as there are, all armed, none twice: then it is all of them. */
    for (uint64_t id = 0; id < oracle->timer_count; id++)
        judge->visited[oracle->timer_count + 1 + id] = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t id = judge->visited[i];
        seen += oracle_is_armed(oracle, id) &&
                judge->visited[oracle->timer_count + 1 + id]++ == 0;
    }
    expect(judge, (struct claim){"L3", CALL_WALK, divisor, seen, EQUAL, count});
    for (size_t i = 0; divisor != 0 && i < count; i++) {
        if (judge->visited[i] % divisor != 0)
            continue;
        end_filing(judge, judge->visited[i]);
        oracle_cancel(oracle, judge->visited[i]);
        meddle(judge);
    }
}

/* Follow the engine to its tick. */
static void expire(struct judge *judge, tkw_tick now, struct stride *stride)
{
    stride->expired = oracle_advance(&judge->oracle, now);
    for (size_t i = 0; i < stride->expired; i++) {
        uint64_t id = oracle_ready_from_end(&judge->oracle, i);

        ledger_end(&judge->ledger, id, now);
        stride->late += judge->ledger.filings[id].is_late;
    }
    judge->expired += stride->expired;
}

static void do_advance(struct judge *judge, struct op *op)
{
    struct oracle *oracle = &judge->oracle;
    struct stride stride = {.before = judge->engine->work(judge->self),
                            .from = oracle->now};

    op->result = judge->engine->advance(judge->self, op->tick, op->budget);
    tkw_tick now = judge->engine->now(judge->self);
    judge->work = judge->engine->work(judge->self);
    if (op->tick > judge->farthest)
        judge->farthest = op->tick;

    if (op->result || op->budget == NO_BUDGET) {
        /* Even standing still finishes the tick that was begun. */
        bool is_more = judge->is_unfinished && op->tick == stride.from;
        expect(judge, (struct claim){"L2", CALL_NOW, 0, now, EQUAL,
                                     op->tick + is_more});
    } else {
        expect(judge, (struct claim){"L9", CALL_NOW, 0, now, AT_MOST,
                                     op->tick - !judge->is_unfinished});
        expect(judge,
               (struct claim){"L9", CALL_NOW, 0, now, AT_LEAST, stride.from});
    }
    if (judge->has_failed)
        return;

    expire(judge, now, &stride);
    judge_stride(judge, op, &stride);
    judge->is_unfinished = !op->result;
}

/* A postponed timer may wake once, even if it is never due any more (L7). */
static bool has_postponed(const struct oracle *oracle)
{
    for (size_t i = 0; i < oracle->pending_count; i++)
        if (oracle->timers[oracle->pending[i].id].is_free)
            return true;
    return false;
}

/* So may what a cancelled one left behind, where it leaves anything. */
static bool may_wake(const struct judge *judge)
{
    return has_postponed(&judge->oracle) ||
           (!judge->engine->is_exact &&
            judge->engine->work(judge->self).dead > 0);
}

/* L8: what next() may say. */
static void judge_next(struct judge *judge)
{
    const struct oracle *oracle = &judge->oracle;
    tkw_tick next = judge->engine->next(judge->self);
    tkw_tick earliest = oracle_earliest(oracle);

    judge->next = next;
    if (oracle_ready_count(oracle) > 0 || judge->is_unfinished) {
        expect(judge,
               (struct claim){"L8", CALL_NEXT, 0, next, EQUAL, oracle->now});
    } else if (earliest == TKW_NEVER &&
               (next <= oracle->now || !may_wake(judge))) {
        expect(judge,
               (struct claim){"L8", CALL_NEXT, 0, next, EQUAL, TKW_NEVER});
    } else {
        expect(judge,
               (struct claim){"L8", CALL_NEXT, 0, next, AT_MOST, earliest});
        expect(judge,
               (struct claim){"L8", CALL_NEXT, 0, next, ABOVE, oracle->now});
    }
}

/* L3: one outcome per arming, by the engine's own count. */
static void judge_counters(struct judge *judge)
{
    struct work work = judge->engine->work(judge->self);
    const struct oracle *oracle = &judge->oracle;

    expect(judge, (struct claim){"L3", CALL_ARMED, 0, work.armed, EQUAL,
                                 oracle->armed});
    expect(judge, (struct claim){"L3", CALL_FIRED, 0, work.fired, EQUAL,
                                 oracle->fired});
    expect(judge, (struct claim){"L3", CALL_CANCELLED, 0, work.cancelled, EQUAL,
                                 oracle->cancelled});
    expect(judge, (struct claim){"L3", CALL_DRAINED, 0, work.drained, EQUAL,
                                 oracle->drained});
    expect(judge, (struct claim){"L6", CALL_REFILES, 0, work.refiles, AT_MOST,
                                 judge->ledger.postpones});
}

static void judge_all(struct judge *judge)
{
    bool is_sound = !judge->engine->find_fault(judge->self, &judge->fault);

    expect(judge, (struct claim){"L15", CALL_CHECK, 0, is_sound, EQUAL, true});
    judge_counters(judge);
    for (uint64_t id = 0; id < judge->oracle.timer_count; id++) {
        bool is_armed = judge->engine->is_armed(judge->self, id);

        expect(judge, (struct claim){"L3", CALL_IS_ARMED, id, is_armed, EQUAL,
                                     oracle_is_armed(&judge->oracle, id)});
    }
}

static void judge_state(struct judge *judge, const struct op *op)
{
    const struct engine *engine = judge->engine;
    tkw_tick now = engine->now(judge->self);
    size_t count = engine->count(judge->self);

    expect(judge,
           (struct claim){"L9", CALL_NOW, 0, now, EQUAL, judge->oracle.now});
    expect(judge, (struct claim){"L3", CALL_COUNT, 0, count, EQUAL,
                                 oracle_count(&judge->oracle)});
    judge_next(judge);

    uint64_t id =
        op->kind == OP_POP || op->kind == OP_DRAIN ? op->result : op->id;
    if (id < judge->oracle.timer_count) {
        bool is_armed = engine->is_armed(judge->self, id);

        expect(judge, (struct claim){"L3", CALL_IS_ARMED, id, is_armed, EQUAL,
                                     oracle_is_armed(&judge->oracle, id)});
    }
    if (--judge->until_check == 0) {
        judge->until_check = judge->check_every;
        judge_all(judge);
    }
}

bool judge_do(struct judge *judge, struct op *op)
{
    op->is_done = true;
    switch (op->kind) {
    case OP_ARM:
        do_arm(judge, op);
        break;
    case OP_POSTPONE:
        do_postpone(judge, op);
        break;
    case OP_CANCEL:
        do_cancel(judge, op);
        break;
    case OP_ADVANCE:
        op->is_done = op->tick >= judge->oracle.now; /* back is a bug */
        if (op->is_done)
            do_advance(judge, op);
        break;
    case OP_POP:
        do_pop(judge, op);
        break;
    case OP_DRAIN:
        do_drain(judge, op);
        break;
    case OP_WALK:
        do_walk(judge, op);
        break;
    }
    if (!judge->has_failed)
        judge_state(judge, op);
    return !judge->has_failed;
}

bool judge_finish(struct judge *judge)
{
    if (judge->has_failed)
        return false;
    judge_all(judge);
    for (uint64_t id = 0; id < judge->oracle.timer_count; id++)
        end_filing(judge, id);
    judge_whole(judge);
    return !judge->has_failed;
}

bool judge_open(struct judge *judge, const struct engine *engine,
                const struct world *world, uint32_t check_every)
{
    *judge = (struct judge){.engine = engine, .world = *world};
    judge->self = engine->make(world);
    judge->visited = calloc(2 * world->timer_count + 1, sizeof(uint64_t));
    if (judge->self == NULL || judge->visited == NULL ||
        !oracle_open(&judge->oracle, world->timer_count, world->start) ||
        !ledger_open(&judge->ledger, &world->geometry, world->timer_count)) {
        judge_close(judge);
        return false;
    }

    /* Some nanoseconds a slot: often enough, at a small part of the time. */
    uint64_t slots = engine->slot_count(judge->self);
    uint64_t cost = slots + world->timer_count;
    judge->check_every = check_every ? check_every : 1 + (uint32_t)(cost / 16);
    judge->until_check = judge->check_every;
    judge->dead_slack = engine->dead_slack;
    judge->farthest = world->start;
    judge->next = TKW_NEVER;
    return true;
}

void judge_close(struct judge *judge)
{
    if (judge->self != NULL)
        judge->engine->free(judge->self);
    free(judge->visited);
    oracle_close(&judge->oracle);
    ledger_close(&judge->ledger);
    judge->self = NULL;
    judge->visited = NULL;
}
