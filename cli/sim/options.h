/*
 * options.h - what `tickwheel sim` was asked to do.
 */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "../load.h"
#include "engine.h"

enum { SIM_GEOMETRIES_MAX = 16, SIM_KINDS_MAX = 2 };

struct sim_options {
    const char *trace;         /* a file, or "-"; NULL: the load is made up */
    struct load_settings load; /* and this is what it is like */
    struct tkw_geometry geometries[SIM_GEOMETRIES_MAX];
    size_t geometry_count; /* 0: not given */
    const struct engine_kind *kinds[SIM_KINDS_MAX];
    size_t kind_count;
    uint64_t unit;                    /* 0: not given */
    const char *chart, *film, *write; /* files; NULL: not wanted */
    uint64_t frames;
    tkw_tick from, to;
    bool is_csv;
    bool is_quiet;
};

/*
 * Read the command line.  Returns whether to go on; if not, `*status` is how to
 * exit, and all is said.
 */
bool sim_options_read(struct sim_options *options, int argc, char **argv,
                      int *status);

#endif
