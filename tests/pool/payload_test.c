/*
 * pool/payload_test.c - a pool with payload: the caller takes records, arms
 * them, takes them when they are due, and frees them.
 */
#include "payload_scene.h"

#include <errno.h>

enum { PAYLOAD_WORDS = PAYLOAD_BYTES / sizeof(uint64_t) };

static void a_taken_timer_is_armed_taken_when_due_and_freed(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t index = take(&world);
    assert_armed(&world, 0, 0);
    assert_int_equal(tkw__pool_arm_taken(world.pool, index, 100), 0);
    assert_armed(&world, 1, 0);
    tkw_pool_advance(world.pool, 99);
    assert_takes_none(&world);
    tkw_pool_advance(world.pool, 100);
    assert_takes(&world, index, 100);
    assert_armed(&world, 0, 0);
    assert_int_equal(world.pool->free_count, 0);
    tkw__pool_free(world.pool, index, false);
    close_empty(&world);
}

static void a_timer_taken_when_due_can_be_armed_again(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t index = arm(&world, 1);
    payload_of(&world, index)[1] = 77;
    for (tkw_tick now = 1; now < 100; now++) {
        tkw_pool_advance(world.pool, now);
        assert_takes(&world, index, now);
        assert_int_equal(tkw__pool_arm_taken(world.pool, index, now + 1), 0);
        assert_armed(&world, 1, 0);
    }
    assert_int_equal(world.pool->used, 1);
    assert_int_equal(payload_of(&world, index)[1], 77);
    tkw__pool_free(world.pool, index, false); /* it is armed */
    assert_int_equal(tkw_pool_read_stats(world.pool).work.cancelled, 1);
    tkw_pool_advance(world.pool, 1000);
    close_empty(&world);
}

/* A timer that pops in batches, in the order of arming. */
static void take_due_returns_at_most_count_timers_in_order(void **state)
{
    (void)state;
    enum { COUNT = 10 };
    struct world world;
    struct taken_timer taken[COUNT];
    uint32_t armed[COUNT];
    open_world(&world, NULL);
    for (size_t i = 0; i < COUNT; i++)
        armed[i] = arm(&world, 5);
    tkw_pool_advance(world.pool, 7);
    assert_int_equal(tkw__pool_take_due(world.pool, taken, 0), 0);
    assert_int_equal(tkw__pool_take_due(world.pool, taken, 4), 4);
    assert_int_equal(tkw__pool_take_due(world.pool, taken + 4, COUNT), 6);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(taken[i].index, armed[i]);
        assert_int_equal(taken[i].deadline, 5);
        tkw__pool_free(world.pool, armed[i], false);
    }
    close_empty(&world);
}

static void
take_due_keeps_back_timers_armed_since_the_last_advance(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    tkw_pool_advance(world.pool, 10);
    uint32_t index = arm(&world, 3);
    assert_takes_none(&world);
    tkw_pool_advance(world.pool, 10);
    assert_takes(&world, index, 3);
    tkw__pool_free(world.pool, index, false);
    close_empty(&world);
}

static void
payload_is_zero_for_an_index_never_taken_and_kept_later(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    struct world world;
    open_world(&world, NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t index;
        assert_int_equal(tkw__pool_take(world.pool, 0, &index), 0);
        assert_int_equal(index, i);
        for (size_t j = 0; j < PAYLOAD_WORDS; j++) {
            assert_int_equal(payload_of(&world, index)[j], 0);
            payload_of(&world, index)[j] = (index + 1) << 8 | j;
        }
    }
    for (uint32_t i = 0; i < COUNT; i++)
        tkw__pool_free(world.pool, i, false);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t index;
        assert_int_equal(tkw__pool_take(world.pool, 0, &index), 0);
        assert_in_range(index, 0, COUNT - 1);
        for (size_t j = 0; j < PAYLOAD_WORDS; j++)
            assert_int_equal(payload_of(&world, index)[j],
                             (index + 1) << 8 | j);
    }
    assert_int_equal(world.pool->used, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        tkw__pool_free(world.pool, i, false);
    close_empty(&world);
}

/* The index of a body was never taken by the caller. */
static void payload_is_zero_for_an_index_that_was_only_a_body(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t index = arm(&world, 100), next;
    payload_of(&world, index)[3] = 5;
    move_to_body(&world, index, 100);
    assert_int_equal(world.pool->used, 2);
    tkw_pool_advance(world.pool, 100);
    assert_takes(&world, index, 100);
    assert_int_equal(world.pool->free_count, 1);
    assert_int_equal(tkw__pool_take(world.pool, 0, &next), 0);
    assert_int_equal(next, 1);
    for (size_t j = 0; j < PAYLOAD_WORDS; j++)
        assert_int_equal(payload_of(&world, next)[j], 0);
    assert_int_equal(payload_of(&world, index)[3], 5);
    tkw__pool_free(world.pool, index, false);
    tkw__pool_free(world.pool, next, false);
    close_empty(&world);
}

