/*
 * generate.c - the loads of the demonstration, written down.
 *
 * What a load asks for does not depend on the wheel that it runs on, so it runs
 * on one of the default geometry.
 */
#define _POSIX_C_SOURCE 200809L

#include "trace.h"

#include "../stopwatch.h"

#include <errno.h>

struct writer {
    struct trace *trace;
    bool is_full;
};

/* For so long it may go on before anybody looks whether memory ran out. */
static const double slice_ns = 1e8;

static void write_down(void *context, enum load_event event, tkw_tick time,
                       uint64_t task, tkw_tick deadline)
{
    static const enum trace_kind kinds[] = {
        [LOAD_ARM] = TRACE_ARM,
        [LOAD_POSTPONE] = TRACE_POSTPONE,
        [LOAD_CANCEL] = TRACE_CANCEL,
    };
    struct writer *writer = context;
    struct trace_op op = {
        .time = time - LOAD_START_MS,
        .deadline = deadline,
        .key = (uint32_t)task,
        .kind = kinds[event],
    };
    if (event != LOAD_CANCEL && deadline != TKW_NEVER)
        op.deadline -= LOAD_START_MS;
    if (!writer->is_full)
        writer->is_full = !trace_append(writer->trace, op);
}

int trace_generate(struct trace *trace, const struct load_settings *settings)
{
    struct load_settings plain = *settings;
    struct writer writer = {.trace = trace};
    struct load load;

    plain.geometry = (struct tkw_geometry){0};
    *trace = (struct trace){.unit = 1};
    if (plain.task_count >= UINT32_MAX || load_open(&load, &plain) != 0)
        return -ENOMEM;
    load.note = write_down;
    load.note_context = &writer;
    while (!load_run(&load, load.end, stopwatch_ns() + slice_ns) &&
           !writer.is_full)
        continue;
    load_close(&load);
    if (writer.is_full) {
        trace_close(trace);
        return -ENOMEM;
    }
    trace->start = trace->ops[0].time;
    return 0;
}
