/*
 * service_probe.c - the timers of scenarios, which write down what becomes of
 * them, and see to it that it is what was promised.
 */
#include "service_scene.h"

static void ring(void *argument, const struct tkw_firing *firing)
{
    struct probe *probe = argument;
    sched_require(scene.inside < scene.inside_max);
    sched_require(!probe->is_inside);
    sched_require(probe->dropped == 0 || !probe->repeats);
    sched_require(!scene.is_quiet);
    sched_require(!probe->is_over);
    sched_require(probe->started_max == 0 ||
                  probe->started < probe->started_max);
    sched_require(firing->service == scene.service);
    sched_require(firing->handle == probe->handle);
    sched_require(firing->now_ns >= firing->due_ns);
    sched_require(firing->now_ns >= probe->not_before);
    probe->is_inside = true;
    scene.is_inside = true;
    scene.inside++;
    probe->due_ns = firing->due_ns;
    probe->place = ++scene.started;
    probe->started++;
    if (scene.is_wall)
        SYNC_POINT(); /* it takes a while */
    else
        sched_require(tkw_manual_clock_now(scene.manual) >= firing->due_ns);
    if (probe->act != NULL)
        probe->act(probe);
    probe->returned++;
    probe->is_inside = false;
    scene.is_inside = --scene.inside > 0;
}

static void drop(void *argument)
{
    struct probe *probe = argument;
    SYNC_POINT();
    probe->dropped++;
    if (probe->act_on_drop != NULL)
        probe->act_on_drop(probe);
}

/* Counted before: its callback may come before this returns. */
int probe_arm(struct probe *probe, uint64_t delay_ns)
{
    struct tkw_task task = {ring, probe, drop};
    probe->armings++;
    int result = tkw_service_arm(scene.service, &probe->handle, delay_ns, task);
    if (result != 0)
        probe->armings--;
    return result;
}

void probe_must_arm(struct probe *probe, uint64_t delay_ns)
{
    sched_require(probe_arm(probe, delay_ns) == 0);
}

/* Counted before, if it is the only arming. */
int probe_arm_plan(struct probe *probe, struct tkw_plan plan)
{
    plan.task = (struct tkw_task){ring, probe, drop};
    probe->repeats = plan.period_ns != 0 || plan.next != NULL;
    probe->armings += !probe->repeats;
    int result = tkw_service_arm_plan(scene.service, &probe->handle, &plan);
    if (result != 0) {
        probe->armings -= !probe->repeats;
        probe->repeats = false;
    }
    return result;
}

void probe_must_plan(struct probe *probe, struct tkw_plan plan)
{
    sched_require(probe_arm_plan(probe, plan) == 0);
}

int probe_cancel(struct probe *probe)
{
    unsigned dropped = probe->dropped;
    int result = tkw_service_cancel(scene.service, probe->handle);
    if (result == 1) {
        sched_require(probe->dropped > dropped);
        probe->is_over = true;
    }
    /* It runs, though it may have yet to enter its callback. */
    if (result == -EBUSY)
        probe->started_max = probe->started + !probe->is_inside;
    return result;
}

int probe_cancel_sync(struct probe *probe)
{
    int result = tkw_service_cancel_sync(scene.service, probe->handle);
    sched_require(result == 0 || result == 1);
    sched_require(probe->started == probe->returned);
    probe->is_over = true;
    return result;
}

enum tkw_state probe_state(const struct probe *probe)
{
    return tkw_service_query(scene.service, probe->handle, NULL);
}

/* Pending, and how it should be: until it was dropped. */
static unsigned check_repeating(const struct probe *probe)
{
    enum tkw_state state = probe_state(probe);
    sched_require(probe->started == probe->returned);
    sched_require(probe->dropped <= 1);
    if (probe->dropped == 0) {
        sched_require(!probe->is_over);
        sched_require(state == TKW_PENDING || state == TKW_READY);
        return 1;
    }
    sched_require(state == TKW_DONE || state == TKW_CANCELLED ||
                  state == TKW_STALE);
    return 0;
}

static unsigned check_single(const struct probe *probe)
{
    unsigned ended = probe->started + probe->dropped;
    sched_require(probe->started == probe->returned);
    sched_require(ended <= probe->armings);
    if (probe->armings == 0)
        return 0;

    struct tkw_outlook outlook = {0};
    enum tkw_state state =
        tkw_service_query(scene.service, probe->handle, &outlook);
    if (ended < probe->armings) {
        sched_require(ended + 1 == probe->armings);
        sched_require(!probe->is_over);
        sched_require(state == TKW_PENDING || state == TKW_READY);
        sched_require(outlook.due_ns >= probe->not_before);
    } else if (state == TKW_DONE) {
        sched_require(probe->started > 0);
    } else if (state == TKW_CANCELLED) {
        sched_require(probe->dropped > 0);
    } else {
        sched_require(state == TKW_STALE);
    }
    return probe->armings - ended;
}

unsigned probe_check(const struct probe *probe)
{
    return probe->repeats ? check_repeating(probe) : check_single(probe);
}
