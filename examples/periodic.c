/*
 * periodic.c - timers that repeat: at a steady pace, with a burst for what was
 * missed, and whenever a function of yours says.
 *
 * On a clock that is turned by hand, so that it says the same each time; with
 * the system's clock nothing else would be different.
 */
#include <stdio.h>

#include <tickwheel/service.h>

static void call(void *name, const struct tkw_firing *firing)
{
    printf("%3d s: %s", (int)(firing->now_ns / TKW_SECOND), (const char *)name);
    if (firing->now_ns > firing->due_ns)
        printf(", due at %d s", (int)(firing->due_ns / TKW_SECOND));
    printf("\n");
}

/* Called once, however the timer has ended. */
static void end(void *name)
{
    printf("       %s is over\n", (const char *)name);
}

/* Twice as far from the beginning each time, and not after a minute. */
static uint64_t doubled(void *name, uint64_t due_ns, uint64_t now_ns)
{
    (void)name;
    (void)now_ns;
    return due_ns <= 30 * TKW_SECOND ? 2 * due_ns : UINT64_MAX;
}

/* Let the time pass, second by second: nothing is late. */
static void pass(struct tkw_manual_clock *manual, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        tkw_manual_clock_advance(manual, TKW_SECOND);
        tkw_manual_clock_settle(manual);
    }
}

int main(void)
{
    struct tkw_manual_clock *manual;
    struct tkw_service *service;
    tkw_handle beat;
    if (tkw_manual_clock_open(&manual, 0) != 0)
        return 1;
    struct tkw_service_config config = {.clock =
                                            tkw_manual_clock_source(manual)};
    if (tkw_service_open(&service, &config) != 0)
        return 1;

    struct tkw_plan steady = {.task = {call, "the heartbeat", end},
                              .when_ns = 10 * TKW_SECOND,
                              .period_ns = 10 * TKW_SECOND};
    struct tkw_plan reminder = {.task = {call, "the reminder", end},
                                .when_ns = 4 * TKW_SECOND,
                                .next = doubled};
    if (tkw_service_arm_plan(service, &beat, &steady) != 0 ||
        tkw_service_arm_plan(service, NULL, &reminder) != 0)
        return 1;
    pass(manual, 35);
    if (tkw_service_cancel(service, beat) != 1)
        return 1;

    /* Half a minute in which nothing is called: each that was missed has its
     * call afterwards. */
    steady.task.argument = "the account";
    steady.missed = TKW_BURST;
    if (tkw_service_arm_plan(service, &beat, &steady) != 0)
        return 1;
    tkw_manual_clock_advance(manual, 31 * TKW_SECOND);
    tkw_manual_clock_settle(manual);

    tkw_service_close(service, NULL, NULL);
    tkw_manual_clock_close(manual);
    return 0;
}
