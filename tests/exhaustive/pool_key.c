/*
 * pool_key.c - what a pool's future depends on.
 *
 * In the key are the phase of now in the period; where in a tick it was
 * stopped; every stream in order, chunk by chunk, by the distance of its slot
 * from the hand; for each entry its record, whether it is dead, and its bits of
 * the deadline where a slot may fall by them alone; for each record its state,
 * how many entries it has and, if tags are few, its tag; bodies with their
 * owners; how far ahead levels are drained, and what falls; where the sweeper
 * is, if it can get to work.  Occupancy, gaps and counts follow from these, and
 * check() has said that they do.
 *
 * Not in the key are
 *   - which record is which: records are numbered as they are met.  So the
 *     order of the free ones means nothing, nor does which timer drain() takes
 *     next: any will do, and to drain it leaves what cancelling it leaves;
 *   - generations, and the handles of timers that are gone: whatever names them
 *     is asked after every operation;
 *   - how much memory there is.  It grows with the way to a state, and on the
 *     shortest way there is least of it;
 *   - when prepare() is asked next, where nothing can be swept: memory is all
 *     that it looks at then;
 *   - what is only remembered (wake, ready_end, prefetched);
 *   - tags of entries that are dead, unless they are a body's, and the tags of
 *     records that are gone;
 *   - tags at all where they are too many to run out.  If asked for, then also
 *     whose a dead entry is: to drop it gives memory back, and nothing else.
 */
#include "pool.h"

/* Records that there are indices for. */
#define RECORDS_MAX (1 << TKW_INDEX_BITS)

#define HAS_FEW_TAGS (TKW_ENTRY_TAG_BITS < 12)

struct scan {
    struct text *text;
    const struct tkw_pool *pool;
    bool is_coarse; /* see toy.h */
    uint8_t name_count;
    uint8_t names[RECORDS_MAX]; /* 0: not met yet */
};

/* Where a stream is: do the bits of its entries tell, and from where on? */
struct site {
    bool has_bits;
    tkw_tick base;
};

static const struct tkw_pool *pool_of(const struct toy *toy)
{
    const struct pool_engine *self = toy->judge.self;

    return self->pool;
}

/* May a slot of this level fall without a look at its timers? */
static bool may_be_blind(const struct tkw_pool *pool, uint32_t level)
{
    return level > 0 && !level_has_rounds(pool, level) &&
           pool->dial.levels[level].tick <= TICK_MASK + 1;
}

/*
 * The levels that anything is filed on.  Growing, these end with the first
 * whose slots are as long as the reach.
 */
static uint32_t count_levels(const struct toy *toy)
{
    const struct tkw_dial *dial = &pool_of(toy)->dial;
    uint32_t count = 1;

    while (count < dial->level_count &&
           dial->levels[count - 1].tick < toy->reach)
        count++;
    return count;
}

uint64_t pool_unseen(const struct toy *toy)
{
    const struct tkw_pool *pool = pool_of(toy);

    for (uint32_t i = 0; i < count_levels(toy); i++)
        if (may_be_blind(pool, i))
            return pool->unseen;
    return 0;
}

void pool_unbind_never(struct toy *toy)
{
    const struct tkw_pool *pool = pool_of(toy);
    const struct stream *never = &pool->shelves[NEVER].streams[DIRECT];

    if (stream_is_empty(never))
        return;
    for (struct chunk *chunk = stream_head(never); chunk != NULL;
         chunk = chunk_next(never, chunk)) {
        const uint64_t *end = chunk_end(never, chunk);

        for (const uint64_t *at = chunk_begin(never, chunk); at < end; at++) {
            const struct record *timer = entry_timer(pool, *at);

            if (timer != NULL)
                toy->judge.oracle.timers[timer->user.word].is_free = false;
        }
    }
}

static void put_timer(struct scan *scan, uint64_t id, tkw_tick deadline)
{
    const struct oracle_timer *known =
        &scan->text->toy->judge.oracle.timers[id];

    text_name(scan->text, id);
    if (known->state == ORACLE_PENDING) {
        text_put_tick(scan->text, deadline);
        text_put(scan->text, known->is_free);
    }
}

/* Is this the body that its owner's arming goes on in? */
static bool is_current(const struct tkw_pool *pool, uint32_t index,
                       const struct record *body)
{
    const struct record *owner = record_at(pool, (uint32_t)body->user.word);

    return (owner->word & WORD_MOVED) && owner->deadline == index;
}

static void put_record(struct scan *scan, uint32_t index);

static void put_body(struct scan *scan, uint32_t index,
                     const struct record *body)
{
    bool has_owner = is_current(scan->pool, index, body);

    text_put(scan->text, has_owner);
    if (has_owner)
        put_record(scan, (uint32_t)body->user.word);
}

/* A record that is met for the first time. */
static void describe(struct scan *scan, uint32_t index)
{
    struct record *record = record_at(scan->pool, index);
    uint64_t state = record->word & WORD_STATE;
    uint64_t is_moved = (record->word & WORD_MOVED) != 0;
    uint32_t at = index;

    if (state == IS_DONE)
        state = IS_CANCELLED; /* gone is gone */
    text_put(scan->text, (state >> WORD_STATE_SHIFT) + 8 * is_moved);
    if (!scan->is_coarse)
        text_put(scan->text, (record->word & WORD_ENTRIES) / WORD_ENTRY);
    if (HAS_FEW_TAGS && state != IS_CANCELLED)
        text_put(scan->text, word_tag(record->word));
    if (state == IS_ARMED)
        put_timer(scan, record->user.word,
                  timer_body(scan->pool, record, &at)->deadline);
    if (state == IS_BODY)
        put_body(scan, index, record);
    if (is_moved)
        put_record(scan, (uint32_t)record->deadline);
}

