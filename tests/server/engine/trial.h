/*
 * server/engine/trial.h - a tape, played to an engine and to the model, whose
 * replies must be equal.
 */
#ifndef TESTS_SERVER_ENGINE_TRIAL_H
#define TESTS_SERVER_ENGINE_TRIAL_H

#include "memory.h"
#include "server.h"
#include "tape.h"

enum { TRIAL_QUEUE = 4 };

/* Operations of a client that waits, which are done when it is served. */
struct queue {
    unsigned count;
    struct op ops[TRIAL_QUEUE];
};

struct trial_options {
    enum model_bug bug;
    uint64_t fail_from; /* the number of the first request for memory that
                           fails, from 1; 0: none fails */
    uint64_t fail_count;
    struct bytes *script; /* NULL, or what is done, for a reader */
};

struct trial {
    const struct tape *tape;
    struct trial_options options;
    struct model model;
    struct model before; /* the last act, if it has choices */
    struct server server;
    struct memory memory;
    struct tkd_store *store;
    struct queue queues[MODEL_CLIENTS];
    struct bytes text;     /* of an act */
    uint64_t acts;         /* done so far */
    uint64_t ids_lost;     /* that puts without memory may have taken */
    uint64_t refusals;     /* acts that got OUT_OF_MEMORY */
    unsigned op_at;        /* the operation that is being done */
    const char *fault;     /* NULL, or what is wrong */
    struct bytes received; /* by the client of the fault, */
    struct bytes expected; /* and by the model's */
};

/* Play a tape, up to the first fault.  Returns whether there is none; else
 * `trial->fault` says what is wrong. */
bool trial_play(struct trial *trial, const struct tape *tape,
                const struct trial_options *options);

/* Free what the trial holds. */
void trial_free(struct trial *trial);

/* Rewrite a reply of `stats`, list-tubes or list-tubes-watched so that it can
 * be compared with the model's: see model_stats.c; lists are put in order. */
void trial_normalize(struct bytes *reply, enum tkd_verb verb);

/* Private, transcript.c: append an act, or what the clients have received
 * since, to the script. */
void trial__record(struct trial *trial, const struct act *act);
void trial__record_replies(struct trial *trial);

/* Private, slow.c: play the tape on a slow store. */
void trial__play_slowly(struct trial *trial);

/*
 * Private, refusal.c: return whether the act was refused because memory was
 * refused; then the model must not change.  `failures` is the number of
 * failures before the act.
 */
bool trial__is_refused(struct trial *trial, const struct act *act,
                       uint64_t failures);

#endif
