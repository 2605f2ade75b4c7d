/*
 * progress.h - a bar for those who wait, on a terminal only and only after a
 * while; and whether to go on, for everybody.
 */
#ifndef SIM_PROGRESS_H
#define SIM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct progress {
    bool is_shown; /* there is somebody to see it */
    double began_ns;

    /* Private. */
    const char *what;
    size_t number, count;
    bool is_drawn;
    double drawn_ns;
};

void progress_open(struct progress *progress, bool is_quiet);

/* From now on `what`, the `number`th of `count`, is at work.  It must stay. */
void progress_begin(struct progress *progress, const char *what, size_t number,
                    size_t count);

/* A trace_progress: false if a signal has asked to end. */
bool progress_report(void *progress, double part);

/* Wipe it off the terminal. */
void progress_close(struct progress *progress);

#endif
