/*
 * cli/sim/reproducer_test.c - programs that the model test wrote, read as
 * traces.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>

#include "trace_support.h"

/* What stands before the calls, and behind them. */
#define HEAD                                                     \
    "/*\n"                                                       \
    " * model --engine wheel --seed 1 --case 0\n"                \
    " */\n"                                                      \
    "#undef NDEBUG\n"                                            \
    "#include <assert.h>\n"                                      \
    "\n"                                                         \
    "int main(void)\n"                                           \
    "{\n"                                                        \
    "    struct tkw_geometry geometry = {.sizes = {3, 5, 7}};\n" \
    "    struct tkw_timer timers[8] = {{.deadline = 0}};\n"      \
    "    assert(wheel != NULL);\n"                               \
    "    assert(tkw_wheel_init(wheel, bytes, &geometry,\n"       \
    "                          UINT64_C(10)) == 0);\n"           \
    "\n"
#define TAIL             \
    "    free(wheel);\n" \
    "    return 0;\n"    \
    "}\n"

/* The first line of calls. */
#define FIRST_LINE "15"

static void calls_of_a_wheel_are_operations(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE(
        HEAD
        "    tkw_wheel_arm(wheel, &timers[5], UINT64_C(445));\n"
        "    tkw_wheel_arm(wheel, &timers[3], UINT64_C(12));\n"
        "    assert(tkw_wheel_postpone(wheel, &timers[5], UINT64_C(900)) == "
        "true);\n"
        "    tkw_wheel_advance(wheel, UINT64_C(20));\n"
        "    assert(tkw_wheel_pop(wheel) == &timers[3]);\n"
        "    assert(tkw_wheel_pop(wheel) == NULL);\n"
        "    assert(tkw_wheel_cancel(wheel, &timers[5]) == true);\n"
        "    assert(tkw_wheel_count(wheel) == UINT64_C(0));\n" TAIL));
    assert_int_equal(trace.op_count, 5);
    assert_op(&trace, 0, (struct trace_op){10, 445, 0, TRACE_ARM});
    assert_op(&trace, 1, (struct trace_op){10, 12, 1, TRACE_ARM});
    assert_op(&trace, 2, (struct trace_op){10, 900, 0, TRACE_POSTPONE});
    assert_op(&trace, 3, (struct trace_op){20, 0, 0, TRACE_ADVANCE});
    assert_op(&trace, 4, (struct trace_op){20, 0, 0, TRACE_CANCEL});
    assert_int_equal(trace.key_count, 2);
    assert_int_equal(trace.start, 10);
    assert_true(trace.has_geometry);
    assert_int_equal(trace.geometry.beyond, TKW_GROW);
    static const uint32_t sizes[TKW_SIZES_MAX] = {3, 5, 7};
    assert_memory_equal(trace.geometry.sizes, sizes, sizeof sizes);
    trace_close(&trace);
}

static void calls_of_a_pool_are_operations(void **state)
{
    (void)state;
    struct trace trace = trace_of(
        SAMPLE("/*\n */\n"
               "void arm(size_t id, tkw_tick deadline)\n"
               "{\n"
               "    assert(insist(try_arm, id, deadline) >= 0);\n"
               "}\n"
               "int main(void)\n"
               "{\n"
               "    struct tkw_geometry geometry = {.sizes = {512}, .beyond = "
               "TKW_ROUNDS};\n"
               "    struct tkw_pool_config config = {\n"
               "        .geometry = geometry,\n"
               "        .start = UINT64_C(7),\n"
               "        .allocator = &allocator,\n"
               "    };\n"
               "\n"
               "    memory = SCARCE;\n"
               "    int error = tkw_pool_open(&pool, &config);\n"
               "    memory = PLENTY;\n"
               "    assert(error == 0 || tkw_pool_open(&pool, &config) == 0);\n"
               "\n"
               "    arm(0, UINT64_C(9));\n"
               "    assert(postpone(0, UINT64_C(11)) == true);\n"
               "    assert(tkw_pool_cancel(pool, handles[0]) == true);\n"
               "    tkw_pool_advance(pool, UINT64_C(8));\n"
               "    arm(1, UINT64_C(9));\n"
               "    assert(drain() == 1);\n"
               "    assert(drain() == NONE);\n"
               "    pop(); /* here */\n"
               "    tkw_pool_close(pool);\n"
               "    return 0;\n"
               "}\n"));
    assert_int_equal(trace.op_count, 6);
    assert_op(&trace, 0, (struct trace_op){7, 9, 0, TRACE_ARM});
    assert_op(&trace, 1, (struct trace_op){7, 11, 0, TRACE_POSTPONE});
    assert_op(&trace, 2, (struct trace_op){7, 0, 0, TRACE_CANCEL});
    assert_op(&trace, 3, (struct trace_op){8, 0, 0, TRACE_ADVANCE});
    assert_op(&trace, 4, (struct trace_op){8, 9, 1, TRACE_ARM});
    assert_op(&trace, 5, (struct trace_op){8, 0, 1, TRACE_CANCEL});
    assert_int_equal(trace.start, 7);
    assert_int_equal(trace.geometry.sizes[0], 512);
    assert_int_equal(trace.geometry.beyond, TKW_ROUNDS);
    trace_close(&trace);
}

