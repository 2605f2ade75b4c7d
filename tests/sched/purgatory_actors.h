/*
 * purgatory_actors.h - what the scenarios of more than one file do: how they
 * begin, what their threads do to a request, and what must have come of it.
 *
 * Threads: those of the scheduler; see purgatory_scene.h.
 */
#ifndef SCHED_PURGATORY_ACTORS_H
#define SCHED_PURGATORY_ACTORS_H

#include "purgatory_scene.h"

/* Open a plain stage and have a request watched, for long, or with a timeout
 * that has come but was not seen yet. */
struct request *one_watched(unsigned keys);
struct request *one_due(unsigned keys);

/* At rest, of one that was completed: end the stage, with all over. */
void end_completed(const struct request *request);

/* In its try, once its condition is met. */
void complete_itself(struct request *request);

/* What threads do. */
void meet_and_check(struct request *request); /* its condition, then key A */
void meet_and_check_b(struct request *request);
void check_a(struct request *unused);
void check_b(struct request *unused);
void cancel_a(struct request *unused);
void cancel_b(struct request *unused);
void force(struct request *request);      /* complete it ... */
void force_held(struct request *request); /* ... and let go of it */
void expire(struct request *unused);      /* run what is due */
void stop_service(struct request *unused);

#endif
