/*
 * base/fault.c - a fault in words.
 *
 * This is the one function of the core that formats text.  It has a file of its
 * own, so that a program without a C library can leave it out.
 */
#include <tickwheel/base.h>

#include <inttypes.h>
#include <stdio.h>

/* Write "level 2, slot 17: ", or less of it.  Returns its length. */
static size_t describe_place(const struct tkw_fault *fault, char *text,
                             size_t size)
{
    if (fault->level == 0)
        return 0;
    if (fault->slot == TKW_NO_SLOT)
        return (size_t)snprintf(text, size, "level %" PRIu32 ": ",
                                fault->level);
    return (size_t)snprintf(text, size, "level %" PRIu32 ", slot %" PRIu32 ": ",
                            fault->level, fault->slot);
}

size_t tkw_fault_describe(const struct tkw_fault *fault, char *text,
                          size_t size)
{
    static const char *const bounds[] = {
        [TKW_EXACTLY] = "",
        [TKW_AT_LEAST] = "at least ",
        [TKW_AT_MOST] = "at most ",
    };
    size_t place = describe_place(fault, text, size);
    bool is_full = place >= size;
    char *rest = is_full ? NULL : text + place;
    size_t room = is_full ? 0 : size - place;

    if (fault->found == fault->expected)
        return place + (size_t)snprintf(rest, room, "%s", fault->what);
    return place + (size_t)snprintf(rest, room,
                                    "%s is %" PRIu64 ", expected %s%" PRIu64,
                                    fault->what, fault->found,
                                    bounds[fault->bound], fault->expected);
}
