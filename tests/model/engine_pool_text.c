/*
 * engine_pool_text.c - a reproducer in the words of tickwheel/pool.h.
 *
 * Its functions do what those of engine_pool.c do, in the same order and by the
 * same turns; what the engine only looks at is left out.
 */
#include "engine_common.h"

#include <inttypes.h>

#include <tickwheel/pool.h>

static const char scarce_memory[] =
    "/* One call in eight fails while `memory` is SCARCE. */\n"
    "enum { PLENTY, SCARCE, NO_MEMORY } memory;\n"
    "size_t reserved;\n"
    "\n"
    "void *allocate(void *context, size_t bytes)\n"
    "{\n"
    "    (void)context;\n"
    "    if (memory == SCARCE)\n"
    "        memory_state = memory_state * UINT64_C(6364136223846793005) +\n"
    "                       UINT64_C(1442695040888963407);\n"
    "    if (memory == NO_MEMORY ||\n"
    "        (memory == SCARCE && memory_state >> 61 == 0))\n"
    "        return NULL;\n"
    "    return malloc(bytes);\n"
    "}\n"
    "\n"
    "void release(void *context, void *block, size_t bytes)\n"
    "{\n"
    "    (void)context;\n"
    "    (void)bytes;\n"
    "    free(block);\n"
    "}\n"
    "\n"
    "const struct tkw_allocator allocator = {.allocate = allocate,\n"
    "                                        .release = release};\n"
    "\n"
    "/* Now and then the next few armings must do without any memory. */\n"
    "void reserve(void)\n"
    "{\n"
    "    size_t n = 1 + arms / 32 % 8;\n"
    "\n"
    "    memory = SCARCE;\n"
    "    if (arms % 32 == 0 && tkw_pool_reserve(pool, n) == 0)\n"
    "        reserved = n;\n"
    "    memory = PLENTY;\n"
    "}\n"
    "\n"
    "/* Do it with too little memory, and if that fails, with enough. */\n"
    "int insist(int (*try)(size_t, tkw_tick), size_t id, tkw_tick tick)\n"
    "{\n"
    "    memory = reserved > 0 ? NO_MEMORY : SCARCE;\n"
    "    int result = try(id, tick);\n"
    "    assert(reserved == 0 || result != -ENOMEM);\n"
    "    reserved -= reserved > 0;\n"
    "    memory = PLENTY;\n"
    "    return result == -ENOMEM ? try(id, tick) : result;\n"
    "}\n"
    "\n";

static const char enough_memory[] =
    "void reserve(void)\n"
    "{\n"
    "}\n"
    "\n"
    "int insist(int (*try)(size_t, tkw_tick), size_t id, tkw_tick tick)\n"
    "{\n"
    "    return try(id, tick);\n"
    "}\n"
    "\n";

static const char moves[] =
    "int try_arm(size_t id, tkw_tick deadline)\n"
    "{\n"
    "    struct tkw_user user = {.word = id};\n"
    "    int result = tkw_pool_rearm(pool, handles[id], deadline);\n"
    "\n"
    "    if (result != 0)\n"
    "        return result;\n"
    "    return tkw_pool_arm(pool, &handles[id], deadline, user);\n"
    "}\n"
    "\n"
    "void arm(size_t id, tkw_tick deadline)\n"
    "{\n"
    "    arms++;\n"
    "    if (arms % 4 == 0 &&\n"
    "        tkw_pool_query(pool, handles[id], NULL) == TKW_KEPT)\n"
    "        tkw_pool_cancel(pool, handles[id]);\n"
    "    reserve();\n"
    "    assert(insist(try_arm, id, deadline) >= 0);\n"
    "}\n"
    "\n"
    "int try_postpone(size_t id, tkw_tick deadline)\n"
    "{\n"
    "    return tkw_pool_postpone(pool, handles[id], deadline);\n"
    "}\n"
    "\n"
    "bool postpone(size_t id, tkw_tick deadline)\n"
    "{\n"
    "    struct tkw_pool_timer timer = {.deadline = 0};\n"
    "    enum tkw_state state = tkw_pool_query(pool, handles[id], &timer);\n"
    "\n"
    "    if (state == TKW_READY || state == TKW_PENDING)\n"
    "        return insist(try_postpone, id, deadline);\n"
    "    return try_postpone(id, deadline);\n"
    "}\n"
    "\n"
    "bool is_armed(size_t id)\n"
    "{\n"
    "    enum tkw_state state = tkw_pool_query(pool, handles[id], NULL);\n"
    "\n"
    "    return state == TKW_PENDING || state == TKW_READY;\n"
    "}\n"
    "\n";

static const char takes[] =
    "size_t pop(void)\n"
    "{\n"
    "    struct tkw_pool_timer timer = {.user = {.word = NONE}};\n"
    "\n"
    "    if (pops % 3 == 0)\n"
    "        tkw_pool_pop(pool, &timer);\n"
    "    else if (pops % 3 == 1)\n"
    "        tkw_pool_pop_keep(pool, &timer);\n"
    "    else\n"
    "        tkw_pool_pop_many(pool, &timer, 1);\n"
    "    pops++;\n"
    "    return timer.user.word;\n"
    "}\n"
    "\n"
    "size_t drain(void)\n"
    "{\n"
    "    struct tkw_pool_timer timer;\n"
    "\n"
    "    return tkw_pool_drain(pool, &timer) ? timer.user.word : NONE;\n"
    "}\n"
    "\n";

