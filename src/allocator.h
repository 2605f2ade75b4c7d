/*
 * allocator.h - where memory comes from if nobody says otherwise.
 */
#ifndef TKW_ALLOCATOR_H
#define TKW_ALLOCATOR_H

#include <tickwheel/pool.h>

/* A static library shows these names to the linker: let them be ours. */
#define allocator_plain tkw_inner_allocator_plain
#define config_fault tkw_inner_config_fault

extern const struct tkw_allocator allocator_plain;

/* What is wrong with what every configuration has, or NULL: an allocator, of
 * which NULL is the plain one, and fields for times to come. */
const char *config_fault(const uint64_t reserved[4],
                         const struct tkw_allocator *allocator);

#endif
