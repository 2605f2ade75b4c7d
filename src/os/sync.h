/*
 * os/sync.h - all use of threads, locks and atomics.
 *
 * Every lock, wait, thread and atomic access of the library goes through here,
 * so that there can be two implementations.  This one is for the machine:
 * inline, and only the instruction or call that it names.  The other is for
 * tests, which define TKW_SYNC as the name of a header with these contents.
 * The sources then run under a scheduler that selects the next thread at each
 * of these calls, so that tests can try every interleaving, and repeat it.
 *
 * The name of an atomic access ends in its ordering; each use says why it
 * suffices.  No access is part of the arguments of another: the scheduler could
 * not switch between them.
 */
#ifndef TKW_OS_SYNC_H
#define TKW_OS_SYNC_H

#include <stdbool.h>
#include <stdint.h>

/* State of a thread.  Only the function or header named beside a field writes
 * it.  All fields are 0 at first. */
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

/* Where the tests' scheduler may switch threads.  A function, so that the
 * coverage of both builds can be merged. */
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

/* Wait for a signal or broadcast.  It may return without: check again. */
static inline void sync_wait(struct sync_cond *cond, struct sync_mutex *mutex)
{
    pthread_cond_wait(&cond->cond, &mutex->mutex);
}

static inline void sync_broadcast(struct sync_cond *cond)
{
    pthread_cond_broadcast(&cond->cond);
}

/* Like sync_broadcast(), but wake only one thread. */
static inline void sync_signal(struct sync_cond *cond)
{
    pthread_cond_signal(&cond->cond);
}

/* Let a waiting thread take a lock that was just released. */
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

/* Like sync_wait(), but return at `time` of the monotonic clock, in ns, at the
 * latest.  UINT64_MAX means no limit. */
void tkw__sync_wait_until(struct sync_cond *cond, struct sync_mutex *mutex,
                          uint64_t time);

/* Start a thread that blocks all signals.  Returns 0 or a negative errno. */
int tkw__sync_start(struct sync_thread *thread, void *(*run)(void *),
                    void *argument, const char *name);

/* Set the calling thread's timer slack to 1 ns, so that waits do not end some
 * 50 us late. */
void tkw__sync_be_punctual(void);

extern _Thread_local struct sync_self tkw__sync_self_of_thread
    __attribute__((tls_model("initial-exec")));

static inline struct sync_self *sync_self(void)
{
    return &tkw__sync_self_of_thread;
}

#endif

/* Threads that have a number. */
extern uint32_t tkw__sync_numbered;

#define sync_get_relaxed(at) \
    (SYNC_POINT(), __atomic_load_n((at), __ATOMIC_RELAXED))
/* Like sync_get_relaxed(), but not a place to switch: an old value will do. */
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

/* If `*at` equals `*expected`, store `value` there and return true.  Else store
 * `*at` in `*expected` and return false. */
#define sync_replace_ordered(at, expected, value)                  \
    (SYNC_POINT(),                                                 \
     __atomic_compare_exchange_n((at), (expected), (value), false, \
                                 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))

/* Return the number of the calling thread: 1 for the first that calls this, 2
 * for the second, and so on. */
static inline uint32_t sync_number(void)
{
    struct sync_self *self = sync_self();
    if (self->number == 0)
        self->number = sync_add_relaxed(&tkw__sync_numbered, 1) + 1;
    return self->number;
}

#endif
