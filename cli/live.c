/*
 * live.c - a demonstration in real time, and what such ones share.
 */
#define _POSIX_C_SOURCE 200809L

#include "live.h"

#include "commands.h"
#include "interrupt.h"
#include "stopwatch.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>

enum { LINES_MAX = 15, MARGIN = 15 };

static const double frame_ns = 50e6; /* 20 frames a second */

void live_sleep_until(double ns)
{
    double left = ns - stopwatch_ns();
    if (left <= 0)
        return;
    struct timespec time = {.tv_sec = (time_t)(left / 1e9),
                            .tv_nsec = (long)fmod(left, 1e9)};
    nanosleep(&time, NULL);
}

bool live_start(pthread_t *thread, void *(*work)(void *argument),
                void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(thread, NULL, work, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

void live_rate_update(struct live_rate *rate, double elapsed_s, double count)
{
    double passed = elapsed_s - rate->since_s;
    bool is_first = rate->since_s == 0;

    /* Before the first second is over, what there is of it must do. */
    if (passed < (is_first ? 0.1 : 0.95))
        return;
    rate->per_s = (count - rate->count) / passed;
    if (passed >= 0.95) {
        rate->since_s = elapsed_s;
        rate->count = count;
    }
}

double live_program_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct words live_words_share(double ns)
{
    struct words words;
    snprintf(words.text, sizeof words.text, "%.2f%% of a core", ns / 1e7);
    return words;
}

static void draw_progress(struct screen *screen, unsigned row, double part,
                          double left_s)
{
    if (screen->columns <= MARGIN)
        return;
    unsigned width = screen->columns - MARGIN - 1;
    unsigned done = (unsigned)(part * width);
    screen_text(screen, row, 0, TONE_PLAIN, "%.0f s left", ceil(left_s));
    for (unsigned i = 0; i < width; i++) {
        uint32_t glyph = screen->is_unicode ? 0x2591 : '.';
        if (i < done)
            glyph = screen->is_unicode ? 0x2588 : '#';
        screen_glyph(screen, row, MARGIN + i, i < done ? TONE_PLAIN : TONE_DIM,
                     glyph);
    }
}

/* Returns for how long it was, in nanoseconds. */
static double pause_if_requested(void)
{
    if (!interrupt_wants_pause())
        return 0;
    screen_leave();
    double began = stopwatch_ns();
    interrupt_pause();
    screen_enter();
    return stopwatch_ns() - began;
}

static int watch_on_screen(const struct live *live)
{
    struct screen screen;
    interrupt_catch_pause();
    if (screen_open(&screen) != 0)
        return -ENOMEM;

    double began = stopwatch_ns(), now = began;
    bool is_fine = true;
    while (is_fine && interrupt_signal() == 0) {
        double elapsed_s = (now - began) / 1e9;
        if (elapsed_s >= live->seconds)
            break;
        screen_begin(&screen);
        unsigned row = live->draw(live->context, elapsed_s, &screen);
        draw_progress(&screen, row, elapsed_s / live->seconds,
                      live->seconds - elapsed_s);
        is_fine = screen_show(&screen);
        live_sleep_until(now + frame_ns);
        began += pause_if_requested();
        now = stopwatch_ns();
    }
    screen_close(&screen);
    return is_fine ? 0 : -EIO;
}

static void watch_in_lines(const struct live *live)
{
    double line_s = fmax(1, ceil(live->seconds / LINES_MAX));
    double began = stopwatch_ns();
    double next_s = line_s;

    for (;;) {
        live_sleep_until(began + fmin(next_s, live->seconds) * 1e9);
        double elapsed_s = (stopwatch_ns() - began) / 1e9;
        if (interrupt_signal() != 0 || elapsed_s >= live->seconds)
            return;
        if (elapsed_s >= next_s) {
            if (next_s <= line_s)
                fputs(live->heads, stdout);
            live->line(live->context, elapsed_s);
            fflush(stdout);
            next_s += line_s;
        }
    }
}

/* Nothing to see, but a signal ends it. */
static void wait_quietly(const struct live *live)
{
    double end = stopwatch_ns() + live->seconds * 1e9;
    while (interrupt_signal() == 0 && stopwatch_ns() < end)
        live_sleep_until(end);
}

int live_watch(const struct live *live)
{
    if (!live->is_quiet && !live->is_plain && screen_is_possible())
        return watch_on_screen(live);
    if (live->is_quiet)
        wait_quietly(live);
    else
        watch_in_lines(live);
    return 0;
}

int live_read_options(const struct live_options *options, int argc, char **argv)
{
    opterr = 0;
    for (int c;
         (c = getopt_long(argc, argv, ":h", options->known, NULL)) != -1;) {
        if (c == 'h')
            return fputs(options->usage, stdout) < 0 ? EXIT_FAILED : EXIT_FINE;
        if (!options->read(options->settings, c, argv))
            return EXIT_USAGE;
    }
    if (optind == argc)
        return -1;
    fprintf(stderr,
            "tickwheel: %s does not take '%s'; see tickwheel %s "
            "--help\n",
            argv[0], argv[optind], argv[0]);
    return EXIT_USAGE;
}
