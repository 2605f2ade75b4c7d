/*
 * cli/sim/traces.h - traces written down in a test, and what comes of them.
 */
#ifndef TESTS_CLI_SIM_TRACES_H
#define TESTS_CLI_SIM_TRACES_H

#include "cli/sim/replay.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct tkw_geometry twenty = {.sizes = {20}};

#define OPS(...) ((struct trace_op[]){__VA_ARGS__})

/* A trace of operations in an array, with keys 0 to 9. */
#define TRACE(start_, ...)                                             \
    (struct trace)                                                     \
    {                                                                  \
        .ops = OPS(__VA_ARGS__),                                       \
        .op_count = sizeof OPS(__VA_ARGS__) / sizeof(struct trace_op), \
        .key_count = 10, .unit = 1, .start = start_                    \
    }
#define ARM(at, id, until)       \
    {                            \
        at, until, id, TRACE_ARM \
    }
#define POSTPONE(at, id, until)       \
    {                                 \
        at, until, id, TRACE_POSTPONE \
    }
#define CANCEL(at, id)          \
    {                           \
        at, 0, id, TRACE_CANCEL \
    }
#define ADVANCE(at)             \
    {                           \
        at, 0, 0, TRACE_ADVANCE \
    }

static inline struct replay_outcome run_on(const struct engine_kind *kind,
                                           const struct trace *trace,
                                           const struct tkw_geometry *geometry)
{
    struct replay_outcome outcome;
    assert_int_equal(replay(trace, kind, geometry, NULL, NULL, NULL, &outcome),
                     0);
    return outcome;
}

#endif
