/*
 * options.c - reading what was given on the command line.
 */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool option_number(const char *name, const char *text, uint64_t least,
                   uint64_t most, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0';

    if (!is_number || errno != 0 || value < least || value > most) {
        fprintf(stderr,
                "tickwheel: %s is '%s'; give a whole number from %" PRIu64
                " to %" PRIu64 "\n",
                name, text, least, most);
        return false;
    }
    *number = value;
    return true;
}

bool option_decimal(const char *name, const char *text, double least,
                    double most, double *number)
{
    /* Digits and a point only: strtod() knows also hex, nan and inf. */
    char *end = NULL;
    double value = strtod(text, &end);
    bool is_number = text[0] != '\0' && *end == '\0' &&
                     strspn(text, "0123456789.") == strlen(text);

    if (!is_number || value < least || value > most) {
        fprintf(stderr,
                "tickwheel: %s is '%s'; give a number from %g to %.0f\n", name,
                text, least, most);
        return false;
    }
    *number = value;
    return true;
}

/* Whether more than one option begins like that, and none is just that; then
 * say so, and name them. */
static bool refuse_ambiguous(const char *text, const struct option *known)
{
    size_t length = strcspn(text + 2, "=");
    unsigned count = 0;
    for (const struct option *o = known; o->name != NULL; o++) {
        if (strncmp(o->name, text + 2, length) != 0)
            continue;
        if (strlen(o->name) == length)
            return false;
        count++;
    }
    if (count < 2)
        return false;
    fprintf(stderr, "tickwheel: '%.*s' is ambiguous:", (int)length + 2, text);
    for (const struct option *o = known; o->name != NULL; o++) {
        if (strncmp(o->name, text + 2, length) == 0)
            fprintf(stderr, " --%s%s", o->name, --count > 0 ? "," : "\n");
    }
    return true;
}

void option_refuse(int answer, char **argv, const struct option *known)
{
    const char *text = argv[optind - 1];
    char letter[] = {'-', (char)optopt, '\0'};

    /* Inside a bundle of letters such as -xy getopt has not moved on yet. */
    if (strncmp(text, "--", 2) != 0)
        text = letter;
    if (answer == ':')
        fprintf(stderr,
                "tickwheel: %s needs a value; see tickwheel %s --help\n", text,
                argv[0]);
    else if (text == letter || !refuse_ambiguous(text, known))
        fprintf(stderr,
                "tickwheel: %s does not take '%s'; see tickwheel %s --help\n",
                argv[0], text, argv[0]);
}
