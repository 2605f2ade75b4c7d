/*
 * show.h - a load run through at a pace, for someone who watches.
 */
#ifndef SHOW_H
#define SHOW_H

#include "load.h"
#include "pace.h"

struct show {
    struct load *load;
    struct pace pace;
    double seconds_max; /* end it after that, wherever it is; 0: never */
};

/*
 * Each runs the load to its end, to the show's, or until a signal asks to end.
 * They return 0 or a negative errno.
 */

/* Draw the wheel on the terminal. */
int show_on_screen(struct show *show);

/* Write a line now and then, at most 15, under a line of heads; none if the
 * pace is unlimited. */
int show_in_lines(struct show *show);

#endif
