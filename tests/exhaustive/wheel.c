/*
 * wheel.c - tickwheel/wheel.h as a toy: its memory, its key, its sizes.
 *
 * In the key are the phase of now in the period; where in a tick it was
 * stopped; every list in order, with deadlines relative to now.  Occupancy and
 * hands follow from these, and check() has said that they do.
 *
 * Not in the key are the turns of a queue beyond the order they make, unless
 * asked for.
 */
#include <tickwheel/wheel.h>

#include "key.h"

/* As in model/engine_wheel.c, whose operations are the ones used. */
struct wheel_engine {
    struct tkw_wheel *wheel;
    size_t timer_count;
    struct tkw_timer timers[];
};

/* As in src/list.h. */
#define POSTPONED (UINT32_C(1) << 31)

/*
 * Two sizes and TKW_ROUNDS make a wheel of two levels and no more.  Postponed
 * timers can be in any slot with any deadline, and so make for many states:
 * three timers without, for the order among them, and two with.
 */
static const struct toy_plan everyday[] = {
    {"2r+", 2, 0},   {"2,2r-", 3, 0}, {"2,3r-", 3, 0}, {"3,2r-", 3, 0},
    {"3,3r-", 3, 0}, {"2,2r", 2, 0},  {"2,3r", 2, 0},  {"3,2r", 2, 0},
    {"2r", 3, 0},    {"3r", 2, 0},    {"2-", 2, 0},
};

