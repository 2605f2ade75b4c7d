/*
 * loop.h - what the adapters of event loops share.
 *
 * In virtual time a callback leaves the number of its timer here, and pop()
 * takes it: the loop calls when it likes, and workloads.h asks.  None can be
 * here twice, so that there is room for all and nothing to check.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdlib.h>

#include "field.h"

struct expired {
    uint32_t *ids;
    size_t count;
    size_t taken;
};

static inline void expired_open(struct expired *expired, size_t n)
{
    *expired = (struct expired){.ids = bench_arena(n * sizeof(uint32_t))};
}

static inline void expired_close(struct expired *expired)
{
    free(expired->ids);
}

static inline void expired_put(struct expired *expired, uint32_t id)
{
    expired->ids[expired->count++] = id;
}

static inline uint32_t expired_take(struct expired *expired)
{
    if (expired->taken < expired->count)
        return expired->ids[expired->taken++];
    expired->taken = 0;
    expired->count = 0;
    return UINT32_MAX;
}

/*
 * What is next for a loop that does not tell, and was left to sleep and to call
 * what is due then: when it was, or UINT64_MAX if there was nothing to sleep
 * for.  `*now` is the time before it, and then the time.
 */
static inline uint64_t time_slept_to(uint64_t *now)
{
    uint64_t before = *now;
    *now = field_time();
    return *now != before ? *now : UINT64_MAX;
}

/*
 * Loops that read the clock once a pass count a delay from then.  What arms
 * timers in a long row outside of a pass must have them read it: as often as if
 * this many were armed in one; where lateness is noted, each time.
 */
enum { CALLS_A_PASS = 100 };

static struct field_record *noted; /* real.h has it */

static inline bool must_read_clock(unsigned *calls)
{
    if (noted == NULL && ++*calls < CALLS_A_PASS)
        return false;
    *calls = 0;
    return true;
}

/* Milliseconds from now until then, rounded up; 0 if that has passed. */
static inline uint64_t ms_until(uint64_t ns)
{
    uint64_t now = field_now_ns();
    return ns > now ? (ns - now + 999999) / 1000000 : 0;
}

#endif
