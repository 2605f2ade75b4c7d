/*
 * interrupt.h - signals that ask the program to end or to pause.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

/* From now on remember SIGINT, SIGTERM, SIGHUP and SIGQUIT instead of dying. */
void interrupt_catch(void);

/* Remember SIGTSTP (control-Z) too: for who has a terminal to put right. */
void interrupt_catch_pause(void);

/*
 * Call `clean` with `context` when a signal is about to end the process, and
 * then let the signal end it.  `clean` may call only async-signal-safe
 * functions.  A later call replaces `clean`.
 *
 * The call is about every signal whose default action ends the process, except
 * SIGKILL.  Signals that are ignored or handled already stay so: call
 * interrupt_catch() first.
 */
void interrupt_clean(void (*clean)(void *context), void *context);

/* The signal that asked to end, or 0. */
int interrupt_signal(void);

/*
 * Tell whether a pause was asked for; interrupt_pause() then stops the process
 * until it is continued.
 */
bool interrupt_wants_pause(void);
void interrupt_pause(void);

#endif
