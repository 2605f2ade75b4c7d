/*
 * fuzz.c - bytes as a world and operations in it, held against the laws.
 *
 * A libFuzzer target: built with -fsanitize=fuzzer and FUZZ_WITH_LIBFUZZER
 * defined, coverage leads it to new inputs.  Built without, it is a program
 * that runs the files it is given on every engine, so that any compiler can
 * replay a corpus.
 *
 * Every input means something.  The first bytes are the geometry, the start,
 * the number of timers and the engine; each operation then takes a byte for
 * what to do and to whom, and where it needs a tick, one for how to read the
 * next.
 *
 * FUZZ_TINY says that the pool is built with constants for toys, and tests only
 * that; see ../CMakeLists.txt.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../model/reproduce.h"

#define INPUT_MAX 4096
#define TIMERS_MAX 12

/* Operations between two full checks: 64 levels take their time. */
#define CHECK_EVERY 32

/* With TKW_ROUNDS every turn may cost a visit: few at a time. */
#define TURNS_MAX 8

/* What an input can choose from. */
#ifdef FUZZ_TINY
static const struct engine *const engines[] = {&engine_pool_tiny,
                                               &engine_pool_tiny_oom};
#else
static const struct engine *const engines[] = {&engine_wheel, &engine_pool,
                                               &engine_pool_oom};
#endif

#define ENGINE_COUNT (sizeof engines / sizeof engines[0])

_Static_assert(INPUT_MAX + TIMERS_MAX * (TIMERS_MAX + 1) < TAPE_OPS_MAX,
               "an operation a byte, and reading out, fit on the tape");

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at;
    size_t left;
};

/* Past the end of the input all bytes are 0. */
static uint8_t take(struct input *input)
{
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->at++;
}

/* A number of any length: its low bits, moved up by a shift of their own. */
static uint64_t take_number(struct input *input)
{
    uint64_t bits = take(input);

    return bits << take(input) % 64;
}

/* Sizes of 2 to 5; seldom, of up to 121 for bitmaps of several words. */
static uint32_t take_size(struct input *input)
{
    uint8_t byte = take(input);

    return byte < 248 ? 2 + byte % 4U : 65 + 8 * (byte - 248U);
}

static void take_geometry(struct input *input, struct tkw_geometry *geometry)
{
    uint8_t byte = take(input);

    *geometry = (struct tkw_geometry){
        .beyond = byte & 1 ? TKW_ROUNDS : TKW_GROW,
    };
    if (byte < 4)
        return; /* the default, which takes long to make: seldom */
    for (unsigned i = 0; i < 1 + byte / 2 % 3U; i++)
        geometry->sizes[i] = take_size(input);
}

static tkw_tick take_start(struct input *input)
{
    uint8_t byte = take(input);

    switch (byte % 4) {
    case 0:
        return byte / 4;
    case 1:
        return (UINT64_C(1) << byte / 4) - 1;
    case 2:
        return take_number(input);
    default:
        return TKW_NEVER - byte / 4;
    }
}

static tkw_tick take_deadline(struct input *input, const struct judge *judge)
{
    const struct oracle *oracle = &judge->oracle;
    uint8_t byte = take(input);

    switch (byte % 8) {
    case 0:
    case 1:
    case 2:
        return tkw_tick_after(oracle->now, byte / 8);
    case 3:
        return tkw_tick_after(oracle->now, take_number(input));
    case 4:
        return oracle->timers[byte / 8 % oracle->timer_count].deadline;
    case 5:
        return judge->farthest + byte / 8 % 4;
    case 6:
        return oracle->now - byte / 8; /* wraps: far away, or never */
    default:
        return TKW_NEVER - byte / 8 % 4;
    }
}

/* Not back, and not too many turns of a ring at once. */
static tkw_tick limit_target(const struct judge *judge, tkw_tick target)
{
    const struct oracle *oracle = &judge->oracle;
    const struct ladder *ladder = &judge->ledger.ladder;
    tkw_tick turn = ladder_turn(ladder);

    if (target < oracle->now)
        return oracle->now;
    if (ladder->is_rounds && judge_is_pending(judge) &&
        (target - oracle->now) / TURNS_MAX > turn)
        return oracle->now + TURNS_MAX * turn;
    return target;
}

static tkw_tick take_target(struct input *input, const struct judge *judge)
{
    const struct oracle *oracle = &judge->oracle;
    uint8_t byte = take(input);
    tkw_tick target = tkw_tick_after(oracle->now, byte / 8);

    if (byte % 8 == 3)
        target = tkw_tick_after(oracle->now, take_number(input));
    else if (byte % 8 == 4)
        target = judge->next;
    else if (byte % 8 == 5)
        target = oracle_earliest(oracle);
    else if (byte % 8 == 6)
        target = judge->farthest;
    else if (byte % 8 == 7)
        target = TKW_NEVER - byte / 8 % 4;

    return limit_target(judge, target);
}

