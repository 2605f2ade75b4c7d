/*
 * wheel/advance.c - the intrusive hierarchical wheel.
 *
 * The dial says which slot; this file keeps the timers in it.  A slot is two
 * queues: what fell from a higher level, then what was armed straight into it.
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
 *      the second is filed at the level the first was filed at, or lower.
 *   2. A slot is emptied at the tick at which it begins.  The hands of lower
 *      levels stand at that tick too, and their windows end where slots that
 *      begin now end.  So of the slots that contain d and begin now, take the
 *      lowest: whatever they hold for d falls to one and the same slot, just
 *      below that one.
 *   3. There it goes to `fallen`, which held nothing for d before: timers fall
 *      into a slot only at the tick at which the slot just above it begins.
 *      The higher levels go first, and of each slot `fallen` before `direct`.
 *      By 1 and by what happened before in the same way, that is arming order.
 *   4. What is in `direct` of that slot was filed lower than all that has just
 *      fallen, so by 1 it was armed later; and it leaves later.
 *
 * And by deadline, because ticks are finished in order and what is armed for
 * the past goes behind what is ready.  With TKW_ROUNDS a timer that is passed
 * over goes to `fallen` of the slot it was in, in order, ahead of what is armed
 * into `direct` from then on.
 *
 * A tick can be left unfinished for lack of budget.  The hands stand at that
 * tick then, so that what goes on falling and what is newly armed use the same
 * windows, but `now` is the tick before.  `moving` holds the rest of the slot
 * in hand, `levels_left` says which levels are still to be emptied, `due` keeps
 * what has expired, `late` what was armed for this very tick meanwhile: last
 * among its equals.  Nothing of the tick is ready before all of it is.
 *
 * A timer that is armed for a tick that has come goes to `fresh`, behind all of
 * `ready`.  The next advance moves `fresh` to `ready`: until then
 * tkw_wheel_pop_due() does not see it.
 */
#include <tickwheel/wheel.h>

#include <errno.h>
#include <string.h>

#include "base/attributes.h"
#include "dial/inline.h"
#include "queue.h"

_Static_assert(sizeof(void *) != 8 || sizeof(struct tkw_timer) == 32,
               "a timer takes 32 bytes");
_Static_assert(sizeof(struct tkw_wheel) % _Alignof(struct tkw_slot) == 0,
               "slots can follow the wheel in memory");
_Static_assert(_Alignof(struct tkw_wheel) >= _Alignof(uint64_t) &&
                   sizeof(struct tkw_wheel) % _Alignof(uint64_t) == 0 &&
                   sizeof(struct tkw_slot) % _Alignof(uint64_t) == 0,
               "the occupancy words can follow the slots");

static inline bool is_armed(const struct tkw_timer *timer)
{
    return timer->link.next != NULL;
}

/* What goes to a list in no slot of its own. */
static void shelve(struct tkw_link *list, struct tkw_timer *timer)
{
    timer->home = HOME_NONE;
    list_append(list, &timer->link);
}

/* A slot that was empty is not any more.  Returns its level. */
static RARE const struct tkw_level *
occupy(struct tkw_wheel *wheel, const struct tkw_level *level, uint32_t slot)
{
    dial_occupy(&wheel->dial, level, slot);
    wheel->wake = 0;
    return level;
}

/* File a timer whose deadline is to come.  Returns its level. */
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
        return occupy(wheel, level, slot);
    return level;
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

