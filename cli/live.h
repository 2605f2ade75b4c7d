/*
 * live.h - a demonstration in real time: something is at work in threads of its
 * own, and is looked at now and then.
 *
 *     live_start(&thread, work, it);
 *     int error = live_watch(&(struct live){.seconds = 15, .line = tell, ...});
 *     pthread_join(thread, NULL);
 *
 * Also what such demonstrations share: their options, sleep, and rates.
 */
#ifndef LIVE_H
#define LIVE_H

#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "screen.h"
#include "words.h"

/* Where the words of a summary begin, behind a name and a number. */
enum { LIVE_TEXT_COLUMN = 27 };

struct live {
    double seconds;
    bool is_plain; /* lines instead of a picture */
    bool is_quiet; /* neither */
    /* Draw a frame, `elapsed_s` after the start; returns the row where the
     * progress is to be drawn. */
    unsigned (*draw)(void *context, double elapsed_s, struct screen *screen);
    const char *heads; /* what is above the first line */
    /* Write a line. */
    void (*line)(void *context, double elapsed_s);
    void *context; /* for both */
};

/*
 * Watch for so many seconds, or until a signal asks to end: on the terminal if
 * there is one, otherwise in at most 15 lines below the heads.  While the
 * process is paused the seconds are not counted.  Returns 0 or a negative
 * errno.
 */
int live_watch(const struct live *live);

/* Start a thread that leaves signals to the others.  Returns whether it could
 * be. */
bool live_start(pthread_t *thread, void *(*work)(void *argument),
                void *argument);

/* Sleep until the stopwatch shows so much; a signal may end it before. */
void live_sleep_until(double ns);

/* How much a count grows in a second, measured over about one. */
struct live_rate {
    double per_s; /* read-only */
    double since_s, count;
};

void live_rate_update(struct live_rate *rate, double elapsed_s, double count);

/* Processor time of the whole program so far, the picture included. */
double live_program_ns(void);

/* A share of a core, given nanoseconds of processor time in a second. */
struct words live_words_share(double ns);

/* The options of a demonstration. */
struct live_options {
    const char *usage;
    const struct option *known; /* with --help as 'h' */
    /* Read the option `c`; returns whether it was right, having said what was
     * wrong with it. */
    bool (*read)(void *settings, int c, char **argv);
    void *settings;
};

/* Read the command line.  Returns -1, or the exit code if that was all. */
int live_read_options(const struct live_options *options, int argc,
                      char **argv);

#endif
