/*
 * canary.c - a timer that wakes a service in which there is nothing else.
 *
 * Under load somebody always wakes the driver, or the loop, soon: that one was
 * not woken would not be noticed.  So in a service that is new, empty and
 * asleep a timer that is far away is moved near, or another is armed before it,
 * and has to run.
 */
#include "scene.h"

#include <errno.h>

#include "watch.h"

#define FAR (3600 * TKW_SECOND)
#define NEAR (TKW_MILLISECOND / 4)

struct canary {
    bool is_job; /* written before it has sung */
    atomic_bool has_sung;
};

static void sing(void *argument, const struct tkw_firing *firing)
{
    struct canary *canary = argument;
    DEMAND(firing->now_ns >= firing->due_ns, "the canary is early");
    canary->is_job = crew_is_at_job();
    atomic_store(&canary->has_sung, true);
}

/* Neither succeeds always where memory fails. */
static bool is_done(struct scene *scene, int answer, int expected)
{
    DEMAND(answer == expected || (answer == -ENOMEM &&
                                  atomic_load(&scene->account.fails_each) != 0),
           "%s: the canary hears %d", kind_name(scene->kind), answer);
    return answer == expected;
}

static bool arm(struct scene *scene, tkw_handle *handle, uint64_t delay,
                struct tkw_task task)
{
    int answer = tkw_service_arm(scene->service, handle, delay, task);
    if (!is_done(scene, answer, 0))
        return false;
    scene->sums.armed_least++;
    scene->sums.armed_most++;
    return true;
}

static bool wake_up(struct scene *scene, tkw_handle far, struct tkw_task task)
{
    struct tkw_service *service = scene->service;
    switch (random_below(&scene->random, 3)) {
    case 0:
        return is_done(scene, tkw_service_rearm(service, far, NEAR), 1);
    case 1:
        return is_done(scene, tkw_service_postpone(service, far, NEAR), 1);
    default:
        return arm(scene, NULL, NEAR, task);
    }
}

void scene_wake(struct scene *scene)
{
    struct canary canary = {0};
    tkw_handle far;
    struct tkw_task task = {sing, &canary, NULL};
    struct sums *sums = &scene->sums;
    if (!arm(scene, &far, FAR, task))
        return;
    sleep_ns(random_log(&scene->random, 20)); /* it falls asleep, or not */
    if (wake_up(scene, far, task)) {
        while (!atomic_load(&canary.has_sung))
            sleep_ns(NEAR);
        sums->fired++;
        sums->by_submit += canary.is_job;
    }
    int stopped = tkw_service_cancel_sync(scene->service, far);
    DEMAND(stopped == 0 || stopped == 1, "the canary hears %d", stopped);
    sums->cancelled_least += (unsigned)stopped;
    sums->cancelled_most += (unsigned)stopped;
}
