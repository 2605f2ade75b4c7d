/*
 * purgatory/private_test.c - a purgatory seen from inside: that check() sees
 * what is wrong, and what only it can bring about.
 */
#include "support/purgatory.h"

#include "purgatory/private.h"
#include "support/fault.h"

/* check() returns false for a purgatory with a broken invariant, and
 * find_fault() describes it. */
static void check_sees_what_is_wrong(void **state)
{
    (void)state;
    struct hall hall;
    struct request one, two;
    hall_open_narrow(&hall, TKW_DRIVER_NONE);
    request_init(&one, 100);
    request_init(&two, 100);
    request_wait(&hall, &one, 1, 1);
    request_wait(&hall, &two, 1, 1);
    struct tkw_purgatory *purgatory = hall.purgatory;
    struct purgatory_shard *shard = &purgatory->shards[0];
    struct tkw_watch *first = one.operation.watches;
    struct tkw_watch *second = two.operation.watches;
    assert_true(tkw_purgatory_check(purgatory));

    ASSERT_SEEN_BY(purgatory, purgatory, shard->watched, 3,
                   "number of watches of a shard is 3, expected 2");
    ASSERT_SEEN_BY(
        purgatory, purgatory, shard->delayed, 3,
        "number of delayed operations of a shard is 3, expected at most 2");
    ASSERT_SEEN_BY(purgatory, purgatory, shard->table.count, 2,
                   "number of keys of the table is 2, expected 1");
    /* It may be more than are delayed, but not less. */
    ASSERT_SEEN_BY(
        purgatory, purgatory, shard->live, 1,
        "number of delayed operations of a shard is 2, expected at most 1");

    ASSERT_SEEN_BY(purgatory, purgatory, second->prev, NULL,
                   "a link between two watches of a key is broken");
    ASSERT_SEEN_BY(purgatory, purgatory, second->hash, second->hash + 1,
                   "hash of a watch's key is %" PRIu64 ", expected %" PRIu64,
                   first->hash + 1, first->hash);
    ASSERT_SEEN_BY(purgatory, purgatory, first->next, NULL,
                   "the list of a key does not end at its last watch");
    ASSERT_SEEN_BY(purgatory, purgatory, two.operation.word, 0,
                   "word of a watched operation is 0, expected at least 128");

    struct table_slot *slot =
        table_find(&shard->table, tkw_key_number(1), first->hash);
    ASSERT_SEEN_BY(purgatory, purgatory, slot->value[LIST_FIRST], 0,
                   "the list of a key does not end at its last watch");
    hall_close(&hall);
}

/* All shards are looked at, also behind one that is not sound. */
static void check_goes_through_all_shards(void **state)
{
    (void)state;
    struct hall hall;
    hall_open(&hall, TKW_DRIVER_NONE);
    for (uint32_t i = 0; i < hall.purgatory->shard_count; i++) {
        hall.purgatory->shards[i].watched++;
        ASSERT_BROKEN(purgatory, hall.purgatory,
                      "number of watches of a shard is 1, expected 0");
        hall.purgatory->shards[i].watched--;
    }
    assert_true(tkw_purgatory_check(hall.purgatory));
    hall_close(&hall);
}

/* So many keys that their places cannot be counted are too many for memory.
 * They are all one key here, found sound before: its bytes, for no array could
 * be that long. */
static void more_keys_than_memory_are_refused(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    struct tkw_key key = tkw_key_number(1);
    request.operation.purgatory = hall.purgatory;
    assert_int_equal(tkw__lists_enter(&request.operation, &key, SIZE_MAX / 8),
                     -ENOMEM);
    hall_close(&hall);
}

/* Close says so first and then looks into the lists; who comes to a list later
 * is refused there. */
static void a_closing_purgatory_refuses_at_its_lists(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    hall.purgatory->is_closing = true;
    struct tkw_key key = tkw_key_number(1);
    request.operation.purgatory = hall.purgatory;
    assert_int_equal(tkw__lists_enter(&request.operation, &key, 1), -ESHUTDOWN);
    assert_holds(&hall, 0, 0, 0);
    hall.purgatory->is_closing = false;
    request_wait(&hall, &request, 1, 1);
    hall.purgatory->is_closing = true;
    struct request late;
    request_init(&late, 100);
    late.operation.purgatory = hall.purgatory;
    assert_int_equal(tkw__lists_enter(&late.operation, &key, 1), -ESHUTDOWN);
    hall.purgatory->is_closing = false;
    assert_holds(&hall, 1, 1, 1);
    hall_close(&hall);
}

/* A key too long is refused, its bytes unread. */
static void a_key_too_long_is_refused_unread(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    struct tkw_key keys[2] = {tkw_key_number(1)};
    keys[1] = tkw_key_bytes("x", (size_t)TABLE_BYTES_MAX);
    assert_int_equal(request_watch(&hall, &request, keys, 2), -EINVAL);
    assert_int_equal(tkw_purgatory_notify(hall.purgatory, keys[1]), 0);
    assert_int_equal(tkw_purgatory_cancel(hall.purgatory, keys[1], NULL, NULL),
                     0);
    assert_story(&request, "");
    hall_close(&hall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_sees_what_is_wrong),
        cmocka_unit_test(check_goes_through_all_shards),
        cmocka_unit_test(more_keys_than_memory_are_refused),
        cmocka_unit_test(a_closing_purgatory_refuses_at_its_lists),
        cmocka_unit_test(a_key_too_long_is_refused_unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
