/*
 * ledger.h - how much work a wheel may do: falls and passes, timer by timer.
 *
 * The laws bound work, not only outcomes (L6, L7).  When and where a timer is
 * filed fixes its way down the levels, and so how often it may fall; the sum
 * over all timers is what the engine's counters are held against.
 */
#ifndef MODEL_LEDGER_H
#define MODEL_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tickwheel/dial.h>

/* The levels of a geometry, worked out from its sizes alone. */
struct ladder {
    tkw_tick ticks[TKW_LEVELS_MAX];
    uint32_t sizes[TKW_LEVELS_MAX];
    uint32_t level_count;
    bool is_rounds;
};

void ladder_init(struct ladder *ladder, const struct tkw_geometry *geometry);

/* Ticks in a turn of the top level; UINT64_MAX if it never turns. */
tkw_tick ladder_turn(const struct ladder *ladder);

/* One arming, or moving, that has not ended. */
struct filing {
    tkw_tick at;
    tkw_tick deadline;
    uint32_t postpones;
    bool is_late; /* made while an advance was unfinished: `at` is a guess,
                     no later than the truth */
};

struct ledger {
    struct ladder ladder;
    struct filing *filings; /* one a timer */
    uint64_t falls_max;     /* refiles not counted in */
    uint64_t passes_max;    /* likewise; UINT64_MAX: no bound */
    uint64_t postpones;
};

/* Returns false if there is no memory. */
bool ledger_open(struct ledger *ledger, const struct tkw_geometry *geometry,
                 size_t timer_count);
void ledger_close(struct ledger *ledger);

void ledger_file(struct ledger *ledger, uint64_t id, struct filing filing);

/* Note that a filed timer was moved at `now`, perhaps only in name. */
void ledger_postpone(struct ledger *ledger, uint64_t id, tkw_tick now,
                     tkw_tick deadline);

/* Allow for what the timer did until now, the end of its filing. */
void ledger_end(struct ledger *ledger, uint64_t id, tkw_tick now);

#endif
