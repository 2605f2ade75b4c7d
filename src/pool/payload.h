/*
 * pool/payload.h - a pool whose records carry fields of the layer above.
 *
 * The service stores its fields of a timer in the cache line of the timer's
 * record, so that an operation on a cold timer waits for one line.  Beside
 * arming and firing, such a timer is taken and freed:
 *
 *     take --> arm --> take_due --> free
 *              |  ^        |
 *              v  |        |
 *             rearm <------'  (arm again)
 *
 * tkw__pool_take() provides a record, tkw__pool_arm_taken() arms it, and
 * tkw__pool_take_due() returns it when it is due.  The record stays with the
 * caller until tkw__pool_free().  The pool does not use `user` of the record,
 * nor `deadline` while the timer is taken and not armed: the caller may.
 *
 * Any thread may give up a timer without a lock: see PAYLOAD_GIVEN_UP.  All
 * calls need the lock of the pool's owner.  Of pool.h, these functions work on
 * such a pool: advance, advance_some, next, rearm, postpone, close and the
 * statistics, which count a timer that was given up as armed until the pool
 * reads an entry of it.
 */
#ifndef TKW_POOL_PAYLOAD_H
#define TKW_POOL_PAYLOAD_H

#include <tickwheel/pool.h>

#include "record.h"

/* Bits of an index in a pool with payload.  The service uses the others of a
 * handle's 32. */
#define PAYLOAD_INDEX_BITS 26
#define PAYLOAD_SEGMENTS                 \
    (TKW_INDEX_BITS < PAYLOAD_INDEX_BITS \
         ? SEGMENTS                      \
         : 1 << (PAYLOAD_INDEX_BITS - TKW_SEGMENT_BITS))

struct taken_timer {
    uint32_t index;
    tkw_tick deadline;
};

/* Open a pool with payload.  `given_up` counts the timers that other threads
 * have given up; with NULL the pool has no payload.  Returns 0 or -ENOMEM. */
int tkw__pool_open_payload(struct tkw_pool **pool,
                           const struct tkw_pool_config *config,
                           const uint64_t *given_up);

/* Return the pool's table of segments.  Each is an array of cells: a record and
 * its payload.  Segments neither move nor are freed before the pool is closed.
 * A segment is in the table before the first index of it is taken. */
char *const *tkw__pool_segments(const struct tkw_pool *pool);

/* Store the index of a record.  Its payload is zero if the index was never
 * taken before; otherwise the caller must clear PAYLOAD_GIVEN_UP before it arms
 * the timer.  At least `kept_back` free records remain, which
 * tkw__pool_reserve() has promised.  Returns 0; -ENOMEM; -EAGAIN: no index is
 * left. */
int tkw__pool_take(struct tkw_pool *pool, size_t kept_back, uint32_t *index);

/* Returns whether arming a taken timer takes another record: its tags are used
 * up (pool/arm.c). */
bool tkw__pool_needs_record(const struct tkw_pool *pool, uint32_t index);

/* Arm a taken timer.  Returns 0 or -ENOMEM. */
int tkw__pool_arm_taken(struct tkw_pool *pool, uint32_t index,
                        tkw_tick deadline);

/* Return the deadline of an armed timer. */
tkw_tick tkw__pool_deadline(const struct tkw_pool *pool, uint32_t index);

/* Like tkw_pool_pop_due(): store up to `count` timers that are due.  Returns
 * how many. */
size_t tkw__pool_take_due(struct tkw_pool *pool, struct taken_timer *taken,
                          size_t count);

/* Return how many timers were given up and not freed yet. */
uint64_t tkw__pool_count_given_up(const struct tkw_pool *pool);

/* Free a record, whether it is armed or taken.  `was_given_up`: a thread has
 * set PAYLOAD_GIVEN_UP. */
void tkw__pool_free(struct tkw_pool *pool, uint32_t index, bool was_given_up);

#endif
