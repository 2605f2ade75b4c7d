/* libevent.c - the snippets of libevent.h. */
#include <tickwheel/libevent.h>

#include "harness.h"

static int rung, dropped;

static void ring(void *base, const struct tkw_firing *firing)
{
    (void)firing;
    rung++;
    event_base_loopbreak(base);
}

static void drop(void *base)
{
    (void)base;
    dropped++;
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct tkw_service *service;
    struct tkw_task task = {ring, base, drop};
    int error;

#include "libevent.1.1"

    must(error == 0);

    /* Something to end the loop before 30 seconds have passed. */
    error = tkw_service_arm(service, NULL, TKW_MILLISECOND, task);
    must(error == 0);

#include "libevent.1.2"

    must(error == 0 && rung == 1 && dropped == 0);
    must(tkw_service_count(service) == 1);

#include "libevent.1.3"

    must(rung == 1 && dropped == 1);
    must(event_base_dispatch(base) == 1); /* nothing is left to wait for */
    event_base_free(base);
    return 0;
}
