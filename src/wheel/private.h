/*
 * wheel/private.h - filing a timer in a slot or on a list, and removing it, for
 * the files of the wheel.
 */
#ifndef TKW_WHEEL_PRIVATE_H
#define TKW_WHEEL_PRIVATE_H

#include <tickwheel/wheel.h>

#include "base/attributes.h"
#include "dial/inline.h"
#include "queue.h"

/* Mark a slot that has got its first timer as occupied.  Returns its level. */
const struct tkw_level *tkw__wheel_occupy(struct tkw_wheel *wheel,
                                          const struct tkw_level *level,
                                          uint32_t slot) RARE;

/*
 * After a timer has left a list that is empty now: if its whole slot is empty,
 * clear the slot's occupancy.  A timer taken from `moving` still names the slot
 * it came from; clearing that again does no harm.  Always returns true, so that
 * callers can tail-call it.
 */
bool tkw__wheel_leave_home(struct tkw_wheel *wheel,
                           const struct tkw_timer *timer) RARE;

static inline bool is_armed(const struct tkw_timer *timer)
{
    return timer->link.next != NULL;
}

/* Append a timer to a list outside of slots. */
static inline void shelve(struct tkw_link *list, struct tkw_timer *timer)
{
    timer->home = HOME_NONE;
    list_append(list, &timer->link);
}

/* File a timer whose deadline is after the dial's `now`.  Returns its level. */
static inline const struct tkw_level *
file(struct tkw_wheel *wheel, struct tkw_timer *timer, bool is_falling)
{
    uint64_t number;
    const struct tkw_level *level =
        dial_level(&wheel->dial, timer->deadline, &number);
    uint32_t slot = level_slot(level, number);

    timer->home = level->first + slot;
    struct tkw_slot *home = &wheel->slot[timer->home];
    if (queue_join(is_falling ? &home->fallen : &home->direct, timer))
        return tkw__wheel_occupy(wheel, level, slot);
    return level;
}

/* Remove an armed timer, which is idle from now on.  Always returns true. */
static inline bool release(struct tkw_wheel *wheel, struct tkw_timer *timer)
{
    bool is_last = list_remove(&timer->link);
    timer->link.next = NULL;
    if (is_last)
        return tkw__wheel_leave_home(wheel, timer);
    return true;
}

#endif
