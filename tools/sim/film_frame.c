/*
 * film_frame.c - one frame of a film: the dial, what is on it, what moves.
 *
 * The empty dial is the same in all frames: it is drawn once and used.
 */
#include "film_frame.h"

#include "../words.h"

#include <math.h>
#include <string.h>

enum {
    CAPTION_LETTERS = 40,
    NUMBERED_MAX = 24, /* slots of a ring that are numbered */
};

static double ring_width(const struct film_page *page)
{
    return (double)(FRAME_RADIUS - FRAME_HOLE) / (page->top - page->bottom);
}

double film_frame_radius(const struct film_page *page, uint32_t level)
{
    return FRAME_HOLE + ring_width(page) * (level - page->bottom + 0.5);
}

static struct svg_sector sector_of(const struct film_page *page,
                                   struct svg_point centre, uint16_t cell)
{
    uint32_t i = film_level_of(&page->strip->face, cell);
    const struct film_level *level = &page->strip->face.levels[i];
    double inner = FRAME_HOLE + ring_width(page) * (i - page->bottom);
    double cells = level->cells;
    return (struct svg_sector){
        .x = centre.x,
        .y = centre.y,
        .inner = inner,
        .outer = inner + ring_width(page),
        .from = (cell - level->first) / cells,
        .to = (cell - level->first + 1) / cells,
    };
}

static struct svg_point middle(const struct svg_sector *s)
{
    return svg_on_circle(s->x, s->y, (s->inner + s->outer) / 2,
                         (s->from + s->to) / 2);
}

static bool is_drawn(const struct film_page *page, uint16_t cell)
{
    return cell != FILM_NOWHERE &&
           film_level_of(&page->strip->face, cell) >= page->bottom &&
           film_level_of(&page->strip->face, cell) < page->top;
}

/* One timer can be seen at a glance; from there on it grows by powers. */
double film_frame_shade(const struct film_page *page, uint64_t count)
{
    if (count >= page->full)
        return 1;
    return 0.38 + 0.62 * log((double)count) / log((double)page->full);
}

/* Lines between slots; not all where they would be closer than a few pixels. */
static void draw_empty_ring(struct film_page *page, uint32_t index)
{
    const struct film_level *level = &page->strip->face.levels[index];
    double inner = FRAME_HOLE + ring_width(page) * (index - page->bottom);
    double outer = inner + ring_width(page);
    uint32_t stride = 1;

    while (stride < level->cells && 6.28 * inner * stride / level->cells < 3)
        stride *= 2;
    svg_circle(&page->svg, NULL, 0, 0, outer, 0);
    for (uint32_t i = 0; i < level->cells; i += stride) {
        double turn = (double)i / level->cells;
        struct svg_point from = svg_on_circle(0, 0, inner, turn);
        struct svg_point to = svg_on_circle(0, 0, outer, turn);
        svg_line(&page->svg, NULL, from.x, from.y, to.x, to.y);
    }
}

/* Numbers of slots; where they would touch, of every second or fifth only. */
static void draw_numbers(struct film_page *page, uint32_t index)
{
    const struct film_level *level = &page->strip->face.levels[index];
    double radius = film_frame_radius(page, index);
    uint32_t stride = 1;
    if (level->size > NUMBERED_MAX)
        return;
    double room = 6.28 * radius / level->cells;
    if (room < 10)
        stride = room < 5 ? 5 : 2;
    for (uint32_t i = 0; i < level->cells; i += stride) {
        struct svg_point at =
            svg_on_circle(0, 0, radius, (i + 0.5) / level->cells);
        svg_text(&page->svg, NULL, "middle", at.x, at.y + 2.7, "%u",
                 (unsigned)i);
    }
}

void film_frame_define(struct film_page *page)
{
    svg_define(&page->svg, "dial");
    svg_open(&page->svg, SVG_GRID);
    svg_circle(&page->svg, NULL, 0, 0, FRAME_HOLE, 0);
    for (uint32_t i = page->bottom; i < page->top; i++)
        draw_empty_ring(page, i);
    svg_close(&page->svg);
    svg_open(&page->svg, SVG_INK SVG_TINY);
    for (uint32_t i = page->bottom; i < page->top; i++)
        draw_numbers(page, i);
    svg_close(&page->svg);
    svg_define_end(&page->svg);
}

static void draw_cells(struct film_page *page, const struct film_frame *frame,
                       struct svg_point centre)
{
    const struct film_face *face = &page->strip->face;
    svg_open(&page->svg, page->strip->class);
    for (uint32_t i = 0; i < face->cell_count; i++) {
        uint16_t cell = (uint16_t)i;
        if (frame->cells[cell] > 0 && is_drawn(page, cell))
            svg_sector(&page->svg, NULL, sector_of(page, centre, cell),
                       film_frame_shade(page, frame->cells[cell]));
    }
    svg_close(&page->svg);
}

