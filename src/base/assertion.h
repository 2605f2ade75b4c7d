/*
 * base/assertion.h - the library's assertion.  Builds without a libc define
 * TKW_ASSERT themselves, or define NDEBUG.
 */
#ifndef TKW_BASE_ASSERTION_H
#define TKW_BASE_ASSERTION_H

#ifndef TKW_ASSERT
#ifdef NDEBUG
#define TKW_ASSERT(condition) ((void)sizeof(condition))
#else
#include <assert.h>
#define TKW_ASSERT(condition) assert(condition)
#endif
#endif

#endif
