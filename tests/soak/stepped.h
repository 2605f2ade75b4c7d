/*
 * stepped.h - a clock of one's own: the monotonic one, and an offset that is
 * set forward and back while a service goes by it.
 */
#ifndef SOAK_STEPPED_H
#define SOAK_STEPPED_H

#include <pthread.h>
#include <stdatomic.h>

#include <tickwheel/clock.h>

/* The offset is never less than the first, nor more than both together. */
#define STEPPED_LEAST (3600 * TKW_SECOND)
#define STEPPED_RANGE (250 * TKW_MILLISECOND)

struct stepped {
    struct tkw_clock clock;
    atomic_uint_fast64_t offset;
    pthread_mutex_t mutex;
    pthread_cond_t cond; /* woken or stepped */
    bool is_woken;       /* mutex */
};

void stepped_open(struct stepped *stepped, bool is_wall);
void stepped_step(struct stepped *stepped, uint64_t part);
void stepped_close(struct stepped *stepped);

#endif
