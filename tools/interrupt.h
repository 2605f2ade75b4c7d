/*
 * interrupt.h - being asked to end or to pause, noticed between two frames.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

/* From now on remember SIGINT, SIGTERM, SIGHUP and SIGQUIT instead of dying. */
void interrupt_catch(void);

/* Remember SIGTSTP (control-Z) too: for who has a terminal to put right. */
void interrupt_catch_pause(void);

/* The signal that asked to end, or 0. */
int interrupt_signal(void);

/*
 * Tell whether a pause was asked for; interrupt_pause() then stops the process
 * until it is continued.
 */
bool interrupt_wants_pause(void);
void interrupt_pause(void);

#endif
