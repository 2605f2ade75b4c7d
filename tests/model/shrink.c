/*
 * shrink.c - delta debugging: leave out chunks, then single operations, then
 * take smaller numbers, until nothing helps any more.
 *
 * Every candidate is played in a child.  What an omission makes impossible
 * (time going back) is left undone by the judge, so any subset is a tape.
 */
#define _POSIX_C_SOURCE 200809L

#include "shrink.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Enough for some candidates that hang, and for thousands that do not. */
#define PATIENCES_MAX 8

struct shrinker {
    struct trial *trial; /* shared: candidates are played here */
    const struct engine *engine;
    struct tape *best; /* the smallest tape that fails */
    struct claim claim;
    enum verdict verdict;
    unsigned patience;
    time_t deadline;
};

static time_t seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

static bool is_late(const struct shrinker *shrinker)
{
    return seconds() >= shrinker->deadline;
}

/* Play what is in trial->tape; if it fails the same way, it is the best. */
static bool attempt(struct shrinker *shrinker)
{
    struct trial *trial = shrinker->trial;

    if (is_late(shrinker) ||
        trial_play(trial, shrinker->engine, shrinker->patience) !=
            shrinker->verdict)
        return false;
    if (shrinker->verdict == VERDICT_LAW &&
        strcmp(trial->failure.law, shrinker->claim.law) != 0)
        return false;

    /* What comes after the failing operation is not needed. */
    if (trial->op_at < trial->tape.op_count)
        trial->tape.op_count = trial->op_at + 1;
    *shrinker->best = trial->tape;
    return true;
}

static void restore(struct shrinker *shrinker)
{
    shrinker->trial->tape = *shrinker->best;
}

static bool leave_out(struct shrinker *shrinker, uint32_t at, uint32_t count)
{
    struct tape *tape = &shrinker->trial->tape;

    restore(shrinker);
    memmove(&tape->ops[at], &tape->ops[at + count],
            (tape->op_count - at - count) * sizeof tape->ops[0]);
    tape->op_count -= count;
    return attempt(shrinker);
}

/* From the end, since what is near the failure is needed most. */
static bool leave_out_chunks(struct shrinker *shrinker)
{
    bool is_smaller = false;

    for (uint32_t size = (shrinker->best->op_count + 1) / 2; size > 0;
         size /= 2) {
        uint32_t end = shrinker->best->op_count;

        while (end >= size) {
            end -= size;
            if (leave_out(shrinker, end, size))
                is_smaller = true;
            if (end > shrinker->best->op_count)
                end = shrinker->best->op_count;
        }
    }
    return is_smaller;
}

/* Try an operation in another form. */
static bool replace(struct shrinker *shrinker, uint32_t at, struct op op)
{
    if (at >= shrinker->best->op_count)
        return false;
    restore(shrinker);
    shrinker->trial->tape.ops[at] = op;
    return attempt(shrinker);
}

/* Bring the tick as near to the start as it can be, by bisection. */
static bool lower_tick(struct shrinker *shrinker, uint32_t at)
{
    tkw_tick start = shrinker->best->world.start;
    struct op op = shrinker->best->ops[at];
    bool is_lower = false;

    if (op.tick <= start)
        return false;
    for (tkw_tick step = op.tick - start; step > 0; step /= 2) {
        struct op lower = op;

        if (step > op.tick - start)
            continue;
        lower.tick -= step;
        if (replace(shrinker, at, lower)) {
            op = lower;
            is_lower = true;
        }
    }
    return is_lower;
}

static bool simplify_op(struct shrinker *shrinker, uint32_t at)
{
    struct op simpler = shrinker->best->ops[at];
    bool is_simpler = false;

    if (simpler.kind == OP_ADVANCE && simpler.budget != NO_BUDGET) {
        simpler.budget = NO_BUDGET;
        is_simpler = replace(shrinker, at, simpler);
    } else if (simpler.kind == OP_POSTPONE) {
        simpler.kind = OP_ARM;
        is_simpler = replace(shrinker, at, simpler);
    }
    if (at < shrinker->best->op_count && lower_tick(shrinker, at))
        is_simpler = true;
    return is_simpler;
}

static bool simplify_ops(struct shrinker *shrinker)
{
    bool is_simpler = false;

    for (uint32_t at = 0; at < shrinker->best->op_count; at++)
        is_simpler |= simplify_op(shrinker, at);
    return is_simpler;
}

/* The same story, told from another start. */
static bool move_start(struct shrinker *shrinker, tkw_tick start)
{
    struct tape *tape = &shrinker->trial->tape;
    tkw_tick old = shrinker->best->world.start;

    if (start >= old)
        return false;
    restore(shrinker);
    tape->world.start = start;
    for (uint32_t i = 0; i < tape->op_count; i++)
        if (tape->ops[i].tick >= old && tape->ops[i].tick != TKW_NEVER)
            tape->ops[i].tick -= old - start;
    return attempt(shrinker);
}

static bool simplify_start(struct shrinker *shrinker)
{
    tkw_tick start = shrinker->best->world.start;

    return move_start(shrinker, 0) || move_start(shrinker, 1) ||
           move_start(shrinker, start / 2);
}

/* Number the timers in the order they appear, and drop the others. */
static bool renumber(struct shrinker *shrinker)
{
    struct tape *tape = &shrinker->trial->tape;
    size_t count = shrinker->best->world.timer_count, used = 0;
    uint32_t *names = malloc(count * sizeof names[0]);

    if (names == NULL)
        return false;
    restore(shrinker);
    memset(names, 0xff, count * sizeof names[0]);
    for (uint32_t i = 0; i < tape->op_count; i++) {
        struct op *op = &tape->ops[i];

        if (op->kind > OP_CANCEL)
            continue;
        if (names[op->id] == UINT32_MAX)
            names[op->id] = (uint32_t)used++;
        op->id = names[op->id];
    }
    free(names);
    tape->world.timer_count = used > 0 ? used : 1;
    return tape->world.timer_count < count && attempt(shrinker);
}

/* With check() after every operation a fault shows where it is made. */
static void check_always(struct shrinker *shrinker)
{
    restore(shrinker);
    shrinker->trial->tape.check_every = 1;
    attempt(shrinker);
}

enum verdict shrink(struct trial *trial, const struct engine *engine,
                    enum verdict verdict, unsigned patience)
{
    struct shrinker shrinker = {.trial = trial,
                                .engine = engine,
                                .claim = trial->failure,
                                .verdict = verdict,
                                .patience = patience,
                                .deadline = seconds() +
                                            (time_t)patience * PATIENCES_MAX};

    shrinker.best = malloc(sizeof *shrinker.best);
    if (shrinker.best == NULL)
        return VERDICT_FINE;
    *shrinker.best = trial->tape;
    if (!attempt(&shrinker)) {
        restore(&shrinker);
        free(shrinker.best);
        return VERDICT_FINE;
    }

    check_always(&shrinker);
    do {
        leave_out_chunks(&shrinker);
        simplify_start(&shrinker);
        renumber(&shrinker);
    } while ((simplify_ops(&shrinker) || simplify_start(&shrinker) ||
              renumber(&shrinker)) &&
             !is_late(&shrinker));

    restore(&shrinker);
    free(shrinker.best);
    return trial_play(trial, engine, patience);
}
