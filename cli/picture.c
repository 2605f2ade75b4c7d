/*
 * picture.c - a wheel at work, as one frame on the screen.
 *
 *     title, what is going on
 *     level 3      |  bars  |
 *     64 x 65.5 s  |  hand  |     counters: here if there is room,
 *     ...                         otherwise below
 *     legend
 *     progress
 */
#include "picture.h"

#include "words.h"

#include <assert.h>
#include <math.h>

enum {
    MARGIN = 0,
    RING = 15, /* the column where the rings begin, behind label and border */
    RING_MIN = 8,
    LEVELS_LEAST = 3, /* shown even if only the lowest are in use */
    HEAD_ROWS = 3,
    FOOT_ROWS = 3,  /* legend, an empty row, progress */
    PANEL_ROWS = 4, /* if it is below ... */
    PANEL_COLUMNS = 34,
    BAR_ROWS_MAX = 8,
};

/* By how much of a row is filled. */
static const uint32_t blocks[] = {' ',    0x2581, 0x2582, 0x2583, 0x2584,
                                  0x2585, 0x2586, 0x2587, 0x2588};
static const uint32_t shades[] = {' ', '.', ':', '-', '=',
                                  '+', '*', '#', '%', '@'};

struct ramp {
    const uint32_t *glyphs;
    unsigned steps;
};

struct glyphs {
    struct ramp ramp;
    uint32_t empty, hand, border_left, border_right, done, undone;
};

static struct glyphs glyphs_for(const struct screen *screen)
{
    if (screen->is_unicode)
        return (struct glyphs){{blocks, 8}, 0xB7,   0x25B2, 0x2502,
                               0x2502,      0x2588, 0x2591};
    return (struct glyphs){{shades, 9}, ' ', '^', '[', ']', '#', '.'};
}

/* How everything is placed; worked out anew for each frame. */
struct layout {
    struct glyphs glyphs;
    uint32_t levels; /* shown, from the lowest */
    unsigned ring;   /* columns that the widest ring may take */
    unsigned rows;   /* for a level, all in all */
    unsigned bars;   /* rows of bars in it */
    bool has_hand_row;
    bool has_side_panel;
};

/* A level of `size` slots on `ring` columns. */
struct fold {
    uint32_t group;   /* slots shown together ... */
    uint32_t stretch; /* ... on so many columns; one of the two is 1 */
    uint32_t cells;   /* groups */
};

static struct fold fold(uint32_t size, unsigned ring)
{
    assert(ring > 0);
    uint32_t group = (size - 1) / ring + 1;
    uint32_t cells = (size - 1) / group + 1;
    return (struct fold){group, ring / cells, cells};
}

/*
 * The widest rings are not the best: with 100 columns, levels of 128 and 512
 * slots come out at 64 and 86, with 64 columns both at 64.  Prefer wide ones,
 * less by how much they differ.
 */
static unsigned best_ring(const struct tkw_dial *dial, uint32_t levels,
                          unsigned room)
{
    unsigned best = room;
    int best_score = -1;
    for (unsigned ring = room; ring >= room / 2 && ring >= RING_MIN; ring--) {
        unsigned least = ring, most = 0;
        for (uint32_t i = 0; i < levels; i++) {
            struct fold f = fold(dial->levels[i].size, ring);
            unsigned width = f.cells * f.stretch;
            least = width < least ? width : least;
            most = width > most ? width : most;
        }
        int score = 2 * (int)least - (int)most;
        if (score > best_score) {
            best_score = score;
            best = most;
        }
    }
    return best;
}

static unsigned less(unsigned a, unsigned b)
{
    return a > b ? a - b : 0;
}

static struct layout lay_out(const struct picture *picture,
                             const struct screen *screen)
{
    const struct tkw_dial *dial = tkw_wheel_dial(picture->load->wheel);
    struct layout l = {.glyphs = glyphs_for(screen)};

    l.levels = picture->census->highest;
    if (l.levels < LEVELS_LEAST)
        l.levels = LEVELS_LEAST;
    if (l.levels > dial->level_count)
        l.levels = dial->level_count;

    unsigned room = less(screen->columns, RING + 1);
    if (room < RING_MIN)
        room = RING_MIN;
    l.ring = best_ring(dial, l.levels, room);
    l.has_side_panel = room - l.ring >= PANEL_COLUMNS;

    unsigned taken = HEAD_ROWS + FOOT_ROWS;
    if (!l.has_side_panel)
        taken += PANEL_ROWS + 1;
    unsigned rows = less(screen->rows, taken);
    if (rows < 1)
        rows = 1;
    if (l.levels > rows)
        l.levels = rows;
    l.rows = rows / l.levels;
    if (l.rows > BAR_ROWS_MAX + 2)
        l.rows = BAR_ROWS_MAX + 2;
    l.has_hand_row = l.rows > 1;
    l.bars = l.rows - l.has_hand_row - (l.rows > 3); /* an empty row between */
    return l;
}

