/*
 * commands.h - the commands of the `tickwheel` program, and what they share.
 *
 * Exit codes: 0 fine, 1 something failed, 2 wrong usage, 3 not enough memory;
 * 128 + n if signal n ended the demonstration or the simulation.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include <tickwheel/dial.h>

enum {
    EXIT_FINE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_MEMORY = 3,
    EXIT_SIGNAL = 128
};

/* Each command gets its own name as argv[0]. */
int bench_main(int argc, char **argv);
int demo_main(int argc, char **argv);
int idle_main(int argc, char **argv);
int purgatory_main(int argc, char **argv);
int sim_main(int argc, char **argv);
int where_main(int argc, char **argv);

/*
 * Report on stderr, in one line, that `what` failed with `error`, a negative
 * errno.  Returns the exit status: EXIT_MEMORY for -ENOMEM, otherwise
 * EXIT_FAILED.
 */
int failure_report(const char *what, int error);

/*
 * The functions below read the text of an option (`name` is as the user knows
 * it, "--timers").  If it is wrong they say so on stderr, in one line that
 * names the option, and return false.
 */

/* A whole number from `least` to `most`. */
bool option_number(const char *name, const char *text, uint64_t least,
                   uint64_t most, uint64_t *number);

/* A decimal number such as 2.5, from `least` to `most`. */
bool option_decimal(const char *name, const char *text, double least,
                    double most, double *number);

/* Sizes such as 60,60,12 with `r` or `,rounds` at the end for TKW_ROUNDS. */
bool option_geometry(const char *name, const char *text,
                     struct tkw_geometry *geometry);

/*
 * Say what getopt_long() found wrong when it returned `answer`, in one line.
 * Its option string must begin with ':', and `known` be its table.
 */
struct option;
void option_refuse(int answer, char **argv, const struct option *known);

#endif
