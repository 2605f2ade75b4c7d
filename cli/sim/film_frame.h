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
    FRAME_TOP = 20, /* above the dial, at least ... */
    FRAME_FOOT = 8, /* ... and between it and its caption */
    FRAME_LINE = 15,
};

/* Arrows of timers that fall leave a slot so far from its inner edge, as a part
 * of its height. */
#define FRAME_LEAVE 0.15

/* What all frames of a picture have in common. */
struct film_page {
    struct svg svg;
    const struct film_strip *strip;
    uint32_t bottom, top; /* levels drawn, from 0 on: bottom to top - 1 */
    uint64_t full;        /* the most timers of any cell */
    double foot;          /* between a dial and its caption */
};

/* Draw the empty dial, for frames to use. */
void film_frame_define(struct film_page *page);

/* All but the labels and their key. */
void film_frame_draw(struct film_page *page, const struct film_frame *frame,
                     struct svg_point centre);

/* Where a cell is, if the page has it. */
bool film_frame_has(const struct film_page *page, uint16_t cell);
struct svg_sector film_frame_sector(const struct film_page *page,
                                    struct svg_point centre, uint16_t cell);

/* Lines that a caption takes. */
unsigned film_frame_lines(const char *caption);

/* The middle of the ring of a level as a radius, and one outside of the numbers
 * of its slots. */
double film_frame_radius(const struct film_page *page, uint32_t level);
double film_frame_rim(const struct film_page *page, uint32_t level);

/* Which slots of a level have a number: every one, every second; 0: none. */
uint32_t film_frame_number_stride(const struct film_page *page, uint32_t level);

/* How near a line comes to the numbers of slots, in pixels, that leads from
 * outside to the middle of the ring of a level at that part of a turn. */
double film_frame_clearance(const struct film_page *page, uint32_t level,
                            double turn);

/* Whether a cell has none of the timers that it had in the frame before. */
bool film_frame_is_emptied(const struct film_page *page,
                           const struct film_frame *frame, uint16_t cell);

/* How strong a colour so many timers have, and how thick an arrow. */
double film_frame_shade(const struct film_page *page, uint64_t count);
double film_frame_thickness(uint64_t count);

#endif
