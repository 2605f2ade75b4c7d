/*
 * core/pool_cold.c - the pool, each handle fetched from a large array: what a
 * caller pays who has nothing but a number.
 */
#define STRUCTURE pool_cold
#define HANDLE_IS_COLD 1
#include "pool_handles.h"
