/*
 * base.h - types that several headers share.
 *
 * Here are the allocator of the caller, the states of a timer, the work that a
 * wheel and a pool count, and the description of a broken invariant.  Other
 * headers include this one; a program rarely has to.
 *
 * Threads: the function that says *any thread* may be called by any thread.
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
struct tkw_wheel_stats {
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

/* How `expected` of a struct tkw_fault bounds `found`. */
enum tkw_bound {
    TKW_EXACTLY,
    TKW_AT_LEAST,
    TKW_AT_MOST,
};

/* The slot of a fault that is in a level, but in no slot of it. */
#define TKW_NO_SLOT UINT32_MAX

/*
 * A broken invariant: where it is, and which number is wrong.  The functions
 * tkw_dial_find_fault(), tkw_wheel_find_fault(), tkw_pool_find_fault(),
 * tkw_idle_find_fault() and tkw_purgatory_find_fault() store one:
 *
 *     struct tkw_fault fault;
 *     char text[TKW_FAULT_TEXT_MAX];
 *     if (tkw_wheel_find_fault(wheel, &fault)) {
 *         tkw_fault_describe(&fault, text, sizeof text);
 *         fprintf(stderr, "the wheel is broken: %s\n", text);
 *     }
 *
 * A sound object stays sound whatever its caller does within the rules of its
 * header.  A fault means that memory was overwritten, that a timer was freed
 * while it was armed, that two threads used an object of one owner, or that the
 * library has a bug.  `what` is for a person to read: its words may change
 * between versions.
 */
struct tkw_fault {
    const char *what;     /* the number that is wrong, in words; a string that
                             is never freed */
    uint32_t level;       /* 1 is the lowest; 0: the fault is in no level */
    uint32_t slot;        /* within the level, or TKW_NO_SLOT */
    uint64_t found;       /* the number.  Equal to `expected` where no number is
                             wrong and `what` is a whole sentence */
    uint64_t expected;    /* the number that the invariant asks for ... */
    enum tkw_bound bound; /* ... or bounds `found` by */
};

/* Bytes that hold every description by tkw_fault_describe(). */
#define TKW_FAULT_TEXT_MAX 256

/*
 * Write a description of `fault` in words to `text`, at most `size` bytes, the
 * 0 that ends it included.  `text` may be NULL if `size` is 0.  Like snprintf()
 * the function returns the length of the whole description, without the 0: a
 * result of `size` or more says that the description was cut off.  Examples:
 *
 *     level 2, slot 17: occupancy bit of the slot is 0, expected 1
 *     level 1: tick at which the current slot begins is 40, expected 20
 *     deadline of a ready timer is 23, expected at most 22
 *     a link between two ready timers is broken
 *
 * *Any thread*.
 */
TKW_EXPORT size_t tkw_fault_describe(const struct tkw_fault *fault, char *text,
                                     size_t size);

#ifdef __cplusplus
}
#endif

#endif
