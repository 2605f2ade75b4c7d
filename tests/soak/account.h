/*
 * account.h - an allocator for any thread that counts what is out, and now and
 * then has nothing to give.
 */
#ifndef SOAK_ACCOUNT_H
#define SOAK_ACCOUNT_H

#include <stdatomic.h>

#include <tickwheel/pool.h>

struct account {
    struct tkw_allocator allocator;
    atomic_uint_fast64_t bytes;
    atomic_uint_fast64_t blocks;
    atomic_uint_fast64_t calls;
    atomic_uint fails_each; /* one call in so many fails; 0: none */
};

void account_init(struct account *account);

#endif
