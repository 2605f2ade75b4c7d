/*
 * screen.h - a terminal as a grid of characters, drawn whole.
 *
 *     screen_open(&screen);
 *     screen_begin(&screen);
 *     screen_text(&screen, 0, 0, TONE_STRONG, "%d timers", 3);
 *     screen_show(&screen);
 *     screen_close(&screen);
 *
 * What lies outside the grid is cut off, so nobody has to measure first.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stdint.h>

enum screen_tone {
    TONE_PLAIN,
    TONE_DIM,
    TONE_STRONG,
    TONE_BAR,
    TONE_HAND,
    TONE_COUNT
};

struct screen_cell {
    uint32_t glyph; /* a Unicode code point */
    uint32_t tone;
};

/* All fields are read-only. */
struct screen {
    unsigned rows;
    unsigned columns;
    bool is_unicode; /* what is not ASCII can be shown */
    bool is_toned;   /* colours are wanted */
    struct screen_cell *cells;
    char *bytes; /* a frame, as sent */
};

/* Tell whether stdout is a terminal that can be drawn on. */
bool screen_is_possible(void);

/*
 * Take over the terminal: another page, no cursor.  Returns 0 or -ENOMEM.
 * screen_close() gives it back as it was.  So does every signal that ends the
 * process, except SIGKILL.
 */
int screen_open(struct screen *screen);
void screen_close(struct screen *screen);

/* Give the terminal back for a while, and take it again. */
void screen_leave(void);
void screen_enter(void);

/* Begin an empty frame of the size the terminal has now. */
void screen_begin(struct screen *screen);

/* Returns whether the frame could be written. */
bool screen_show(const struct screen *screen);

void screen_glyph(struct screen *screen, unsigned row, unsigned column,
                  enum screen_tone tone, uint32_t glyph);

/* Write ASCII text as printf() does. */
void screen_text(struct screen *screen, unsigned row, unsigned column,
                 enum screen_tone tone, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