/* It cancels those that the program has armed, and no others. */
static void a_walk_cancels_what_its_number_divides(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE(
        HEAD "    tkw_wheel_arm(wheel, &timers[2], UINT64_C(445));\n"
             "    tkw_wheel_arm(wheel, &timers[3], UINT64_C(445));\n"
             "    tkw_wheel_arm(wheel, &timers[4], UINT64_C(445));\n"
             "    tkw_wheel_arm(wheel, &timers[6], UINT64_C(10));\n"
             "    tkw_wheel_arm(wheel, &timers[8], UINT64_C(445));\n"
             "    assert(tkw_wheel_pop(wheel) == &timers[6]);\n"
             "    assert(tkw_wheel_cancel(wheel, &timers[8]) == true);\n"
             "    assert(walk(wheel, timers, 0) == UINT64_C(3));\n"
             "    assert(walk(wheel, timers, 2) == UINT64_C(3));\n" TAIL));
    assert_int_equal(trace.op_count, 8);
    assert_op(&trace, 6, (struct trace_op){10, 0, 0, TRACE_CANCEL});
    assert_op(&trace, 7, (struct trace_op){10, 0, 2, TRACE_CANCEL});
    trace_close(&trace);
}

/* A replay has popped it, so to postpone it would do nothing. */
static void what_is_postponed_when_ready_is_armed_anew(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE(
        HEAD
        "    tkw_wheel_arm(wheel, &timers[0], UINT64_C(12));\n"
        "    tkw_wheel_advance(wheel, UINT64_C(12));\n"
        "    assert(tkw_wheel_postpone(wheel, &timers[0], UINT64_C(20)) == "
        "true);\n"
        "    tkw_wheel_advance(wheel, UINT64_C(20));\n"
        "    assert(tkw_wheel_pop(wheel) == &timers[0]);\n"
        "    assert(tkw_wheel_postpone(wheel, &timers[0], UINT64_C(30)) == "
        "false);\n" TAIL));
    assert_int_equal(trace.op_count, 5);
    assert_op(&trace, 2, (struct trace_op){12, 20, 0, TRACE_ARM});
    assert_op(&trace, 4, (struct trace_op){20, 30, 0, TRACE_POSTPONE});
    trace_close(&trace);
}

/* Until something is popped: then time has come to its deadline at least. */
static void time_stands_while_a_budget_ran_out(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE(
        HEAD
        "    tkw_wheel_arm(wheel, &timers[0], UINT64_C(12));\n"
        "    tkw_wheel_arm(wheel, &timers[1], UINT64_C(14));\n"
        "    assert(tkw_wheel_advance_some(wheel, UINT64_C(50), 1) == false);\n"
        "    tkw_wheel_arm(wheel, &timers[2], UINT64_C(60));\n"
        "    assert(tkw_wheel_postpone(wheel, &timers[1], UINT64_C(70)) == "
        "true);\n"
        "    assert(tkw_wheel_pop(wheel) == &timers[0]);\n"
        "    assert(tkw_wheel_cancel(wheel, &timers[2]) == true);\n"
        "    assert(tkw_wheel_advance_some(wheel, UINT64_C(40), 9) == "
        "true);\n" TAIL));
    assert_int_equal(trace.op_count, 6);
    assert_op(&trace, 2, (struct trace_op){10, 60, 2, TRACE_ARM});
    assert_op(&trace, 3, (struct trace_op){10, 70, 1, TRACE_POSTPONE});
    assert_op(&trace, 4, (struct trace_op){12, 0, 2, TRACE_CANCEL});
    assert_op(&trace, 5, (struct trace_op){40, 0, 0, TRACE_ADVANCE});
    trace_close(&trace);
}

