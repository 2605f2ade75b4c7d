/*
 * keys/hash.h - keyed hashes, which cannot be predicted without their secret.
 *
 * Keys come from the network.  If clients could compute a hash, they could
 * choose keys that collide.  So each tracker, monitor and purgatory has a
 * secret, drawn at random by default, for both hashes here.
 *
 * Bytes are hashed by SipHash-1-3, which Rust, Python and Ruby use for this
 * reason: one round for each 8 bytes, and three at the end.
 *
 * For a number SipHash would be 90 instructions, which leave the processor
 * little room to begin the next search while this one waits for memory.
 * Instead, hash_number() multiplies the number by a secret factor, to 128 bits,
 * combines the halves by XOR, and does so once more.  This is no cipher.  But
 * the library reveals no hashes, and with each secret other numbers collide.
 */
#ifndef TKW_KEYS_HASH_H
#define TKW_KEYS_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash_secret {
    uint64_t word[2];
    uint64_t factor[4]; /* for numbers; computed from `word` */
};

struct hash_state {
    uint64_t v0, v1, v2, v3;
};

/* hash.c */

/* Return the secret `given` by a configuration.  If it is {0}, draw one from
 * random bytes of the system and `salt`. */
struct hash_secret tkw__hash_secret_of(const uint64_t *given, const void *salt);

static inline uint64_t hash_turn(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void hash_rounds(struct hash_state *s, unsigned count)
{
    while (count-- > 0) {
        s->v0 += s->v1;
        s->v1 = hash_turn(s->v1, 13) ^ s->v0;
        s->v0 = hash_turn(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = hash_turn(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = hash_turn(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = hash_turn(s->v1, 17) ^ s->v2;
        s->v2 = hash_turn(s->v2, 32);
    }
}

static inline struct hash_state hash_begin(const struct hash_secret *secret)
{
    struct hash_state state = {
        .v0 = secret->word[0] ^ UINT64_C(0x736f6d6570736575),
        .v1 = secret->word[1] ^ UINT64_C(0x646f72616e646f6d),
        .v2 = secret->word[0] ^ UINT64_C(0x6c7967656e657261),
        .v3 = secret->word[1] ^ UINT64_C(0x7465646279746573),
    };
    return state;
}

static inline void hash_word(struct hash_state *state, uint64_t word,
                             unsigned rounds)
{
    state->v3 ^= word;
    hash_rounds(state, rounds);
    state->v0 ^= word;
}

static inline uint64_t hash_end(struct hash_state *state, unsigned rounds)
{
    state->v2 ^= 0xff;
    hash_rounds(state, rounds);
    return state->v0 ^ state->v1 ^ state->v2 ^ state->v3;
}

/* Load up to 8 bytes, little-endian. */
static inline uint64_t hash_load(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

/* SipHash with `rounds` for each 8 bytes and `last_rounds` at the end: 1 and 3
 * here, 2 and 4 in the paper, which has test vectors. */
static inline uint64_t hash_sip(const struct hash_secret *secret,
                                const void *bytes, size_t count,
                                unsigned rounds, unsigned last_rounds)
{
    struct hash_state state = hash_begin(secret);
    const unsigned char *at = (const unsigned char *)bytes;
    size_t left = count;
    for (; left >= 8; left -= 8, at += 8)
        hash_word(&state, hash_load(at, 8), rounds);
    hash_word(&state, hash_load(at, left) | (uint64_t)count << 56, rounds);
    return hash_end(&state, last_rounds);
}

static inline uint64_t hash_bytes(const struct hash_secret *secret,
                                  const void *bytes, size_t count)
{
    return hash_sip(secret, bytes, count, 1, 3);
}

/* Multiply, and return the XOR of the two halves of the product. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t one = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t other = (a & UINT32_MAX) * (b >> 32) + (one & UINT32_MAX);
    uint64_t high = (a >> 32) * (b >> 32) + (one >> 32) + (other >> 32);
    return high ^ (other << 32 | (low & UINT32_MAX));
#endif
}

static inline uint64_t hash_number(const struct hash_secret *secret,
                                   uint64_t number)
{
    const uint64_t *factor = secret->factor;
    uint64_t once = hash_fold(number ^ factor[0], factor[1]);
    return hash_fold(once ^ factor[2], factor[3]);
}

#endif
