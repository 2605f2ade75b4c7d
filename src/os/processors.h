/*
 * os/processors.h - the default number of shards.
 */
#ifndef TKW_OS_PROCESSORS_H
#define TKW_OS_PROCESSORS_H

#include <stdint.h>
#include <unistd.h>

/* Return the number of processors, clamped to 1 ... `most`. */
static inline uint32_t processors(uint32_t most)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (online > (long)most)
        online = (long)most;
    return online > 1 ? (uint32_t)online : 1;
}

#endif
