/*
 * harness.h - what the programs here share.
 *
 * Each is for one page, a header or a document.  It includes the pieces of the
 * page's snippets where they belong (see extract.awk for how they are cut and
 * numbered), supplies what they take for granted, and looks at what they did.
 */
#ifndef SNIPPETS_HARNESS_H
#define SNIPPETS_HARNESS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define must(condition) must_be(condition, #condition, __FILE__, __LINE__)

static inline void must_be(bool is_so, const char *condition, const char *file,
                           int line)
{
    if (is_so)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    exit(1);
}

/* What was noted so far. */
static inline char *noted(void)
{
    static char text[1000];
    return text;
}

/* In place of printf, for a snippet that prints. */
static inline void note(const char *format, ...)
{
    size_t length = strlen(noted());
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(noted() + length, 1000 - length, format, arguments);
    va_end(arguments);
}

#endif
