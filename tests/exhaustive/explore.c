/*
 * explore.c - the alphabet, the set of states seen, and the search.
 */
#define _POSIX_C_SOURCE 200809L

#include "explore.h"

#include <stdlib.h>
#include <unistd.h>

#include "key.h"

#define OPS_MAX 4096
#define BUDGETS 3 /* 0, 1 and 2 */
#define ROOT UINT32_MAX

/* No state takes that long: seconds after which it is said to hang. */
#define PATIENCE 30

enum { DELAY_NEVER = INT16_MAX };

/* How a state was come by first. */
struct step {
    uint32_t parent;
    int16_t delay; /* of the operation's tick, from now */
    uint8_t kind;
    uint8_t id;
    uint8_t budget; /* BUDGETS: none */
};

struct search {
    struct toy toy;
    struct progress *progress;
    void *fresh; /* the state of a fresh toy, and ... */
    void *here;  /* ... the one being left */
    struct step *steps;
    uint64_t step_count;
    size_t step_room;
    struct key *seen; /* open addressing; a power of two */
    size_t seen_room;
    size_t op_count;
    struct step ops[OPS_MAX];
};

static bool is_zero(struct key key)
{
    return key.high == 0 && key.low == 0;
}

/* Returns whether the key is new to the set. */
static bool insert(struct key *set, size_t room, struct key key)
{
    size_t at = (size_t)key.high & (room - 1);

    for (; !is_zero(set[at]); at = (at + 1) & (room - 1))
        if (set[at].high == key.high && set[at].low == key.low)
            return false;
    set[at] = key;
    return true;
}

static bool grow_seen(struct search *search)
{
    size_t room = 2 * search->seen_room;
    struct key *set = calloc(room, sizeof set[0]);

    if (set == NULL)
        return false;
    for (size_t i = 0; i < search->seen_room; i++)
        if (!is_zero(search->seen[i]))
            insert(set, room, search->seen[i]);
    free(search->seen);
    search->seen = set;
    search->seen_room = room;
    return true;
}

static bool grow_steps(struct search *search)
{
    size_t room = 2 * search->step_room;
    struct step *steps = realloc(search->steps, room * sizeof steps[0]);

    if (steps == NULL)
        return false;
    search->steps = steps;
    search->step_room = room;
    return true;
}

/*
 * Note a state if it is new, and not past the bounds.  Returns false if there
 * is no memory.
 */
static bool note_state(struct search *search, struct step step, bool *is_new)
{
    *is_new = false;
    if (toy_kind.is_beyond(&search->toy)) {
        search->progress->beyond_count++;
        return true;
    }
    if (2 * search->step_count >= search->seen_room && !grow_seen(search))
        return false;
    *is_new = insert(search->seen, search->seen_room, key_of(&search->toy));
    if (!*is_new)
        return true;
    if (search->step_count == search->step_room && !grow_steps(search))
        return false;
    search->steps[search->step_count++] = step;
    return true;
}

static void add_op(struct search *search, enum op_kind kind, uint64_t id,
                   int delay, unsigned budget)
{
    search->ops[search->op_count++] = (struct step){.kind = (uint8_t)kind,
                                                    .id = (uint8_t)id,
                                                    .delay = (int16_t)delay,
                                                    .budget = (uint8_t)budget};
}

/* To every tick in reach, the one before now, and for ever. */
static void add_moves(struct search *search, enum op_kind kind, uint64_t id)
{
    for (int delay = -1; delay <= (int)search->toy.reach; delay++)
        add_op(search, kind, id, delay, 0);
    if (!search->toy.config.is_finite)
        add_op(search, kind, id, DELAY_NEVER, 0);
}

/*
 * The wheel does not remember a target.  An advance with a budget either stops,
 * and then stands where any farther target would have stopped it, or gets there
 * like one without: so few targets are enough with a budget, and the farthest
 * is one of them.
 */
static void add_advances(struct search *search)
{
    const struct judge *judge = &search->toy.judge;
    tkw_tick reach = search->toy.reach, ahead = judge->next - judge->oracle.now;

    for (unsigned delay = 0; delay <= reach; delay++)
        add_op(search, OP_ADVANCE, 0, (int)delay, BUDGETS);
    for (unsigned budget = 0; budget < BUDGETS; budget++) {
        add_op(search, OP_ADVANCE, 0, 1, budget);
        if (ahead > 1 && ahead < reach)
            add_op(search, OP_ADVANCE, 0, (int)ahead, budget);
        add_op(search, OP_ADVANCE, 0, (int)reach, budget);
    }
}

/* All that can be done in the present state; of plain idle ones one will do. */
static void list_ops(struct search *search)
{
    const struct oracle *oracle = &search->toy.judge.oracle;
    bool has_idle = false;

    search->op_count = 0;
    for (uint64_t id = 0; id < oracle->timer_count; id++) {
        bool is_armed = oracle_is_armed(oracle, id);
        bool is_plain = !is_armed && toy_kind.is_plain(&search->toy, id);

        if (is_plain && has_idle)
            continue;
        has_idle |= is_plain;
        add_moves(search, OP_ARM, id);
        if (is_armed && search->toy.config.has_postponing)
            add_moves(search, OP_POSTPONE, id);
        if (!is_armed)
            add_op(search, OP_POSTPONE, id, 1, 0);
        add_op(search, OP_CANCEL, id, 0, 0);
    }
    add_advances(search);
    add_op(search, OP_POP, 0, 0, 0);
    if (search->toy.config.has_keeping)
        add_op(search, OP_POP, 1, 0, 0);
    add_op(search, OP_DRAIN, 0, 0, 0);
    add_op(search, OP_WALK, 0, 0, 0);
    add_op(search, OP_WALK, 1, 0, 0); /* cancels all */
}

