/*
 * chart.h - how many of what: a row of bars over time, on the screen.
 */
#ifndef CHART_H
#define CHART_H

#include <stdint.h>

#include "screen.h"

enum { CHART_BINS = 60, CHART_LEFT = 15 };

struct chart {
    const uint64_t *bins; /* CHART_BINS of them */
    double span_s;        /* the time that all bins take */
    unsigned mark;        /* from this bin on they are drawn in another tone */
    uint64_t full;        /* a bar of that many is a full one; log scale */
    const char *names[2]; /* of the bars before the mark, and of the others */
};

/*
 * Draw a chart, with its axis and legend, on `rows` rows from `top` on.
 * Returns the row below it.
 */
unsigned chart_draw(const struct chart *chart, struct screen *screen,
                    unsigned top, unsigned rows);

/* Write a name and a value, as printf() does, into the panel that begins at the
 * row `top` and has two of them in a row: this is its `place`th. */
void chart_item(struct screen *screen, unsigned top, unsigned place,
                const char *name, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
