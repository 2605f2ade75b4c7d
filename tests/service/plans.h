/*
 * service/plans.h - what the tests of plans share: a timer that keeps a diary
 * of its calls, and arming by a plan.
 */
#ifndef TESTS_SERVICE_PLANS_H
#define TESTS_SERVICE_PLANS_H

#include "support/service.h"

#include <sched.h>

/* Written in the callback, read when the service is at rest. */
struct diary {
    struct probe probe;           /* the first, so that act() finds the diary */
    struct tkw_firing calls[32];  /* the first of them */
    uint64_t count;               /* of all */
    uint64_t overruns;            /* the sum of what it was told */
    uint64_t early;               /* calls before their time */
    void (*also)(struct diary *); /* what else to do in the callback */
};

static inline void write_down(struct probe *probe)
{
    struct diary *diary = (struct diary *)probe;
    if (diary->count < COUNT_OF(diary->calls))
        diary->calls[diary->count] = probe->firing;
    diary->count++;
    diary->overruns += probe->firing.overruns;
    diary->early += probe->clock_ns < probe->firing.due_ns;
    diary->early += probe->firing.now_ns < probe->firing.due_ns;
    if (diary->also != NULL)
        diary->also(diary);
}

/* Stay in the callback until somebody has cancelled the timer: only then can it
   not be armed again.  act() of a probe with a gate. */
static inline void hold_until_cancelled(struct probe *probe)
{
    sem_post(&probe->gate->entered);
    while (tkw_service_rearm(probe->scene->service, probe->firing.handle,
                             HOUR) == 1)
        sched_yield();
    have_patience();
    atomic_store(&probe->gate->passed, true);
}

/* Arm by a plan, the probe being its task; it must not fail. */
static inline tkw_handle arm_plan(struct scene *scene, struct probe *probe,
                                  struct tkw_plan plan)
{
    plan.task = probe_task(scene, probe);
    assert_int_equal(
        tkw_service_arm_plan(scene->service, &probe->handle, &plan), 0);
    assert_int_not_equal(probe->handle, 0);
    return probe->handle;
}

static inline tkw_handle arm_diary(struct scene *scene, struct diary *diary,
                                   struct tkw_plan plan)
{
    diary->probe.act = write_down;
    return arm_plan(scene, &diary->probe, plan);
}

/* Every 100, from 100 on. */
static const struct tkw_plan every_hundred = {.when_ns = 100, .period_ns = 100};

/* Like gate_enter(), by a plan: the clock is turned from 0 to its first time,
   and the timer is in its callback when this returns. */
static inline void gate_enter_by(struct scene *scene, struct probe *probe,
                                 struct gate *gate, struct tkw_plan plan)
{
    gate_init(gate);
    probe->gate = gate;
    if (probe->act == NULL)
        probe->act = gate_hold;
    arm_plan(scene, probe, plan);
    tkw_manual_clock_set(scene->manual, plan.when_ns);
    gate_await(gate);
}

#define MANY 10000

/* Many timers, to be armed and cancelled at once. */
struct many {
    struct probe probes[MANY];
    struct tkw_plan plans[MANY];
    tkw_handle handles[MANY];
};

/* Fresh plans, so many of them: what is not said is 0. */
static inline void many_prepare(struct many *many, struct scene *scene,
                                size_t count, uint64_t when)
{
    memset(many, 0, sizeof *many);
    for (size_t k = 0; k < count; k++) {
        many->plans[k].task = probe_task(scene, &many->probes[k]);
        many->plans[k].when_ns = when;
    }
}

/* The due time that query tells of a timer that is pending. */
static inline uint64_t due_of(struct scene *scene, tkw_handle handle)
{
    struct tkw_outlook outlook = {0};
    assert_int_equal(tkw_service_query(scene->service, handle, &outlook),
                     TKW_PENDING);
    return outlook.due_ns;
}

#endif