/* A bar's height: 0 for none, 1 for one timer, `steps` for `full` of them. */
static unsigned height(uint64_t count, uint64_t full, unsigned steps)
{
    if (count == 0)
        return 0;
    if (count >= full)
        return steps;
    double part = log((double)count) / log((double)full);
    return 1 + (unsigned)(part * (steps - 1));
}

static void draw_bar(struct screen *screen, const struct layout *l,
                     unsigned top, unsigned column, unsigned fill)
{
    const struct ramp *ramp = &l->glyphs.ramp;
    unsigned bottom = top + l->bars - 1;
    if (fill == 0)
        screen_glyph(screen, bottom, column, TONE_DIM, l->glyphs.empty);
    for (unsigned i = 0; fill > 0; i++) {
        unsigned part = fill < ramp->steps ? fill : ramp->steps;
        screen_glyph(screen, bottom - i, column, TONE_BAR, ramp->glyphs[part]);
        fill -= part;
    }
}

static void draw_bars(const struct picture *picture, struct screen *screen,
                      const struct layout *l, const struct tkw_level *level,
                      unsigned top)
{
    const uint32_t *slots = &picture->census->slots[level->first];
    uint64_t full = picture->load->settings.task_count;
    struct fold f = fold(level->size, l->ring);

    for (uint32_t cell = 0; cell < f.cells; cell++) {
        uint64_t count = 0;
        for (uint32_t i = cell * f.group;
             i < (cell + 1) * f.group && i < level->size; i++)
            count += slots[i];
        unsigned fill = height(count, full, l->bars * l->glyphs.ramp.steps);
        for (uint32_t i = 0; i < f.stretch; i++)
            draw_bar(screen, l, top, RING + cell * f.stretch + i, fill);
    }
    for (unsigned i = 0; i < l->bars; i++) {
        screen_glyph(screen, top + i, RING - 1, TONE_DIM,
                     l->glyphs.border_left);
        screen_glyph(screen, top + i, RING + f.cells * f.stretch, TONE_DIM,
                     l->glyphs.border_right);
    }
}

/* Below the bars, or between them if there is no row for it. */
static void draw_hand(struct screen *screen, const struct layout *l,
                      const struct tkw_level *level, unsigned top)
{
    struct fold f = fold(level->size, l->ring);
    uint32_t slot = (uint32_t)(level->hand % level->size);
    unsigned column = RING + slot / f.group * f.stretch;

    if (!l->has_hand_row) {
        screen_glyph(screen, top, column, TONE_HAND, '|');
        return;
    }
    screen_glyph(screen, top + l->bars, column, TONE_HAND, l->glyphs.hand);
    screen_text(screen, top + l->bars, column + 2, TONE_DIM, "%u",
                (unsigned)slot);
}

static void draw_level(const struct picture *picture, struct screen *screen,
                       const struct layout *l, uint32_t number, unsigned top)
{
    const struct tkw_level *level =
        &tkw_wheel_dial(picture->load->wheel)->levels[number - 1];
    uint64_t count = picture->census->levels[number - 1];
    struct fold f = fold(level->size, l->ring);

    screen_text(screen, top, MARGIN, TONE_STRONG, "level %u", (unsigned)number);
    if (count > 0)
        screen_text(screen, top, MARGIN + 8, TONE_BAR, "%5s",
                    words_short((double)count).text);
    if (l->rows > 1)
        screen_text(screen, top + 1, MARGIN, TONE_DIM, "%u x %s",
                    (unsigned)level->size,
                    words_duration((double)level->tick).text);
    if (l->rows > 2 && f.group > 1)
        screen_text(screen, top + 2, MARGIN, TONE_DIM, "%u slots a bar",
                    (unsigned)f.group);
    draw_bars(picture, screen, l, level, top);
    draw_hand(screen, l, level, top);
}

static void draw_legend(const struct picture *picture, struct screen *screen,
                        const struct layout *l, unsigned row)
{
    uint32_t full = l->glyphs.ramp.glyphs[l->glyphs.ramp.steps];
    screen_glyph(screen, row, RING, TONE_HAND,
                 l->has_hand_row ? l->glyphs.hand : '|');
    screen_text(screen, row, RING + 2, TONE_DIM, "the hand: now");
    screen_glyph(screen, row, RING + 18, TONE_BAR, full);
    screen_text(screen, row, RING + 20, TONE_DIM,
                "timers, log scale; full bar: %s",
                words_count(picture->load->settings.task_count).text);
    if (picture->census_age_s >= 0.1)
        screen_text(screen, row, MARGIN, TONE_DIM, "%.1f s behind",
                    picture->census_age_s);
}

