/*
 * key.c - what is in the key, and why that is all.
 *
 * Of the wheel: the phase of now in the period (see toy.c); where in a tick it
 * was stopped; every list in order, with deadlines relative to now.  Occupancy
 * and hands follow from these, and check() has said that they do.
 *
 * Of the oracle and the judge: whatever a later claim compares with.  They are
 * in the key because a wrong wheel may forget what they know: two arming
 * orders that look the same in the wheel must not look the same here.
 *
 * Not in the key are
 *   - which timer is which: timers are numbered as they are met;
 *   - deadlines of ready timers, and all of idle ones: nothing reads them but
 *     to compare ready ones with each other;
 *   - counters and the ledger's sums: they only grow.  Claims about them are
 *     about differences, but for the sums of work, which are judged along the
 *     shortest way to each state only;
 *   - the turns of a queue beyond the order they make, unless asked for.
 */
#include "key.h"

#include <string.h>

/* As in src/list.h. */
#define POSTPONED (UINT32_C(1) << 31)

#define NAMELESS UINT8_MAX

/* Bytes above all relative deadlines, see TOY_REACH_MAX. */
enum { BYTE_NEVER = 255, BYTE_END = 254, BYTE_MOST = 253 };

struct text {
    const struct toy *toy;
    size_t length;
    uint8_t names[TOY_TIMERS_MAX];
    uint8_t name_count;
    uint8_t bytes[1024];
};

static void put(struct text *text, uint64_t byte)
{
    text->bytes[text->length++] =
        (uint8_t)(byte < BYTE_MOST ? byte : BYTE_MOST);
}

static void put_end(struct text *text)
{
    text->bytes[text->length++] = BYTE_END;
}

static void put_tick(struct text *text, tkw_tick tick)
{
    if (tick == TKW_NEVER)
        text->bytes[text->length++] = BYTE_NEVER;
    else
        put(text, tick - text->toy->judge.oracle.now);
}

static const struct tkw_timer *timer_of(const struct tkw_link *link)
{
    return TKW_CONTAINER(link, const struct tkw_timer, link);
}

/* Whatever the list, a timer is met here first and gets its name. */
static void put_timer(struct text *text, const struct tkw_timer *timer)
{
    const struct judge *judge = &text->toy->judge;
    size_t id = (size_t)(timer - text->toy->timers);
    const struct oracle_timer *known = &judge->oracle.timers[id];

    text->names[id] = text->name_count++;
    if (known->state == ORACLE_PENDING) {
        put_tick(text, timer->deadline);
        put(text, known->is_free + 2U * ((timer->home & POSTPONED) != 0));
    }
}

static void put_list(struct text *text, const struct tkw_link *list)
{
    for (const struct tkw_link *link = list->next; link != list;
         link = link->next)
        put_timer(text, timer_of(link));
    put_end(text);
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
            put(text, timers[i]->turn % TKW_LANES +
                          8U * (timers[i]->turn == expected));
        expected = timers[i]->turn + 1;
    }
    if (!is_moving && text->toy->config.has_exact_turns)
        put(text, queue->turn % TKW_LANES + 8U * (queue->turn == 0));
    put_end(text);
}

static void put_wheel(struct text *text)
{
    const struct tkw_wheel *wheel = text->toy->wheel;

    put(text, wheel->now % text->toy->period);
    put(text, wheel->is_mid_tick ? 1 + wheel->levels_left : 0);
    put_list(text, &wheel->ready);
    put_list(text, &wheel->never);
    put_list(text, &wheel->due);
    put_list(text, &wheel->late);
    put_queue(text, &wheel->moving.fallen, true);
    put_queue(text, &wheel->moving.direct, true);
    for (uint32_t i = 0; i < wheel->dial.slot_count; i++) {
        const struct tkw_slot *slot = &wheel->slots[i];

        if (slot->fallen.turn == 0 && slot->direct.turn == 0)
            continue;
        put(text, i);
        put_queue(text, &slot->fallen, false);
        put_queue(text, &slot->direct, false);
    }
    put_end(text);
}

static bool are_equals(const struct oracle_entry *a,
                       const struct oracle_entry *b)
{
    return a->deadline == b->deadline && a->sequence == b->sequence;
}

/* Which ready ones are equals, and may overtake: of no use to one alone. */
static void put_ready(struct text *text)
{
    const struct oracle *oracle = &text->toy->judge.oracle;
    size_t end = oracle->ready_end;

    for (size_t at = oracle->ready_first, next; at < end; at = next) {
        const struct oracle_entry *entries = oracle->ready;

        for (next = at + 1;
             next < end && are_equals(&entries[at], &entries[next]);)
            next++;
        for (size_t i = at; i < next; i++)
            put(text,
                text->names[entries[i].id] * 2U +
                    (next - at > 1 && oracle->timers[entries[i].id].is_free));
        put_end(text);
    }
}

/* The order of those that were not postponed: the others have none. */
static void put_pending(struct text *text)
{
    const struct oracle *oracle = &text->toy->judge.oracle;

    for (size_t i = 0; i < oracle->pending_count; i++)
        if (!oracle->timers[oracle->pending[i].id].is_free)
            put(text, text->names[oracle->pending[i].id]);
    put_end(text);
}

/* All else that the judge remembers follows, see toy_look_inside(). */
static void put_judge(struct text *text)
{
    put(text, text->toy->judge.idle_stops);
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Two chains that start apart and never meet. */
static struct key hash(struct text *text)
{
    struct key key = {UINT64_C(0x9e3779b97f4a7c15), 1};

    memset(text->bytes + text->length, 0, sizeof(uint64_t));
    for (size_t at = 0; at < text->length; at += sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, text->bytes + at, sizeof word);
        key.high = mix(key.high ^ word) + UINT64_C(0xd1342543de82ef95);
        key.low = mix(key.low + word * UINT64_C(0xff51afd7ed558ccd));
    }
    key.low |= 1;
    return key;
}

struct key key_of(const struct toy *toy)
{
    struct text text = {.toy = toy};

    memset(text.names, NAMELESS, sizeof text.names);
    put_wheel(&text);
    put_pending(&text);
    put_ready(&text);
    put_judge(&text);
    return hash(&text);
}
