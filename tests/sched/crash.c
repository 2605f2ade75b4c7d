/*
 * crash.c - signals that mean a bug, and the sanitizer's last call.
 */
#define _GNU_SOURCE

#include "crash.h"

#include <signal.h>
#include <stddef.h>

#ifdef CRASH_WITH_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

/* A sanitizer tells more of a fault than we could: it keeps those. */
static const int numbers[] = {
    SIGABRT,
#ifndef CRASH_WITH_SANITIZER
    SIGSEGV,
    SIGBUS,
    SIGFPE,
#endif
};

#define NUMBER_COUNT (sizeof numbers / sizeof numbers[0])

static struct sigaction actions_before[NUMBER_COUNT];
static stack_t stack_before;
static void (*handle_death)(void);

/* The stack that overflowed is no place to handle it. */
static char signal_stack[64 * 1024];

#ifdef CRASH_WITH_SANITIZER
static void die(void)
{
    if (handle_death != NULL)
        handle_death();
}
#endif

void crash_watch(void (*on_signal)(int number), void (*on_death)(void))
{
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = SA_NODEFER | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaltstack(&stack, &stack_before);
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        sigaction(numbers[i], &action, &actions_before[i]);
    handle_death = on_death;
#ifdef CRASH_WITH_SANITIZER
    __sanitizer_set_death_callback(die);
#endif
}

void crash_unwatch(void)
{
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        sigaction(numbers[i], &actions_before[i], NULL);
    sigaltstack(&stack_before, NULL);
    handle_death = NULL;
}