static void put_record(struct scan *scan, uint32_t index)
{
    bool is_new = scan->names[index] == 0;

    if (is_new)
        scan->names[index] = ++scan->name_count;
    text_put(scan->text, scan->names[index]);
    if (is_new)
        describe(scan, index);
}

/* Of a body's dead entries it matters which is the last one made. */
static void put_entry(struct scan *scan, uint64_t entry,
                      const struct site *site)
{
    uint64_t word = record_at(scan->pool, entry_index(entry))->word;
    bool is_alive = entry_timer(scan->pool, entry) != NULL;
    bool is_last =
        (word & WORD_STATE) == IS_BODY && word_tag(word) == entry_tag(entry);

    if (is_alive || !scan->is_coarse)
        put_record(scan, entry_index(entry));
    text_put(scan->text, is_alive + 2U * is_last);
    if (site->has_bits)
        text_put(scan->text, (entry - site->base) & TICK_MASK);
}

static void put_stream(struct scan *scan, const struct stream *stream,
                       const struct site *site)
{
    if (!stream_is_empty(stream))
        text_put(scan->text,
                 (size_t)(stream->read - stream_head(stream)->entries));
    for (struct chunk *chunk = stream_is_empty(stream) ? NULL
                                                       : stream_head(stream);
         chunk != NULL; chunk = chunk_next(stream, chunk)) {
        const uint64_t *end = chunk_end(stream, chunk);

        for (const uint64_t *at = chunk_begin(stream, chunk); at < end; at++)
            put_entry(scan, *at, site);
        text_put_end(scan->text);
    }
    text_put_end(scan->text);
}

/* What is past is past; but a slot that goes on falling does as it began. */
static void put_progress(struct scan *scan, uint32_t level)
{
    const struct tkw_pool *pool = scan->pool;
    const struct ring *ring = &pool->rings[level];
    uint64_t hand = pool->dial.levels[level].hand;
    uint64_t drained = ring->drained > hand ? ring->drained - hand : 0;
    bool is_under_way = pool->is_mid_tick && level < pool->levels_left;
    bool is_falling =
        ring->falling != UINT64_MAX && ring->falling > hand + drained;

    text_put(scan->text, drained);
    if (is_under_way && ring->falling == hand)
        text_put(scan->text, 100U + ring->is_blind);
    else if (is_falling)
        text_put(scan->text,
                 (ring->falling - hand) * 2 + (ring->is_blind ? 1 : 0));
    else
        text_put(scan->text, 0);
}

static void put_level(struct scan *scan, uint32_t level)
{
    const struct tkw_pool *pool = scan->pool;
    const struct ring *ring = &pool->rings[level];
    uint64_t hand = pool->dial.levels[level].hand;

    if (level > 0)
        put_progress(scan, level);
    for (uint64_t ahead = 0; ahead < ring->size; ahead++) {
        const struct slot *slot = &pool->slots[ring_slot(ring, hand + ahead)];
        const struct site site = {
            .has_bits = may_be_blind(pool, level),
            .base = (hand + ahead) * pool->dial.levels[level].tick,
        };

        if (slot->chunks == 0)
            continue;
        text_put(scan->text, ahead);
        for (unsigned i = 0; i < STREAMS; i++)
            put_stream(scan, &slot->streams[i], &site);
    }
    text_put_end(scan->text);
}

/* Those that no entry leads to: nothing else is known of them. */
static void put_kept(struct scan *scan)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < scan->pool->used; i++) {
        uint64_t word = record_at(scan->pool, i)->word;

        count += (word & WORD_STATE) == IS_KEPT &&
                 (scan->is_coarse || (word & WORD_ENTRIES) == 0);
    }
    text_put(scan->text, count);
}

/* How many chunks come before this one; 100: it is none. */
static uint64_t chunk_place(const struct stream *stream,
                            const struct chunk *wanted)
{
    uint64_t place = 0;

    if (wanted == NULL || stream_is_empty(stream))
        return 100;
    for (struct chunk *chunk = stream_head(stream);
         chunk != NULL && chunk != wanted; chunk = chunk_next(stream, chunk))
        place++;
    return place;
}

static void put_sweep(struct scan *scan)
{
    const struct tkw_pool *pool = scan->pool;
    uint32_t number = pool->sweep.slot;
    const struct slot *slot = number < pool->slot_count
                                  ? &pool->slots[number]
                                  : &pool->shelves[number - pool->slot_count];
    const struct stream *stream = &slot->streams[pool->sweep.stream];

    text_put(scan->text, number);
    text_put(scan->text, pool->sweep.stream);
    text_put(scan->text, chunk_place(stream, pool->sweep.at));
    text_put(scan->text, chunk_place(stream, pool->sweep.before));
    text_put(scan->text, pool->arms_left);
}

void pool_put(struct text *text)
{
    const struct toy *toy = text->toy;
    const struct tkw_pool *pool = pool_of(toy);
    struct scan scan = {
        .text = text,
        .pool = pool,
        .is_coarse = toy->config.is_coarse && !HAS_FEW_TAGS,
    };
    const struct site nowhere = {.has_bits = false};

    text_put(text, pool->now % toy->period);
    text_put(text, pool->is_mid_tick ? 1 + pool->levels_left : 0);
    for (unsigned i = 0; i < SHELVES; i++)
        put_stream(&scan, &pool->shelves[i].streams[DIRECT], &nowhere);
    for (uint32_t i = 0; i < count_levels(toy); i++)
        put_level(&scan, i);
    put_kept(&scan);
    text_put(text, pool_unseen(toy));
    if (pool_may_sweep(&toy->config))
        put_sweep(&scan);
}
