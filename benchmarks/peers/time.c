/*
 * time.c - time for libraries that ask the system for it.
 *
 * The program defines the functions of the C library that tell the time, and so
 * is asked in its place by every shared library.  In virtual time it says what
 * it was told; else, and for clocks that no timer goes by, it asks the
 * original.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "field.h"

/* Time 0 of the benchmark: zero seconds mean "unknown" to some. */
enum { BEGIN_S = 1000000 };

static struct {
    bool is_virtual;
    struct timespec now;
} told = {.now = {.tv_sec = BEGIN_S}};

void field_time_is_virtual(bool is_virtual)
{
    told.is_virtual = is_virtual;
}

void field_set_time(uint64_t ms)
{
    told.now.tv_sec = (time_t)(BEGIN_S + ms / 1000);
    told.now.tv_nsec = (long)(ms % 1000 * 1000000);
}

typedef int clock_reader(clockid_t clock, struct timespec *now);

static clock_reader *find_original(void)
{
    clock_reader *original;
    void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
    if (symbol == NULL)
        field_fail("no clock_gettime()");
    memcpy(&original, &symbol, sizeof original);
    return original;
}

static bool is_told(clockid_t clock)
{
    return told.is_virtual &&
           (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
            clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
            clock == CLOCK_BOOTTIME);
}

/* Hidden, as the rest of the program is, they would not be found. */
#define ASKED_BY_LIBRARIES __attribute__((visibility("default")))

ASKED_BY_LIBRARIES int clock_gettime(clockid_t clock, struct timespec *now)
{
    /* Libraries may ask before main(); two threads find the same. */
    static clock_reader *_Atomic original;
    if (is_told(clock)) {
        *now = told.now;
        return 0;
    }
    clock_reader *read = atomic_load_explicit(&original, memory_order_relaxed);
    if (read == NULL) {
        read = find_original();
        atomic_store_explicit(&original, read, memory_order_relaxed);
    }
    return read(clock, now);
}

ASKED_BY_LIBRARIES int gettimeofday(struct timeval *restrict now,
                                    void *restrict zone)
{
    struct timespec read;
    (void)zone; /* obsolete */
    if (clock_gettime(CLOCK_REALTIME, &read) != 0)
        return -1;
    now->tv_sec = read.tv_sec;
    now->tv_usec = (suseconds_t)(read.tv_nsec / 1000);
    return 0;
}

ASKED_BY_LIBRARIES time_t time(time_t *now)
{
    struct timespec read = {0};
    clock_gettime(CLOCK_REALTIME_COARSE, &read);
    if (now != NULL)
        *now = read.tv_sec;
    return read.tv_sec;
}
