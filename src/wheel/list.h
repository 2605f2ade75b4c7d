/*
 * wheel/list.h - the lists of a wheel: rings of links that include the head.
 */
#ifndef TKW_WHEEL_LIST_H
#define TKW_WHEEL_LIST_H

#include <tickwheel/wheel.h>

/* The home of a timer that is armed but in no slot. */
#define HOME_NONE (UINT32_MAX >> 1)

/* Set in the home of a timer whose deadline was postponed while it stayed
 * there. */
#define HOME_POSTPONED (UINT32_C(1) << 31)

static inline struct tkw_timer *timer_of(struct tkw_link *link)
{
    return TKW_CONTAINER(link, struct tkw_timer, link);
}

static inline void list_init(struct tkw_link *head)
{
    head->next = head;
    head->prev = head;
}

static inline bool list_is_empty(const struct tkw_link *head)
{
    return head->next == head;
}

static inline void list_append(struct tkw_link *head, struct tkw_link *link)
{
    link->next = head;
    link->prev = head->prev;
    head->prev->next = link;
    head->prev = link;
}

/*
 * Remove a link, whose own pointers do not change.  Returns whether the list is
 * empty now.
 */
static inline bool list_remove(const struct tkw_link *link)
{
    struct tkw_link *next = link->next;
    struct tkw_link *prev = link->prev;
    prev->next = next;
    next->prev = prev;
    return next == prev;
}

static inline size_t list_count(const struct tkw_link *head)
{
    size_t count = 0;
    for (const struct tkw_link *at = head->next; at != head; at = at->next)
        count++;
    return count;
}

/* Append all of `from` to `head`, in order, leaving `from` empty. */
static inline void list_splice(struct tkw_link *head, struct tkw_link *from)
{
    if (list_is_empty(from))
        return;
    from->next->prev = head->prev;
    from->prev->next = head;
    head->prev->next = from->next;
    head->prev = from->prev;
    list_init(from);
}

#endif
