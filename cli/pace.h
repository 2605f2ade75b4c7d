/*
 * pace.h - from the seconds of a show to virtual time.
 *
 * At a fixed speed that is a multiplication.  A burst, though, is half an hour
 * of nothing between two busy seconds; its show has three scenes.  The middle
 * one zooms: time runs the slower the nearer the first deadline is, so that
 * each level, hours or milliseconds long, is on stage for about as long.
 */
#ifndef PACE_H
#define PACE_H

#include "load.h"

enum { PACE_SCENES = 3 };

struct pace_scene {
    double until_s; /* of the show */
    tkw_tick until; /* in virtual time, since the start */
    bool is_zooming;
    const char *caption;
};

/* All fields are read-only. */
struct pace {
    bool is_unlimited; /* as fast as possible */
    double length_s;   /* of the show; 0 if unlimited */
    struct pace_scene scenes[PACE_SCENES];
};

/*
 * Plan a show of `seconds`.  With a `speed` (virtual ms per real ms; negative
 * means none) time runs evenly and the show takes what it takes; 0 means as
 * fast as possible.
 */
void pace_init(struct pace *pace, const struct load *load, double seconds,
               double speed);

/* Virtual time since the start, `seconds` into the show. */
tkw_tick pace_at(const struct pace *pace, double seconds);

/* What is going on at a virtual time since the start. */
const char *pace_caption(const struct pace *pace, tkw_tick elapsed);

#endif
