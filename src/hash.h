/*
 * hash.h - SipHash-1-3, a hash that nobody can foresee without its secret.
 *
 * Keys come from the network: with a hash that can be computed elsewhere,
 * whoever chooses the keys chooses where they collide.  This one is what Rust,
 * Python and Ruby use for the same reason, one round for each 8 bytes and three
 * at the end; some 5 ns for a number.
 */
#ifndef TKW_HASH_H
#define TKW_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash_secret {
    uint64_t word[2];
};

struct hash_state {
    uint64_t v0, v1, v2, v3;
};

/* hash.c */
#define hash_draw tkw_inner_hash_draw

/* Make a secret of what the system gives every process at its start, another
 * for each `salt`. */
void hash_draw(struct hash_secret *secret, const void *salt);

/* The secret of a configuration; {0} is to be drawn. */
static inline struct hash_secret hash_secret_of(const uint64_t *given,
                                                const void *salt)
{
    struct hash_secret secret = {{given[0], given[1]}};
    if (given[0] == 0 && given[1] == 0)
        hash_draw(&secret, salt);
    return secret;
}

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

/* Up to 8 bytes, the first the lowest. */
static inline uint64_t hash_load(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

/* SipHash with so many rounds for 8 bytes and at the end: 1 and 3 here, 2 and 4
 * in the paper that has numbers to test with. */
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

/* Of a number, as of its 8 bytes, lowest first. */
static inline uint64_t hash_number(const struct hash_secret *secret,
                                   uint64_t number)
{
    struct hash_state state = hash_begin(secret);
    hash_word(&state, number, 1);
    hash_word(&state, UINT64_C(8) << 56, 1);
    return hash_end(&state, 3);
}

#endif
