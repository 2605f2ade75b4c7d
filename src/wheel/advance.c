/*
 * wheel/advance.c - the intrusive hierarchical wheel: time advances, timers
 * fall from level to level and expire.
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
#include "private.h"

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
