/*
 * store/rocks_private.h - what the files of the RocksDB store share.
 *
 * Read in this order: rocks_keys.c, rocks_open.c, rocks_commit.c (the thread
 * that writes), rocks_read.c (the threads that read), rocksdb.c (the calls of
 * store.h), rocks_log.c (the scan of the log before opening), rocks_check.c.
 */
#ifndef TKD_STORE_ROCKS_PRIVATE_H
#define TKD_STORE_ROCKS_PRIVATE_H

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>

#include "rocks.h"

enum family {
    FAMILY_DEFAULT,
    FAMILY_JOB,
    FAMILY_DUE,
    FAMILY_TUBE_DUE,
    FAMILY_BURIED,
    FAMILY_BODY,
    FAMILY_TUBE,
    FAMILY_META,
    FAMILY_NAME,
    FAMILY_COUNT,
};

enum { FORMAT = 1, READERS = 2, KEY_MAX = 20, LOCATOR_SIZE = 21 };

struct key {
    size_t size;
    char bytes[KEY_MAX];
};

/* Where a job is: the value in `job`. */
struct locator {
    struct tkd_place place;
    uint64_t home;
};

/* rocks_keys.c */
struct key tkd__key_job(uint64_t id);
struct key tkd__key_due(uint64_t at, uint64_t id);
struct key tkd__key_body(uint64_t home, uint64_t id);
struct key tkd__key_in_tube(uint32_t tube, uint64_t at, uint64_t id);
struct key tkd__key_row(uint32_t key);
uint32_t tkd__read_u32(const char *bytes);
uint64_t tkd__read_u64(const char *bytes);
void tkd__locator_encode(const struct locator *locator,
                         char bytes[LOCATOR_SIZE]);
/* Returns false if the bytes are no locator. */
bool tkd__locator_decode(struct locator *locator, const char *bytes,
                         size_t size);
/* Return the family and the key of the record of a job. */
enum family tkd__record_key(const struct tkd_place *place, uint64_t id,
                            struct key *key);

/* The open database. */
struct rocks_db {
    rocksdb_t *db;
    rocksdb_options_t *options[FAMILY_COUNT];
    rocksdb_column_family_handle_t *families[FAMILY_COUNT];
    rocksdb_cache_t *cache;
    rocksdb_env_t *env;
};

/* rocks_open.c */
int tkd__db_open(struct rocks_db *db, const char *directory, bool is_read_only,
                 char *why);
void tkd__db_close(struct rocks_db *db);

/* rocks_log.c */
/* Scan the log files of a directory.  Returns 0, or -EBADMSG and writes a line
 * to `why` if a record is damaged although a complete batch follows it. */
int tkd__log_scan(const char *directory, bool allows_gaps, char *why);

/* Changes that are written at once. */
struct batch {
    struct tkd_write *writes;
    struct tkd_row *rows;
    size_t write_count, write_room;
    size_t row_count, row_room;
    uint64_t number;
    bool must_sync;
};

/* A question, then its answer. */
struct request {
    struct request *next;
    bool is_list;
    union {
        struct tkd_question question;
        struct tkd_range range;
    };
    uint64_t after; /* a list: the batch that must be readable */
    struct tkd_answer answer;
};

struct request_queue {
    struct request *first;
    struct request *last;
    size_t count;
};

struct rocks_store {
    struct tkd_store store;
    struct tkd_rocks_config config;
    struct rocks_db db;
    rocksdb_readoptions_t *point_reads;

    /* Only the engine's thread uses these. */
    struct batch filling;
    uint64_t submitted; /* the last batch; 0: none */
    bool is_busy;

    struct batch flying; /* the committer's while `has_batch` */

    pthread_mutex_t lock; /* guards all that follows */
    pthread_cond_t commits;
    pthread_cond_t reads;
    bool has_batch;
    bool is_closing;
    bool has_failed;
    bool failure_is_told;
    uint64_t written;             /* the last batch that can be read */
    uint64_t reported;            /* the last batch that was polled */
    struct request_queue asked;   /* taken by the readers */
    struct request_queue replies; /* taken by poll */
    struct tkd_store_figures figures;
    char why[TKD_ROCKS_WHY_MAX];

    atomic_bool is_full; /* relaxed: a hint */
    pthread_t committer;
    pthread_t readers[READERS];
    unsigned thread_count; /* that were started */
};

/* rocks_commit.c, rocks_read.c: the functions of the threads.  The argument is
 * the store. */
void *tkd__commit_run(void *store);
void *tkd__read_run(void *store);

/* Read a part of a list, in any thread.  Returns false and writes `why` if
 * reading fails. */
bool tkd__read_list(struct rocks_store *rocks, const struct tkd_range *range,
                    struct tkd_answer *answer, char *why);

/* Report a failure, once.  The caller does not hold the lock. */
void tkd__rocks_fail(struct rocks_store *rocks, const char *why);

/* Write an error of RocksDB to `why`, and free it. */
void tkd__explain(char *why, const char *directory, char *error);

static inline void queue_push(struct request_queue *queue,
                              struct request *request)
{
    request->next = NULL;
    if (queue->last == NULL)
        queue->first = request;
    else
        queue->last->next = request;
    queue->last = request;
    queue->count++;
}

static inline struct request *queue_pop(struct request_queue *queue)
{
    struct request *request = queue->first;
    if (request == NULL)
        return NULL;
    queue->first = request->next;
    if (queue->first == NULL)
        queue->last = NULL;
    queue->count--;
    return request;
}

#endif
