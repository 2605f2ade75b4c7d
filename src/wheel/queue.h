/*
 * wheel/queue.h - a queue of timers in four lanes, so that emptying it does not
 * wait for memory one timer at a time.
 *
 * Walking one list of timers that are not in the cache costs one cache miss
 * after another: the next address is known only when the timer has arrived.  So
 * the timers join four lists in turn.  While one timer is handled, the heads of
 * the other three are being fetched.
 *
 *     lane 0    0   4   8  12       the number is the timer's turn;
 *     lane 1    1       9           5, 2 and 11 were cancelled
 *     lane 2        6  10
 *     lane 3    3   7
 *
 * The first of the queue is the head with the least turn.  Turns begin at 0
 * whenever the queue is known to be empty.  If a timer ever gets TURN_MAX, all
 * that follow get it, too, and so are in one lane, in order: the queue becomes
 * a plain list, but never a wrong one.
 */
#ifndef TKW_WHEEL_QUEUE_H
#define TKW_WHEEL_QUEUE_H

#include "list.h"

#define TURN_MAX UINT32_MAX

static inline void queue_init(struct tkw_queue *queue)
{
    for (unsigned i = 0; i < TKW_LANES; i++)
        list_init(&queue->lanes[i]);
    queue->turn = 0;
}

static inline bool queue_is_empty(const struct tkw_queue *queue)
{
    for (unsigned i = 0; i < TKW_LANES; i++) {
        if (!list_is_empty(&queue->lanes[i]))
            return false;
    }
    return true;
}

/* Append a timer.  Returns whether it is the first since the queue was known to
 * be empty. */
static inline bool queue_join(struct tkw_queue *queue, struct tkw_timer *timer)
{
    uint32_t turn = queue->turn;
    queue->turn = turn + (turn != TURN_MAX);
    timer->turn = turn;
    list_append(&queue->lanes[turn % TKW_LANES], &timer->link);
    return turn == 0;
}

/* Move all timers of `from` to `queue`, which is empty and will be emptied from
 * the front.  Lanes that had no turn yet are empty. */
static inline void queue_take(struct tkw_queue *queue, struct tkw_queue *from)
{
    for (unsigned i = 0; i < TKW_LANES && i < from->turn; i++) {
        list_splice(&queue->lanes[i], &from->lanes[i]);
        __builtin_prefetch(queue->lanes[i].next);
    }
    queue->turn = 0;
    from->turn = 0;
}

static inline struct tkw_timer *queue_search(const struct tkw_queue *queue)
{
    struct tkw_timer *first = NULL;
    for (unsigned i = 0; i < TKW_LANES; i++) {
        if (list_is_empty(&queue->lanes[i]))
            continue;
        struct tkw_timer *head = timer_of(queue->lanes[i].next);
        if (first == NULL || head->turn < first->turn)
            first = head;
    }
    return first;
}

/*
 * Return the first timer of a queue that is being emptied, or NULL.  There
 * `turn` is the one after the last that left, most often that of the first.
 */
static inline struct tkw_timer *queue_first(const struct tkw_queue *queue)
{
    const struct tkw_link *lane = &queue->lanes[queue->turn % TKW_LANES];
    if (!list_is_empty(lane) && timer_of(lane->next)->turn == queue->turn)
        return timer_of(lane->next);
    return queue_search(queue);
}

/*
 * A queue is emptied from the front.  Meanwhile a scout in every lane
 * prefetches from the rear on.  The timers that it has passed are in the cache
 * when their turn comes: twice the misses overlap, as if there were twice the
 * lanes.
 */
struct scouts {
    const struct tkw_link *lanes[TKW_LANES];
};

static inline void scouts_begin(struct scouts *scouts,
                                const struct tkw_queue *queue)
{
    for (unsigned i = 0; i < TKW_LANES; i++) {
        scouts->lanes[i] = queue->lanes[i].prev;
        __builtin_prefetch(scouts->lanes[i]);
    }
}

/*
 * Remove the first timer of a queue.  Prefetch the next timer of its lane, and
 * move the lane's scout one timer towards the front.  A scout that has reached
 * the link of the lane itself stays there.  Both a scout on `first` and one on
 * the timer behind it reach that link now: so no scout is on a timer that has
 * left.
 */
static inline void queue_leave(struct tkw_queue *queue, struct tkw_timer *first,
                               struct scouts *scouts)
{
    unsigned lane = first->turn % TKW_LANES;
    list_remove(&first->link);
    __builtin_prefetch(first->link.next);
    queue->turn = first->turn + (first->turn != TURN_MAX);

    if (scouts->lanes[lane] != &queue->lanes[lane]) {
        scouts->lanes[lane] = scouts->lanes[lane]->prev;
        __builtin_prefetch(scouts->lanes[lane]);
    }
}

#endif
