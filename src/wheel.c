/*
 * wheel.c - the intrusive hierarchical wheel.
 *
 * The dial says which slot; this file keeps the timers in it.  A slot is two
 * lists: what fell from a higher level, then what was armed straight into it.
 *
 *     level 3  | . | A | . | . |      A falls when its slot begins ...
 *                    |
 *     level 2  | . | . | A | . |      ... and again ...
 *                        |
 *     level 1  | . | . | . | A |      ... until its own tick
 *                            |
 *     ready    ------------- A ->     popped
 *
 * Advancing goes from one occupied slot to the next, never tick by tick.  At a
 * tick at which slots of several levels begin, the highest is emptied first.
 *
 * Why this pops equal deadlines in arming order, with no number stored to sort
 * by.  Take two timers of the same deadline d, the first armed before the
 * second, neither postponed.
 *
 *   1. The level that takes d never rises: it is the lowest whose hand is less
 *      than `size` slots before d's slot, and hands only move towards it.  So
 *      the second timer was filed at the first one's level of that moment, or
 *      lower.
 *   2. If at the same level, then in the same slot and behind the first, which
 *      is in `fallen` or was there earlier in `direct`; emptying a slot takes
 *      `fallen` before `direct` and keeps the order of each.
 *   3. If lower, the first is still to fall.  When it comes to the second's
 *      slot it goes to `fallen`, ahead of the second in `direct`.  If by then
 *      the second has fallen itself, it cannot have gone further or sooner:
 *      both stood in slots that contain d, a higher slot that contains d
 *      begins no later than a lower one, and where both begin at one tick the
 *      higher is emptied first.
 *
 * And by deadline, because ticks are finished in order and what is armed for
 * the past goes behind what is ready.  With TKW_ROUNDS a timer that is passed
 * over goes to `fallen` of the slot it was in, in order, ahead of `direct`: 2
 * holds for it.
 *
 * A tick can be left unfinished for lack of budget.  The hands stand at that
 * tick then, so that what goes on falling and what is newly armed use the same
 * windows, but `now` is the tick before.  `moving` holds the rest of the slot
 * in hand, `levels_left` says which levels are still to be emptied, `due` keeps
 * what has expired, `late` what was armed for this very tick meanwhile: last
 * among its equals.  Nothing of the tick is ready before all of it is.
 */
#include <tickwheel/wheel.h>

#include <errno.h>
#include <string.h>

#include "dial_inline.h"
#include "list.h"

_Static_assert(sizeof(void *) != 8 || sizeof(struct tkw_timer) == 32,
               "a timer takes 32 bytes");
_Static_assert(sizeof(struct tkw_wheel) % _Alignof(struct tkw_slot) == 0,
               "slots can follow the wheel in memory");
_Static_assert(_Alignof(struct tkw_wheel) >= _Alignof(uint64_t) &&
                   sizeof(struct tkw_wheel) % _Alignof(uint64_t) == 0 &&
                   sizeof(struct tkw_slot) % _Alignof(uint64_t) == 0,
               "the occupancy words can follow the slots");

/* What goes to a list in no slot of its own. */
static void shelve(struct tkw_link *list, struct tkw_timer *timer)
{
    timer->home = HOME_NONE;
    list_append(list, &timer->link);
}

/* File a timer that is neither due nor for ever.  Returns its level's index. */
static uint32_t file(struct tkw_wheel *wheel, struct tkw_timer *timer,
                     bool is_falling)
{
    uint64_t number;
    uint32_t i = dial_level(&wheel->dial, timer->deadline, &number);
    const struct tkw_level *level = &wheel->dial.levels[i];
    uint32_t slot = level_slot(level, number);

    timer->home = level->first + slot;
    timer->is_postponed = false;
    struct tkw_slot *home = &wheel->slots[timer->home];
    list_append(is_falling ? &home->fallen : &home->direct, &timer->link);
    dial_occupy(&wheel->dial, i, slot);
    return i;
}

static void place(struct tkw_wheel *wheel, struct tkw_timer *timer)
{
    if (timer->deadline == TKW_NEVER)
        shelve(&wheel->never, timer);
    else if (timer->deadline <= wheel->now)
        shelve(&wheel->ready, timer);
    else if (timer->deadline <= wheel->dial.now)
        shelve(&wheel->late, timer);
    else
        file(wheel, timer, false);
}

/*
 * Unlink an armed timer, leaving its own fields as they are.  One taken from
 * `moving` still names the slot it came from: to vacate that again is harmless.
 */
