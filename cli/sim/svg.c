/*
 * svg.c - pictures for light pages and for dark ones.
 *
 * A class sets `color`, and the kind of shape says whether that is its line or
 * its area.  Numbers are written by hand, with a point whatever the locale, and
 * as short as a hundredth of a pixel allows.
 */
#include "svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* The colours of benchmarks/field/pens.py. */
static const char style[] =
    "<style>\n"
    "svg{font:12px sans-serif}\n"
    ".ink{color:#1f2328}.dim{color:#6b7178}.grid{color:#d8dee4}\n"
    ".wheel{color:#d55e00}.pool{color:#0072b2}\n"
    ".hand{color:#117733}.fall{color:#882255}.paper{color:#ffffff}\n"
    ".halo{paint-order:stroke;stroke:#ffffff;stroke-width:3px}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".ink{color:#e6edf3}.dim{color:#98a2ac}.grid{color:#30363d}\n"
    ".wheel{color:#ff8a3d}.pool{color:#58b0ff}\n"
    ".hand{color:#4cc38a}.fall{color:#e58fc0}.paper{color:#0d1117}\n"
    ".halo{stroke:#0d1117}}\n"
    "text,rect,path,polygon,circle{fill:currentColor}\n"
    "line{stroke:currentColor}\n"
    ".outline{fill:none;stroke:currentColor}.hand.outline{stroke-width:2px}\n"
    ".emptied{stroke-width:1.5px;stroke-dasharray:2.5 1.5}\n"
    ".emptied.outline{fill:currentColor;fill-opacity:.18}\n"
    ".bold{font-weight:bold}.small{font-size:11px}.tiny{font-size:7.5px}\n"
    "</style>\n";

static void put_number(struct svg *svg, double number)
{
    long long hundredths = llround(number * 100);
    long long size = hundredths < 0 ? -hundredths : hundredths;

    if (hundredths < 0)
        fputc('-', svg->out);
    if (size >= 100 || size == 0)
        fprintf(svg->out, "%lld", size / 100);
    if (size % 100 != 0)
        fprintf(svg->out, size % 10 != 0 ? ".%02lld" : ".%lld",
                size % 10 != 0 ? size % 100 : size % 100 / 10);
}

static void put_attribute(struct svg *svg, const char *name, double number)
{
    fprintf(svg->out, " %s=\"", name);
    put_number(svg, number);
    fputc('"', svg->out);
}

static void put_pair(struct svg *svg, const char *before,
                     struct svg_point point)
{
    fputs(before, svg->out);
    put_number(svg, point.x);
    fputc(' ', svg->out);
    put_number(svg, point.y);
}

/* How many bytes at `text` are a character of UTF-8 that XML allows; 0: none.
 * (Longer forms than needed and halves of UTF-16 are none.) */
static unsigned character_bytes(const unsigned char *text)
{
    unsigned bytes = text[0] < 0x80 ? 1 : text[0] < 0xE0 ? 2 : 3;
    if (text[0] >= 0xF0)
        bytes = 4;
    if (bytes == 1)
        return text[0] >= ' ' && text[0] != 0x7F;
    if (text[0] < 0xC2 || text[0] > 0xF4)
        return 0;
    for (unsigned i = 1; i < bytes; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    }
    bool is_long = (text[0] == 0xE0 && text[1] < 0xA0) ||
                   (text[0] == 0xF0 && text[1] < 0x90);
    bool is_beyond = (text[0] == 0xED && text[1] > 0x9F) ||
                     (text[0] == 0xF4 && text[1] > 0x8F);
    bool is_none = text[0] == 0xEF && text[1] == 0xBF && text[2] >= 0xBE;
    return is_long || is_beyond || is_none ? 0 : bytes;
}

/* A title may have come from the name of a file, which can be anything. */
static void put_text(struct svg *svg, const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    while (*c != '\0') {
        unsigned bytes = character_bytes(c);
        if (*c == '&')
            fputs("&amp;", svg->out);
        else if (*c == '<')
            fputs("&lt;", svg->out);
        else if (*c == '>')
            fputs("&gt;", svg->out);
        else if (bytes == 0)
            fputc('?', svg->out);
        else
            fwrite(c, 1, bytes, svg->out);
        c += bytes > 0 ? bytes : 1;
    }
}

static void put_class(struct svg *svg, const char *class)
{
    if (class != NULL)
        fprintf(svg->out, " class=\"%s\"", class);
}

/* The class of an area of this shade, and the shade. */
static void put_shade(struct svg *svg, const char *class, double shade)
{
    if (shade > 0) {
        put_class(svg, class);
        if (shade < 1)
            put_attribute(svg, "fill-opacity", shade);
    } else {
        fprintf(svg->out, " class=\"%s%soutline\"", class != NULL ? class : "",
                class != NULL ? " " : "");
    }
}

void svg_begin(struct svg *svg, FILE *out, double width, double height,
               const char *title)
{
    svg->out = out;
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"", out);
    put_attribute(svg, "width", width);
    put_attribute(svg, "height", height);
    put_pair(svg, " viewBox=\"0 0 ", (struct svg_point){width, height});
    fputs("\">\n<title>", out);
    put_text(svg, title);
    fprintf(out, "</title>\n%s", style);
    svg_rect(svg, "paper", 0, 0, width, height);
}

bool svg_end(struct svg *svg)
{
    fputs("</svg>\n", svg->out);
    return fflush(svg->out) == 0 && ferror(svg->out) == 0;
}

void svg_open(struct svg *svg, const char *class)
{
    fprintf(svg->out, "<g class=\"%s\">\n", class);
}

void svg_close(struct svg *svg)
{
    fputs("</g>\n", svg->out);
}

