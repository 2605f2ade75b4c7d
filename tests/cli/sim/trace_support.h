/*
 * cli/sim/trace_support.h - a trace from a text, and memory that runs out.
 *
 * Programs that include this are linked with --wrap for malloc, calloc and
 * realloc.
 */
#ifndef TESTS_CLI_SIM_TRACE_SUPPORT_H
#define TESTS_CLI_SIM_TRACE_SUPPORT_H

#include "support/core.h"

#include <stdio.h>

#include "cli/sim/trace.h"

/* A text, which may have zeros in it. */
struct sample {
    const char *text;
    size_t length;
};

#define SAMPLE(text)             \
    (struct sample)              \
    {                            \
        (text), sizeof(text) - 1 \
    }

/* A file of this text, to be read.  Its size can be known. */
static inline FILE *file_of(struct sample sample)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(sample.text, 1, sample.length, file),
                     sample.length);
    rewind(file);
    return file;
}

static inline int read_sample(struct trace *trace, struct sample sample,
                              struct trace_fault *fault)
{
    FILE *file = file_of(sample);
    int error = trace_read(trace, file, "load.csv", 0, NULL, NULL, fault);
    fclose(file);
    return error;
}

/* Read what is right. */
static inline struct trace trace_of(struct sample sample)
{
    struct trace trace;
    struct trace_fault fault;
    if (read_sample(&trace, sample, &fault) != 0)
        fail_msg("%s", fault.text);
    return trace;
}

/* Reading must fail, and say why. */
static inline void assert_fault(struct sample sample, int error,
                                const char *text)
{
    struct trace trace;
    struct trace_fault fault;
    assert_int_equal(read_sample(&trace, sample, &fault), error);
    assert_string_equal(fault.text, text);
    assert_null(trace.ops);
}

static inline void assert_op(const struct trace *trace, size_t index,
                             struct trace_op wanted)
{
    assert_true(index < trace->op_count);
    const struct trace_op *op = &trace->ops[index];
    assert_int_equal(op->time, wanted.time);
    assert_int_equal(op->kind, wanted.kind);
    assert_int_equal(op->key, wanted.key);
    assert_int_equal(op->deadline, wanted.deadline);
}

/* Allocations until one fails, and all after it; negative: none does. */
static long allocations_left = -1;

static inline bool is_memory_left(void)
{
    if (allocations_left > 0)
        allocations_left--;
    else if (allocations_left == 0)
        return false;
    return true;
}

/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return is_memory_left() ? __real_malloc(bytes) : NULL;
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_memory_left() ? __real_calloc(count, bytes) : NULL;
}

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes)
{
    return is_memory_left() ? __real_realloc(memory, bytes) : NULL;
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* Each allocation fails in turn.  Returns how many there are. */
static inline long fail_each_allocation(struct sample sample)
{
    for (long count = 0;; count++) {
        FILE *file = file_of(sample);
        struct trace trace;
        struct trace_fault fault;
        allocations_left = count;
        int error = trace_read(&trace, file, "load.csv", 0, NULL, NULL, &fault);
        allocations_left = -1;
        fclose(file);
        if (error == 0) {
            trace_close(&trace);
            return count;
        }
        assert_int_equal(error, -ENOMEM);
        assert_null(trace.ops);
        assert_non_null(strstr(fault.text, ": not enough memory"));
    }
}

#endif
