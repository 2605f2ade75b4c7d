/*
 * engine_common.h - what the engines of this library say and count alike.
 */
#ifndef MODEL_ENGINE_COMMON_H
#define MODEL_ENGINE_COMMON_H

#include <tickwheel/wheel.h>

#include "engine.h"

struct work common_work(const struct tkw_wheel_stats *counters);

/* "struct tkw_geometry geometry = ...;", for a reproducer. */
void common_write_geometry(FILE *out, const struct tkw_geometry *geometry);

/*
 * "COUNTERS.falls", COUNTERS being a call like "tkw_wheel_read_stats(wheel)";
 * also the sum that is CALL_MOVES.
 */
void common_write_counter(FILE *out, const char *counters, enum call_kind kind);

#endif
