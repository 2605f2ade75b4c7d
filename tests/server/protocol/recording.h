/*
 * server/protocol/recording.h - the events of a parser, as a list that tests
 * can compare.
 *
 * A recording feeds a stream of bytes to a new parser, in pieces.  Each piece
 * is a copy of its own on the heap, so that a sanitizer reports a parser that
 * reads past the piece.  Adjacent TKD_EVENT_BODY are merged into one, and
 * TKD_EVENT_NONE is left out, so that equal streams have equal recordings.
 */
#ifndef TESTS_SERVER_PROTOCOL_RECORDING_H
#define TESTS_SERVER_PROTOCOL_RECORDING_H

#include <protocol/parser.h>

struct recorded {
    enum tkd_event_kind kind;
    enum tkd_refusal refusal;
    enum tkd_verb counted;
    bool has_crlf;
    size_t body_size;
    size_t end; /* the bytes of the stream up to the end of the event */
    struct tkd_command command;
};

struct recording {
    struct recorded *events;
    size_t count;
    const char *fault; /* a broken promise of the parser, or NULL */
};

/* Return the size of the next piece, of 1 to `left` bytes. */
typedef size_t cut_function(void *context, size_t left);

/* Feed `stream` in pieces.  The caller frees the recording by
 * recording_close(). */
struct recording record_cut(const char *stream, size_t size, uint32_t body_max,
                            cut_function *cut, void *context);

/* Like record_cut(), but feed the stream in one piece. */
struct recording record_whole(const char *stream, size_t size,
                              uint32_t body_max);

/* Like record_cut(), but feed each byte alone. */
struct recording record_bytes(const char *stream, size_t size,
                              uint32_t body_max);

/* Like record_cut(), but feed the first `at` bytes, and then the others. */
struct recording record_halves(const char *stream, size_t size,
                               uint32_t body_max, size_t at);

bool recordings_are_equal(const struct recording *a, const struct recording *b);

void recording_close(struct recording *recording);

#endif