static struct op take_op(struct input *input, const struct judge *judge)
{
    static const enum op_kind kinds[16] = {
        OP_ARM,      OP_ARM,      OP_ARM,      OP_ARM,
        OP_POSTPONE, OP_POSTPONE, OP_POSTPONE, OP_CANCEL,
        OP_ADVANCE,  OP_ADVANCE,  OP_ADVANCE,  OP_ADVANCE,
        OP_POP,      OP_POP,      OP_DRAIN,    OP_CANCEL,
    };
    uint8_t byte = take(input);
    struct op op = {.kind = kinds[byte % 16], .budget = NO_BUDGET};

    if (byte == 15) { /* alone, because it looks at every slot */
        op.kind = OP_WALK;
        op.id = take(input) % 4U;
        return op;
    }
    op.id = byte / 16 % (uint32_t)judge->oracle.timer_count;
    if (op.kind == OP_ARM || op.kind == OP_POSTPONE)
        op.tick = take_deadline(input, judge);
    if (op.kind == OP_ADVANCE) {
        op.tick = take_target(input, judge);
        if (byte % 16 >= 10)
            op.budget = byte / 16 % 8;
    }
    return op;
}

/* The law, the case as a C program, and the end. */
static void fail(const struct trial *trial, const struct engine *engine)
{
    trial_write(stderr, trial, VERDICT_LAW);
    reproduce(stderr, trial, engine, "fuzz");
    abort();
}

static void do_op(struct trial *trial, struct judge *judge, struct op op)
{
    struct tape *tape = &trial->tape;

    tape->ops[tape->op_count] = op;
    trial->op_at = tape->op_count++;
    if (!trial_do(trial, judge))
        fail(trial, judge->engine);
}

/* Bring the order to light that timers are in: pop what is due in a while. */
static void read_out(struct trial *trial, struct judge *judge)
{
    const struct oracle *oracle = &judge->oracle;

    for (size_t i = 0; i < oracle->timer_count; i++) {
        struct op advance = {.kind = OP_ADVANCE, .budget = NO_BUDGET};

        advance.tick = limit_target(judge, oracle_earliest(oracle));
        if (oracle_earliest(oracle) != TKW_NEVER)
            do_op(trial, judge, advance);
        while (oracle_ready_count(oracle) > 0)
            do_op(trial, judge, (struct op){.kind = OP_POP});
    }
}

static void run_ops(struct trial *trial, struct judge *judge,
                    struct input *input)
{
    while (input->left > 0)
        do_op(trial, judge, take_op(input, judge));
    read_out(trial, judge);
    /* In an unfinished tick what is in hand is in no sum of work yet. */
    if (!judge->is_unfinished && !trial_finish(trial, judge))
        fail(trial, judge->engine);
}

/* Run an input, on the engine `shift` places past the one it chooses. */
static int run_input(const uint8_t *data, size_t size, size_t shift)
{
    static struct trial trial; /* too large for a stack */
    struct input input = {data, size};
    struct tape *tape = &trial.tape;
    struct judge judge;

    if (size > INPUT_MAX)
        return -1;
    take_geometry(&input, &tape->world.geometry);
    tape->world.start = take_start(&input);
    uint8_t byte = take(&input);
    tape->world.timer_count = 1 + byte % TIMERS_MAX;
    tape->world.seed = byte;
    tape->check_every = CHECK_EVERY;
    tape->op_count = 0;
    trial.has_failed = false;
    if (tkw_geometry_fault(&tape->world.geometry) != NULL)
        return -1;
    const struct engine *engine =
        engines[(byte / TIMERS_MAX + shift) % ENGINE_COUNT];
    if (!judge_open(&judge, engine, &tape->world, CHECK_EVERY))
        abort();
    run_ops(&trial, &judge, &input);
    judge_close(&judge);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return run_input(data, size, 0);
}

#ifndef FUZZ_WITH_LIBFUZZER

static bool run_file(const char *path)
{
    uint8_t bytes[INPUT_MAX];
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        perror(path);
        return false;
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    bool is_read = ferror(file) == 0;
    fclose(file);
    if (!is_read)
        fprintf(stderr, "%s: cannot be read\n", path);
    for (size_t shift = 0; is_read && shift < ENGINE_COUNT; shift++)
        run_input(bytes, size, shift);
    return is_read;
}

int main(int count, char **paths)
{
    if (count < 2) {
        fprintf(stderr, "usage: fuzz FILE...\n");
        return 2;
    }
    for (int i = 1; i < count; i++)
        if (!run_file(paths[i]))
            return 2;
    printf("%d inputs, all laws held\n", count - 1);
    return 0;
}

#endif
