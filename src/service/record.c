/*
 * service/record.c - what is asked of a service, kept until somebody takes it.
 *
 * A ring of operations, of a size that was asked for.  When it is full the
 * newest are left out and counted, so that what was recorded can be played
 * again from its beginning.  Nothing is written anywhere: whoever asks for the
 * trace gets it as text.
 */
#include <tickwheel/service.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "private.h"

enum {
    TAKEN_AT_ONCE = 64, /* so many, lest arming has to wait */
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
    sync_lock(&recorder->mutex);
    /* Relaxed: service_note() looks again, under the mutex. */
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
    sync_unlock(&recorder->mutex);
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
 * Called before anybody can use what the operation returned, so that those of
 * one timer are in order; but for what a callback does that runs already.
 */
void tkw__service_note_recorded(struct tkw_service *service,
                                enum recorded_kind kind, tkw_handle handle,
                                uint64_t due_ns)
{
    struct recorder *recorder = &service->recorder;
    uint64_t now = tkw_service_now(service);
    sync_lock(&recorder->mutex);
    bool is_recording = sync_get_relaxed(&service->is_recording);
    if (is_recording && recorder->count == recorder->room) {
        recorder->left_out++;
    } else if (is_recording) {
        /* A thread may have read the clock before another, and come later. */
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
    sync_unlock(&recorder->mutex);
}

/* Take the oldest, at most so many.  Returns how many, and whether the first
 * lines are still to come. */
static size_t take(struct recorder *recorder, struct recorded *taken,
                   size_t most, bool *has_head)
{
    size_t count = 0;
    sync_lock(&recorder->mutex);
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
    sync_unlock(&recorder->mutex);
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
        /* The first lines take the place of one. */
        size_t count =
            take(&service->recorder, taken, room > 0 ? room - 1 : 0, &has_head);
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