void svg_define(struct svg *svg, const char *name)
{
    fprintf(svg->out, "<defs><g id=\"%s\">\n", name);
}

void svg_define_end(struct svg *svg)
{
    fputs("</g></defs>\n", svg->out);
}

void svg_use(struct svg *svg, const char *name, double x, double y)
{
    fprintf(svg->out, "<use href=\"#%s\"", name);
    put_attribute(svg, "x", x);
    put_attribute(svg, "y", y);
    fputs("/>\n", svg->out);
}

void svg_line(struct svg *svg, const char *class, double x1, double y1,
              double x2, double y2)
{
    fputs("<line", svg->out);
    put_class(svg, class);
    put_attribute(svg, "x1", x1);
    put_attribute(svg, "y1", y1);
    put_attribute(svg, "x2", x2);
    put_attribute(svg, "y2", y2);
    fputs("/>\n", svg->out);
}

void svg_rect(struct svg *svg, const char *class, double x, double y,
              double width, double height)
{
    fputs("<rect", svg->out);
    put_class(svg, class);
    put_attribute(svg, "x", x);
    put_attribute(svg, "y", y);
    put_attribute(svg, "width", width);
    put_attribute(svg, "height", height);
    fputs("/>\n", svg->out);
}

void svg_polygon(struct svg *svg, const char *class,
                 const struct svg_point *points, size_t count)
{
    fputs("<polygon", svg->out);
    put_class(svg, class);
    for (size_t i = 0; i < count; i++)
        put_pair(svg, i == 0 ? " points=\"" : " ", points[i]);
    fputs("\"/>\n", svg->out);
}

struct svg_point svg_on_circle(double x, double y, double radius, double turn)
{
    const double circle = 6.28318530717958648;
    return (struct svg_point){x + radius * sin(turn * circle),
                              y - radius * cos(turn * circle)};
}

static void put_arc(struct svg *svg, double radius, bool is_large,
                    bool is_clockwise, struct svg_point to)
{
    put_pair(svg, "A", (struct svg_point){radius, radius});
    fprintf(svg->out, " 0 %d %d", is_large, is_clockwise);
    put_pair(svg, " ", to);
}

void svg_sector(struct svg *svg, const char *class, struct svg_sector s,
                double shade)
{
    /* An arc that ends where it begins is none. */
    double to = s.to - s.from < 0.9999 ? s.to : s.from + 0.9999;
    bool is_large = to - s.from > 0.5;

    fputs("<path", svg->out);
    put_shade(svg, class, shade);
    put_pair(svg, " d=\"M", svg_on_circle(s.x, s.y, s.outer, s.from));
    put_arc(svg, s.outer, is_large, true, svg_on_circle(s.x, s.y, s.outer, to));
    put_pair(svg, "L", svg_on_circle(s.x, s.y, s.inner, to));
    put_arc(svg, s.inner, is_large, false,
            svg_on_circle(s.x, s.y, s.inner, s.from));
    fputs("Z\"/>\n", svg->out);
}

void svg_circle(struct svg *svg, const char *class, double x, double y,
                double radius, double shade)
{
    fputs("<circle", svg->out);
    put_shade(svg, class, shade);
    put_attribute(svg, "cx", x);
    put_attribute(svg, "cy", y);
    put_attribute(svg, "r", radius);
    fputs("/>\n", svg->out);
}

/* One shape for shaft and head, the tip at (x2, y2). */
void svg_arrow(struct svg *svg, const char *class, double width, double x1,
               double y1, double x2, double y2)
{
    double length = hypot(x2 - x1, y2 - y1);
    if (length < 0.01)
        return;
    double head = 4 + width * 1.5, half = width / 2;
    head = head < length ? head : length;
    double shaft = (length - head) / length;
    double dx = (x2 - x1) / length, dy = (y2 - y1) / length;
    double wing = head * 0.5 > half ? head * 0.5 : half;
    struct svg_point neck = {x1 + (x2 - x1) * shaft, y1 + (y2 - y1) * shaft};

    svg_polygon(svg, class,
                (struct svg_point[]){
                    {x1 - dy * half, y1 + dx * half},
                    {neck.x - dy * half, neck.y + dx * half},
                    {neck.x - dy * wing, neck.y + dx * wing},
                    {x2, y2},
                    {neck.x + dy * wing, neck.y - dx * wing},
                    {neck.x + dy * half, neck.y - dx * half},
                    {x1 + dy * half, y1 - dx * half},
                },
                7);
}

void svg_text(struct svg *svg, const char *class, const char *anchor, double x,
              double y, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    /* clang-tidy 14 forgets va_start() where it is given several files. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    fputs("<text", svg->out);
    put_class(svg, class);
    put_attribute(svg, "x", x);
    put_attribute(svg, "y", y);
    fprintf(svg->out, " text-anchor=\"%s\">", anchor);
    put_text(svg, text);
    fputs("</text>\n", svg->out);
}

struct svg_name svg_cut(const char *name, size_t letters_max)
{
    static const char more[] = "...";
    struct svg_name cut;
    if (letters_max > sizeof cut.text - 1)
        letters_max = sizeof cut.text - 1;
    bool fits = strlen(name) <= letters_max;
    snprintf(cut.text, sizeof cut.text, "%.*s%s",
             (int)(fits ? letters_max : letters_max - strlen(more)), name,
             fits ? "" : more);
    return cut;
}

void svg_heading(struct svg *svg, double width, const char *title)
{
    double room = (width - 2 * SVG_MARGIN) / SVG_LETTER_BOLD;
    svg_text(svg, SVG_INK SVG_BOLD, "start", SVG_MARGIN, 24, "%s",
             svg_cut(title, (size_t)room).text);
}
