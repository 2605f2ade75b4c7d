/*
 * pool/check_test.c - law L15 of the pool: check() sees whatever is not as it
 * must be in streams, entries and records, one broken thing at a time, and
 * nothing where all is well.
 */
#include "scene.h"

static void check_sees_wrong_sums(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct tkw_wheel_stats *work = &pool->stats;
    ASSERT_SEEN(pool, work->armed, work->armed + 1,
                "number of armed timers is 293, expected 292");
    ASSERT_SEEN(pool, work->armed, work->armed - 1,
                "number of armed timers is 291, expected 292");
    ASSERT_SEEN(pool, work->fired, work->fired + 1,
                "number of armed timers is 291, expected 292");
    ASSERT_SEEN(pool, work->cancelled, work->cancelled + 1,
                "number of armed timers is 291, expected 292");
    ASSERT_SEEN(pool, work->drained, work->drained + 1,
                "number of armed timers is 291, expected 292");
    ASSERT_SEEN(pool, pool->entries, pool->entries + 1,
                "number of entries is 4394, expected 4393");
    ASSERT_SEEN(pool, pool->entries, pool->entries - 1,
                "number of entries is 4392, expected 4393");
    ASSERT_SEEN(pool, pool->gaps, pool->gaps + 1,
                "number of unused places in chunks is 1, expected 0");
    ASSERT_SEEN(pool, pool->queued, pool->queued + 1,
                "number of queued timers is 89, expected 88");
    ASSERT_SEEN(pool, pool->queued, pool->queued - 1,
                "number of queued timers is 87, expected 88");
    size_t chunks = pool->chunks_total;
    ASSERT_SEEN(pool, pool->chunks_total, chunks + 1,
                "number of chunks of the pool is %zu, expected %zu", chunks + 1,
                chunks);
    ASSERT_SEEN(pool, pool->chunks_total, chunks - 1,
                "number of chunks of the pool is %zu, expected %zu", chunks - 1,
                chunks);
    ASSERT_SEEN(pool, pool->free_count, pool->free_count + 1,
                "number of free records is 13, expected 12");
    ASSERT_SEEN(pool, pool->free_count, pool->free_count - 1,
                "number of free records is 11, expected 12");
    ASSERT_SEEN(pool, pool->retired, 1,
                "number of free and retired records is 13, expected 12");
    pool_done(pool);
}

static void assert_chunks_seen(struct tkw_pool *pool, struct slot *slot,
                               const char *place)
{
    uint32_t chunks = slot->chunks;
    uint32_t wrong[] = {chunks + 1, chunks - 1};
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        ASSERT_SEEN(pool, slot->chunks, wrong[i],
                    "%snumber of chunks of the slot or queue is %u, "
                    "expected %u",
                    place, wrong[i], chunks);
}

static void check_sees_a_wrong_count_of_chunks(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct slot *low = slot_at(pool, 0, 30), *high = slot_at(pool, 1, 70);
    assert_int_equal(low->chunks, 2); /* fallen and direct */
    assert_int_equal(high->chunks, 4);
    assert_chunks_seen(pool, low, "level 1, slot 10: ");
    ASSERT_SEEN(pool, low->chunks, 0,
                "level 1, slot 10: occupancy bit of the slot is 1, expected 0");
    assert_chunks_seen(pool, high, "level 2, slot 3: ");
    ASSERT_SEEN(pool, high->chunks, 0,
                "level 2, slot 3: occupancy bit of the slot is 1, expected 0");
    uint32_t shelves[] = {READY, FRESH, NEVER};
    for (size_t i = 0; i < COUNT_OF(shelves); i++) {
        struct slot *shelf = &pool->shelves[shelves[i]];
        uint32_t chunks = shelf->chunks;
        assert_chunks_seen(pool, shelf, "");
        ASSERT_SEEN(pool, shelf->chunks, 0,
                    "number of chunks of the slot or queue is 0, expected %u",
                    chunks);
    }
    ASSERT_SEEN(pool, high->gaps, 3,
                "level 2, slot 3: number of unused places of the slot or "
                "queue is 3, expected 0");
    ASSERT_SEEN(pool, pool->shelves[READY].gaps, 1,
                "number of unused places of the slot or queue is 1, "
                "expected 0");
    ASSERT_SEEN(pool, pool->slots[0].chunks, 1,
                "level 1, slot 0: occupancy bit of the slot is 0, expected 1");
    ASSERT_SEEN(pool, pool->shelves[DUE].chunks, 1,
                "number of chunks of the slot or queue is 1, expected 0");
    ASSERT_SEEN(pool, pool->shelves[LATE].chunks, 1,
                "number of chunks of the slot or queue is 1, expected 0");
    pool_done(pool);
}

