/*
 * service_races_submit.c - scenarios: callbacks that run wherever submit puts
 * them.
 *
 * A job that is out is pending like any timer that is due: it may be cancelled
 * and moved until somebody runs it, and who runs it after that finds nothing to
 * do.  Close waits for whoever has one.
 */
#include "service_races.h"

#include "service_actors.h"
#include "service_scene.h"

/* So many jobs that were submitted, and are with us. */
static struct probe *jobs_out(unsigned count)
{
    scene_open(
        (struct scene_config){.job_room = SCENE_JOBS, .has_no_driver = true});
    for (unsigned i = 0; i < count; i++)
        probe_must_arm(&scene.probes[i], SCENE_TICK);
    scene_turn(SCENE_TICK);
    sched_require(scene.job_count == count);
    return &scene.probes[0];
}

/* Let two threads do something while nothing else happens. */
static void race(struct probe *probe, void (*first)(struct probe *probe),
                 void (*second)(struct probe *probe))
{
    unsigned other = scene_spawn(first, probe);
    second(probe);
    sched_join(other);
    scene_settle();
}

static void run_first_job(struct probe *probe)
{
    probe->again = scene_run_job(0);
}

static void return_first_job(struct probe *probe)
{
    (void)probe;
    scene_return_job(0);
}

void job_run_against_cancel(void)
{
    struct probe *probe = jobs_out(1);
    race(probe, run_first_job, cancel_it);
    sched_require((probe->again == 1) == (probe->answer != 1));
    check_answer(probe, probe->answer);
    scene_end();
}

void job_run_against_cancel_sync(void)
{
    struct probe *probe = jobs_out(1);
    race(probe, run_first_job, cancel_it_sync);
    sched_require((probe->again == 1) == (probe->answer != 1));
    check_answer(probe, probe->answer);
    scene_end();
}

/* It runs by the job, and once more by the next one if it was started again;
 * or by the next one only. */
void job_run_against_rearm(void)
{
    struct probe *probe = jobs_out(1);
    race(probe, run_first_job, rearm_alone);
    sched_require(probe->started == (unsigned)probe->again);
    probe->armings += probe->again == 1 && probe->moved == 1;
    scene_check();
    scene_turn(2 * SCENE_TICK);
    sched_require(scene.job_count == (probe->moved == 1 ? 2 : 1));
    if (probe->moved == 1)
        sched_require(scene_run_job(1));
    sched_require(probe->started == probe->armings);
    scene_end();
}

static void run_all_jobs(struct probe *probe)
{
    (void)probe;
    sched_require(tkw_service_run(scene.service, 0) >= 0);
    for (unsigned at = 1; at < scene.job_count; at++)
        scene_run_job(at);
}

/* What is left to run when two threads are done. */
static void run_the_rest(struct probe *probe, unsigned at)
{
    scene_settle();
    while (at < scene.job_count)
        scene_run_job(at++);
    sched_require(tkw_service_count(scene.service) == 0);
    sched_require(probe->started == probe->returned);
}

/* Its time comes again while it runs: no job may run it before its end. */
void job_due_again_while_running(void)
{
    struct probe *probe = jobs_out(1);
    probe->act = start_again_at_once;
    race(probe, run_first_job, run_all_jobs);
    if (probe->started == 1)
        run_the_rest(probe, 1);
    sched_require(probe->started == 2);
    scene_end();
}

static void rearm_and_run_all_jobs(struct probe *probe)
{
    rearm_now(probe);
    run_all_jobs(probe);
}

/* The same by another thread. */
void job_run_against_rearm_for_now(void)
{
    struct probe *probe = jobs_out(1);
    race(probe, run_first_job, rearm_and_run_all_jobs);
    if (tkw_service_count(scene.service) > 0)
        run_the_rest(probe, 1);
    sched_require(probe->started == 1 || probe->moved == 1);
    sched_require(probe->started == 1 || probe->again == 1);
    sched_require(probe->started == 1 || probe->started == 2);
    probe->armings = probe->started;
    scene_end();
}

static void cancel_and_reuse(struct probe *probe)
{
    cancel_it(probe);
    probe_must_arm(probe + 1, 0);
    probe_must_arm(probe + 2, SCENE_FAR);
}

/* A job of a timer that is over does nothing to those in its place. */
void stale_job_against_reuse(void)
{
    struct probe *probe = jobs_out(1);
    race(probe, run_first_job, cancel_and_reuse);
    sched_require(probe->started == (unsigned)probe->again);
    sched_require(probe->started == (probe->answer == 1 ? 0 : 1));
    sched_require(scene.job_count == 2);
    sched_require(scene.started == probe->started);
    sched_require(scene_run_job(1));
    sched_require(scene.probes[1].started == 1);
    scene_end();
}

/* It ran before, or does not. */
void job_run_against_stop(void)
{
    struct probe *probe = jobs_out(2);
    unsigned other = scene_spawn(run_first_job, probe);
    stop(NULL);
    sched_require(!scene_run_job(1));
    sched_join(other);
    sched_require(probe->started == (unsigned)probe->again);
    scene_end();
}

static bool is_closed;
static bool has_begun;

static void run_job_before_the_end(struct probe *probe)
{
    sched_require(!is_closed);
    has_begun = true;
    run_first_job(probe);
}

static void return_job_before_the_end(struct probe *probe)
{
    sched_require(!is_closed);
    has_begun = true;
    return_first_job(probe);
}

