/*
 * service_actors.c - what the scenarios of more than one file do.
 */
#include "service_actors.h"

struct probe *one_pending(uint64_t delay_ns)
{
    scene_open((struct scene_config){0});
    probe_must_arm(&scene.probes[0], delay_ns);
    scene_settle();
    return &scene.probes[0];
}

struct probe *due_on_workers(unsigned count, uint32_t workers,
                             uint32_t queue_max)
{
    scene_open((struct scene_config){
        .workers = workers, .queue_max = queue_max, .has_no_driver = true});
    for (unsigned i = 0; i < count; i++)
        probe_must_arm(&scene.probes[i], SCENE_TICK);
    scene_settle();
    return &scene.probes[0];
}

void cancel_it(struct probe *probe)
{
    int answer = probe_cancel(probe);
    sched_require(answer == 1 || answer == 0 || answer == -EBUSY);
    probe->answer = answer;
}

void cancel_it_alone(struct probe *probe)
{
    cancel_it(probe);
    if (probe->answer == 0)
        sched_require(probe->returned == 1);
}

void cancel_it_sync(struct probe *probe)
{
    probe->answer = probe_cancel_sync(probe);
}

void cancel_it_too(struct probe *probe)
{
    probe->second = probe_cancel(probe);
}

void check_answer(const struct probe *probe, int answer)
{
    sched_require(probe->started == (answer == 1 ? 0 : 1));
    sched_require(probe->dropped == (answer == 1 ? 1 : 0));
    sched_require(probe_state(probe) ==
                  (answer == 1 ? TKW_CANCELLED : TKW_DONE));
}

void check_over(struct probe *probe)
{
    scene_settle();
    sched_require(probe->dropped == 1);
    sched_require(tkw_service_count(scene.service) == 0);
    probe->is_over = true;
    scene_turn(2 * SCENE_TICK);
    sched_require(probe->dropped == 1);
    sched_require(tkw_service_cancel(scene.service, probe->handle) == 0);
}

static void rearm_at(struct probe *probe, uint64_t time_ns)
{
    int answer = tkw_service_rearm_at(scene.service, probe->handle, time_ns);
    sched_require(answer == 0 || answer == 1);
    probe->moved = answer;
}

void rearm(struct probe *probe)
{
    rearm_at(probe, NEW_TIME);
}

void rearm_alone(struct probe *probe)
{
    rearm(probe);
    if (probe->moved == 0)
        sched_require(probe->returned == probe->armings);
}

void check_rearmed(struct probe *probe)
{
    if (probe->started == 1)
        sched_require(probe->due_ns == SCENE_TICK);
    if (probe->moved == 1) {
        probe->armings += probe->started;
        probe->not_before = NEW_TIME;
    }
    scene_check();
    scene_turn(2 * SCENE_TICK);
    sched_require(probe->started == probe->armings);
    sched_require(probe->due_ns == (probe->moved == 1 ? NEW_TIME : SCENE_TICK));
    scene_end();
}

void rearm_now(struct probe *probe)
{
    rearm_at(probe, SCENE_TICK);
    if (probe->moved == 0)
        sched_require(probe->started > 0);
}

void postpone(struct probe *probe)
{
    int answer =
        tkw_service_postpone_at(scene.service, probe->handle, NEW_TIME);
    sched_require(answer == 0 || answer == 1);
    probe->moved = answer;
}

void postpone_alone(struct probe *probe)
{
    postpone(probe);
    if (probe->moved == 0)
        return;
    sched_require(probe->started == 0);
    probe->not_before = NEW_TIME;
}

void start_again_at_once(struct probe *probe)
{
    if (probe->started > 1)
        return;
    probe->again = tkw_service_rearm(scene.service, probe->handle, 0);
    sched_require(probe->again == 0 || probe->again == 1);
    probe->armings += (unsigned)probe->again;
    SYNC_POINT();
}

void arm_far(struct probe *probe)
{
    probe->answer = probe_arm(probe, SCENE_FAR);
    sched_require(probe->answer == 0 || probe->answer == -EAGAIN);
}

void run_all(struct probe *probe)
{
    probe->answer = tkw_service_run(scene.service, 0);
    sched_require(probe->answer >= 0 || probe->answer == -EBUSY);
}

void stop(struct probe *unused)
{
    (void)unused;
    tkw_service_stop(scene.service);
    sched_require(!scene.is_inside);
    scene.is_quiet = true;
}

void stop_inside(struct probe *unused)
{
    (void)unused;
    tkw_service_stop(scene.service);
    scene.is_quiet = true;
    sched_require(tkw_service_close(scene.service, NULL, NULL) == -EDEADLK);
}

void set_to_500(struct probe *unused)
{
    (void)unused;
    tkw_manual_clock_set(scene.manual, 500);
}

void check_set_back(const struct probe *probe)
{
    unsigned started = probe->started;
    unsigned job_count = scene.job_count;
    scene_check();
    tkw_manual_clock_set(scene.manual, 1009);
    scene_settle();
    sched_require(probe->started == started);
    sched_require(scene.job_count == job_count);
    scene_turn(1);
    if (scene.job_count > job_count)
        sched_require(scene_run_job(job_count));
    sched_require(probe->started == 1);
    scene_end();
}
