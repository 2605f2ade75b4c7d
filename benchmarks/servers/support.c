/*
 * servers/support.c - failing, memory, clocks, and /proc.
 */
#define _POSIX_C_SOURCE 200809L

#include "support.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

void fail(const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fputs("bench_servers: ", stderr);
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    _exit(1);
}

void *must_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        fail("out of memory");
    return memory;
}

void *must_reallocate(void *memory, size_t count, size_t size)
{
    if (size == 0 || count > SIZE_MAX / size)
        fail("out of memory");
    void *moved = realloc(memory, count * size);
    if (moved == NULL)
        fail("out of memory");
    return moved;
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t resident_bytes(uint64_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/statm", pid);
    FILE *file = fopen(path, "r");
    char line[256] = "";
    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        fail("cannot read %s: is --pid right?", path);
    fclose(file);

    char *rest;
    strtoull(line, &rest, 10); /* the size of the address space */
    uint64_t pages = strtoull(rest, NULL, 10);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}
