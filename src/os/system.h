/*
 * os/system.h - feature macros for the system's headers.  Include it first.
 */
#ifndef TKW_OS_SYSTEM_H
#define TKW_OS_SYSTEM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

/* Use 64-bit times where long has 32 bits: 32-bit times end in 2038. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifndef _TIME_BITS
#define _TIME_BITS 64
#endif

#endif
