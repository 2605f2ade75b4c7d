/*
 * film_labels.c - deadlines, written beside the slots they wait in.
 */
#include "film_labels.h"

#include "../words.h"

#include <math.h>
#include <string.h>

enum {
    GAP = 6,        /* between a slot and its label */
    ASIDE_MAX = 20, /* that a label is moved out for being wide */
    ASCENT = 9,     /* of its letters above its foot ... */
    DESCENT = 2,    /* ... and below */
    LINE = 12,
    SLOT = 8,   /* half of what is kept free of a slot that has a label ... */
    NUMBER = 4, /* ... and of the number of any ... */
    NUMBERS_AVOIDED = 18, /* ... if that is no farther away */
    LETTERS_MAX = 7,      /* of a deadline that is written beside its slot */
};

/* Placed relative to the centre of the dial. */
struct label {
    struct words text;
    struct svg_point foot; /* the middle of its lower edge */
    double half;           /* of its width */
    struct svg_point slot; /* the middle of that */
};

static const struct svg_point origin = {0, 0};

/* Some deadline of the film is too long. */
static bool has_key(const struct film_page *page)
{
    const struct film_strip *strip = page->strip;
    for (uint32_t i = 0; i < strip->frame_count; i++) {
        const struct film_frame *frame = &strip->frames[i];
        for (unsigned j = 0; j < frame->mark_count; j++) {
            struct words text = words_count(frame->marks[j].deadline);
            if (strlen(text.text) > LETTERS_MAX)
                return true;
        }
    }
    return false;
}

/* a to z, then ba, bb and so on. */
static struct words letter_of(const struct film_mark *mark)
{
    struct words words = {""};
    size_t length = 0;
    if (mark->key >= 26)
        words.text[length++] = (char)('a' + mark->key / 26 % 26);
    words.text[length] = (char)('a' + mark->key % 26);
    return words;
}

static struct label label_of(const struct film_page *page,
                             const struct film_mark *mark, bool is_letter)
{
    struct svg_sector s = film_frame_sector(page, origin, mark->cell);
    double turn = (s.from + s.to) / 2;
    struct label label = {
        .text = is_letter ? letter_of(mark) : words_count(mark->deadline),
        .slot = svg_on_circle(0, 0, (s.inner + s.outer) / 2, turn),
    };
    label.half = SVG_LETTER_SMALL_BOLD * (double)strlen(label.text.text) / 2;
    double aside = fmin(label.half, ASIDE_MAX) * fabs(sin(turn * 6.2832));
    double room = fmax(FRAME_WIDTH / 2.0 - label.half, 0);

    label.foot = svg_on_circle(0, 0, s.outer + GAP + aside, turn);
    label.foot.x = fmax(-room, fmin(room, label.foot.x));
    label.foot.y += 4;
    return label;
}

static bool touches_label(const struct label *a, const struct label *b)
{
    return fabs(a->foot.x - b->foot.x) < a->half + b->half + 2 &&
           fabs(a->foot.y - b->foot.y) < LINE;
}

/* A square around a point, of so much to each side. */
static bool touches_square(const struct label *a, struct svg_point point,
                           double side)
{
    return fabs(a->foot.x - point.x) < a->half + side &&
           a->foot.y - ASCENT < point.y + side &&
           a->foot.y + DESCENT > point.y - side;
}

static bool touches_number(const struct film_page *page, const struct label *a)
{
    for (uint32_t i = page->bottom; i < page->top; i++) {
        uint32_t cells = page->strip->face.levels[i].cells;
        uint32_t stride = film_frame_number_stride(page, i);
        for (uint32_t j = 0; stride > 0 && j < cells; j += stride) {
            struct svg_point at = svg_on_circle(
                0, 0, film_frame_radius(page, i), (j + 0.5) / cells);
            if (touches_square(a, at, NUMBER))
                return true;
        }
    }
    return false;
}

/* Whether a label may stay where it is: `placed` are before it. */
static bool is_free(const struct label *labels, unsigned count, unsigned placed)
{
    for (unsigned i = 0; i < count; i++) {
        if (touches_square(&labels[placed], labels[i].slot, SLOT) ||
            (i < placed && touches_label(&labels[placed], &labels[i])))
            return false;
    }
    return true;
}

/* Move a label to the next place that is free: off the numbers of slots, too,
 * unless that is too far away. */
static void move(const struct film_page *page, struct label *labels,
                 unsigned count, unsigned which)
{
    struct label *label = &labels[which];
    double away = label->slot.y < 0 ? -1 : 1, ideal = label->foot.y;
    for (int i = 0; i <= NUMBERS_AVOIDED; i++) {
        label->foot.y = ideal + away * i;
        if (is_free(labels, count, which) && !touches_number(page, label))
            return;
    }
    label->foot.y = ideal;
    while (!is_free(labels, count, which))
        label->foot.y += away;
}

/* Returns how many there are. */
static unsigned place(const struct film_page *page,
                      const struct film_frame *frame,
                      struct label labels[FILM_MARKS_MAX])
{
    unsigned count = 0;
    bool is_letter = has_key(page);
    for (unsigned i = 0; i < frame->mark_count; i++) {
        if (film_frame_has(page, frame->marks[i].cell))
            labels[count++] = label_of(page, &frame->marks[i], is_letter);
    }
    for (unsigned i = 0; i < count; i++)
        move(page, labels, count, i);
    return count;
}

struct film_margins film_labels_margins(const struct film_page *page)
{
    const struct film_strip *strip = page->strip;
    struct film_margins margins = {0, 0};
    struct label labels[FILM_MARKS_MAX];
    for (uint32_t i = 0; i < strip->frame_count; i++) {
        unsigned count = place(page, &strip->frames[i], labels);
        for (unsigned j = 0; j < count; j++) {
            double y = labels[j].foot.y;
            margins.above = fmax(margins.above, ASCENT - y - FRAME_RADIUS);
            margins.below = fmax(margins.below, y + DESCENT - FRAME_RADIUS);
        }
    }
    return margins;
}

void film_labels_draw(struct film_page *page, const struct film_frame *frame,
                      struct svg_point centre)
{
    struct label labels[FILM_MARKS_MAX];
    unsigned count = place(page, frame, labels);
    if (count == 0)
        return;
    svg_open(&page->svg, "labels");
    for (unsigned i = 0; i < count; i++)
        svg_text(&page->svg, SVG_INK SVG_SMALL SVG_BOLD SVG_HALO, "middle",
                 centre.x + labels[i].foot.x, centre.y + labels[i].foot.y, "%s",
                 labels[i].text.text);
    svg_close(&page->svg);
}

unsigned film_labels_key_lines(const struct film_page *page,
                               const struct film_frame *frame)
{
    unsigned lines = 0;
    if (!has_key(page))
        return 0;
    for (unsigned i = 0; i < frame->mark_count; i++)
        lines += film_frame_has(page, frame->marks[i].cell);
    return lines;
}

void film_labels_draw_key(struct film_page *page,
                          const struct film_frame *frame, struct svg_point at)
{
    if (!has_key(page))
        return;
    for (unsigned i = 0; i < frame->mark_count; i++) {
        const struct film_mark *mark = &frame->marks[i];
        if (!film_frame_has(page, mark->cell))
            continue;
        svg_text(&page->svg, SVG_INK SVG_SMALL SVG_BOLD, "middle", at.x, at.y,
                 "%s: %s", letter_of(mark).text,
                 words_count(mark->deadline).text);
        at.y += FRAME_LINE;
    }
}
