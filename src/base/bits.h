/*
 * base/bits.h - a set of small numbers that finds its next member quickly.
 *
 * The lowest tier has a bit for each number.  A tier above has a bit for each
 * word below, set if the word is not zero.  The top tier is one word:
 *
 *     summary      ...00101          words 0 and 2 are not zero
 *                      | |
 *     words    [2]0110 | |  [1]0000  [0]1000
 *
 * A set of up to 64 is one word, of up to 4096 two tiers.  The tiers lie one
 * after the other in memory, lowest first.
 */
#ifndef TKW_BASE_BITS_H
#define TKW_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#define BITS_NONE UINT32_MAX
#define BITS_TIERS_MAX 6

/* Return the number of words in the lowest tier of a set below `size`. */
static inline uint32_t bits_tier(uint32_t size)
{
    return size / 64 + (size % 64 != 0);
}

/* Return the number of words in all tiers. */
static inline uint32_t bits_words(uint32_t size)
{
    uint32_t words = 0;
    do {
        size = bits_tier(size);
        words += size;
    } while (size > 1);
    return words;
}

static inline bool bits_has(const uint64_t *words, uint32_t i)
{
    return words[i / 64] >> (i % 64) & 1;
}

static inline void bits_add(uint64_t *words, uint32_t size, uint32_t i)
{
    for (;;) {
        uint64_t before = words[i / 64];
        words[i / 64] = before | UINT64_C(1) << (i % 64);

        uint32_t tier = bits_tier(size);
        if (before != 0 || tier == 1) /* nothing to set above */
            return;
        words += tier;
        size = tier;
        i /= 64;
    }
}

/* Remove `i`.  Returns whether the set is empty now. */
static inline bool bits_remove(uint64_t *words, uint32_t size, uint32_t i)
{
    for (;;) {
        words[i / 64] &= ~(UINT64_C(1) << (i % 64));
        if (words[i / 64] != 0)
            return false;

        uint32_t tier = bits_tier(size);
        if (tier == 1)
            return true;
        words += tier;
        size = tier;
        i /= 64;
    }
}

/* Return the first member that is not below `i`, or BITS_NONE. */
static inline uint32_t bits_find(const uint64_t *words, uint32_t size,
                                 uint32_t i)
{
    const uint64_t *below[BITS_TIERS_MAX];
    unsigned tiers = 0;

    /* Climb to a word with a member at or after `i` ... */
    for (;;) {
        uint64_t rest = i < size ? words[i / 64] >> (i % 64) : 0;
        if (rest != 0) {
            i += (uint32_t)__builtin_ctzll(rest);
            break;
        }
        uint32_t tier = bits_tier(size);
        if (tier == 1)
            return BITS_NONE;
        below[tiers++] = words;
        words += tier;
        size = tier;
        i = i / 64 + 1;
    }

    /* ... and descend to its lowest member. */
    while (tiers > 0)
        i = i * 64 + (uint32_t)__builtin_ctzll(below[--tiers][i]);
    return i;
}

/*
 * Return the distance from `i` to the next member, wrapping around: 1 to
 * `size`, the latter if `i` is the only member.  The set must not be empty.
 */
static inline uint32_t bits_ahead(const uint64_t *words, uint32_t size,
                                  uint32_t i)
{
    uint32_t next = bits_find(words, size, i + 1);
    if (next == BITS_NONE)
        next = bits_find(words, size, 0);
    return next > i ? next - i : size - i + next;
}

#endif
