/*
 * core/pool.c - the pool, the handle at hand, as a caller has it who has just
 * looked at his own object.
 */
#define STRUCTURE pool
#define HANDLE_IS_COLD 0
#define CANNOT_D3 /* handles are told from numbers, while none was cancelled */
#include "pool_handles.h"