/* Ends lost, set where there is no stream, or meeting in the middle. */
static void check_sees_broken_ends_of_streams(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct stream *crowd = &slot_at(pool, 1, 70)->streams[DIRECT];
    struct stream *empty = &slot_at(pool, 1, 70)->streams[FALLEN];
    struct stream *fallen = &slot_at(pool, 0, 30)->streams[FALLEN];
    ASSERT_SEEN(pool, crowd->read, NULL,
                "level 2, slot 3: a stream has only one end");
    ASSERT_SEEN(pool, crowd->write, NULL,
                "level 2, slot 3: a stream has only one end");
    ASSERT_SEEN(pool, crowd->read, crowd->read + 1,
                "number of entries that name a timer is 0, expected 1");
    ASSERT_SEEN(pool, crowd->write, crowd->write - 1,
                "number of entries that name a timer is 0, expected 1");
    ASSERT_SEEN(pool, empty->read, crowd->read,
                "level 2, slot 3: a stream has only one end");
    ASSERT_SEEN(pool, empty->write, crowd->write,
                "level 2, slot 3: a stream has only one end");
    assert_int_equal(fallen->write - fallen->read, 1);
    ASSERT_SEEN(pool, fallen->read, fallen->write,
                "level 1, slot 10: a chunk has no entries");
    ASSERT_SEEN(pool, fallen->read, fallen->write + 1,
                "level 1, slot 10: a chunk has no entries");
    pool_done(pool);
}

static void check_sees_broken_chunks(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct stream *crowd = &slot_at(pool, 1, 70)->streams[DIRECT];
    struct chunk *first = stream_head(crowd);
    struct chunk *second = first->header.next;
    ASSERT_SEEN(pool, first->header.next, second->header.next,
                "level 2, slot 3: number of chunks of the slot or queue is 4, "
                "expected 3");
    ASSERT_SEEN(pool, first->header.next, first,
                "level 2, slot 3: two entries name the same armed timer");
    ASSERT_SEEN(pool, second->header.next, first,
                "level 2, slot 3: two entries name the same armed timer");
    ASSERT_SEEN(pool, first->header.next, NULL,
                "level 2, slot 3: number of chunks of the slot or queue is 4, "
                "expected 1");
    ASSERT_SEEN(pool, first->header.count, CHUNK_ENTRIES - 1,
                "level 2, slot 3: number of unused places of the slot or "
                "queue is 0, expected 1");
    ASSERT_SEEN(pool, first->header.count, CHUNK_ENTRIES + 1,
                "level 2, slot 3: number of entries of a chunk is 63, expected "
                "at most 62");
    ASSERT_SEEN(pool, second->header.count, 0,
                "level 2, slot 3: a chunk has no entries");
    pool_done(pool);
}

/* Where all are dead no timer is met twice: only the chunks can be counted. */
static void check_ends_on_a_circle_of_the_dead(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    for (size_t i = 0; i < CROWD; i++)
        tkw_pool_cancel(pool, scene.crowd[i]);
    assert_true(tkw_pool_check(pool));
    struct chunk *first = stream_head(&slot_at(pool, 1, 70)->streams[DIRECT]);
    ASSERT_SEEN(pool, first->header.next, first,
                "level 2, slot 3: number of chunks in slots and queues is %zu, "
                "expected at most %zu",
                pool->chunks_total + 1, pool->chunks_total);
    struct chunk *second = first->header.next;
    ASSERT_SEEN(pool, second->header.next, first,
                "level 2, slot 3: number of chunks in slots and queues is %zu, "
                "expected at most %zu",
                pool->chunks_total + 1, pool->chunks_total);
    pool_done(pool);
}

