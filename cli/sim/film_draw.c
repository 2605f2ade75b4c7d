/*
 * film_draw.c - the frames of a film as one picture.
 *
 *     title
 *     level 3   ( dial )  ( dial )  ( dial )
 *     level 2   caption   caption   caption
 *     ...       ( dial )  ...
 *     legend
 */
#include "film_draw.h"

#include "../words.h"
#include "film_frame.h"
#include "film_labels.h"

#include <math.h>
#include <string.h>

enum {
    COLUMNS_MAX = 4,
    RINGS_MAX = 5,
    HEAD = 40,
    WIDTH_MIN = 714, /* of the legend */
    LEGEND_LINE = 22,
    NAME_LINE = 15,   /* names of levels are at least so far apart */
    NAME_TURNS = 480, /* parts of a turn that are tried for the line of one */
};

struct layout {
    uint32_t columns, rows;
    double left; /* where the frames begin, right of the level names */
    double top;  /* of a frame, above its dial */
    double frame_height;
    double width, height;
};

uint32_t film_level_of(const struct film_face *face, uint16_t cell)
{
    uint32_t level = 0;
    while (level + 1 < face->level_count &&
           face->levels[level + 1].first <= cell)
        level++;
    return level;
}

bool film_is_fall(const struct film_face *face, const struct film_move *move)
{
    return move->to == FILM_NOWHERE ||
           film_level_of(face, move->to) < film_level_of(face, move->from);
}

/*
 * Rings are levels that were in use, up to the highest of them.  If these are
 * more than can be told apart, the lowest are left out: a timer spends most of
 * its time above.
 */
static void find_rings(struct film_page *page)
{
    const struct film_strip *strip = page->strip;
    page->top = 1;
    page->full = 1;
    for (uint32_t i = 0; i < strip->frame_count; i++) {
        for (uint32_t j = 0; j < strip->face.cell_count; j++) {
            uint32_t count = strip->frames[i].cells[j];
            uint32_t level = film_level_of(&strip->face, (uint16_t)j);
            if (count > page->full)
                page->full = count;
            if (count > 0 && level >= page->top)
                page->top = level + 1;
        }
    }
    page->bottom = page->top > RINGS_MAX ? page->top - RINGS_MAX : 0;
}

struct name {
    char text[100];
};

static struct name level_name(const struct film_page *page, uint32_t index)
{
    const struct film_level *level = &page->strip->face.levels[index];
    struct name name;
    snprintf(name.text, sizeof name.text, "level %u: %u slots of %s",
             (unsigned)index + 1, (unsigned)level->size,
             words_count(level->tick).text);
    return name;
}

static struct name name_of_rest(const struct film_page *page)
{
    struct name name;
    snprintf(name.text, sizeof name.text, "inside: level %u%s",
             (unsigned)page->bottom, page->bottom > 1 ? " and lower" : "");
    return name;
}

static double names_width(const struct film_page *page)
{
    size_t longest = strlen(name_of_rest(page).text);
    for (uint32_t i = page->bottom; i < page->top; i++) {
        size_t length = strlen(level_name(page, i).text);
        longest = length > longest ? length : longest;
    }
    return (double)longest * SVG_LETTER_SMALL;
}

static bool is_grouped(const struct film_level *level)
{
    return level->cells < level->size;
}

static unsigned grouped_count(const struct film_page *page)
{
    unsigned count = 0;
    for (uint32_t i = page->bottom; i < page->top; i++)
        count += is_grouped(&page->strip->face.levels[i]);
    return count;
}

static struct layout lay_out(struct film_page *page)
{
    struct film_margins margins = film_labels_margins(page);
    struct layout l = {.columns = 1, .rows = 1};
    uint32_t n = page->strip->frame_count;
    unsigned lines = 1;
    if (n > 0) {
        l.rows = (n - 1) / COLUMNS_MAX + 1;
        l.columns = (n - 1) / l.rows + 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct film_frame *frame = &page->strip->frames[i];
        unsigned taken = film_frame_lines(frame->caption) +
                         film_labels_key_lines(page, frame);
        lines = taken > lines ? taken : lines;
    }
    l.left = SVG_MARGIN + names_width(page);
    l.top = fmax(FRAME_TOP, margins.above + 2);
    page->foot = FRAME_FOOT + margins.below;
    l.frame_height =
        l.top + 2 * FRAME_RADIUS + page->foot + lines * FRAME_LINE + 14;
    l.width = l.left + l.columns * FRAME_WIDTH + SVG_MARGIN;
    l.width = l.width > WIDTH_MIN ? l.width : WIDTH_MIN;
    l.height = HEAD + l.rows * l.frame_height +
               (2.5 + grouped_count(page)) * LEGEND_LINE;
    return l;
}

