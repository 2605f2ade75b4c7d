/*
 * os/frame.h - the functions of the user that a thread is inside of.
 *
 * The library enters a frame before it calls a function of the user, and leaves
 * it afterwards.  A thread's frames are a stack, from the innermost call
 * outwards:
 *
 *     thread -> [whose, handle] -> [whose, handle] -> NULL
 *
 * A function that would wait for its own caller searches the stack, and does
 * not wait.
 */
#ifndef TKW_OS_FRAME_H
#define TKW_OS_FRAME_H

#include <stddef.h>

#include "sync.h"

struct frame {
    const void *whose; /* the service, the monitor or the purgatory */
    uint64_t handle;   /* of the timer whose callback it is, or 0 */
    const struct frame *outer;
};

/* Push `frame`, before a call of a function of the user. */
static inline void frame_enter(struct frame *frame, const void *whose,
                               uint64_t handle)
{
    struct sync_self *self = sync_self();
    *frame = (struct frame){whose, handle, self->frame};
    self->frame = frame;
}

static inline void frame_leave(const struct frame *frame)
{
    sync_self()->frame = frame->outer;
}

/* Return the innermost frame of the calling thread, or NULL. */
static inline const struct frame *frame_innermost(void)
{
    return sync_self()->frame;
}

/* Returns whether the calling thread is inside of a function that was called
 * for `whose`. */
static inline bool frame_is_inside(const void *whose)
{
    const struct frame *frame = frame_innermost();
    while (frame != NULL && frame->whose != whose)
        frame = frame->outer;
    return frame != NULL;
}

/* Returns whether the calling thread is inside of the callback of timer
 * `handle` of `whose`. */
static inline bool frame_is_inside_timer(const void *whose, uint64_t handle)
{
    const struct frame *frame = frame_innermost();
    while (frame != NULL && (frame->whose != whose || frame->handle != handle))
        frame = frame->outer;
    return frame != NULL;
}

#endif