static void check_sees_lost_and_circling_idle_chunks(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct tkw_pool_timer popped;
    while (tkw_pool_pop(pool, &popped)) /* gives chunks back */
        continue;
    struct chunk *idle = pool->chunks_free;
    assert_non_null(idle);
    size_t used = pool->chunks_total - tkw__pool_chunks_idle(pool);
    ASSERT_SEEN(pool, idle->header.next, idle,
                "number of chunks of the pool is %zu, expected %zu",
                pool->chunks_total, used + tkw__pool_chunks_idle(pool));
    ASSERT_SEEN(pool, pool->chunks_free, idle->header.next,
                "number of chunks of the pool is %zu, expected %zu",
                pool->chunks_total, used + tkw__pool_chunks_idle(pool));
    ASSERT_SEEN(pool, pool->fresh, NULL,
                "number of chunks of the pool is %zu, expected %zu",
                pool->chunks_total, used + tkw__pool_chunks_idle(pool));
    pool_done(pool);
}

/* The end is lost of a stream that would end there all the same. */
static void check_sees_the_lost_end_of_a_full_chunk(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    for (size_t i = 0; i < CHUNK_ENTRIES; i++)
        pool_arm(pool, 70, i);
    struct stream *stream = &slot_at(pool, 1, 70)->streams[DIRECT];
    stream_head(stream)->header = (struct chunk_header){.count = CHUNK_ENTRIES};
    ASSERT_SEEN(pool, stream->write, NULL,
                "level 2, slot 3: a stream has only one end");
    pool_done(pool);
}

/* A chunk without entries, all else being as if there were none. */
static void check_sees_an_empty_chunk(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    tkw_handle last = 0;
    for (size_t i = 0; i <= CHUNK_ENTRIES; i++)
        last = pool_arm(pool, 70, i);
    struct slot *slot = slot_at(pool, 1, 70);
    assert_int_equal(slot->chunks, 2);
    assert_true(tkw_pool_cancel(pool, last));
    struct record *record = record_at(pool, (uint32_t)last);
    record->word -= WORD_ENTRY;
    slot->streams[DIRECT].write--;
    pool->entries--;
    pool->retired++;
    ASSERT_BROKEN(pool, pool, "level 2, slot 3: a chunk has no entries");
    record->word += WORD_ENTRY;
    slot->streams[DIRECT].write++;
    pool->entries++;
    pool->retired--;
    pool_done(pool);
}

static void check_sees_entries_of_nobody_and_met_twice(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    uint64_t *entry = slot_at(pool, 1, 70)->streams[DIRECT].read;
    assert_int_equal(entry_index(*entry), (uint32_t)scene.crowd[0]);
    ASSERT_SEEN(pool, *entry, entry_make(pool->used, 0, 70),
                "level 2, slot 3: number of records for the index of an entry "
                "is 307, expected at least 308");
    ASSERT_SEEN(pool, *entry, entry_make(pool->used + 1, 0, 70),
                "level 2, slot 3: number of records for the index of an entry "
                "is 307, expected at least 309");
    ASSERT_SEEN(pool, *entry, entry_make(TKW_POOL_TIMERS_MAX, 0, 70),
                "level 2, slot 3: number of records for the index of an entry "
                "is 307, expected at least 134217728");
    ASSERT_SEEN(pool, *entry, entry[1],
                "level 2, slot 3: two entries name the same armed timer");
    ASSERT_SEEN(pool, *entry, entry_make((uint32_t)scene.crowd[0], 1, 70),
                "number of entries that name a timer is 0, expected 1");
    ASSERT_SEEN(
        pool, *entry, entry_make((uint32_t)scene.ready[0], 0, 70),
        "level 2, slot 3: an entry belongs to a record that counts no entries");
    ASSERT_SEEN(
        pool, *entry, entry_make((uint32_t)scene.kept, 0, 70),
        "level 2, slot 3: an entry belongs to a record that counts no entries");
    /* What was popped has no entries: not even a dead one may be left. */
    ASSERT_SEEN(
        pool, entry[5], entry_make((uint32_t)scene.ready[0], 0, 70),
        "level 2, slot 3: an entry belongs to a record that counts no entries");
    pool_done(pool);
}

