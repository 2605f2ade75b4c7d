/*
 * consumer.c - a user of the library, in ten lines: it links, it runs, and it
 * is the version that the headers say.
 */
#include <stdio.h>
#include <string.h>

#include <tickwheel.h>

static void ring(void *count, const struct tkw_firing *firing)
{
    (void)firing;
    ++*(int *)count;
}

int main(void)
{
    int count = 0;
    struct tkw_manual_clock *manual;
    struct tkw_service *service;
    if (strcmp(tkw_version(), TKW_VERSION) != 0 ||
        tkw_manual_clock_open(&manual, 0) != 0)
        return 1;
    struct tkw_service_config config = {.clock =
                                            tkw_manual_clock_source(manual)};
    if (tkw_service_open(&service, &config) != 0)
        return 1;
    tkw_service_arm(service, NULL, TKW_SECOND,
                    (struct tkw_task){ring, &count, NULL});
    tkw_manual_clock_advance(manual, TKW_SECOND);
    tkw_manual_clock_settle(manual);
    tkw_service_close(service, NULL, NULL);
    tkw_manual_clock_close(manual);
    printf("tickwheel %s rang %d time\n", tkw_version(), count);
    return count != 1;
}