static void every_record_begins_at_a_cache_line_of_its_segment(void **state)
{
    (void)state;
    enum { COUNT = SEGMENT_RECORDS + 3 };
    struct world world;
    open_world(&world, NULL);
    char *const *segments = tkw__pool_segments(world.pool);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t index = take(&world);
        char *segment = segments[index / SEGMENT_RECORDS];
        char *cell = segment + index % SEGMENT_RECORDS * CELL_BYTES;
        assert_int_equal(index, i);
        assert_ptr_equal(cell, record_at(world.pool, index));
        assert_int_equal((uintptr_t)cell % CELL_BYTES, 0);
    }
    assert_int_equal(world.pool->segments_max,
                     UINT64_C(1) << PAYLOAD_INDEX_BITS >> TKW_SEGMENT_BITS);
    for (uint32_t i = 0; i < COUNT; i++)
        tkw__pool_free(world.pool, i, false);
    close_empty(&world);
}

static void an_index_is_reused_only_after_its_last_entry_is_gone(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    for (unsigned is_given_up = 0; is_given_up < 2; is_given_up++) {
        tkw_tick now = tkw_pool_now(world.pool);
        uint32_t index = arm(&world, now + 100);
        tkw_handle handle = handle_of(&world, index);
        rearm(&world, index, now + 50);
        assert_int_equal(entries_of(&world, index), 2);
        if (is_given_up)
            give_up(&world, index);
        tkw_pool_advance(world.pool, now + 50);
        if (is_given_up) {
            assert_takes_none(&world);
            assert_pool_state(world.pool, handle, TKW_CANCELLED);
        } else {
            assert_takes(&world, index, now + 50);
            tkw__pool_free(world.pool, index, false);
        }
        assert_int_equal(entries_of(&world, index), 1);
        uint32_t other = take(&world);
        assert_int_not_equal(other, index);
        tkw_pool_advance(world.pool, now + 100);
        assert_int_equal(entries_of(&world, index), 0);
        assert_int_equal(take(&world), index);
        assert_int_equal(handle_of(&world, index), handle + GENERATION_ONE);
        assert_pool_state(world.pool, handle, TKW_STALE);
        tkw__pool_free(world.pool, other, false);
        tkw__pool_free(world.pool, index, false);
    }
    close_empty(&world);
}

/* A pool of one segment, all of whose indices are taken, and armed if
 * `deadline` is not 0. */
static void open_full(struct world *world, tkw_tick deadline)
{
    open_world(world, NULL);
    world->pool->segments_max = 1;
    for (uint32_t i = 0; i < SEGMENT_RECORDS; i++) {
        if (deadline != 0)
            arm(world, deadline);
        else
            take(world);
    }
}

static void take_returns_EAGAIN_while_no_index_is_left(void **state)
{
    (void)state;
    struct world world;
    uint32_t index = 7;
    open_full(&world, 0);
    assert_int_equal(tkw__pool_take(world.pool, 0, &index), -EAGAIN);
    assert_int_equal(index, 7);
    tkw__pool_free(world.pool, 1234, false);
    assert_int_equal(take(&world), 1234);
    assert_int_equal(tkw__pool_take(world.pool, 0, &index), -EAGAIN);
    for (uint32_t i = 0; i < SEGMENT_RECORDS; i++)
        tkw__pool_free(world.pool, i, false);
    close_empty(&world);
}

static void take_reuses_the_index_of_a_timer_given_up(void **state)
{
    (void)state;
    struct world world;
    uint32_t index;
    open_full(&world, FAR);
    assert_int_equal(tkw__pool_take(world.pool, 0, &index), -EAGAIN);
    give_up(&world, 20000);
    size_t refused = 0;
    while (tkw__pool_take(world.pool, 0, &index) != 0)
        assert_in_range(++refused, 1, SEGMENT_RECORDS / CHUNK_ENTRIES);
    assert_int_equal(index, 20000);
    assert_armed(&world, SEGMENT_RECORDS - 1, 0);
    for (uint32_t i = 0; i < SEGMENT_RECORDS; i++)
        tkw__pool_free(world.pool, i, false);
    tkw_pool_advance(world.pool, FAR);
    close_empty(&world);
}

