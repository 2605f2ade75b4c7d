/*
 * cli/sim/picture_support.h - reading pictures: is it XML, what is on it, is
 * all of it on the page.
 *
 * This reads what svg.c writes, not all that SVG can be.
 */
#ifndef TESTS_CLI_SIM_PICTURE_SUPPORT_H
#define TESTS_CLI_SIM_PICTURE_SUPPORT_H

#include "support/core.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/sim/svg.h"

/* All of a file, from its beginning; to be freed. */
static inline char *text_of(FILE *file)
{
    long length = ftell(file);
    assert_true(length > 0);
    char *text = malloc((size_t)length + 1);
    assert_non_null(text);
    rewind(file);
    assert_int_equal(fread(text, 1, (size_t)length, file), length);
    text[length] = '\0';
    fclose(file);
    return text;
}

static inline unsigned count_of(const char *text, const char *what)
{
    unsigned count = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        count++;
    return count;
}

static inline void assert_has(const char *picture, const char *what)
{
    if (strstr(picture, what) == NULL)
        fail_msg("there is no '%s' in %s", what, picture);
}

static inline void assert_lacks(const char *picture, const char *what)
{
    if (strstr(picture, what) != NULL)
        fail_msg("there is '%s' in %s", what, picture);
}

/* The value of an attribute of the tag at `tag`, or NULL. */
static inline const char *attribute_text(const char *tag, const char *name)
{
    char key[40];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *found = strstr(tag, key), *end = strchr(tag, '>');
    if (found == NULL || end == NULL || found > end)
        return NULL;
    return found + strlen(key);
}

static inline bool has_attribute(const char *tag, const char *name)
{
    return attribute_text(tag, name) != NULL;
}

/* The same as a number; fails if there is none. */
static inline double attribute(const char *tag, const char *name)
{
    const char *text = attribute_text(tag, name);
    if (text == NULL) {
        fail_msg("no %s in %.60s", name, tag);
        return 0;
    }
    return strtod(text, NULL);
}

/* The n-th point of a polygon. */
static inline struct svg_point corner(const char *polygon, unsigned number)
{
    struct svg_point point = {0};
    const char *c = strstr(polygon, "points=\"") + 8;
    for (unsigned i = 0; i <= number; i++) {
        char *next;
        point.x = strtod(c, &next);
        point.y = strtod(next, &next);
        c = next;
    }
    return point;
}

/* Tags are closed in order, and text has no signs that belong to XML. */
static inline void assert_is_xml(const char *text)
{
    char open[32][16];
    unsigned depth = 0;
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        assert_true(byte >= ' ' || byte == '\n');
        assert_true(*c != '>');
        if (*c == '&')
            assert_true(strncmp(c, "&amp;", 5) == 0 ||
                        strncmp(c, "&lt;", 4) == 0 ||
                        strncmp(c, "&gt;", 4) == 0);
        if (*c != '<')
            continue;
        const char *end = strchr(c, '>');
        assert_non_null(end);
        char name[16] = "";
        sscanf(c + 1 + (c[1] == '/'), "%15[a-z]", name);
        assert_true(strlen(name) > 0);
        if (c[1] == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/') {
            assert_true(depth < COUNT_OF(open));
            memcpy(open[depth++], name, sizeof name);
        }
        c = end;
    }
    assert_int_equal(depth, 0);
}

/* What a picture, or a part of it, takes up. */
struct extent {
    double left, right, top, bottom;
};

static inline void stretch(struct extent *extent, double x, double y)
{
    assert_true(isfinite(x) && isfinite(y));
    extent->left = fmin(extent->left, x);
    extent->right = fmax(extent->right, x);
    extent->top = fmin(extent->top, y);
    extent->bottom = fmax(extent->bottom, y);
}

/* Whether the tag at `tag` has a class, with the blank before it. */
static inline bool has_class(const char *tag, const char *class)
{
    const char *found = strstr(tag, class);
    return found != NULL && found < strchr(tag, '>');
}

/* Text has no size of its own: take letters for as wide as they can be. */
static inline double letter_width(const char *tag)
{
    if (has_class(tag, SVG_TINY))
        return SVG_LETTER_SMALL * 7.5 / 11;
    if (has_class(tag, SVG_SMALL))
        return has_class(tag, SVG_BOLD) ? SVG_LETTER_SMALL_BOLD
                                        : SVG_LETTER_SMALL;
    return has_class(tag, SVG_BOLD) ? SVG_LETTER_BOLD : SVG_LETTER;
}

static inline void stretch_text(struct extent *extent, const char *tag)
{
    const char *begin = strchr(tag, '>') + 1;
    double width = 0;
    for (const char *c = begin; *c != '<'; c++) {
        width += letter_width(tag);
        if (*c == '&')
            c = strchr(c, ';'); /* of "&amp;", which is one letter */
    }
    double x = attribute(tag, "x"), y = attribute(tag, "y");
    if (strncmp(begin - 8, "middle", 6) == 0)
        x -= width / 2;
    else if (strncmp(begin - 5, "end", 3) == 0)
        x -= width;
    stretch(extent, x, y);
    stretch(extent, x + width, y - 10);
}

