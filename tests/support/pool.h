/*
 * support/pool.h - what the tests of the pool share: geometries, arming without
 * ceremony, what must hold at any moment, and an allocator that keeps a ledger
 * and fails when told to.
 */
#ifndef TESTS_SUPPORT_POOL_H
#define TESTS_SUPPORT_POOL_H

#include "core.h"

#include <tickwheel/pool.h>

/* Default, Kafka, toys, clock, hashed, two levels of rounds, odd. */
extern const struct tkw_geometry pool_shapes[8];

/* Opened with malloc; pool_done() gives it back. */
struct tkw_pool *pool_of(const struct tkw_geometry *geometry, tkw_tick start);

/* Arm a timer that carries `word`; it must not fail. */
tkw_handle pool_arm(struct tkw_pool *pool, tkw_tick deadline, uint64_t word);

size_t pool_walked_count(const struct tkw_pool *pool);

/* What must hold at any moment: L3 as an equation, L15 by the pool's check. */
void assert_pool_sound(const struct tkw_pool *pool);

/* Make an invariant of the pool false, so that tkw_pool_check() fails; or put
   it right again. */
void pool_set_broken(struct tkw_pool *pool, bool is_broken);

/* Take everything out, see that nothing is left over, and close. */
void pool_done(struct tkw_pool *pool);

/* What a handle stands for, and when it is due. */
void assert_pool_state(const struct tkw_pool *pool, tkw_handle handle,
                       enum tkw_state expected);
tkw_tick pool_deadline(const struct tkw_pool *pool, tkw_handle handle);

void assert_pool_pops(struct tkw_pool *pool, tkw_handle handle);
void assert_pool_pops_none(struct tkw_pool *pool);

/* Advance, failing where it would go on for ever. */
void pool_advance_surely(struct tkw_pool *pool, tkw_tick now);

/* It fires when time reaches its deadline, and not one tick before. */
void assert_pool_fires_on_time(struct tkw_pool *pool, tkw_handle handle);

/* Sleep until `next` and advance to it, until something is ready or nothing
   is left to wake for.  Returns how often. */
size_t pool_wakes(struct tkw_pool *pool);

/* Timers moved so far: falls, refiles and passes. */
uint64_t pool_moved(const struct tkw_pool *pool);

/*
 * An allocator that writes down what it gives out.  Memory comes filled with
 * rubbish, and has to come back with the size it was asked for with.
 */
struct ledger {
    struct tkw_allocator allocator;
    uint64_t calls;       /* of allocate, failed ones included */
    uint64_t failed;      /* of these, those that returned NULL */
    uint64_t blocks;      /* out now ... */
    uint64_t bytes;       /* ... and their bytes */
    uint64_t fails_from;  /* the number of the first call that fails, from 1;
                            0: none does */
    uint64_t fails_count; /* how many fail from there on */
};

void ledger_init(struct ledger *ledger);

/* From here on: the next `skip` calls succeed, the `count` after them fail. */
void ledger_fail(struct ledger *ledger, uint64_t skip, uint64_t count);
void ledger_relent(struct ledger *ledger);

#define FOR_EVER UINT64_MAX

struct tkw_pool *ledger_pool(struct ledger *ledger,
                             const struct tkw_geometry *geometry);

/* Close the pool; the ledger must be even. */
void ledger_done(struct ledger *ledger, struct tkw_pool *pool);

#endif