/* In the place of a dead one the sums fit, and nobody is missed. */
static void check_sees_a_timer_met_in_the_place_of_a_dead_one(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    uint64_t *entry = slot_at(scene.pool, 1, 70)->streams[DIRECT].read;
    assert_int_equal(entry_index(entry[5]), (uint32_t)scene.crowd[5]);
    ASSERT_SEEN(scene.pool, entry[5], entry[6],
                "level 2, slot 3: two entries name the same armed timer");
    ASSERT_SEEN(scene.pool, entry[5], entry[4],
                "level 2, slot 3: two entries name the same armed timer");
    pool_done(scene.pool);
}

/* With no place left there is no memory behind the last. */
static void check_does_not_read_past_the_last_place(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    assert_pool_pops(pool, pool_arm(pool, 0, 0));
    for (size_t i = 0; i < SEGMENT_RECORDS; i++)
        pool_arm(pool, 70, i);
    assert_int_equal(pool->used, pool->room);
    struct stream *stream = &slot_at(pool, 1, 70)->streams[DIRECT];
    ASSERT_SEEN(pool, *stream->read, entry_make(pool->used, 0, 70),
                "level 2, slot 3: number of records for the index of an entry "
                "is 32768, expected at least 32769");
    ASSERT_SEEN(pool, pool->free_nodes[0], pool->used,
                "number of records for the index of a free one is 32768, "
                "expected at least 32769");
    pool_done(pool);
}

/* One queue more and one less: the sum fits, and both are wrong. */
static void check_sees_marks_of_a_queue_exchanged(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct record *crowd = record_of(&scene, scene.crowd[0]);
    struct record *ready = record_of(&scene, scene.ready[50]);
    crowd->word ^= WORD_QUEUED;
    ready->word ^= WORD_QUEUED;
    ASSERT_BROKEN(pool, scene.pool,
                  "level 2, slot 3: queue mark of a timer is 1, expected 0");
    crowd->word ^= WORD_QUEUED;
    ready->word ^= WORD_QUEUED;
    pool_done(scene.pool);
}

/* The low bits tell a blind fall where to go: they must lie in the slot. */
static void check_sees_entries_filed_for_another_slot(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    uint64_t *crowd = slot_at(pool, 1, 70)->streams[DIRECT].read;
    uint64_t *fallen = slot_at(pool, 0, 30)->streams[FALLEN].read;
    ASSERT_SEEN(pool, *crowd, entry_with_deadline(*crowd, 59),
                "level 2, slot 3: tick of an entry, counted from the first of "
                "the slot, is 16777215, expected at most 19");
    ASSERT_SEEN(pool, *crowd, entry_with_deadline(*crowd, 80),
                "level 2, slot 3: tick of an entry, counted from the first of "
                "the slot, is 20, expected at most 19");
    ASSERT_SEEN(pool, *fallen, entry_with_deadline(*fallen, 29),
                "level 1, slot 10: tick of an entry, counted from the first of "
                "the slot, is 16777215, expected at most 0");
    ASSERT_SEEN(pool, *fallen, entry_with_deadline(*fallen, 31),
                "level 1, slot 10: tick of an entry, counted from the first of "
                "the slot, is 1, expected at most 0");
    uint64_t right = *crowd;
    for (tkw_tick tick = 60; tick < 80; tick++) {
        *crowd = entry_with_deadline(right, tick);
        assert_true(tkw_pool_check(pool));
    }
    *crowd = right;
    pool_done(pool);
}

