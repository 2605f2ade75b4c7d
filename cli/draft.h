/*
 * draft.h - a file that replaces its target only when it is complete.
 *
 *     error = draft_open(&draft, path);
 *     fprintf(draft.file, "...");
 *     error = draft_finish(&draft);
 *
 * The draft is written to a file beside the target, and draft_finish() renames
 * it.  A reader of the target sees the former file or the complete new one.  A
 * target that is not a regular file, such as /dev/stdout, is written directly.
 */
#ifndef DRAFT_H
#define DRAFT_H

#include <stdbool.h>
#include <stdio.h>

struct draft {
    FILE *file; /* public: write to it; NULL if draft_open() got no path */

    char *target; /* read-only: the target's absolute name, links resolved */

    /* Private. */
    bool is_special;
    char *path; /* NULL: the target itself is written */
};

/* Open a draft of the file `path`.  `path` may be NULL: then the other calls do
 * nothing.  Returns 0, or a negative errno with nothing to finish or drop. */
int draft_open(struct draft *draft, const char *path);

/* Close the draft and rename it to its target.  Returns 0, or a negative errno
 * with the target unchanged and the draft removed. */
int draft_finish(struct draft *draft);

/* Remove the draft; the target stays as it was.  Does nothing if the draft is
 * finished or was never opened. */
void draft_drop(struct draft *draft);

/*
 * Remove the draft's file and nothing else.  Async-signal-safe: for a handler
 * of a signal that is about to end the process.  `draft` must be {0} before it
 * is opened.
 */
void draft_unlink(const struct draft *draft);

#endif
