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
    struct tkw_wheel_figures *work = &pool->counters;
    ASSERT_SEEN(pool, work->armed, work->armed + 1);
    ASSERT_SEEN(pool, work->armed, work->armed - 1);
    ASSERT_SEEN(pool, work->fired, work->fired + 1);
    ASSERT_SEEN(pool, work->cancelled, work->cancelled + 1);
    ASSERT_SEEN(pool, work->drained, work->drained + 1);
    ASSERT_SEEN(pool, pool->entries, pool->entries + 1);
    ASSERT_SEEN(pool, pool->entries, pool->entries - 1);
    ASSERT_SEEN(pool, pool->gaps, pool->gaps + 1);
    ASSERT_SEEN(pool, pool->queued, pool->queued + 1);
    ASSERT_SEEN(pool, pool->queued, pool->queued - 1);
    ASSERT_SEEN(pool, pool->chunks_total, pool->chunks_total + 1);
    ASSERT_SEEN(pool, pool->chunks_total, pool->chunks_total - 1);
    ASSERT_SEEN(pool, pool->free_count, pool->free_count + 1);
    ASSERT_SEEN(pool, pool->free_count, pool->free_count - 1);
    ASSERT_SEEN(pool, pool->retired, 1);
    pool_done(pool);
}

static void check_sees_a_wrong_count_of_chunks(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct slot *slots[] = {slot_at(pool, 0, 30), slot_at(pool, 1, 70),
                            &pool->shelves[READY], &pool->shelves[FRESH],
                            &pool->shelves[NEVER]};
    assert_int_equal(slots[0]->chunks, 2); /* fallen and direct */
    assert_int_equal(slots[1]->chunks, 4);
    for (size_t i = 0; i < COUNT_OF(slots); i++) {
        ASSERT_SEEN(pool, slots[i]->chunks, slots[i]->chunks + 1);
        ASSERT_SEEN(pool, slots[i]->chunks, slots[i]->chunks - 1);
        ASSERT_SEEN(pool, slots[i]->chunks, 0);
    }
    ASSERT_SEEN(pool, pool->slots[0].chunks, 1);
    ASSERT_SEEN(pool, pool->shelves[DUE].chunks, 1);
    ASSERT_SEEN(pool, pool->shelves[LATE].chunks, 1);
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
    ASSERT_SEEN(pool, crowd->read, NULL);
    ASSERT_SEEN(pool, crowd->write, NULL);
    ASSERT_SEEN(pool, crowd->read, crowd->read + 1);
    ASSERT_SEEN(pool, crowd->write, crowd->write - 1);
    ASSERT_SEEN(pool, empty->read, crowd->read);
    ASSERT_SEEN(pool, empty->write, crowd->write);
    assert_int_equal(fallen->write - fallen->read, 1);
    ASSERT_SEEN(pool, fallen->read, fallen->write);
    ASSERT_SEEN(pool, fallen->read, fallen->write + 1);
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
    ASSERT_SEEN(pool, first->header.next, second->header.next);
    ASSERT_SEEN(pool, first->header.next, first);
    ASSERT_SEEN(pool, second->header.next, first);
    ASSERT_SEEN(pool, first->header.next, NULL);
    ASSERT_SEEN(pool, first->header.count, CHUNK_ENTRIES - 1);
    ASSERT_SEEN(pool, first->header.count, CHUNK_ENTRIES + 1);
    ASSERT_SEEN(pool, second->header.count, 0);
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
    ASSERT_SEEN(pool, first->header.next, first);
    struct chunk *second = first->header.next;
    ASSERT_SEEN(pool, second->header.next, first);
    pool_done(pool);
}

