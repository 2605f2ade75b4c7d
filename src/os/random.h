/*
 * os/random.h - random numbers, a sequence for each thread.
 */
#ifndef TKW_OS_RANDOM_H
#define TKW_OS_RANDOM_H

#include "sync.h"

/* Return the next number of the calling thread's sequence.  The first call
 * seeds it with the time `now` and the number of the thread. */
static inline uint64_t random_draw(uint64_t now)
{
    struct sync_self *self = sync_self();
    if (self->random == 0)
        self->random = now ^ ((uint64_t)self->number << 32);
    /* Steele, Lea and Flood: Fast splittable pseudorandom number generators. */
    uint64_t z = self->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
