/*
 * ledger.c - what must become of each timer.
 */
#include "ledger.h"

#include <errno.h>
#include <stdlib.h>

/* No arming looks like this: who asks for TKW_NEVER is not due at 0. */
static const struct ledger_line idle = {.requested = TKW_NEVER, .due = 0};

static bool is_armed(const struct ledger_line *line)
{
    return line->requested != idle.requested || line->due != idle.due;
}

int ledger_open(struct ledger *ledger, uint32_t timer_count)
{
    *ledger = (struct ledger){.line_count = timer_count, .is_sound = true};
    ledger->lines =
        malloc((timer_count > 0 ? timer_count : 1) * sizeof *ledger->lines);
    if (ledger->lines == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < timer_count; i++)
        ledger->lines[i] = idle;
    return 0;
}

void ledger_close(struct ledger *ledger)
{
    free(ledger->lines);
    *ledger = (struct ledger){0};
}

uint64_t ledger_pending(const struct ledger *ledger)
{
    return ledger->armed - ledger->fired - ledger->cancelled;
}

static void set_deadline(struct ledger_line *line, const struct trace_op *op)
{
    line->requested = op->deadline;
    line->due = op->deadline > op->time ? op->deadline : op->time;
}

static void arm(struct ledger *ledger, const struct trace_op *op)
{
    struct ledger_line *line = &ledger->lines[op->key];
    ledger->armed += !is_armed(line);
    if (ledger_pending(ledger) > ledger->pending_max)
        ledger->pending_max = ledger_pending(ledger);
    set_deadline(line, op);
}

void ledger_operate(struct ledger *ledger, const struct trace_op *op,
                    bool was_armed)
{
    if (op->kind == TRACE_ADVANCE)
        return;
    if (op->kind == TRACE_ARM) {
        arm(ledger, op);
        return;
    }
    struct ledger_line *line = &ledger->lines[op->key];
    if (was_armed != is_armed(line))
        ledger->is_sound = false;
    if (!is_armed(line)) {
        ledger->ignored++;
    } else if (op->kind == TRACE_CANCEL) {
        ledger->cancelled++;
        *line = idle;
    } else {
        set_deadline(line, op);
    }
}

void ledger_pop(struct ledger *ledger, uint32_t id, tkw_tick deadline,
                tkw_tick now)
{
    if (id >= ledger->line_count || !is_armed(&ledger->lines[id])) {
        ledger->is_sound = false;
        return;
    }
    struct ledger_line *line = &ledger->lines[id];
    if (line->requested != deadline || line->due != now)
        ledger->is_sound = false;
    ledger->fired++;
    *line = idle;
}

bool ledger_holds(const struct ledger *ledger,
                  const struct tkw_wheel_stats *stats, size_t count)
{
    uint64_t pending = 0;
    for (uint32_t i = 0; i < ledger->line_count; i++) {
        if (!is_armed(&ledger->lines[i]))
            continue;
        if (ledger->lines[i].requested != TKW_NEVER)
            return false;
        pending++;
    }
    return ledger->is_sound && pending == ledger_pending(ledger) &&
           pending == count && stats->armed == ledger->armed &&
           stats->fired == ledger->fired &&
           stats->cancelled == ledger->cancelled;
}
