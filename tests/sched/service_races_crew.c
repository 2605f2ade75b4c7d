/*
 * service_races_crew.c - scenarios: callbacks that run in workers.
 *
 * To wait for a worker is to be pending: until a worker has claimed a timer it
 * can be cancelled and moved.  What finds no room waits, and is not forgotten.
 */
#include "service_races.h"

#include "service_actors.h"
#include "service_scene.h"

static struct probe *one_due(void)
{
    return due_on_workers(1, 1, 1);
}

void cancel_against_a_worker(void)
{
    struct probe *probe = one_due();
    scene_race(probe, cancel_it, NULL);
    if (probe->answer == 0)
        sched_require(probe->returned == 1);
    scene_settle();
    check_answer(probe, probe->answer);
    scene_end();
}

void cancel_sync_against_a_worker(void)
{
    struct probe *probe = one_due();
    scene_race(probe, cancel_it_sync, NULL);
    check_answer(probe, probe->answer);
    scene_end();
}

static void cancel_next(struct probe *probe)
{
    enum tkw_state state = probe_state(probe + 1);
    sched_require(state == TKW_READY);
    sched_require(probe_cancel(probe + 1) == 1);
}

/* The only worker is busy: what waits for it is not running, be it in the
 * queue or not yet there. */
void cancel_in_the_queue(void)
{
    struct probe *probe = due_on_workers(2, 1, 1);
    probe->act = cancel_next;
    scene_turn(SCENE_TICK);
    sched_require(probe->started == 1);
    sched_require(scene.probes[1].started == 0);
    scene_end();
}

/* Whoever comes into its place in memory while it waits is not run for it. */
static void cancel_next_and_reuse(struct probe *probe)
{
    cancel_next(probe);
    probe_must_arm(probe + 2, SCENE_FAR);
}

void reuse_against_the_queue(void)
{
    struct probe *probe = due_on_workers(2, 1, 2);
    probe->act = cancel_next_and_reuse;
    scene_turn(SCENE_TICK);
    sched_require(probe->started == 1);
    sched_require(scene.started == 1);
    scene_end();
}

/* Moved while it waits for the worker; or started again, while it runs there;
 * or it had ended. */
void rearm_against_a_worker(void)
{
    struct probe *probe = one_due();
    scene_race(probe, rearm_alone, NULL);
    scene_settle();
    check_rearmed(probe);
}

void postpone_against_a_worker(void)
{
    struct probe *probe = one_due();
    scene_race(probe, postpone_alone, NULL);
    scene_settle();
    sched_require(probe->started == (probe->moved == 1 ? 0 : 1));
    scene_turn(2 * SCENE_TICK);
    sched_require(probe->started == 1);
    scene_end();
}

/* Two workers are there for it; yet it is never run by both, nor forgotten. */
void due_again_while_running(void)
{
    struct probe *probe = due_on_workers(1, 2, 2);
    probe->act = start_again_at_once;
    scene_turn(SCENE_TICK);
    sched_require(probe->again == 1);
    sched_require(probe->started == 2);
    scene_end();
}

/* The same from another thread; with one worker, for there are many orders. */
void rearm_for_now_against_a_worker(void)
{
    struct probe *probe = one_due();
    scene_race(probe, rearm_now, NULL);
    scene_settle();
    sched_require(probe->started == 1 || probe->moved == 1);
    sched_require(probe->started == 1 || probe->started == 2);
    probe->armings = probe->started;
    scene_end();
}

/* From both: if it was still waiting when it was moved, twice, else thrice. */
void rearm_for_now_against_due_again(void)
{
    struct probe *probe = one_due();
    probe->act = start_again_at_once;
    scene_race(probe, rearm_now, NULL);
    scene_settle();
    sched_require(probe->again == 1);
    sched_require(probe->started == 2 || probe->started == 3);
    sched_require(probe->started == 2 || probe->moved == 1);
    probe->armings = probe->started;
    scene_end();
}

/* It is late, and then it is moved: what counts is the new time. */
void rearm_against_due_again(void)
{
    struct probe *probe = one_due();
    probe->act = start_again_at_once;
    scene_race(probe, rearm_alone, NULL);
    scene_settle();
    sched_require(probe->started <= 2);
    if (probe->moved == 0)
        sched_require(probe->started == 2);
    /* If it was in its second callback, it was started once more. */
    if (probe->started == 2)
        probe->armings += (unsigned)tkw_service_count(scene.service);
    scene_check();
    scene_turn(2 * SCENE_TICK);
    sched_require(probe->started == probe->armings);
    scene_end();
}

static void end_due_again(void (*cancel)(struct probe *probe))
{
    struct probe *probe = one_due();
    probe->act = start_again_at_once;
    scene_race(probe, cancel, NULL);
    scene_settle();
    sched_require(tkw_service_count(scene.service) == 0);
    sched_require(probe->started + probe->dropped == probe->armings);
    if (probe->answer == 1)
        sched_require(probe->dropped == 1);
    probe->is_over = true;
    scene_turn(SCENE_TICK);
    scene_end();
}

