/*
 * generate.c - first the case's character is drawn, then its operations.
 */
#include "generate.h"

#include <assert.h>

/* {100, 4100} has a level above 64 slots and levels above 64 * 64. */
static const struct tkw_geometry geometries[] = {
    {{0}, TKW_GROW},         {{20}, TKW_GROW},
    {{10}, TKW_GROW},        {{60, 60, 12}, TKW_GROW},
    {{2, 2, 2}, TKW_GROW},   {{3, 5, 7}, TKW_GROW},
    {{2}, TKW_GROW},         {{64}, TKW_GROW},
    {{7, 2, 65}, TKW_GROW},  {{60, 60, 12}, TKW_ROUNDS},
    {{512}, TKW_ROUNDS},     {{32}, TKW_ROUNDS},
    {{2}, TKW_ROUNDS},       {{3, 4}, TKW_ROUNDS},
    {{5}, TKW_ROUNDS},       {{0}, TKW_ROUNDS},
    {{100, 4100}, TKW_GROW},
};

#define GEOMETRY_COUNT (sizeof geometries / sizeof geometries[0])

static const struct tkw_geometry *choose_geometry(struct random *random)
{
    uint32_t index = random_below(random, (uint32_t)GEOMETRY_COUNT);

    /* The big one takes long to make: less often. */
    if (index == GEOMETRY_COUNT - 1 && random_percent(random, 75))
        index = random_below(random, (uint32_t)GEOMETRY_COUNT);
    return &geometries[index];
}

static tkw_tick choose_start(struct random *random)
{
    switch (random_below(random, 5)) {
    case 0:
        return 0;
    case 1:
        return random_log(random, 12);
    case 2:
        return (UINT64_C(1) << random_below(random, 64)) -
               random_below(random, 4) + random_below(random, 4);
    case 3:
        return random_log(random, 64);
    default:
        return TKW_NEVER - random_log(random, 24);
    }
}

static size_t choose_timer_count(struct random *random)
{
    uint32_t choice = random_below(random, 40);

    if (choice == 0)
        return 500 + random_below(random, 1000);
    return choice < 12 ? 1 + random_below(random, 6)
                       : 1 + random_below(random, 64);
}

void generate_world(struct generator *generator, uint64_t seed, uint64_t number,
                    struct world *world)
{
    static const uint32_t bits[] = {3, 6, 8, 10, 14, 20, 32, 48, 64};
    struct random mixer = {seed ^ (number * UINT64_C(0xd1342543de82ef95))};
    struct random *random = &generator->random;

    *generator = (struct generator){.random = {random_next(&mixer)}};
    world->geometry = *choose_geometry(random);
    world->start = choose_start(random);
    world->timer_count = choose_timer_count(random);
    world->seed = random_next(&mixer);

    generator->ops_left = world->timer_count > 100
                              ? 4000 + random_below(random, 4000)
                              : 200 + (uint32_t)random_log(random, 11);
    generator->delay_bits = bits[random_below(random, 9)];
    generator->jump_bits = bits[random_below(random, 9)];
    if (generator->jump_bits > generator->delay_bits)
        generator->jump_bits = generator->delay_bits;
    generator->tie_percent = 10 * random_below(random, 7);
    generator->postpone_percent = 20 * random_below(random, 4);
    generator->budget_percent = 30 * random_below(random, 4);
    generator->crowd_percent = 25 * random_below(&mixer, 4);
    generator->is_near_end = TKW_NEVER - world->start < UINT64_C(1) << 24;

    /* In rounds mode every turn may cost a visit: few turns at a time. */
    struct ladder ladder;
    ladder_init(&ladder, &world->geometry);
    generator->jump_max = TKW_NEVER;
    if (ladder.is_rounds)
        generator->jump_max =
            ladder_turn(&ladder) * (world->timer_count > 100 ? 1 : 8);
}

/* On or beside the edge of a slot of some level. */
static tkw_tick choose_edge(struct random *random, const struct ladder *ladder,
                            tkw_tick now)
{
    tkw_tick tick = ladder->ticks[random_below(random, ladder->level_count)];
    tkw_tick ahead = tick * (1 + random_log(random, 8)); /* wraps: any edge */

    if (random_percent(random, 60))
        now -= now % tick;
    return now + ahead + random_below(random, 3) - 1;
}

/* In the slot that falls next on some level: where crowds are. */
static tkw_tick choose_crowd(struct random *random, const struct ladder *ladder,
                             tkw_tick now)
{
    uint32_t levels = ladder->level_count;
    uint32_t level = random_below(random, levels < 4 ? levels : 4);
    tkw_tick tick = ladder->ticks[level];

    return now - now % tick + tick + random_next(random) % tick; /* may wrap */
}

