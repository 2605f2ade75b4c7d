/*
 * plot_bars.c - what each geometry cost, as bars: a column for each measure.
 *
 *                   falls a timer   slots visited   ...
 *     wheel 20      ====== 1.2      ==== 400
 *     pool 20       ====== 1.2      == 200
 *                   0         1.2   log scale
 */
#include "plot_bars.h"

#include "../words.h"

#include <math.h>
#include <string.h>

enum {
    NAME_LETTERS_MAX = 30, /* what is longer is cut */
    PANEL = 146,           /* from one measure to the next ... */
    BAR = 84,              /* ... and how long its longest bar is */
    ROW = 20,
    HEAD = 22,
    FOOT = 34,
};

/* A scale is logarithmic if the largest value is so many of the smallest. */
static const double log_ratio = 50;

static double falls(const struct replay_outcome *outcome)
{
    return row_each((double)(outcome->work.falls + outcome->work.passes),
                    outcome->work.armed);
}

/* Of all, less is better. */
static const struct measure {
    const char *name;
    double (*of)(const struct replay_outcome *outcome);
    const char *unit;
} measures[] = {
    {"falls a timer", falls, ""},
    {"slots visited", row_visits, ""},
    {"wake-ups", row_wakeups, ""},
    {"memory at the peak", row_bytes, "B"},
    {"worst step, timers", row_worst, ""},
    {"ns an operation", row_ns, ""},
};

enum { MEASURES = sizeof measures / sizeof measures[0] };

/* From where to where the bars of a measure go. */
struct scale {
    double lowest, most; /* of the values */
    double from;         /* where a bar begins: 0, or a power of ten */
    bool is_log;
};

static struct scale scale_of(const struct measure *measure,
                             const struct sim_row *rows, size_t count)
{
    struct scale scale = {.lowest = INFINITY};
    double least = INFINITY; /* but above 0 */
    for (size_t i = 0; i < count; i++) {
        double value = measure->of(&rows[i].outcome);
        scale.lowest = fmin(scale.lowest, value);
        scale.most = fmax(scale.most, value);
        if (value > 0)
            least = fmin(least, value);
    }
    scale.is_log = scale.most > log_ratio * least;
    if (scale.is_log)
        scale.from = pow(10, floor(log10(least * 0.8)));
    return scale;
}

static double bar_length(const struct scale *scale, double value)
{
    if (value <= 0)
        return 0;
    if (!scale->is_log)
        return BAR * value / scale->most;
    return BAR * log(value / scale->from) / log(scale->most / scale->from);
}

const char *plot_class(const struct sim_row *row)
{
    return row->kind == &engine_pool ? SVG_POOL : SVG_WHEEL;
}

/* What cannot be told from the best by the digits that are written is best. */
static bool is_best(const struct scale *scale, double value)
{
    struct words lowest = words_short(scale->lowest);
    return strcmp(words_short(value).text, lowest.text) == 0 &&
           strcmp(words_short(scale->most).text, lowest.text) != 0;
}

static void draw_axis(struct svg *svg, const struct scale *scale, double x,
                      double y)
{
    svg_line(svg, SVG_DIM, x, y, x + BAR, y);
    svg_text(svg, SVG_DIM SVG_SMALL, "start", x, y + 14, "%s",
             words_short(scale->from).text);
    svg_text(svg, SVG_DIM SVG_SMALL, "end", x + BAR, y + 14, "%s",
             words_short(scale->most).text);
    if (scale->is_log)
        svg_text(svg, SVG_DIM SVG_SMALL, "start", x, y + 27, "log scale");
}

static void draw_panel(struct svg *svg, const struct measure *measure,
                       const struct sim_row *rows, size_t count,
                       struct svg_point at)
{
    struct scale scale = scale_of(measure, rows, count);
    double bottom = at.y + HEAD + ROW * (double)count;
    bool has_rounds = false;

    for (size_t i = 0; i < count; i++) {
        double value = measure->of(&rows[i].outcome);
        double y = at.y + HEAD + ROW * (double)i;
        double length = bar_length(&scale, value);
        bool is_bold = is_best(&scale, value);

        has_rounds = has_rounds || rows[i].geometry.beyond == TKW_ROUNDS;
        svg_rect(svg, plot_class(&rows[i]), at.x, y + 3, fmax(length, 1),
                 ROW - 6);
        svg_text(svg, is_bold ? SVG_INK SVG_SMALL SVG_BOLD : SVG_INK SVG_SMALL,
                 "start", at.x + length + 5, y + 14, "%s%s",
                 words_short(value).text, measure->unit);
    }
    /* A ring that goes round has no falls: its work is to pass over. */
    svg_text(svg, SVG_INK SVG_SMALL, "start", at.x, at.y + HEAD - 8, "%s",
             measure->of == falls && has_rounds ? "falls, passes a timer"
                                                : measure->name);
    draw_axis(svg, &scale, at.x, bottom + 2);
}

static double names_width(const struct sim_row *rows, size_t count)
{
    size_t longest = 1;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(rows[i].name);
        longest = length > longest ? length : longest;
    }
    if (longest > NAME_LETTERS_MAX)
        longest = NAME_LETTERS_MAX;
    return SVG_LETTER_SMALL * (double)longest;
}

struct svg_point plot_bars_size(const struct sim_row *rows, size_t count)
{
    return (struct svg_point){SVG_MARGIN + names_width(rows, count) +
                                  SVG_MARGIN + MEASURES * PANEL,
                              HEAD + ROW * (double)count + FOOT};
}

void plot_bars(struct svg *svg, const struct sim_row *rows, size_t count,
               double top)
{
    double left = SVG_MARGIN + names_width(rows, count) + SVG_MARGIN;
    for (size_t i = 0; i < count; i++)
        svg_text(svg, SVG_INK SVG_SMALL, "end", left - 8,
                 top + HEAD + ROW * (double)i + 14, "%s",
                 svg_cut(rows[i].name, NAME_LETTERS_MAX).text);
    for (size_t i = 0; i < MEASURES; i++)
        draw_panel(svg, &measures[i], rows, count,
                   (struct svg_point){left + PANEL * (double)i, top});
}