static const struct toy_plan larger[] = {
    {"2,2r", 3, 0},    {"3,3r", 2, 0},    {"3r", 3, 0},      {"2r-+", 3, 0},
    {"2,2r-", 4, 0},   {"3,3r-", 4, 0},   {"2,2,2r-", 4, 0}, {"2,2,2r-", 3, 0},
    {"2,3,2r-", 3, 0}, {"3,2,2r-", 3, 0}, {"2,2,2r", 2, 0},  {"2", 2, 0},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct engine *engine(void)
{
    return &engine_wheel;
}

/*
 * Adding a whole turn of a level to all times moves its hand, and the hands of
 * the levels below, back to the slot where they were.  So with TKW_ROUNDS a
 * turn of the last level changes nothing.  Growing, nothing is ever filed
 * above the first level whose slots are as long as the reach, because what is
 * armed lies in its present slot or the next: a turn of that level will do.
 */
static tkw_tick find_period(const struct toy_config *config,
                            const struct ladder *ladder, tkw_tick reach)
{
    uint32_t level = 0;

    (void)config;
    if (ladder->is_rounds)
        return ladder_turn(ladder);
    while (ladder->ticks[level] < reach)
        level++;
    return ladder->ticks[level] * ladder->sizes[level];
}

static void add_engine(struct toy *toy)
{
    struct wheel_engine *self = toy->judge.self;
    struct toy_region wheel = {
        .at = self->wheel,
        .bytes = tkw_wheel_bytes(&toy->config.geometry),
    };
    struct toy_region timers = {
        .at = self->timers,
        .bytes = self->timer_count * sizeof self->timers[0],
    };

    toy_add_region(toy, wheel);
    toy_add_region(toy, timers);
}

static void prepare(struct toy *toy, const struct op *op)
{
    (void)toy;
    (void)op;
}

static bool is_plain(const struct toy *toy, uint64_t id)
{
    (void)toy;
    (void)id;
    return true;
}

static bool is_beyond(const struct toy *toy)
{
    (void)toy;
    return false;
}

static const struct tkw_timer *timer_of(const struct tkw_link *link)
{
    return TKW_CONTAINER(link, const struct tkw_timer, link);
}

static size_t number(const struct toy *toy, const struct tkw_timer *timer)
{
    const struct wheel_engine *self = toy->judge.self;

    return (size_t)(timer - self->timers);
}

/*
 * What was armed, or postponed, for the very tick under way costs the advance
 * nothing; what was filed meanwhile was filed from that tick.
 */
static void correct_filings(struct toy *toy, const struct tkw_wheel *wheel)
{
    struct filing *filings = toy->judge.ledger.filings;

    for (const struct tkw_link *link = wheel->late.next; link != &wheel->late;
         link = link->next)
        filings[number(toy, timer_of(link))].is_late = true;
    for (uint32_t id = 0; id < toy->config.timer_count; id++) {
        if (!filings[id].is_late || filings[id].deadline <= wheel->dial.now)
            continue;
        filings[id].at = wheel->dial.now;
        filings[id].is_late = false;
    }
}

/*
 * The wheel does not remember what tick it was to advance to, so an advance
 * that stopped and has since got to the end of a tick might as well have been
 * to that tick, and one that has not, to the tick it is in.  There what it
 * touched, and does not show, is what is due.  And what has come to be with
 * those that never expire wakes nobody any more.
 */
static void read_inside(struct toy *toy)
{
    struct judge *judge = &toy->judge;
    const struct wheel_engine *self = judge->self;
    const struct tkw_wheel *wheel = self->wheel;

    judge->is_unfinished = wheel->is_mid_tick;
    judge->farthest = wheel->dial.now;
    judge->allowance = 0;
    for (const struct tkw_link *link = wheel->due.next; link != &wheel->due;
         link = link->next)
        judge->allowance++;
    for (const struct tkw_link *link = wheel->never.next; link != &wheel->never;
         link = link->next)
        judge->oracle.timers[number(toy, timer_of(link))].is_free = false;
    if (wheel->is_mid_tick)
        correct_filings(toy, wheel);
    else
        judge->idle_stops = 0;
}

static void put_timer(struct text *text, const struct tkw_timer *timer)
{
    uint64_t id = number(text->toy, timer);
    const struct oracle_timer *known = &text->toy->judge.oracle.timers[id];

    text_name(text, id);
    if (known->state == ORACLE_PENDING) {
        text_put_tick(text, timer->deadline);
        text_put(text, known->is_free + 2U * ((timer->home & POSTPONED) != 0));
    }
}

static void put_list(struct text *text, const struct tkw_link *list)
{
    for (const struct tkw_link *link = list->next; link != list;
         link = link->next)
        put_timer(text, timer_of(link));
    text_put_end(text);
}

/* The timers of all lanes, by turn. */
static size_t sort_queue(const struct tkw_queue *queue,
                         const struct tkw_timer **timers)
{
    size_t count = 0;

    for (unsigned i = 0; i < TKW_LANES; i++) {
        const struct tkw_link *lane = &queue->lanes[i];

        for (const struct tkw_link *link = lane->next; link != lane;
             link = link->next) {
            size_t at = count++;

            for (; at > 0 && timers[at - 1]->turn > timer_of(link)->turn; at--)
                timers[at] = timers[at - 1];
            timers[at] = timer_of(link);
        }
    }
    return count;
}

/*
 * A turn counts by its lane, and by whether it is just the one expected: that
 * is a way of its own through queue_first().
 */
static void put_queue(struct text *text, const struct tkw_queue *queue,
                      bool is_moving)
{
    const struct tkw_timer *timers[TOY_TIMERS_MAX];
    size_t count = sort_queue(queue, timers);
    uint32_t expected = is_moving ? queue->turn : 0;

    for (size_t i = 0; i < count; i++) {
        put_timer(text, timers[i]);
        if (text->toy->config.has_exact_turns)
            text_put(text, timers[i]->turn % TKW_LANES +
                               8U * (timers[i]->turn == expected));
        expected = timers[i]->turn + 1;
    }
    if (!is_moving && text->toy->config.has_exact_turns)
        text_put(text, queue->turn % TKW_LANES + 8U * (queue->turn == 0));
    text_put_end(text);
}

static void put(struct text *text)
{
    const struct wheel_engine *self = text->toy->judge.self;
    const struct tkw_wheel *wheel = self->wheel;

    text_put(text, wheel->now % text->toy->period);
    text_put(text, wheel->is_mid_tick ? 1 + wheel->levels_left : 0);
    put_list(text, &wheel->ready);
    put_list(text, &wheel->fresh);
    put_list(text, &wheel->never);
    put_list(text, &wheel->due);
    put_list(text, &wheel->late);
    put_queue(text, &wheel->moving.fallen, true);
    put_queue(text, &wheel->moving.direct, true);
    for (uint32_t i = 0; i < wheel->dial.slot_count; i++) {
        const struct tkw_slot *slot = &wheel->slot[i];

        if (slot->fallen.turn == 0 && slot->direct.turn == 0)
            continue;
        text_put(text, i);
        put_queue(text, &slot->fallen, false);
        put_queue(text, &slot->direct, false);
    }
    text_put_end(text);
}

const struct toy_kind toy_kind = {
    .program = "exhaustive",
    .width = 8,
    .things = "timing wheels",
    .letters = ", + to tell the lanes of a queue apart",
    .engine = engine,
    .everyday = everyday,
    .larger = larger,
    .everyday_count = COUNT(everyday),
    .larger_count = COUNT(larger),
    .find_period = find_period,
    .add_engine = add_engine,
    .prepare = prepare,
    .read_inside = read_inside,
    .is_plain = is_plain,
    .is_beyond = is_beyond,
    .put = put,
};
