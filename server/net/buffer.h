/*
 * net/buffer.h - bytes that wait, in order.
 *
 * A buffer that is empty has no memory: a connection that is silent costs the
 * struct alone.  A buffer of zeroes is empty.
 *
 * Threads: a buffer belongs to one thread.
 */
#ifndef TKD_NET_BUFFER_H
#define TKD_NET_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <tickwheel/base.h>

struct tkd_buffer {
    /* private */
    char *memory;
    size_t room;  /* bytes of `memory` */
    size_t begin; /* the first byte that waits ... */
    size_t end;   /* ... and the end of the last one */
};

/* Copy bytes to the end of the buffer.  Returns false and changes nothing if
 * the allocator refuses. */
bool tkd_buffer_append(struct tkd_buffer *buffer,
                       const struct tkw_allocator *allocator, const char *bytes,
                       size_t size);

/* Remove the first `size` bytes.  A buffer that is empty then frees its
 * memory. */
void tkd_buffer_consume(struct tkd_buffer *buffer,
                        const struct tkw_allocator *allocator, size_t size);

/* Remove all bytes. */
void tkd_buffer_clear(struct tkd_buffer *buffer,
                      const struct tkw_allocator *allocator);

/* Return the first byte; valid until the buffer changes. */
static inline const char *tkd_buffer_bytes(const struct tkd_buffer *buffer)
{
    return buffer->memory == NULL ? NULL : buffer->memory + buffer->begin;
}

static inline size_t tkd_buffer_size(const struct tkd_buffer *buffer)
{
    return buffer->end - buffer->begin;
}

#endif
