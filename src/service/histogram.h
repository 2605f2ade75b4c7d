/*
 * service/histogram.h - counts of values, in a fixed size.
 *
 * Values below 16 have a count each.  Above, each power of two is divided into
 * 16 parts, so that a value is known to a sixteenth:
 *
 *     0 1 2 ... 15 | 16 17 ... 31 | 32 34 ... 62 | 64 68 ... 124 | ...
 */
#ifndef TKW_SERVICE_HISTOGRAM_H
#define TKW_SERVICE_HISTOGRAM_H

#include <stdint.h>

#include "os/sync.h"

/* Log2 of the parts.  (Tests that try every order of threads use 0.) */
#ifndef TKW_HISTOGRAM_BITS
#define TKW_HISTOGRAM_BITS 4
#endif

enum {
    HISTOGRAM_BITS = TKW_HISTOGRAM_BITS,
    HISTOGRAM_PARTS = 1 << HISTOGRAM_BITS,
    HISTOGRAM_SIZE = (64 - HISTOGRAM_BITS + 1) * HISTOGRAM_PARTS,
};

struct histogram {
    _Alignas(8) uint64_t counts[HISTOGRAM_SIZE]; /* atomic, as the others are */
    _Alignas(8) uint64_t sum;
    _Alignas(8) uint64_t max;
};

static inline uint32_t histogram_index(uint64_t value)
{
    if (value < HISTOGRAM_PARTS)
        return (uint32_t)value;
    uint32_t shift = 63 - HISTOGRAM_BITS - (uint32_t)__builtin_clzll(value);
    return shift * HISTOGRAM_PARTS + (uint32_t)(value >> shift);
}

/* Return the largest value that is counted at `index`. */
static inline uint64_t histogram_value(uint32_t index)
{
    if (index < 2 * HISTOGRAM_PARTS)
        return index;
    uint32_t shift = index / HISTOGRAM_PARTS - 1;
    uint64_t part = index % HISTOGRAM_PARTS + HISTOGRAM_PARTS;
    return (part << shift) + ((UINT64_C(1) << shift) - 1);
}

/* Count a value.  Only one thread may call this; any thread may read. */
static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
    uint64_t *count = &histogram->counts[histogram_index(value)];
    uint64_t before = sync_get_relaxed(count);
    sync_put_relaxed(count, before + 1);
    uint64_t sum = sync_get_relaxed(&histogram->sum);
    sync_put_relaxed(&histogram->sum, sum + value);
    uint64_t max = sync_get_relaxed(&histogram->max);
    if (value > max)
        sync_put_relaxed(&histogram->max, value);
}

/* Like histogram_add(), but for any number of threads. */
static inline void histogram_add_shared(struct histogram *histogram,
                                        uint64_t value)
{
    sync_add_relaxed(&histogram->counts[histogram_index(value)], 1);
    sync_add_relaxed(&histogram->sum, value);
    uint64_t max = sync_get_relaxed(&histogram->max);
    while (value > max && !sync_replace_ordered(&histogram->max, &max, value))
        ;
}

#endif
