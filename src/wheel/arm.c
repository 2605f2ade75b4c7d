/*
 * wheel/arm.c - making a wheel; arming, moving and cancelling a timer.
 */
#include <errno.h>
#include <string.h>

#include "private.h"

_Static_assert(sizeof(void *) != 8 || sizeof(struct tkw_timer) == 32,
               "a timer takes 32 bytes");
_Static_assert(sizeof(struct tkw_wheel) % _Alignof(struct tkw_slot) == 0,
               "slots can follow the wheel in memory");
_Static_assert(_Alignof(struct tkw_wheel) >= _Alignof(uint64_t) &&
                   sizeof(struct tkw_wheel) % _Alignof(uint64_t) == 0 &&
                   sizeof(struct tkw_slot) % _Alignof(uint64_t) == 0,
               "the occupancy words can follow the slots");

const struct tkw_level *tkw__wheel_occupy(struct tkw_wheel *wheel,
                                          const struct tkw_level *level,
                                          uint32_t slot)
{
    dial_occupy(&wheel->dial, level, slot);
    wheel->wake = 0;
    return level;
}

static void slot_init(struct tkw_slot *slot)
{
    queue_init(&slot->fallen);
    queue_init(&slot->direct);
}

static bool slot_is_empty(const struct tkw_slot *slot)
{
    return queue_is_empty(&slot->fallen) && queue_is_empty(&slot->direct);
}

bool tkw__wheel_leave_home(struct tkw_wheel *wheel,
                           const struct tkw_timer *timer)
{
    uint32_t home = timer->home & ~HOME_POSTPONED;
    if (home == HOME_NONE || !slot_is_empty(&wheel->slot[home]))
        return true;

    const struct tkw_level *level = dial_level_of(&wheel->dial, home);
    dial_vacate(&wheel->dial, level, home - level->first);
    wheel->slot[home].fallen.turn = 0;
    wheel->slot[home].direct.turn = 0;
    return true;
}

size_t tkw_wheel_bytes(const struct tkw_geometry *geometry)
{
    struct tkw_dial dial;
    if (tkw_dial_init(&dial, geometry, 0, NULL) != 0)
        return 0;

    /* At most 2^28 slots: no overflow in 64 bits. */
    uint64_t bytes = sizeof(struct tkw_wheel) +
                     (uint64_t)dial.slot_count * sizeof(struct tkw_slot) +
                     tkw_dial_words(geometry) * sizeof(uint64_t);
    return bytes <= SIZE_MAX ? (size_t)bytes : 0;
}

int tkw_wheel_init(struct tkw_wheel *wheel, size_t bytes,
                   const struct tkw_geometry *geometry, tkw_tick start)
{
    size_t needed = tkw_wheel_bytes(geometry);
    if (needed == 0 || (uintptr_t)wheel % _Alignof(struct tkw_wheel) != 0)
        return -EINVAL;
    if (bytes < needed)
        return -ENOSPC;

    memset(wheel, 0, sizeof *wheel);
    wheel->now = start;
    wheel->slot = (struct tkw_slot *)(void *)(wheel + 1);
    list_init(&wheel->ready);
    list_init(&wheel->fresh);
    list_init(&wheel->never);
    list_init(&wheel->due);
    list_init(&wheel->late);
    slot_init(&wheel->moving);

    size_t words = tkw_dial_words(geometry) * sizeof(uint64_t);
    void *end = (char *)wheel + needed;
    int error = tkw_dial_init(&wheel->dial, geometry, start,
                              (uint64_t *)(void *)((char *)end - words));
    for (uint32_t i = 0; i < wheel->dial.slot_count; i++)
        slot_init(&wheel->slot[i]);
    return error;
}

static RARE void shelve_by_deadline(struct tkw_wheel *wheel,
                                    struct tkw_timer *timer)
{
    if (timer->deadline == TKW_NEVER)
        shelve(&wheel->never, timer);
    else if (timer->deadline > wheel->now)
        shelve(&wheel->late, timer);
    else {
        shelve(&wheel->fresh, timer);
        wheel->wake = 0; /* the next advance moves it to `ready` */
    }
}

/* File a timer for its new deadline. */
static inline void place(struct tkw_wheel *wheel, struct tkw_timer *timer,
                         tkw_tick deadline)
{
    timer->deadline = deadline;
    if (deadline > wheel->dial.now && deadline != TKW_NEVER)
        file(wheel, timer, false);
    else
        shelve_by_deadline(wheel, timer);
}

/* Move a timer that was the last of its list and has left it. */
static RARE void move_last(struct tkw_wheel *wheel, struct tkw_timer *timer,
                           tkw_tick deadline)
{
    tkw__wheel_leave_home(wheel, timer);
    place(wheel, timer, deadline);
}

void tkw_wheel_arm(struct tkw_wheel *wheel, struct tkw_timer *timer,
                   tkw_tick deadline)
{
    if (!is_armed(timer))
        wheel->stats.armed++;
    else if (list_remove(&timer->link)) {
        move_last(wheel, timer, deadline);
        return;
    }
    place(wheel, timer, deadline);
}

/* Always returns true, so that tkw_wheel_postpone() can tail-call it. */
static RARE bool arm_again(struct tkw_wheel *wheel, struct tkw_timer *timer,
                           tkw_tick deadline)
{
    tkw_wheel_arm(wheel, timer, deadline);
    return true;
}

bool tkw_wheel_postpone(struct tkw_wheel *wheel, struct tkw_timer *timer,
                        tkw_tick deadline)
{
    if (!is_armed(timer))
        return false;
    if (timer->home == HOME_NONE || deadline < timer->deadline)
        return arm_again(wheel, timer, deadline);

    if (deadline > timer->deadline)
        timer->home |= HOME_POSTPONED;
    timer->deadline = deadline;
    return true;
}

bool tkw_wheel_cancel(struct tkw_wheel *wheel, struct tkw_timer *timer)
{
    if (!is_armed(timer))
        return false;

    wheel->stats.cancelled++;
    return release(wheel, timer);
}

bool tkw_timer_is_armed(const struct tkw_timer *timer)
{
    return is_armed(timer);
}
