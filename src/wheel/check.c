/*
 * wheel/check.c - walk a wheel and hold it against what must be true (L15).
 *
 * Nothing here trusts what it looks at: a broken wheel must be told, not
 * followed.
 */
#include <tickwheel/wheel.h>

#include "dial/inline.h"
#include "queue.h"

/* May a timer be in the slot of that level whose next number is `number`? */
static bool check_filed(const struct tkw_wheel *wheel,
                        const struct tkw_level *level, uint64_t number,
                        const struct tkw_timer *timer)
{
    uint64_t own = level_number(level, timer->deadline);
    if (timer->deadline <= wheel->now)
        return false;
    /* Postponed, it is where an earlier deadline, now unknown, had put it. */
    if (timer->home & HOME_POSTPONED)
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
static bool next_number(const struct tkw_wheel *wheel,
                        const struct tkw_level *level, uint32_t slot,
                        uint64_t *number)
{
    const struct tkw_dial *dial = &wheel->dial;
    uint32_t i = (uint32_t)(level - dial->levels);
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

/* Turns grow along a lane; only the largest can be had twice. */
static bool check_turns(const struct tkw_queue *queue, unsigned lane)
{
    uint64_t least = lane; /* that the next timer may have */
    for (struct tkw_link *link = queue->lanes[lane].next;
         link != &queue->lanes[lane]; link = link->next) {
        uint32_t turn = timer_of(link)->turn;
        if (turn % TKW_LANES != lane || turn < least)
            return false;
        least = turn == TURN_MAX ? TURN_MAX : turn + UINT64_C(1);
    }
    return true;
}

/* A queue that can be joined: whoever joins next gets a turn after all. */
static bool check_queue(const struct tkw_queue *queue, size_t *count)
{
    for (unsigned i = 0; i < TKW_LANES; i++) {
        const struct tkw_link *lane = &queue->lanes[i];
        if (!check_links(lane, count) || !check_turns(queue, i))
            return false;
        if (list_is_empty(lane))
            continue;
        uint32_t last = timer_of(lane->prev)->turn;
        if (last >= queue->turn && queue->turn != TURN_MAX)
            return false;
    }
    return true;
}

/* The timers of a lane know their slot, and belong there. */
static bool check_lane(const struct tkw_wheel *wheel,
                       const struct tkw_link *lane, uint32_t home,
                       uint64_t number)
{
    const struct tkw_level *level = dial_level_of(&wheel->dial, home);
    for (struct tkw_link *link = lane->next; link != lane; link = link->next) {
        const struct tkw_timer *timer = timer_of(link);
        if ((timer->home & ~HOME_POSTPONED) != home ||
            !check_filed(wheel, level, number, timer))
            return false;
    }
    return true;
}

static bool check_slot(const struct tkw_wheel *wheel, uint32_t home,
                       size_t *count)
{
    const struct tkw_level *level = dial_level_of(&wheel->dial, home);
    const struct tkw_slot *slot = &wheel->slot[home];
    size_t before = *count;
    uint64_t number;
    bool may_be_filled =
        next_number(wheel, level, home - level->first, &number);

    if (!check_queue(&slot->fallen, count) ||
        !check_queue(&slot->direct, count))
        return false;

    bool is_filled = *count != before;
    bool is_known_empty = slot->fallen.turn == 0 && slot->direct.turn == 0;
    if (bits_has(level->occupancy, home - level->first) != is_filled ||
        is_known_empty == is_filled || (is_filled && !may_be_filled))
        return false;

    for (unsigned i = 0; i < TKW_LANES; i++) {
        if (!check_lane(wheel, &slot->fallen.lanes[i], home, number) ||
            !check_lane(wheel, &slot->direct.lanes[i], home, number))
            return false;
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

/* What is on its way from one slot to another. */
static bool check_moving(const struct tkw_wheel *wheel, size_t *count)
{
    const struct tkw_queue *queues[] = {&wheel->moving.fallen,
                                        &wheel->moving.direct};
    for (unsigned i = 0; i < 2 * TKW_LANES; i++) {
        const struct tkw_queue *queue = queues[i / TKW_LANES];
        const struct tkw_link *lane = &queue->lanes[i % TKW_LANES];
        if (!check_deadlines(lane, wheel->dial.now, TKW_NEVER, count) ||
            !check_turns(queue, i % TKW_LANES))
            return false;
    }
    return wheel->is_mid_tick ||
           (queue_is_empty(queues[0]) && queue_is_empty(queues[1]));
}

bool tkw_wheel_check(const struct tkw_wheel *wheel)
{
    const tkw_tick tick = wheel->dial.now;
    size_t count = 0;

    if (!tkw_dial_check(&wheel->dial))
        return false;
    if (wheel->is_mid_tick) {
        if (wheel->now != tick - 1 || wheel->wake != 0)
            return false;
    } else if (wheel->now != tick || !list_is_empty(&wheel->due) ||
               !list_is_empty(&wheel->late)) {
        return false;
    }
    if (wheel->wake > dial_next(&wheel->dial))
        return false;
    if (!list_is_empty(&wheel->fresh) && wheel->wake != 0)
        return false; /* the next advance would not look at it */
    if (!check_shelf(&wheel->ready, 0, wheel->now, &count) ||
        !check_shelf(&wheel->fresh, 0, wheel->now, &count) ||
        !check_shelf(&wheel->never, TKW_NEVER, TKW_NEVER, &count) ||
        !check_shelf(&wheel->due, tick, tick, &count) ||
        !check_shelf(&wheel->late, tick, tick, &count) ||
        !check_moving(wheel, &count))
        return false;

    for (uint32_t home = 0; home < wheel->dial.slot_count; home++) {
        if (!check_slot(wheel, home, &count))
            return false;
    }
    return count == tkw_wheel_count(wheel);
}
