/*
 * wheel/walk.c - counting, visiting and draining the timers of a wheel.
 */
#include "private.h"

bool tkw_wheel_is_ready(const struct tkw_wheel *wheel,
                        const struct tkw_timer *timer)
{
    /* A timer that is due in an unfinished tick has a deadline after `now`. */
    return is_armed(timer) && timer->deadline <= wheel->now &&
           timer->deadline != TKW_NEVER;
}

size_t tkw_wheel_count(const struct tkw_wheel *wheel)
{
    const struct tkw_wheel_figures *c = &wheel->counters;
    return (size_t)(c->armed - c->fired - c->cancelled - c->drained);
}

size_t tkw_wheel_ready_count(const struct tkw_wheel *wheel)
{
    return list_count(&wheel->ready) + list_count(&wheel->fresh);
}

struct tkw_wheel_figures tkw_wheel_counters(const struct tkw_wheel *wheel)
{
    return wheel->counters;
}

const struct tkw_dial *tkw_wheel_dial(const struct tkw_wheel *wheel)
{
    return &wheel->dial;
}

/*
 * All lists of a wheel, numbered: those outside slots, then the lanes of
 * `moving`, then the lanes of every slot.
 */
enum {
    LISTS_OUTSIDE = 5,
    LISTS_OF_SLOT = 2 * TKW_LANES,
    LISTS_BEFORE_SLOTS = LISTS_OUTSIDE + LISTS_OF_SLOT,
};

static const struct tkw_link *list_number(const struct tkw_wheel *wheel,
                                          uint32_t n)
{
    const struct tkw_link *outside[LISTS_OUTSIDE] = {
        &wheel->ready, &wheel->fresh, &wheel->never, &wheel->due, &wheel->late};
    if (n < LISTS_OUTSIDE)
        return outside[n];

    const struct tkw_slot *slot = &wheel->moving;
    if (n >= LISTS_BEFORE_SLOTS)
        slot = &wheel->slot[(n - LISTS_BEFORE_SLOTS) / LISTS_OF_SLOT];
    uint32_t lane = (n - LISTS_OUTSIDE) % LISTS_OF_SLOT;
    return lane < TKW_LANES ? &slot->fallen.lanes[lane]
                            : &slot->direct.lanes[lane - TKW_LANES];
}

struct tkw_timer *tkw_wheel_walk(const struct tkw_wheel *wheel,
                                 struct tkw_wheel_cursor *walk)
{
    const uint32_t count =
        LISTS_BEFORE_SLOTS + LISTS_OF_SLOT * wheel->dial.slot_count;
    if (walk->next == NULL)
        walk->next = list_number(wheel, 0)->next;

    while (walk->next == list_number(wheel, walk->list)) {
        if (walk->list + 1 == count)
            return NULL;
        walk->list++;
        walk->next = list_number(wheel, walk->list)->next;
    }

    if (walk->list >= LISTS_BEFORE_SLOTS) {
        uint32_t home = (walk->list - LISTS_BEFORE_SLOTS) / LISTS_OF_SLOT;
        const struct tkw_level *level = dial_level_of(&wheel->dial, home);
        walk->level = (uint32_t)(level - wheel->dial.levels) + 1;
        walk->slot = home - level->first;
    }
    struct tkw_timer *timer = timer_of(walk->next);
    walk->next = walk->next->next;
    return timer;
}

/* The number of the first list from `n` on that is not empty, below `end`. */
static uint32_t find_list(const struct tkw_wheel *wheel, uint32_t n,
                          uint32_t end)
{
    while (n < end && list_is_empty(list_number(wheel, n)))
        n++;
    return n;
}

struct tkw_timer *tkw_wheel_drain(struct tkw_wheel *wheel)
{
    if (tkw_wheel_count(wheel) == 0)
        return NULL;

    uint32_t n = find_list(wheel, 0, LISTS_BEFORE_SLOTS);
    if (n == LISTS_BEFORE_SLOTS) {
        const struct tkw_level *level =
            &wheel->dial.levels[__builtin_ctzll(wheel->dial.busy)];
        uint32_t slot = bits_find(level->occupancy, level->size, 0);
        n += LISTS_OF_SLOT * (level->first + slot);
        n = find_list(wheel, n, n + LISTS_OF_SLOT);
    }
    struct tkw_timer *timer = timer_of(list_number(wheel, n)->next);
    release(wheel, timer);
    wheel->counters.drained++;
    return timer;
}
