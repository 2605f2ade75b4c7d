/*
 * plot.c - what each geometry cost, as a chart: bars for each measure, and
 * below them the worst steps over time, a small picture for each geometry.
 */
#include "plot.h"

#include "../words.h"
#include "plot_bars.h"
#include "svg.h"

#include <math.h>

enum {
    HEAD = 44,
    COLUMNS = 2,
    AXIS = 38, /* left of a curve, for its numbers */
    CURVE = 56,
    CURVE_HEAD = 20,
    CURVE_FOOT = 10,
    TITLE = 34, /* of the curves */
    FOOT = 26,
    NAME_LETTERS_MAX = 24,
};

/* All curves have the same axes, to be compared. */
struct axes {
    tkw_tick start, end;
    double top; /* a power of ten */
    double width;
};

static struct axes axes_of(const struct sim_row *rows, size_t count,
                           double width)
{
    struct axes axes = {.start = TKW_NEVER, .top = 10};
    for (size_t i = 0; i < count; i++) {
        const struct replay_outcome *outcome = &rows[i].outcome;
        if (outcome->start < axes.start)
            axes.start = outcome->start;
        if (outcome->end > axes.end)
            axes.end = outcome->end;
        while (axes.top < (double)outcome->worst_moved)
            axes.top *= 10;
    }
    axes.width = (width - SVG_MARGIN) / COLUMNS - AXIS - SVG_MARGIN;
    return axes;
}

static double x_of(const struct axes *axes, double tick)
{
    double span = (double)(axes->end - axes->start);
    return axes->width * (tick - (double)axes->start) / span;
}

/* One timer has a height, too: the scale begins below it. */
static double y_of(const struct axes *axes, uint64_t moved)
{
    if (moved == 0)
        return CURVE;
    return CURVE - CURVE * log(2 * (double)moved) / log(2 * axes->top);
}

static void draw_steps(struct svg *svg, const struct axes *axes,
                       const struct sim_row *row, struct svg_point at)
{
    struct svg_point points[2 * REPLAY_BINS + 2];
    const struct replay_outcome *outcome = &row->outcome;
    double start = (double)outcome->start, end = (double)outcome->end;
    double y = CURVE;
    size_t count = 0;

    points[count++] =
        (struct svg_point){at.x + x_of(axes, start), at.y + CURVE};
    for (unsigned i = 0; i < REPLAY_BINS; i++) {
        double next = y_of(axes, outcome->bins[i]);
        if (next >= y && next <= y)
            continue;
        double x = at.x + x_of(axes, start + (end - start) * i / REPLAY_BINS);
        points[count++] = (struct svg_point){x, at.y + y};
        points[count++] = (struct svg_point){x, at.y + next};
        y = next;
    }
    points[count++] = (struct svg_point){at.x + x_of(axes, end), at.y + y};
    if (y < CURVE)
        points[count++] =
            (struct svg_point){at.x + x_of(axes, end), at.y + CURVE};
    svg_polygon(svg, plot_class(row), points, count);
}

/* All of it was one tick, which is as wide as the curve. */
static void draw_only_step(struct svg *svg, const struct axes *axes,
                           const struct sim_row *row, struct svg_point at)
{
    double y = y_of(axes, row->outcome.worst_moved);
    if (y < CURVE)
        svg_rect(svg, plot_class(row), at.x, at.y + y, axes->width, CURVE - y);
}

static void draw_curve(struct svg *svg, const struct axes *axes,
                       const struct sim_row *row, struct svg_point at)
{
    struct words most = words_short(axes->top);
    double one = at.y + y_of(axes, 1);

    svg_text(svg, SVG_INK SVG_SMALL, "start", at.x, at.y - 5,
             "%s: at most %s, at %s", svg_cut(row->name, NAME_LETTERS_MAX).text,
             words_count(row->outcome.worst_moved).text,
             words_count(row->outcome.worst_at).text);
    svg_line(svg, SVG_GRID, at.x, at.y, at.x + axes->width, at.y);
    svg_line(svg, SVG_GRID, at.x, one, at.x + axes->width, one);
    if (axes->end > axes->start)
        draw_steps(svg, axes, row, at);
    else
        draw_only_step(svg, axes, row, at);
    svg_line(svg, SVG_DIM, at.x, at.y + CURVE, at.x + axes->width,
             at.y + CURVE);
    svg_text(svg, SVG_DIM SVG_SMALL, "end", at.x - 4, at.y + 4, "%s",
             most.text);
    svg_text(svg, SVG_DIM SVG_SMALL, "end", at.x - 4, one + 4, "1");
}

static double curve_height(void)
{
    return CURVE_HEAD + CURVE + CURVE_FOOT;
}

static size_t curve_rows(size_t count)
{
    return (count + COLUMNS - 1) / COLUMNS;
}

/* The ticks, once below each column. */
static void draw_ticks(struct svg *svg, const struct axes *axes,
                       struct svg_point at)
{
    if (axes->end > axes->start)
        svg_text(svg, SVG_DIM SVG_SMALL, "start", at.x, at.y, "%s",
                 words_count(axes->start).text);
    svg_text(svg, SVG_DIM SVG_SMALL, "end", at.x + axes->width, at.y, "tick %s",
             words_count(axes->end).text);
}

static void draw_curves(struct svg *svg, const struct sim_row *rows,
                        size_t count, struct svg_point at)
{
    struct axes axes = axes_of(rows, count, at.x);
    size_t down = curve_rows(count);

    svg_text(svg, SVG_INK SVG_BOLD, "start", SVG_MARGIN, at.y + 16,
             "Timers moved by the worst step, over time (log scale)");
    for (size_t i = 0; i < count; i++) {
        size_t column = i / down, row = i % down;
        double x = SVG_MARGIN + AXIS +
                   (axes.width + AXIS + SVG_MARGIN) * (double)column;
        double y = at.y + TITLE + curve_height() * (double)row;
        draw_curve(svg, &axes, &rows[i], (struct svg_point){x, y + CURVE_HEAD});
        if (row == down - 1 || i == count - 1)
            draw_ticks(svg, &axes,
                       (struct svg_point){x, y + curve_height() + 4});
    }
}

bool plot_write(const struct sim_row *rows, size_t count, const char *title,
                FILE *out)
{
    struct svg svg;
    struct svg_point bars = plot_bars_size(rows, count);
    double curves = TITLE + curve_height() * (double)curve_rows(count) + FOOT;

    svg_begin(&svg, out, bars.x, HEAD + bars.y + curves, title);
    svg_heading(&svg, bars.x, title);
    plot_bars(&svg, rows, count, HEAD - 8);
    draw_curves(&svg, rows, count, (struct svg_point){bars.x, HEAD + bars.y});
    return svg_end(&svg);
}
