/*
 * engine_common.c - counters and geometries, as numbers and as text.
 */
#include "engine_common.h"

#include <assert.h>
#include <inttypes.h>

struct work common_work(const struct tkw_wheel_stats *counters)
{
    return (struct work){
        .armed = counters->armed,
        .fired = counters->fired,
        .cancelled = counters->cancelled,
        .drained = counters->drained,
        .falls = counters->falls,
        .refiles = counters->refiles,
        .passes = counters->passes,
        .visits = counters->visits,
        .stops = counters->stops,
    };
}

void common_write_geometry(FILE *out, const struct tkw_geometry *geometry)
{
    fputs("    struct tkw_geometry geometry = {.sizes = {", out);
    for (size_t i = 0; i < TKW_SIZES_MAX; i++) {
        if (i > 0 && geometry->sizes[i] == 0)
            break;
        fprintf(out, "%s%" PRIu32, i ? ", " : "", geometry->sizes[i]);
    }
    fprintf(out, "}%s};\n",
            geometry->beyond == TKW_ROUNDS ? ", .beyond = TKW_ROUNDS" : "");
}

static const char *counter(enum call_kind kind)
{
    static const char *const names[] = {
        "armed",   "fired",  "cancelled", "drained", "falls",
        "refiles", "passes", "visits",    "stops",
    };

    assert(kind >= CALL_ARMED && kind <= CALL_STOPS);
    return names[kind - CALL_ARMED];
}

void common_write_counter(FILE *out, const char *counters, enum call_kind kind)
{
    if (kind == CALL_MOVES)
        fprintf(out,
                "%s.falls +\n"
                "               %s.refiles +\n"
                "               %s.passes",
                counters, counters, counters);
    else
        fprintf(out, "%s.%s", counters, counter(kind));
}
