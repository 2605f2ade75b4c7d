/*
 * screen.c - a terminal as a grid of characters, drawn whole.
 *
 * A frame is a few kilobytes and is sent in one go: no blinking, and no need
 * to remember what was there before.
 */
#define _DEFAULT_SOURCE

#include "screen.h"

#include "interrupt.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    ROWS_MAX = 100,
    COLUMNS_MAX = 300,
    CELL_BYTES = 16, /* a change of tone and a glyph */
    LINE_BYTES = 16, /* a change of tone, and what ends a line */
};

/* The other page, and no cursor; then the reverse, in reverse order. */
static const char enter_sequence[] = "\033[?1049h\033[?25l\033[2J";
static const char leave_sequence[] = "\033[0m\033[?25h\033[?1049l";

/* Read by a signal handler, which must know whether to leave. */
static volatile sig_atomic_t is_entered;

static const char *const tones[TONE_COUNT] = {
    [TONE_PLAIN] = "\033[0m",     [TONE_DIM] = "\033[0;2m",
    [TONE_STRONG] = "\033[0;1m",  [TONE_BAR] = "\033[0;36m",
    [TONE_HAND] = "\033[0;1;33m",
};

static bool write_all(const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(STDOUT_FILENO, bytes, count);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return true;
}

bool screen_is_possible(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

/* The flag is set before the first byte is written, and cleared after the last
 * one: a signal in between may leave twice, but never not at all. */
void screen_enter(void)
{
    is_entered = 1;
    write_all(enter_sequence, sizeof enter_sequence - 1);
}

void screen_leave(void)
{
    write_all(leave_sequence, sizeof leave_sequence - 1);
    is_entered = 0;
}

/* Called in a signal handler. */
static void restore(void *context)
{
    (void)context;
    if (is_entered)
        screen_leave();
}

int screen_open(struct screen *screen)
{
    const char *no_color = getenv("NO_COLOR");
    *screen = (struct screen){
        .is_unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
        .is_toned = no_color == NULL || no_color[0] == '\0',
        .cells = calloc(ROWS_MAX * COLUMNS_MAX, sizeof *screen->cells),
        .bytes = malloc(ROWS_MAX * (COLUMNS_MAX * CELL_BYTES + LINE_BYTES) +
                        LINE_BYTES),
    };
    if (screen->cells == NULL || screen->bytes == NULL) {
        free(screen->cells);
        free(screen->bytes);
        return -ENOMEM;
    }
    interrupt_clean(restore, NULL);
    screen_enter();
    return 0;
}

void screen_close(struct screen *screen)
{
    screen_leave();
    free(screen->cells);
    free(screen->bytes);
    *screen = (struct screen){0};
}

void screen_begin(struct screen *screen)
{
    struct winsize size;
    screen->rows = 24;
    screen->columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
        size.ws_col > 0) {
        screen->rows = size.ws_row < ROWS_MAX ? size.ws_row : ROWS_MAX;
        screen->columns = size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
    }
    for (unsigned i = 0; i < screen->rows * screen->columns; i++)
        screen->cells[i] = (struct screen_cell){.glyph = ' '};
}

/* UTF-8, as far as the glyphs in use go: below U+10000. */
static char *append_glyph(char *end, uint32_t glyph)
{
    if (glyph < 0x80) {
        *end++ = (char)glyph;
    } else if (glyph < 0x800) {
        *end++ = (char)(0xC0 | glyph >> 6);
        *end++ = (char)(0x80 | (glyph & 0x3F));
    } else {
        *end++ = (char)(0xE0 | glyph >> 12);
        *end++ = (char)(0x80 | (glyph >> 6 & 0x3F));
        *end++ = (char)(0x80 | (glyph & 0x3F));
    }
    return end;
}

static char *append_row(const struct screen *screen, char *end, unsigned row)
{
    const struct screen_cell *cells = &screen->cells[row * screen->columns];
    unsigned width = screen->columns;
    uint32_t tone = TONE_PLAIN;

    while (width > 0 && cells[width - 1].glyph == ' ')
        width--;
    for (unsigned i = 0; i < width; i++) {
        if (cells[i].tone != tone && screen->is_toned)
            end = stpcpy(end, tones[tone = cells[i].tone]);
        end = append_glyph(end, cells[i].glyph);
    }
    if (tone != TONE_PLAIN)
        end = stpcpy(end, tones[TONE_PLAIN]);

    /* After a full line some terminals would erase its last character. */
    return width < screen->columns ? stpcpy(end, "\033[K") : end;
}

bool screen_show(const struct screen *screen)
{
    char *end = stpcpy(screen->bytes, "\033[H");
    for (unsigned row = 0; row < screen->rows; row++) {
        end = append_row(screen, end, row);
        if (row + 1 < screen->rows)
            end = stpcpy(end, "\r\n");
    }
    return write_all(screen->bytes, (size_t)(end - screen->bytes));
}

void screen_glyph(struct screen *screen, unsigned row, unsigned column,
                  enum screen_tone tone, uint32_t glyph)
{
    if (row < screen->rows && column < screen->columns)
        screen->cells[row * screen->columns + column] =
            (struct screen_cell){.glyph = glyph, .tone = tone};
}

void screen_text(struct screen *screen, unsigned row, unsigned column,
                 enum screen_tone tone, const char *format, ...)
{
    char text[COLUMNS_MAX + 1];
    va_list arguments;
    va_start(arguments, format);
    /* clang-tidy 14 forgets va_start() where it is given several files. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (unsigned i = 0; text[i] != '\0'; i++)
        screen_glyph(screen, row, column + i, tone, (unsigned char)text[i]);
}
