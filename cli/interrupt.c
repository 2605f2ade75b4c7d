/*
 * interrupt.c - signals that ask the program to end or to pause.
 *
 * A signal handler may call only async-signal-safe functions and gets no
 * argument but the signal's number.  So the handlers share static variables
 * with the rest of this file.
 */
#define _POSIX_C_SOURCE 200809L

#include "interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t ending_signal;
static volatile sig_atomic_t is_pause_wanted;

/* Written before a handler that reads it is installed. */
static struct {
    void (*clean)(void *context);
    void *context;
    pid_t owner; /* a child process must not clean up for its parent */
} cleanup;

static void remember_end(int number)
{
    ending_signal = number;
}

static void remember_pause(int number)
{
    is_pause_wanted = number;
}

/* SA_RESETHAND has restored the default action.  The signal is blocked until
 * the handler returns, and ends the process then. */
static void clean_and_end(int number)
{
    if (getpid() == cleanup.owner)
        cleanup.clean(cleanup.context);
    raise(number);
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

/* Returns whether the default action of a signal is to end the process. */
static bool is_fatal(int number)
{
    static const int others[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH,
                                 SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (number == others[i])
            return false;
    }
    return true;
}

void interrupt_clean(void (*clean)(void *context), void *context)
{
    struct sigaction action = {.sa_handler = clean_and_end,
                               .sa_flags = (int)SA_RESETHAND};
    sigfillset(&action.sa_mask);
    cleanup.clean = clean;
    cleanup.context = context;
    cleanup.owner = getpid();
    /* sigaction() fails for SIGKILL, SIGSTOP and the signals of libc. */
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction old;
        if (is_fatal(number) && sigaction(number, NULL, &old) == 0 &&
            old.sa_handler == SIG_DFL)
            sigaction(number, &action, NULL);
    }
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