/* Do a step, as the last operation on the tape.  Returns whether it is fine. */
static bool do_step(struct search *search, const struct step *step)
{
    struct trial *trial = &search->progress->trial;
    const struct oracle *oracle = &search->toy.judge.oracle;
    struct op *op = &trial->tape.ops[trial->op_at];

    *op = (struct op){.kind = (enum op_kind)step->kind, .id = step->id};
    if (step->delay == DELAY_NEVER)
        op->tick = TKW_NEVER;
    else
        op->tick = oracle->now + (tkw_tick)step->delay;
    op->budget = step->budget < BUDGETS ? step->budget : NO_BUDGET;
    trial->tape.op_count = trial->op_at + 1;
    toy_kind.prepare(&search->toy, op);
    if (!trial_do(trial, &search->toy.judge))
        return false;
    toy_kind.read_inside(&search->toy);
    return true;
}

/* Go to a state from the beginning.  Fine before, it is fine again. */
static bool replay(struct search *search, uint64_t state)
{
    struct trial *trial = &search->progress->trial;
    uint32_t way[TAPE_OPS_MAX], length = 0;

    for (uint32_t at = (uint32_t)state; search->steps[at].parent != ROOT;
         at = search->steps[at].parent)
        way[length++] = at;
    search->progress->depth = length;

    toy_restore(&search->toy, search->fresh);
    for (trial->op_at = 0; trial->op_at < length; trial->op_at++)
        if (!do_step(search, &search->steps[way[length - 1 - trial->op_at]]))
            return false;
    return true;
}

/*
 * The sums of work, at a new state.  Not in an unfinished tick: what is in hand
 * there is in no sum yet.
 */
static bool finish(struct search *search)
{
    return search->toy.judge.is_unfinished ||
           trial_finish(&search->progress->trial, &search->toy.judge);
}

/* Leave a state in every way.  Returns whether all laws held. */
static bool leave(struct search *search, uint64_t state)
{
    struct progress *progress = search->progress;

    if (!replay(search, state))
        return false;
    progress->is_bounded = search->toy.config.depth_max != 0 &&
                           progress->depth >= search->toy.config.depth_max;
    if (progress->is_bounded)
        return true;
    toy_save(&search->toy, search->here);
    list_ops(search);
    for (size_t i = 0; i < search->op_count; i++) {
        struct step step = search->ops[i];
        bool is_new = false;

        progress->trial.op_at = progress->depth;
        if (!do_step(search, &step))
            return false;
        progress->transition_count++;
        step.parent = (uint32_t)state;
        progress->is_out_of_memory = !note_state(search, step, &is_new);
        if (progress->is_out_of_memory)
            return true;
        if (is_new && !finish(search))
            return false;
        toy_restore(&search->toy, search->here);
    }
    return true;
}

static bool open_search(struct search *search, const struct toy_config *config)
{
    search->seen_room = search->step_room = 1 << 16;
    search->seen = calloc(search->seen_room, sizeof search->seen[0]);
    search->steps = calloc(search->step_room, sizeof search->steps[0]);
    if (search->seen == NULL || search->steps == NULL ||
        !toy_open(&search->toy, config))
        return false;

    search->fresh = malloc(search->toy.bytes);
    search->here = malloc(search->toy.bytes);
    return search->fresh != NULL && search->here != NULL;
}

static void close_search(struct search *search)
{
    toy_close(&search->toy);
    free(search->fresh);
    free(search->here);
    free(search->steps);
    free(search->seen);
    free(search);
}

/*
 * States are left in the order they were found in: breadth first.  So when one
 * lies too deep, all that follow do.
 */
static bool search_all(struct search *search, uint64_t states_max)
{
    struct progress *progress = search->progress;
    bool is_fine = true, is_new;

    toy_save(&search->toy, search->fresh);
    note_state(search, (struct step){.parent = ROOT}, &is_new);
    for (uint64_t state = 0; is_fine && state < search->step_count; state++) {
        if (search->step_count > states_max || progress->is_out_of_memory)
            return true;
        if (state % 256 == 0)
            alarm(PATIENCE);
        is_fine = leave(search, state);
        progress->state_count = search->step_count;
        if (progress->is_bounded)
            return true;
    }
    progress->is_closed = is_fine && !progress->is_out_of_memory;
    return is_fine;
}

bool explore(const struct toy_config *config, uint64_t states_max,
             struct progress *progress)
{
    struct search *search = calloc(1, sizeof *search);
    bool is_fine = true;

    progress->is_out_of_memory = search == NULL;
    if (search == NULL)
        return true;
    search->progress = progress;
    progress->is_out_of_memory = !open_search(search, config);
    progress->trial.tape.world = search->toy.judge.world;
    progress->trial.tape.check_every = 1;
    if (!progress->is_out_of_memory)
        is_fine = search_all(search, states_max);
    close_search(search);
    return is_fine;
}
