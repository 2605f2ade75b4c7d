/*
 * row.h - one geometry that was tried: what tables and charts are made of.
 */
#ifndef SIM_ROW_H
#define SIM_ROW_H

#include "replay.h"

struct sim_row {
    char name[160]; /* "wheel 128,512,64" */
    const struct engine_kind *kind;
    struct tkw_geometry geometry;
    struct replay_outcome outcome;
};

#endif
