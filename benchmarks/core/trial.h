/*
 * core/trial.h - several values, measured in a process of its own, again and
 * again.
 *
 * A trial inherits no memory of another, and what it leaves behind is gone with
 * it.  Of each value all samples are kept: look at their spread before you
 * believe a difference.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stddef.h>

enum { TRIAL_VALUES = 8, TRIAL_REPEATS_MAX = 16 };

struct trial {
    void (*run)(const void *setting, double *values);
    const void *setting;
    unsigned count; /* of the samples so far */
    double samples[TRIAL_VALUES][TRIAL_REPEATS_MAX];
};

/* Run it once more.  Returns whether it came to its end; if it did not, it has
 * said why. */
bool trial_measure(struct trial *trial);

double trial_median(const struct trial *trial, unsigned value);
double trial_least(const struct trial *trial, unsigned value);
double trial_most(const struct trial *trial, unsigned value);

/* End the program, saying why. */
_Noreturn void trial_fail(const char *why);

/* The same, unless it is so. */
static inline void trial_must(bool is_so, const char *why_not)
{
    if (!is_so)
        trial_fail(why_not);
}

/* The time of the processors that this process has had: what others on the
 * machine had meanwhile does not count. */
double trial_cpu_ns(void);

/* The memory that can be had without swapping. */
size_t trial_available_bytes(void);

/* A number from the command line, 1 to `most`; if it is none, say so, of the
 * program and option `name`, and return 0. */
unsigned trial_option(const char *name, const char *text, unsigned most);

#endif
