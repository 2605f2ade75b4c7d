/*
 * store/store.h - where jobs are kept when the process ends.
 *
 * A store writes batches of changes and answers questions.  Both are
 * asynchronous: the engine submits, goes on, and takes the answers later by
 * tkd_store_poll().  A store never calls back.
 *
 * A store does not know what a job is.  It sees a number (`id`), a body, a
 * record of bytes that the engine encodes, and a place in an order.  So another
 * program can keep other things in it.
 *
 * Besides jobs it keeps rows: small facts that the engine needs when it opens,
 * by table and key.
 *
 * Promises:
 *   - batches become durable in the order in which they were submitted, each as
 *     a whole or, if the process dies before the answer, not at all;
 *   - TKD_ANSWER_DURABLE comes after the batch would survive a power cut, or if
 *     the store was opened so, after it would survive the end of the process;
 *   - a question about a job sees every batch that was durable when it was
 *     asked, and may see later ones;
 *   - a list sees every batch that was submitted before it was asked, and may
 *     see later ones; each of them as a whole or not at all;
 *   - a store that fails to write or to read reports TKD_ANSWER_FAILED, and no
 *     batch is durable after that.
 *
 * Threads: one thread calls a store, the thread of the engine.  A store may
 * have threads of its own.
 */
#ifndef TKD_STORE_STORE_H
#define TKD_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "body.h"

/* The order that a job is in, besides that of the ids. */
enum tkd_order {
    TKD_ORDER_NONE,   /* the job does not exist */
    TKD_ORDER_DUE,    /* by due time, over all tubes and in its tube */
    TKD_ORDER_BURIED, /* by sequence number, in its tube */
};

/* A place in an order. */
struct tkd_place {
    uint64_t at; /* a due time in nanoseconds, or a sequence number */
    uint32_t tube;
    enum tkd_order order;
};

enum { TKD_RECORD_MAX = 208 }; /* bytes of a record */

/*
 * A change of one job.
 *
 *     a new job       before.order is TKD_ORDER_NONE; `body` is its body
 *     a changed job   both are other orders; `body` is NULL
 *     a deleted job   after.order is TKD_ORDER_NONE; no record, no body
 */
struct tkd_write {
    uint64_t id;
    uint64_t home; /* the first due time of the job; never changes */
    struct tkd_place before;
    struct tkd_place after;
    struct tkd_body *body; /* the batch holds a reference */
    uint16_t record_size;
    unsigned char record[TKD_RECORD_MAX];
};

/* What a row is about. */
enum tkd_table {
    TKD_TABLE_META,
    TKD_TABLE_TUBE,
};

enum { TKD_ROW_MAX = 256 }; /* bytes of a row */

/* A row, or the removal of one. */
struct tkd_row {
    enum tkd_table table;
    uint32_t key;
    bool must_sync; /* of a change: make its batch survive a power cut even if
                       the store was opened to do less */
    uint16_t size;  /* of a change: 0 removes the row */
    unsigned char bytes[TKD_ROW_MAX];
};

/* A question about one job. */
struct tkd_question {
    uint64_t token; /* comes back in the answer */
    uint64_t id;
    uint64_t home;     /* with `is_body_only` */
    bool is_body_only; /* the engine has the record, and wants the body */
};

/* A list of jobs. */
enum tkd_list {
    TKD_LIST_DUE,      /* by due time, over all tubes; ties by id */
    TKD_LIST_TUBE_DUE, /* the same, of one tube */
    TKD_LIST_BURIED,   /* by tube, then by number */
};

/* Where a list begins or has got to. */
struct tkd_position {
    uint64_t at;
    uint64_t id;
    uint32_t tube; /* TKD_LIST_BURIED */
};

/* A question about a part of a list: the jobs from `from` on whose due time or
 * number is below `end`. */
struct tkd_range {
    uint64_t token; /* comes back in the answer */
    struct tkd_position from;
    uint64_t end;
    uint32_t tube; /* TKD_LIST_TUBE_DUE */
    uint32_t most; /* jobs in the answer */
    enum tkd_list list;
};

/* A job in a list. */
struct tkd_item {
    uint64_t id;
    struct tkd_place place;
    uint16_t record_size;
    unsigned char record[TKD_RECORD_MAX];
};

enum tkd_answer_kind {
    TKD_ANSWER_DURABLE, /* all batches up to number `token` are durable */
    TKD_ANSWER_JOB,     /* the answer to a question: the body, and the record
                           unless the question was for the body only */
    TKD_ANSWER_LIST,    /* a part of a list */
    TKD_ANSWER_FAILED,  /* nothing will become durable any more */
};

struct tkd_answer {
    enum tkd_answer_kind kind;
    uint64_t token;
    uint64_t id;
    bool is_found;         /* TKD_ANSWER_JOB */
    bool is_at_end;        /* TKD_ANSWER_LIST: no more jobs are below `end` */
    struct tkd_body *body; /* NULL, or a reference that the engine takes over:
                              the job's body; or TKD_ANSWER_LIST: an array of
                              struct tkd_item */
    uint16_t record_size;
    unsigned char record[TKD_RECORD_MAX];
};

