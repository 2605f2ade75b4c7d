/*
 * coroutine.c - coroutines in portable C, as far as that goes.
 *
 * makecontext() is the one portable way onto a new stack.  But swapcontext()
 * asks the system to save and set the signal mask, and that takes some thirty
 * times as long as the switch.  So contexts are only for getting onto a stack;
 * from then on it is _setjmp() and _longjmp(), which leave the mask alone.
 */
#define _GNU_SOURCE

/* The hardened longjmp() aborts when it is to go up a stack. */
#undef _FORTIFY_SOURCE

#include "coroutine.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crash.h"

#ifdef CRASH_WITH_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES ((size_t)128 * 1024)

/* The switch under way: makecontext() hands over ints only, not pointers. */
static struct coroutine *left, *entered;

/*
 * The address sanitizer must be told which stack is in use.  In turn it tells
 * where the one is that was left, which of the system's thread we do not know.
 */
#ifdef CRASH_WITH_SANITIZER
static void tell_leaving(void)
{
    __sanitizer_start_switch_fiber(&left->frames, entered->stack,
                                   entered->stack_bytes);
}

static void tell_entered(void)
{
    __sanitizer_finish_switch_fiber(entered->frames, &left->stack,
                                    &left->stack_bytes);
}

static void forget_frames(struct coroutine *coroutine)
{
    coroutine->frames = NULL;
    __asan_unpoison_memory_region(coroutine->stack, coroutine->stack_bytes);
}
#else
static void tell_leaving(void)
{
}

static void tell_entered(void)
{
}

static void forget_frames(struct coroutine *coroutine)
{
    (void)coroutine;
}
#endif

static void enter(void)
{
    tell_entered();
    entered->body(entered->argument);
    abort();
}

/* The lowest page is left out: to overflow is to crash, not to overwrite. */
static void *new_stack(void)
{
    size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, guard + STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED || mprotect(pages, guard, PROT_NONE) != 0) {
        perror("no memory for a stack");
        exit(2);
    }
    return pages + guard;
}

void coroutine_make(struct coroutine *coroutine, void (*body)(void *),
                    void *argument)
{
    if (coroutine->stack == NULL)
        coroutine->stack = new_stack();
    coroutine->stack_bytes = STACK_BYTES;
    coroutine->body = body;
    coroutine->argument = argument;
    coroutine->is_begun = false;
    forget_frames(coroutine);
}

static void begin(struct coroutine *coroutine)
{
    ucontext_t *context = &coroutine->context;

    assert(coroutine->stack != NULL);
    coroutine->is_begun = true;
    getcontext(context);
    context->uc_stack.ss_sp = (void *)(uintptr_t)coroutine->stack;
    context->uc_stack.ss_size = coroutine->stack_bytes;
    context->uc_link = NULL;
    makecontext(context, enter, 0);
    setcontext(context);
}

void coroutine_switch(struct coroutine *from, struct coroutine *to)
{
    assert(from != to);
    from->is_begun = true;
    left = from;
    entered = to;
    if (_setjmp(from->place) != 0) {
        tell_entered();
        return;
    }
    tell_leaving();
    if (!to->is_begun)
        begin(to);
    _longjmp(to->place, 1);
}