static void check_sees_lost_and_circling_idle_chunks(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct tkw_shot shot;
    while (tkw_pool_pop(pool, &shot)) /* gives chunks back */
        continue;
    struct chunk *idle = pool->chunks_free;
    assert_non_null(idle);
    ASSERT_SEEN(pool, idle->header.next, idle);
    ASSERT_SEEN(pool, pool->chunks_free, idle->header.next);
    ASSERT_SEEN(pool, pool->fresh, NULL);
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
    ASSERT_SEEN(pool, stream->write, NULL);
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
    assert_false(tkw_pool_check(pool));
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
    ASSERT_SEEN(pool, *entry, entry_make(pool->used, 0, 70));
    ASSERT_SEEN(pool, *entry, entry_make(pool->used + 1, 0, 70));
    ASSERT_SEEN(pool, *entry, entry_make(TKW_POOL_TIMERS_MAX, 0, 70));
    ASSERT_SEEN(pool, *entry, entry[1]);
    ASSERT_SEEN(pool, *entry, entry_make((uint32_t)scene.crowd[0], 1, 70));
    ASSERT_SEEN(pool, *entry, entry_make((uint32_t)scene.ready[0], 0, 70));
    ASSERT_SEEN(pool, *entry, entry_make((uint32_t)scene.kept, 0, 70));
    /* What was popped has no entries: not even a dead one may be left. */
    ASSERT_SEEN(pool, entry[5], entry_make((uint32_t)scene.ready[0], 0, 70));
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
    ASSERT_SEEN(scene.pool, entry[5], entry[6]);
    ASSERT_SEEN(scene.pool, entry[5], entry[4]);
    pool_done(scene.pool);
}

/* With no place left there is no memory behind the last. */
static void check_does_not_look_past_the_last_place(void **state)
{
    (void)state;
    struct tkw_pool *pool = pool_of(&kafka, 0);
    assert_pool_pops(pool, pool_arm(pool, 0, 0));
    for (size_t i = 0; i < SEGMENT_RECORDS; i++)
        pool_arm(pool, 70, i);
    assert_int_equal(pool->used, pool->room);
    struct stream *stream = &slot_at(pool, 1, 70)->streams[DIRECT];
    ASSERT_SEEN(pool, *stream->read, entry_make(pool->used, 0, 70));
    ASSERT_SEEN(pool, pool->free_top, pool->used);
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
    assert_false(tkw_pool_check(scene.pool));
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
    ASSERT_SEEN(pool, *crowd, entry_with_deadline(*crowd, 59));
    ASSERT_SEEN(pool, *crowd, entry_with_deadline(*crowd, 80));
    ASSERT_SEEN(pool, *fallen, entry_with_deadline(*fallen, 29));
    ASSERT_SEEN(pool, *fallen, entry_with_deadline(*fallen, 31));
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
    ASSERT_SEEN(pool, crowd->deadline, 59);
    ASSERT_SEEN(pool, crowd->deadline, 0);
    ASSERT_SEEN(pool, fallen->deadline, 29);
    ASSERT_SEEN(pool, ready->deadline, 23);
    ASSERT_SEEN(pool, never->deadline, TKW_NEVER - 1);
    crowd->deadline = 60;
    ready->deadline = 22;
    assert_true(tkw_pool_check(pool));
    crowd->deadline = TKW_NEVER;
    assert_true(tkw_pool_check(pool));
    pool_done(pool);
}

static void assert_words_seen(struct tkw_pool *pool, struct record *record)
{
    ASSERT_SEEN(pool, record->word, record->word ^ WORD_QUEUED);
    ASSERT_SEEN(pool, record->word, record->word + WORD_ENTRY);
    ASSERT_SEEN(pool, record->word, record->word & ~WORD_ENTRIES);
    ASSERT_SEEN(pool, record->word, record->word + 1); /* the tag */
    ASSERT_SEEN(pool, record->word, record->word ^ IS_ARMED ^ IS_CANCELLED);
}

