/*
 * chart.c - how many of what: a row of bars over time, on the screen.
 */
#include "chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* By how many eighths of a row are filled. */
static const uint32_t blocks[] = {' ',    0x2581, 0x2582, 0x2583, 0x2584,
                                  0x2585, 0x2586, 0x2587, 0x2588};
static const uint32_t signs[] = {' ', '.', '.', ':', ':', '|', '|', '#', '#'};
enum { EIGHTHS = 8 };

/* In eighths of a row: 0 for none, 1 for one, all of them for `full`. */
static unsigned height(uint64_t count, uint64_t full, unsigned rows)
{
    if (count == 0 || rows == 0)
        return 0;
    if (count >= full)
        return rows * EIGHTHS;
    double part = log((double)count) / log((double)full);
    return 1 + (unsigned)(part * (rows * EIGHTHS - 1));
}

static void draw_bar(const struct chart *chart, struct screen *screen,
                     unsigned bin, unsigned column, unsigned bottom,
                     unsigned rows)
{
    const uint32_t *glyphs = screen->is_unicode ? blocks : signs;
    enum screen_tone tone = bin < chart->mark ? TONE_BAR : TONE_HAND;
    unsigned fill = height(chart->bins[bin], chart->full, rows);

    for (unsigned i = 0; i * EIGHTHS < fill; i++) {
        unsigned rest = fill - i * EIGHTHS;
        screen_glyph(screen, bottom - i, column, tone,
                     glyphs[rest < EIGHTHS ? rest : EIGHTHS]);
    }
}

static void draw_axis(const struct chart *chart, struct screen *screen,
                      unsigned row, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        screen_glyph(screen, row, CHART_LEFT + i, TONE_DIM,
                     screen->is_unicode ? 0x2500 : '-');
    for (unsigned i = 0; i <= 3; i++)
        screen_text(screen, row + 1, CHART_LEFT + i * width / 3, TONE_DIM,
                    "%.3g s", chart->span_s * i / 3);
}

static void draw_legend(const struct chart *chart, struct screen *screen,
                        unsigned row)
{
    uint32_t glyph = (screen->is_unicode ? blocks : signs)[EIGHTHS];
    screen_glyph(screen, row, CHART_LEFT, TONE_BAR, glyph);
    screen_text(screen, row, CHART_LEFT + 2, TONE_DIM, "%s", chart->names[0]);
    screen_glyph(screen, row, CHART_LEFT + 32, TONE_HAND, glyph);
    screen_text(screen, row, CHART_LEFT + 34, TONE_DIM, "%s", chart->names[1]);
}

unsigned chart_draw(const struct chart *chart, struct screen *screen,
                    unsigned top, unsigned rows)
{
    unsigned room = screen->columns > CHART_LEFT + CHART_BINS + 4
                        ? screen->columns - CHART_LEFT - 4
                        : CHART_BINS;
    unsigned width = room / CHART_BINS * CHART_BINS;
    unsigned bars = rows > 4 ? rows - 3 : 1;

    for (unsigned i = 0; i < width; i++)
        draw_bar(chart, screen, i * CHART_BINS / width, CHART_LEFT + i,
                 top + bars - 1, bars);
    draw_axis(chart, screen, top + bars, width);
    draw_legend(chart, screen, top + bars + 2);
    return top + bars + 3;
}

void chart_item(struct screen *screen, unsigned top, unsigned place,
                const char *name, const char *format, ...)
{
    unsigned row = top + place / 2, column = place % 2 * 40;
    char text[80];
    va_list arguments;
    va_start(arguments, format);
    /* clang-tidy 14 forgets va_start() where it is given several files. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    screen_text(screen, row, column, TONE_DIM, "%s", name);
    screen_text(screen, row, column + 10, TONE_PLAIN, "%s", text);
}
