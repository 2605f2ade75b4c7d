/*
 * pool/arm.c - arming, moving and cancelling timers: they touch a timer's own
 * cache line and the end of one stream.
 *
 * A record's tag counts the entries made for it.  arm_kept() resets the tag if
 * no entry is left.  The 4096th re-arming without a reset finds no tag, and
 * moves the timer into a body: another record, with its own tags, that stores
 * the timer's index.  The handle still names the first record, which stores the
 * body's index.
 *
 *     handle -> [timer | moved, body 7 ]        all its entries are dead
 *                            |   ^
 *                            v   | timer 3
 *               [body 7 | tag, deadline]  <- entry (7, tag)
 *
 * A body counts as an entry of its timer until pool_drop() drops the body's
 * newest entry.
 */
#include <errno.h>

#include "ahead.h"
#include "payload.h"
#include "private.h"

/* Armings between two checks for many dead entries, and entries swept per
 * arming while there are many. */
enum { ARMINGS_PER_DEAD_CHECK = TKW_SWEEP_SLACK / 4, SWEPT_EACH = 8 };

/* Add a chunk to a stream of the slot `place`, which may have been empty. */
RARE void tkw__slot_open(struct tkw_pool *pool, uint32_t level, uint32_t place,
                         struct stream *stream)
{
    struct slot *slot = &pool->slots[place];
    if (slot->chunks == 0) {
        struct ring *ring = &pool->rings[level];
        bits_add(ring->occupancy, ring->size, place - ring->first);
        pool->busy |= UINT64_C(1) << level;
        pool->wake = 0;
    }
    pool->quiet = 0;
    tkw__stream_open(pool, slot, stream);
    if (slot->chunks >= TKW_CROWDED_CHUNKS && level > 0)
        pool->crowds |= UINT64_C(1) << level;
}

/*
 * File an entry whose slot was emptied ahead of time.  If its deadline is in a
 * later turn, append it to the slot of the next turn.  Otherwise append it a
 * level lower, behind the entries that fell there: the window of that level
 * does not reach the slot, so its DIRECT is empty.
 */
static RARE int file_past_drained(struct tkw_pool *pool, uint32_t level,
                                  uint64_t number, uint64_t entry,
                                  tkw_tick deadline)
{
    if (level_number(&pool->dial.levels[level], deadline) != number)
        number += pool->dial.levels[level].size;
    else
        number = level_number(&pool->dial.levels[--level], deadline);
    slot_append(pool, level, number, FALLEN, entry);
    return 0;
}

/* Append an entry to a full stream.  If a timer is armed into the crowded
 * slot that falls next, also move part of the crowd, so that it never falls
 * at once. */
static RARE int file_in_new_chunk(struct tkw_pool *pool, uint32_t level,
                                  uint64_t number, uint64_t entry,
                                  bool is_arming)
{
    slot_append(pool, level, number, DIRECT, entry);
    uint32_t place = ring_slot(&pool->rings[level], number);
    if (is_arming && level > 0 && !pool->is_mid_tick &&
        number == pool->dial.levels[level].hand + 1 &&
        pool->slots[place].chunks >= TKW_CROWDED_CHUNKS)
        tkw__pool_help(pool, level);
    return 0;
}

/* File an entry by the rules of the dial: the slow path of file(). */
static RARE int file_by_rules(struct tkw_pool *pool, uint64_t entry,
                              tkw_tick deadline, bool is_arming)
{
    uint64_t number;
    const struct tkw_level *level = dial_level(&pool->dial, deadline, &number);
    uint32_t i = (uint32_t)(level - pool->dial.levels);
    const struct ring *ring = &pool->rings[i];

    if (number - level->hand > level->size) /* whole turns away */
        number = level->hand + 1 + (number - level->hand - 1) % level->size;
    if (number <= ring->drained)
        return file_past_drained(pool, i, number, entry, deadline);
    const struct slot *slot = &pool->slots[ring_slot(ring, number)];
    if (stream_is_full(&slot->streams[DIRECT]))
        return file_in_new_chunk(pool, i, number, entry, is_arming);
    slot_append(pool, i, number, DIRECT, entry);
    return 0;
}

/* File an entry whose deadline is to come.  Most often the first level that is
 * not too small takes it: see dial_level().  Returns 0, like the functions that
 * it tail-calls: the common path needs no stack. */
