/*
 * server/store/shelf.h - a store on disk, and what its answers are.
 */
#ifndef TESTS_SERVER_STORE_SHELF_H
#define TESTS_SERVER_STORE_SHELF_H

#include <semaphore.h>
#include <store/rocks.h>

#include "directory.h"

struct shelf {
    char directory[DIRECTORY_MAX];
    struct tkd_rocks_config config;
    struct tkd_store *store;
    uint64_t batch; /* the next one */
    sem_t woken;
};

extern const struct tkw_allocator shelf_allocator;

/* cmocka's setup and teardown: an empty directory with an open store. */
int shelf_open(void **state);
int shelf_close(void **state);

/* Close the store and open it again. */
void shelf_reopen(struct shelf *shelf);

/* Wait for the next answer.  The caller releases its body. */
struct tkd_answer shelf_wait(struct shelf *shelf);
void shelf_release(struct tkd_answer *answer);

/* Submit the batch and wait until it is durable. */
void shelf_commit(struct shelf *shelf);

/* Add a new job to the batch: its record is `text`, its body "body of " and
 * `text`.  Its home is `at` if it is due, else 1. */
void shelf_put(struct shelf *shelf, uint64_t id, struct tkd_place place,
               const char *text);
void shelf_move(struct shelf *shelf, uint64_t id, uint64_t home,
                struct tkd_place before, struct tkd_place after,
                const char *text);
void shelf_delete(struct shelf *shelf, uint64_t id, uint64_t home,
                  struct tkd_place before);
void shelf_set(struct shelf *shelf, enum tkd_table table, uint32_t key,
               const char *text);

static inline struct tkd_place due(uint32_t tube, uint64_t at)
{
    return (struct tkd_place){at, tube, TKD_ORDER_DUE};
}

static inline struct tkd_place buried(uint32_t tube, uint64_t number)
{
    return (struct tkd_place){number, tube, TKD_ORDER_BURIED};
}

/* Ask for a job and wait for the answer. */
struct tkd_answer shelf_ask(struct shelf *shelf, uint64_t id);

/* Write the ids of a part of a list to `ids`, as "1 2 3", with " ..." if there
 * are more. */
void shelf_list(struct shelf *shelf, const struct tkd_range *range, char *ids,
                size_t size);

#endif