/* Put a timer where its new deadline wants it. */
static inline void place(struct tkw_wheel *wheel, struct tkw_timer *timer,
                         tkw_tick deadline)
{
    timer->deadline = deadline;
    if (deadline > wheel->dial.now && deadline != TKW_NEVER)
        file(wheel, timer, false);
    else
        shelve_by_deadline(wheel, timer);
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

/*
 * The list a timer was in is empty now.  If its whole slot is, say so.  One
 * taken from `moving` still names the slot it came from: to say it again is
 * harmless.  Returns true, for those who call it last.
 */
static RARE bool leave_home(struct tkw_wheel *wheel,
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

/* Take an armed timer out, idle from now on.  Returns true. */
static inline bool release(struct tkw_wheel *wheel, struct tkw_timer *timer)
{
    bool is_last = list_remove(&timer->link);
    timer->link.next = NULL;
    if (is_last)
        return leave_home(wheel, timer);
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

/* Move a timer that was the last of its list, and has left it. */
static RARE void move_last(struct tkw_wheel *wheel, struct tkw_timer *timer,
                           tkw_tick deadline)
{
    leave_home(wheel, timer);
    place(wheel, timer, deadline);
}

void tkw_wheel_arm(struct tkw_wheel *wheel, struct tkw_timer *timer,
                   tkw_tick deadline)
{
    if (!is_armed(timer))
        wheel->counters.armed++;
    else if (list_remove(&timer->link)) {
        move_last(wheel, timer, deadline);
        return;
    }
    place(wheel, timer, deadline);
}

/* Returns true, for those who call it last. */
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

    wheel->counters.cancelled++;
    return release(wheel, timer);
}

bool tkw_timer_is_armed(const struct tkw_timer *timer)
{
    return is_armed(timer);
}

/* Take the current slot of a level in hand. */
static void take_slot(struct tkw_wheel *wheel, const struct tkw_level *level)
{
    uint32_t slot = level_slot(level, level->hand);
    if (!bits_has(level->occupancy, slot))
        return;

    struct tkw_slot *current = &wheel->slot[level->first + slot];
    queue_take(&wheel->moving.fallen, &current->fallen);
    queue_take(&wheel->moving.direct, &current->direct);
    dial_vacate(&wheel->dial, level, slot);
    wheel->counters.visits++;
}

/* Send a timer on that was taken from a slot of the level `from`. */
static inline void send_on(struct tkw_wheel *wheel, struct tkw_timer *timer,
                           const struct tkw_level *from)
{
    if (timer->deadline <= wheel->dial.now) {
        shelve(&wheel->due, timer);
        return;
    }
    bool was_postponed = timer->home & HOME_POSTPONED;
    if (timer->deadline == TKW_NEVER) {
        shelve(&wheel->never, timer);
        wheel->counters.refiles++;
        return;
    }
    const struct tkw_level *to = file(wheel, timer, true);
    if (was_postponed)
        wheel->counters.refiles++;
    else if (to < from)
        wheel->counters.falls++;
    else
        wheel->counters.passes++;
}

/* Send on a whole queue.  Returns false if the budget does not suffice. */
static bool send_on_queue(struct tkw_wheel *wheel, struct tkw_queue *queue,
                          size_t *budget)
{
    const struct tkw_level *from = &wheel->dial.levels[wheel->levels_left];
    struct scouts scouts;
    scouts_begin(&scouts, queue);
    for (struct tkw_timer *timer; (timer = queue_first(queue)) != NULL;) {
        if (*budget == 0)
            return false;
        --*budget;
        queue_leave(queue, timer, &scouts);
        send_on(wheel, timer, from);
    }
    return true;
}

/* Send on all that was taken in hand, most often of one kind only. */
static bool send_on_all(struct tkw_wheel *wheel, size_t *budget)
{
    struct tkw_slot *moving = &wheel->moving;
    if (!queue_is_empty(&moving->fallen) &&
        !send_on_queue(wheel, &moving->fallen, budget))
        return false;
    return queue_is_empty(&moving->direct) ||
           send_on_queue(wheel, &moving->direct, budget);
}

/* Begin the work of a tick at which some slot begins. */
static void begin_tick(struct tkw_wheel *wheel, tkw_tick tick)
{
    dial_turn(&wheel->dial, tick);
    wheel->now = tick - 1;
    wheel->wake = 0;
    wheel->is_mid_tick = true;
    wheel->levels_left = dial_beginning(&wheel->dial);
}

/* Go on with it.  Returns whether it is finished; `budget` is what is left. */
static bool finish_tick(struct tkw_wheel *wheel, size_t *budget)
{
    for (;;) {
        if (!send_on_all(wheel, budget))
            return false;
        if (wheel->levels_left == 0)
            break;
        wheel->levels_left--;
        take_slot(wheel, &wheel->dial.levels[wheel->levels_left]);
    }

    list_splice(&wheel->ready, &wheel->due);
    list_splice(&wheel->ready, &wheel->late);
    wheel->now = wheel->dial.now;
    wheel->is_mid_tick = false;
    return true;
}

/* Begin the next tick at which a slot begins, if it comes by `now`. */
static bool begin_next(struct tkw_wheel *wheel, tkw_tick now)
{
    wheel->wake = dial_next(&wheel->dial);
    if (now < wheel->wake || wheel->wake == TKW_NEVER)
        return false;
    begin_tick(wheel, wheel->wake);
    return true;
}

/* Move time to `now`, no slot beginning. */
static inline void pass(struct tkw_wheel *wheel, tkw_tick now)
{
    dial_turn(&wheel->dial, now);
    wheel->now = now;
}

static RARE bool advance_through(struct tkw_wheel *wheel, tkw_tick now,
                                 size_t budget)
{
    if (wheel->is_mid_tick && now < wheel->dial.now)
        now = wheel->dial.now; /* an earlier advance has asked for it */

    if (!list_is_empty(&wheel->fresh))
        list_splice(&wheel->ready, &wheel->fresh);
    while (now > wheel->now) {
        if (!wheel->is_mid_tick && !begin_next(wheel, now)) {
            pass(wheel, now);
        } else if (!finish_tick(wheel, &budget)) {
            wheel->counters.stops++;
            return false;
        }
    }
    return true;
}

bool tkw_wheel_advance_some(struct tkw_wheel *wheel, tkw_tick now,
                            size_t budget)
{
    TKW_ASSERT(now >= wheel->now);
    if (now >= wheel->wake || now < wheel->now)
        return advance_through(wheel, now, budget);
    pass(wheel, now);
    return true;
}

void tkw_wheel_advance(struct tkw_wheel *wheel, tkw_tick now)
{
    tkw_wheel_advance_some(wheel, now, SIZE_MAX);
}

/* Take the first timer of a list that is not empty. */
static inline struct tkw_timer *take_first(struct tkw_wheel *wheel,
                                           const struct tkw_link *list)
{
    struct tkw_timer *timer = timer_of(list->next);
    release(wheel, timer);
    wheel->counters.fired++;
    return timer;
}

struct tkw_timer *tkw_wheel_pop(struct tkw_wheel *wheel)
{
    if (!list_is_empty(&wheel->ready))
        return take_first(wheel, &wheel->ready);
    if (!list_is_empty(&wheel->fresh))
        return take_first(wheel, &wheel->fresh);
    return NULL;
}

struct tkw_timer *tkw_wheel_pop_due(struct tkw_wheel *wheel)
{
    if (list_is_empty(&wheel->ready))
        return NULL;
    return take_first(wheel, &wheel->ready);
}

bool tkw_wheel_is_ready(const struct tkw_wheel *wheel,
                        const struct tkw_timer *timer)
{
    /* What is due in an unfinished tick is in no slot either, but its deadline
     * lies after `now`. */
    return is_armed(timer) && timer->home == HOME_NONE &&
           timer->deadline <= wheel->now && timer->deadline != TKW_NEVER;
}

tkw_tick tkw_wheel_next(const struct tkw_wheel *wheel)
{
    if (wheel->is_mid_tick || !list_is_empty(&wheel->ready) ||
        !list_is_empty(&wheel->fresh))
        return wheel->now;
    return dial_next(&wheel->dial);
}

tkw_tick tkw_wheel_now(const struct tkw_wheel *wheel)
{
    return wheel->now;
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
