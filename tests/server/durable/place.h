/*
 * server/durable/place.h - an engine on a real store, for tests.
 *
 * The store has threads, so the functions wait until it has nothing to do.  The
 * clients are those of ../engine/scene.h.
 */
#ifndef TESTS_SERVER_DURABLE_PLACE_H
#define TESTS_SERVER_DURABLE_PLACE_H

#include <semaphore.h>
#include <store/rocks.h>

#include "../engine/scene.h"
#include "../store/directory.h"

/* A store that counts what the inner one has not answered. */
struct counted {
    struct tkd_store store;
    struct tkd_store *inner;
    int open;
    bool holds_lists; /* the next list is held back ... */
    bool has_list;    /* ... in `list` */
    struct tkd_answer list;
};

struct place {
    char directory[DIRECTORY_MAX];
    struct counted counted;
    struct tkd_store *store; /* the counted one */
    struct scene *scene;
    uint64_t now;
    uint64_t window_jobs;
    sem_t woken;
};

/* cmocka's setup and teardown. */
int place_open(void **state);
int place_close(void **state);

/* Close the engine and the store and open them again.  Returns the new
 * scene. */
struct scene *place_restart(struct place *place);
void place_close_engine(struct place *place);
void place_open_engine(struct place *place);

/* Wait until the store has answered everything, and all commands are done. */
void place_settle(struct place *place);

/* Wait until a list is held back and nothing else is open.  Returns false if no
 * list was asked for. */
bool place_hold_list(struct place *place);

/* Give the engine the list that is held back. */
void place_give_list(struct place *place);

/* Let time pass, and settle. */
void place_turn(struct place *place, uint64_t ns);

/* Send a command, and expect a reply and no more. */
#define TALK(place, client, text, reply)        \
    do {                                        \
        SEND((place)->scene, client, text);     \
        place_settle(place);                    \
        EXPECT((place)->scene, client, reply);  \
        EXPECT_NOTHING((place)->scene, client); \
    } while (0)

#endif
