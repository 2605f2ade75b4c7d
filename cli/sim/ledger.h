/*
 * ledger.h - what must become of each timer, kept apart from the engine that
 * makes it happen.
 *
 * It is told of every operation with the engine's answer, and of every pop, and
 * remembers whether anything was not as promised.
 */
#ifndef SIM_LEDGER_H
#define SIM_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "trace.h"

/* A timer: idle, or armed. */
struct ledger_line {
    tkw_tick requested; /* the deadline of the last request */
    tkw_tick due; /* when it must be popped: then, or if that had passed, at
                       the time of asking */
};

struct ledger {
    struct ledger_line *lines; /* by timer */
    uint32_t line_count;
    uint64_t armed, fired, cancelled;
    uint64_t ignored; /* operations on what was not armed */
    uint64_t pending_max;
    bool is_sound; /* so far */
};

/* Returns 0 or -ENOMEM. */
int ledger_open(struct ledger *ledger, uint32_t timer_count);
void ledger_close(struct ledger *ledger);

uint64_t ledger_pending(const struct ledger *ledger);

/* An operation was done; `was_armed` is what the engine said of its timer. */
void ledger_operate(struct ledger *ledger, const struct trace_op *op,
                    bool was_armed);

/* A timer was popped at the tick `now`, and said to be of that deadline. */
void ledger_pop(struct ledger *ledger, uint32_t id, tkw_tick deadline,
                tkw_tick now);

/*
 * Nothing more will happen: say whether each arming has had its one outcome,
 * all that is pending never comes due, and the engine has counted the same.
 */
bool ledger_holds(const struct ledger *ledger,
                  const struct tkw_wheel_stats *stats, size_t count);

#endif
