/*
 * random.h - numbers from a seed (splitmix64): the same on every machine.
 */
#ifndef MODEL_RANDOM_H
#define MODEL_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
    uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number from 0 to count-1; the slight bias of the remainder is harmless. */
static inline uint32_t random_below(struct random *random, uint32_t count)
{
    return (uint32_t)((random_next(random) >> 32) * count >> 32);
}

static inline bool random_percent(struct random *random, uint32_t percent)
{
    return random_below(random, 100) < percent;
}

/* A number whose length in bits, 0 to `bits`, is uniform. */
static inline uint64_t random_log(struct random *random, uint32_t bits)
{
    uint32_t length = random_below(random, bits + 1);

    if (length == 0)
        return 0;
    uint64_t top = UINT64_C(1) << (length - 1);
    return top | (random_next(random) & (top - 1));
}

#endif
