/*
 * svg.h - pictures for light pages and for dark ones.
 *
 * Colours are classes of a style sheet, with other values where the reader
 * prefers dark: no shape says a colour itself.
 */
#ifndef SIM_SVG_H
#define SIM_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Classes, as in class="ink": see svg.c. */
#define SVG_INK "ink"     /* text and lines */
#define SVG_DIM "dim"     /* text and lines that matter less */
#define SVG_GRID "grid"   /* lines that hardly matter */
#define SVG_HAND "hand"   /* now */
#define SVG_FALL "fall"   /* what moves */
#define SVG_WHEEL "wheel" /* two colours that differ */
#define SVG_POOL "pool"
#define SVG_EMPTIED "emptied" /* an outline of what was there, in any colour */

/* To be added to one of the above, for text. */
#define SVG_BOLD " bold"
#define SVG_SMALL " small"
#define SVG_TINY " tiny"
#define SVG_HALO " halo" /* readable on whatever is below */

/* Pixels of a letter, rather too many than too few: of bold text, of text as it
 * is, of small text, and of that in bold. */
#define SVG_LETTER_BOLD 7.6
#define SVG_LETTER 6.7
#define SVG_LETTER_SMALL 6.1
#define SVG_LETTER_SMALL_BOLD 7.0

/* Left and right of everything. */
#define SVG_MARGIN 14

struct svg {
    FILE *out;
};

struct svg_point {
    double x, y;
};

/* Begin a picture of so many pixels; `title` is for those who cannot see it. */
void svg_begin(struct svg *svg, FILE *out, double width, double height,
               const char *title);

/* End it.  Returns whether all could be written. */
bool svg_end(struct svg *svg);

/* What is drawn between these two belongs together, and has this class. */
void svg_open(struct svg *svg, const char *class);
void svg_close(struct svg *svg);

/* What is drawn between these two is not seen, but can be used under its name,
 * as often as needed, moved by (x, y). */
void svg_define(struct svg *svg, const char *name);
void svg_define_end(struct svg *svg);
void svg_use(struct svg *svg, const char *name, double x, double y);

void svg_line(struct svg *svg, const char *class, double x1, double y1,
              double x2, double y2);
void svg_rect(struct svg *svg, const char *class, double x, double y,
              double width, double height);
void svg_polygon(struct svg *svg, const char *class,
                 const struct svg_point *points, size_t count);

/* Of a ring around (x, y): from one radius to another, and from one part of a
 * turn to another, 0 being at the top, clockwise; 0 to 1 is all of it.  `shade`
 * is how strong it is, 0 to 1; 0 is an outline. */
struct svg_sector {
    double x, y;
    double inner, outer;
    double from, to;
};
void svg_sector(struct svg *svg, const char *class, struct svg_sector sector,
                double shade);

/* A disc, or with a shade of 0 its outline. */
void svg_circle(struct svg *svg, const char *class, double x, double y,
                double radius, double shade);

/* A line with an arrow's head at its end. */
void svg_arrow(struct svg *svg, const char *class, double width, double x1,
               double y1, double x2, double y2);

/* Text at (x, y); `anchor` is "start", "middle" or "end".  What XML would take
 * for its own is escaped. */
void svg_text(struct svg *svg, const char *class, const char *anchor, double x,
              double y, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* A name of at most so many letters, the last three of which are dots if there
 * are more of it. */
struct svg_name {
    char text[160];
};
struct svg_name svg_cut(const char *name, size_t letters_max);

/* The title at the top of a page so wide, cut if it is longer. */
void svg_heading(struct svg *svg, double width, const char *title);

/* The point of a turn around (x, y), as of a sector. */
struct svg_point svg_on_circle(double x, double y, double radius, double turn);

#endif
