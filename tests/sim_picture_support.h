/*
 * sim_picture_support.h - reading pictures: is it XML, what is on it, is all of
 * it on the page.
 *
 * This reads what svg.c writes, not all that SVG can be.
 */
#ifndef SIM_PICTURE_SUPPORT_H
#define SIM_PICTURE_SUPPORT_H

#include "support.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "../tools/sim/svg.h"

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

/* Text has no size of its own: take letters for as wide as they can be. */
static inline void stretch_text(struct extent *extent, const char *tag)
{
    const char *begin = strchr(tag, '>') + 1;
    double letter = SVG_LETTER;
    const char *small = strstr(tag, SVG_SMALL);
    if (small != NULL && small < begin)
        letter = SVG_LETTER_SMALL;
    double width = letter * (double)(strchr(begin, '<') - begin);
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

#endif
