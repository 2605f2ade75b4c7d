/*
 * service_races_move.c - scenarios: a timer that was moved runs once, at its
 * new time and not before.
 *
 * Of a timer that is due, arming it again may be moving it, if that comes
 * before its callback, or starting it again, if during it.  Which it was shows
 * at rest, before the clock is turned to the new time.
 */
#include "service_races.h"

#include "service_actors.h"
#include "service_scene.h"

/* 1: it has not run, and does at the new time; 0: it has begun to. */
void postpone_against_fire(void)
{
    struct probe *probe = one_pending(SCENE_TICK);
    scene_race(probe, postpone_alone, NULL);
    scene_settle();
    sched_require(probe->started == (probe->moved == 1 ? 0 : 1));
    scene_turn(2 * SCENE_TICK);
    sched_require(probe->started == 1);
    sched_require(probe->due_ns == (probe->moved == 1 ? NEW_TIME : SCENE_TICK));
    scene_end();
}

/* The same, but what has begun is started again; 0: it has ended. */
void rearm_against_fire(void)
{
    struct probe *probe = one_pending(SCENE_TICK);
    scene_race(probe, rearm_alone, NULL);
    scene_settle();
    check_rearmed(probe);
}

static void start_again_once(struct probe *probe)
{
    if (probe->started > 1)
        return;
    sched_require(tkw_service_rearm(scene.service, probe->handle, SCENE_TICK) ==
                  1);
    probe->armings++;
}

/*
 * A timer that starts itself again is pending or running at any time, so that
 * moving it from elsewhere cannot fail; and however they meet it runs twice.
 */
void rearm_against_running(void)
{
    struct probe *probe = one_pending(SCENE_TICK);
    probe->act = start_again_once;
    scene_race(probe, rearm, NULL);
    sched_require(probe->moved == 1);
    scene_settle();
    sched_require(probe->started <= 1);
    scene_check();
    scene_turn(2 * SCENE_TICK);
    scene_turn(SCENE_TICK);
    sched_require(probe->started == 2);
    sched_require(probe->armings == 2);
    scene_end();
}

/* Cancel a timer that is moved to an earlier, or a later, time meanwhile. */
static void cancel_moved(uint64_t delay_ns, void (*move)(struct probe *))
{
    struct probe *probe = one_pending(delay_ns);
    unsigned other = scene_spawn(cancel_it, probe);
    move(probe);
    sched_join(other);
    sched_require(probe->answer == 1);
    sched_require(probe->dropped == 1);
    if (probe->moved == 0)
        sched_require(probe_state(probe) == TKW_CANCELLED);
    scene_turn(SCENE_FAR);
    sched_require(probe->started == 0);
    scene_end();
}

void rearm_against_cancel(void)
{
    cancel_moved(SCENE_FAR, rearm);
}

void postpone_against_cancel(void)
{
    cancel_moved(2 * SCENE_TICK, postpone);
}

/* Whoever comes first of three, the answers tell what came of it. */
void rearm_against_cancel_and_fire(void)
{
    struct probe *probe = one_pending(SCENE_TICK);
    scene_race(probe, cancel_it, rearm);
    scene_settle();

    sched_require(probe->started <= 1);
    sched_require(probe->dropped <= 1);
    if (probe->answer == 0)
        sched_require(probe->moved == 0);
    if (probe->answer != 1)
        sched_require(probe->started == 1);
    if (probe->moved == 0)
        sched_require(probe->started + probe->dropped == 1);
    if (probe->moved == 1 && probe->started == 1)
        probe->armings++;
    sched_require(probe->started + probe->dropped == probe->armings);
    probe->is_over = true;
    scene_turn(2 * SCENE_TICK);
    scene_end();
}

void postpone_against_cancel_and_fire(void)
{
    struct probe *probe = one_pending(SCENE_TICK);
    scene_race(probe, cancel_it, postpone);
    scene_settle();

    if (probe->moved == 1)
        sched_require(probe->answer == 1);
    sched_require(probe->started == (probe->answer == 1 ? 0 : 1));
    sched_require(probe->dropped == (probe->answer == 1 ? 1 : 0));
    probe->is_over = true;
    scene_turn(2 * SCENE_TICK);
    scene_end();
}

static void rearm_sooner(struct probe *probe)
{
    probe->answer =
        tkw_service_rearm_at(scene.service, probe->handle, 2 * SCENE_TICK);
    sched_require(probe->answer == 0 || probe->answer == 1);
}

/* Two move it at once: it runs once more than it has, at one of their times. */
void rearm_against_rearm(void)
{
    struct probe *probe = one_pending(SCENE_TICK);
    scene_race(probe, rearm_sooner, rearm);
    scene_settle();

    sched_require(probe->started <= 1);
    if (probe->moved == 1 || probe->answer == 1)
        probe->armings += probe->started;
    scene_check();
    scene_turn(SCENE_TICK);
    scene_turn(SCENE_TICK);
    sched_require(probe->started == probe->armings);
    if (probe->answer == 0)
        sched_require(probe->due_ns ==
                      (probe->moved == 1 ? NEW_TIME : SCENE_TICK));
    else
        sched_require(probe->due_ns == 2 * SCENE_TICK ||
                      (probe->moved == 1 && probe->due_ns == NEW_TIME));
    scene_end();
}
