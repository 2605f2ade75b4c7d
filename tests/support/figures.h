/*
 * support/figures.h - prints the figures of a successful run as one line of
 * JSON, which ./check --record stores and scripts/results renders.
 *
 *     figures_begin("pool_churn");
 *     figures_count("wake-ups", wakes);
 *     figures_end();
 *
 * prints
 *
 *     figures: {"of": "pool_churn", "wake-ups": 7}
 *
 * The caller passes no name that JSON would have to escape.
 */
#ifndef TESTS_SUPPORT_FIGURES_H
#define TESTS_SUPPORT_FIGURES_H

#include <inttypes.h>
#include <stdio.h>

/* Begin the line; `of` names the part of a step that the figures belong to. */
static inline void figures_begin(const char *of)
{
    printf("figures: {\"of\": \"%s\"", of);
}

/* `key` is read after the value: "7 wake-ups". */
static inline void figures_count(const char *key, uint64_t value)
{
    printf(", \"%s\": %" PRIu64, key, value);
}

/* Print `value` with three digits: for sums of floating point numbers. */
static inline void figures_real(const char *key, double value)
{
    printf(", \"%s\": %.3g", key, value);
}

/* Print a seed as text: many readers of JSON round a number above 2^53. */
static inline void figures_seed(uint64_t seed)
{
    printf(", \"seed\": \"%" PRIu64 "\"", seed);
}

static inline void figures_end(void)
{
    printf("}\n");
    fflush(stdout);
}

#endif
