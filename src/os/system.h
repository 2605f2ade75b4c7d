/*
 * os/system.h - feature macros for the system's headers.  Include it first.
 */
#ifndef TKW_OS_SYSTEM_H
#define TKW_OS_SYSTEM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

/* Times of 64 bits where a long has 32: they do not end in 2038. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifndef _TIME_BITS
#define _TIME_BITS 64
#endif

#endif
