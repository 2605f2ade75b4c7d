/*
 * store/body.h - the bytes of a job, shared by counting.
 *
 * The engine, a batch of the store and a reply that is being sent may need the
 * same bytes at the same time.  Each holds a reference.  The last one to
 * release its reference frees the body.
 *
 * Threads: a body's references are counted without atomics.  Only the loop's
 * thread holds and releases.  A store's thread may read the bytes of a body
 * that a submitted batch holds.
 */
#ifndef TKD_STORE_BODY_H
#define TKD_STORE_BODY_H

#include <stddef.h>
#include <stdint.h>
#include <tickwheel/base.h>

struct tkd_body {
    uint32_t references; /* private */
    uint32_t size;       /* bytes in `bytes` */
    char bytes[];
};

/* Return a body of `size` bytes that are not set, with one reference, or NULL
 * if the allocator refuses. */
struct tkd_body *tkd_body_open(const struct tkw_allocator *allocator,
                               uint32_t size);

/* Add a reference.  Returns `body`. */
struct tkd_body *tkd_body_hold(struct tkd_body *body);

/* Give a reference back.  `body` may be NULL: the call does nothing. */
void tkd_body_release(const struct tkw_allocator *allocator,
                      struct tkd_body *body);

#endif
