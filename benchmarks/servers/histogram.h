/*
 * servers/histogram.h - a log-linear histogram of fixed size.
 *
 * Values below 128 have a bucket each.  Above, each power of two is divided
 * into 128 buckets of equal width, so a bucket is at most 1/128 of its value
 * wide:
 *
 *     0 1 2 ... 127 | 128 129 ... 255 | 256 258 ... 510 | 512 516 ... | ...
 *       width 1     |     width 1     |     width 2     |   width 4   | ...
 *
 * histogram_quantile() returns the upper edge of a bucket: it may be up to
 * 0.8 % too high, and is never too low.  Least and greatest values are exact.
 *
 * A zero-filled histogram is empty and valid.
 */
#ifndef SERVERS_HISTOGRAM_H
#define SERVERS_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_BITS = 7,
    HISTOGRAM_WIDTH = 1 << HISTOGRAM_BITS,
    /* int64_t has 63 bits for the value; the first two rows have width 1. */
    HISTOGRAM_BUCKETS = HISTOGRAM_WIDTH * (63 - HISTOGRAM_BITS + 1),
};

struct histogram {
    uint64_t count;
    int64_t least;    /* of all values, if count > 0 */
    int64_t greatest; /* of all values, if count > 0 */
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

/* Adds `value`.  A negative one is counted in the bucket of 0; `least` keeps
 * it exactly. */
void histogram_add(struct histogram *histogram, int64_t value);

/* Returns a value that at least `share` (0 to 1) of the values do not exceed;
 * 0 if the histogram is empty. */
int64_t histogram_quantile(const struct histogram *histogram, double share);

#endif
