/*
 * server/engine/fake_store.h - a store that does what the test says, when the
 * test says so.
 *
 * A batch becomes durable at fake_commit(), and a question is answered at
 * fake_answer().  The store remembers every write.  If the engine breaks a
 * promise of store.h, `fault` describes it.
 */
#ifndef TESTS_SERVER_ENGINE_FAKE_STORE_H
#define TESTS_SERVER_ENGINE_FAKE_STORE_H

#include <store/store.h>

enum {
    FAKE_JOBS = 256,
    FAKE_WRITES = 1024,
    FAKE_QUESTIONS = 64,
    FAKE_ROWS = 256
};

/* What the store knows of a job.  A job whose order is TKD_ORDER_NONE does not
 * exist. */
struct fake_job {
    uint64_t id;
    uint64_t home;
    struct tkd_place place;
    struct tkd_body *body;
    uint16_t record_size;
    unsigned char record[TKD_RECORD_MAX];
};

struct fake_store {
    struct tkd_store store;
    const struct tkw_allocator *allocator;

    /* the test may change these */
    bool is_automatic;   /* commit and answer at once */
    bool is_forgetful;   /* do not remember writes that are submitted */
    bool refuses_writes; /* reserve no memory for any */
    bool refuses_questions;
    bool is_full; /* no room for new jobs */

    /* the test may read these */
    const char *fault;
    size_t write_count;
    struct tkd_write writes[FAKE_WRITES]; /* all; the bodies are released */
    size_t bodies;                        /* writes with a body */
    uint64_t batch;                       /* the last submitted */
    size_t batch_count;
    size_t submitted; /* writes in batches that were submitted */
    bool is_busy;
    size_t question_count; /* not answered yet */
    struct tkd_question questions[FAKE_QUESTIONS];
    size_t asked; /* questions so far */

    /* private */
    struct fake_job jobs[FAKE_JOBS];    /* with the batches submitted so far */
    struct tkd_body *held[FAKE_WRITES]; /* of writes not submitted yet */
    struct tkd_row rows[FAKE_ROWS];
    size_t row_count;
    struct tkd_answer answers[FAKE_QUESTIONS + FAKE_WRITES];
    size_t answer_count;
    size_t room; /* the writes that memory is reserved for */
    bool has_failed;
};

/* Open a store.  The allocator must be that of the engine. */
struct fake_store *fake_open(const struct tkw_allocator *allocator);

/* Make the submitted batch durable.  There must be one. */
void fake_commit(struct fake_store *fake);

/* Answer a question, 0 being the oldest, with what the store knows. */
void fake_answer(struct fake_store *fake, size_t number);

/* Answer a question as if the job did not exist. */
void fake_answer_missing(struct fake_store *fake, size_t number);

/* Fail for ever. */
void fake_fail(struct fake_store *fake);

/* Copy the jobs and rows that `from` knows into `to`, which knows none. */
void fake_copy(struct fake_store *to, const struct fake_store *from);

/* Return what the store knows of a job, or NULL. */
const struct fake_job *fake_find(const struct fake_store *fake, uint64_t id);

/* Return the last write, or a write before it. */
const struct tkd_write *fake_last(const struct fake_store *fake, size_t before);

#endif
