/*
 * table.h - what each geometry cost, for people and for programs.
 */
#ifndef SIM_TABLE_H
#define SIM_TABLE_H

#include "row.h"

/* Columns with their units, the best of each marked, and below them which
 * geometry is the one for this load, and why. */
void table_write(const struct sim_row *rows, size_t count, FILE *out);

/* The same numbers with all their digits, comma-separated, names first. */
void table_write_csv(const struct sim_row *rows, size_t count, FILE *out);

#endif