static void draw_hands(struct film_page *page, const struct film_frame *frame,
                       struct svg_point centre)
{
    for (uint32_t i = page->bottom; i < page->top; i++)
        svg_sector(&page->svg, SVG_HAND,
                   sector_of(page, centre, frame->hands[i]), 0);
}

/* Where an arrow begins or ends; what is not on the page is in the middle. */
static struct svg_point arrow_end(const struct film_page *page,
                                  struct svg_point centre, uint16_t cell,
                                  uint16_t other)
{
    if (is_drawn(page, cell)) {
        struct svg_sector sector = sector_of(page, centre, cell);
        return middle(&sector);
    }
    if (!is_drawn(page, other))
        return centre;
    struct svg_sector sector = sector_of(page, centre, other);
    return svg_on_circle(centre.x, centre.y, FRAME_HOLE - 4,
                         (sector.from + sector.to) / 2);
}

double film_frame_thickness(uint64_t count)
{
    return 1.2 + 0.35 * log10((double)count);
}

static void draw_moves(struct film_page *page, const struct film_frame *frame,
                       struct svg_point centre)
{
    for (unsigned i = 0; i < frame->move_count; i++) {
        const struct film_move *move = &frame->moves[i];
        struct svg_point from = arrow_end(page, centre, move->from, move->to);
        struct svg_point to = arrow_end(page, centre, move->to, move->from);
        svg_arrow(&page->svg,
                  film_is_fall(&page->strip->face, move) ? SVG_FALL : SVG_DIM,
                  film_frame_thickness(move->count), from.x, from.y, to.x,
                  to.y);
    }
    if (frame->fired == 0)
        return;
    svg_circle(&page->svg, SVG_FALL, centre.x, centre.y, FRAME_HOLE - 5, 0.25);
    svg_text(&page->svg, SVG_INK SVG_SMALL SVG_HALO, "middle", centre.x,
             centre.y + 4, "%s", words_short((double)frame->fired).text);
}

/* Deadlines, outside their slots; those of one slot above each other. */
static void draw_marks(struct film_page *page, const struct film_frame *frame,
                       struct svg_point centre)
{
    for (unsigned i = 0; i < frame->mark_count; i++) {
        const struct film_mark *mark = &frame->marks[i];
        if (!is_drawn(page, mark->cell))
            continue;
        unsigned above = 0;
        for (unsigned j = 0; j < i; j++)
            above += frame->marks[j].cell == mark->cell;
        struct svg_sector s = sector_of(page, centre, mark->cell);
        struct words deadline = words_count(mark->deadline);
        double half = SVG_LETTER_SMALL * (double)strlen(deadline.text) / 2;
        double turn = (s.from + s.to) / 2;
        double away = s.outer + 6 + half * fabs(sin(turn * 6.2832));
        struct svg_point at = svg_on_circle(s.x, s.y, away, turn);
        double room = FRAME_WIDTH / 2.0 - half;
        room = room > 0 ? room : 0;
        at.x = fmax(centre.x - room, fmin(centre.x + room, at.x));
        svg_text(&page->svg, SVG_INK SVG_SMALL SVG_BOLD SVG_HALO, "middle",
                 at.x, at.y + 4 + above * 12, "%s", deadline.text);
    }
}

/* The end of a line of a caption: behind a comma or a colon if there is one,
 * else after as many words as fit. */
static size_t line_end(const char *text)
{
    size_t length = strlen(text), space = 0, pause = 0;
    if (length <= CAPTION_LETTERS)
        return length;
    for (size_t i = 1; i <= CAPTION_LETTERS; i++) {
        if (text[i] != ' ')
            continue;
        space = i;
        if (text[i - 1] == ',' || text[i - 1] == ':')
            pause = i;
    }
    if (pause > 0)
        return pause;
    return space > 0 ? space : CAPTION_LETTERS;
}

unsigned film_frame_lines(const char *text)
{
    unsigned lines = 0;
    while (*text != '\0' && lines < FRAME_LINES_MAX) {
        text += line_end(text);
        text += *text == ' ';
        lines++;
    }
    return lines;
}

static void draw_caption(struct film_page *page, const char *text,
                         struct svg_point at)
{
    for (unsigned i = 0; i < FRAME_LINES_MAX && *text != '\0'; i++) {
        size_t end = line_end(text);
        svg_text(&page->svg, SVG_INK SVG_SMALL, "middle", at.x,
                 at.y + i * FRAME_LINE, "%.*s", (int)end, text);
        text += end;
        text += *text == ' ';
    }
}

void film_frame_draw(struct film_page *page, const struct film_frame *frame,
                     struct svg_point centre)
{
    svg_open(&page->svg, "frame");
    draw_cells(page, frame, centre);
    svg_use(&page->svg, "dial", centre.x, centre.y);
    draw_hands(page, frame, centre);
    draw_moves(page, frame, centre);
    draw_marks(page, frame, centre);
    draw_caption(page, frame->caption,
                 (struct svg_point){centre.x, centre.y + FRAME_RADIUS + 20});
    svg_close(&page->svg);
}