static bool has_refiled(const struct film_strip *strip)
{
    for (uint32_t i = 0; i < strip->frame_count; i++) {
        const struct film_frame *frame = &strip->frames[i];
        for (unsigned j = 0; j < frame->move_count; j++) {
            if (!film_is_fall(&strip->face, &frame->moves[j]))
                return true;
        }
    }
    return false;
}

static bool has_emptied(const struct film_page *page)
{
    const struct film_strip *strip = page->strip;
    for (uint32_t i = 0; i < strip->frame_count; i++) {
        for (uint32_t j = 0; j < strip->face.cell_count; j++) {
            if (film_frame_is_emptied(page, &strip->frames[i], (uint16_t)j))
                return true;
        }
    }
    return false;
}

static struct svg_point centre_of(const struct layout *l, uint32_t frame)
{
    uint32_t row = frame / l->columns, column = frame % l->columns;
    return (struct svg_point){l->left + FRAME_WIDTH * (column + 0.5),
                              HEAD + l->frame_height * row + l->top +
                                  FRAME_RADIUS};
}

/* From `latest` back, where a line to the ring of a level comes least near to
 * the numbers of slots; a slot of a level of 20 is enough to look at. */
static double find_turn(const struct film_page *page, uint32_t level,
                        double latest)
{
    double best = latest, widest = -1;
    for (unsigned i = 0; i <= NAME_TURNS / 20; i++) {
        double turn = latest - (double)i / NAME_TURNS;
        double clearance = film_frame_clearance(page, level, turn);
        if (clearance > widest + 0.01) {
            widest = clearance;
            best = turn;
        }
    }
    return best;
}

/* A name at the left of the first frame, and a line to a radius of its dial:
 * along a radius, or it would cross the numbers of slots. */
static void draw_name(struct film_page *page, const struct layout *l,
                      double radius, double turn, const char *text)
{
    struct svg_point c = centre_of(l, 0);
    struct svg_point end = svg_on_circle(c.x, c.y, radius, turn);
    struct svg_point knee = svg_on_circle(c.x, c.y, FRAME_RADIUS + 5, turn);

    svg_text(&page->svg, SVG_INK SVG_SMALL, "end", l->left - 6, knee.y + 4,
             "%s", text);
    svg_line(&page->svg, SVG_DIM, l->left - 2, knee.y, knee.x, knee.y);
    svg_line(&page->svg, SVG_DIM, knee.x, knee.y, end.x, end.y);
    svg_circle(&page->svg, SVG_DIM, end.x, end.y, 1.6, 1);
}

/* The next one back that is a line lower. */
static double next_turn(double turn)
{
    double y = svg_on_circle(0, 0, FRAME_RADIUS + 5, turn).y + NAME_LINE;
    while (turn > 0.5 && svg_on_circle(0, 0, FRAME_RADIUS + 5, turn).y < y)
        turn -= 1.0 / NAME_TURNS;
    return turn;
}

static void draw_names(struct film_page *page, const struct layout *l)
{
    double turn = 0.97;
    for (uint32_t i = page->top; i-- > page->bottom;) {
        turn = find_turn(page, i, turn);
        draw_name(page, l, film_frame_rim(page, i), turn,
                  level_name(page, i).text);
        turn = next_turn(turn);
    }
    if (page->bottom > 0)
        draw_name(page, l, FRAME_HOLE / 2.0,
                  find_turn(page, page->bottom, turn), name_of_rest(page).text);
}

/* Over the lines of the names. */
static void draw_labels(struct film_page *page, const struct layout *l,
                        uint32_t index)
{
    const struct film_frame *frame = &page->strip->frames[index];
    struct svg_point centre = centre_of(l, index);
    unsigned lines = film_frame_lines(frame->caption) + 1;
    double y = centre.y + FRAME_RADIUS + page->foot + lines * FRAME_LINE;

    film_labels_draw(page, frame, centre);
    film_labels_draw_key(page, frame, (struct svg_point){centre.x, y});
}

