/*
 * picture.h - a wheel at work, as one frame on the screen.
 *
 * The highest level is on top, so that timers fall down.  A level is a row of
 * bars, one for each slot, or for each group of slots where there are more
 * than columns; below it is its hand.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include "census.h"
#include "load.h"
#include "screen.h"

struct picture {
    const struct load *load;
    const struct census *census;
    const char *caption;
    double speed;      /* virtual ms per real ms */
    double armed_rate; /* per second of real time */
    double fired_rate;
    double progress;     /* 0 to 1 */
    double left_s;       /* real time until the end; negative: not known */
    double census_age_s; /* how old the bars are */
};

void picture_draw(const struct picture *picture, struct screen *screen);

#endif
