/*
 * oracle.c - a sorted array of pending timers, and a queue of ready ones.
 *
 *     pending   (12, #3) (12, #7) (40, #1) (never, #5)
 *                `-- due at 12 --'
 *     ready     ... | batch 9: 12 12
 */
#include "oracle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool oracle_open(struct oracle *oracle, size_t timer_count, tkw_tick start)
{
    *oracle = (struct oracle){.now = start, .timer_count = timer_count};
    oracle->timers = calloc(timer_count, sizeof oracle->timers[0]);
    oracle->pending = calloc(timer_count, sizeof oracle->pending[0]);
    /* Twice the room, so that the queue moves back only once in a while. */
    oracle->ready = calloc(2 * timer_count, sizeof oracle->ready[0]);
    if (oracle->timers != NULL && oracle->pending != NULL &&
        oracle->ready != NULL)
        return true;

    oracle_close(oracle);
    return false;
}

void oracle_close(struct oracle *oracle)
{
    free(oracle->timers);
    free(oracle->pending);
    free(oracle->ready);
    *oracle = (struct oracle){0};
}

/* The place of (deadline, sequence) among the pending. */
static size_t find_pending(const struct oracle *oracle, tkw_tick deadline,
                           uint64_t sequence)
{
    size_t low = 0, high = oracle->pending_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct oracle_entry *entry = &oracle->pending[middle];

        if (entry->deadline < deadline ||
            (entry->deadline == deadline && entry->sequence < sequence))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert_pending(struct oracle *oracle, struct oracle_entry entry)
{
    size_t at = find_pending(oracle, entry.deadline, entry.sequence);
    struct oracle_entry *place = &oracle->pending[at];

    memmove(place + 1, place, (oracle->pending_count - at) * sizeof *place);
    *place = entry;
    oracle->pending_count++;
}

static void remove_pending(struct oracle *oracle, uint64_t id)
{
    const struct oracle_timer *timer = &oracle->timers[id];
    size_t at = find_pending(oracle, timer->deadline, timer->sequence);
    struct oracle_entry *place = &oracle->pending[at];

    assert(at < oracle->pending_count);
    assert(place->id == id);
    oracle->pending_count--;
    memmove(place, place + 1, (oracle->pending_count - at) * sizeof *place);
}

static void append_ready(struct oracle *oracle, struct oracle_entry entry)
{
    if (oracle->ready_end == 2 * oracle->timer_count) {
        size_t count = oracle_ready_count(oracle);

        memmove(oracle->ready, &oracle->ready[oracle->ready_first],
                count * sizeof oracle->ready[0]);
        oracle->ready_first = 0;
        oracle->ready_end = count;
    }
    oracle->ready[oracle->ready_end++] = entry;
    oracle->timers[entry.id].state = ORACLE_READY;
}

static void remove_ready(struct oracle *oracle, uint64_t id)
{
    size_t at = oracle->ready_first;

    while (oracle->ready[at].id != id)
        at++;
    assert(at < oracle->ready_end);

    struct oracle_entry *first = &oracle->ready[oracle->ready_first];
    memmove(first + 1, first, (at - oracle->ready_first) * sizeof *first);
    oracle->ready_first++;
}

/* Make an armed timer idle, wherever it is. */
static void take_out(struct oracle *oracle, uint64_t id)
{
    struct oracle_timer *timer = &oracle->timers[id];

    assert(timer->state != ORACLE_IDLE);
    if (timer->state == ORACLE_PENDING)
        remove_pending(oracle, id);
    else
        remove_ready(oracle, id);
    timer->state = ORACLE_IDLE;
}

/* Put an idle timer where its deadline belongs, behind its equals. */
static void put_in(struct oracle *oracle, uint64_t id, tkw_tick deadline)
{
    struct oracle_timer *timer = &oracle->timers[id];
    struct oracle_entry entry = {deadline, ++oracle->sequence, (uint32_t)id};

    timer->deadline = deadline;
    timer->sequence = entry.sequence;
    if (deadline <= oracle->now && deadline != TKW_NEVER) {
        append_ready(oracle, entry); /* L5: a batch of its own */
    } else {
        insert_pending(oracle, entry);
        timer->state = ORACLE_PENDING;
    }
}

void oracle_arm(struct oracle *oracle, uint64_t id, tkw_tick deadline)
{
    if (oracle_is_armed(oracle, id))
        take_out(oracle, id);
    else
        oracle->armed++;
    oracle->timers[id].is_free = false;
    put_in(oracle, id, deadline);
}

bool oracle_postpone(struct oracle *oracle, uint64_t id, tkw_tick deadline)
{
    struct oracle_timer *timer = &oracle->timers[id];

    if (timer->state == ORACLE_IDLE)
        return false;

    /* Earlier, or from ready: that is arming anew, with its strict place. */
    bool is_free =
        timer->state == ORACLE_PENDING && deadline >= timer->deadline;
    take_out(oracle, id);
    timer->is_free = is_free;
    put_in(oracle, id, deadline);
    return true;
}

bool oracle_cancel(struct oracle *oracle, uint64_t id)
{
    if (!oracle_is_armed(oracle, id))
        return false;

    take_out(oracle, id);
    oracle->cancelled++;
    return true;
}

size_t oracle_advance(struct oracle *oracle, tkw_tick now)
{
    size_t due = 0;

    assert(now >= oracle->now);
    oracle->now = now;
    oracle->sequence++;
    oracle->advanced = oracle->sequence;
    while (due < oracle->pending_count) {
        struct oracle_entry entry = oracle->pending[due];

        if (entry.deadline > now || entry.deadline == TKW_NEVER)
            break;
        entry.sequence = oracle->sequence;
        append_ready(oracle, entry);
        due++;
    }
    if (due > 0) {
        oracle->pending_count -= due;
        memmove(oracle->pending, oracle->pending + due,
                oracle->pending_count * sizeof oracle->pending[0]);
    }
    return due;
}

uint64_t oracle_ready_from_end(const struct oracle *oracle, size_t back)
{
    assert(back < oracle_ready_count(oracle));
    return oracle->ready[oracle->ready_end - 1 - back].id;
}

uint64_t oracle_first(const struct oracle *oracle)
{
    if (oracle_ready_count(oracle) == 0)
        return UINT64_MAX;
    return oracle->ready[oracle->ready_first].id;
}

bool oracle_is_first_due(const struct oracle *oracle)
{
    return oracle_ready_count(oracle) > 0 &&
           oracle->ready[oracle->ready_first].sequence <= oracle->advanced;
}

bool oracle_may_pop(const struct oracle *oracle, uint64_t id)
{
    size_t first = oracle->ready_first;

    /* Overtaking: by the postponed, or past the postponed, among equals. */
    for (size_t at = first; at < oracle->ready_end; at++) {
        const struct oracle_entry *entry = &oracle->ready[at];

        if (entry->sequence != oracle->ready[first].sequence ||
            entry->deadline != oracle->ready[first].deadline)
            return false;
        if (entry->id == id)
            return true;
        if (!oracle->timers[entry->id].is_free && !oracle->timers[id].is_free)
            return false;
    }
    return false;
}

void oracle_pop(struct oracle *oracle, uint64_t id)
{
    assert(oracle_may_pop(oracle, id));
    take_out(oracle, id);
    oracle->fired++;
}

void oracle_drain(struct oracle *oracle, uint64_t id)
{
    take_out(oracle, id);
    oracle->drained++;
}