/* How many timers a shade stands for: powers of ten, and the most of all. */
static void draw_shades(struct film_page *page, double y)
{
    static const char words[] = "timers in a slot:";
    double x = SVG_MARGIN;
    svg_text(&page->svg, SVG_DIM SVG_SMALL, "start", x, y + 4, words);
    x += SVG_LETTER_SMALL * sizeof words;
    for (uint64_t count = 1;; count *= 10) {
        count = count < page->full ? count : page->full;
        struct words number = words_short((double)count);
        svg_circle(&page->svg, page->strip->class, x + 6, y, 6,
                   film_frame_shade(page, count));
        svg_text(&page->svg, SVG_INK SVG_SMALL, "start", x + 16, y + 4, "%s",
                 number.text);
        x += 28 + SVG_LETTER_SMALL * (double)strlen(number.text);
        if (count == page->full)
            break;
    }
}

static void draw_signs(struct film_page *page, double y)
{
    struct svg *svg = &page->svg;
    struct svg_sector slot = {SVG_MARGIN + 7, y + 50, 44, 57, -0.02, 0.02};
    double x = SVG_MARGIN;

    svg_sector(svg, SVG_HAND, slot, 0);
    svg_text(svg, SVG_INK SVG_SMALL, "start", x + 22, y + 4, "the hand: now");
    x += 122;
    svg_arrow(svg, SVG_FALL, film_frame_thickness(1), x, y, x + 22, y);
    svg_text(svg, SVG_INK SVG_SMALL, "start", x + 28, y + 4,
             "fell since the frame before");
    x += 208;
    svg_circle(svg, SVG_FALL, x + 8, y, 8, 0.25);
    svg_text(svg, SVG_INK SVG_SMALL, "start", x + 22, y + 4, "so many fired");
    x += 122;
    if (has_emptied(page)) {
        slot.x = x + 7;
        svg_open(svg, page->strip->class);
        svg_sector(svg, SVG_EMPTIED, slot, 0);
        svg_close(svg);
        svg_text(svg, SVG_INK SVG_SMALL, "start", x + 22, y + 4, "emptied");
        x += 90;
    }
    if (!has_refiled(page->strip))
        return;
    svg_arrow(svg, SVG_DIM, film_frame_thickness(1), x, y, x + 22, y);
    svg_text(svg, SVG_INK SVG_SMALL, "start", x + 28, y + 4,
             "armed or filed anew");
}

static void draw_groups(struct film_page *page, double y)
{
    for (uint32_t i = page->bottom; i < page->top; i++) {
        const struct film_level *level = &page->strip->face.levels[i];
        if (!is_grouped(level))
            continue;
        svg_text(&page->svg, SVG_DIM SVG_SMALL, "start", SVG_MARGIN, y + 4,
                 "level %u is drawn in %u groups of %s%u slots",
                 (unsigned)i + 1, (unsigned)level->cells,
                 level->size % level->cells != 0 ? "about " : "",
                 (unsigned)(level->size / level->cells));
        y += LEGEND_LINE;
    }
}

bool film_draw(const struct film_strip *strip, FILE *out)
{
    struct film_page page = {.strip = strip};
    find_rings(&page);
    struct layout l = lay_out(&page);
    double foot = HEAD + l.rows * l.frame_height + LEGEND_LINE * 0.8;

    svg_begin(&page.svg, out, l.width, l.height, strip->title);
    svg_heading(&page.svg, l.width, strip->title);
    film_frame_define(&page);
    for (uint32_t i = 0; i < strip->frame_count; i++)
        film_frame_draw(&page, &strip->frames[i], centre_of(&l, i));
    if (strip->frame_count > 0)
        draw_names(&page, &l);
    else
        svg_text(&page.svg, SVG_DIM, "start", SVG_MARGIN, HEAD + 40,
                 "nothing happens in this time");
    for (uint32_t i = 0; i < strip->frame_count; i++)
        draw_labels(&page, &l, i);
    draw_shades(&page, foot);
    draw_signs(&page, foot + LEGEND_LINE);
    draw_groups(&page, foot + 2 * LEGEND_LINE);
    return svg_end(&page.svg);
}