static inline int file(struct tkw_pool *pool, uint64_t entry, tkw_tick deadline,
                       bool is_arming)
{
    TKW_ASSERT(deadline > pool->dial.now);
    unsigned bits = 64 - (unsigned)__builtin_clzll(deadline - pool->dial.now);
    uint32_t level = pool->dial.lowest[bits];
    const struct ring *ring = &pool->rings[level];

    uint64_t number = deadline >> ring->shift;
    if (number - ring->low >= ring->reach)
        return file_by_rules(pool, entry, deadline, is_arming);
    uint32_t place = ring->first + ((uint32_t)number & ring->mask);
    struct stream *stream = &pool->slots[place].streams[DIRECT];
    if (stream_is_full(stream))
        return file_in_new_chunk(pool, level, number, entry, is_arming);
    stream_append(stream, entry);
    return 0;
}

/* Like file(), for an entry that changes its slot: move no part of a crowd. */
void tkw__pool_file(struct tkw_pool *pool, uint64_t entry, tkw_tick deadline)
{
    file(pool, entry, deadline, false);
}

/* Append an entry that is due already, or never, to a shelf.  Returns 0. */
static RARE int place_on_shelf(struct tkw_pool *pool, struct record *timer,
                               uint64_t entry, tkw_tick deadline)
{
    if (deadline == TKW_NEVER) {
        pool_shelve(pool, NEVER, entry);
        return 0;
    }
    timer->word |= WORD_QUEUED;
    pool->queued++;
    pool_shelve(pool, deadline <= pool->now ? FRESH : LATE, entry);
    pool->quiet = 0; /* the next advance moves it from FRESH to READY */
    return 0;
}

