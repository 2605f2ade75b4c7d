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
    const struct tkw_wheel_stats *c = &wheel->stats;
    return (size_t)(c->armed - c->fired - c->cancelled - c->drained);
}

size_t tkw_wheel_ready_count(const struct tkw_wheel *wheel)
{
    return list_count(&wheel->ready) + list_count(&wheel->fresh);
}

struct tkw_wheel_stats tkw_wheel_read_stats(const struct tkw_wheel *wheel)
{
    return wheel->stats;
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

/* Count the timers of a queue, from `count` up to TKW_OCCUPANCY_MAX. */
static uint32_t queue_count(const struct tkw_queue *queue, uint32_t count)
{
    for (unsigned i = 0; i < TKW_LANES; i++) {
        const struct tkw_link *lane = &queue->lanes[i];
        for (const struct tkw_link *at = lane->next;
             at != lane && count < TKW_OCCUPANCY_MAX; at = at->next)
            count++;
    }
    return count;
}

size_t tkw_wheel_occupancy(const struct tkw_wheel *wheel, uint32_t level,
                           uint32_t *counts, size_t room)
{
    if (level == 0 || level > wheel->dial.level_count)
        return 0;
    const struct tkw_level *own = &wheel->dial.levels[level - 1];
    for (uint32_t i = 0; i < own->size && i < room; i++) {
        counts[i] = 0;
        if (!bits_has(own->occupancy, i))
            continue;
        const struct tkw_slot *slot = &wheel->slot[own->first + i];
        counts[i] = queue_count(&slot->direct, queue_count(&slot->fallen, 0));
    }
    return own->size;
}

/* Return the number of the first list from `n` on that is not empty; `end` if
 * all below it are empty. */
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
    wheel->stats.drained++;
    return timer;
}
