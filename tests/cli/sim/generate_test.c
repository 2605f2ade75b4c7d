/*
 * cli/sim/generate_test.c - traces that were made up, and written down.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <float.h>

#include "trace_support.h"

static const char *const kinds[] = {"burst", "requests", "idle"};

static struct load_settings settings_of(const char *kind)
{
    return (struct load_settings){
        .kind = load_find(kind),
        .task_count = 2000,
        .delay_ms = 1000,
        .seed = 7,
    };
}

static struct trace generated(const struct load_settings *settings)
{
    struct trace trace;
    assert_int_equal(trace_generate(&trace, settings), 0);
    return trace;
}

static uint64_t count_of(const struct trace *trace, enum trace_kind kind)
{
    uint64_t count = 0;
    for (size_t i = 0; i < trace->op_count; i++)
        count += trace->ops[i].kind == kind;
    return count;
}

static void a_generated_trace_is_what_the_load_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct load_settings settings = settings_of(kinds[i]);
        struct trace trace = generated(&settings);
        struct load load;
        assert_int_equal(load_open(&load, &settings), 0);
        assert_true(load_run(&load, load.end, DBL_MAX));
        assert_int_equal(count_of(&trace, TRACE_ARM), load.arm.count);
        assert_int_equal(count_of(&trace, TRACE_POSTPONE), load.postpone.count);
        assert_int_equal(count_of(&trace, TRACE_CANCEL), load.cancel.count);
        assert_int_equal(count_of(&trace, TRACE_ADVANCE), 0);
        load_close(&load);
        trace_close(&trace);
    }
}

static void a_generated_trace_begins_at_0_and_arms_a_delay_ahead(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct load_settings settings = settings_of(kinds[i]);
        struct trace trace = generated(&settings);
        tkw_tick time = 0;
        assert_int_equal(trace.start, 0);
        assert_int_equal(trace.ops[0].time, 0);
        assert_int_equal(trace.key_count, settings.task_count);
        for (size_t j = 0; j < trace.op_count; j++) {
            const struct trace_op *op = &trace.ops[j];
            bool is_cancel = op->kind == TRACE_CANCEL;
            assert_true(op->time >= time);
            assert_int_equal(op->deadline, is_cancel ? 0 : op->time + 1000);
            time = op->time;
        }
        trace_close(&trace);
    }
}

static void assert_same_ops(const struct trace *one, const struct trace *other)
{
    assert_int_equal(one->op_count, other->op_count);
    assert_int_equal(one->key_count, other->key_count);
    assert_int_equal(one->start, other->start);
    for (size_t i = 0; i < one->op_count; i++)
        assert_op(one, i, other->ops[i]);
}

/* Or geometries would be compared by different loads. */
static void a_generated_trace_is_the_same_for_every_geometry(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct load_settings settings = settings_of(kinds[i]);
        struct trace one = generated(&settings);
        settings.geometry =
            (struct tkw_geometry){.sizes = {7}, .beyond = TKW_ROUNDS};
        struct trace other = generated(&settings);
        assert_same_ops(&one, &other);
        trace_close(&one);
        trace_close(&other);
    }
}

static void what_was_written_reads_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct load_settings settings = settings_of(kinds[i]);
        struct trace one = generated(&settings), other;
        struct trace_fault fault;
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_true(trace_write(&one, file));
        rewind(file);
        assert_int_equal(trace_read(&other, file, "", 0, NULL, NULL, &fault),
                         0);
        assert_same_ops(&one, &other);
        fclose(file);
        trace_close(&one);
        trace_close(&other);
    }
}

/* Its times are ticks: read again, they must not be divided once more. */
static void what_was_written_is_in_ticks(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE("# tick 10\n"
                                         "55,arm,one,18446744073709551615\n"
                                         "70,advance,,\n"
                                         "85,postpone,one,91\n"
                                         "95,cancel,one,\n"));
    char text[200] = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(trace_write(&trace, file));
    rewind(file);
    assert_int_not_equal(fread(text, 1, sizeof text - 1, file), 0);
    assert_string_equal(text, "# in ticks of 10 units\n"
                              "time,operation,key,deadline\n"
                              "5,arm,0,18446744073709551615\n"
                              "7,advance,,\n"
                              "8,postpone,0,10\n"
                              "9,cancel,0,\n");
    fclose(file);
    struct trace again = trace_of((struct sample){text, strlen(text)});
    assert_same_ops(&trace, &again);
    trace_close(&again);
    trace_close(&trace);
}

/* There is room for a few lines, and the trace has more. */
static void a_full_disk_is_noticed(void **state)
{
    (void)state;
    struct load_settings settings = settings_of("burst");
    struct trace trace = generated(&settings);
    char room[100];
    FILE *file = fmemopen(room, sizeof room, "w");
    assert_non_null(file);
    assert_false(trace_write(&trace, file));
    fclose(file);
    trace_close(&trace);

    /* Even if all of it fits the buffer, and only flushing it fails. */
    trace = trace_of(SAMPLE("0,arm,one,1\n"));
    file = fmemopen(room, 8, "w");
    assert_non_null(file);
    assert_false(trace_write(&trace, file));
    fclose(file);
    trace_close(&trace);
}

/* Of the load, and of the trace that grows meanwhile. */
static void a_load_that_memory_is_short_for_leaves_nothing_behind(void **state)
{
    (void)state;
    struct load_settings settings = settings_of("requests");
    struct trace trace;
    int error = -ENOMEM;
    for (allocations_left = 0; error != 0; allocations_left++) {
        long count = allocations_left;
        error = trace_generate(&trace, &settings);
        allocations_left = count;
        if (error == 0)
            break;
        assert_int_equal(error, -ENOMEM);
        assert_null(trace.ops);
    }
    assert_true(allocations_left >= 4 + 3);
    allocations_left = -1;
    trace_close(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_generated_trace_is_what_the_load_does),
        cmocka_unit_test(a_generated_trace_begins_at_0_and_arms_a_delay_ahead),
        cmocka_unit_test(a_generated_trace_is_the_same_for_every_geometry),
        cmocka_unit_test(what_was_written_reads_the_same),
        cmocka_unit_test(what_was_written_is_in_ticks),
        cmocka_unit_test(a_full_disk_is_noticed),
        cmocka_unit_test(a_load_that_memory_is_short_for_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
