/*
 * protocol/reply.h - from replies to bytes.
 *
 * A reply is a line.  After some lines comes a body: that of a job, or YAML.
 * The caller sends the body and a CRLF after the line.
 */
#ifndef TKD_PROTOCOL_REPLY_H
#define TKD_PROTOCOL_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "command.h"

enum tkd_reply_kind {
    TKD_REPLY_INSERTED, /* id */
    TKD_REPLY_USING,    /* tube */
    TKD_REPLY_RESERVED, /* id, number: bytes; a body follows */
    TKD_REPLY_FOUND,    /* id, number: bytes; a body follows */
    TKD_REPLY_OK,       /* number: bytes; a body follows */
    TKD_REPLY_WATCHING, /* number */
    TKD_REPLY_KICKED,   /* number */
    TKD_REPLY_KICKED_JOB,
    TKD_REPLY_DEADLINE_SOON,
    TKD_REPLY_TIMED_OUT,
    TKD_REPLY_DELETED,
    TKD_REPLY_RELEASED,
    TKD_REPLY_BURIED,
    TKD_REPLY_TOUCHED,
    TKD_REPLY_NOT_FOUND,
    TKD_REPLY_NOT_IGNORED,
    TKD_REPLY_PAUSED,
    TKD_REPLY_DRAINING,
    TKD_REPLY_EXPECTED_CRLF,
    TKD_REPLY_JOB_TOO_BIG,
    TKD_REPLY_BAD_FORMAT,
    TKD_REPLY_UNKNOWN_COMMAND,
    TKD_REPLY_OUT_OF_MEMORY,
    TKD_REPLY_INTERNAL_ERROR,
    TKD_REPLY_KINDS
};

struct tkd_reply {
    enum tkd_reply_kind kind;
    uint64_t id;
    uint64_t number;
    const char *tube; /* not ended by a 0 */
    uint8_t tube_length;
};

/* The longest line, with its CRLF. */
enum { TKD_REPLY_LINE_MAX = TKD_TUBE_MAX + 32 };

/* Write the line of a reply, with its CRLF and without a 0.  Returns its
 * length. */
size_t tkd_reply_format(const struct tkd_reply *reply,
                        char line[TKD_REPLY_LINE_MAX]);

#endif
