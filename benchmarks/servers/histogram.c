/*
 * servers/histogram.c - a log-linear histogram of fixed size.
 */
#include "histogram.h"

static unsigned highest_bit(uint64_t value)
{
    unsigned bit = 0;
    while (value >>= 1)
        bit++;
    return bit;
}

/*
 * Row 0 holds 0 to 127, row r > 0 the values whose highest bit is r + 6.  A row
 * r > 1 drops the lowest r - 1 bits of a value.
 */
static unsigned bucket_of(uint64_t value)
{
    if (value < HISTOGRAM_WIDTH)
        return (unsigned)value;
    unsigned row = highest_bit(value) - HISTOGRAM_BITS + 1;
    unsigned column = (unsigned)(value >> (row - 1)) & (HISTOGRAM_WIDTH - 1);
    return row * HISTOGRAM_WIDTH + column;
}

/* Returns the greatest value that falls into `bucket`. */
static int64_t upper_edge(unsigned bucket)
{
    unsigned row = bucket / HISTOGRAM_WIDTH;
    if (row == 0)
        return bucket;
    uint64_t column = bucket % HISTOGRAM_WIDTH + HISTOGRAM_WIDTH;
    return (int64_t)(((column + 1) << (row - 1)) - 1);
}

void histogram_add(struct histogram *histogram, int64_t value)
{
    if (histogram->count == 0 || value < histogram->least)
        histogram->least = value;
    if (histogram->count == 0 || value > histogram->greatest)
        histogram->greatest = value;
    histogram->count++;
    histogram->buckets[bucket_of(value < 0 ? 0 : (uint64_t)value)]++;
}

int64_t histogram_quantile(const struct histogram *histogram, double share)
{
    if (histogram->count == 0)
        return 0;
    double wanted = share * (double)histogram->count;
    uint64_t seen = 0;
    unsigned bucket = 0;
    for (; bucket < HISTOGRAM_BUCKETS - 1; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen > 0 && (double)seen >= wanted)
            break;
    }
    int64_t edge = upper_edge(bucket);
    return edge < histogram->greatest ? edge : histogram->greatest;
}
