/*
 * engine_payload_text.c - a reproducer in the words of src/pool/payload.h.
 *
 * Its functions make the calls of engine_payload.c in the same order.  The
 * reproducer includes private headers, whose folder must be an include path.
 */
#include "engine_common.h"

#include <inttypes.h>

static const char types[] =
    "#define NONE SIZE_MAX\n"
    "\n"
    "enum ownership { OWN_NONE, OWN_ARMED, OWN_TAKEN, OWN_GIVEN_UP };\n"
    "\n"
    "struct tkw_pool *pool;\n"
    "uint64_t given_up, drained, fired_given_up;\n"
    "size_t drain_at, reserved;\n"
    "unsigned arms, pops, cancels;\n"
    "bool is_unfinished;\n"
    "struct {\n"
    "    uint32_t index;\n"
    "    tkw_tick deadline;\n"
    "    enum ownership ownership;\n"
    "} timers[COUNT];\n"
    "\n"
    "/* One call in eight fails while `memory` is SCARCE. */\n"
    "enum { PLENTY, SCARCE, NO_MEMORY } memory;\n"
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
    "/* The model calls it after every operation, here it is called before. "
    "*/\n"
    "tkw_tick next(void);\n"
    "\n"
    "struct record *record_of(uint32_t index)\n"
    "{\n"
    "    char *segment = tkw__pool_segments(pool)[index >> TKW_SEGMENT_BITS];\n"
    "    size_t at = index & (SEGMENT_RECORDS - 1);\n"
    "    return (struct record *)(void *)(segment + at * CELL_BYTES);\n"
    "}\n"
    "\n"
    "uint64_t *payload_of(uint32_t index)\n"
    "{\n"
    "    return (uint64_t *)(void *)(record_of(index) + 1);\n"
    "}\n"
    "\n"
    "tkw_handle handle_of(size_t id)\n"
    "{\n"
    "    uint32_t index = timers[id].index;\n"
    "    return (record_of(index)->word & WORD_GENERATION) | index;\n"
    "}\n"
    "\n";

static const char moves[] =
    "int try_arm(size_t id, tkw_tick deadline)\n"
    "{\n"
    "    uint32_t *index = &timers[id].index;\n"
    "    if (timers[id].ownership == OWN_ARMED)\n"
    "        return tkw_pool_rearm(pool, handle_of(id), deadline);\n"
    "    if (timers[id].ownership != OWN_TAKEN) {\n"
    "        int error = tkw__pool_take(pool, 0, index);\n"
    "        if (error != 0)\n"
    "            return error;\n"
    "        payload_of(*index)[0] = 0;\n"
    "        record_of(*index)->user.word = id;\n"
    "        timers[id].ownership = OWN_TAKEN;\n"
    "    }\n"
    "    return tkw__pool_arm_taken(pool, *index, deadline);\n"
    "}\n"
    "\n"
    "int try_postpone(size_t id, tkw_tick deadline)\n"
    "{\n"
    "    return tkw_pool_postpone(pool, handle_of(id), deadline);\n"
    "}\n"
    "\n"
    "/* Try with too little memory, and if that fails, with enough. */\n"
    "void insist(int (*try)(size_t, tkw_tick), size_t id, tkw_tick tick)\n"
    "{\n"
    "    memory = reserved > 0 ? NO_MEMORY : SCARCE;\n"
    "    int result = try(id, tick);\n"
    "    assert(reserved == 0 || result != -ENOMEM);\n"
    "    reserved -= reserved > 0;\n"
    "    memory = PLENTY;\n"
    "    assert(result >= 0 || try(id, tick) >= 0);\n"
    "    timers[id].ownership = OWN_ARMED;\n"
    "    timers[id].deadline = tick;\n"
    "}\n"
    "\n"
    "void release_timer(size_t id, bool was_given_up)\n"
    "{\n"
    "    tkw__pool_free(pool, timers[id].index, was_given_up);\n"
    "    timers[id].ownership = OWN_NONE;\n"
    "}\n"
    "\n"
    "void arm(size_t id, tkw_tick deadline)\n"
    "{\n"
    "    next();\n"
    "    size_t n = 1 + ++arms / 32 % 8;\n"
    "    if (timers[id].ownership == OWN_TAKEN && arms % 4 == 0)\n"
    "        release_timer(id, false);\n"
    "    memory = SCARCE;\n"
    "    if (arms % 32 == 0 &&\n"
    "        tkw__pool_reserve(pool, n, n, POOL_RECLAIM_STEPS) == 0)\n"
    "        reserved = n;\n"
    "    insist(try_arm, id, deadline);\n"
    "}\n"
    "\n"
    "bool postpone(size_t id, tkw_tick deadline)\n"
    "{\n"
    "    next();\n"
    "    if (timers[id].ownership != OWN_ARMED)\n"
    "        return false;\n"
    "    insist(try_postpone, id, deadline);\n"
    "    return true;\n"
    "}\n"
    "\n"
    "bool stop(size_t id)\n"
    "{\n"
    "    bool was_armed = timers[id].ownership == OWN_ARMED;\n"
    "    if (timers[id].ownership == OWN_TAKEN)\n"
    "        release_timer(id, false);\n"
    "    if (!was_armed)\n"
    "        return false;\n"
    "    unsigned way = cancels++ % 6;\n"
    "    timers[id].ownership = OWN_GIVEN_UP;\n"
    "    if (way != 4) {\n"
    "        payload_of(timers[id].index)[0] |= PAYLOAD_GIVEN_UP;\n"
    "        given_up++;\n"
    "    }\n"
    "    if (way >= 4)\n"
    "        release_timer(id, way == 5);\n"
    "    return true;\n"
    "}\n"
    "\n"
    "bool cancel(size_t id)\n"
    "{\n"
    "    next();\n"
    "    return stop(id);\n"
    "}\n"
    "\n"
    "bool is_armed(size_t id)\n"
    "{\n"
    "    return timers[id].ownership == OWN_ARMED;\n"
    "}\n"
    "\n";

