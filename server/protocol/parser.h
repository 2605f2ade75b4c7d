/*
 * protocol/parser.h - from the bytes of a connection to commands.
 *
 * A parser reads bytes in pieces of any size, and returns events.  The events
 * depend on the bytes only, not on how they are split into pieces.  A parser
 * allocates nothing: it keeps an unfinished command line, and passes the bytes
 * of a body on as they arrive.
 *
 *     struct tkd_parser parser;
 *     tkd_parser_init(&parser, TKD_BODY_MAX_DEFAULT);
 *     ...
 *     while (size > 0) {
 *         struct tkd_event event;
 *         size_t used = tkd_parser_feed(&parser, data, size, &event);
 *         data += used;
 *         size -= used;
 *         handle(&event);
 *     }
 *
 * After TKD_EVENT_COMMAND with the verb TKD_PUT come TKD_EVENT_BODY, any number
 * of times, and one TKD_EVENT_BODY_END.
 *
 * Threads: a parser belongs to one thread at a time.
 */
#ifndef TKD_PROTOCOL_PARSER_H
#define TKD_PROTOCOL_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"

enum tkd_event_kind {
    TKD_EVENT_NONE,     /* all bytes are used; no other event is complete */
    TKD_EVENT_COMMAND,  /* a command line is complete */
    TKD_EVENT_BODY,     /* the next bytes of a body */
    TKD_EVENT_BODY_END, /* the body is complete */
    TKD_EVENT_REFUSED,  /* bytes that are no command; the connection goes on */
};

/* Why bytes are no command. */
enum tkd_refusal {
    TKD_REFUSED_FORMAT,  /* BAD_FORMAT */
    TKD_REFUSED_UNKNOWN, /* UNKNOWN_COMMAND */
    TKD_REFUSED_SIZE,    /* JOB_TOO_BIG; the parser has skipped the body */
};

/* An event.  Fields that an event's kind does not have are not set. */
struct tkd_event {
    enum tkd_event_kind kind;
    enum tkd_refusal refusal; /* TKD_EVENT_REFUSED */
    enum tkd_verb counted;    /* TKD_EVENT_REFUSED: the command that the
                                 statistics count all the same, or TKD_VERBS */
    bool has_crlf;            /* TKD_EVENT_BODY_END: CRLF follows the body */
    const char *bytes; /* TKD_EVENT_BODY: within the `data` that was fed */
    size_t size;
    struct tkd_command command; /* TKD_EVENT_COMMAND */
};

struct tkd_parser {
    /* private */
    uint32_t body_max;
    uint32_t line_length;
    uint64_t left; /* bytes to come of a body, of its CRLF, or to skip */
    uint8_t state;
    bool has_crlf;           /* the bytes read after a body begin a CRLF */
    char line[TKD_LINE_MAX]; /* the start of a line that is not complete */
};

/* Begin at the start of a command line.  Bodies longer than `body_max` bytes
 * are refused. */
void tkd_parser_init(struct tkd_parser *parser, uint32_t body_max);

/* Read bytes up to the end of the next event.  Returns how many were read: at
 * least one, if `size` is not 0. */
size_t tkd_parser_feed(struct tkd_parser *parser, const char *data, size_t size,
                       struct tkd_event *event);

#endif