/* Pairs of numbers, as points and paths have them.  (Of an arc the radii are
 * skipped, and its flags.) */
static inline void stretch_pairs(struct extent *extent, const char *c)
{
    while (*c != '"') {
        char *next;
        unsigned skip = *c == 'A' ? 5 : 0;
        c += isupper((unsigned char)*c) || *c == ' ';
        if (*c == '"')
            break;
        for (; skip > 0; skip--)
            c = (strtod(c, &next), next);
        double x = strtod(c, &next);
        assert_ptr_not_equal(c, next);
        double y = strtod(next, &next);
        stretch(extent, x, y);
        c = next;
    }
}

static inline void stretch_tag(struct extent *extent, const char *tag)
{
    if (strncmp(tag, "<text", 5) == 0) {
        stretch_text(extent, tag);
    } else if (has_attribute(tag, "points")) {
        stretch_pairs(extent, attribute_text(tag, "points"));
    } else if (has_attribute(tag, "d")) {
        stretch_pairs(extent, attribute_text(tag, "d"));
    } else if (has_attribute(tag, "cx")) {
        double r = attribute(tag, "r");
        stretch(extent, attribute(tag, "cx") - r, attribute(tag, "cy") - r);
        stretch(extent, attribute(tag, "cx") + r, attribute(tag, "cy") + r);
    } else if (has_attribute(tag, "x1")) {
        stretch(extent, attribute(tag, "x1"), attribute(tag, "y1"));
        stretch(extent, attribute(tag, "x2"), attribute(tag, "y2"));
    } else if (strncmp(tag, "<rect", 5) == 0) {
        double x = attribute(tag, "x"), y = attribute(tag, "y");
        stretch(extent, x, y);
        stretch(extent, x + attribute(tag, "width"),
                y + attribute(tag, "height"));
    }
}

static inline struct extent extent_of(const char *begin, const char *end)
{
    struct extent extent = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (const char *tag = begin; (tag = strchr(tag, '<')) != NULL; tag++) {
        if (tag >= end)
            break;
        stretch_tag(&extent, tag);
    }
    return extent;
}

/* Everything is on the page, the dial wherever it is used, too. */
static inline void assert_is_in_view(const char *picture)
{
    const char *svg = strstr(picture, "<svg");
    double width = attribute(svg, "width"), height = attribute(svg, "height");
    const char *defs = strstr(picture, "<defs>");
    const char *body = strstr(picture, "</style>");
    const char *end = picture + strlen(picture);
    struct extent all = extent_of(body, defs != NULL ? defs : end);

    if (defs != NULL) {
        body = strstr(defs, "</defs>");
        struct extent dial = extent_of(defs, body);
        struct extent rest = extent_of(body, end);
        stretch(&all, rest.left, rest.top);
        stretch(&all, rest.right, rest.bottom);
        for (const char *use = body; (use = strstr(use, "<use")) != NULL;
             use++) {
            double x = attribute(use, "x"), y = attribute(use, "y");
            stretch(&all, x + dial.left, y + dial.top);
            stretch(&all, x + dial.right, y + dial.bottom);
        }
    }
    if (all.left < 0 || all.top < 0 || all.right > width || all.bottom > height)
        fail_msg("%g to %g and %g to %g are not all in %g x %g", all.left,
                 all.right, all.top, all.bottom, width, height);
}

/* The next text from here on, and what it takes up; NULL: there is none. */
static inline const char *next_text(const char *from, struct extent *extent)
{
    const char *tag = strstr(from, "<text");
    *extent = (struct extent){INFINITY, -INFINITY, INFINITY, -INFINITY};
    if (tag != NULL)
        stretch_text(extent, tag);
    return tag;
}

/* Whether two texts touch, what hangs below a line included. */
static inline bool touches(const struct extent *a, const struct extent *b)
{
    return a->left < b->right && b->left < a->right &&
           a->top < b->bottom + 1.5 && b->top < a->bottom + 1.5;
}

/* A text, and what it takes up. */
struct written {
    const char *tag;
    struct extent extent;
};

/* The last of these lies on none of those before. */
static inline void assert_last_is_apart(const struct written *texts,
                                        size_t last)
{
    for (size_t i = 0; i < last; i++) {
        if (touches(&texts[i].extent, &texts[last].extent))
            fail_msg("%.100s lies on %.100s", texts[i].tag, texts[last].tag);
    }
}

/* No text lies on another: a caption on a label, a label on the next one.  What
 * is defined, the numbers of slots, is none of them. */
static inline void assert_texts_are_apart(const char *picture)
{
    static struct written texts[2000];
    const char *defs = strstr(picture, "<defs>"), *tag = picture;
    size_t count = 0;
    while ((tag = next_text(tag + 1, &texts[count].extent)) != NULL) {
        if (defs != NULL && tag > defs && tag < strstr(defs, "</defs>"))
            continue;
        texts[count].tag = tag;
        assert_last_is_apart(texts, count);
        assert_true(++count < COUNT_OF(texts));
    }
    assert_true(count > 0);
}

#endif
