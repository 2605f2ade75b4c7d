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
    LINES_APART = 3,   /* between slots, in pixels */
    LINE_MIN = 4,      /* of a line between slots */
};

static double ring_width(const struct film_page *page)
{
    return (double)(FRAME_RADIUS - FRAME_HOLE) / (page->top - page->bottom);
}

double film_frame_radius(const struct film_page *page, uint32_t level)
{
    return FRAME_HOLE + ring_width(page) * (level - page->bottom + 0.5);
}

double film_frame_rim(const struct film_page *page, uint32_t level)
{
    return film_frame_radius(page, level) + ring_width(page) * 0.3;
}

struct svg_sector film_frame_sector(const struct film_page *page,
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

bool film_frame_has(const struct film_page *page, uint16_t cell)
{
    return cell != FILM_NOWHERE &&
           film_level_of(&page->strip->face, cell) >= page->bottom &&
           film_level_of(&page->strip->face, cell) < page->top;
}

/* One timer can be seen at a glance; from there on the shade grows by roots, so
 * that it can also be told when half of the largest crowd has left. */
double film_frame_shade(const struct film_page *page, uint64_t count)
{
    if (count >= page->full)
        return 1;
    double most = cbrt((double)page->full);
    return 0.35 + 0.65 * (cbrt((double)count) - 1) / (most - 1);
}

/*
 * Lines between slots, all of them; where they would be closer than a few
 * pixels, every second, fourth or eighth comes further in than the others, as
 * on a ruler.
 */
static void draw_empty_ring(struct film_page *page, uint32_t index)
{
    const struct film_level *level = &page->strip->face.levels[index];
    double inner = FRAME_HOLE + ring_width(page) * (index - page->bottom);
    double outer = inner + ring_width(page);

    svg_circle(&page->svg, NULL, 0, 0, outer, 0);
    for (uint32_t i = 0; i < level->cells; i++) {
        uint32_t stride = i > 0 ? i & -i : level->cells;
        double begin = LINES_APART * level->cells / (6.28 * stride);
        double turn = (double)i / level->cells;
        begin = fmin(fmax(begin, inner), outer - LINE_MIN);
        struct svg_point from = svg_on_circle(0, 0, begin, turn);
        struct svg_point to = svg_on_circle(0, 0, outer, turn);
        svg_line(&page->svg, NULL, from.x, from.y, to.x, to.y);
    }
}

/* Where they would touch, every second or fifth only. */
uint32_t film_frame_number_stride(const struct film_page *page, uint32_t index)
{
    const struct film_level *level = &page->strip->face.levels[index];
    double room = 6.28 * film_frame_radius(page, index) / level->cells;
    if (level->size > NUMBERED_MAX)
        return 0;
    return room >= 10 ? 1 : room < 5 ? 5 : 2;
}

static void draw_numbers(struct film_page *page, uint32_t index)
{
    const struct film_level *level = &page->strip->face.levels[index];
    double radius = film_frame_radius(page, index);
    uint32_t stride = film_frame_number_stride(page, index);
    for (uint32_t i = 0; stride > 0 && i < level->cells; i += stride) {
        struct svg_point at =
            svg_on_circle(0, 0, radius, (i + 0.5) / level->cells);
        svg_text(&page->svg, NULL, "middle", at.x, at.y + 2.7, "%u",
                 (unsigned)i);
    }
}

double film_frame_clearance(const struct film_page *page, uint32_t level,
                            double turn)
{
    double least = FRAME_RADIUS;
    for (uint32_t i = level; i < page->top; i++) {
        uint32_t cells = page->strip->face.levels[i].cells;
        uint32_t stride = film_frame_number_stride(page, i);
        double circle = 6.28 * film_frame_radius(page, i);
        for (uint32_t j = 0; stride > 0 && j < cells; j += stride)
            least = fmin(least, circle * fabs(turn - (j + 0.5) / cells));
    }
    return least;
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

bool film_frame_is_emptied(const struct film_page *page,
                           const struct film_frame *frame, uint16_t cell)
{
    return frame > page->strip->frames && film_frame_has(page, cell) &&
           frame->cells[cell] == 0 && frame[-1].cells[cell] > 0;
}

static void draw_cells(struct film_page *page, const struct film_frame *frame,
                       struct svg_point centre)
{
    const struct film_face *face = &page->strip->face;
    svg_open(&page->svg, page->strip->class);
    for (uint32_t i = 0; i < face->cell_count; i++) {
        uint16_t cell = (uint16_t)i;
        if (frame->cells[cell] > 0 && film_frame_has(page, cell))
            svg_sector(&page->svg, NULL, film_frame_sector(page, centre, cell),
                       film_frame_shade(page, frame->cells[cell]));
        else if (film_frame_is_emptied(page, frame, cell))
            svg_sector(&page->svg, SVG_EMPTIED,
                       film_frame_sector(page, centre, cell), 0);
    }
    svg_close(&page->svg);
}

static void draw_hands(struct film_page *page, const struct film_frame *frame,
                       struct svg_point centre)
{
    for (uint32_t i = page->bottom; i < page->top; i++)
        svg_sector(&page->svg, SVG_HAND,
                   film_frame_sector(page, centre, frame->hands[i]), 0);
}

/* Where an arrow begins or ends; what is not on the page is in the middle.  One
 * for a lower level begins near the inner edge of its slot, `height` being the
 * part that is below: what is left there is to be seen. */
static struct svg_point arrow_end(const struct film_page *page,
                                  struct svg_point centre, uint16_t cell,
                                  uint16_t other, double height)
{
    if (film_frame_has(page, cell)) {
        struct svg_sector s = film_frame_sector(page, centre, cell);
        return svg_on_circle(s.x, s.y, s.inner + (s.outer - s.inner) * height,
                             (s.from + s.to) / 2);
    }
    if (!film_frame_has(page, other))
        return centre;
    struct svg_sector sector = film_frame_sector(page, centre, other);
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
        bool is_fall = film_is_fall(&page->strip->face, move);
        bool is_down = is_fall && move->to != FILM_NOWHERE;
        struct svg_point from = arrow_end(page, centre, move->from, move->to,
                                          is_down ? FRAME_LEAVE : 0.5);
        struct svg_point to =
            arrow_end(page, centre, move->to, move->from, 0.5);
        svg_arrow(&page->svg, is_fall ? SVG_FALL : SVG_DIM,
                  film_frame_thickness(move->count), from.x, from.y, to.x,
                  to.y);
    }
    if (frame->fired == 0)
        return;
    svg_circle(&page->svg, SVG_FALL, centre.x, centre.y, FRAME_HOLE - 5, 0.25);
    svg_text(&page->svg, SVG_INK SVG_SMALL SVG_HALO, "middle", centre.x,
             centre.y + 4, "%s", words_short((double)frame->fired).text);
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
    while (*text != '\0') {
        text += line_end(text);
        text += *text == ' ';
        lines++;
    }
    return lines;
}

static void draw_caption(struct film_page *page, const char *text,
                         struct svg_point at)
{
    for (unsigned i = 0; *text != '\0'; i++) {
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
    double y = centre.y + FRAME_RADIUS + page->foot + FRAME_LINE;
    draw_caption(page, frame->caption, (struct svg_point){centre.x, y});
    svg_close(&page->svg);
}
