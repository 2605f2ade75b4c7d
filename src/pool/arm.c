/*
 * pool/arm.c - arming, moving, cancelling: what touches a timer's own line and
 * the end of one stream.
 *
 * A record's tag counts the entries made for it.  When tags run out, which
 * takes 4096 armings again without a moment in which no old entry was left, the
 * timer moves into a body: another record, with tags of its own, that knows
 * whose it is.  The handle still names the first record, which says where the
 * body is.
 *
 *     handle -> [timer | moved, body 7 ]        all its entries are dead
 *                            |   ^
 *                            v   | timer 3
 *               [body 7 | tag, deadline]  <- entry (7, tag)
 *
 * A body counts as an entry of its timer until its own last entry is dropped.
 */
#include <errno.h>

#include "ahead.h"
#include "private.h"

_Static_assert(POOL_PREFETCHED == NODE_INDICES, "a node at a time");

/* Armings between two looks at whether there is much to sweep, and entries that
 * are swept for each arming while there is. */
enum { LOOK_EVERY = TKW_SWEEP_SLACK / 4, SWEPT_EACH = 8 };

/* Give a stream of a slot room; it may be the first thing in the slot. */
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
 * The slot has been emptied ahead of time.  A deadline of a later turn waits
 * for that; any other goes a level lower, behind what has fallen there: by the
 * windows nothing can be armed straight into that slot yet.
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

/*
 * The stream has no room.  Where a crowd is armed into the slot that falls
 * next, everybody helps to move it on, so that it never falls at once.
 */
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

/* File an entry by the rules, wherever that leads. */
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

/*
 * File an entry whose deadline is to come.  Most often the first level that is
 * not too small takes it: see dial_level().  Returns 0, as do those whom it
 * calls last: what is common needs no stack.
 */
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

/* The same for an entry that is on its way while others are: no help. */
void tkw__pool_file(struct tkw_pool *pool, uint64_t entry, tkw_tick deadline)
{
    file(pool, entry, deadline, false);
}

/* Put an entry aside that has come due, or never will be. */
static RARE int put_aside(struct tkw_pool *pool, struct record *timer,
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
    return put_aside(pool, timer, entry, deadline);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Make sure of memory for an entry and `records` (0 or 1) more, and sweep if
 * there is much to be swept.  Then say how many armings can go without asking.
 */
static int prepare(struct tkw_pool *pool, size_t records)
{
    int error = tkw__pool_provide(pool, 1, records, POOL_RECLAIM_STEPS);
    if (error != 0)
        return error;
    size_t left = LOOK_EVERY;
    if (pool_has_many_dead(pool)) {
        size_t paid = tkw__pool_sweep(pool) / SWEPT_EACH;
        left = paid > 0 ? paid - 1 : 0;
    }
    uint64_t places = pool->places_safe - pool_places(pool) - 1;
    left = places < left ? (size_t)places : left;
    left = least(left, pool->room - pool->used + pool->free_count - records);
    size_t allowed = pool->timers_max - pool_live(pool);
    pool->arms_left = least(left, allowed - least(allowed, records));
    return 0;
}

/* Arm, memory having been provided for. */
static inline int arm(struct tkw_pool *pool, tkw_handle *handle,
                      tkw_tick deadline, struct tkw_user user)
{
    uint64_t generation;
    uint32_t index = record_take(pool, &generation);
    struct record *timer = record_at(pool, index);
    timer->word = generation | WORD_ENTRY | IS_ARMED;
    timer->deadline = deadline;
    timer->user = user;
    pool->counters.armed++;
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

/*
 * The record a handle names, if its timer is simply armed: in a slot, with no
 * body.  That is all that is common, and one comparison tells.
 */
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

/* The last entry of a timer's body goes: the timer is on its own again. */
static void leave_body(struct tkw_pool *pool, uint32_t index,
                       const struct record *body)
{
    struct record *timer = record_at(pool, index);
    timer->word = (timer->word & ~WORD_MOVED) - WORD_ENTRY;
    timer->deadline = body->deadline;
    record_free_if_unused(pool, index, timer);
}

/*
 * A dead entry has been counted off that was its record's last, or a body's.
 * With it may go the record, and the timer whose body it was.
 */
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

/*
 * Give a timer a body, its tags having run out.  Memory has been provided for.
 * The body's entry is its first.
 */
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

/* Would one entry more be one too many for the tags there are? */
static inline bool needs_body(const struct tkw_pool *pool, struct record *timer)
{
    uint32_t at;
    return word_tag(timer_body(pool, timer, &at)->word) == TAG_MAX;
}

/* Make an entry for a new deadline.  The one before is dead from now on. */
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

/* Start a timer that was kept. */
static RARE int arm_kept(struct tkw_pool *pool, uint32_t index,
                         struct record *timer, tkw_tick deadline)
{
    if ((timer->word & WORD_ENTRIES) == 0)
        timer->word &= ~WORD_TAG; /* no entry is left that had one */
    record_set_state(timer, IS_ARMED);
    pool->arms_left = 0; /* one more is armed than was reckoned with */
    pool->counters.armed++;
    uint64_t entry = supersede(pool, index, timer, deadline);
    place(pool, timer, entry, deadline);
    return 1;
}

/* Arm again whatever can be, and say how that went. */
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

/* Postpone a timer that is not simply armed, or to an earlier deadline. */
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

/* Cancel a timer that is not simply armed, or let one go that is kept. */
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
    pool_leave_queue(pool, timer);
    record_set_state(timer, IS_CANCELLED);
    pool->counters.cancelled++;
    return true;
}

bool tkw_pool_cancel(struct tkw_pool *pool, tkw_handle handle)
{
    struct record *timer = find_filed(pool, handle);
    if (timer == NULL)
        return cancel_any(pool, handle);
    timer->word ^= IS_ARMED ^ IS_CANCELLED;
    pool->counters.cancelled++;
    return true;
}

void tkw__pool_prefetch(const struct tkw_pool *pool, tkw_handle handle)
{
    uint32_t index = (uint32_t)handle;
    if (index < pool->used)
        __builtin_prefetch(record_at(pool, index), 1);
}

/* Those that the node below the top of the free ones names: they are popped
 * when the top is used up. */
void tkw__pool_prefetch_free(const struct tkw_pool *pool)
{
    if (pool->free_top == NO_INDEX)
        return;
    uint32_t below = record_at(pool, pool->free_top)->node.below;
    if (below == NO_INDEX)
        return;
    const struct node *node = &record_at(pool, below)->node;
    for (uint32_t i = 0; i < node->count; i++)
        __builtin_prefetch(record_at(pool, node->indices[i]), 1);
}
