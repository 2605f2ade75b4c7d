/*
 * load_option.h - the options that describe a load, for every command that
 * makes one up.
 */
#ifndef LOAD_OPTION_H
#define LOAD_OPTION_H

#include "load.h"

/* For a table of getopt_long()'s. */
#define LOAD_OPTIONS                              \
    {"load", required_argument, NULL, 'l'},       \
        {"timers", required_argument, NULL, 't'}, \
        {"delay", required_argument, NULL, 'd'},  \
    {                                             \
        "seed", required_argument, NULL, 'r'      \
    }

/* What there is if no option says anything. */
struct load_settings load_option_defaults(void);

/* Tell whether the option that getopt_long() returned as `c` is one of them. */
bool load_option_is(int c);

/* Read it from its text.  If that is wrong, say so and return false. */
bool load_option_read(struct load_settings *load, int c, const char *text);

/* Fill in what was left to the kind of load, when all options are read. */
void load_option_complete(struct load_settings *load);

#endif
