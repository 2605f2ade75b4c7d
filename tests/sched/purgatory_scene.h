/*
 * purgatory_scene.h - a purgatory for scenarios, on the service of
 * service_scene.h, and operations that write down what becomes of them.
 *
 * A scenario opens the stage, lets threads do something at once, and ends it.
 * Whatever it does, the operations see to it that they are tried by one thread
 * at a time, and not beside their completion or after it; completed or handed
 * back once; expired after on_complete, and not early; and released last and
 * once.  When one is released its memory is spoiled, and it must stay as it is
 * then: on a guarded stage nobody can even look at it.  At rest every operation
 * that went in has had one outcome or is watched, the same by these notes as by
 * the purgatory's counters; and every completion was claimed by one call.  What
 * a scenario checks itself is what its calls returned.
 *
 * Who is to complete an operation by force, whatever others do to it, holds it:
 * it is not spoiled before it is let go of.
 *
 * There is no driver, unless the stage says so: timeouts run in expire(), in
 * whatever thread that is.
 *
 * Threads: those of the scheduler.
 */
#ifndef SCHED_PURGATORY_SCENE_H
#define SCHED_PURGATORY_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tickwheel/purgatory.h>

#include "sched.h"
#include "service_scene.h"

enum { STAGE_REQUESTS = 3, STAGE_ACTORS = 3 };

/* Keys, and sets of them.  With two shards, A is in another than B and C. */
enum { KEY_A = 1, KEY_B = 2, KEY_C = 4, KEY_COUNT = 3 };

/* An operation, and what is known of it. */
struct request {
    struct tkw_operation *operation;
    bool is_met; /* its condition */
    /* Called in its callbacks, or NULL. */
    void (*in_try)(struct request *request);
    void (*in_complete)(struct request *request);
    void (*in_expire)(struct request *request);
    void (*in_cancel)(struct request *request);
    void (*in_release)(struct request *request); /* its memory still good */

    /* What calls returned. */
    int answer;       /* of the last watching */
    int second;       /* for scenarios */
    unsigned forced;  /* forced completions that said true */
    unsigned refused; /* watchings that failed */
    unsigned said;    /* a set of lives of which watching said 1 ... */
    unsigned denied;  /* ... and that were ended by force or timeout */

    /* What was called, in all its lives. */
    unsigned lives; /* watchings that did not fail; and one under way */
    unsigned tried;
    unsigned completed;
    unsigned expired;
    unsigned cancelled; /* or handed back by close */
    unsigned released;

    /* Of its present life. */
    unsigned keys;
    uint64_t not_before;
    bool is_trying;
    bool is_calling; /* another callback of its is running */
    bool has_completed;
    bool has_expired;
    bool is_cancelled;
    bool is_gone;     /* released, or refused: nobody may touch it ... */
    unsigned holders; /* ... but these, before it is spoiled */
};

/* The one there is, new in each schedule. */
struct stage {
    struct tkw_purgatory *purgatory;
    struct sync_mutex mutex; /* a lock of the user's */
    struct request requests[STAGE_REQUESTS];
    struct {
        void (*run)(struct request *request);
        struct request *request;
    } actors[STAGE_ACTORS];
    unsigned actor_count;
    uint64_t now;     /* what the clock shows, or is about to */
    unsigned checked; /* completions that checks have claimed */
    unsigned taken;   /* operations that cancels have claimed */
    unsigned fillers; /* timers that are not operations' */
    bool is_guarded;
    bool fails; /* there is no more memory */
};

extern struct stage stage;

struct stage_config {
    uint32_t shards;   /* of keys; 0 means 1 */
    size_t timers_max; /* 0 means SCENE_PROBES */
    bool has_driver;
    bool is_guarded; /* whoever looks at what was released crashes */
};

void stage_open(struct stage_config config);

/* Turn the clock; nothing happens but to those with a driver. */
void stage_turn(uint64_t ns);

/* Arm timers that never come, as many as there is room for. */
void stage_fill(void);

/* At rest: see above. */
void stage_check(void);

/* Close the purgatory, handing back what is left; all must have been
 * released. */
void stage_close_purgatory(void);

/* Check, and close it and the service; all memory must have been given
 * back. */
void stage_end(void);

/* The same when all are to have ended before. */
void stage_end_empty(void);

unsigned stage_spawn(void (*run)(struct request *request),
                     struct request *request);

/* Let one, two or three threads do something to a request; the first is thread
 * 0 itself. */
void stage_race(struct request *request, void (*first)(struct request *),
                void (*second)(struct request *),
                void (*third)(struct request *));

/* Put it in.  Returns what the purgatory does; an error spoils it, for it is
 * ours again. */
int request_watch(struct request *request, unsigned keys, uint64_t timeout_ns);

/* The same, and it must be watched. */
struct request *must_watch(unsigned number, unsigned keys, uint64_t timeout_ns);

/* To be held meanwhile, unless nobody else can end it before. */
bool request_complete(struct request *request);
void request_hold(struct request *request);
void request_unhold(struct request *request);

/* Check or cancel one key.  They return what the purgatory does. */
size_t notify_key(unsigned key);
size_t cancel_key(unsigned key);

/* At rest: has it come to its end? */
bool request_is_over(const struct request *request);

#endif
