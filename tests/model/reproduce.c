/*
 * reproduce.c - every operation with what it returned, then the claim that
 * did not hold.
 */
#include "reproduce.h"

#include <inttypes.h>

static struct call call_of(const struct op *op)
{
    static const enum call_kind kinds[] = {
        [OP_ARM] = CALL_ARM,       [OP_POSTPONE] = CALL_POSTPONE,
        [OP_CANCEL] = CALL_CANCEL, [OP_ADVANCE] = CALL_ADVANCE_SOME,
        [OP_POP] = CALL_POP,       [OP_DRAIN] = CALL_DRAIN,
        [OP_WALK] = CALL_WALK,
    };
    struct call call = {kinds[op->kind], op->id, op->tick, op->budget};

    if (op->kind == OP_ADVANCE && op->budget == NO_BUDGET)
        call.kind = CALL_ADVANCE;
    return call;
}

/* The value that a call is compared with, as its type is written. */
static void write_value(FILE *out, const struct engine *engine,
                        enum call_kind kind, uint64_t value)
{
    switch (kind) {
    case CALL_POP:
    case CALL_DRAIN:
        engine->text->write_timer(out, value);
        break;
    case CALL_POSTPONE:
    case CALL_CANCEL:
    case CALL_ADVANCE_SOME:
    case CALL_IS_ARMED:
    case CALL_CHECK:
        fputs(value ? "true" : "false", out);
        break;
    default:
        fprintf(out, "UINT64_C(%" PRIu64 ")", value);
        break;
    }
}

static void write_assert(FILE *out, const struct engine *engine,
                         struct call call, const struct claim *claim)
{
    fputs("    assert(", out);
    engine->text->write_call(out, call);
    fprintf(out, " %s ", relation_sign(claim->relation));
    write_value(out, engine, call.kind, claim->expected);
    fputs(");\n", out);
}

static void write_op(FILE *out, const struct engine *engine,
                     const struct op *op)
{
    struct call call = call_of(op);
    struct claim returned = {.relation = EQUAL, .expected = op->result};

    if (!op->is_done)
        return;
    if (call.kind != CALL_ARM && call.kind != CALL_ADVANCE) {
        write_assert(out, engine, call, &returned);
        return;
    }
    fputs("    ", out);
    engine->text->write_call(out, call);
    fputs(";\n", out);
}

/* The operation that broke a law, and the law as an assertion. */
static void write_failure(FILE *out, const struct engine *engine,
                          const struct op *op, const struct claim *claim)
{
    struct call call = {.kind = claim->about, .id = claim->id};

    if (op != NULL && call_of(op).kind == claim->about) {
        write_assert(out, engine, call_of(op), claim);
        return;
    }
    if (op != NULL)
        write_op(out, engine, op);
    if (claim->about >= CALL_TOUCHED)
        fputs("    /* No call tells this; see the first lines. */\n", out);
    else
        write_assert(out, engine, call, claim);
}

static bool has_walks(const struct tape *tape)
{
    for (uint32_t i = 0; i < tape->op_count; i++)
        if (tape->ops[i].kind == OP_WALK)
            return true;
    return false;
}

void reproduce(FILE *out, const struct trial *trial,
               const struct engine *engine, const char *title)
{
    const struct tape *tape = &trial->tape;
    bool is_at_end = trial->op_at >= tape->op_count;
    uint32_t count = is_at_end ? tape->op_count : trial->op_at;
    const struct op *last = is_at_end ? NULL : &tape->ops[count];
    enum verdict verdict = trial->has_failed ? VERDICT_LAW : VERDICT_CRASH;

    fprintf(out, "/*\n * %s\n * ", title);
    trial_write(out, trial, verdict);
    fputs(" */\n#undef NDEBUG\n#include <assert.h>\n", out);
    engine->text->write_preamble(out, &tape->world, has_walks(tape));
    for (uint32_t i = 0; i < count; i++)
        write_op(out, engine, &tape->ops[i]);

    if (trial->has_failed)
        write_failure(out, engine, last, &trial->failure);
    else if (last != NULL) {
        fputs("    ", out);
        engine->text->write_call(out, call_of(last));
        fputs("; /* here */\n", out);
    }
    engine->text->write_epilogue(out);
}
