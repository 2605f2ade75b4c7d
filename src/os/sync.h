/*
 * os/sync.h - the one door to threads.
 *
 * Every lock, wait, thread and atomic access of the library goes through here,
 * so that there can be two implementations.  This one is the machine's: inline,
 * and nothing but the instruction or the call it stands for.  The other is for
 * tests: built with TKW_SYNC naming a header of the same contents, the sources
 * run under a scheduler that decides at each of these calls who goes on, so
 * that every interleaving can be tried, and tried again.
 *
 * The name of an atomic access ends in the ordering it needs; whoever uses one
 * says why.  One is never part of the arguments of another: the scheduler could
 * not go between them.
 */
#ifndef TKW_OS_SYNC_H
#define TKW_OS_SYNC_H

#include <stdbool.h>
#include <stdint.h>

/* What the library remembers for a thread.  Each field has a header of this
 * folder, which alone reads and writes it; all are 0 at first. */
struct sync_self {
    uint32_t number;           /* sync_number() */
    const struct frame *frame; /* frame.h */
    uint64_t random;           /* random.h */
    uint32_t locks;            /* lock_order.h; only in debug builds */
};

#ifdef TKW_SYNC
#include TKW_SYNC
#else

#include <pthread.h>
#include <sched.h>

/* Where the scheduler of tests may let another thread go on.  A function, so
 * that the coverage of both builds can be put together. */
static inline void sync_point(void)
{
}

#define SYNC_POINT() sync_point()

struct sync_mutex {
    pthread_mutex_t mutex;
};

struct sync_cond {
    pthread_cond_t cond;
};

struct sync_thread {
    pthread_t thread;
};

static inline void sync_mutex_init(struct sync_mutex *mutex)
{
    pthread_mutex_init(&mutex->mutex, NULL);
}

static inline void sync_mutex_destroy(struct sync_mutex *mutex)
{
    pthread_mutex_destroy(&mutex->mutex);
}

static inline void sync_lock(struct sync_mutex *mutex)
{
    pthread_mutex_lock(&mutex->mutex);
}

static inline void sync_unlock(struct sync_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->mutex);
}

static inline void sync_cond_destroy(struct sync_cond *cond)
{
    pthread_cond_destroy(&cond->cond);
}

/* Wait for a broadcast, or for nothing at all: look again. */
static inline void sync_wait(struct sync_cond *cond, struct sync_mutex *mutex)
{
    pthread_cond_wait(&cond->cond, &mutex->mutex);
}

static inline void sync_broadcast(struct sync_cond *cond)
{
    pthread_cond_broadcast(&cond->cond);
}

/* The same for one of those that wait. */
static inline void sync_signal(struct sync_cond *cond)
{
    pthread_cond_signal(&cond->cond);
}

/* Let others have a lock that was just given up. */
static inline void sync_yield(void)
{
    sched_yield();
}

static inline void sync_join(struct sync_thread *thread)
{
    pthread_join(thread->thread, NULL);
}

/* sync.c */

void tkw__sync_cond_init(struct sync_cond *cond);

/* The same as sync_wait(), but no longer than until a time of the monotonic
 * clock, in ns; UINT64_MAX is for ever. */
void tkw__sync_wait_until(struct sync_cond *cond, struct sync_mutex *mutex,
                          uint64_t time);

/* Start a thread that takes no signals.  Returns 0 or a negative errno. */
int tkw__sync_start(struct sync_thread *thread, void *(*run)(void *),
                    void *argument, const char *name);

/* Let the calling thread be woken when it asked for, not some 50 us later. */
void tkw__sync_be_punctual(void);

extern _Thread_local struct sync_self tkw__sync_self_of_thread
    __attribute__((tls_model("initial-exec")));

static inline struct sync_self *sync_self(void)
{
    return &tkw__sync_self_of_thread;
}

#endif

/* Threads that have a number so far. */
extern uint32_t tkw__sync_numbered;

#define sync_get_relaxed(at) \
    (SYNC_POINT(), __atomic_load_n((at), __ATOMIC_RELAXED))
/* Any value will do, old or new: the scheduler need not go between. */
#define sync_glance(at) __atomic_load_n((at), __ATOMIC_RELAXED)
#define sync_get_acquire(at) \
    (SYNC_POINT(), __atomic_load_n((at), __ATOMIC_ACQUIRE))
#define sync_get_ordered(at) \
    (SYNC_POINT(), __atomic_load_n((at), __ATOMIC_SEQ_CST))
#define sync_put_relaxed(at, value) \
    (SYNC_POINT(), __atomic_store_n((at), (value), __ATOMIC_RELAXED))
#define sync_put_release(at, value) \
    (SYNC_POINT(), __atomic_store_n((at), (value), __ATOMIC_RELEASE))
#define sync_put_ordered(at, value) \
    (SYNC_POINT(), __atomic_store_n((at), (value), __ATOMIC_SEQ_CST))
#define sync_add_relaxed(at, value) \
    (SYNC_POINT(), __atomic_fetch_add((at), (value), __ATOMIC_RELAXED))
#define sync_exchange_acquire(at, value) \
    (SYNC_POINT(), __atomic_exchange_n((at), (value), __ATOMIC_ACQUIRE))

/* Replace `*expected` by `value`; if something else is there, tell what. */
#define sync_replace_ordered(at, expected, value)                  \
    (SYNC_POINT(),                                                 \
     __atomic_compare_exchange_n((at), (expected), (value), false, \
                                 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))

/* The number of the calling thread, from 1 on: the order in which threads asked
 * for one. */
static inline uint32_t sync_number(void)
{
    struct sync_self *self = sync_self();
    if (self->number == 0)
        self->number = sync_add_relaxed(&tkw__sync_numbered, 1) + 1;
    return self->number;
}

#endif
