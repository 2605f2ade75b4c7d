/*
 * service/record.c - recording the operations on a service.
 *
 * The recorder is a ring of operations, of the size that the user asked for.
 * When the ring is full, the recorder omits new operations and counts them, so
 * that a recording can be replayed from its beginning.  The library writes no
 * file: tkw_service_trace() returns the recording as text.
 */
#include <tickwheel/service.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "private.h"

enum {
    TAKEN_AT_ONCE = 64, /* operations taken under one lock */
    LINE_MAX_BYTES = 128,
};

int tkw_service_record(struct tkw_service *service, size_t operations)
{
    struct recorder *recorder = &service->recorder;
    const struct tkw_allocator *allocator = &service->allocator;
    struct recorded *ring = NULL;
    if (operations > SIZE_MAX / sizeof *ring)
        return -ENOMEM;
    if (operations > 0) {
        ring =
            allocator->allocate(allocator->context, operations * sizeof *ring);
        if (ring == NULL)
            return -ENOMEM;
    }
    order_lock(&recorder->mutex, ORDER_LEAF);
    /* Relaxed: tkw__service_note_recorded() reads it again, under the mutex. */
    sync_put_relaxed(&service->is_recording, operations > 0);
    struct recorded *old = NULL;
    size_t old_room = recorder->room;
    if (operations > 0) {
        old = recorder->ring;
        recorder->ring = ring;
        recorder->room = operations;
        recorder->at = 0;
        recorder->count = 0;
        recorder->last_ns = 0;
        recorder->left_out = 0;
        recorder->has_head = true;
    }
    order_unlock(&recorder->mutex, ORDER_LEAF);
    if (old != NULL)
        allocator->release(allocator->context, old, old_room * sizeof *old);
    return 0;
}

void tkw__recorder_close(struct tkw_service *service)
{
    struct recorder *recorder = &service->recorder;
    const struct tkw_allocator *allocator = &service->allocator;
    if (recorder->ring != NULL)
        allocator->release(allocator->context, recorder->ring,
                           recorder->room * sizeof *recorder->ring);
    sync_mutex_destroy(&recorder->mutex);
}

/*
 * Record an operation.  Callers call this before another thread can use the
 * operation's result, so that the operations on one timer are in order; except
 * those of a callback that is running already.
 */
void tkw__service_note_recorded(struct tkw_service *service,
                                enum recorded_kind kind, tkw_handle handle,
                                uint64_t due_ns)
{
    struct recorder *recorder = &service->recorder;
    uint64_t now = tkw_service_now(service);
    order_lock(&recorder->mutex, ORDER_LEAF);
    bool is_recording = sync_get_relaxed(&service->is_recording);
    if (is_recording && recorder->count == recorder->room) {
        recorder->left_out++;
    } else if (is_recording) {
        /* A thread may read the clock before another, and lock after it. */
        if (now > recorder->last_ns)
            recorder->last_ns = now;
        size_t at = (recorder->at + recorder->count) % recorder->room;
        recorder->ring[at] = (struct recorded){
            .time_ns = recorder->last_ns,
            .due_ns = due_ns,
            .handle = handle,
            .left_out = recorder->left_out,
            .kind = kind,
        };
        recorder->left_out = 0;
        recorder->count++;
    }
    order_unlock(&recorder->mutex, ORDER_LEAF);
}

/* Move up to `most` of the oldest operations to `taken`.  Returns their number,
 * and stores in `*has_head` whether the header lines are yet to be written. */
static size_t pop_recorded(struct recorder *recorder, struct recorded *taken,
                           size_t most, bool *has_head)
{
    size_t count = 0;
    order_lock(&recorder->mutex, ORDER_LEAF);
    *has_head = recorder->has_head;
    if (most > 0)
        recorder->has_head = false;
    for (; count < most && recorder->count > 0; count++) {
        taken[count] = recorder->ring[recorder->at];
        recorder->at = (recorder->at + 1) % recorder->room;
        recorder->count--;
    }
    if (count < most && recorder->left_out > 0) {
        taken[count++] = (struct recorded){.left_out = recorder->left_out,
                                           .kind = RECORDED_NONE};
        recorder->left_out = 0;
    }
    order_unlock(&recorder->mutex, ORDER_LEAF);
    return count;
}

static size_t write_head(const struct tkw_service *service, char *text,
                         size_t size)
{
    int length = snprintf(text, size,
                          "# tick %" PRIu64 "\ntime,operation,key,deadline\n",
                          service->tick_ns);
    return (size_t)length;
}

static size_t write_line(const struct recorded *taken, char *text, size_t size)
{
    static const char *const names[] = {
        [RECORDED_ARM] = "arm",
        [RECORDED_POSTPONE] = "postpone",
        [RECORDED_CANCEL] = "cancel",
    };
    int length = 0;
    if (taken->left_out > 0)
        length = snprintf(text, size, "# %" PRIu64 " operations left out\n",
                          taken->left_out);
    size_t done = (size_t)length;
    if (taken->kind == RECORDED_NONE)
        return done;
    length = snprintf(text + done, size - done, "%" PRIu64 ",%s,%" PRIu64 ",",
                      taken->time_ns, names[taken->kind], taken->handle);
    done += (size_t)length;
    if (taken->kind != RECORDED_CANCEL)
        done += (size_t)snprintf(text + done, size - done, "%" PRIu64,
                                 taken->due_ns);
    text[done++] = '\n';
    return done;
}

size_t tkw_service_trace(struct tkw_service *service, char *text, size_t size)
{
    size_t length = 0;
    for (;;) {
        size_t room = (size - length) / LINE_MAX_BYTES;
        if (room > TAKEN_AT_ONCE)
            room = TAKEN_AT_ONCE;
        struct recorded taken[TAKEN_AT_ONCE];
        bool has_head;
        /* The header lines take the room of one operation. */
        size_t count = pop_recorded(&service->recorder, taken,
                                    room > 0 ? room - 1 : 0, &has_head);
        if (has_head && room > 1)
            length += write_head(service, text + length, size - length);
        for (size_t i = 0; i < count; i++)
            length += write_line(&taken[i], text + length, size - length);
        if (count == 0)
            break;
    }
    if (size > 0)
        text[length] = '\0';
    return length;
}
