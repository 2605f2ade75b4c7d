/*
 * film_caption.h - what has happened since the frame before, in words.
 */
#ifndef SIM_FILM_CAPTION_H
#define SIM_FILM_CAPTION_H

#include "film_draw.h"
#include "trace.h"

/* An operation, and the timer as it was before. */
struct film_deed {
    const struct trace_op *op;
    tkw_tick deadline_before;
    bool was_armed;
};

struct film_news {
    tkw_tick now;
    const struct film_deed *deed; /* all that happened; NULL: see below */
    uint64_t armed, cancelled, fired;
    uint64_t pending; /* now; 0 also if that is not to be said */
    uint64_t moved;   /* to a slot that is no lower: filed anew */
    uint64_t falls[TKW_LEVELS_MAX][TKW_LEVELS_MAX]; /* from level, to level */
};

void film_news_add(struct film_news *news, const struct film_face *face,
                   struct film_move move);

/* "at 400: 1 falls from level 3 to 2" */
void film_caption(char text[FILM_CAPTION_MAX], const struct film_news *news);

#endif
