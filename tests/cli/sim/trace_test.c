/*
 * cli/sim/trace_test.c - traces: what they say, what is wrong with them, and
 * those that were made up.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>

#include "trace_support.h"

#include "cli/sim/keys.h"

static void every_operation_is_read(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE("3,arm,one,445\n"
                                         "10,postpone,one,900\n"
                                         "10,arm,two,7\n"
                                         "12,cancel,one,\n"
                                         "1000,advance,,\n"));
    assert_int_equal(trace.op_count, 5);
    assert_op(&trace, 0, (struct trace_op){3, 445, 0, TRACE_ARM});
    assert_op(&trace, 1, (struct trace_op){10, 900, 0, TRACE_POSTPONE});
    assert_op(&trace, 2, (struct trace_op){10, 7, 1, TRACE_ARM});
    assert_op(&trace, 3, (struct trace_op){12, 0, 0, TRACE_CANCEL});
    assert_op(&trace, 4, (struct trace_op){1000, 0, 0, TRACE_ADVANCE});
    assert_int_equal(trace.key_count, 2);
    assert_int_equal(trace.start, 3);
    assert_int_equal(trace.unit, 1);
    assert_false(trace.has_geometry);
    trace_close(&trace);
    assert_null(trace.ops);
}

/* Where one recording was appended to another, and where there was no room. */
static void a_recording_can_begin_anew_and_have_holes(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE("# tick 10\n"
                                         "time,operation,key,deadline\n"
                                         "30,arm,a,40\n"
                                         "# 12 operations left out\n"
                                         "# tick 10\n"
                                         "time,operation,key,deadline\n"
                                         "50,arm,b,65\n"
                                         "# 3 operations left out\n"
                                         "# 7 operations left out, they say\n"
                                         "# operations left out\n"));
    assert_int_equal(trace.op_count, 2);
    assert_op(&trace, 1, (struct trace_op){5, 7, 1, TRACE_ARM});
    assert_int_equal(trace.unit, 10);
    assert_int_equal(trace.left_out, 15);
    trace_close(&trace);
}

/* A recording may begin when connections have been open for long. */
static void to_postpone_what_was_not_heard_of_arms_it(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE("3,postpone,one,445\n"
                                         "4,cancel,one,\n"
                                         "5,postpone,one,500\n"));
    assert_op(&trace, 0, (struct trace_op){3, 445, 0, TRACE_ARM});
    assert_op(&trace, 2, (struct trace_op){5, 500, 0, TRACE_POSTPONE});
    trace_close(&trace);
}

/* What people and programs put around the numbers does not matter. */
static void blanks_comments_and_names_of_columns_are_left_out(void **state)
{
    (void)state;
    struct trace trace =
        trace_of(SAMPLE("\xef\xbb\xbf# a comment, with commas\r\n"
                        "\r\n"
                        " time, operation ,key,\tdeadline\r\n"
                        "# ticks are long, and tickets dear\n"
                        "  7 ,\tarm , a key ,  9  \r\n"
                        "   \n"
                        "8,cancel,a key, \n"));
    assert_int_equal(trace.op_count, 2);
    assert_op(&trace, 0, (struct trace_op){7, 9, 0, TRACE_ARM});
    assert_op(&trace, 1, (struct trace_op){8, 0, 0, TRACE_CANCEL});
    assert_int_equal(trace.key_count, 1);
    trace_close(&trace);
}

/* Otherwise timers would fire before their time. */
static void times_are_rounded_down_and_deadlines_up(void **state)
{
    (void)state;
    struct trace trace = trace_of(SAMPLE("time,operation,key,deadline\n"
                                         "#tick 20\n"
                                         "123,arm,a,123\n"
                                         "140,arm,a,140\n"
                                         "140,arm,b,18446744073709551615\n"));
    assert_op(&trace, 0, (struct trace_op){6, 7, 0, TRACE_ARM});
    assert_op(&trace, 1, (struct trace_op){7, 7, 0, TRACE_ARM});
    assert_op(&trace, 2, (struct trace_op){7, TKW_NEVER, 1, TRACE_ARM});
    assert_int_equal(trace.start, 6);
    assert_int_equal(trace.unit, 20);
    trace_close(&trace);
}