static const char walk[] =
    "/* Walk all; cancel those whose number `divisor` divides. */\n"
    "size_t walk(size_t divisor)\n"
    "{\n"
    "    struct tkw_pool_cursor state = {0};\n"
    "    size_t visited = 0;\n"
    "\n"
    "    for (struct tkw_pool_timer timer; tkw_pool_walk(pool, &state, "
    "&timer);\n"
    "         visited++)\n"
    "        if (divisor != 0 && timer.user.word % divisor == 0)\n"
    "            tkw_pool_cancel(pool, timer.handle);\n"
    "    return visited;\n"
    "}\n"
    "\n";

/* Of the functions none is static: not all of them are used. */
static void write_begin(FILE *out, const struct world *world)
{
    fprintf(out,
            "#include <errno.h>\n"
            "#include <stdlib.h>\n"
            "\n"
            "#include <tickwheel/pool.h>\n"
            "\n"
            "#define NONE SIZE_MAX\n"
            "\n"
            "struct tkw_pool *pool;\n"
            "tkw_handle handles[%zu];\n"
            "unsigned arms, pops;\n"
            "\n",
            world->timer_count);
}

static void write_functions(FILE *out, bool has_walks)
{
    fputs(moves, out);
    fputs(takes, out);
    if (has_walks)
        fputs(walk, out);
}

static void write_main(FILE *out, const struct world *world,
                       const char *allocator)
{
    fputs("int main(void)\n"
          "{\n",
          out);
    common_write_geometry(out, &world->geometry);
    fprintf(out,
            "    struct tkw_pool_config config = {\n"
            "        .geometry = geometry,\n"
            "        .start = UINT64_C(%" PRIu64 "),\n"
            "        .allocator = %s,\n"
            "    };\n"
            "\n",
            world->start, allocator);
}

static void write_preamble(FILE *out, const struct world *world, bool has_walks)
{
    write_begin(out, world);
    fputs(enough_memory, out);
    write_functions(out, has_walks);
    write_main(out, world, "NULL");
    fputs("    assert(tkw_pool_open(&pool, &config) == 0);\n"
          "\n",
          out);
}

static void write_oom_preamble(FILE *out, const struct world *world,
                               bool has_walks)
{
    write_begin(out, world);
    fprintf(out, "uint64_t memory_state = UINT64_C(%" PRIu64 ");\n\n",
            world->seed);
    fputs(scarce_memory, out);
    write_functions(out, has_walks);
    write_main(out, world, "&allocator");
    fputs("    memory = SCARCE;\n"
          "    int error = tkw_pool_open(&pool, &config);\n"
          "    memory = PLENTY;\n"
          "    assert(error == 0 || tkw_pool_open(&pool, &config) == 0);\n"
          "\n",
          out);
}

static void write_timer(FILE *out, uint64_t id)
{
    if (id == NO_TIMER)
        fputs("NONE", out);
    else
        fprintf(out, "%" PRIu64, id);
}

/* Calls of a timer, or of none. */
static void write_own(FILE *out, struct call call)
{
    switch (call.kind) {
    case CALL_ARM:
    case CALL_POSTPONE:
        fprintf(out, "%s(%" PRIu64 ", UINT64_C(%" PRIu64 "))",
                call.kind == CALL_ARM ? "arm" : "postpone", call.id, call.tick);
        break;
    case CALL_CANCEL:
        fprintf(out, "tkw_pool_cancel(pool, handles[%" PRIu64 "])", call.id);
        break;
    case CALL_IS_ARMED:
        fprintf(out, "is_armed(%" PRIu64 ")", call.id);
        break;
    case CALL_WALK:
        fprintf(out, "walk(%" PRIu64 ")", call.id);
        break;
    case CALL_POP:
        fputs("pop()", out);
        break;
    default:
        fputs("drain()", out);
        break;
    }
}

static void write_call(FILE *out, struct call call)
{
    static const char *const plain[] = {
        [CALL_CHECK] = "check",
        [CALL_NOW] = "now",
        [CALL_NEXT] = "next",
        [CALL_COUNT] = "count",
    };

    switch (call.kind) {
    case CALL_ARM:
    case CALL_POSTPONE:
    case CALL_CANCEL:
    case CALL_IS_ARMED:
    case CALL_WALK:
    case CALL_POP:
    case CALL_DRAIN:
        write_own(out, call);
        break;
    case CALL_ADVANCE:
        fprintf(out, "tkw_pool_advance(pool, UINT64_C(%" PRIu64 "))",
                call.tick);
        break;
    case CALL_ADVANCE_SOME:
        fprintf(out, "tkw_pool_advance_some(pool, UINT64_C(%" PRIu64 "), %zu)",
                call.tick, call.budget);
        break;
    case CALL_CHECK:
    case CALL_NOW:
    case CALL_NEXT:
    case CALL_COUNT:
        fprintf(out, "tkw_pool_%s(pool)", plain[call.kind]);
        break;
    case CALL_DEAD:
        fputs("tkw_pool_read_stats(pool).dead", out);
        break;
    default:
        common_write_counter(out, "tkw_pool_read_stats(pool).work", call.kind);
        break;
    }
}

static void write_epilogue(FILE *out)
{
    fputs("    tkw_pool_close(pool);\n"
          "    return 0;\n"
          "}\n",
          out);
}

const struct engine_text engine_pool_text = {
    .write_preamble = write_preamble,
    .write_call = write_call,
    .write_timer = write_timer,
    .write_epilogue = write_epilogue,
};

const struct engine_text engine_pool_oom_text = {
    .write_preamble = write_oom_preamble,
    .write_call = write_call,
    .write_timer = write_timer,
    .write_epilogue = write_epilogue,
};
