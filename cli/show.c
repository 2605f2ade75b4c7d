/*
 * show.c - a load run through at a pace, for someone who watches.
 *
 * The show has a clock of its own.  Where the load cannot keep up with the
 * pace, that clock waits: virtual time is never skipped to catch up.
 */
#define _POSIX_C_SOURCE 200809L

#include "show.h"

#include "census.h"
#include "interrupt.h"
#include "live.h"
#include "picture.h"
#include "screen.h"
#include "stopwatch.h"
#include "words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 15 };

static const double frame_ns = 40e6;   /* 25 frames a second */
static const double work_ns = 25e6;    /* of a frame may go to the load */
static const double smoothing_s = 0.4; /* rates are averages over about that */

/* Where the show is. */
struct moment {
    double began_ns;     /* real time: of the show ... */
    double now_ns;       /* ... and now */
    double shown_s;      /* the show's own clock */
    tkw_tick elapsed;    /* virtual time at the last frame, and what ... */
    double armed, fired; /* ... had happened by then */
    double speed, armed_rate, fired_rate;
};

static struct moment moment_first(void)
{
    double now = stopwatch_ns();
    return (struct moment){.began_ns = now, .now_ns = now};
}

static void follow(double *average, double value, double seconds)
{
    double weight = 1 - exp(-seconds / smoothing_s);
    *average += (value - *average) * weight;
}

/* Measure what happened since the last frame. */
static void take_stock(struct moment *m, const struct load *load,
                       double seconds)
{
    struct tkw_wheel_stats c = tkw_wheel_read_stats(load->wheel);
    tkw_tick elapsed = load_elapsed(load);

    if (seconds <= 0)
        return;
    m->speed = (double)(elapsed - m->elapsed) / (seconds * 1000);
    follow(&m->armed_rate, ((double)c.armed - m->armed) / seconds, seconds);
    follow(&m->fired_rate, ((double)c.fired - m->fired) / seconds, seconds);
    m->elapsed = elapsed;
    m->armed = (double)c.armed;
    m->fired = (double)c.fired;
}

/*
 * Run the load to where it should be by now.  Returns whether there is more
 * to come.
 */
static bool run_to_now(struct show *show, struct moment *m)
{
    struct load *load = show->load;
    double now = stopwatch_ns(), passed_s = (now - m->now_ns) / 1e9;
    take_stock(m, load, passed_s);
    m->now_ns = now;

    tkw_tick target = LOAD_START_MS + pace_at(&show->pace, m->shown_s);
    if (tkw_wheel_now(load->wheel) >= target || show->pace.is_unlimited) {
        m->shown_s += passed_s;
        target = LOAD_START_MS + pace_at(&show->pace, m->shown_s);
    }
    bool is_there = load_run(load, target, now + work_ns);
    bool is_over = is_there && target >= load->end;
    bool is_cut =
        show->seconds_max > 0 && now - m->began_ns >= show->seconds_max * 1e9;
    return !is_over && !is_cut && interrupt_signal() == 0;
}

static void estimate(const struct show *show, const struct moment *m,
                     struct picture *picture)
{
    double length = show->pace.length_s;
    double end = (double)(show->load->end - LOAD_START_MS);

    if (!show->pace.is_unlimited) {
        double whole = length;
        if (show->seconds_max > 0 && show->seconds_max < length)
            whole = show->seconds_max;
        picture->progress = fmin(m->shown_s / whole, 1);
        picture->left_s = fmax(whole - m->shown_s, 0);
        return;
    }
    picture->progress = (double)load_elapsed(show->load) / end;
    picture->left_s = picture->progress > 0.01
                          ? m->shown_s * (1 / picture->progress - 1)
                          : -1;
}

static bool draw_frame(const struct show *show, const struct moment *m,
                       struct census *census, struct screen *screen)
{
    census_update(census, show->load->wheel);
    struct picture picture = {
        .load = show->load,
        .census = census,
        .caption = pace_caption(&show->pace, load_elapsed(show->load)),
        .speed = m->speed,
        .armed_rate = m->armed_rate,
        .fired_rate = m->fired_rate,
        .census_age_s = (stopwatch_ns() - census->taken_ns) / 1e9,
    };
    estimate(show, m, &picture);
    screen_begin(screen);
    picture_draw(&picture, screen);
    return screen_show(screen);
}

/* The show stands still while the process does. */
static void pause_if_requested(struct moment *m)
{
    if (!interrupt_wants_pause())
        return;
    screen_leave();
    double began = stopwatch_ns();
    interrupt_pause();
    double paused = stopwatch_ns() - began;
    m->began_ns += paused;
    m->now_ns += paused;
    screen_enter();
}

int show_on_screen(struct show *show)
{
    struct census census;
    struct screen screen;
    if (census_open(&census, show->load->wheel) != 0)
        return -ENOMEM;
    interrupt_catch_pause();
    if (screen_open(&screen) != 0) {
        census_close(&census);
        return -ENOMEM;
    }

    struct moment m = moment_first();
    bool is_fine = true;
    while (is_fine && run_to_now(show, &m)) {
        is_fine = draw_frame(show, &m, &census, &screen);
        live_sleep_until(m.now_ns + frame_ns);
        pause_if_requested(&m);
    }
    screen_close(&screen);
    census_close(&census);
    return is_fine ? 0 : -EIO;
}

/* What a line has behind the time. */
enum { NUMBERS = 5 };

/* The time has the room that the last one needs, the numbers what is left. */
static void write_cells(const struct load *load, const char *time,
                        const struct words *numbers)
{
    int time_width = (int)strlen(words_clock(load->end - LOAD_START_MS).text);
    int width = (WORDS_COLUMNS - time_width) / NUMBERS;
    printf("%-*s", time_width, time);
    for (unsigned i = 0; i < NUMBERS; i++)
        printf("%*s", width, numbers[i].text);
    printf("\n");
}

static void write_heads(const struct load *load)
{
    static const struct words heads[NUMBERS] = {
        {"armed"}, {"fired"}, {"cancelled"}, {"pending"}, {"falls"}};
    write_cells(load, "time", heads);
}

static void write_line(const struct load *load)
{
    struct tkw_wheel_stats c = tkw_wheel_read_stats(load->wheel);
    const struct words numbers[NUMBERS] = {
        words_count(c.armed), words_count(c.fired), words_count(c.cancelled),
        words_count(tkw_wheel_count(load->wheel)), words_count(c.falls)};
    write_cells(load, words_clock(load_elapsed(load)).text, numbers);
    fflush(stdout);
}

int show_in_lines(struct show *show)
{
    double length_s = show->pace.length_s;
    if (show->seconds_max > 0)
        length_s = fmin(length_s, show->seconds_max);
    double line_s = fmax(1, length_s / LINES_MAX), next_s = line_s;

    struct moment m = moment_first();
    while (run_to_now(show, &m)) {
        if (show->pace.is_unlimited)
            continue;
        if (m.shown_s >= next_s) {
            if (next_s <= line_s)
                write_heads(show->load);
            write_line(show->load);
            next_s += line_s;
        }
        live_sleep_until(m.now_ns + frame_ns);
    }
    return 0;
}