/* Later than its slot is no fault: so it is with what was postponed. */
static void check_sees_deadlines_before_their_slot(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct record *crowd = record_of(&scene, scene.crowd[0]);
    struct record *fallen = record_of(&scene, scene.fallen);
    struct record *ready = record_of(&scene, scene.ready[50]);
    struct record *never = record_of(&scene, scene.never[0]);
    ASSERT_SEEN(
        pool, crowd->deadline, 59,
        "level 2, slot 3: deadline of a timer is 59, expected at least 60");
    ASSERT_SEEN(
        pool, crowd->deadline, 0,
        "level 2, slot 3: deadline of a timer is 0, expected at least 60");
    ASSERT_SEEN(
        pool, fallen->deadline, 29,
        "level 1, slot 10: deadline of a timer is 29, expected at least 30");
    ASSERT_SEEN(pool, ready->deadline, 23,
                "deadline of a timer is 23, expected at most 22");
    ASSERT_SEEN(pool, never->deadline, TKW_NEVER - 1,
                "deadline of a timer is 18446744073709551614, expected at "
                "least 18446744073709551615");
    crowd->deadline = 60;
    ready->deadline = 22;
    assert_true(tkw_pool_check(pool));
    crowd->deadline = TKW_NEVER;
    assert_true(tkw_pool_check(pool));
    pool_done(pool);
}

/* How check() describes a wrong word of a record: where its entry is, and the
 * faults of the mark of a queue and of the state. */
struct words {
    const char *place;
    const char *mark;
    const char *state;
};

static void assert_words_seen(struct tkw_pool *pool, struct record *record,
                              const struct words *faults)
{
    uint64_t entries = pool->entries;
    ASSERT_SEEN(pool, record->word, record->word ^ WORD_QUEUED, "%s",
                faults->mark);
    ASSERT_SEEN(pool, record->word, record->word + WORD_ENTRY,
                "number of entries that the records count is %" PRIu64
                ", expected %" PRIu64,
                entries + 1, entries);
    ASSERT_SEEN(pool, record->word, record->word & ~WORD_ENTRIES,
                "%san entry belongs to a record that counts no entries",
                faults->place);
    ASSERT_SEEN(pool, record->word, record->word + 1, /* the tag */
                "number of entries that name a timer is 0, expected 1");
    ASSERT_SEEN(pool, record->word, record->word ^ IS_ARMED ^ IS_CANCELLED,
                "%s", faults->state);
}

static const char idle_is_marked[] =
    "a timer that is not armed is marked as queued";
static const char one_is_missing[] =
    "number of armed timers is 292, expected 291";

static void check_sees_wrong_words_of_armed_timers(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    static const struct words low = {
        "level 1, slot 10: ",
        "level 1, slot 10: queue mark of a timer is 1, expected 0",
        one_is_missing};
    static const struct words high = {
        "level 2, slot 3: ",
        "level 2, slot 3: queue mark of a timer is 1, expected 0",
        one_is_missing};
    static const struct words ready = {
        "", "queue mark of a timer is 0, expected 1", idle_is_marked};
    static const struct words never = {
        "", "queue mark of a timer is 1, expected 0", one_is_missing};
    assert_words_seen(pool, record_of(&scene, scene.fallen), &low);
    assert_words_seen(pool, record_of(&scene, scene.direct), &low);
    assert_words_seen(pool, record_of(&scene, scene.crowd[0]), &high);
    assert_words_seen(pool, record_of(&scene, scene.crowd[CROWD - 1]), &high);
    assert_words_seen(pool, record_of(&scene, scene.ready[50]), &ready);
    assert_words_seen(pool, record_of(&scene, scene.never[1]), &never);
    pool_done(pool);
}

