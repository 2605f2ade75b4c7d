/*
 * wheel/advance.c - the intrusive hierarchical wheel: time advances, timers
 * fall from level to level and expire.
 *
 * The dial computes the slot; this file keeps the timers in it.  A slot is two
 * queues: `fallen`, timers from a higher level, then `direct`, timers armed
 * straight into it.
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
 * Why equal deadlines are popped in arming order, with no number stored to sort
 * by.  Take two timers with one deadline d, the first armed before the second,
 * neither postponed.
 *
 *   1. The level that takes d never rises: it is the lowest whose hand is less
 *      than `size` slots before d's slot, and hands only move towards it.  So
 *      the second is filed at the level the first was filed at, or lower.
 *   2. A slot is emptied at the tick at which it begins.  The hands of lower
 *      levels stand at that tick too, and their windows end where slots that
 *      begin now end.  So of the slots that contain d and begin now, take the
 *      lowest: all timers for d in these slots fall to one slot, just below
 *      the lowest.
 *   3. There they go to `fallen`, which held no timer for d before: timers fall
 *      into a slot only at the tick at which the slot just above it begins.
 *      The higher levels go first, and of each slot `fallen` before `direct`.
 *      By 1, and by induction over earlier falls, that is arming order.
 *   4. A timer for d in `direct` of that slot was filed lower than all that
 *      have just fallen, so by 1 it was armed later; and it leaves later.
 *
 * Timers are also popped by deadline, because ticks are finished in order and a
 * timer armed for the past goes behind all that are ready.  With TKW_ROUNDS a
 * timer that is passed over goes to `fallen` of the slot it was in, in order,
 * ahead of timers armed into `direct` from then on.
 *
 * A tick can be left unfinished for lack of budget.  The hands stand at that
 * tick then, so that falling and newly armed timers use one set of windows, but
 * `now` is the tick before.  `moving` holds the rest of the slot being emptied.
 * `levels_left` is the number of levels still to be emptied.  `due` holds the
 * timers that have expired, and `late` those armed for this tick meanwhile,
 * which are last among their equals.  No timer of the tick is ready before all
 * are.
 *
 * A timer that is armed for a tick that has come goes to `fresh`, behind all of
 * `ready`.  The next advance moves `fresh` to `ready`: until then
 * tkw_wheel_pop_due() does not return it.
 */
#include "private.h"

/* Move the timers of a level's current slot to `moving`. */
static void take_slot(struct tkw_wheel *wheel, const struct tkw_level *level)
{
    uint32_t slot = level_slot(level, level->hand);
    if (!bits_has(level->occupancy, slot))
        return;

    struct tkw_slot *current = &wheel->slot[level->first + slot];
    queue_take(&wheel->moving.fallen, &current->fallen);
    queue_take(&wheel->moving.direct, &current->direct);
    dial_vacate(&wheel->dial, level, slot);
    wheel->stats.visits++;
}

/* File a timer that was taken from a slot of the level `from`, or expire it. */
static inline void file_or_expire(struct tkw_wheel *wheel,
                                  struct tkw_timer *timer,
                                  const struct tkw_level *from)
{
    if (timer->deadline <= wheel->dial.now) {
        shelve(&wheel->due, timer);
        return;
    }
    bool was_postponed = timer->home & HOME_POSTPONED;
    if (timer->deadline == TKW_NEVER) {
        shelve(&wheel->never, timer);
        wheel->stats.refiles++;
        return;
    }
    const struct tkw_level *to = file(wheel, timer, true);
    if (was_postponed)
        wheel->stats.refiles++;
    else if (to < from)
        wheel->stats.falls++;
    else
        wheel->stats.passes++;
}

/* Call file_or_expire() for a whole queue.  Returns false if the budget is too
 * small. */
static bool file_or_expire_queue(struct tkw_wheel *wheel,
                                 struct tkw_queue *queue, size_t *budget)
{
    const struct tkw_level *from = &wheel->dial.levels[wheel->levels_left];
    struct scouts scouts;
    scouts_begin(&scouts, queue);
    for (struct tkw_timer *timer; (timer = queue_first(queue)) != NULL;) {
        if (*budget == 0)
            return false;
        --*budget;
        queue_leave(queue, timer, &scouts);
        file_or_expire(wheel, timer, from);
    }
    return true;
}

/* Call file_or_expire() for all of `moving`, most often only one of its
 * queues. */
static bool file_or_expire_all(struct tkw_wheel *wheel, size_t *budget)
{
    struct tkw_slot *moving = &wheel->moving;
    if (!queue_is_empty(&moving->fallen) &&
        !file_or_expire_queue(wheel, &moving->fallen, budget))
        return false;
    return queue_is_empty(&moving->direct) ||
           file_or_expire_queue(wheel, &moving->direct, budget);
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

/* Continue the tick.  Returns whether it is finished; `*budget` is the budget
 * left. */
static bool finish_tick(struct tkw_wheel *wheel, size_t *budget)
{
    for (;;) {
        if (!file_or_expire_all(wheel, budget))
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

/* Begin the next tick at which a slot begins, unless it is after `now`. */
static bool begin_next(struct tkw_wheel *wheel, tkw_tick now)
{
    wheel->wake = dial_next(&wheel->dial);
    if (now < wheel->wake || wheel->wake == TKW_NEVER)
        return false;
    begin_tick(wheel, wheel->wake);
    return true;
}

/* Move time to `now`, if no slot begins until then. */
static inline void pass(struct tkw_wheel *wheel, tkw_tick now)
{
    dial_turn(&wheel->dial, now);
    wheel->now = now;
}

static RARE bool advance_through(struct tkw_wheel *wheel, tkw_tick now,
                                 size_t budget)
{
    if (wheel->is_mid_tick && now < wheel->dial.now)
        now = wheel->dial.now; /* an earlier advance asked for this tick */

    if (!list_is_empty(&wheel->fresh))
        list_splice(&wheel->ready, &wheel->fresh);
    while (now > wheel->now) {
        if (!wheel->is_mid_tick && !begin_next(wheel, now)) {
            pass(wheel, now);
        } else if (!finish_tick(wheel, &budget)) {
            wheel->stats.stops++;
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

/* Pop the first timer of a list that is not empty. */
static inline struct tkw_timer *take_first(struct tkw_wheel *wheel,
                                           const struct tkw_link *list)
{
    struct tkw_timer *timer = timer_of(list->next);
    release(wheel, timer);
    wheel->stats.fired++;
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
