/*
 * retry.c - trying again what has failed: each time after twice as long, and
 * not at the same moment as everybody else who has failed.
 */
#define _POSIX_C_SOURCE 200809L

#include <semaphore.h>
#include <stdio.h>

#include <tickwheel/service.h>

enum { TRIES_MAX = 6 };

#define FIRST_WAIT (2 * TKW_MILLISECOND)
#define LONGEST_WAIT (10 * TKW_MILLISECOND)

struct request {
    const char *name;
    int tries;
    int failures_left; /* of the server, that is: unknown to us */
    uint64_t tried_ns;
    uint64_t wait_ns;
    sem_t *is_over;
};

static bool ask_server(struct request *request)
{
    return request->failures_left-- <= 0;
}

static void attempt(void *argument, const struct tkw_firing *firing);

/* Between the whole wait and half as much again: nobody can tell when. */
static int try_later(struct tkw_service *service, struct request *request)
{
    uint64_t wait_ns = FIRST_WAIT << (request->tries - 1);
    if (wait_ns > LONGEST_WAIT)
        wait_ns = LONGEST_WAIT;
    request->wait_ns = wait_ns;
    request->tried_ns = tkw_service_now(service);
    struct tkw_plan plan = {.task = {attempt, request, NULL},
                            .when_ns = wait_ns,
                            .jitter_ns = wait_ns / 2};
    return tkw_service_arm_plan(service, NULL, &plan);
}

static void attempt(void *argument, const struct tkw_firing *firing)
{
    struct request *request = argument;
    bool is_early = firing->now_ns < request->tried_ns + request->wait_ns;

    request->tries++;
    if (ask_server(request)) {
        printf("%s: try %d worked%s\n", request->name, request->tries,
               is_early ? ", too early" : "");
    } else if (request->tries == TRIES_MAX ||
               try_later(firing->service, request) != 0) {
        printf("%s: gave up after %d\n", request->name, request->tries);
    } else {
        printf("%s: try %d failed%s, again in %d ms or so\n", request->name,
               request->tries, is_early ? ", too early" : "",
               (int)(request->wait_ns / TKW_MILLISECOND));
        return;
    }
    sem_post(request->is_over);
}

/* One after the other, so that what is printed has an order. */
int main(void)
{
    struct request requests[] = {
        {.name = "mail", .failures_left = 4},
        {.name = "news", .failures_left = 100},
    };
    struct tkw_service *service;
    sem_t is_over;
    if (sem_init(&is_over, 0, 0) != 0 || tkw_service_open(&service, NULL) != 0)
        return 1;

    for (int i = 0; i < 2; i++) {
        requests[i].is_over = &is_over;
        if (tkw_service_arm(service, NULL, 0,
                            (struct tkw_task){attempt, &requests[i], NULL}))
            return 1;
        while (sem_wait(&is_over) != 0)
            continue;
    }
    return tkw_service_close(service, NULL, NULL);
}