static void unlink_timer(struct tkw_wheel *wheel, struct tkw_timer *timer)
{
    bool was_alone = timer->link.next == timer->link.prev;
    list_remove(&timer->link);
    if (!was_alone || timer->home == HOME_NONE)
        return;

    const struct tkw_slot *home = &wheel->slots[timer->home];
    if (list_is_empty(&home->fallen) && list_is_empty(&home->direct)) {
        uint32_t i = dial_level_of(&wheel->dial, timer->home);
        dial_vacate(&wheel->dial, i, timer->home - wheel->dial.levels[i].first);
    }
}

static void release(struct tkw_wheel *wheel, struct tkw_timer *timer)
{
    unlink_timer(wheel, timer);
    timer->link.next = NULL;
}

size_t tkw_wheel_bytes(const struct tkw_geometry *geometry)
{
    struct tkw_dial dial;
    if (tkw_dial_init(&dial, geometry, 0, NULL) != 0)
        return 0;

    /* At most 2^28 slots: no overflow where size_t has 64 bits. */
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
    wheel->slots = (struct tkw_slot *)(void *)(wheel + 1);
    list_init(&wheel->ready);
    list_init(&wheel->never);
    list_init(&wheel->moving);
    list_init(&wheel->due);
    list_init(&wheel->late);

    size_t words = tkw_dial_words(geometry) * sizeof(uint64_t);
    void *end = (char *)wheel + needed;
    int error = tkw_dial_init(&wheel->dial, geometry, start,
                              (uint64_t *)(void *)((char *)end - words));
    for (uint32_t i = 0; i < wheel->dial.slot_count; i++) {
        list_init(&wheel->slots[i].fallen);
        list_init(&wheel->slots[i].direct);
    }
    return error;
}

void tkw_wheel_arm(struct tkw_wheel *wheel, struct tkw_timer *timer,
                   tkw_tick deadline)
{
    if (tkw_timer_is_armed(timer))
        unlink_timer(wheel, timer);
    else
        wheel->counters.armed++;

    timer->deadline = deadline;
    place(wheel, timer);
}

bool tkw_wheel_postpone(struct tkw_wheel *wheel, struct tkw_timer *timer,
                        tkw_tick deadline)
{
    if (!tkw_timer_is_armed(timer))
        return false;

    if (timer->home != HOME_NONE && deadline >= timer->deadline) {
        timer->is_postponed |= deadline > timer->deadline;
        timer->deadline = deadline;
    } else {
        tkw_wheel_arm(wheel, timer, deadline);
    }
    return true;
}

bool tkw_wheel_cancel(struct tkw_wheel *wheel, struct tkw_timer *timer)
{
    if (!tkw_timer_is_armed(timer))
        return false;

    release(wheel, timer);
    wheel->counters.cancelled++;
    return true;
}

bool tkw_timer_is_armed(const struct tkw_timer *timer)
{
    return timer->link.next != NULL;
}

/* Take the current slot of a level in hand. */
static void take_slot(struct tkw_wheel *wheel, uint32_t i)
{
    const struct tkw_level *level = &wheel->dial.levels[i];
    uint32_t slot = level_slot(level, level->hand);
    if (!bits_has(level->occupancy, slot))
        return;

    struct tkw_slot *current = &wheel->slots[level->first + slot];
    list_splice(&wheel->moving, &current->fallen);
    list_splice(&wheel->moving, &current->direct);
    dial_vacate(&wheel->dial, i, slot);
    wheel->counters.visits++;
}

/* Send a timer on that was taken from a slot of the level with index `from`. */
static void send_on(struct tkw_wheel *wheel, struct tkw_timer *timer,
                    uint32_t from)
{
    bool was_postponed = timer->is_postponed;
    list_remove(&timer->link);

    if (timer->deadline <= wheel->dial.now) {
        shelve(&wheel->due, timer);
    } else if (timer->deadline == TKW_NEVER) {
        shelve(&wheel->never, timer);
        wheel->counters.refiles++;
    } else {
        uint32_t to = file(wheel, timer, true);
        if (was_postponed)
            wheel->counters.refiles++;
        else if (to < from)
            wheel->counters.falls++;
        else
            wheel->counters.passes++;
    }
}

/* Begin the work of a tick at which some slot begins. */
static void begin_tick(struct tkw_wheel *wheel, tkw_tick tick)
{
    const struct tkw_dial *dial = &wheel->dial;
    dial_turn(&wheel->dial, tick);
    wheel->now = tick - 1;
    wheel->is_mid_tick = true;

    uint32_t count = 0;
    while (count < dial->level_count && dial->levels[count].start == tick)
        count++;
    wheel->levels_left = count;
}

/* Go on with it.  Returns whether it is finished; `budget` is what is left. */
static bool finish_tick(struct tkw_wheel *wheel, size_t *budget)
{
    for (;;) {
        while (!list_is_empty(&wheel->moving)) {
            if (*budget == 0)
                return false;
            --*budget;
            send_on(wheel, timer_of(wheel->moving.next), wheel->levels_left);
        }
        if (wheel->levels_left == 0)
            break;
        take_slot(wheel, --wheel->levels_left);
    }

    list_splice(&wheel->ready, &wheel->due);
    list_splice(&wheel->ready, &wheel->late);
    wheel->now = wheel->dial.now;
    wheel->is_mid_tick = false;
    return true;
}

