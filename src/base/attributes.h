/*
 * base/attributes.h - attributes of functions that gcc and clang know.
 *
 * Arm, postpone and cancel are called by the million on timers that are in no
 * cache.  What they cost is how many of them a processor can have under way at
 * once while it waits for memory: few instructions, few stores.  So what is
 * rare there is a function of its own, called last; the rest needs no stack.
 * The same is true of steps of time in which nothing is due.
 */
#ifndef TKW_BASE_ATTRIBUTES_H
#define TKW_BASE_ATTRIBUTES_H

#define RARE __attribute__((noinline))

/* For functions that do nothing but prefetch: were they not inlined, gcc
 * would think that a call does nothing, and leave it out. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

#endif