static const char takes[] =
    "bool advance(tkw_tick now, size_t budget)\n"
    "{\n"
    "    next();\n"
    "    is_unfinished = !tkw_pool_advance_some(pool, now, budget);\n"
    "    return !is_unfinished;\n"
    "}\n"
    "\n"
    "size_t end(uint32_t index)\n"
    "{\n"
    "    size_t id = record_of(index)->user.word;\n"
    "    timers[id].ownership = OWN_TAKEN;\n"
    "    if (pops++ % 3 != 0)\n"
    "        release_timer(id, false);\n"
    "    return id;\n"
    "}\n"
    "\n"
    "size_t pop(void)\n"
    "{\n"
    "    next();\n"
    "    struct taken_timer taken;\n"
    "    struct tkw_pool_timer popped;\n"
    "    if (tkw__pool_take_due(pool, &taken, 1) != 0)\n"
    "        return end(taken.index);\n"
    "    while (tkw_pool_pop_keep(pool, &popped)) {\n"
    "        uint32_t index = (uint32_t)popped.handle;\n"
    "        if ((payload_of(index)[0] & PAYLOAD_GIVEN_UP) == 0)\n"
    "            return end(index);\n"
    "        tkw__pool_free(pool, index, true);\n"
    "        fired_given_up++;\n"
    "    }\n"
    "    return NONE;\n"
    "}\n"
    "\n"
    "size_t drain(void)\n"
    "{\n"
    "    next();\n"
    "    for (size_t i = 0; i < COUNT; i++) {\n"
    "        size_t id = drain_at++ % COUNT;\n"
    "        if (timers[id].ownership == OWN_ARMED) {\n"
    "            release_timer(id, false);\n"
    "            drained++;\n"
    "            return id;\n"
    "        }\n"
    "    }\n"
    "    return NONE;\n"
    "}\n"
    "\n"
    "/* Walk all; cancel those whose number `divisor` divides. */\n"
    "size_t walk(size_t divisor)\n"
    "{\n"
    "    next();\n"
    "    struct tkw_pool_cursor state = {0};\n"
    "    size_t visited = 0;\n"
    "    for (struct tkw_pool_timer timer;\n"
    "         tkw_pool_walk(pool, &state, &timer);) {\n"
    "        uint32_t index = (uint32_t)timer.handle;\n"
    "        if (payload_of(index)[0] & PAYLOAD_GIVEN_UP)\n"
    "            continue;\n"
    "        if (divisor != 0 && timer.user.word % divisor == 0)\n"
    "            stop(timer.user.word);\n"
    "        visited++;\n"
    "    }\n"
    "    return visited;\n"
    "}\n"
    "\n";

