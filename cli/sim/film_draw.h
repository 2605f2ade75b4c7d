/*
 * film_draw.h - the frames of a film, and how they are drawn.
 *
 * What is drawn are cells: a slot each or, of a level of very many slots, a
 * group of neighbours.  They are numbered over all levels, lowest first.
 */
#ifndef SIM_FILM_DRAW_H
#define SIM_FILM_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tickwheel/dial.h>

enum {
    FILM_SINGLE_MAX = 128, /* slots of a level that are drawn singly, or ... */
    FILM_GROUPS = 64,      /* ... else in so many groups */
    FILM_MOVES_MAX = 40,   /* arrows of a frame: the largest */
    FILM_MARKS_MAX = 3,    /* timers whose deadlines are written */
    FILM_CAPTION_MAX = 512,
};

/* In no cell: fired, or in no slot yet. */
#define FILM_NOWHERE UINT16_MAX

struct film_level {
    tkw_tick tick;
    uint32_t size;  /* slots */
    uint32_t cells; /* drawn for them */
    uint32_t first; /* number of the first of these among all cells */
};

struct film_face {
    struct film_level levels[TKW_LEVELS_MAX];
    uint32_t level_count;
    uint32_t cell_count;
};

/* So many timers went from one cell to another, or from it to FILM_NOWHERE. */
struct film_move {
    uint16_t from, to;
    uint32_t count;
};

struct film_mark {
    tkw_tick deadline;
    uint16_t cell;
    uint16_t key; /* the same timer in all frames */
};

struct film_frame {
    uint32_t *cells;                /* timers in each */
    uint16_t hands[TKW_LEVELS_MAX]; /* the current cell of each level */
    struct film_move moves[FILM_MOVES_MAX];
    struct film_mark marks[FILM_MARKS_MAX];
    unsigned move_count, mark_count;
    uint64_t fired; /* since the frame before */
    char caption[FILM_CAPTION_MAX];
};

struct film_strip {
    const char *title;
    const char *class; /* the colour of timers, as in svg.h */
    struct film_face face;
    struct film_frame *frames;
    uint32_t frame_count;
};

/* The index of the level that a cell belongs to. */
uint32_t film_level_of(const struct film_face *face, uint16_t cell);

/* Tell whether a move leads down, or out; if not, a timer was filed anew. */
bool film_is_fall(const struct film_face *face, const struct film_move *move);

/* Returns whether it could be written. */
bool film_draw(const struct film_strip *strip, FILE *out);

#endif
