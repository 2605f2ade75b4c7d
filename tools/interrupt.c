/*
 * interrupt.c - being asked to end or to pause, noticed between two frames.
 *
 * A handler may do hardly anything, so it only writes down what came.  That is
 * why there are two variables of the whole program here.
 */
#define _POSIX_C_SOURCE 200809L

#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t ending_signal;
static volatile sig_atomic_t is_pause_wanted;

static void remember_end(int number)
{
    ending_signal = number;
}

static void remember_pause(int number)
{
    is_pause_wanted = number;
}

/* What was ignored from the start, as under nohup, stays ignored. */
static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void interrupt_catch(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        handle(ends[i], remember_end);
}

void interrupt_catch_pause(void)
{
    handle(SIGTSTP, remember_pause);
}

int interrupt_signal(void)
{
    return ending_signal;
}

bool interrupt_wants_pause(void)
{
    return is_pause_wanted != 0;
}

void interrupt_pause(void)
{
    is_pause_wanted = 0;
    raise(SIGSTOP);
}
