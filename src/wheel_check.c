/*
 * wheel_check.c - walk a wheel and hold it against what must be true (L15).
 *
 * Nothing here trusts what it looks at: a broken wheel must be told, not
 * followed.
 */
#include <tickwheel/wheel.h>

#include "dial_inline.h"
#include "list.h"

/* May a timer be in the slot of that level whose next number is `number`? */
static bool check_filed(const struct tkw_wheel *wheel,
                        const struct tkw_level *level, uint64_t number,
                        const struct tkw_timer *timer)
{
    uint64_t own = level_number(level, timer->deadline);
    if (timer->deadline <= wheel->now)
        return false;
    if (timer->is_postponed) /* its old deadline, unknown, was earlier */
        return own >= number;

    bool is_last = level == &wheel->dial.levels[wheel->dial.level_count - 1];
    if (is_last && wheel->dial.beyond == TKW_ROUNDS)
        return own >= number && (own - number) % level->size == 0;
    return own == number;
}

/*
 * The number of a level's slot when its time comes next, or false if the slot
 * must be empty now: the current one, unless an unfinished tick has not come to
 * it yet.  The last level of TKW_ROUNDS keeps there what comes a turn later.
 */
static bool next_number(const struct tkw_wheel *wheel, uint32_t i,
                        uint32_t slot, uint64_t *number)
{
    const struct tkw_dial *dial = &wheel->dial;
    const struct tkw_level *level = &dial->levels[i];
    uint32_t here = level_slot(level, level->hand);

    *number = level->hand + slot - here + (slot < here ? level->size : 0);
    if (slot != here || (wheel->is_mid_tick && i < wheel->levels_left))
        return true;
    *number += level->size;
    return dial->beyond == TKW_ROUNDS && i + 1 == dial->level_count;
}

/*
 * Count the timers of a list, or return false if a link is broken.  A link that
 * is pointed at from two sides disagrees with one of them, so this cannot go
 * round in circles.
 */
static bool check_links(const struct tkw_link *list, size_t *count)
{
    const struct tkw_link *link = list;
    do {
        if (link->next == NULL || link->next->prev != link)
            return false;
        link = link->next;
        *count += link != list;
    } while (link != list);
    return true;
}

static bool check_slot(const struct tkw_wheel *wheel, uint32_t home,
                       size_t *count)
{
    uint32_t i = dial_level_of(&wheel->dial, home);
    const struct tkw_level *level = &wheel->dial.levels[i];
    uint32_t slot = home - level->first;
    uint64_t number;
    bool may_be_filled = next_number(wheel, i, slot, &number);

    const struct tkw_link *lists[] = {&wheel->slots[home].fallen,
                                      &wheel->slots[home].direct};
    bool is_empty = list_is_empty(lists[0]) && list_is_empty(lists[1]);
    if (bits_has(level->occupancy, slot) == is_empty)
        return false;
    if (!is_empty && !may_be_filled)
        return false;

    for (unsigned n = 0; n < 2; n++) {
        if (!check_links(lists[n], count))
            return false;
        for (struct tkw_link *link = lists[n]->next; link != lists[n];
             link = link->next) {
            const struct tkw_timer *timer = timer_of(link);
            if (timer->home != home ||
                !check_filed(wheel, level, number, timer))
                return false;
        }
    }
    return true;
}

/* The deadlines of a list lie from `least` to `most`. */
static bool check_deadlines(const struct tkw_link *list, tkw_tick least,
                            tkw_tick most, size_t *count)
{
    if (!check_links(list, count))
        return false;
    for (struct tkw_link *link = list->next; link != list; link = link->next) {
        const struct tkw_timer *timer = timer_of(link);
        if (timer->deadline < least || timer->deadline > most)
            return false;
    }
    return true;
}

/* The same, and its timers know that they are in no slot. */
static bool check_shelf(const struct tkw_link *list, tkw_tick least,
                        tkw_tick most, size_t *count)
{
    if (!check_deadlines(list, least, most, count))
        return false;
    for (struct tkw_link *link = list->next; link != list; link = link->next) {
        if (timer_of(link)->home != HOME_NONE)
            return false;
    }
    return true;
}

bool tkw_wheel_check(const struct tkw_wheel *wheel)
{
    const tkw_tick tick = wheel->dial.now;
    size_t count = 0;

    if (!tkw_dial_check(&wheel->dial))
        return false;
    if (wheel->is_mid_tick) {
        if (wheel->now != tick - 1)
            return false;
    } else if (wheel->now != tick || !list_is_empty(&wheel->moving) ||
               !list_is_empty(&wheel->due) || !list_is_empty(&wheel->late)) {
        return false;
    }
    if (!check_shelf(&wheel->ready, 0, wheel->now, &count) ||
        !check_shelf(&wheel->never, TKW_NEVER, TKW_NEVER, &count) ||
        !check_shelf(&wheel->due, tick, tick, &count) ||
        !check_shelf(&wheel->late, tick, tick, &count) ||
        !check_deadlines(&wheel->moving, tick, TKW_NEVER, &count))
        return false;

    for (uint32_t home = 0; home < wheel->dial.slot_count; home++) {
        if (!check_slot(wheel, home, &count))
            return false;
    }
    return count == tkw_wheel_count(wheel);
}
