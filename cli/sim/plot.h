/*
 * plot.h - what each geometry cost, as a chart: bars for each measure, and the
 * worst steps over time.
 */
#ifndef SIM_PLOT_H
#define SIM_PLOT_H

#include "row.h"

/* Returns whether it could be written. */
bool plot_write(const struct sim_row *rows, size_t count, const char *title,
                FILE *out);

#endif