static void check_sees_wrong_words_of_others(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct record *dead = record_of(&scene, scene.crowd[5]);
    struct record *kept = record_of(&scene, scene.kept);
    struct record *popped = record_of(&scene, scene.ready[0]);
    struct record *const records[] = {dead, kept, popped};
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        struct record *record = records[i];
        uint64_t bare = record->word & ~WORD_STATE;
        ASSERT_SEEN(pool, record->word, record->word | WORD_QUEUED,
                    "a timer that is not armed is marked as queued");
        ASSERT_SEEN(
            pool, record->word, record->word + WORD_ENTRY,
            "number of entries that the records count is 4394, expected 4393");
        /* The dead one has an entry that names it then. */
        ASSERT_SEEN(pool, record->word, bare | IS_ARMED, "%s",
                    record == dead
                        ? "number of armed timers is 292, expected 293"
                        : "number of entries that name a timer is 0, "
                          "expected 1");
    }
    /* Neither in use nor free, and both at once. */
    ASSERT_SEEN(pool, kept->word, (kept->word & ~WORD_STATE) | IS_DONE,
                "number of free and retired records is 12, expected 13");
    ASSERT_SEEN(pool, popped->word, (popped->word & ~WORD_STATE) | IS_KEPT,
                "number of free and retired records is 12, expected 11");
    ASSERT_SEEN(
        pool, dead->word, dead->word & ~WORD_ENTRIES,
        "level 2, slot 3: an entry belongs to a record that counts no entries");
    pool_done(pool);
}

/* The mark of check() itself, left behind, is not taken for a timer met.  The
 * function that finds it clears it. */
static void check_sees_a_mark_that_is_not_its_own(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct tkw_fault fault;
    record_of(&scene, scene.ready[0])->word |= WORD_SEEN; /* popped */
    assert_true(tkw_pool_find_fault(pool, &fault));
    ASSERT_FAULT(&fault,
                 "number of entries that name a timer is 1, expected 0");
    record_of(&scene, scene.ready[50])->word |= WORD_SEEN;
    assert_true(tkw_pool_find_fault(pool, &fault));
    ASSERT_FAULT(&fault, "two entries name the same armed timer");
    assert_true(tkw_pool_check(pool));
    pool_done(pool);
}

static void check_sees_a_timer_and_its_body_part(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct record *timer = record_of(&scene, scene.bodied);
    assert_true(timer->word & WORD_MOVED);
    struct record *body = record_at(pool, (uint32_t)timer->deadline);
    static const struct words faults = {
        "level 2, slot 7: ", idle_is_marked,
        "number of entries that name a timer is 0, expected 1"};
    assert_words_seen(pool, body, &faults);
    ASSERT_SEEN(
        pool, body->deadline, 139,
        "level 2, slot 7: deadline of a timer is 139, expected at least 140");
    ASSERT_SEEN(pool, body->user.word, (uint32_t)scene.direct,
                "number of entries that name a timer is 0, expected 1");
    ASSERT_SEEN(pool, timer->deadline, (uint32_t)scene.direct,
                "number of entries that name a timer is 0, expected 1");
    ASSERT_SEEN(
        pool, timer->word, timer->word & ~WORD_MOVED,
        "number of entries that the records count is 4394, expected 4393");
    ASSERT_SEEN(pool, timer->word, timer->word | WORD_QUEUED,
                "level 2, slot 7: queue mark of a timer is 1, expected 0");
    ASSERT_SEEN(
        pool, timer->word, timer->word - WORD_ENTRY,
        "number of entries that the records count is 4392, expected 4393");
    pool_done(pool);
}

static void check_sees_a_broken_stack_of_free_places(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    uint32_t top = pool->free_nodes[0];
    assert_int_equal(pool->free_count, POPPED);
    assert_int_not_equal(pool->free_nodes[1], NO_INDEX);
    assert_int_equal(pool->free_nodes[2], NO_INDEX);
    ASSERT_SEEN(pool, pool->free_nodes[0], NO_INDEX,
                "number of free records is 12, expected 0");
    ASSERT_SEEN(pool, pool->free_nodes[0], pool->used,
                "number of records for the index of a free one is 307, "
                "expected at least 308");
    ASSERT_SEEN(pool, pool->free_nodes[0], NO_INDEX - 1,
                "number of records for the index of a free one is 307, "
                "expected at least 4294967295");
    ASSERT_SEEN(pool, pool->free_nodes[1], NO_INDEX,
                "number of free records is 12, expected 6");
    ASSERT_SEEN(pool, pool->free_nodes[1], pool->used,
                "number of records for the index of a free one is 307, "
                "expected at least 308");
    ASSERT_SEEN(pool, pool->free_nodes[2], top,
                "number of free records is 12, expected 18");
    ASSERT_SEEN(pool, pool->top_indices, NODE_INDICES - 1,
                "number of free records is 12, expected 11");
    ASSERT_SEEN(
        pool, pool->top_indices, NODE_INDICES + 1,
        "number of indices in a node of free records is 6, expected at most 5");
    pool_done(pool);
}

