/*
 * key.c - what is in the key of any kind of toy, and why that is all.
 *
 * Of the engine: see its kind.
 *
 * Of the oracle and the judge: whatever a later claim compares with.  They are
 * in the key because a wrong engine may forget what they know: two arming
 * orders that look the same in the engine must not look the same here.
 *
 * Not in the key are
 *   - which timer is which: timers are numbered as they are met;
 *   - deadlines of ready timers, and all of idle ones: nothing reads them but
 *     to compare ready ones with each other;
 *   - counters and the ledger's sums: they only grow.  Claims about them are
 *     about differences, but for the sums of work, which are judged along the
 *     shortest way to each state only.
 */
#include "key.h"

#include <stdlib.h>
#include <string.h>

#define NAMELESS UINT8_MAX

/* Bytes above all relative deadlines, see TOY_REACH_MAX. */
enum { BYTE_NEVER = 255, BYTE_END = 254, BYTE_MOST = 253 };

void text_name(struct text *text, uint64_t id)
{
    text->names[id] = text->name_count++;
}

static void put_byte(struct text *text, uint8_t byte)
{
    if (text->length + sizeof(uint64_t) >= sizeof text->bytes)
        abort(); /* not a toy any more */
    text->bytes[text->length++] = byte;
}

void text_put(struct text *text, uint64_t number)
{
    put_byte(text, (uint8_t)(number < BYTE_MOST ? number : BYTE_MOST));
}

void text_put_end(struct text *text)
{
    put_byte(text, BYTE_END);
}

void text_put_tick(struct text *text, tkw_tick tick)
{
    if (tick == TKW_NEVER)
        put_byte(text, BYTE_NEVER);
    else
        text_put(text, tick - text->toy->judge.oracle.now);
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
            text_put(text, text->names[entries[i].id] * 2U +
                               (next - at > 1 &&
                                oracle->timers[entries[i].id].is_free));
        text_put_end(text);
    }
}

/* The order of those that were not postponed: the others have none. */
static void put_pending(struct text *text)
{
    const struct oracle *oracle = &text->toy->judge.oracle;

    for (size_t i = 0; i < oracle->pending_count; i++)
        if (!oracle->timers[oracle->pending[i].id].is_free)
            text_put(text, text->names[oracle->pending[i].id]);
    text_put_end(text);
}

/*
 * All else that the judge remembers follows, see read_inside() of the kinds.
 * How many stops may follow was settled at the first one.
 */
static void put_judge(struct text *text)
{
    const struct judge *judge = &text->toy->judge;

    text_put(text, judge->idle_stops);
    if (judge->idle_stops > 0 && !judge->engine->is_exact)
        text_put(text, judge->idle_max);
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
    toy_kind.put(&text);
    put_pending(&text);
    put_ready(&text);
    put_judge(&text);
    return hash(&text);
}
