/*
 * coroutine.h - a stack of its own, and the switch from one to another.
 */
#ifndef SCHED_COROUTINE_H
#define SCHED_COROUTINE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

/*
 * All zero is one that has no stack: that of the system's thread, which can be
 * left and come back to.
 */
struct coroutine {
    ucontext_t context; /* to begin with */
    jmp_buf place;      /* where it was left */
    const void *stack;
    size_t stack_bytes;
    void *frames; /* the address sanitizer's */
    bool is_begun;
    void (*body)(void *);
    void *argument;
};

/*
 * Have the next switch to it call `body`, which must not return.  The stack is
 * kept from the last time; what was on it is dropped.  It lasts as long as the
 * program.
 */
void coroutine_make(struct coroutine *coroutine, void (*body)(void *),
                    void *argument);

/* Leave `from`, which must be the one that runs, until it is switched to. */
void coroutine_switch(struct coroutine *from, struct coroutine *to);

#endif