static tkw_tick choose_deadline(struct generator *generator,
                                const struct judge *judge)
{
    struct random *random = &generator->random;
    const struct oracle *oracle = &judge->oracle;

    if (!judge->engine->is_exact &&
        random_percent(random, generator->crowd_percent))
        return choose_crowd(random, &judge->ledger.ladder, oracle->now);

    uint32_t other = random_below(random, (uint32_t)oracle->timer_count);
    uint32_t choice = random_below(random, 100);

    if (random_percent(random, generator->tie_percent))
        return oracle->timers[other].deadline;
    if (choice < 75)
        return tkw_tick_after(oracle->now,
                              random_log(random, generator->delay_bits));
    if (choice < 85)
        return choose_edge(random, &judge->ledger.ladder, oracle->now);
    if (choice < 90)
        return oracle->now - random_log(random, 64) % (oracle->now | 1);
    if (choice < 94)
        return tkw_tick_after(oracle->now, random_log(random, 64));
    if (choice < 96)
        return judge->farthest + random_below(random, 3);
    if (choice < 97)
        return TKW_NEVER - random_below(random, 3);
    return TKW_NEVER;
}

static tkw_tick choose_target(struct generator *generator,
                              const struct judge *judge)
{
    struct random *random = &generator->random;
    const struct oracle *oracle = &judge->oracle;
    tkw_tick now = oracle->now, target;
    uint32_t choice = random_below(random, 100);

    /* Most go on with what is unfinished, some only a part of the way. */
    if (judge->is_unfinished && choice < 60)
        target = judge->farthest;
    else if (choice < 30)
        target = judge->next;
    else if (choice < 35)
        target = oracle_earliest(oracle);
    else if (choice < 55)
        target = tkw_tick_after(now, 1);
    else if (choice < 58)
        target = now;
    else if (choice < 60 && generator->is_near_end)
        target = TKW_NEVER - random_below(random, 2);
    else
        target = tkw_tick_after(now, random_log(random, generator->jump_bits));

    /* To the end of time only where it is meant. */
    if (target == TKW_NEVER && !generator->is_near_end &&
        !random_percent(random, 2))
        target = tkw_tick_after(now, random_below(random, 64));
    if (target < now)
        target = now;
    if (judge_is_pending(judge) && target - now > generator->jump_max)
        target = now + generator->jump_max;
    return target;
}

static void choose_advance(struct generator *generator,
                           const struct judge *judge, struct op *op)
{
    struct random *random = &generator->random;

    op->kind = OP_ADVANCE;
    op->tick = choose_target(generator, judge);
    op->budget = NO_BUDGET;
    if (random_percent(random, generator->budget_percent))
        op->budget = (size_t)random_log(random, 4);
    if (op->tick == TKW_NEVER && !generator->is_reading_out) {
        generator->is_reading_out = true;
        if (generator->ops_left > 100)
            generator->ops_left = 100;
    }
}

/* Arm or postpone, cancel; seldom, the things that concern all timers. */
static void choose_move(struct generator *generator, const struct judge *judge,
                        struct op *op)
{
    struct random *random = &generator->random;
    uint32_t choice = random_below(random, 1000);

    if (choice < 3) {
        op->kind = OP_WALK;
        op->id = random_below(random, 4);
    } else if (choice < 6) {
        op->kind = OP_DRAIN;
        generator->is_draining = random_percent(random, 30);
    } else if (choice < 180) {
        op->kind = OP_CANCEL;
    } else {
        op->kind = random_percent(random, generator->postpone_percent)
                       ? OP_POSTPONE
                       : OP_ARM;
        op->tick = choose_deadline(generator, judge);
    }
}

bool generate_op(struct generator *generator, const struct judge *judge,
                 struct op *op)
{
    struct random *random = &generator->random;
    const struct oracle *oracle = &judge->oracle;

    if (generator->ops_left == 0)
        return false;
    generator->ops_left--;

    *op =
        (struct op){.id = random_below(random, (uint32_t)oracle->timer_count)};
    uint32_t choice = random_below(random, 100);
    if (generator->is_popping) {
        op->kind = OP_POP;
        generator->is_popping = oracle_ready_count(oracle) > 0;
    } else if (generator->is_draining) {
        op->kind = OP_DRAIN;
        generator->is_draining = oracle_count(oracle) > 0;
    } else if (choice < 55) {
        choose_move(generator, judge, op);
    } else if (choice < 83) {
        choose_advance(generator, judge, op);
    } else {
        op->kind = OP_POP;
        generator->is_popping = random_percent(random, 60);
    }
    return true;
}
