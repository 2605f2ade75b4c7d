/*
 * key.h - a state boiled down to what its future depends on.
 */
#ifndef EXHAUSTIVE_KEY_H
#define EXHAUSTIVE_KEY_H

#include "toy.h"

/* Never all zero. */
struct key {
    uint64_t high;
    uint64_t low;
};

/*
 * Two states with the same key go on in the same way.  The key is a hash, but
 * one of 126 bits: that two states of a million share one by chance is a matter
 * of 1 in 10^25.
 */
struct key key_of(const struct toy *toy);

#endif
