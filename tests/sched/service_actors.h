/*
 * service_actors.h - what the scenarios of more than one file do: how they
 * begin, what their threads do to a timer, and what must have come of it.
 *
 * An actor is given a probe, and writes down there what it was told.  It checks
 * what can be told at once, whatever else is going on.
 *
 * Threads: those of the scheduler; see service_scene.h.
 */
#ifndef SCHED_SERVICE_ACTORS_H
#define SCHED_SERVICE_ACTORS_H

#include <stdint.h>

#include "service_scene.h"

/* Where a timer is moved to. */
#define NEW_TIME (3 * SCENE_TICK)

/* Open the scene with a timer that is due after `delay_ns`, the driver
 * sleeping. */
struct probe *one_pending(uint64_t delay_ns);

/* Open it with so many that are due at the next turn of a tick, for workers.
 * Returns the first. */
struct probe *due_on_workers(unsigned count, uint32_t workers,
                             uint32_t queue_max);

/* Into `answer`: 1, 0 or -EBUSY.  If nobody else stops it, 0 is told only when
 * it has run. */
void cancel_it(struct probe *probe);
void cancel_it_alone(struct probe *probe);

/* Its memory may be freed when the call has returned: its callback is not
 * running and will not. */
void cancel_it_sync(struct probe *probe);

/* Into `second`. */
void cancel_it_too(struct probe *probe);

/* At rest: an outcome that fits the answer of the only cancel. */
void check_answer(const struct probe *probe, int answer);

/* At rest, of a timer that repeats: it was dropped, and never comes again. */
void check_over(struct probe *probe);

/* Into `moved`: 1 or 0.  If nobody else stops it, 0 is told only when it has
 * run. */
void rearm(struct probe *probe);
void rearm_alone(struct probe *probe);

/* At rest after the latter, of a timer that was due at the first tick: it has
 * run then unless it was moved before, and runs at the new time if it was moved
 * or started again.  Ends the scene. */
void check_rearmed(struct probe *probe);

/* Like rearm_alone(), to a time that has come. */
void rearm_now(struct probe *probe);

/* Into `moved`: 1 or 0.  If nobody else moves it, 1 is told only when it has
 * not begun to run. */
void postpone(struct probe *probe);
void postpone_alone(struct probe *probe);

/* In the callback, once, for now: its time has come before the callback
 * ends. */
void start_again_at_once(struct probe *probe);

/* Into `answer`: 0, or -EAGAIN if there is no room. */
void arm_far(struct probe *probe);

/* Into `answer`: how many, or -EBUSY if somebody else is at it. */
void run_all(struct probe *probe);

/* From outside: when it returns none is running, and none starts after it. */
void stop(struct probe *unused);

/* In the callback, where there is one thread for callbacks: it returns at once,
 * and none starts after it. */
void stop_inside(struct probe *unused);

/* Set a wall clock that was at 1000 back. */
void set_to_500(struct probe *unused);

/* At rest after that, of a timer that is due at 1010: if it has not run it
 * waits for its time.  Ends the scene. */
void check_set_back(const struct probe *probe);

#endif
