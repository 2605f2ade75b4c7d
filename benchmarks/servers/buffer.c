/*
 * servers/buffer.c - bytes that wait to be sent or parsed.
 */
#include "buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

void buffer_close(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct buffer){0};
}

char *buffer_room(struct buffer *buffer, size_t count)
{
    if (buffer->size - buffer->end < count && buffer->first > 0) {
        size_t used = buffer_count(buffer);
        memmove(buffer->bytes, buffer->bytes + buffer->first, used);
        buffer->first = 0;
        buffer->end = used;
    }
    if (buffer->size - buffer->end < count) {
        buffer->size = 2 * (buffer->end + count);
        buffer->bytes = must_reallocate(buffer->bytes, buffer->size, 1);
    }
    return buffer->bytes + buffer->end;
}

void buffer_fill(struct buffer *buffer, size_t count)
{
    assert(count <= buffer->size - buffer->end);
    buffer->end += count;
}

void buffer_append(struct buffer *buffer, const char *bytes, size_t count)
{
    memcpy(buffer_room(buffer, count), bytes, count);
    buffer_fill(buffer, count);
}

void buffer_append_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_append_number(struct buffer *buffer, uint64_t number)
{
    char digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    buffer_append(buffer, digits + first, sizeof digits - first);
}

const char *buffer_bytes(const struct buffer *buffer)
{
    return buffer->bytes + buffer->first;
}

size_t buffer_count(const struct buffer *buffer)
{
    return buffer->end - buffer->first;
}

void buffer_drop(struct buffer *buffer, size_t count)
{
    assert(count <= buffer_count(buffer));
    buffer->first += count;
    if (buffer->first == buffer->end)
        buffer->first = buffer->end = 0;
}
