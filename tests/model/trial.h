/*
 * trial.h - run a case in a child process, so that whatever it does to itself
 * is only an answer.
 *
 * What the child leaves behind is in shared memory: the tape as far as it got,
 * and the claim that did not hold.
 */
#ifndef MODEL_TRIAL_H
#define MODEL_TRIAL_H

#include <sys/types.h>

#include "tape.h"

enum verdict { VERDICT_FINE, VERDICT_LAW, VERDICT_CRASH, VERDICT_HANG };

struct trial {
    struct tape tape;
    uint32_t op_at; /* the operation under way; op_count: the final check */
    bool has_failed;
    struct claim failure;   /* only if has_failed */
    struct tkw_fault fault; /* only if `failure` is about CALL_CHECK */
};

/* Memory shared with the children to come; NULL if there is none. */
void *share(size_t bytes);

/* Do one operation of the tape, the last one, or the final check. */
bool trial_do(struct trial *trial, struct judge *judge);
bool trial_finish(struct trial *trial, struct judge *judge);

/* Tell what became of a child from its wait status and what it left. */
enum verdict trial_verdict(const struct trial *trial, int status);

/*
 * Play the tape from its beginning in a child of its own, silently; it hangs
 * if that takes more than `patience` seconds.
 */
enum verdict trial_play(struct trial *trial, const struct engine *engine,
                        unsigned patience);

/* The law in question, in words. */
const char *law_words(const char *law);

/* Write "L8: next is 7, must be at most 5". */
void trial_write(FILE *out, const struct trial *trial, enum verdict verdict);

/* What a claim is about, in words, and its relation as C writes it. */
const char *call_words(enum call_kind kind);
const char *relation_sign(enum relation relation);

#endif
