/*
 * servers/buffer.h - bytes that wait to be sent or parsed.
 *
 * A zero-filled buffer is empty and valid.  buffer_close() frees its memory.
 */
#ifndef SERVERS_BUFFER_H
#define SERVERS_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
    char *bytes; /* private, as all fields */
    size_t first;
    size_t end;
    size_t size;
};

void buffer_close(struct buffer *buffer);

/* Returns room for `count` bytes behind the last one.  The pointer is valid
 * until the next call. */
char *buffer_room(struct buffer *buffer, size_t count);

/* Counts the first `count` bytes of the room as used. */
void buffer_fill(struct buffer *buffer, size_t count);

void buffer_append(struct buffer *buffer, const char *bytes, size_t count);
void buffer_append_text(struct buffer *buffer, const char *text);
void buffer_append_number(struct buffer *buffer, uint64_t number);

const char *buffer_bytes(const struct buffer *buffer);
size_t buffer_count(const struct buffer *buffer);

/* Removes the first `count` bytes. */
void buffer_drop(struct buffer *buffer, size_t count);

#endif