static const char counts[] =
    "bool has_due(void)\n"
    "{\n"
    "    for (size_t i = 0; i < COUNT; i++)\n"
    "        if (is_armed(i) && timers[i].deadline <= tkw_pool_now(pool) &&\n"
    "            timers[i].deadline != TKW_NEVER)\n"
    "            return true;\n"
    "    return false;\n"
    "}\n"
    "\n"
    "tkw_tick next(void)\n"
    "{\n"
    "    tkw_tick now = tkw_pool_now(pool);\n"
    "    struct taken_timer taken;\n"
    "    if (tkw_pool_next(pool) <= now && now != TKW_NEVER &&\n"
    "        !is_unfinished && !has_due()) {\n"
    "        tkw_pool_advance(pool, now);\n"
    "        assert(tkw__pool_take_due(pool, &taken, 1) == 0);\n"
    "    }\n"
    "    return tkw_pool_next(pool);\n"
    "}\n"
    "\n"
    "size_t count(void)\n"
    "{\n"
    "    return tkw_pool_count(pool) - tkw__pool_count_given_up(pool);\n"
    "}\n"
    "\n"
    "struct tkw_wheel_stats work(void)\n"
    "{\n"
    "    struct tkw_wheel_stats work = tkw_pool_read_stats(pool).work;\n"
    "    work.fired -= fired_given_up;\n"
    "    work.cancelled += tkw__pool_count_given_up(pool) + fired_given_up;\n"
    "    work.cancelled -= drained;\n"
    "    work.drained = drained;\n"
    "    return work;\n"
    "}\n"
    "\n";

static void write_preamble(FILE *out, const struct world *world, bool has_walks)
{
    (void)has_walks; /* of the functions none is static: some are not used */
    fprintf(out,
            "#include <errno.h>\n"
            "#include <stdlib.h>\n"
            "\n"
            "#include \"pool/ahead.h\"\n"
            "#include \"pool/payload.h\"\n"
            "\n"
            "#define COUNT %zu\n"
            "uint64_t memory_state = UINT64_C(%" PRIu64 ");\n",
            world->timer_count, world->seed);
    fputs(types, out);
    fputs(moves, out);
    fputs(takes, out);
    fputs(counts, out);
    fputs("int main(void)\n{\n", out);
    common_write_geometry(out, &world->geometry);
    fprintf(out,
            "    struct tkw_pool_config config = {\n"
            "        .geometry = geometry,\n"
            "        .start = UINT64_C(%" PRIu64 "),\n"
            "        .allocator = &allocator,\n"
            "    };\n"
            "\n"
            "    memory = SCARCE;\n"
            "    int error = tkw__pool_open_payload(&pool, &config, "
            "&given_up);\n"
            "    memory = PLENTY;\n"
            "    assert(error == 0 ||\n"
            "           tkw__pool_open_payload(&pool, &config, &given_up) == "
            "0);\n"
            "\n",
            world->start);
}

static void write_timer(FILE *out, uint64_t id)
{
    if (id == NO_TIMER)
        fputs("NONE", out);
    else
        fprintf(out, "%" PRIu64, id);
}

/* Write a call that takes the number of a timer or none. */
static bool write_own(FILE *out, struct call call)
{
    static const char *const calls[] = {
        [CALL_ARM] = "arm",           [CALL_POSTPONE] = "postpone",
        [CALL_CANCEL] = "cancel",     [CALL_WALK] = "walk",
        [CALL_IS_ARMED] = "is_armed",
    };

    switch (call.kind) {
    case CALL_ARM:
    case CALL_POSTPONE:
        fprintf(out, "%s(%" PRIu64 ", UINT64_C(%" PRIu64 "))", calls[call.kind],
                call.id, call.tick);
        return true;
    case CALL_CANCEL:
    case CALL_WALK:
    case CALL_IS_ARMED:
        fprintf(out, "%s(%" PRIu64 ")", calls[call.kind], call.id);
        return true;
    default:
        return false;
    }
}

static void write_call(FILE *out, struct call call)
{
    if (write_own(out, call))
        return;
    switch (call.kind) {
    case CALL_ADVANCE:
        fprintf(out, "advance(UINT64_C(%" PRIu64 "), SIZE_MAX)", call.tick);
        break;
    case CALL_ADVANCE_SOME:
        fprintf(out, "advance(UINT64_C(%" PRIu64 "), %zu)", call.tick,
                call.budget);
        break;
    case CALL_POP:
        fputs("pop()", out);
        break;
    case CALL_DRAIN:
        fputs("drain()", out);
        break;
    case CALL_CHECK:
        fputs("tkw_pool_check(pool)", out);
        break;
    case CALL_NOW:
        fputs("tkw_pool_now(pool)", out);
        break;
    case CALL_NEXT:
        fputs("next()", out);
        break;
    case CALL_COUNT:
        fputs("count()", out);
        break;
    case CALL_DEAD:
        fputs("(tkw_pool_read_stats(pool).entries - count())", out);
        break;
    default:
        common_write_counter(out, "work()", call.kind);
        break;
    }
}

static void write_epilogue(FILE *out)
{
    fputs("    next();\n"
          "    tkw_pool_close(pool);\n"
          "    return 0;\n"
          "}\n",
          out);
}

const struct engine_text engine_payload_text = {
    .write_preamble = write_preamble,
    .write_call = write_call,
    .write_timer = write_timer,
    .write_epilogue = write_epilogue,
};