static void plain_c_and_claims_do_not_matter(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE(
        HEAD
        "    {\n"
        "    /* No call tells this; see the first lines. */\n"
        "// nor this\n"
        "    /* and\n"
        "     * this */\n"
        "    }\n"
        "    tkw_wheel_arm(wheel, &timers[0], UINT64_C(12)); /* here */\n"
        "    assert(tkw_wheel_read_stats(wheel).falls +\n"
        "               tkw_wheel_read_stats(wheel).refiles +\n"
        "               tkw_wheel_read_stats(wheel).passes <= UINT64_C(5));\n"
        "    assert(tkw_timer_is_armed(&timers[0]) == true);\n"
        "    assert(tkw_wheel_now(wheel) == UINT64_C(10));\n" TAIL));
    assert_int_equal(trace.op_count, 1);
    assert_op(&trace, 0, (struct trace_op){10, 12, 0, TRACE_ARM});
    trace_close(&trace);
}

static void what_the_model_test_does_not_write_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "launch(3);",
        "tkw_wheel_arm(wheel, &timers[0]);",
        "tkw_wheel_arm(wheel, &timers[0], UINT64_C(",
        "tkw_wheel_arm(wheel, &timers[0], 0x10);",
        "tkw_wheel_arm;",
        "assert(tkw_wheel_pop(wheel) == &timers[0]",
        "/* twice */ tkw_wheel_pop(wheel);",
        "} tkw_wheel_pop(wheel);",
        "assert(x == 3);",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        char text[1000], fault[200];
        const char *line = lines[i];
        bool is_long = strlen(line) > 40;
        int length = snprintf(text, sizeof text, "%s%s\n%s", HEAD, line, TAIL);
        snprintf(fault, sizeof fault,
                 "load.csv, line " FIRST_LINE ": '%.*s%s' is not a line that "
                 "the model test writes",
                 is_long ? 37 : 40, line, is_long ? "..." : "");
        assert_fault((struct sample){text, (size_t)length}, -EINVAL, fault);
    }
}

static void a_wrong_reproducer_is_reported_with_its_line(void **state)
{
    (void)state;
    assert_fault(
        SAMPLE(HEAD "    tkw_wheel_advance(wheel, UINT64_C(9));\n" TAIL),
        -EINVAL,
        "load.csv, line " FIRST_LINE ": the time goes back from 10 to 9");
    assert_fault(SAMPLE(HEAD "    tkw_wheel_arm(wheel, &timers[0], "
                             "UINT64_C(12));\n"),
                 -EINVAL,
                 "load.csv, line " FIRST_LINE
                 ": the file is cut off: main() has no end");
    assert_fault(
        SAMPLE(HEAD "    assert(tkw_wheel_pop(wheel) == &timers[3]);\n" TAIL),
        -EINVAL,
        "load.csv, line " FIRST_LINE ": timer 3 is returned but is not armed");
    assert_fault(SAMPLE(HEAD TAIL), -EINVAL,
                 "load.csv, line 17: the file has no operation");
    assert_fault(
        SAMPLE("/* a letter */\n"), -EINVAL,
        "load.csv, line 1: the file has no main(): it is neither a trace nor a "
        "reproducer of the model test");
    assert_fault(
        SAMPLE("/**/\nint main(void)\n{\n    struct tkw_geometry "
               "geometry = {.sizes = {20, 1}};\n"),
        -EINVAL,
        "load.csv, line 4: a size is 1; give at least 2 slots to a level");
    assert_fault(SAMPLE("/**/\nint main(void)\n{\n    assert(tkw_wheel_init("
                        "wheel, bytes, &geometry, UINT64_C(1)) == 0);\n"),
                 -EINVAL,
                 "load.csv, line 4: the geometry or the start is missing "
                 "before this line");
}

static void a_reproducer_that_memory_is_short_for_leaves_nothing(void **state)
{
    (void)state;
    struct sample sample = {NULL, 0};
    char *text = NULL;
    FILE *file = open_memstream(&text, &sample.length);
    assert_non_null(file);
    fputs(HEAD, file);
    for (int i = 0; i < 2000; i++)
        fprintf(file, "tkw_wheel_arm(wheel, &timers[%d], UINT64_C(99));\n", i);
    fputs("assert(walk(wheel, timers, 1) == UINT64_C(2000));\n", file);
    fputs(TAIL, file);
    fclose(file);
    sample.text = text;
    assert_true(fail_each_allocation(sample) > 10);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_a_wheel_are_operations),
        cmocka_unit_test(calls_of_a_pool_are_operations),
        cmocka_unit_test(a_walk_cancels_what_its_number_divides),
        cmocka_unit_test(what_is_postponed_when_ready_is_armed_anew),
        cmocka_unit_test(time_stands_while_a_budget_ran_out),
        cmocka_unit_test(plain_c_and_claims_do_not_matter),
        cmocka_unit_test(what_the_model_test_does_not_write_is_refused),
        cmocka_unit_test(a_wrong_reproducer_is_reported_with_its_line),
        cmocka_unit_test(a_reproducer_that_memory_is_short_for_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
