/*
 * film_frame.h - one frame of a film: the dial, what is on it, what moves.
 */
#ifndef SIM_FILM_FRAME_H
#define SIM_FILM_FRAME_H

#include "film_draw.h"
#include "svg.h"

enum {
    FRAME_RADIUS = 104,
    FRAME_HOLE = 22, /* radius of what is free in the middle */
    FRAME_WIDTH = 248,
    FRAME_TOP = 20, /* above the dial, for what is written beside its slots */
    FRAME_LINE = 15,
    FRAME_LINES_MAX = 4, /* of a caption */
};

/* What all frames of a picture have in common. */
struct film_page {
    struct svg svg;
    const struct film_strip *strip;
    uint32_t bottom, top; /* levels drawn, from 0 on: bottom to top - 1 */
    uint64_t full;        /* the most timers of any cell */
};

/* Draw the empty dial, for frames to use. */
void film_frame_define(struct film_page *page);

void film_frame_draw(struct film_page *page, const struct film_frame *frame,
                     struct svg_point centre);

/* Lines that a caption takes. */
unsigned film_frame_lines(const char *caption);

/* The middle of the ring of a level, as a radius. */
double film_frame_radius(const struct film_page *page, uint32_t level);

/* How strong a colour so many timers have, and how thick an arrow. */
double film_frame_shade(const struct film_page *page, uint64_t count);
double film_frame_thickness(uint64_t count);

#endif
