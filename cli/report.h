/*
 * report.h - the closing summary of a demonstration.
 */
#ifndef REPORT_H
#define REPORT_H

#include "load.h"

void report(const struct load *load);

#endif
