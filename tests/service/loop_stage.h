/*
 * service/loop_stage.h - an event loop for tests of its adapter: a test says
 * how its loop is used, and it is put on a stage with a service and another
 * event.
 */
#ifndef TESTS_SERVICE_LOOP_STAGE_H
#define TESTS_SERVICE_LOOP_STAGE_H

#include "support/service.h"

/* A kind of event loop, with the adapter under test.  What returns nothing must
   not fail. */
struct loop_kind {
    void *(*open)(void);
    void (*close)(void *loop); /* nothing may be left in it */
    int (*attach)(void *loop, struct tkw_service *service);
    void (*detach)(void *loop);
    void (*limit)(void *loop, int budget); /* of one wake-up, from here on */
    /* Call `ready` in every turn of the loop in which `fd` is readable. */
    void (*watch)(void *loop, int fd, void (*ready)(void *), void *context);
    void (*unwatch)(void *loop);
    /* Call what is ready, once.  To wait is to sleep until something is, and to
       fail the test if that takes a minute. */
    void (*turn)(void *loop, bool waits);
};

/* The kind of a test that gives its functions these names. */
#define LOOP_KIND                                                        \
    {                                                                    \
        .open = loop_open, .close = loop_close, .attach = loop_attach,   \
        .detach = loop_detach, .limit = loop_limit, .watch = loop_watch, \
        .unwatch = loop_unwatch, .turn = loop_turn                       \
    }

/* The most timers that one wake-up may call, if nobody says. */
enum { LOOP_BUDGET = 256 };

/* More turns than a loop may take to come to rest, for no reason. */
enum { TURNS_MAX = 1000 };

/* A loop with a service attached, on a clock that is turned by hand. */
struct stage {
    const struct loop_kind *kind;
    void *loop;
    int fd; /* the service's */
    struct scene scene;
};

/* Like scene_open_tens(), at the time 1000, without a driver. */
void stage_open(struct stage *stage, const struct loop_kind *kind);

/* Let the loop have the service.  The descriptor is asked for here and never
   again: asking might aim it. */
void stage_attach(struct stage *stage);

/* Turn the loop until it would sleep.  It must come to that. */
void stage_rest(struct stage *stage);

/* Set the clock, and let the loop do all that is due. */
void stage_go(struct stage *stage, uint64_t now);

void stage_close(struct stage *stage);

/* For a probe to do: detach the service it is of from its loop. */
void detach_the_loop(struct probe *probe);

/* Another event of the loop: a pipe.  Once there is a byte in it, which nobody
   reads, it is ready for ever. */
struct other {
    struct stage *stage;
    int ends[2];
    unsigned calls;
    struct probe *victim; /* to be cancelled */
    int answer;
};

void other_open(struct other *other, struct stage *stage);
void other_ring(const struct other *other);
void other_close(struct other *other);

#endif
