/*
 * judge.c - after every operation: the answer, the time, the count, the next
 * wake-up; after every advance: the work it took; now and then: everything.
 *
 * The oracle says what is right.  Where a law leaves room (which tick a budget
 * stops at, which timer a drain takes) the engine's answer is tested for being
 * allowed and then followed.
 */
#include "judge.h"

#include <assert.h>
#include <stdlib.h>

static bool holds(const struct claim *claim)
{
    switch (claim->relation) {
    case EQUAL:
        return claim->actual == claim->expected;
    case AT_MOST:
        return claim->actual <= claim->expected;
    case AT_LEAST:
        return claim->actual >= claim->expected;
    case BELOW:
        return claim->actual < claim->expected;
    case ABOVE:
        return claim->actual > claim->expected;
    }
    return false;
}

static inline void expect(struct judge *judge, struct claim claim)
{
    if (holds(&claim) || judge->has_failed)
        return;
    judge->has_failed = true;
    judge->failure = claim;
}

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

/*
 * L16: what cancelling leaves behind does not pile up.  It is cleared away by
 * and by as timers are armed, so that it is held against the most that ever
 * were armed at a time; a round over all slots takes its time, too.
 */
static void judge_dead(struct judge *judge)
{
    struct work work = judge->engine->work(judge->self);
    uint64_t live = oracle_count(&judge->oracle);

    if (live > judge->live_max)
        judge->live_max = live;
    expect(judge, (struct claim){"L16", CALL_DEAD, 0, work.dead, AT_MOST,
                                 judge->dead_slack + 4 * judge->live_max});
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

static void do_pop(struct judge *judge, struct op *op)
{
    struct oracle *oracle = &judge->oracle;
    uint64_t first = oracle_first(oracle);
    const char *law = "L4";

    op->result = judge->engine->pop(judge->self);
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

/*
 * What became ready by an advance.  A timer armed in the middle of an advance
 * may have been for the very tick under way: that costs the advance nothing.
 */
struct expiry {
    uint64_t count;
    uint64_t late; /* of these, armed in the middle of an advance */
};

/* Follow the engine to its tick. */
static struct expiry expire(struct judge *judge, tkw_tick now)
{
    struct expiry expiry = {.count = oracle_advance(&judge->oracle, now)};

    for (size_t i = 0; i < expiry.count; i++) {
        uint64_t id = oracle_ready_from_end(&judge->oracle, i);

        ledger_end(&judge->ledger, id, now);
        expiry.late += judge->ledger.filings[id].is_late;
    }
    judge->expired += expiry.count;
    return expiry;
}

/* L9: a stop is in order, and it does get on. */
static void judge_stop(struct judge *judge, const struct op *op, bool is_idle)
{
    judge->stops++;
    if (op->budget == 0)
        return;
    if (!is_idle || judge->idle_stops == 0)
        judge->idle_max =
            oracle_count(&judge->oracle) + judge->work.entries + 1;
    judge->idle_stops = is_idle ? judge->idle_stops + 1 : 0;
    expect(judge, (struct claim){"L9", CALL_IDLE_STOPS, 0, judge->idle_stops,
                                 AT_MOST, judge->idle_max});
}

static uint64_t moves(struct work work)
{
    return work.falls + work.refiles + work.passes;
}

/*
 * L9: no more timers touched than the budget allows.  Timers expired on a tick
 * that is not finished do not show: so what is left of a budget is carried on
 * until the advance is done.  (Where a slot can expire as a whole, with no
 * timer touched, the moves alone are held against the budget.)
 */
static void judge_budget(struct judge *judge, const struct op *op,
                         uint64_t moves_before, uint64_t expired)
{
    if (op->budget != NO_BUDGET && !judge->engine->is_exact) {
        expect(judge, (struct claim){"L9", CALL_MOVES, 0, moves(judge->work),
                                     AT_MOST, moves_before + op->budget});
    } else if (op->budget != NO_BUDGET) {
        judge->allowance += op->budget;
        expect(judge, (struct claim){"L9", CALL_TOUCHED, 0, expired, AT_MOST,
                                     judge->allowance});
        judge->allowance += moves_before - expired;
        expect(judge, (struct claim){"L9", CALL_MOVES, 0, moves(judge->work),
                                     AT_MOST, judge->allowance});
        judge->allowance -= moves(judge->work);
    }
    if (op->result)
        judge->allowance = 0;
}

/* L7: no slot is visited in vain, and no wake-up is. */
static void judge_visits(struct judge *judge, const struct op *op,
                         struct work before, uint64_t expired)
{
    struct work after = judge->work;

    if (!judge->ledger.ladder.is_rounds)
        expect(judge,
               (struct claim){"L7", CALL_PASSES, 0, after.passes, EQUAL, 0});
    /* What was taken in hand before, or is still, cannot be told apart. */
    if (judge->is_unfinished || !op->result)
        return;
    if (!judge->engine->is_exact)
        return;
    expect(judge, (struct claim){"L7", CALL_VISITS, 0, after.visits, AT_MOST,
                                 before.visits + moves(after) - moves(before) +
                                     expired});
    if (op->tick == judge->next && op->tick != TKW_NEVER &&
        oracle_ready_count(&judge->oracle) == 0)
        expect(judge, (struct claim){"L7", CALL_MOVES, 0, moves(after), ABOVE,
                                     moves(before)});
}

/*
 * L7: the hand passes over what lies in the ring once a turn, dead or not.
 * Where a turn begins and ends is not known, and it may be done ahead of time.
 */
static void judge_passes(struct judge *judge, struct work before, tkw_tick old)
{
    const struct ladder *ladder = &judge->ledger.ladder;
    uint64_t turns = (judge->farthest - old) / ladder_turn(ladder) + 2;

    if (ladder->is_rounds && turns < UINT32_MAX)
        expect(judge,
               (struct claim){"L7", CALL_PASSES, 0, judge->work.passes, AT_MOST,
                              before.passes + before.entries * turns});
}

static void do_advance(struct judge *judge, struct op *op)
{
    struct oracle *oracle = &judge->oracle;
    struct work before = judge->engine->work(judge->self);
    tkw_tick old = oracle->now;

    op->result = judge->engine->advance(judge->self, op->tick, op->budget);
    tkw_tick now = judge->engine->now(judge->self);
    judge->work = judge->engine->work(judge->self);
    if (op->tick > judge->farthest)
        judge->farthest = op->tick;

    if (op->result || op->budget == NO_BUDGET) {
        /* Even standing still finishes the tick that was begun. */
        bool is_more = judge->is_unfinished && op->tick == old;
        expect(judge, (struct claim){"L2", CALL_NOW, 0, now, EQUAL,
                                     op->tick + is_more});
    } else {
        expect(judge, (struct claim){"L9", CALL_NOW, 0, now, AT_MOST,
                                     op->tick - !judge->is_unfinished});
        expect(judge, (struct claim){"L9", CALL_NOW, 0, now, AT_LEAST, old});
    }
    if (judge->has_failed)
        return;

    struct expiry expiry = expire(judge, now);
    judge_budget(judge, op, moves(before), expiry.count - expiry.late);
    judge_visits(judge, op, before, expiry.count);
    if (!judge->engine->is_exact)
        judge_passes(judge, before, old);
    judge->wakes += op->result && !judge->is_unfinished && op->tick > old &&
                    op->tick == judge->next && op->tick != TKW_NEVER;
    if (!op->result)
        judge_stop(judge, op,
                   now == old && moves(judge->work) == moves(before));
    else
        judge->idle_stops = 0;
    judge->is_unfinished = !op->result;
    expect(judge, (struct claim){"L9", CALL_STOPS, 0, judge->work.stops, EQUAL,
                                 judge->stops});
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
    bool is_sound = judge->engine->check(judge->self);

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

/* What exact engines may have done, timer by timer. */
static void judge_sums(struct judge *judge, struct work work, uint32_t levels)
{
    struct ledger *ledger = &judge->ledger;

    expect(judge,
           (struct claim){"L6", CALL_FALLS, 0, work.falls, AT_MOST,
                          ledger->falls_max + work.refiles * (levels - 1)});
    if (ledger->passes_max < UINT64_MAX - work.refiles)
        expect(judge, (struct claim){"L6", CALL_PASSES, 0, work.passes, AT_MOST,
                                     ledger->passes_max + work.refiles});
    /* In an unfinished tick, what has expired is in no sum yet. */
    uint64_t in_hand = judge->is_unfinished ? judge->oracle.pending_count : 0;
    expect(judge, (struct claim){"L7", CALL_VISITS, 0, work.visits, AT_MOST,
                                 moves(work) + judge->expired + judge->meddled +
                                     work.stops + in_hand});
}

/*
 * What any engine may have done.  Whatever is filed falls at most levels-1
 * times, to be filed anew then or passed over, even if it is dead; and every
 * visit and every wake-up is for something in a slot of some level.
 */
static void judge_rough_sums(struct judge *judge, struct work work,
                             uint32_t levels)
{
    uint64_t filed = judge->filings + work.refiles + work.passes;

    expect(judge, (struct claim){"L6", CALL_FALLS, 0, work.falls, AT_MOST,
                                 filed * (levels - 1)});
    expect(judge, (struct claim){"L7", CALL_VISITS, 0, work.visits, AT_MOST,
                                 filed * (levels + 1)});
    expect(judge, (struct claim){"L7", CALL_WAKES, 0, judge->wakes, AT_MOST,
                                 filed * (levels + 1)});
}

/*
 * L7: with nothing armed, what is dead soon asks for nothing any more.  (It may
 * lie any number of turns ahead in a ring.)  This ends the engine's story: the
 * oracle does not follow.
 */
static void judge_silence(struct judge *judge, uint32_t levels)
{
    const struct engine *engine = judge->engine;
    uint64_t wakes = 0, wakes_max;

    if (judge->ledger.ladder.is_rounds || judge->is_unfinished)
        return;
    while (engine->drain(judge->self) != NO_TIMER)
        ;
    wakes_max = (engine->work(judge->self).entries + 1) * (levels + 1);
    for (tkw_tick next, now = engine->now(judge->self);
         (next = engine->next(judge->self)) != TKW_NEVER && !judge->has_failed;
         now = next) {
        expect(judge, (struct claim){"L8", CALL_NEXT, 0, next, ABOVE, now});
        expect(judge, (struct claim){"L7", CALL_WAKES, 0, ++wakes, AT_MOST,
                                     wakes_max});
        if (!judge->has_failed)
            engine->advance(judge->self, next, NO_BUDGET);
    }
}

bool judge_finish(struct judge *judge)
{
    uint32_t levels = judge->engine->level_count(judge->self);

    if (judge->has_failed)
        return false;
    judge_all(judge);
    for (uint64_t id = 0; id < judge->oracle.timer_count; id++)
        end_filing(judge, id);

    struct work work = judge->engine->work(judge->self);
    if (judge->engine->is_exact)
        judge_sums(judge, work, levels);
    judge_rough_sums(judge, work, levels);
    if (!judge->engine->is_exact)
        judge_silence(judge, levels);
    judge->work = work;
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
    judge->dead_slack = engine->dead_slack + slots / 8;
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
