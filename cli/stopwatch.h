/*
 * stopwatch.h - real time, in nanoseconds.
 */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include <time.h>

static inline double stopwatch_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#endif
