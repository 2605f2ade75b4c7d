#include "buffer.h"

#include <assert.h>
#include <string.h>

/* The first allocation.  A few replies fit. */
enum { ROOM_MIN = 512 };

/* Return the room for `size` bytes: a power of two, so that the bytes of a
 * growing buffer are copied less than twice on average. */
static size_t room_for(size_t size)
{
    size_t room = ROOM_MIN;
    while (room < size && room <= SIZE_MAX / 2)
        room *= 2;
    return room < size ? size : room;
}

/* Move the waiting bytes to the beginning of `memory`, which may be the present
 * memory. */
static void move(struct tkd_buffer *buffer, char *memory)
{
    size_t size = tkd_buffer_size(buffer);
    if (size > 0)
        memmove(memory, buffer->memory + buffer->begin, size);
    buffer->begin = 0;
    buffer->end = size;
}

static bool grow(struct tkd_buffer *buffer,
                 const struct tkw_allocator *allocator, size_t size)
{
    size_t room = room_for(size);
    char *memory = allocator->allocate(allocator->context, room);
    if (memory == NULL)
        return false;
    move(buffer, memory);
    if (buffer->memory != NULL)
        allocator->release(allocator->context, buffer->memory, buffer->room);
    buffer->memory = memory;
    buffer->room = room;
    return true;
}

/* Make room for `more` bytes behind the last one. */
static bool reserve(struct tkd_buffer *buffer,
                    const struct tkw_allocator *allocator, size_t more)
{
    if (more <= buffer->room - buffer->end)
        return true;
    size_t size = tkd_buffer_size(buffer);
    if (more > SIZE_MAX - size)
        return false;
    /* Moving costs at most as much as the bytes that were consumed. */
    if (size + more <= buffer->room && size <= buffer->begin) {
        move(buffer, buffer->memory);
        return true;
    }
    return grow(buffer, allocator, size + more);
}

bool tkd_buffer_append(struct tkd_buffer *buffer,
                       const struct tkw_allocator *allocator, const char *bytes,
                       size_t size)
{
    if (size == 0)
        return true;
    if (!reserve(buffer, allocator, size))
        return false;
    memcpy(buffer->memory + buffer->end, bytes, size);
    buffer->end += size;
    return true;
}

void tkd_buffer_consume(struct tkd_buffer *buffer,
                        const struct tkw_allocator *allocator, size_t size)
{
    assert(size <= tkd_buffer_size(buffer));
    buffer->begin += size;
    if (buffer->begin == buffer->end)
        tkd_buffer_clear(buffer, allocator);
}

void tkd_buffer_clear(struct tkd_buffer *buffer,
                      const struct tkw_allocator *allocator)
{
    if (buffer->memory != NULL)
        allocator->release(allocator->context, buffer->memory, buffer->room);
    *buffer = (struct tkd_buffer){0};
}
