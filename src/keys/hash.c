/*
 * keys/hash.c - making the secret of a hash.
 */
#include "hash.h"

#include <sys/auxv.h>

/* Draw a secret.  The kernel gives every new process 16 random bytes: no file,
 * no wait, no failure.  Other code keeps them secret, too, so only hashes made
 * with them are stored.  Without them, the address `salt` is used. */
static void draw(struct hash_secret *secret, const void *salt)
{
    uint64_t number = (uintptr_t)salt;
    struct hash_secret given = {.word = {number, ~number}};
    uintptr_t random = (uintptr_t)getauxval(AT_RANDOM);
    if (random != 0)
        memcpy(given.word, (const void *)random, sizeof given.word);
    secret->word[0] = hash_bytes(&given, &number, sizeof number);
    number = ~number;
    secret->word[1] = hash_bytes(&given, &number, sizeof number);
}

struct hash_secret tkw__hash_secret_of(const uint64_t *given, const void *salt)
{
    struct hash_secret secret = {.word = {given[0], given[1]}};
    if (given[0] == 0 && given[1] == 0)
        draw(&secret, salt);
    for (unsigned i = 0; i < 4; i++) {
        unsigned char number = (unsigned char)i;
        secret.factor[i] = hash_bytes(&secret, &number, 1);
    }
    return secret;
}
