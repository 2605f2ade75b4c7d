/*
 * draft.h - a file that is there only when it is complete.
 *
 * It is written beside its place, and moved there at the end: whoever looks
 * sees the file of before, or the new one.  What is no regular file, such as
 * /dev/stdout, is written straight.
 */
#ifndef SIM_DRAFT_H
#define SIM_DRAFT_H

#include <stdbool.h>
#include <stdio.h>

struct draft {
    FILE *file; /* to be written; NULL: there is no such file */

    char *target; /* read-only: its one name, links followed */

    /* Private. */
    bool is_special;
    char *path; /* NULL: the target itself is written */
};

/* `path` may be NULL: then nothing is to be written.  Returns 0, or a negative
 * errno with nothing to finish. */
int draft_open(struct draft *draft, const char *path);

/* Put it in its place.  Returns 0, or a negative errno with nothing left. */
int draft_finish(struct draft *draft);

/* Leave nothing behind.  Fine if it is finished, or was never opened. */
void draft_drop(struct draft *draft);

#endif
