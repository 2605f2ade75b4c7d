/*
 * failure.c - from an errno to a message and an exit status.
 */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int failure_report(const char *what, int error)
{
    if (error == -ENOMEM)
        fprintf(stderr,
                "tickwheel: not enough memory for %s; free some memory, or ask "
                "for less\n",
                what);
    else
        fprintf(stderr, "tickwheel: %s: %s\n", what, strerror(-error));
    return error == -ENOMEM ? EXIT_MEMORY : EXIT_FAILED;
}
