#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A recording that is being made.  `read` counts the bytes of the stream that
 * the parser has read. */
struct recorder {
    struct recording recording;
    struct tkd_parser parser;
    size_t room;
    size_t read;
};

static void *must(void *memory)
{
    if (memory == NULL) {
        fputs("recording: out of memory\n", stderr);
        abort();
    }
    return memory;
}

/* Add an event of zeros. */
static struct recorded *add(struct recorder *recorder)
{
    struct recording *recording = &recorder->recording;
    if (recording->count == recorder->room) {
        recorder->room = 2 * recorder->room + 16;
        recording->events = must(realloc(
            recording->events, recorder->room * sizeof *recording->events));
    }
    struct recorded *event = &recording->events[recording->count++];
    memset(event, 0, sizeof *event);
    return event;
}

/* Return the last event if it is a body, else a new one. */
static struct recorded *body(struct recorder *recorder)
{
    struct recording *recording = &recorder->recording;
    if (recording->count > 0) {
        struct recorded *last = &recording->events[recording->count - 1];
        if (last->kind == TKD_EVENT_BODY)
            return last;
    }
    return add(recorder);
}

/* Copy the fields that the kind of the event has. */
static void copy(struct recorder *recorder, const struct tkd_event *event)
{
    bool is_body = event->kind == TKD_EVENT_BODY;
    struct recorded *recorded = is_body ? body(recorder) : add(recorder);
    recorded->kind = event->kind;
    recorded->end = recorder->read;
    if (event->kind == TKD_EVENT_COMMAND)
        recorded->command = event->command;
    if (event->kind == TKD_EVENT_BODY_END)
        recorded->has_crlf = event->has_crlf;
    if (is_body)
        recorded->body_size += event->size;
    if (event->kind == TKD_EVENT_REFUSED) {
        recorded->refusal = event->refusal;
        recorded->counted = event->counted;
    }
}

/* Return a promise of tkd_parser_feed() that a call has broken, or NULL. */
static const char *fault_of(const struct tkd_event *event, const char *data,
                            size_t size, size_t used)
{
    if (used == 0 || used > size)
        return "the parser reads no byte, or more than there are";
    if (event->kind == TKD_EVENT_NONE && used < size)
        return "the parser stops without an event";
    if (event->kind == TKD_EVENT_BODY && event->bytes != data)
        return "a body does not begin at the first byte fed";
    if (event->kind == TKD_EVENT_BODY && event->size != used)
        return "a body does not end at the last byte read";
    return NULL;
}

static void feed_piece(struct recorder *recorder, const char *piece,
                       size_t size)
{
    char *copied = must(malloc(size));
    memcpy(copied, piece, size);
    for (size_t at = 0; at < size && recorder->recording.fault == NULL;) {
        struct tkd_event event;
        memset(&event, 0xA5, sizeof event); /* the parser sets its fields */
        size_t used =
            tkd_parser_feed(&recorder->parser, copied + at, size - at, &event);
        recorder->recording.fault =
            fault_of(&event, copied + at, size - at, used);
        recorder->read += used;
        at += used;
        if (event.kind != TKD_EVENT_NONE)
            copy(recorder, &event);
    }
    free(copied);
}

struct recording record_cut(const char *stream, size_t size, uint32_t body_max,
                            cut_function *cut, void *context)
{
    struct recorder recorder = {.room = 0};
    tkd_parser_init(&recorder.parser, body_max);
    for (size_t at = 0; at < size && recorder.recording.fault == NULL;) {
        size_t piece = cut(context, size - at);
        feed_piece(&recorder, stream + at, piece);
        at += piece;
    }
    return recorder.recording;
}

static size_t cut_nowhere(void *context, size_t left)
{
    (void)context;
    return left;
}

struct recording record_whole(const char *stream, size_t size,
                              uint32_t body_max)
{
    return record_cut(stream, size, body_max, cut_nowhere, NULL);
}

static size_t cut_everywhere(void *context, size_t left)
{
    (void)context;
    (void)left;
    return 1;
}

struct recording record_bytes(const char *stream, size_t size,
                              uint32_t body_max)
{
    return record_cut(stream, size, body_max, cut_everywhere, NULL);
}

/* Return the size in `context` at the first call, and `left` after it. */
static size_t cut_once(void *context, size_t left)
{
    size_t *at = context;
    size_t piece = *at > 0 && *at < left ? *at : left;
    *at = 0;
    return piece;
}

struct recording record_halves(const char *stream, size_t size,
                               uint32_t body_max, size_t at)
{
    return record_cut(stream, size, body_max, cut_once, &at);
}

static bool commands_are_equal(const struct tkd_command *a,
                               const struct tkd_command *b)
{
    return a->verb == b->verb && a->pri == b->pri && a->id == b->id &&
           a->delay_ns == b->delay_ns && a->ttr_ns == b->ttr_ns &&
           a->bytes == b->bytes && a->tube_length == b->tube_length &&
           memcmp(a->tube, b->tube, a->tube_length) == 0;
}

static bool events_are_equal(const struct recorded *a, const struct recorded *b)
{
    return a->kind == b->kind && a->refusal == b->refusal &&
           a->counted == b->counted && a->has_crlf == b->has_crlf &&
           a->body_size == b->body_size && a->end == b->end &&
           commands_are_equal(&a->command, &b->command);
}

bool recordings_are_equal(const struct recording *a, const struct recording *b)
{
    if (a->fault != NULL || b->fault != NULL || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!events_are_equal(&a->events[i], &b->events[i]))
            return false;
    return true;
}

void recording_close(struct recording *recording)
{
    free(recording->events);
    recording->events = NULL;
    recording->count = 0;
}
