/*
 * manual_clock.c - testing code that uses timers: an hour passes at once.
 */
#include <stdio.h>

#include <tickwheel/service.h>

/* What is to be tested: a lock that opens after an hour. */
struct vault {
    struct tkw_service *timers;
    bool is_open;
};

static void open_vault(void *vault, const struct tkw_firing *firing)
{
    (void)firing;
    ((struct vault *)vault)->is_open = true;
}

static int turn_key(struct vault *vault)
{
    return tkw_service_arm(vault->timers, NULL, 3600 * TKW_SECOND,
                           (struct tkw_task){open_vault, vault, NULL});
}

int main(void)
{
    struct tkw_manual_clock *manual;
    struct vault vault = {0};
    if (tkw_manual_clock_open(&manual, 0) != 0)
        return 1;
    struct tkw_service_config config = {.clock =
                                            tkw_manual_clock_source(manual)};
    if (tkw_service_open(&vault.timers, &config) != 0 || turn_key(&vault) != 0)
        return 1;

    tkw_manual_clock_advance(manual, 3599 * TKW_SECOND);
    tkw_manual_clock_settle(manual);
    printf("after 59:59 it is %s\n", vault.is_open ? "open" : "shut");
    tkw_manual_clock_advance(manual, TKW_SECOND);
    tkw_manual_clock_settle(manual);
    printf("after an hour it is %s\n", vault.is_open ? "open" : "shut");

    tkw_service_close(vault.timers, NULL, NULL);
    tkw_manual_clock_close(manual);
    return 0;
}
