/*
 * hash.c - where the secret of a hash comes from.
 */
#include "hash.h"

#include <sys/auxv.h>

/* The kernel gives every new process 16 random bytes: no file, no wait, no
 * failure.  They are somebody else's secret as well, so hash with them rather
 * than show them.  Without them the salt's address has to do. */
void hash_draw(struct hash_secret *secret, const void *salt)
{
    struct hash_secret given = {{(uintptr_t)salt, (uintptr_t)secret}};
    uintptr_t random = (uintptr_t)getauxval(AT_RANDOM);
    if (random != 0)
        memcpy(&given, (const void *)random, sizeof given);
    secret->word[0] = hash_number(&given, (uintptr_t)salt);
    secret->word[1] = hash_number(&given, ~(uint64_t)(uintptr_t)salt);
}