/* Each node names the one FREE_NODES below it.  A node that names itself makes
 * a ring, which check() does not follow for ever. */
static void check_sees_a_ring_of_free_nodes(void **state)
{
    (void)state;
    enum { RECORDS = (FREE_NODES + 2) * (NODE_INDICES + 1) };
    struct tkw_pool *pool = pool_of(NULL, 0);
    for (size_t i = 0; i < RECORDS; i++)
        pool_arm(pool, 0, i);
    struct tkw_pool_timer popped;
    while (tkw_pool_pop(pool, &popped))
        assert_pool_sound(pool);
    assert_int_equal(pool->free_count, RECORDS);
    uint32_t top = pool->free_nodes[0];
    struct node *node = &record_at(pool, top)->node;
    assert_int_not_equal(node->deeper, NO_INDEX);
    ASSERT_SEEN(pool, node->deeper, NO_INDEX,
                "number of free records is 48, expected 36");
    ASSERT_SEEN(pool, node->deeper, pool->used,
                "number of records for the index of a free one is 48, "
                "expected at least 49");
    for (unsigned i = 0; i < FREE_NODES; i++)
        record_at(pool, pool->free_nodes[i])->node.deeper = top;
    ASSERT_BROKEN(pool, pool,
                  "number of records on the stack of free ones is 54, expected "
                  "at most 48");
    record_at(pool, pool->free_nodes[0])->node.deeper = NO_INDEX;
    tkw_pool_close(pool);
}

/* Its timers may be kept, cancelled, moved: check() leaves no marks. */
static void check_changes_nothing(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct tkw_pool before = *pool;
    for (int i = 0; i < 3; i++)
        assert_true(tkw_pool_check(pool));
    assert_memory_equal(pool, &before, sizeof(before));
    for (uint32_t i = 0; i < pool->used; i++)
        assert_false(record_at(pool, i)->word & WORD_SEEN);
    pool_done(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_sees_wrong_sums),
        cmocka_unit_test(check_sees_a_wrong_count_of_chunks),
        cmocka_unit_test(check_sees_broken_ends_of_streams),
        cmocka_unit_test(check_sees_broken_chunks),
        cmocka_unit_test(check_ends_on_a_circle_of_the_dead),
        cmocka_unit_test(check_sees_lost_and_circling_idle_chunks),
        cmocka_unit_test(check_sees_the_lost_end_of_a_full_chunk),
        cmocka_unit_test(check_sees_an_empty_chunk),
        cmocka_unit_test(check_sees_entries_of_nobody_and_met_twice),
        cmocka_unit_test(check_sees_a_timer_met_in_the_place_of_a_dead_one),
        cmocka_unit_test(check_does_not_read_past_the_last_place),
        cmocka_unit_test(check_sees_marks_of_a_queue_exchanged),
        cmocka_unit_test(check_sees_entries_filed_for_another_slot),
        cmocka_unit_test(check_sees_deadlines_before_their_slot),
        cmocka_unit_test(check_sees_wrong_words_of_armed_timers),
        cmocka_unit_test(check_sees_wrong_words_of_others),
        cmocka_unit_test(check_sees_a_mark_that_is_not_its_own),
        cmocka_unit_test(check_sees_a_timer_and_its_body_part),
        cmocka_unit_test(check_sees_a_broken_stack_of_free_places),
        cmocka_unit_test(check_sees_a_ring_of_free_nodes),
        cmocka_unit_test(check_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
