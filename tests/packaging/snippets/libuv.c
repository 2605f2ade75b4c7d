/* libuv.c - the snippets of libuv.h. */
#define _POSIX_C_SOURCE 200809L

#include <tickwheel/libuv.h>

#include "harness.h"

static int rung, dropped;

static void ring(void *loop, const struct tkw_firing *firing)
{
    (void)firing;
    rung++;
    uv_stop(loop);
}

static void drop(void *loop)
{
    (void)loop;
    dropped++;
}

int main(void)
{
    uv_loop_t ours, *loop = &ours;
    struct tkw_service *service;
    struct tkw_task task = {ring, loop, drop};
    int error;
    must(uv_loop_init(loop) == 0);

#include "libuv.1.1"

    must(error == 0);

    /* Something to end the loop before 30 seconds have passed. */
    error = tkw_service_arm(service, NULL, TKW_MILLISECOND, task);
    must(error == 0);

#include "libuv.1.2"

    must(error == 0 && rung == 1 && dropped == 0);
    must(tkw_service_count(service) == 1);

#include "libuv.1.3"

    must(rung == 1 && dropped == 1);
    must(uv_loop_close(loop) == 0); /* nothing is left in it */
    return 0;
}
