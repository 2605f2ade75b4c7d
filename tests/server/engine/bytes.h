/*
 * server/engine/bytes.h - a sequence of bytes that grows.
 */
#ifndef TESTS_SERVER_ENGINE_BYTES_H
#define TESTS_SERVER_ENGINE_BYTES_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Zero-filled is empty.  A 0 follows the bytes, if there ever were any. */
struct bytes {
    char *data;
    size_t size;
    size_t room;
};

static inline void bytes_append(struct bytes *bytes, const char *data,
                                size_t size)
{
    if (bytes->size + size + 1 > bytes->room) {
        bytes->room = 2 * (bytes->size + size) + 64;
        bytes->data = realloc(bytes->data, bytes->room);
        if (bytes->data == NULL) {
            fputs("bytes: out of memory\n", stderr);
            abort();
        }
    }
    if (size > 0)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    bytes->data[bytes->size] = '\0';
}

/* Remove the first `size` bytes. */
static inline void bytes_consume(struct bytes *bytes, size_t size)
{
    if (bytes->data == NULL)
        return;
    bytes->size -= size;
    memmove(bytes->data, bytes->data + size, bytes->size);
    bytes->data[bytes->size] = '\0';
}

static inline void bytes_clear(struct bytes *bytes)
{
    bytes_consume(bytes, bytes->size);
}

static inline void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

#endif
