/*
 * film_moves.h - who went where between two frames.
 */
#ifndef SIM_FILM_MOVES_H
#define SIM_FILM_MOVES_H

#include "film_caption.h"
#include "film_draw.h"

/* Where each timer was, and where it is: numbers of slots, see engine.h. */
struct film_places {
    const struct film_face *face;
    const uint16_t *cell_of; /* by slot */
    uint32_t *before;        /* lost: it is worked on in place */
    const uint32_t *after;
    uint32_t count;
};

/* Find the moves of a frame whose `fired` is known, and tell them. */
void film_find_moves(struct film_places *places, struct film_frame *frame,
                     struct film_news *news);

#endif
