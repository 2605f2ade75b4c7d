/*
 * options.c - reading what was given on the command line.
 */
#include "tools.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool option_number(const char *option, const char *text, uint64_t least,
                   uint64_t most, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0';

    if (!is_number || errno != 0 || value < least || value > most) {
        fprintf(stderr,
                "tickwheel: --%s wants a whole number from %" PRIu64
                " to %" PRIu64 ", not '%s'\n",
                option, least, most, text);
        return false;
    }
    *number = value;
    return true;
}