/* Late or not, what is cancelled is over. */
void cancel_against_due_again(void)
{
    end_due_again(cancel_it);
}

void cancel_sync_against_due_again(void)
{
    end_due_again(cancel_it_sync);
}

/* Once, for now, and its callback goes on until it is let go. */
static void start_again_and_wait(struct probe *probe)
{
    if (probe->started > 1)
        return;
    start_again_at_once(probe);
    sync_lock(&scene.mutex);
    sync_broadcast(&scene.has_changed);
    while (scene.is_held)
        sync_wait(&scene.has_changed, &scene.mutex);
    sync_unlock(&scene.mutex);
}

/* It is late for certain: whoever ran it is about to hurry it up. */
void cancel_against_hurrying(void)
{
    struct probe *probe = one_due();
    probe->act = start_again_and_wait;
    scene.is_held = true;
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    sched_require(tkw_service_run(scene.service, 0) == 1);
    sync_lock(&scene.mutex);
    while (probe->again == 0)
        sync_wait(&scene.has_changed, &scene.mutex);
    sync_unlock(&scene.mutex);
    sched_require(tkw_service_run(scene.service, 0) == 0);
    scene_resume();
    cancel_it(probe);
    scene_settle();
    sched_require(tkw_service_count(scene.service) == 0);
    sched_require(probe->started + probe->dropped == probe->armings);
    scene_end();
}

static void run_all_due(unsigned count, uint32_t workers, uint32_t queue_max)
{
    due_on_workers(count, workers, queue_max);
    scene_turn(SCENE_TICK);
    for (unsigned i = 0; i < count; i++) {
        sched_require(scene.probes[i].started == 1);
        if (workers == 1)
            sched_require(scene.probes[i].place == i + 1);
    }
    scene_end();
}

/* The queue is full, and who finds that comes again only when told so;
 * meanwhile a worker makes room. */
void room_against_a_full_queue(void)
{
    run_all_due(3, 1, 1);
}

/* When half of it is empty, it says so. */
void room_in_half_of_the_queue(void)
{
    run_all_due(3, 1, 2);
}

/* The same with a driver, who falls asleep: a thread for its own callbacks is
 * there as well. */
void room_against_falling_asleep(void)
{
    scene_open(
        (struct scene_config){.workers = 1, .queue_max = 1, .is_held = true});
    probe_must_arm(&scene.probes[0], 0);
    probe_must_arm(&scene.probes[1], 0);
    scene_resume();
    scene_settle();
    sched_require(scene.started == 2);
    scene_close();
}

static void arm_now(struct probe *probe)
{
    probe_must_arm(probe, 0);
}

/* What is armed while there is no room comes when there is. */
void arm_against_a_full_queue(void)
{
    due_on_workers(2, 1, 1);
    scene_race(&scene.probes[2], arm_now, NULL);
    scene_settle();
    for (int i = 0; i < SCENE_PROBES; i++)
        sched_require(scene.probes[i].started == 1);
    scene_end();
}

/* Who found no room and then spends its budget elsewhere has to come again. */
void room_against_a_small_budget(void)
{
    scene_open((struct scene_config){
        .workers = 1, .queue_max = 1, .has_no_driver = true, .timers_max = 4});
    scene.inside_max = 2;
    for (int i = 0; i < 2; i++)
        probe_must_arm(&scene.probes[i], SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    sched_require(tkw_service_run(scene.service, 0) > 0);
    probe_must_plan(&scene.probes[2],
                    (struct tkw_plan){.executor = TKW_ON_DRIVER});
    sched_require(tkw_service_run(scene.service, 1) == 1);
    scene_settle();
    for (int i = 0; i < SCENE_PROBES; i++)
        sched_require(scene.probes[i].started == 1);
    scene_end();
}

void stop_against_workers(void)
{
    due_on_workers(2, 1, 1);
    scene_race(NULL, stop, NULL);
    scene_end();
}

/* Inside it returns at once; outside it waits for that callback, too. */
void stop_inside_a_worker_against_stop(void)
{
    struct probe *probe = one_due();
    probe->act = stop_inside;
    scene_race(NULL, stop, NULL);
    scene_end();
}

/* What waits in the queue is handed back, or has run. */
void close_against_workers(void)
{
    due_on_workers(SCENE_PROBES, 1, 2);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    scene_close();
    for (int i = 0; i < SCENE_PROBES; i++) {
        const struct probe *probe = &scene.probes[i];
        sched_require(probe->started + probe->handed_back == 1);
    }
}

/* A wall clock is set back while a timer waits for a worker. */
void set_back_against_a_worker(void)
{
    struct probe *probe = &scene.probes[0];
    scene_open((struct scene_config){.now = 1000,
                                     .is_wall = true,
                                     .workers = 1,
                                     .queue_max = 1,
                                     .has_no_driver = true});
    probe_must_arm(probe, SCENE_TICK);
    tkw_manual_clock_advance(scene.manual, SCENE_TICK);
    sched_require(tkw_service_run(scene.service, 0) == 1);
    set_to_500(NULL);
    sched_require(tkw_service_run(scene.service, 0) >= 0);
    scene_settle();
    check_set_back(probe);
}