struct item {
    const char *name;
    struct words value;
    struct words rate; /* per second, if not empty */
};

static struct words words_speed(double speed)
{
    struct words words = words_count((uint64_t)speed);
    if (speed < 10)
        words = words_short(speed);
    for (unsigned i = 0; i + 3 < sizeof words.text; i++) {
        if (words.text[i] == '\0') {
            words.text[i] = ' ';
            words.text[i + 1] = 'x';
            words.text[i + 2] = '\0';
            break;
        }
    }
    return words;
}

/* Averages fade; what is left of them after a while is not worth reading. */
static struct words words_rate(double rate)
{
    return words_short(rate < 1 ? 0 : rate);
}

static struct words words_wake_up(const struct load *load)
{
    tkw_tick next = tkw_wheel_next(load->wheel);
    if (next == TKW_NEVER)
        return (struct words){"never"};
    return words_duration((double)(next - tkw_wheel_now(load->wheel)));
}

static void draw_item(struct screen *screen, unsigned row, unsigned column,
                      const struct item *item)
{
    screen_text(screen, row, column, TONE_DIM, "%s", item->name);
    screen_text(screen, row, column + 10, TONE_PLAIN, "%11s", item->value.text);
    if (item->rate.text[0] != '\0')
        screen_text(screen, row, column + 22, TONE_DIM, "%5s/s",
                    item->rate.text);
}

static void draw_panel(const struct picture *picture, struct screen *screen,
                       const struct layout *l, unsigned row)
{
    static const unsigned columns[] = {MARGIN, 33, 58};
    const struct load *load = picture->load;
    struct tkw_wheel_stats c = tkw_wheel_read_stats(load->wheel);
    const struct item items[] = {
        {"armed", words_count(c.armed), words_rate(picture->armed_rate)},
        {"fired", words_count(c.fired), words_rate(picture->fired_rate)},
        {"cancelled", words_count(c.cancelled), {""}},
        {"pending", words_count(tkw_wheel_count(load->wheel)), {""}},
        {"falls", words_count(c.falls), {""}},
        {"postponed", words_count(load->postpone.count), {""}},
        {"refiled", words_count(c.refiles), {""}},
        {"wake-ups", words_count(load->wakeups), {""}},
        {"clock", words_clock(load_elapsed(load)), {""}},
        {"speed", words_speed(picture->speed), {""}},
        {"next wake", words_wake_up(load), {""}},
        {"early", words_count(load->early), {""}},
    };
    for (unsigned i = 0; i < sizeof items / sizeof items[0]; i++) {
        unsigned group = i / PANEL_ROWS, place = i % PANEL_ROWS;
        if (l->has_side_panel)
            draw_item(screen, HEAD_ROWS + group * (PANEL_ROWS + 1) + place,
                      RING + l->ring + 4, &items[i]);
        else
            draw_item(screen, row + place, columns[group], &items[i]);
    }
}

static void draw_progress(const struct picture *picture, struct screen *screen,
                          const struct layout *l, unsigned row)
{
    unsigned done = (unsigned)(picture->progress * l->ring);
    if (picture->left_s >= 0)
        screen_text(screen, row, MARGIN, TONE_PLAIN, "%.0f s left",
                    ceil(picture->left_s));
    for (unsigned i = 0; i < l->ring; i++)
        screen_glyph(screen, row, RING + i, i < done ? TONE_PLAIN : TONE_DIM,
                     i < done ? l->glyphs.done : l->glyphs.undone);
}

void picture_draw(const struct picture *picture, struct screen *screen)
{
    const struct load_settings *settings = &picture->load->settings;
    struct layout l = lay_out(picture, screen);
    unsigned row = HEAD_ROWS;

    screen_text(screen, 0, MARGIN, TONE_STRONG, "tickwheel");
    screen_text(screen, 0, RING, TONE_STRONG, "%s %s %s",
                words_count(settings->task_count).text, settings->kind->title,
                words_duration((double)settings->delay_ms).text);
    screen_text(screen, 1, RING, TONE_PLAIN, "%s", picture->caption);
    for (uint32_t number = l.levels; number > 0; number--) {
        draw_level(picture, screen, &l, number, row);
        row += l.rows;
    }
    draw_legend(picture, screen, &l, row);
    row += 2;
    draw_panel(picture, screen, &l, row);
    if (!l.has_side_panel)
        row += PANEL_ROWS + 1;
    draw_progress(picture, screen, &l, row);
}
