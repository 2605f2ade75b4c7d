/*
 * base.h - types that several headers share.
 *
 * Here are the allocator of the caller, the states of a timer, and the work
 * that a wheel and a pool count.  Other headers include this one; a program
 * rarely has to.
 *
 * Threads: there is nothing here to call.
 */
#ifndef TICKWHEEL_BASE_H
#define TICKWHEEL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tickwheel/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * An allocator of the caller's.  `allocate` may return NULL at any time.  Both
 * functions may be called with locks of the library held: they must not call
 * the object that they allocate for.
 */
struct tkw_allocator {
    void *(*allocate)(void *context, size_t bytes); /* aligned as malloc's */
    void (*release)(void *context, void *memory, size_t bytes);
    void *context;
};

/* The object that `member` of type `type` is embedded in, from a pointer to the
 * member. */
#define TKW_CONTAINER(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* What has become of the timer that a handle names. */
enum tkw_state {
    TKW_STALE,     /* none: the handle was never given out, or its place is
                      used by another timer */
    TKW_PENDING,   /* armed, its deadline is to come */
    TKW_READY,     /* armed, its deadline has come: to be popped, or called */
    TKW_KEPT,      /* popped and kept: idle, to be armed again */
    TKW_CANCELLED, /* ended by a cancel ... */
    TKW_DONE,      /* ... or popped, drained or called; its place is not used
                      again yet */
    TKW_RUNNING,   /* its callback is running */
};

/* What a wheel or a pool has done since it was opened. */
struct tkw_wheel_figures {
    uint64_t armed;     /* armings begun; moving a timer continues its arming */
    uint64_t fired;     /* ended by a pop */
    uint64_t cancelled; /* ended by a cancel */
    uint64_t drained;   /* ended by a drain */
    uint64_t falls;     /* timers moved to a lower level */
    uint64_t refiles; /* postponed timers filed anew, their old slot reached */
    uint64_t passes;  /* timers a hand passed over (TKW_ROUNDS) */
    uint64_t visits;  /* slots emptied because they came round */
    uint64_t stops;   /* advances that ended for lack of budget */
};

#ifdef __cplusplus
}
#endif

#endif