static void check_sees_wrong_words_of_armed_timers(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    assert_words_seen(pool, record_of(&scene, scene.fallen));
    assert_words_seen(pool, record_of(&scene, scene.direct));
    assert_words_seen(pool, record_of(&scene, scene.crowd[0]));
    assert_words_seen(pool, record_of(&scene, scene.crowd[CROWD - 1]));
    assert_words_seen(pool, record_of(&scene, scene.ready[50]));
    assert_words_seen(pool, record_of(&scene, scene.never[1]));
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
        ASSERT_SEEN(pool, record->word, record->word | WORD_QUEUED);
        ASSERT_SEEN(pool, record->word, record->word + WORD_ENTRY);
        ASSERT_SEEN(pool, record->word, bare | IS_ARMED);
    }
    /* Neither in use nor free, and both at once. */
    ASSERT_SEEN(pool, kept->word, (kept->word & ~WORD_STATE) | IS_DONE);
    ASSERT_SEEN(pool, popped->word, (popped->word & ~WORD_STATE) | IS_KEPT);
    ASSERT_SEEN(pool, dead->word, dead->word & ~WORD_ENTRIES);
    pool_done(pool);
}

/* The mark of check() itself, left behind, is not taken for a timer met. */
static void check_sees_a_mark_that_is_not_its_own(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct record *popped = record_of(&scene, scene.ready[0]);
    struct record *ready = record_of(&scene, scene.ready[50]);
    ASSERT_SEEN(pool, popped->word, popped->word | WORD_SEEN);
    ASSERT_SEEN(pool, ready->word, ready->word | WORD_SEEN);
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
    assert_words_seen(pool, body);
    ASSERT_SEEN(pool, body->deadline, 139);
    ASSERT_SEEN(pool, body->user.word, (uint32_t)scene.direct);
    ASSERT_SEEN(pool, timer->deadline, (uint32_t)scene.direct);
    ASSERT_SEEN(pool, timer->word, timer->word & ~WORD_MOVED);
    ASSERT_SEEN(pool, timer->word, timer->word | WORD_QUEUED);
    ASSERT_SEEN(pool, timer->word, timer->word - WORD_ENTRY);
    pool_done(pool);
}

static void check_sees_a_broken_stack_of_free_places(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    uint32_t top = pool->free_top;
    struct node *node = &record_at(pool, top)->node;
    assert_int_equal(pool->free_count, POPPED);
    assert_int_not_equal(node->below, NO_INDEX);
    ASSERT_SEEN(pool, pool->free_top, NO_INDEX);
    ASSERT_SEEN(pool, pool->free_top, pool->used);
    ASSERT_SEEN(pool, pool->free_top, NO_INDEX - 1);
    ASSERT_SEEN(pool, node->below, NO_INDEX);
    ASSERT_SEEN(pool, node->below, pool->used);
    ASSERT_SEEN(pool, node->below, top); /* for ever round */
    ASSERT_SEEN(pool, node->count, node->count + 1);
    struct node *below = &record_at(pool, node->below)->node;
    assert_int_equal(below->count, NODE_INDICES);
    ASSERT_SEEN(pool, below->count, NODE_INDICES + 1);
    ASSERT_SEEN(pool, below->count, NODE_INDICES - 1);
    pool_done(pool);
}

/* With one more in a node than it has room for, sums that fit are no excuse. */
static void check_sees_a_node_that_is_too_full(void **state)
{
    (void)state;
    struct scene scene;
    set_scene(&scene);
    struct tkw_pool *pool = scene.pool;
    struct node *node = &record_at(pool, pool->free_top)->node;
    struct node *below = &record_at(pool, node->below)->node;
    assert_int_not_equal(node->count, 0);
    node->count--;
    below->count++;
    assert_false(tkw_pool_check(pool));
    node->count++;
    below->count--;
    pool_done(pool);
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
        cmocka_unit_test(check_does_not_look_past_the_last_place),
        cmocka_unit_test(check_sees_marks_of_a_queue_exchanged),
        cmocka_unit_test(check_sees_entries_filed_for_another_slot),
        cmocka_unit_test(check_sees_deadlines_before_their_slot),
        cmocka_unit_test(check_sees_wrong_words_of_armed_timers),
        cmocka_unit_test(check_sees_wrong_words_of_others),
        cmocka_unit_test(check_sees_a_mark_that_is_not_its_own),
        cmocka_unit_test(check_sees_a_timer_and_its_body_part),
        cmocka_unit_test(check_sees_a_broken_stack_of_free_places),
        cmocka_unit_test(check_sees_a_node_that_is_too_full),
        cmocka_unit_test(check_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
