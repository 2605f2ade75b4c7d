/*
 * geometry_option.c - reading a geometry such as 60,60,12 or 512r.
 *
 * Only the notation is judged here; whether a dial can be made of the sizes is
 * for tkw_geometry_fault() to say.
 */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(const char *name, const char *text, const char *why)
{
    fprintf(stderr, "tickwheel: %s '%s': %s\n", name, text, why);
    return false;
}

/* What may stand behind the last size. */
static bool is_rounds(const char *text)
{
    return strcmp(text, "r") == 0 || strcmp(text, ",rounds") == 0;
}

/* Read one size and move `*text` behind it; 0 if there is none. */
static uint32_t read_size(const char **text)
{
    if (**text < '0' || **text > '9')
        return 0;
    char *end = NULL;
    errno = 0;
    unsigned long long size = strtoull(*text, &end, 10);
    *text = end;
    return errno != 0 || size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

bool option_geometry(const char *name, const char *text,
                     struct tkw_geometry *geometry)
{
    struct tkw_geometry read = {.beyond = TKW_GROW};
    const char *rest = text;

    for (unsigned i = 0;; i++, rest++) {
        if (i == TKW_SIZES_MAX)
            return refuse(name, text,
                          "there are more than 16 sizes; give up to 16");
        read.sizes[i] = read_size(&rest);
        if (read.sizes[i] == 0)
            return refuse(name, text,
                          "give sizes of 2 or more, such as 60,60,12 or 512r");
        if (*rest != ',' || is_rounds(rest))
            break;
    }
    if (is_rounds(rest))
        read.beyond = TKW_ROUNDS;
    else if (*rest != '\0')
        return refuse(name, text,
                      "give sizes of 2 or more, such as 60,60,12 or 512r");

    const char *fault = tkw_geometry_fault(&read);
    if (fault != NULL)
        return refuse(name, text, fault);
    *geometry = read;
    return true;
}
