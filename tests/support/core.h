/*
 * support/core.h - what the tests of the dial and the wheel share: geometries
 * to try everything on, a wheel on the heap, where a timer is filed, random
 * numbers that a seed replays.
 */
#ifndef TESTS_SUPPORT_CORE_H
#define TESTS_SUPPORT_CORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <tickwheel/wheel.h>

#include "fault.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* One of everything: default, Kafka, clock, toys, odd, hashed. */
extern const struct tkw_geometry shapes[11];

extern const struct tkw_geometry kafka; /* {20} */

/*
 * Bits of the distances worth trying.  Rounds are passed over one by one: there
 * the end of time is for ever away.
 */
unsigned bits_of_reach(const struct tkw_geometry *geometry);

/* A wheel on the heap; wheel_done() or free() gives it back. */
struct tkw_wheel *wheel_of(const struct tkw_geometry *geometry, tkw_tick start);

size_t walked_count(const struct tkw_wheel *wheel);

/* What must hold at any moment: L3 as an equation, L15 by the wheel's check. */
void assert_sound(const struct tkw_wheel *wheel);

/* Take everything out, see that nothing is left over, and free the wheel. */
void wheel_done(struct tkw_wheel *wheel);

/* Where a walk meets `timer`, which it must do exactly once. */
struct tkw_wheel_cursor place_of(const struct tkw_wheel *wheel,
                                 const struct tkw_timer *timer);

void assert_place(const struct tkw_wheel *wheel, const struct tkw_timer *timer,
                  uint32_t level, uint32_t slot);

void assert_pops(struct tkw_wheel *wheel, const struct tkw_timer *timer);

/* Advance, failing where it would go on for ever. */
void advance_surely(struct tkw_wheel *wheel, tkw_tick now);

/* The timer fires when time reaches its deadline, and not one tick before. */
void assert_fires_on_time(struct tkw_wheel *wheel,
                          const struct tkw_timer *timer);

/* Sleep until `next` and advance to it, until something is ready. */
size_t wakes_until_ready(struct tkw_wheel *wheel);

/* splitmix64: small, and any seed will do. */
uint64_t random_next(uint64_t *state);

uint64_t random_below(uint64_t *state, uint64_t limit);

/* Any magnitude from 0 to `bits` bits, each as likely. */
uint64_t random_magnitude(uint64_t *state, unsigned bits);

/* TKW_SEED in the environment, or 1; printed, so that a run can be replayed. */
uint64_t random_seed(void);

#endif
