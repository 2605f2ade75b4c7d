/*
 * timeout.c - William Ahern's timeout: a wheel of 4 levels of 64 slots, which
 * is asked for what has expired.  Its source is that of the package of tor.
 */
#include <ext/timeouts/timeout.h>
#include <stdlib.h>

#include "field.h"

struct state {
    struct timeouts *wheel;
    struct timeout *timers;
};

static struct state *make(size_t n)
{
    struct state *s = bench_memory(sizeof *s);
    int error;
    s->wheel = timeouts_open(TIMEOUT_mHZ, &error);
    if (s->wheel == NULL)
        field_fail("timeouts_open() failed");
    s->timers = bench_memory(n * sizeof *s->timers);
    for (size_t i = 0; i < n; i++)
        timeout_init(&s->timers[i], TIMEOUT_ABS);
    return s;
}

static void unmake(struct state *s)
{
    timeouts_close(s->wheel);
    free(s->timers);
    free(s);
}

static inline void arm(struct state *s, uint32_t id, uint64_t deadline)
{
    timeouts_add(s->wheel, &s->timers[id], deadline);
}

static inline void cancel(struct state *s, uint32_t id)
{
    timeouts_del(s->wheel, &s->timers[id]);
}

static inline void advance(struct state *s, uint64_t now)
{
    timeouts_update(s->wheel, now);
}

static inline uint32_t pop(struct state *s)
{
    const struct timeout *timer = timeouts_get(s->wheel);
    return timer == NULL ? UINT32_MAX : (uint32_t)(timer - s->timers);
}

static inline uint64_t next(const struct state *s)
{
    timeout_t left = timeouts_timeout(s->wheel);
    return left == ~TIMEOUT_C(0) ? UINT64_MAX
                                 : timeouts_get_curtime(s->wheel) + left;
}

#define STRUCTURE timeout
#define N_MAX SIZE_MAX
#include "core/workloads.h"

static const char *version(void)
{
    static char text[16];
    snprintf(text, sizeof text, "%x", (unsigned)timeout_v_rel());
    return text;
}

const struct field_peer peer_timeout = {
    .name = "timeout",
    .title = "wahern/timeout",
    .settings = "4 levels of 64 slots, its default; absolute times",
    .version = version,
    .structure = &bench_timeout,
    .why_not_real = "has no clock and no loop of its own",
};