static void
a_unit_that_is_asked_for_goes_before_the_one_in_the_file(void **state)
{
    (void)state;
    struct trace trace;
    struct trace_fault fault;
    FILE *file = file_of(SAMPLE("# tick 20\n100,arm,a,200\n"));
    assert_int_equal(trace_read(&trace, file, "", 50, NULL, NULL, &fault), 0);
    assert_op(&trace, 0, (struct trace_op){2, 4, 0, TRACE_ARM});
    assert_int_equal(trace.unit, 50);
    fclose(file);
    trace_close(&trace);
}

static const struct {
    struct sample sample;
    const char *fault;
} wrong[] = {
#define WRONG(text, fault)                           \
    {                                                \
        {(text), sizeof(text) - 1}, "load.csv" fault \
    }
    WRONG("", ": the file has no operation"),
    WRONG("# nothing\n\n", ", line 2: the file has no operation"),
    WRONG("0,arm,a,1\n5,arm,b,7",
          ", line 2: the file is cut off: its last line does not end in a "
          "newline"),
    WRONG("0,start,a,1\n", ", line 1: the operation is 'start'; give arm, "
                           "postpone, cancel or advance"),
    WRONG("0,ARM,a,1\n", ", line 1: the operation is 'ARM'; give arm, "
                         "postpone, cancel or advance"),
    WRONG("\n0,arm\n", ", line 2: the line has 2 fields; give 4: "
                       "time,operation,key,deadline"),
    WRONG("hello\n", ", line 1: the line has 1 field; give 4: "
                     "time,operation,key,deadline"),
    WRONG("0,cancel,a,,\n", ", line 1: the line has 5 fields; give 4: "
                            "time,operation,key,deadline"),
    WRONG("-1,arm,a,1\n", ", line 1: the time '-1' is not a whole number"),
    WRONG(",arm,a,1\n", ", line 1: the time is missing; give a whole number"),
    WRONG("0,arm,a,1.5\n", ", line 1: the deadline '1.5' is not a whole "
                           "number"),
    WRONG("18446744073709551616,arm,a,1\n",
          ", line 1: the time '18446744073709551616' is more than "
          "18446744073709551615"),
    WRONG("0,arm,a,99999999999999999999999\n",
          ", line 1: the deadline '99999999999999999999999' is more than "
          "18446744073709551615"),
    WRONG("10,arm,a,20\n# late\n9,cancel,a,\n",
          ", line 3: the time goes back from 10 to 9"),
    WRONG("0,arm,,1\n", ", line 1: arm needs a key"),
    WRONG("0,postpone, ,1\n", ", line 1: postpone needs a key"),
    WRONG("0,cancel,,\n", ", line 1: cancel needs a key"),
    WRONG("0,advance,a,\n", ", line 1: advance takes no key; remove 'a'"),
    WRONG("0,arm,a,\n", ", line 1: arm needs a deadline"),
    WRONG("0,postpone,a,\n", ", line 1: postpone needs a deadline"),
    WRONG("0,cancel,a,5\n", ", line 1: cancel takes no deadline; remove '5'"),
    WRONG("0,advance,,5\n", ", line 1: advance takes no deadline; remove '5'"),
    WRONG("# tick 0\n",
          ", line 1: # tick is '0'; give a whole number from 1 to "
          "18446744073709551615"),
    WRONG("# tick\n", ", line 1: # tick is ''; give a whole number from 1 to "
                      "18446744073709551615"),
    WRONG("# tick 5 ms\n",
          ", line 1: # tick is '5 ms'; give a whole number from 1 "
          "to 18446744073709551615"),
    WRONG("# tick 5\n0,arm,a,1\n# tick 6\n",
          ", line 3: # tick is 6 here and 5 before; give one number"),
    WRONG("0,arm,a,1\n# tick 5\n",
          ", line 2: # tick follows an operation; put it before the first"),
    WRONG("0,arm,a\0b,1\n", ", line 1: the line has control characters: "
                            "this is not a text file"),
    WRONG("0,arm,a,1\n\177ELF\1\1", ", line 2: the line has control "
                                    "characters: this is not a text file"),
    WRONG("0,arm,a,1\r5,arm,a,2\r\n",
          ", line 1: the line has control characters: this is not a text file"),
    WRONG("0,arm,a,1\ntime,operation,key,due\n",
          ", line 2: the time 'time' is not a whole number"),
    WRONG("0,an operation of the user\xc3\xbc that is longer,a,1\n",
          ", line 1: the operation is 'an operation of the user?? that is "
          "lo...'; give arm, postpone, cancel or advance"),
};

