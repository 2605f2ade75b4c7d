/*
 * protocol/parser.c - reading commands.
 *
 * A parser is in one of five states.  Each state reads the bytes up to its end:
 *
 *          224 bytes without CRLF             CRLF: refused
 *     LINE ----------------------> LONG_LINE ---------------> LINE
 *       |
 *       |  put, a size up to body_max         2 bytes: CRLF or not
 *       +---------------------> BODY -> BODY_END -------------> LINE
 *       |
 *       |  put, a larger size       size + 2 bytes: refused
 *       +---------------------> SKIP ----------------------> LINE
 *
 * The parser copies a line only if the line continues in the next piece.
 * Otherwise it parses the line within the caller's bytes.
 *
 * line.c parses lines.  This file finds their ends.  It differs from beanstalkd
 * 1.12 in two cases, because beanstalkd has bugs there:
 *
 * - After a CR without LF, beanstalkd finds no CRLF in the first 224 bytes of
 *   the line.  To this parser a CR alone is a byte like others.
 * - In a line of more than 224 bytes, beanstalkd misses a CRLF whose CR is the
 *   last of 224 bytes.  This parser finds every CRLF.
 */
#include "parser.h"

#include <string.h>

#include "private.h"

enum state { LINE, LONG_LINE, BODY, BODY_END, SKIP };

static size_t least(size_t size, uint64_t limit)
{
    return size < limit ? size : (size_t)limit;
}

static void start_line(struct tkd_parser *parser)
{
    parser->state = LINE;
    parser->line_length = 0;
}

static void start_body_end(struct tkd_parser *parser)
{
    parser->state = BODY_END;
    parser->left = 2;
    parser->has_crlf = true;
}

static void start_body(struct tkd_parser *parser, uint32_t bytes)
{
    parser->state = BODY;
    parser->left = bytes;
    if (bytes == 0)
        start_body_end(parser);
}

static void start_skip(struct tkd_parser *parser, uint32_t bytes)
{
    parser->state = SKIP;
    parser->left = (uint64_t)bytes + 2;
}

/* Parse a line, without its CRLF, and enter the state after it. */
static void end_line(struct tkd_parser *parser, const char *line, size_t length,
                     struct tkd_event *event)
{
    start_line(parser);
    if (!tkd__line_parse(line, length, parser->body_max, event))
        return;
    if (event->kind == TKD_EVENT_COMMAND) {
        start_body(parser, event->command.bytes);
    } else {
        event->kind = TKD_EVENT_NONE; /* until the body is skipped */
        start_skip(parser, event->command.bytes);
    }
}

/* Return the number of bytes up to and including the first CRLF, or 0 if `data`
 * has none.  The CR may be the last byte of the previous piece. */
static size_t find_crlf(const struct tkd_parser *parser, const char *data,
                        size_t size)
{
    uint32_t kept = parser->line_length;
    char before = kept > 0 ? parser->line[kept - 1] : '\0';
    size_t at = 0;
    for (const char *lf; at < size; at = (size_t)(lf - data) + 1) {
        lf = memchr(data + at, '\n', size - at);
        if (lf == NULL)
            return 0;
        if ((lf == data ? before : lf[-1]) == '\r')
            return (size_t)(lf - data) + 1;
    }
    return 0;
}

static void keep(struct tkd_parser *parser, const char *data, size_t size)
{
    memcpy(parser->line + parser->line_length, data, size);
    parser->line_length += (uint32_t)size;
}

static size_t feed_line(struct tkd_parser *parser, const char *data,
                        size_t size, struct tkd_event *event)
{
    size_t most = least(size, TKD_LINE_MAX - parser->line_length);
    size_t used = find_crlf(parser, data, most);
    if (used == 0) {
        keep(parser, data, most);
        if (parser->line_length == TKD_LINE_MAX)
            parser->state = LONG_LINE;
        return most;
    }
    if (parser->line_length == 0) {
        end_line(parser, data, used - 2, event);
    } else {
        keep(parser, data, used);
        end_line(parser, parser->line, parser->line_length - 2, event);
    }
    return used;
}

/* Discard a line up to its CRLF.  For find_crlf(), the last byte of
 * `parser->line` is always the last discarded byte. */
static size_t feed_long_line(struct tkd_parser *parser, const char *data,
                             size_t size, struct tkd_event *event)
{
    size_t used = find_crlf(parser, data, size);
    if (used == 0) {
        parser->line[TKD_LINE_MAX - 1] = data[size - 1];
        return size;
    }
    start_line(parser);
    refuse(event, TKD_REFUSED_FORMAT, TKD_VERBS);
    return used;
}

static size_t feed_body(struct tkd_parser *parser, const char *data,
                        size_t size, struct tkd_event *event)
{
    size_t used = least(size, parser->left);
    event->kind = TKD_EVENT_BODY;
    event->bytes = data;
    event->size = used;
    parser->left -= used;
    if (parser->left == 0)
        start_body_end(parser);
    return used;
}

static size_t feed_body_end(struct tkd_parser *parser, const char *data,
                            struct tkd_event *event)
{
    char expected = parser->left == 2 ? '\r' : '\n';
    parser->has_crlf = parser->has_crlf && *data == expected;
    parser->left--;
    if (parser->left == 0) {
        start_line(parser);
        event->kind = TKD_EVENT_BODY_END;
        event->has_crlf = parser->has_crlf;
    }
    return 1;
}

static size_t feed_skip(struct tkd_parser *parser, size_t size,
                        struct tkd_event *event)
{
    size_t used = least(size, parser->left);
    parser->left -= used;
    if (parser->left == 0) {
        start_line(parser);
        refuse(event, TKD_REFUSED_SIZE, TKD_PUT);
    }
    return used;
}

/* Read one or more bytes in the current state. */
static size_t feed_state(struct tkd_parser *parser, const char *data,
                         size_t size, struct tkd_event *event)
{
    switch ((enum state)parser->state) {
    case LINE:
        return feed_line(parser, data, size, event);
    case LONG_LINE:
        return feed_long_line(parser, data, size, event);
    case BODY:
        return feed_body(parser, data, size, event);
    case BODY_END:
        return feed_body_end(parser, data, event);
    case SKIP:
        break;
    }
    return feed_skip(parser, size, event);
}

void tkd_parser_init(struct tkd_parser *parser, uint32_t body_max)
{
    parser->body_max = body_max;
    start_line(parser);
}

size_t tkd_parser_feed(struct tkd_parser *parser, const char *data, size_t size,
                       struct tkd_event *event)
{
    size_t used = 0;
    event->kind = TKD_EVENT_NONE;
    while (used < size && event->kind == TKD_EVENT_NONE)
        used += feed_state(parser, data + used, size - used, event);
    return used;
}
