/*
 * judge_work.c - after every advance: the work it took; at the end: that of the
 * whole run, and that nothing dead is left that asks for more.
 */
#include "judge_work.h"

/*
 * L16: what cancelling leaves behind does not pile up.  It is cleared away by
 * and by as timers are armed, so that it is held against the most that ever
 * were armed at a time.
 */
void judge_dead(struct judge *judge)
{
    struct work work = judge->engine->work(judge->self);
    uint64_t live = oracle_count(&judge->oracle);

    if (live > judge->live_max)
        judge->live_max = live;
    expect(judge, (struct claim){"L16", CALL_DEAD, 0, work.dead, AT_MOST,
                                 judge->dead_slack + 2 * judge->live_max});
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

void judge_stride(struct judge *judge, const struct op *op,
                  const struct stride *stride)
{
    struct work before = stride->before;
    tkw_tick old = stride->from;

    judge_budget(judge, op, moves(before), stride->expired - stride->late);
    judge_visits(judge, op, before, stride->expired);
    if (!judge->engine->is_exact)
        judge_passes(judge, before, old);
    judge->wakes += op->result && !judge->is_unfinished && op->tick > old &&
                    op->tick == judge->next && op->tick != TKW_NEVER;
    if (!op->result)
        judge_stop(judge, op,
                   judge->oracle.now == old &&
                       moves(judge->work) == moves(before));
    else
        judge->idle_stops = 0;
    expect(judge, (struct claim){"L9", CALL_STOPS, 0, judge->work.stops, EQUAL,
                                 judge->stops});
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

void judge_whole(struct judge *judge)
{
    uint32_t levels = judge->engine->level_count(judge->self);
    struct work work = judge->engine->work(judge->self);

    if (judge->engine->is_exact)
        judge_sums(judge, work, levels);
    judge_rough_sums(judge, work, levels);
    if (!judge->engine->is_exact)
        judge_silence(judge, levels);
    judge->work = work;
}
