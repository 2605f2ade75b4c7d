/*
 * progress.c - a bar for those who wait.
 */
#define _POSIX_C_SOURCE 200809L

#include "progress.h"

#include "../interrupt.h"
#include "../stopwatch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 30, NAME_WIDTH = 24, LINE_WIDTH = 79 };

static const double patience_ns = 5e8; /* what takes less needs no bar */
static const double frame_ns = 1e8;

void progress_open(struct progress *progress, bool is_quiet)
{
    *progress = (struct progress){
        .is_shown = !is_quiet && isatty(STDERR_FILENO) == 1,
        .began_ns = stopwatch_ns(),
        .what = "",
    };
}

void progress_begin(struct progress *progress, const char *what, size_t number,
                    size_t count)
{
    progress->what = what;
    progress->number = number;
    progress->count = count;
}

static void draw(struct progress *progress, double part)
{
    char bar[BAR_WIDTH + 1];
    int filled = (int)(part * BAR_WIDTH + 0.5);
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)filled);
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r%2zu of %2zu  %-*.*s [%s] %3.0f%%", progress->number,
            progress->count, NAME_WIDTH, NAME_WIDTH, progress->what, bar,
            part * 100);
    fflush(stderr);
    progress->is_drawn = true;
}

bool progress_report(void *context, double part)
{
    struct progress *progress = context;
    if (progress->is_shown) {
        double now_ns = stopwatch_ns();
        part = part < 0 ? 0 : part > 1 ? 1 : part;
        if (now_ns - progress->began_ns > patience_ns &&
            now_ns - progress->drawn_ns > frame_ns) {
            draw(progress, part);
            progress->drawn_ns = now_ns;
        }
    }
    return interrupt_signal() == 0;
}

void progress_close(struct progress *progress)
{
    if (progress->is_drawn)
        fprintf(stderr, "\r%*s\r", LINE_WIDTH, "");
    progress->is_drawn = false;
}
