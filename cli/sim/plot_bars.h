/*
 * plot_bars.h - what each geometry cost, as bars: a column for each measure.
 */
#ifndef SIM_PLOT_BARS_H
#define SIM_PLOT_BARS_H

#include "row.h"
#include "svg.h"

/* The colour of a row, as in svg.h. */
const char *plot_class(const struct sim_row *row);

/* How wide and high it will be. */
struct svg_point plot_bars_size(const struct sim_row *rows, size_t count);

/* Draw it below `top`. */
void plot_bars(struct svg *svg, const struct sim_row *rows, size_t count,
               double top);

#endif
