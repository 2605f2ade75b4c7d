/*
 * hello_service.c - a service: arm from one thread, be called by another,
 * cancel and know what became of it.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include <tickwheel/service.h>

static atomic_int rings;

static void ring(void *name, const struct tkw_firing *firing)
{
    bool is_early = tkw_service_now(firing->service) < firing->due_ns;
    printf("%s%s\n", (const char *)name, is_early ? ", too early" : "");
    atomic_fetch_add(&rings, 1);
}

int main(void)
{
    struct tkw_service *service;
    if (tkw_service_open(&service, NULL) != 0)
        return 1;

    tkw_handle tea;
    tkw_service_arm(service, &tea, 50 * TKW_MILLISECOND,
                    (struct tkw_task){ring, "the tea is ready", NULL});
    tkw_service_arm(service, NULL, 20 * TKW_MILLISECOND,
                    (struct tkw_task){ring, "the egg is ready", NULL});
    if (tkw_service_cancel(service, tea) == 1)
        printf("no tea then\n");

    while (atomic_load(&rings) < 1)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return tkw_service_close(service, NULL, NULL);
}
