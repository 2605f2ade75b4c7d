/*
 * wheel/check.c - walk a wheel and compare it with its invariants (law L15 in
 * docs/internals/laws.md, among others).
 *
 * The functions find_...() verify each link before they follow it, so that they
 * end in a broken wheel, too.  They return whether they found a fault.
 */
#include <tickwheel/wheel.h>

#include "base/fault.h"
#include "dial/inline.h"
#include "queue.h"

#define WHAT_WAKE "tick before which an advance skips all slots"
#define WHAT_DEADLINE "deadline of a timer, counted in slots,"

/* Check that `timer` belongs in the slot whose next number is `number`. */
static bool find_misfiled(const struct tkw_wheel *wheel,
                          const struct tkw_level *level, uint64_t number,
                          const struct tkw_timer *timer,
                          struct tkw_fault *fault)
{
    uint64_t own = level_number(level, timer->deadline);
    if (fault_if_below(fault, "deadline of a pending timer", timer->deadline,
                       tkw_tick_after(wheel->now, 1)))
        return true;
    /* A postponed timer stays in the slot of an earlier, unknown deadline. */
    if (timer->home & HOME_POSTPONED)
        return fault_if_below(fault, WHAT_DEADLINE, own, number);

    bool is_last = level == &wheel->dial.levels[wheel->dial.level_count - 1];
    if (is_last && wheel->dial.beyond == TKW_ROUNDS)
        return fault_if_below(fault, WHAT_DEADLINE, own, number) ||
               fault_unless(fault, "slot of a timer's deadline",
                            level_slot(level, own), level_slot(level, number));
    return fault_unless(fault, WHAT_DEADLINE, own, number);
}

/*
 * Store in `*number` the number that a level's slot has when it comes next.
 * Returns false if the slot must be empty: it is the current one, and no
 * unfinished tick has yet to empty it.  In the last level of TKW_ROUNDS the
 * current slot may hold timers of the next turn.
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

/* Add the timers of a list to `*count`, or find a broken link.  If two links
 * point to a third, its `prev` differs from one of them: so the loop ends. */
static bool find_in_links(const struct tkw_link *list, const char *what,
                          size_t *count, struct tkw_fault *fault)
{
    const struct tkw_link *link = list;
    do {
        if (link->next == NULL || link->next->prev != link)
            return fault_if(fault, what, true);
        link = link->next;
        *count += link != list;
    } while (link != list);
    return false;
}

/* Check that turns grow along a lane.  Only TURN_MAX may occur repeatedly. */
static bool find_in_turns(const struct tkw_queue *queue, unsigned lane,
                          struct tkw_fault *fault)
{
    uint64_t least = lane; /* the smallest turn of the next timer */
    for (struct tkw_link *link = queue->lanes[lane].next;
         link != &queue->lanes[lane]; link = link->next) {
        uint32_t turn = timer_of(link)->turn;
        if (fault_unless(fault, "lane of a timer's turn", turn % TKW_LANES,
                         lane) ||
            fault_if_below(fault, "turn of a timer", turn, least))
            return true;
        least = turn == TURN_MAX ? TURN_MAX : turn + UINT64_C(1);
    }
    return false;
}

/* Check a queue.  The next timer to join must get a turn after all others. */
static bool find_in_queue(const struct tkw_queue *queue, size_t *count,
                          struct tkw_fault *fault)
{
    for (unsigned i = 0; i < TKW_LANES; i++) {
        const struct tkw_link *lane = &queue->lanes[i];
        if (find_in_links(lane, "a link between two timers is broken", count,
                          fault) ||
            find_in_turns(queue, i, fault))
            return true;
        if (list_is_empty(lane) || queue->turn == TURN_MAX)
            continue;
        uint32_t last = timer_of(lane->prev)->turn;
        if (fault_if_below(fault, "turn of the next timer to join the slot",
                           queue->turn, last + UINT64_C(1)))
            return true;
    }
    return false;
}

