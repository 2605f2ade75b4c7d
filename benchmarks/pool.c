/*
 * pool.c - the pool, the handle at hand, as a caller has it who has just looked
 * at his own object.
 */
#define STRUCTURE pool
#define HANDLE_IS_COLD 0
#include "pool_handles.h"
