/*
 * base/allocator.h - the default allocator, and checks of configurations.
 */
#ifndef TKW_BASE_ALLOCATOR_H
#define TKW_BASE_ALLOCATOR_H

#include <tickwheel/base.h>

extern const struct tkw_allocator tkw__allocator_plain;

/* Allocate memory that is all 0, or return NULL.  calloc() does not touch pages
 * that are fresh from the system, so tables that are mostly empty take little
 * memory. */
void *tkw__allocate_zeroed(const struct tkw_allocator *allocator, size_t bytes);

/* Return a description of the first fault in the fields that all configurations
 * have, or NULL.  `allocator` may be NULL: the default one. */
const char *tkw__config_fault(const uint64_t reserved[4],
                              const struct tkw_allocator *allocator);

#endif