/* Check that the timers of a lane store `home`, and belong there. */
static bool find_in_lane(const struct tkw_wheel *wheel,
                         const struct tkw_link *lane, uint32_t home,
                         uint64_t number, struct tkw_fault *fault)
{
    const struct tkw_level *level = dial_level_of(&wheel->dial, home);
    for (struct tkw_link *link = lane->next; link != lane; link = link->next) {
        const struct tkw_timer *timer = timer_of(link);
        if (fault_unless(fault, "slot number that a timer keeps",
                         timer->home & ~HOME_POSTPONED, home) ||
            find_misfiled(wheel, level, number, timer, fault))
            return true;
    }
    return false;
}

/* Check the occupancy bit and the turns of a slot that has `count` timers. */
static bool find_in_numbers(const struct tkw_slot *slot, bool is_occupied,
                            bool may_be_filled, size_t count,
                            struct tkw_fault *fault)
{
    if (fault_unless(fault, "occupancy bit of the slot", is_occupied,
                     count != 0))
        return true;
    if (count == 0)
        return fault_unless(fault, "turn of the next timer to fall here",
                            slot->fallen.turn, 0) ||
               fault_unless(fault, "turn of the next timer to be armed here",
                            slot->direct.turn, 0);
    return fault_unless(fault, "number of timers in the current slot",
                        may_be_filled ? 0 : count, 0);
}

static bool find_in_slot(const struct tkw_wheel *wheel, uint32_t home,
                         size_t *count, struct tkw_fault *fault)
{
    const struct tkw_level *level = dial_level_of(&wheel->dial, home);
    const struct tkw_slot *slot = &wheel->slot[home];
    size_t before = *count;
    uint64_t number;
    bool may_be_filled =
        next_number(wheel, level, home - level->first, &number);
    bool is_occupied = bits_has(level->occupancy, home - level->first);

    if (find_in_queue(&slot->fallen, count, fault) ||
        find_in_queue(&slot->direct, count, fault) ||
        find_in_numbers(slot, is_occupied, may_be_filled, *count - before,
                        fault))
        return true;
    for (unsigned i = 0; i < TKW_LANES; i++) {
        if (find_in_lane(wheel, &slot->fallen.lanes[i], home, number, fault) ||
            find_in_lane(wheel, &slot->direct.lanes[i], home, number, fault))
            return true;
    }
    return false;
}

static bool find_in_slots(const struct tkw_wheel *wheel, size_t *count,
                          struct tkw_fault *fault)
{
    for (uint32_t home = 0; home < wheel->dial.slot_count; home++) {
        const struct tkw_level *level = dial_level_of(&wheel->dial, home);
        if (find_in_slot(wheel, home, count, fault))
            return fault_in(fault, (uint32_t)(level - wheel->dial.levels) + 1,
                            home - level->first);
    }
    return false;
}

/* A list of timers that are in no slot, and limits for their deadlines. */
struct shelf {
    const struct tkw_link *list;
    tkw_tick least;            /* the earliest deadline */
    tkw_tick most;             /* the latest deadline */
    const char *what_link;     /* describes a broken link */
    const char *what_deadline; /* describes a wrong deadline */
};

static bool find_in_deadlines(const struct shelf *shelf, size_t *count,
                              struct tkw_fault *fault)
{
    if (find_in_links(shelf->list, shelf->what_link, count, fault))
        return true;
    for (struct tkw_link *link = shelf->list->next; link != shelf->list;
         link = link->next) {
        tkw_tick deadline = timer_of(link)->deadline;
        if (fault_if_below(fault, shelf->what_deadline, deadline,
                           shelf->least) ||
            fault_if_above(fault, shelf->what_deadline, deadline, shelf->most))
            return true;
    }
    return false;
}