enum { TKD_ROWS_PER_WRITE = 2, TKD_ROWS_PER_BATCH = 8 };

struct tkd_store;

/* What a store has done, for statistics. */
struct tkd_store_figures {
    uint64_t batches;
    uint64_t writes;
    uint64_t commit_ns;     /* in all commits */
    uint64_t commit_ns_max; /* in the longest one */
};

struct tkd_store_calls {
    bool (*reserve)(struct tkd_store *store, size_t count);
    void (*write)(struct tkd_store *store, const struct tkd_write *write);
    void (*submit)(struct tkd_store *store, uint64_t batch);
    bool (*is_busy)(const struct tkd_store *store);
    void (*set)(struct tkd_store *store, const struct tkd_row *row);
    bool (*has_room)(const struct tkd_store *store);
    bool (*ask)(struct tkd_store *store, const struct tkd_question *question);
    bool (*list)(struct tkd_store *store, const struct tkd_range *range);
    bool (*find_row)(struct tkd_store *store, struct tkd_row *row);
    bool (*read_list)(struct tkd_store *store, const struct tkd_range *range,
                      struct tkd_answer *answer);
    void (*measure)(struct tkd_store *store, struct tkd_store_figures *figures);
    bool (*poll)(struct tkd_store *store, struct tkd_answer *answer);
    void (*close)(struct tkd_store *store);
};

struct tkd_store {
    const struct tkd_store_calls *calls;
    bool is_volatile; /* keeps nothing: batches are durable as soon as they are
                         written, and the engine keeps every job and body */
    const char *failure; /* after TKD_ANSWER_FAILED: one line that says why */
};

/* Reserve memory for the next `count` writes and for as many rows as a batch of
 * that size needs, so that they cannot fail: TKD_ROWS_PER_WRITE for each write,
 * and TKD_ROWS_PER_BATCH.  Returns false if there is none. */
static inline bool tkd_store_reserve(struct tkd_store *store, size_t count)
{
    return store->calls->reserve(store, count);
}

/* Add a change to the batch that is being filled.  The caller has reserved its
 * memory.  The store takes a reference to the body. */
static inline void tkd_store_write(struct tkd_store *store,
                                   const struct tkd_write *write)
{
    store->calls->write(store, write);
}

/* Add a row to the batch that is being filled, in place of the one with its
 * key. */
static inline void tkd_store_set(struct tkd_store *store,
                                 const struct tkd_row *row)
{
    store->calls->set(store, row);
}

/* Return whether the store accepts new jobs.  It always accepts other
 * changes. */
static inline bool tkd_store_has_room(const struct tkd_store *store)
{
    return store->calls->has_room(store);
}

/* Submit the batch that was filled, which is number `batch`, and begin an empty
 * one.  The store must not be busy. */
static inline void tkd_store_submit(struct tkd_store *store, uint64_t batch)
{
    store->calls->submit(store, batch);
}

/* Return whether a submitted batch is not durable yet. */
static inline bool tkd_store_is_busy(const struct tkd_store *store)
{
    return store->calls->is_busy(store);
}

/* Ask a question.  Returns false and does nothing if there is no memory, or if
 * too many questions wait for their answers. */
static inline bool tkd_store_ask(struct tkd_store *store,
                                 const struct tkd_question *question)
{
    return store->calls->ask(store, question);
}

/* Ask for a part of a list.  Returns false and does nothing if there is no
 * memory. */
static inline bool tkd_store_list(struct tkd_store *store,
                                  const struct tkd_range *range)
{
    return store->calls->list(store, range);
}

/*
 * These two are for opening: they block, and must not be called after the first
 * submit.
 *
 * Find the first row of `row->table` whose key is `row->key` or larger, and
 * store it in `*row`.  Returns false if there is none.
 */
static inline bool tkd_store_find_row(struct tkd_store *store,
                                      struct tkd_row *row)
{
    return store->calls->find_row(store, row);
}

/* Read a part of a list.  Returns false if that fails. */
static inline bool tkd_store_read_list(struct tkd_store *store,
                                       const struct tkd_range *range,
                                       struct tkd_answer *answer)
{
    return store->calls->read_list(store, range, answer);
}

/* Store in `*figures` what the store has done. */
static inline void tkd_store_measure(struct tkd_store *store,
                                     struct tkd_store_figures *figures)
{
    store->calls->measure(store, figures);
}

/* Take the next answer.  Returns false if there is none now. */
static inline bool tkd_store_poll(struct tkd_store *store,
                                  struct tkd_answer *answer)
{
    return store->calls->poll(store, answer);
}

/* Close the store and free it.  `store` may be NULL: the call does nothing. */
static inline void tkd_store_close(struct tkd_store *store)
{
    if (store != NULL)
        store->calls->close(store);
}

/* memory.c: a store that keeps nothing.  Returns NULL if the allocator
 * refuses.  The allocator must outlive the store. */
struct tkd_store *tkd_memory_open(const struct tkw_allocator *allocator);

#endif
