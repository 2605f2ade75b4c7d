/*
 * lines.h - a file, line by line, and complaints that name the line.
 *
 *     struct lines lines = {.in = in, .name = "load.csv", .fault = &fault};
 *     int answer = lines_open(&lines);
 *     if (answer == 0) {
 *         for (struct text line; (answer = lines_next(&lines, &line)) > 0;)
 *             ...
 *         lines_close(&lines);
 *     }
 */
#ifndef SIM_LINES_H
#define SIM_LINES_H

#include "text.h"
#include "trace.h"

struct lines {
    FILE *in;
    const char *name;          /* as complaints call the file */
    struct trace_fault *fault; /* where they go */
    trace_progress *progress;  /* may be NULL */
    void *context;

    uint64_t number; /* read-only: of the line told last; the first is 1 */

    /* Private. */
    char *buffer;
    size_t begin, end; /* of what is in the buffer and was not told */
    uint64_t done;     /* bytes read ... */
    uint64_t size;     /* ... of so many; 0: not known */
    uint64_t report;   /* say how far it is when so many were read */
};

/* The fields that are not private are set.  Returns 0 or -ENOMEM. */
int lines_open(struct lines *lines);
void lines_close(struct lines *lines);

/*
 * Read the next line; it is there until the one after it is asked for, without
 * the bytes that end it.
 *
 * Returns 1, or 0 at the end of the file, or with the complaint written
 * -EINVAL, -EIO or -EINTR, as trace_read() does.  Wrong is a line that does not
 * end, that is too long, or that has bytes in it which no text has.
 */
int lines_next(struct lines *lines, struct text *line);

/*
 * Tell whether the file begins so.  Asked before the first line is read.
 * Returns 1 or 0, or what lines_next() would.
 */
int lines_begin_with(struct lines *lines, const char *word);

/*
 * Complain about the line told last, or if there was none, about the file.
 * Returns `error`.
 */
int lines_refuse(const struct lines *lines, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Text for a complaint: in quotes, shortened, and fit to be shown. */
struct lines_quote {
    char text[48];
};
struct lines_quote lines_quote(struct text text);

#endif
