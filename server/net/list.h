/*
 * net/list.h - rings of links.
 *
 * A ring includes its head.  A link that is in no ring points to itself.
 */
#ifndef TKD_NET_LIST_H
#define TKD_NET_LIST_H

#include <stdbool.h>

struct link {
    struct link *next;
    struct link *previous;
};

static inline void link_init(struct link *link)
{
    link->next = link;
    link->previous = link;
}

static inline bool link_is_alone(const struct link *link)
{
    return link->next == link;
}

/* Take a link out of its ring.  A link that is in none stays so. */
static inline void link_remove(struct link *link)
{
    link->next->previous = link->previous;
    link->previous->next = link->next;
    link_init(link);
}

/* Add `link` to the end of a ring, unless it is in a ring already. */
static inline void link_append(struct link *head, struct link *link)
{
    if (!link_is_alone(link))
        return;
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

#endif
