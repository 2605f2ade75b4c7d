/*
 * workers.c - callbacks that take long, on threads of their own: meanwhile the
 * others are called in time.
 */
#define _POSIX_C_SOURCE 200809L

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

#include <tickwheel/service.h>

enum { REPORTS = 4, WORKERS = 2 };

/* What a report needs comes from far away. */
struct archive {
    sem_t answers;
    sem_t done;
    atomic_int written;
};

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

/* Slow: it has to wait for an answer.  Let it have a worker. */
static void write_report(void *argument, const struct tkw_firing *firing)
{
    struct archive *archive = argument;
    (void)firing;
    wait_for(&archive->answers);
    atomic_fetch_add(&archive->written, 1);
    sem_post(&archive->done);
}

/* Quick, every 10 ms: so it stays on the driver.  If reports were written
 * there too, this would never be called, and the first would wait for ever. */
static void answer(void *argument, const struct tkw_firing *firing)
{
    struct archive *archive = argument;
    (void)firing;
    sem_post(&archive->answers);
}

int main(void)
{
    static struct archive archive;
    if (sem_init(&archive.answers, 0, 0) != 0 ||
        sem_init(&archive.done, 0, 0) != 0)
        return 1;

    struct tkw_service *service;
    struct tkw_service_config config = {.workers = WORKERS,
                                        .executor = TKW_ON_DRIVER};
    if (tkw_service_open(&service, &config) != 0)
        return 1;

    struct tkw_plan report = {.task = {write_report, &archive, NULL},
                              .when_ns = 5 * TKW_MILLISECOND,
                              .executor = TKW_ON_WORKERS};
    for (int i = 0; i < REPORTS; i++)
        if (tkw_service_arm_plan(service, NULL, &report) != 0)
            return 1;

    struct tkw_plan answers = {.task = {answer, &archive, NULL},
                               .when_ns = 10 * TKW_MILLISECOND,
                               .period_ns = 10 * TKW_MILLISECOND};
    if (tkw_service_arm_plan(service, NULL, &answers) != 0)
        return 1;

    for (int i = 0; i < REPORTS; i++)
        wait_for(&archive.done);
    printf("%d reports written by %d workers, while the driver went on\n",
           atomic_load(&archive.written), WORKERS);

    /* It waits for callbacks that are running: then what they use may go. */
    tkw_service_close(service, NULL, NULL);
    sem_destroy(&archive.answers);
    sem_destroy(&archive.done);
    return 0;
}
