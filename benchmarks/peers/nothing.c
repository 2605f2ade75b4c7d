/*
 * nothing.c - no timers at all: what a load costs by itself.
 */
#include <stdlib.h>

#include "field.h"

struct facility {
    uint64_t sum; /* so that something is done */
};

static struct facility *facility_open(size_t n)
{
    (void)n;
    return field_memory(1, sizeof(struct facility));
}

static void facility_close(struct facility *f)
{
    free(f);
}

static void set(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    f->sum += id + delay_ms;
}

static void fired(struct facility *f, uint32_t id);

static void run_until(struct facility *f, uint64_t ns)
{
    field_sleep_until(ns);
    if (f->sum == 0) /* never: time is never 0 */
        fired(f, 0);
}

#define ONLY_D1
#define NEVER_FIRES
#include "real.h"

static const char *version(void)
{
    return "";
}

const struct field_peer peer_nothing = {
    .name = "nothing",
    .title = "no timers at all",
    .settings = "the load alone",
    .version = version,
    .real = real_workloads,
    .why_not_virtual = "no timers",
    .why_not_real = "no timers",
};