/* Like find_in_deadlines(), and check that the timers store HOME_NONE. */
static bool find_in_shelf(const struct shelf *shelf, size_t *count,
                          struct tkw_fault *fault)
{
    if (find_in_deadlines(shelf, count, fault))
        return true;
    for (struct tkw_link *link = shelf->list->next; link != shelf->list;
         link = link->next) {
        if (fault_unless(fault, "slot number of a timer that is in no slot",
                         timer_of(link)->home, HOME_NONE))
            return true;
    }
    return false;
}

/* Check timers that were taken from a slot and are not yet filed or due. */
static bool find_in_moving(const struct tkw_wheel *wheel, size_t *count,
                           struct tkw_fault *fault)
{
    const struct tkw_queue *queues[] = {&wheel->moving.fallen,
                                        &wheel->moving.direct};
    for (unsigned i = 0; i < 2 * TKW_LANES; i++) {
        const struct tkw_queue *queue = queues[i / TKW_LANES];
        struct shelf lane = {
            &queue->lanes[i % TKW_LANES], wheel->dial.now, TKW_NEVER,
            "a link between two timers that change their slot is broken",
            "deadline of a timer that changes its slot"};
        if (find_in_deadlines(&lane, count, fault) ||
            find_in_turns(queue, i % TKW_LANES, fault))
            return true;
    }
    return false;
}

static bool find_outside_slots(const struct tkw_wheel *wheel, size_t *count,
                               struct tkw_fault *fault)
{
    const tkw_tick tick = wheel->dial.now;
    const struct shelf shelves[] = {
        {&wheel->ready, 0, wheel->now,
         "a link between two ready timers is broken",
         "deadline of a ready timer"},
        {&wheel->fresh, 0, wheel->now,
         "a link between two timers armed for the past is broken",
         "deadline of a timer armed for the past"},
        {&wheel->never, TKW_NEVER, TKW_NEVER,
         "a link between two timers armed for TKW_NEVER is broken",
         "deadline of a timer armed for TKW_NEVER"},
        {&wheel->due, tick, tick,
         "a link between two timers due at an unfinished tick is broken",
         "deadline of a timer due at an unfinished tick"},
        {&wheel->late, tick, tick,
         "a link between two timers armed for an unfinished tick is broken",
         "deadline of a timer armed for an unfinished tick"},
    };
    size_t ready = 0;
    for (unsigned i = 0; i < sizeof shelves / sizeof shelves[0]; i++) {
        if (find_in_shelf(&shelves[i], count, fault))
            return true;
        if (shelves[i].list == &wheel->never)
            ready = *count;
    }
    if (find_in_moving(wheel, count, fault))
        return true;
    return !wheel->is_mid_tick &&
           fault_unless(fault,
                        "number of timers that wait for the end of a tick",
                        *count - ready, 0);
}

static bool find_in_time(const struct tkw_wheel *wheel, struct tkw_fault *fault)
{
    bool is_mid_tick = wheel->is_mid_tick;
    if (fault_unless(fault, "last finished tick", wheel->now,
                     wheel->dial.now - is_mid_tick))
        return true;
    /* Else the next advance would skip the rest of an unfinished tick, or
     * timers that were armed for the past. */
    if (is_mid_tick || !list_is_empty(&wheel->fresh))
        return fault_unless(fault, WHAT_WAKE, wheel->wake, 0);
    return fault_if_above(fault, WHAT_WAKE, wheel->wake,
                          dial_next(&wheel->dial));
}

bool tkw_wheel_find_fault(const struct tkw_wheel *wheel,
                          struct tkw_fault *fault)
{
    size_t count = 0;
    return tkw_dial_find_fault(&wheel->dial, fault) ||
           find_in_time(wheel, fault) ||
           find_outside_slots(wheel, &count, fault) ||
           find_in_slots(wheel, &count, fault) ||
           fault_unless(fault, "number of armed timers", tkw_wheel_count(wheel),
                        count);
}

bool tkw_wheel_check(const struct tkw_wheel *wheel)
{
    struct tkw_fault ignored;
    return !tkw_wheel_find_fault(wheel, &ignored);
}
