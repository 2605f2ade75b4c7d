/*
 * base/allocator.h - the default allocator, and checks of configurations.
 */
#ifndef TKW_BASE_ALLOCATOR_H
#define TKW_BASE_ALLOCATOR_H

#include <tickwheel/base.h>

extern const struct tkw_allocator tkw__allocator_plain;

/* What is wrong with what every configuration has, or NULL: an allocator, of
 * which NULL is the plain one, and fields for times to come. */
const char *tkw__config_fault(const uint64_t reserved[4],
                              const struct tkw_allocator *allocator);

#endif
