/*
 * tools.h - the commands of the `tickwheel` program, and what they share.
 *
 * Exit codes: 0 fine, 1 something failed, 2 wrong usage.
 */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdbool.h>
#include <stdint.h>

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Each command gets its own name as argv[0]. */
int demo_main(int argc, char **argv);

/*
 * Read a whole number from `least` to `most` out of an option's text.  If it is
 * not one, say so on stderr in one line that names the option, and return
 * false.
 */
bool option_number(const char *option, const char *text, uint64_t least,
                   uint64_t most, uint64_t *number);

#endif
