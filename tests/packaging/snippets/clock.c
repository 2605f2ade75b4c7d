/* clock.c - the snippets of clock.h: an hour passes at once. */
#include <tickwheel/clock.h>
#include <tickwheel/service.h>

#include "harness.h"

static void count(void *argument, const struct tkw_firing *firing)
{
    must(firing->due_ns == 3600 * TKW_SECOND);
    ++*(int *)argument;
}

int main(void)
{
    struct tkw_service *service;
    int calls = 0;

#include "clock.1.1"

    must(tkw_service_arm(service, NULL, 3600 * TKW_SECOND,
                         (struct tkw_task){count, &calls, NULL}) == 0);

#include "clock.1.2"

    must(calls == 1);
    tkw_service_close(service, NULL, NULL);
    tkw_manual_clock_close(clock);
    return 0;
}