static void an_error_is_reported_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_fault(wrong[i].sample, -EINVAL, wrong[i].fault);
}

static void a_key_may_have_255_bytes_and_no_more(void **state)
{
    (void)state;
    char text[300];
    int length = snprintf(text, sizeof text, "0,arm,%0255d,1\n", 7);
    struct trace trace = trace_of((struct sample){text, (size_t)length});
    assert_int_equal(trace.key_count, 1);
    trace_close(&trace);

    length = snprintf(text, sizeof text, "0,arm,%0256d,1\n", 7);
    assert_fault((struct sample){text, (size_t)length}, -EINVAL,
                 "load.csv, line 1: the key "
                 "'0000000000000000000000000000000000000...' has 256 bytes; "
                 "give at most 255");
}

/* However long its name and its numbers are, it ends within its room. */
static void a_complaint_fits_a_line_and_keeps_the_end_of_the_name(void **state)
{
    (void)state;
    char name[300];
    struct trace trace;
    struct trace_fault fault;
    snprintf(name, sizeof name, "%0250d/\n\xc3\xbc.csv", 0);
    FILE *file = file_of(SAMPLE("0,an operation that is as long as it can be "
                                "quoted,a,1\n"));
    assert_int_equal(trace_read(&trace, file, name, 0, NULL, NULL, &fault),
                     -EINVAL);
    assert_ptr_equal(strstr(fault.text, "...0000"), fault.text);
    assert_non_null(strstr(fault.text, "000/?\xc3\xbc.csv, line 1: the "));
    assert_non_null(strstr(fault.text, " cancel or advance"));
    fclose(file);
}

/* Text for a trace of `count` lines, which the caller frees. */
static struct sample many_lines(size_t count, const char *format)
{
    struct sample sample = {NULL, 0};
    char *text = NULL;
    FILE *file = open_memstream(&text, &sample.length);
    assert_non_null(file);
    for (size_t i = 0; i < count; i++)
        fprintf(file, format, i, i * 7919 % 5003, i + 100);
    fclose(file);
    sample.text = text;
    return sample;
}

/* Lines lie across the blocks that are read, and tables grow meanwhile. */
static void many_lines_and_keys_are_read_as_few_are(void **state)
{
    (void)state;
    static const char *const formats[] = {"%zu,arm,%zu,%zu\n",
                                          "%zu,arm,a key that is %zu,%zu\n"};
    for (size_t f = 0; f < COUNT_OF(formats); f++) {
        struct sample sample = many_lines(20000, formats[f]);
        struct trace trace = trace_of(sample);
        assert_int_equal(trace.op_count, 20000);
        assert_int_equal(trace.key_count, 5003);
        for (size_t i = 0; i < 20000; i++)
            assert_op(
                &trace, i,
                (struct trace_op){i, i + 100, (uint32_t)(i % 5003), TRACE_ARM});
        trace_close(&trace);
        free((char *)sample.text);
    }
}

static void a_line_without_end_is_refused(void **state)
{
    (void)state;
    size_t length = 100000;
    char *text = malloc(length);
    assert_non_null(text);
    memset(text, '#', length);
    text[0] = '\n';
    assert_fault((struct sample){text, length}, -EINVAL,
                 "load.csv, line 2: the line has more than 65536 bytes");
    free(text);
}