static inline int place(struct tkw_pool *pool, struct record *timer,
                        uint64_t entry, tkw_tick deadline)
{
    pool->entries++;
    if (deadline > pool->dial.now && deadline != TKW_NEVER)
        return file(pool, entry, deadline, true);
    return place_on_shelf(pool, timer, entry, deadline);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Ensure memory for an entry and `records` (0 or 1) records, and sweep if many
 * entries are dead.  Store in `arms_left` how many armings need no preparation.
 * Returns 0 or -ENOMEM. */
static int prepare(struct tkw_pool *pool, size_t records)
{
    int error = tkw__pool_provide(pool, 1, records, POOL_RECLAIM_STEPS);
    if (error != 0)
        return error;
    size_t left = ARMINGS_PER_DEAD_CHECK;
    if (pool_has_many_dead(pool)) {
        size_t paid = tkw__pool_sweep(pool) / SWEPT_EACH;
        left = paid > 0 ? paid - 1 : 0;
    }
    uint64_t places = pool->places_safe - pool_places(pool) - 1;
    left = places < left ? (size_t)places : left;
    /* With payload, tkw__pool_take() takes the records, not arming. */
    if (!pool_has_payload(pool))
        left =
            least(left, pool->room - pool->used + pool->free_count - records);
    size_t allowed = pool->timers_max - pool_live(pool);
    pool->arms_left = least(left, allowed - least(allowed, records));
    return 0;
}

/* Arm a timer.  There must be memory.  Returns 0. */
static inline int arm(struct tkw_pool *pool, tkw_handle *handle,
                      tkw_tick deadline, struct tkw_user user)
{
    uint64_t generation;
    uint32_t index = record_take(pool, &generation);
    struct record *timer = record_at(pool, index);
    timer->word = generation | WORD_ENTRY | IS_ARMED;
    timer->deadline = deadline;
    timer->user = user;
    pool->stats.armed++;
    if (handle != NULL)
        *handle = generation | index;
    return place(pool, timer, entry_make(index, 0, deadline), deadline);
}

static RARE int arm_prepared(struct tkw_pool *pool, tkw_handle *handle,
                             tkw_tick deadline, struct tkw_user user)
{
    if (pool_live(pool) >= pool->timers_max)
        return -EAGAIN;
    int error = prepare(pool, 1);
    return error != 0 ? error : arm(pool, handle, deadline, user);
}

int tkw_pool_arm(struct tkw_pool *pool, tkw_handle *handle, tkw_tick deadline,
                 struct tkw_user user)
{
    if (pool->arms_left == 0)
        return arm_prepared(pool, handle, deadline, user);
    pool->arms_left--;
    return arm(pool, handle, deadline, user);
}

/* Return the record that `handle` names, if its timer is armed, not queued, and
 * without a body; else NULL.  One comparison finds this common case. */
static inline struct record *find_filed(const struct tkw_pool *pool,
                                        tkw_handle handle)
{
    uint32_t index = (uint32_t)handle;
    if (index >= pool->used)
        return NULL;
    struct record *record = record_at(pool, index);
    uint64_t difference = record->word ^ handle;
    return difference >> WORD_MOVED_SHIFT == IS_ARMED >> WORD_MOVED_SHIFT
               ? record
               : NULL;
}

/* Move a timer out of its body, whose newest entry is dropped. */
static void leave_body(struct tkw_pool *pool, uint32_t index,
                       const struct record *body)
{
    struct record *timer = record_at(pool, index);
    timer->word = (timer->word & ~WORD_MOVED) - WORD_ENTRY;
    timer->deadline = body->deadline;
    record_free_if_unused(pool, index, timer);
}

/* Free the records that only `entry` kept in use: the record that `entry`
 * names, and if that is the body of a timer, the timer's record as well.
 * pool_drop() has subtracted `entry` from the counts already. */
void tkw__pool_drop_last(struct tkw_pool *pool, uint64_t entry)
{
    uint32_t index = entry_index(entry);
    struct record *record = record_at(pool, index);
    if ((record->word & WORD_STATE) == IS_BODY &&
        word_tag(record->word) == entry_tag(entry)) {
        uint32_t owner = (uint32_t)record->user.word;
        const struct record *timer = record_at(pool, owner);
        if ((timer->word & WORD_MOVED) && timer->deadline == index)
            leave_body(pool, owner, record);
    }
    record_free_if_unused(pool, index, record);
}

/* Move a timer, whose tags are used up, into a body.  Returns the body's first
 * entry.  There must be memory for both. */
static RARE uint64_t enter_body(struct tkw_pool *pool, uint32_t owner,
                                struct record *timer, tkw_tick deadline)
{
    uint64_t generation;
    uint32_t index = record_take(pool, &generation);
    struct record *body = record_at(pool, index);
    body->word = generation | WORD_ENTRY | IS_BODY;
    body->deadline = deadline;
    body->user = (struct tkw_user){.word = owner};
    if ((timer->word & WORD_MOVED) == 0)
        timer->word = (timer->word | WORD_MOVED) + WORD_ENTRY;
    timer->deadline = index;
    return entry_make(index, 0, deadline);
}

/* Are the tags used up, so that another entry needs a body? */
static inline bool needs_body(const struct tkw_pool *pool, struct record *timer)
{
    uint32_t at;
    return word_tag(timer_body(pool, timer, &at)->word) == TAG_MAX;
}

/* Return an entry for a new deadline.  The entry before it becomes dead. */
static inline uint64_t supersede(struct tkw_pool *pool, uint32_t index,
                                 struct record *timer, tkw_tick deadline)
{
    uint32_t at = index;
    struct record *body = timer_body(pool, timer, &at);
    uint64_t tag = word_tag(body->word);
    if (tag == TAG_MAX)
        return enter_body(pool, index, timer, deadline);
    body->word += WORD_ENTRY + 1;
    body->deadline = deadline;
    return entry_make(at, tag + 1, deadline);
}

/* Arm a timer that is kept.  Returns 1. */
static RARE int arm_kept(struct tkw_pool *pool, uint32_t index,
                         struct record *timer, tkw_tick deadline)
{
    if ((timer->word & WORD_ENTRIES) == 0)
        timer->word &= ~WORD_TAG; /* no entry is left that has a tag */
    record_set_state(timer, IS_ARMED);
    pool->arms_left = 0; /* prepare() has not counted this timer */
    pool->stats.armed++;
    uint64_t entry = supersede(pool, index, timer, deadline);
    place(pool, timer, entry, deadline);
    return 1;
}

/* Arm any armed or kept timer again: the slow path of tkw_pool_rearm(). */
static RARE int rearm_prepared(struct tkw_pool *pool, tkw_handle handle,
                               tkw_tick deadline)
{
    struct record *timer = record_find(pool, handle);
    if (timer == NULL)
        return 0;
    uint64_t state = timer->word & WORD_STATE;
    if (state != IS_ARMED && state != IS_KEPT)
        return 0;
    if (state == IS_KEPT && pool_live(pool) >= pool->timers_max)
        return -EAGAIN;
    int error = prepare(pool, needs_body(pool, timer));
    if (error != 0)
        return error;
    if (state == IS_ARMED && (timer->word & WORD_STATE) != IS_ARMED)
        return 0; /* given up, which the sweep in prepare() has found */
    if (state == IS_KEPT)
        return arm_kept(pool, (uint32_t)handle, timer, deadline);

    pool_leave_queue(pool, timer);
    uint64_t entry = supersede(pool, (uint32_t)handle, timer, deadline);
    place(pool, timer, entry, deadline);
    return 1;
}

int tkw_pool_rearm(struct tkw_pool *pool, tkw_handle handle, tkw_tick deadline)
{
    struct record *timer = find_filed(pool, handle);
    if (timer == NULL || pool->arms_left == 0 ||
        word_tag(timer->word) == TAG_MAX)
        return rearm_prepared(pool, handle, deadline);

    pool->arms_left--;
    timer->word += WORD_ENTRY + 1;
    timer->deadline = deadline;
    uint64_t tag = word_tag(timer->word);
    uint64_t entry = entry_make((uint32_t)handle, tag, deadline);
    return 1 + place(pool, timer, entry, deadline);
}

/* Postpone a timer that find_filed() rejects, or to an earlier deadline. */
static RARE int postpone_any(struct tkw_pool *pool, tkw_handle handle,
                             tkw_tick deadline)
{
    struct record *timer = record_find(pool, handle);
    if (timer == NULL || (timer->word & WORD_STATE) != IS_ARMED)
        return 0;
    uint32_t at = (uint32_t)handle;
    struct record *body = timer_body(pool, timer, &at);
    if ((timer->word & WORD_QUEUED) || deadline < body->deadline)
        return tkw_pool_rearm(pool, handle, deadline);
    body->deadline = deadline;
    pool->unseen++;
    return 1;
}

int tkw_pool_postpone(struct tkw_pool *pool, tkw_handle handle,
                      tkw_tick deadline)
{
    struct record *timer = find_filed(pool, handle);
    if (timer == NULL || deadline < timer->deadline)
        return postpone_any(pool, handle, deadline);
    timer->deadline = deadline;
    pool->unseen++;
    return 1;
}

static void cancel_armed(struct tkw_pool *pool, struct record *timer)
{
    pool_leave_queue(pool, timer);
    record_set_state(timer, IS_CANCELLED);
    pool->stats.cancelled++;
}

/* Cancel a timer that find_filed() rejects, or free a kept one. */
static RARE bool cancel_any(struct tkw_pool *pool, tkw_handle handle)
{
    struct record *timer = record_find(pool, handle);
    if (timer == NULL)
        return false;
    uint64_t state = timer->word & WORD_STATE;
    if (state == IS_KEPT) {
        record_set_state(timer, IS_CANCELLED);
        record_free_if_unused(pool, (uint32_t)handle, timer);
    }
    if (state != IS_ARMED)
        return false;
    cancel_armed(pool, timer);
    return true;
}

bool tkw_pool_cancel(struct tkw_pool *pool, tkw_handle handle)
{
    struct record *timer = find_filed(pool, handle);
    if (timer == NULL)
        return cancel_any(pool, handle);
    timer->word ^= IS_ARMED ^ IS_CANCELLED;
    pool->stats.cancelled++;
    return true;
}

void tkw_pool_prefetch(const struct tkw_pool *pool, tkw_handle handle)
{
    uint32_t index = (uint32_t)handle;
    if (index < pool->used)
        __builtin_prefetch(record_at(pool, index), 1);
}

void tkw__pool_cancel_given_up(struct tkw_pool *pool, struct record *timer)
{
    cancel_armed(pool, timer);
    pool->given_up_seen++;
}

int tkw__pool_take(struct tkw_pool *pool, size_t kept_back, uint32_t *index)
{
    if (pool->room - pool->used + pool->free_count <= kept_back) {
        int error =
            tkw__pool_provide(pool, 0, kept_back + 1, POOL_RECLAIM_STEPS);
        if (error != 0)
            return pool->room >> TKW_SEGMENT_BITS == pool->segments_max
                       ? -EAGAIN
                       : error;
    }
    uint64_t generation;
    *index = record_take(pool, &generation);
    record_at(pool, *index)->word = generation | IS_KEPT;
    return 0;
}

bool tkw__pool_needs_record(const struct tkw_pool *pool, uint32_t index)
{
    struct record *timer = record_at(pool, index);
    return (timer->word & WORD_ENTRIES) != 0 && needs_body(pool, timer);
}

int tkw__pool_arm_taken(struct tkw_pool *pool, uint32_t index,
                        tkw_tick deadline)
{
    struct record *timer = record_at(pool, index);
    if ((timer->word & WORD_ENTRIES) != 0) {
        tkw_handle handle = (timer->word & WORD_GENERATION) | index;
        int result = rearm_prepared(pool, handle, deadline);
        return result < 0 ? result : 0;
    }
    if (pool->arms_left == 0) {
        int error = prepare(pool, 0);
        if (error != 0)
            return error;
    } else {
        pool->arms_left--;
    }
    timer->word = (timer->word & WORD_GENERATION) | WORD_ENTRY | IS_ARMED;
    timer->deadline = deadline;
    pool->stats.armed++;
    return place(pool, timer, entry_make(index, 0, deadline), deadline);
}

void tkw__pool_free(struct tkw_pool *pool, uint32_t index, bool was_given_up)
{
    uint64_t generation = record_at(pool, index)->word & WORD_GENERATION;
    cancel_any(pool, generation | index);
    pool->given_up_seen += was_given_up;
}