bool tkw_wheel_advance_some(struct tkw_wheel *wheel, tkw_tick now,
                            size_t budget)
{
    TKW_ASSERT(now >= wheel->now);
    if (now <= wheel->now)
        return true;

    for (;;) {
        if (wheel->is_mid_tick && !finish_tick(wheel, &budget)) {
            wheel->counters.stops++;
            return false;
        }
        tkw_tick next = dial_next(&wheel->dial);
        if (next > now || next == TKW_NEVER)
            break;
        begin_tick(wheel, next);
    }
    dial_turn(&wheel->dial, now);
    wheel->now = now;
    return true;
}

void tkw_wheel_advance(struct tkw_wheel *wheel, tkw_tick now)
{
    tkw_wheel_advance_some(wheel, now, SIZE_MAX);
}

struct tkw_timer *tkw_wheel_pop(struct tkw_wheel *wheel)
{
    if (list_is_empty(&wheel->ready))
        return NULL;

    struct tkw_timer *timer = timer_of(wheel->ready.next);
    release(wheel, timer);
    wheel->counters.fired++;
    return timer;
}

tkw_tick tkw_wheel_next(const struct tkw_wheel *wheel)
{
    if (wheel->is_mid_tick || !list_is_empty(&wheel->ready))
        return wheel->now;
    return dial_next(&wheel->dial);
}

tkw_tick tkw_wheel_now(const struct tkw_wheel *wheel)
{
    return wheel->now;
}

size_t tkw_wheel_count(const struct tkw_wheel *wheel)
{
    const struct tkw_counters *c = &wheel->counters;
    return (size_t)(c->armed - c->fired - c->cancelled - c->drained);
}

struct tkw_counters tkw_wheel_counters(const struct tkw_wheel *wheel)
{
    return wheel->counters;
}

const struct tkw_dial *tkw_wheel_dial(const struct tkw_wheel *wheel)
{
    return &wheel->dial;
}

/* All lists of a wheel, numbered: those outside slots first. */
enum { LISTS_OUTSIDE = 5 };

static const struct tkw_link *list_number(const struct tkw_wheel *wheel,
                                          uint32_t n)
{
    const struct tkw_link *outside[LISTS_OUTSIDE] = {
        &wheel->ready, &wheel->never, &wheel->moving, &wheel->due, &wheel->late,
    };
    if (n < LISTS_OUTSIDE)
        return outside[n];

    const struct tkw_slot *slot = &wheel->slots[(n - LISTS_OUTSIDE) / 2];
    return (n - LISTS_OUTSIDE) % 2 == 0 ? &slot->fallen : &slot->direct;
}

struct tkw_timer *tkw_wheel_walk(const struct tkw_wheel *wheel,
                                 struct tkw_walk *walk)
{
    const uint32_t count = LISTS_OUTSIDE + 2 * wheel->dial.slot_count;
    if (walk->next == NULL)
        walk->next = list_number(wheel, 0)->next;

    while (walk->next == list_number(wheel, walk->list)) {
        if (walk->list + 1 == count)
            return NULL;
        walk->list++;
        walk->next = list_number(wheel, walk->list)->next;
    }

    if (walk->list >= LISTS_OUTSIDE) {
        uint32_t home = (walk->list - LISTS_OUTSIDE) / 2;
        uint32_t i = dial_level_of(&wheel->dial, home);
        walk->level = i + 1;
        walk->slot = home - wheel->dial.levels[i].first;
    }
    struct tkw_timer *timer = timer_of(walk->next);
    walk->next = walk->next->next;
    return timer;
}

struct tkw_timer *tkw_wheel_drain(struct tkw_wheel *wheel)
{
    const struct tkw_link *list = NULL;
    for (uint32_t n = 0; n < LISTS_OUTSIDE; n++) {
        if (!list_is_empty(list_number(wheel, n)))
            list = list_number(wheel, n);
    }
    if (list == NULL && wheel->dial.busy != 0) {
        const struct tkw_level *level =
            &wheel->dial.levels[__builtin_ctzll(wheel->dial.busy)];
        const struct tkw_slot *slot =
            &wheel->slots[level->first +
                          bits_find(level->occupancy, level->size, 0)];
        list = list_is_empty(&slot->fallen) ? &slot->direct : &slot->fallen;
    }
    if (list == NULL)
        return NULL;

    struct tkw_timer *timer = timer_of(list->next);
    release(wheel, timer);
    wheel->counters.drained++;
    return timer;
}