static void take_returns_ENOMEM_while_the_allocator_refuses(void **state)
{
    (void)state;
    struct world world;
    uint32_t index;
    open_world(&world, NULL);
    ledger_fail(&world.ledger, 0, FOR_EVER);
    for (uint32_t i = 0; i < SEGMENT_RECORDS; i++)
        take(&world);
    assert_int_equal(tkw__pool_take(world.pool, 0, &index), -ENOMEM);
    assert_armed(&world, 0, 0);
    ledger_relent(&world.ledger);
    assert_int_equal(take(&world), SEGMENT_RECORDS);
    for (uint32_t i = 0; i <= SEGMENT_RECORDS; i++)
        tkw__pool_free(world.pool, i, false);
    close_empty(&world);
}

/* A caller that reserves a record finds it, however many others are taken. */
static void take_leaves_records_that_are_kept_back(void **state)
{
    (void)state;
    struct world world;
    uint32_t index;
    open_world(&world, NULL);
    ledger_fail(&world.ledger, 0, FOR_EVER);
    for (uint32_t i = 0; i < SEGMENT_RECORDS - 2; i++)
        take(&world);
    assert_int_equal(tkw__pool_take(world.pool, 2, &index), -ENOMEM);
    assert_int_equal(tkw__pool_take(world.pool, 1, &index), 0);
    assert_int_equal(tkw__pool_take(world.pool, 1, &index), -ENOMEM);
    assert_int_equal(tkw__pool_take(world.pool, 0, &index), 0);
    for (uint32_t i = 0; i < SEGMENT_RECORDS; i++)
        tkw__pool_free(world.pool, i, false);
    close_empty(&world);
}

static void open_returns_ENOMEM_and_releases_all_memory(void **state)
{
    (void)state;
    struct ledger ledger;
    struct tkw_pool *pool = NULL;
    uint64_t given_up = 0;
    ledger_init(&ledger);
    struct tkw_pool_config config = {.allocator = &ledger.allocator};
    uint64_t skip = 0;
    for (;; skip++) {
        ledger_fail(&ledger, skip, 1);
        int error = tkw__pool_open_payload(&pool, &config, &given_up);
        if (error == 0)
            break;
        assert_int_equal(error, -ENOMEM);
        assert_null(pool);
        assert_int_equal(ledger.blocks, 0);
    }
    assert_in_range(skip, 3, 100);
    ledger_done(&ledger, pool);
}

static void
arming_a_taken_timer_returns_ENOMEM_and_leaves_it_taken(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    ledger_fail(&world.ledger, 0, FOR_EVER);
    uint32_t index = take(&world), armed = 0;
    while (tkw__pool_arm_taken(world.pool, index, FAR) == 0) {
        index = take(&world);
        armed++;
    }
    assert_int_equal(tkw__pool_arm_taken(world.pool, index, FAR), -ENOMEM);
    assert_pool_state(world.pool, handle_of(&world, index), TKW_KEPT);
    assert_armed(&world, armed, 0);
    ledger_relent(&world.ledger);
    assert_int_equal(tkw__pool_arm_taken(world.pool, index, FAR), 0);
    for (uint32_t i = 0; i <= armed; i++)
        tkw__pool_free(world.pool, i, false);
    tkw_pool_advance(world.pool, FAR);
    close_empty(&world);
}

/* All records are taken.  Arming them needs none, so an arming need not ask for
 * memory each time. */
static void
arming_prepares_for_many_timers_while_no_record_is_left(void **state)
{
    (void)state;
    struct world world;
    open_full(&world, 0);
    assert_int_equal(tkw__pool_arm_taken(world.pool, 0, TKW_NEVER), 0);
    assert_true(world.pool->arms_left > 0);
    assert_armed(&world, 1, 0);
    ledger_done(&world.ledger, world.pool);
}

static void freeing_ends_armed_ready_and_taken_timers(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t ready = arm(&world, 1), taken = take(&world);
    tkw_pool_advance(world.pool, 5);
    uint32_t fresh = arm(&world, 2), filed = arm(&world, 50);
    uint32_t never = arm(&world, TKW_NEVER);
    assert_int_equal(tkw__pool_deadline(world.pool, filed), 50);
    tkw__pool_free(world.pool, ready, false);
    assert_armed(&world, 3, 0);
    tkw__pool_free(world.pool, fresh, false);
    tkw__pool_free(world.pool, filed, false);
    tkw__pool_free(world.pool, taken, false);
    assert_armed(&world, 1, 0);
    tkw_pool_advance(world.pool, 60);
    assert_takes_none(&world);
    tkw__pool_free(world.pool, never, false);
    assert_armed(&world, 0, 0);
    assert_int_equal(tkw_pool_read_stats(world.pool).entries, 1);
    ledger_done(&world.ledger, world.pool);
}