/* Names that are alike, and names of every length. */
static void different_names_have_different_numbers(void **state)
{
    (void)state;
    static const char letters[KEYS_LENGTH_MAX] = {0};
    struct keys keys = {0};
    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t i = 0; i <= KEYS_LENGTH_MAX; i++) {
            struct keys_name name = keys_name(letters, i);
            uint32_t number = UINT32_MAX;
            assert_int_equal(keys_number(&keys, &name, &number), 0);
            assert_int_equal(number, i);
        }
    }
    assert_int_equal(keys.count, KEYS_LENGTH_MAX + 1);
    keys_close(&keys);
}

static void more_names_than_numbers_are_refused(void **state)
{
    (void)state;
    struct keys keys = {.count = KEYS_COUNT_MAX};
    struct keys_name name = keys_name("one", 3);
    uint32_t number;
    assert_int_equal(keys_number(&keys, &name, &number), -EOVERFLOW);
    keys_close(&keys);
}

struct listener {
    unsigned calls;
    unsigned calls_max;
    double last;
};

static bool listen(void *context, double part)
{
    struct listener *listener = context;
    assert_true(part >= listener->last);
    assert_true(part <= 1);
    listener->last = part;
    listener->calls++;
    return listener->calls <= listener->calls_max;
}

static void progress_is_reported_about_a_hundred_times(void **state)
{
    (void)state;
    struct sample sample = many_lines(500000, "%zu,arm,%zu,%zu\n");
    struct listener listener = {.calls_max = 1000};
    struct trace trace;
    struct trace_fault fault;
    FILE *file = file_of(sample);
    assert_int_equal(trace_read(&trace, file, "", 0, listen, &listener, &fault),
                     0);
    assert_in_range(listener.calls, 60, 101);
    assert_true(listener.last > 0.98);
    fclose(file);
    trace_close(&trace);
    free((char *)sample.text);
}

static void the_progress_callback_can_stop_the_reading(void **state)
{
    (void)state;
    struct listener listener = {.calls_max = 0};
    struct trace trace;
    struct trace_fault fault;
    FILE *file = file_of(SAMPLE("0,arm,a,1\n"));
    assert_int_equal(
        trace_read(&trace, file, "load.csv", 0, listen, &listener, &fault),
        -EINTR);
    assert_string_equal(fault.text, "load.csv: interrupted");
    assert_null(trace.ops);
    fclose(file);
}

/* A directory can be opened, but not read. */
static void a_read_error_differs_from_a_format_error(void **state)
{
    (void)state;
    struct trace trace;
    struct trace_fault fault;
    FILE *file = fopen(".", "r");
    assert_non_null(file);
    assert_int_equal(trace_read(&trace, file, ".", 0, NULL, NULL, &fault),
                     -EIO);
    assert_string_equal(fault.text, ".: cannot be read: Is a directory");
    fclose(file);
}

/* The buffer, the operations, the table of keys and their texts, each growing:
 * three times at least. */
static void a_trace_that_memory_is_short_for_leaves_nothing_behind(void **state)
{
    (void)state;
    struct sample sample = many_lines(5000, "%zu,arm,a key that is %zu,%zu\n");
    assert_true(fail_each_allocation(sample) > 10);
    free((char *)sample.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_is_read),
        cmocka_unit_test(a_recording_can_begin_anew_and_have_holes),
        cmocka_unit_test(to_postpone_what_was_not_heard_of_arms_it),
        cmocka_unit_test(blanks_comments_and_names_of_columns_are_left_out),
        cmocka_unit_test(times_are_rounded_down_and_deadlines_up),
        cmocka_unit_test(
            a_unit_that_is_asked_for_goes_before_the_one_in_the_file),
        cmocka_unit_test(an_error_is_reported_with_its_line),
        cmocka_unit_test(a_key_may_have_255_bytes_and_no_more),
        cmocka_unit_test(a_complaint_fits_a_line_and_keeps_the_end_of_the_name),
        cmocka_unit_test(many_lines_and_keys_are_read_as_few_are),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(different_names_have_different_numbers),
        cmocka_unit_test(more_names_than_numbers_are_refused),
        cmocka_unit_test(progress_is_reported_about_a_hundred_times),
        cmocka_unit_test(the_progress_callback_can_stop_the_reading),
        cmocka_unit_test(a_read_error_differs_from_a_format_error),
        cmocka_unit_test(
            a_trace_that_memory_is_short_for_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
