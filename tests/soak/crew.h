/*
 * crew.h - an executor of one's own: a few threads and a queue with little
 * room, which refuses, and gives back some of what it took.
 */
#ifndef SOAK_CREW_H
#define SOAK_CREW_H

#include <pthread.h>
#include <stdatomic.h>

#include <tickwheel/service.h>

#include "../model/random.h"

enum { CREW_ROOM = 16, CREW_THREADS = 2 };

struct crew {
    pthread_t threads[CREW_THREADS];
    pthread_mutex_t mutex;
    pthread_cond_t cond;  /* a job came, or it is over */
    struct random random; /* from here on: mutex */
    struct tkw_job jobs[CREW_ROOM];
    unsigned first;
    unsigned count;
    bool is_over;
    atomic_uint_fast64_t refused;
    atomic_uint_fast64_t returned;
    atomic_uint_fast64_t ran;
};

void crew_open(struct crew *crew, uint64_t seed);
void crew_close(struct crew *crew);

/* For a service's configuration. */
int crew_submit(void *crew, const struct tkw_job *job);

/* Take a job, if there is one, and run it or give it back: for callbacks that
 * lend a hand. */
void crew_help(struct crew *crew);

/* Is what the calling thread runs now a job?  Says so once. */
bool crew_is_at_job(void);

#endif
