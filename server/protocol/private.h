/*
 * protocol/private.h - what the files of the parser share.
 */
#ifndef TKD_PROTOCOL_PRIVATE_H
#define TKD_PROTOCOL_PRIVATE_H

#include "parser.h"

/* Make `event` a refusal.  Always returns false, so that callers can tail-call
 * it. */
static inline bool refuse(struct tkd_event *event, enum tkd_refusal refusal,
                          enum tkd_verb counted)
{
    event->kind = TKD_EVENT_REFUSED;
    event->refusal = refusal;
    event->counted = counted;
    return false;
}

/*
 * Parse a line, without its CRLF.  `event` becomes TKD_EVENT_COMMAND or
 * TKD_EVENT_REFUSED.  Returns whether a body follows the line, of
 * `event->command.bytes` bytes.  A body follows a put that is accepted, and a
 * put that is refused with TKD_REFUSED_SIZE.
 */
bool tkd__line_parse(const char *line, size_t length, uint32_t body_max,
                     struct tkd_event *event);

#endif
