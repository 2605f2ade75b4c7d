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

/* A state as bytes, which the key is a hash of. */
struct text {
    const struct toy *toy;
    size_t length;
    uint8_t names[TOY_TIMERS_MAX];
    uint8_t name_count;
    uint8_t bytes[1024];
};

/* Whatever the order, a timer is met here first and gets its name. */
void text_name(struct text *text, uint64_t id);

/* A number; those above all deadlines are not told apart. */
void text_put(struct text *text, uint64_t number);

/* A deadline, relative to now. */
void text_put_tick(struct text *text, tkw_tick tick);

/* The end of a list. */
void text_put_end(struct text *text);

/*
 * Two states with the same key go on in the same way.  The key is a hash, but
 * one of 126 bits: that two states of a million share one by chance is a matter
 * of 1 in 10^25.
 */
struct key key_of(const struct toy *toy);

#endif