static void close_with_a_job_out(void (*end)(struct probe *probe))
{
    struct probe *probe = jobs_out(1);
    is_closed = false;
    has_begun = false;
    unsigned other = scene_spawn(end, probe);
    scene_close();
    is_closed = true;
    sched_require(has_begun);
    sched_join(other);
    sched_require(probe->started == (unsigned)probe->again);
    sched_require(probe->started + probe->handed_back == 1);
}

/* It waits for whoever has a job. */
void job_run_against_close(void)
{
    close_with_a_job_out(run_job_before_the_end);
}

void job_return_against_close(void)
{
    close_with_a_job_out(return_job_before_the_end);
}

/* It is pending all the time, so it can be cancelled. */
void job_return_against_cancel(void)
{
    struct probe *probe = jobs_out(1);
    race(probe, return_first_job, cancel_it);
    sched_require(probe->answer == 1);
    scene_turn(2 * SCENE_TICK);
    sched_require(scene.job_count == 1);
    scene_end();
}

/* And moved: the new time is the one that counts. */
void job_return_against_rearm(void)
{
    struct probe *probe = jobs_out(1);
    race(probe, return_first_job, rearm_alone);
    sched_require(probe->moved == 1);
    probe->not_before = NEW_TIME;
    scene_check();
    scene_turn(SCENE_TICK);
    sched_require(scene.job_count == 1);
    scene_turn(SCENE_TICK);
    sched_require(scene.job_count == 2);
    sched_require(scene_run_job(1));
    sched_require(probe->due_ns == NEW_TIME);
    scene_end();
}

/* It comes again a tick later, be the driver wherever it is. */
void job_return_against_falling_asleep(void)
{
    struct probe *probe = jobs_out(1);
    unsigned other = scene_spawn(return_first_job, probe);
    probe_must_arm(&scene.probes[1], SCENE_FAR);
    sched_join(other);
    scene_turn(SCENE_TICK);
    sched_require(scene.job_count == 2);
    sched_require(scene_run_job(1));
    scene_end();
}

/* One of two was refused: it is asked for again when the other was run, or a
 * tick later. */
void job_run_against_refusing(void)
{
    struct probe *probe = &scene.probes[0];
    scene_open((struct scene_config){.job_room = 1, .has_no_driver = true});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_TICK);
    scene_turn(SCENE_TICK);
    sched_require(scene.job_count == 1);
    scene.job_room = 2;
    unsigned other = scene_spawn(run_first_job, probe);
    sched_join(other);
    scene_settle();
    sched_require(scene.job_count == 2);
    sched_require(scene_run_job(1));
    sched_require(scene.started == 2);
    scene_end();
}

/* Room that is made while the driver is being refused. */
static void make_room(struct probe *probe)
{
    if (scene.job_count == 0)
        return;
    scene.job_room = 2;
    run_first_job(probe);
}

void refusing_against_job_run(void)
{
    struct probe *probe = &scene.probes[0];
    scene_open((struct scene_config){.job_room = 1, .has_no_driver = true});
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_TICK);
    scene_settle();
    scene_race(probe, make_room, NULL);
    scene_settle();
    if (probe->again == 0)
        make_room(probe);
    scene_turn(SCENE_TICK);
    sched_require(scene.job_count == 2);
    sched_require(scene_run_job(1));
    sched_require(scene.started == 2);
    scene_end();
}

/* A submit that runs jobs itself is a runner like any other. */
void stop_against_running_at_once(void)
{
    scene_open(
        (struct scene_config){.job_room = SCENE_JOBS, .has_no_driver = true});
    scene.runs_at_once = true;
    scene.inside_max = 1;
    probe_must_arm(&scene.probes[0], SCENE_TICK);
    probe_must_arm(&scene.probes[1], SCENE_TICK);
    scene_settle();
    scene_race(NULL, stop, NULL);
    scene_end();
}

static void run_next_job(struct probe *probe)
{
    (void)probe;
    sched_require(scene_run_job(1));
}

static void cancel_outer_sync(struct probe *probe)
{
    sched_require(tkw_service_cancel_sync(scene.service, probe[-1].handle) ==
                  -EDEADLK);
}

/* A callback runs another's job, whose callback asks for the end of the first:
 * both are in the same thread, which cannot wait for itself. */
void cancel_sync_of_an_outer_callback(void)
{
    struct probe *probe = jobs_out(2);
    probe->act = run_next_job;
    scene.probes[1].act = cancel_outer_sync;
    sched_require(scene_run_job(0));
    scene_end();
}

static void set_to_500_and_run(struct probe *unused)
{
    (void)unused;
    set_to_500(NULL);
    sched_require(tkw_service_run(scene.service, 0) >= 0);
}

/* A wall clock is set back while a job is out: then that job is not to be run
 * any more. */
void set_back_against_job_run(void)
{
    struct probe *probe = &scene.probes[0];
    scene_open((struct scene_config){.now = 1000,
                                     .is_wall = true,
                                     .job_room = SCENE_JOBS,
                                     .has_no_driver = true});
    probe_must_arm(probe, SCENE_TICK);
    scene_turn(SCENE_TICK);
    sched_require(scene.job_count == 1);
    race(probe, run_first_job, set_to_500_and_run);
    sched_require(probe->started == (unsigned)probe->again);
    check_set_back(probe);
}
