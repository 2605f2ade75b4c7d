/*
 * servers/support.h - failing, memory, clocks, and /proc.
 */
#ifndef SERVERS_SUPPORT_H
#define SERVERS_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

enum { MS_PER_S = 1000, NS_PER_US = 1000, NS_PER_MS = 1000000 };
#define NS_PER_S UINT64_C(1000000000)

/* Prints the message to stderr and ends the program with status 1. */
_Noreturn void fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Returns zeroed memory; fails the program if there is none. */
void *must_allocate(size_t count, size_t size);

/* Like realloc() for `count` elements, but fails the program. */
void *must_reallocate(void *memory, size_t count, size_t size);

/* Returns CLOCK_MONOTONIC, in nanoseconds. */
uint64_t now_ns(void);

/* Returns the processor time that this process has used. */
uint64_t cpu_ns(void);

/* Returns the resident memory of process `pid`, in bytes. */
uint64_t resident_bytes(uint64_t pid);

/* Raises the limit of open files to the most that the system permits. */
void raise_file_limit(void);

#endif
