/*
 * allocator.h - where memory comes from if nobody says otherwise.
 */
#ifndef TKW_ALLOCATOR_H
#define TKW_ALLOCATOR_H

#include <tickwheel/pool.h>

/* A static library shows these names to the linker: let them be ours. */
#define allocator_plain tkw_inner_allocator_plain
#define allocator_is_whole tkw_inner_allocator_is_whole

extern const struct tkw_allocator allocator_plain;

/* Does it have all functions?  NULL is the plain one. */
bool allocator_is_whole(const struct tkw_allocator *allocator);

#endif