/* A timer due at 10 whose tags are used up.  Its other entries are at FAR. */
static uint32_t arm_without_tags(struct world *world)
{
    uint32_t index = arm(world, FAR);
    for (uint64_t i = 1; i < TAG_MAX; i++)
        rearm(world, index, FAR);
    assert_false(tkw__pool_needs_record(world->pool, index));
    rearm(world, index, 10);
    assert_true(tkw__pool_needs_record(world->pool, index));
    return index;
}

static void a_timer_needs_a_record_when_its_tags_are_used_up(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t index = take(&world);
    assert_false(tkw__pool_needs_record(world.pool, index));
    tkw__pool_free(world.pool, index, false);
    index = arm_without_tags(&world);
    tkw_pool_advance(world.pool, 10);
    assert_takes(&world, index, 10);
    assert_true(tkw__pool_needs_record(world.pool, index));
    assert_int_equal(tkw__pool_arm_taken(world.pool, index, 20), 0);
    assert_int_equal(world.pool->used, 2);
    assert_false(tkw__pool_needs_record(world.pool, index));
    assert_int_equal(tkw__pool_deadline(world.pool, index), 20);
    assert_int_equal(
        tkw_pool_postpone(world.pool, handle_of(&world, index), 30), 1);
    assert_int_equal(tkw__pool_deadline(world.pool, index), 30);
    assert_armed(&world, 1, 0);
    tkw_pool_advance(world.pool, 30);
    assert_takes(&world, index, 30);
    assert_true(tkw__pool_needs_record(world.pool, index));
    tkw_pool_advance(world.pool, FAR);
    assert_false(tkw__pool_needs_record(world.pool, index));
    assert_int_equal(tkw__pool_arm_taken(world.pool, index, FAR), 0);
    assert_int_equal(tkw__pool_deadline(world.pool, index), FAR);
    tkw__pool_free(world.pool, index, false);
    tkw_pool_advance(world.pool, FAR + 1);
    assert_takes_none(&world);
    assert_int_equal(world.pool->used, 2);
    close_empty(&world);
}

static void arming_without_tags_and_memory_leaves_the_timer_taken(void **state)
{
    (void)state;
    struct world world;
    open_world(&world, NULL);
    uint32_t index = arm_without_tags(&world);
    world.pool->segments_max = 1;
    while (world.pool->used < world.pool->room)
        take(&world);
    tkw_pool_advance(world.pool, 10);
    assert_takes(&world, index, 10);
    size_t refused = 0;
    while (tkw__pool_arm_taken(world.pool, index, FAR) == -ENOMEM &&
           refused++ < 3) {
        assert_true(tkw__pool_needs_record(world.pool, index));
        assert_pool_state(world.pool, handle_of(&world, index), TKW_KEPT);
        assert_armed(&world, 0, 0);
    }
    assert_int_equal(refused, 4);
    tkw__pool_free(world.pool, 1, false);
    assert_int_equal(tkw__pool_arm_taken(world.pool, index, 20), 0);
    assert_int_equal(record_at(world.pool, index)->deadline, 1);
    assert_armed(&world, 1, 0);
    ledger_done(&world.ledger, world.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taken_timer_is_armed_taken_when_due_and_freed),
        cmocka_unit_test(a_timer_taken_when_due_can_be_armed_again),
        cmocka_unit_test(take_due_returns_at_most_count_timers_in_order),
        cmocka_unit_test(
            take_due_keeps_back_timers_armed_since_the_last_advance),
        cmocka_unit_test(
            payload_is_zero_for_an_index_never_taken_and_kept_later),
        cmocka_unit_test(payload_is_zero_for_an_index_that_was_only_a_body),
        cmocka_unit_test(every_record_begins_at_a_cache_line_of_its_segment),
        cmocka_unit_test(an_index_is_reused_only_after_its_last_entry_is_gone),
        cmocka_unit_test(take_returns_EAGAIN_while_no_index_is_left),
        cmocka_unit_test(take_reuses_the_index_of_a_timer_given_up),
        cmocka_unit_test(take_returns_ENOMEM_while_the_allocator_refuses),
        cmocka_unit_test(take_leaves_records_that_are_kept_back),
        cmocka_unit_test(open_returns_ENOMEM_and_releases_all_memory),
        cmocka_unit_test(
            arming_a_taken_timer_returns_ENOMEM_and_leaves_it_taken),
        cmocka_unit_test(
            arming_prepares_for_many_timers_while_no_record_is_left),
        cmocka_unit_test(freeing_ends_armed_ready_and_taken_timers),
        cmocka_unit_test(a_timer_needs_a_record_when_its_tags_are_used_up),
        cmocka_unit_test(arming_without_tags_and_memory_leaves_the_timer_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
