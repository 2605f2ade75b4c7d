/*
 * core/pool_ahead.c - the pool, each handle read from a large array, by a
 * caller who knows its next operations and prefetches their timers.
 */
#define STRUCTURE pool_ahead
#define HANDLE_IS_COLD 1
#define IS_AHEAD 1
#include "pool_handles.h"
