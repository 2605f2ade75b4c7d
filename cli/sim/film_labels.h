/*
 * film_labels.h - deadlines, written beside the slots they wait in.
 *
 * A label is outside its slot, and neither on another label nor on a slot that
 * has one: where it would be, it is moved up or down, away from the middle of
 * the dial.  If deadlines are too long for that, a label is a letter, and the
 * caption is followed by a key: a line for each letter.
 */
#ifndef SIM_FILM_LABELS_H
#define SIM_FILM_LABELS_H

#include "film_frame.h"

/* How far labels reach out above the dial and below it, in pixels. */
struct film_margins {
    double above, below;
};

/* The most of all frames of a film; at least 0. */
struct film_margins film_labels_margins(const struct film_page *page);

/* Lines that the key of a frame takes; 0: there is none. */
unsigned film_labels_key_lines(const struct film_page *page,
                               const struct film_frame *frame);

/* Draw the labels around `centre`. */
void film_labels_draw(struct film_page *page, const struct film_frame *frame,
                      struct svg_point centre);

/* Draw the key, the foot of its first line at `at`. */
void film_labels_draw_key(struct film_page *page,
                          const struct film_frame *frame, struct svg_point at);

#endif
