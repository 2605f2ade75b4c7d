#include "body.h"

#include <assert.h>

static size_t bytes_of(uint32_t size)
{
    return sizeof(struct tkd_body) + size;
}

struct tkd_body *tkd_body_open(const struct tkw_allocator *allocator,
                               uint32_t size)
{
    struct tkd_body *body =
        allocator->allocate(allocator->context, bytes_of(size));
    if (body == NULL)
        return NULL;
    body->references = 1;
    body->size = size;
    return body;
}

struct tkd_body *tkd_body_hold(struct tkd_body *body)
{
    assert(body->references > 0);
    body->references++;
    return body;
}

void tkd_body_release(const struct tkw_allocator *allocator,
                      struct tkd_body *body)
{
    if (body == NULL)
        return;
    assert(body->references > 0);
    body->references--;
    if (body->references == 0)
        allocator->release(allocator->context, body, bytes_of(body->size));
}
