/*
 * support/purgatory.h - what the tests of the purgatory share: a purgatory on a
 * service whose clock is turned by hand, requests that write down what became
 * of them, and threads that are sent on an errand.
 *
 * Whatever a request goes through is held against the laws as it happens: tried
 * by one thread at a time and never once it is completed, completed once,
 * expired only then, released last.  What is against them counts as a fault,
 * and a hall is only closed without one.
 */
#ifndef TESTS_SUPPORT_PURGATORY_H
#define TESTS_SUPPORT_PURGATORY_H

#include "service.h"

#include <tickwheel/purgatory.h>

/* What can happen to a request. */
enum moment { TRY, COMPLETE, EXPIRE, HAND_BACK, RELEASE, MOMENTS };

/* A purgatory, with an allocator of its own, and what it stands on. */
struct hall {
    struct scene scene;
    struct account account;
    struct tkw_purgatory *purgatory;
    atomic_uint turns; /* moments of all requests so far */
    atomic_uint faults;
};

/* The clock shows 1000, the tick is 10. */
void hall_open(struct hall *hall, enum tkw_driver driver);

/* The same with one shard: a lock that is held would be met again. */
void hall_open_narrow(struct hall *hall, enum tkw_driver driver);
void hall_open_with(struct hall *hall, struct tkw_service_config service,
                    struct tkw_purgatory_config config);

/* Let all that is due happen, the clock set before. */
void hall_rest(struct hall *hall);
void hall_go(struct hall *hall, uint64_t now);

/* Close everything; what is left is completed, and no timer, no byte and no
   fault is left over.  The purgatory may have been closed already, and be NULL
   then. */
void hall_close(struct hall *hall);

/* What it holds, at rest: `watched` pairs on so many keys, and as many timers
   as operations are delayed. */
void assert_holds(struct hall *hall, uint64_t watched, uint64_t delayed,
                  uint64_t keys);

/* How its operations have ended so far. */
void assert_ended(struct hall *hall, uint64_t completed, uint64_t expired,
                  uint64_t cancelled);

size_t check_number(struct hall *hall, uint64_t number);
size_t cancel_number(struct hall *hall, uint64_t number);

#define STORY_MAX 48

/* An operation that writes down what became of it. */
struct request {
    struct tkw_operation operation;
    struct hall *hall;
    /* When try_complete says yes: when told to, or from a try on, by number (0:
       never), or when a level has come to what is needed (NULL: never). */
    atomic_uint *level;
    unsigned needed;
    unsigned ready_at;
    atomic_bool is_ready;
    atomic_uint counts[MOMENTS];
    unsigned places[MOMENTS]; /* among all moments of the hall, last time */
    /* Done at a moment, having been written down; a try has looked whether it
       is ready.  At release it may free the request. */
    enum moment moment;
    void (*act)(struct request *request);
    pthread_t threads[MOMENTS];
    int64_t answer; /* for act() to leave something behind */
    struct request *other;
    struct gate *gate;
    void *context;
    unsigned hold_at;  /* the try that hold_try() holds */
    atomic_uint phase; /* the rest is for the laws and the story */
    atomic_uint trying;
    atomic_uint story_length;
    atomic_char story[STORY_MAX];
};

/* Make it new. */
void request_init(struct request *request, uint64_t timeout_ns);

/* Try to complete it, else watch it; what that says.  Once it has been
   released it can be called again. */
int request_watch(struct hall *hall, struct request *request,
                  const struct tkw_key *keys, size_t count);

/* The same on the numbers from `first` on; count is at most 1000. */
int request_watch_numbers(struct hall *hall, struct request *request,
                          uint64_t first, size_t count);

/* The same, and it must be watched, not completed. */
void request_wait(struct hall *hall, struct request *request, uint64_t first,
                  size_t count);

/* The tkw_operation_each of these tests; the context is the hall. */
void hand_back(void *context, struct tkw_operation *operation);

/* Complete it by force; what that says. */
bool complete(struct request *request);

void request_set_ready(struct request *request);
unsigned count_of(struct request *request, enum moment moment);

/* What happened to it, a letter each: t tried, c completed, x expired, h handed
   back, r released. */
void assert_story(struct request *request, const char *story);

/* Let a moment come to a request that is watched on this number: by a check, by
   its timeout, by a cancel. */
void bring_about(struct hall *hall, struct request *request, uint64_t number,
                 enum moment moment);

/* act() of a request: stay in its gate until that is opened; or only in the
   try whose number is `hold_at`. */
void hold(struct request *request);
void hold_try(struct request *request);

/* A lock that the thread that holds it may take again. */
void recursive_init(pthread_mutex_t *lock);

/* A thread that makes one call. */
struct errand {
    struct hall *hall;
    struct request *request;
    struct tkw_key key;
    enum deed { CHECK, WATCH, FORCE, CANCEL, CLOSE } deed;
    int64_t answer;
    atomic_bool is_back;
    pthread_t thread;
};

void errand_start(struct errand *errand);

/* The thread's answer, once it is back. */
int64_t errand_end(struct errand *errand);

/* An operation that another thread is trying, and is held there. */
struct meeting {
    struct hall hall;
    struct gate gate;
    struct request request; /* on the number 1, its timeout at 1100 */
    struct errand errand;   /* the thread */
};

/* The thread checks, or watches, and is in the try of this number, which
   will say that. */
void meeting_begin(struct meeting *meeting, enum deed deed, unsigned number,
                   bool says_yes);

/* Let the thread go on.  Returns what its call said. */
int64_t meeting_end(struct meeting *meeting);

/* It was the thread that told of this; then all is over. */
void meeting_close(struct meeting *meeting, enum moment moment);

#endif
