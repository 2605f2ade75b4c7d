/*
 * sync_scheduled.h - the other side of src/os/sync.h: threads that take turns.
 *
 * Sources built with -DTKW_SYNC='"sched/sync_scheduled.h"' call the scheduler
 * of sched.c here instead of the machine.  At each of these calls it decides
 * who goes on; between two of them nobody else runs.  See sched.h.
 *
 * What src/os/sync.c defines is defined by sched.c as well, so link only one.
 */
#ifndef SCHED_SYNC_SCHEDULED_H
#define SCHED_SYNC_SCHEDULED_H

#include <stdint.h>

#define SYNC_POINT() sched_point()

/* Sets of threads are bits by number.  `mark` tells an object that was not
 * initialised, or is destroyed. */
struct sync_mutex {
    uint32_t mark;
    uint32_t holder; /* the number of the thread plus 1; 0: nobody */
    uint32_t wanted; /* those about to take it */
};

struct sync_cond {
    uint32_t mark;
    uint32_t waiters;
};

struct sync_thread {
    unsigned number;
};

void sched_point(void);

void sync_mutex_init(struct sync_mutex *mutex);
void sync_mutex_destroy(struct sync_mutex *mutex);
void sync_lock(struct sync_mutex *mutex);
void sync_unlock(struct sync_mutex *mutex);

void tkw__sync_cond_init(struct sync_cond *cond);
void sync_cond_destroy(struct sync_cond *cond);
void sync_wait(struct sync_cond *cond, struct sync_mutex *mutex);
void tkw__sync_wait_until(struct sync_cond *cond, struct sync_mutex *mutex,
                          uint64_t time);
void sync_broadcast(struct sync_cond *cond);
void sync_signal(struct sync_cond *cond);

int tkw__sync_start(struct sync_thread *thread, void *(*run)(void *),
                    void *argument, const char *name);
void sync_join(struct sync_thread *thread);

struct sync_self *sync_self(void);

static inline void tkw__sync_be_punctual(void)
{
}

static inline void sync_yield(void)
{
    sched_point();
}

#endif
