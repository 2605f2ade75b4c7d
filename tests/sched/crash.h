/*
 * crash.h - what to do when a schedule does not fail but crashes.
 */
#ifndef SCHED_CRASH_H
#define SCHED_CRASH_H

#ifdef __SANITIZE_ADDRESS__
#define CRASH_WITH_SANITIZER
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CRASH_WITH_SANITIZER
#endif
#endif

/*
 * Call `on_signal`, which need not return, for an abort or a fault; and before
 * a sanitizer ends the program, `on_death`.
 */
void crash_watch(void (*on_signal)(int number), void (*on_death)(void));

/* Have what was before. */
void crash_unwatch(void);

#endif
