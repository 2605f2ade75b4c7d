/*
 * base/attributes.h - function attributes of gcc and clang.
 *
 * Programs call arm, postpone and cancel millions of times on timers that are
 * in no cache.  Their cost depends on how many a processor can overlap while it
 * waits for memory: few instructions, few stores.  So their rare paths are RARE
 * functions, as tail calls, and the rest needs no stack frame.  Steps of time
 * in which no timer is due are written likewise.
 */
#ifndef TKW_BASE_ATTRIBUTES_H
#define TKW_BASE_ATTRIBUTES_H

#define RARE __attribute__((noinline))

/* For functions that only prefetch: gcc would take a call of one for a call
 * without effect, and remove it. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

#endif
