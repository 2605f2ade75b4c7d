/*
 * purgatory/keys_test.c - what operations are watched on: numbers and bytes,
 * one or a thousand for an operation, one or ten thousand operations for a key;
 * and how a purgatory is configured.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/purgatory.h"

#include <stdio.h>

/* The number 0, no bytes, a byte 0 and the bytes of the number are four keys.
   So are texts that begin alike, and bytes that differ behind a 0. */
static void no_two_of_these_are_the_same_key(void **state)
{
    (void)state;
    const uint64_t zero = 0, number = 0x6161616161616161;
    const struct tkw_key keys[] = {
        tkw_key_number(0),
        tkw_key_bytes(NULL, 0),
        tkw_key_bytes("", 1),
        tkw_key_bytes(&zero, 4),
        tkw_key_bytes(&zero, sizeof zero),
        tkw_key_number(number),
        tkw_key_bytes(&number, sizeof number),
        tkw_key_text("aaaaaaaaa"),
        tkw_key_number(8),
        tkw_key_number(UINT64_MAX),
        tkw_key_text("partition-1"),
        tkw_key_text("partition-10"),
        tkw_key_text("Partition-1"),
        tkw_key_bytes("a\0b", 3),
        tkw_key_bytes("a\0c", 3),
        tkw_key_bytes("a\0b", 2),
    };
    static struct request requests[COUNT_OF(keys)];
    struct hall hall;
    hall_open(&hall, TKW_DRIVER_NONE);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        request_init(&requests[i], 100);
        assert_int_equal(request_watch(&hall, &requests[i], &keys[i], 1), 0);
        request_set_ready(&requests[i]);
    }
    assert_holds(&hall, COUNT_OF(keys), COUNT_OF(keys), COUNT_OF(keys));
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        assert_int_equal(tkw_purgatory_notify(hall.purgatory, keys[i]), 1);
        assert_story(&requests[i], "tttcr");
        assert_int_equal(tkw_purgatory_notify(hall.purgatory, keys[i]), 0);
    }
    assert_holds(&hall, 0, 0, 0);
    hall_close(&hall);
}

/* Whatever the pointer, no bytes are no bytes. */
static void no_bytes_are_one_key(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    struct tkw_key key = tkw_key_bytes(state, 0);
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    assert_int_equal(request_watch(&hall, &request, &key, 1), 0);
    request_set_ready(&request);
    assert_int_equal(
        tkw_purgatory_notify(hall.purgatory, tkw_key_bytes(NULL, 0)), 1);
    hall_close(&hall);
}

/* The purgatory has bytes of its own, of any length, and gives them back. */
static void bytes_are_copied(void **state)
{
    (void)state;
    const size_t lengths[] = {1, 7, 8, 9, 15, 16, 17, 63, 64, 1000, 1 << 20};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        struct hall hall;
        struct request request;
        char *bytes = malloc(lengths[i]), *same = malloc(lengths[i]);
        assert_non_null(bytes);
        assert_non_null(same);
        memset(bytes, 'k', lengths[i]);
        memset(same, 'k', lengths[i]);
        struct tkw_key key = tkw_key_bytes(bytes, lengths[i]);
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        assert_int_equal(request_watch(&hall, &request, &key, 1), 0);
        request_set_ready(&request);
        bytes[lengths[i] - 1] = 'K';
        assert_int_equal(tkw_purgatory_notify(hall.purgatory, key), 0);
        free(bytes);
        assert_holds(&hall, 1, 1, 1);
        key = tkw_key_bytes(same, lengths[i]);
        assert_int_equal(tkw_purgatory_notify(hall.purgatory, key), 1);
        assert_holds(&hall, 0, 0, 0);
        free(same);
        hall_close(&hall);
    }
}

/* 2^31 bytes and more are refused, and not looked at. */
static void too_many_bytes_are_an_error(void **state)
{
    (void)state;
    const uint64_t counts[] = {UINT64_C(1) << 31, UINT64_C(1) << 32,
                               (UINT64_C(1) << 32) + 1, UINT64_MAX};
    for (size_t i = 0; i < 3 * COUNT_OF(counts); i++) {
        struct hall hall;
        struct request request;
        struct tkw_key keys[3] = {tkw_key_number(1), tkw_key_text("two"),
                                  tkw_key_number(3)};
        keys[i % 3] = (struct tkw_key){"x", counts[i / 3]};
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        assert_int_equal(request_watch(&hall, &request, keys, 3), -EINVAL);
        assert_holds(&hall, 0, 0, 0);
        keys[i % 3] = tkw_key_text("x");
        assert_int_equal(request_watch(&hall, &request, keys, 3), 0);
        assert_holds(&hall, 3, 1, 3);
        hall_close(&hall);
    }
}

/* A key that is named twice is watched twice, and completed once. */
static void named_twice_it_is_watched_twice(void **state)
{
    (void)state;
    struct hall hall;
    struct request request, other;
    struct tkw_key keys[] = {tkw_key_number(1), tkw_key_number(1),
                             tkw_key_number(2), tkw_key_number(1)};
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    request_init(&other, 100);
    assert_int_equal(request_watch(&hall, &request, keys, 4), 0);
    request_wait(&hall, &other, 1, 1);
    assert_holds(&hall, 5, 2, 2);
    assert_int_equal(check_number(&hall, 1), 0);
    request_set_ready(&request);
    request_set_ready(&other);
    assert_int_equal(check_number(&hall, 1), 2);
    assert_int_equal(count_of(&request, COMPLETE), 1);
    assert_int_equal(count_of(&request, RELEASE), 1);
    assert_int_equal(count_of(&other, RELEASE), 1);
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, 2, 0, 0);
    hall_close(&hall);
}

/* A thousand keys: it leaves all of them, however it ends. */
static void an_operation_may_have_a_thousand_keys(void **state)
{
    (void)state;
    const enum moment ends[] = {COMPLETE, EXPIRE, HAND_BACK};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct hall hall;
        struct request request, other;
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&other, 10000);
        request_wait(&hall, &other, 500, 2);
        request_init(&request, 100);
        request_wait(&hall, &request, 0, 1000);
        assert_holds(&hall, 1002, 2, 1000);
        bring_about(&hall, &request, 777, ends[i]);
        assert_int_equal(count_of(&request, RELEASE), 1);
        assert_holds(&hall, 2, 1, 2);
        for (uint64_t key = 0; key < 1000; key++)
            assert_int_equal(check_number(&hall, key), 0);
        assert_int_equal(count_of(&request, RELEASE), 1);
        hall_close(&hall);
    }
}

#define MANY 10000

static struct request crowd[MANY];

static void crowd_enter(struct hall *hall, bool share_a_key)
{
    for (size_t i = 0; i < MANY; i++) {
        request_init(&crowd[i], 1000 + i % 100);
        request_wait(hall, &crowd[i], share_a_key ? 0 : i, 1);
    }
}

/* Ten thousand on one key: those in the middle leave as easily as the first,
   and a check completes the rest. */
static void a_key_may_have_ten_thousand_operations(void **state)
{
    (void)state;
    struct hall hall;
    hall_open(&hall, TKW_DRIVER_NONE);
    crowd_enter(&hall, true);
    assert_holds(&hall, MANY, MANY, 1);
    for (size_t i = 0; i < MANY / 2; i++)
        assert_true(complete(&crowd[(i * 7919) % MANY]));
    assert_holds(&hall, MANY / 2, MANY / 2, 1);
    size_t left = MANY / 2;
    for (size_t i = 0; i < MANY; i += 3) {
        left -= count_of(&crowd[i], COMPLETE) == 0;
        request_set_ready(&crowd[i]);
    }
    assert_int_equal(check_number(&hall, 0), MANY / 2 - left);
    assert_holds(&hall, left, left, 1);
    assert_int_equal(cancel_number(&hall, 0), left);
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, MANY - left, 0, left);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(count_of(&crowd[i], RELEASE), 1);
    hall_close(&hall);
}

/* Ten thousand keys with one each: no key stays without operations. */
static void keys_go_with_their_last_operation(void **state)
{
    (void)state;
    struct hall hall;
    hall_open(&hall, TKW_DRIVER_NONE);
    crowd_enter(&hall, false);
    assert_holds(&hall, MANY, MANY, MANY);
    for (size_t i = 0; i < MANY; i += 2) {
        request_set_ready(&crowd[i]);
        assert_int_equal(check_number(&hall, i), 1);
    }
    assert_holds(&hall, MANY / 2, MANY / 2, MANY / 2);
    for (size_t i = 1; i < MANY; i += 4)
        assert_int_equal(cancel_number(&hall, i), 1);
    assert_holds(&hall, MANY / 4, MANY / 4, MANY / 4);
    hall_go(&hall, 2100);
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, MANY * 3 / 4, MANY / 4, MANY / 4);
    hall_close(&hall);
}

/* Closing ends all of them, though keys go while it looks for the next. */
static void close_ends_a_crowd(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct hall hall;
        bool completes = i % 2 == 0;
        hall_open(&hall, TKW_DRIVER_NONE);
        crowd_enter(&hall, i / 2 == 0);
        assert_int_equal(tkw_purgatory_close(hall.purgatory,
                                             completes ? NULL : hand_back,
                                             &hall),
                         0);
        hall.purgatory = NULL;
        for (size_t k = 0; k < MANY; k++)
            assert_story(&crowd[k], completes ? "ttcr" : "tthr");
        hall_close(&hall);
    }
}

/* Keys that were never seen before, again and again: what is gone takes no
   memory. */
static void keys_that_are_gone_take_no_memory(void **state)
{
    (void)state;
    struct hall hall;
    struct request request;
    uint64_t early = 0;
    hall_open(&hall, TKW_DRIVER_NONE);
    request_init(&request, 100);
    for (uint64_t i = 0; i < 100000; i++) {
        char text[2][40];
        snprintf(text[0], sizeof text[0], "a key of its own, %llu",
                 (unsigned long long)i);
        snprintf(text[1], sizeof text[1], "%llu", (unsigned long long)i);
        struct tkw_key keys[] = {tkw_key_text(text[0]), tkw_key_text(text[1]),
                                 tkw_key_number(i)};
        assert_int_equal(request_watch(&hall, &request, keys, 3), 0);
        assert_true(complete(&request));
        if (i == 1000)
            early = account_bytes(&hall.account);
    }
    assert_holds(&hall, 0, 0, 0);
    assert_true(account_bytes(&hall.account) <= 2 * early);
    hall_close(&hall);
}

/* One, some, odd numbers of them, and as many as there may be. */
static void any_number_of_shards_will_do(void **state)
{
    (void)state;
    const uint32_t shards[] = {0, 1, 2, 3, 7, 16, 100, 1000, 1023, 1024};
    for (size_t i = 0; i < COUNT_OF(shards); i++) {
        struct hall hall;
        static struct request requests[100];
        hall_open_with(&hall,
                       (struct tkw_service_config){.driver = TKW_DRIVER_NONE},
                       (struct tkw_purgatory_config){.shards = shards[i],
                                                     .secret = {i, 17}});
        for (size_t k = 0; k < COUNT_OF(requests); k++) {
            request_init(&requests[k], TKW_SECOND);
            request_wait(&hall, &requests[k], k, 10);
            request_set_ready(&requests[k]);
        }
        assert_holds(&hall, 1000, 100, 109);
        assert_int_equal(check_number(&hall, 9), 10);
        assert_int_equal(cancel_number(&hall, 108), 1);
        assert_holds(&hall, 890, 89, 98);
        for (uint64_t key = 10; key < 109; key++)
            check_number(&hall, key);
        assert_holds(&hall, 0, 0, 0);
        hall_close(&hall);
    }
}

/* What is wrong is told in words, and open refuses it. */
static void a_faulty_configuration_is_refused(void **state)
{
    (void)state;
    struct scene scene;
    const struct tkw_allocator half[] = {{.allocate = no_memory},
                                         {.release = no_release}};
    const struct tkw_purgatory_config faulty[] = {
        {.shards = 1025},
        {.shards = UINT32_MAX},
        {.executor = (enum tkw_executor)(TKW_BY_SUBMIT + 1)},
        {.allocator = &half[0]},
        {.allocator = &half[1]},
        {.reserved = {1}},
        {.reserved = {0, 0, 0, 1}},
    };
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (size_t i = 0; i < COUNT_OF(faulty); i++) {
        struct tkw_purgatory *purgatory = (struct tkw_purgatory *)&scene;
        const char *fault = tkw_purgatory_config_fault(&faulty[i]);
        assert_non_null(fault);
        assert_true(strlen(fault) > 0);
        assert_int_equal(
            tkw_purgatory_open(&purgatory, scene.service, &faulty[i]), -EINVAL);
        assert_ptr_equal(purgatory, &scene);
    }
    scene_close(&scene);
}

/* {0}, NULL, and every field by itself. */
static void a_good_configuration_has_no_fault(void **state)
{
    (void)state;
    struct scene scene;
    const struct tkw_purgatory_config good[] = {
        {0},
        {.shards = 1024},
        {.executor = TKW_ON_DRIVER},
        {.secret = {1, 2}},
        {.secret = {0, 1}},
    };
    scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
    for (size_t i = 0; i <= COUNT_OF(good); i++) {
        struct tkw_purgatory *purgatory = NULL;
        bool is_null = i == COUNT_OF(good);
        if (!is_null)
            assert_null(tkw_purgatory_config_fault(&good[i]));
        assert_int_equal(tkw_purgatory_open(&purgatory, scene.service,
                                            is_null ? NULL : &good[i]),
                         0);
        assert_non_null(purgatory);
        assert_true(tkw_purgatory_check(purgatory));
        assert_true(tkw_purgatory_read_stats(purgatory).bytes > 0);
        assert_int_equal(tkw_purgatory_close(purgatory, NULL, NULL), 0);
    }
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_of_these_are_the_same_key),
        cmocka_unit_test(no_bytes_are_one_key),
        cmocka_unit_test(bytes_are_copied),
        cmocka_unit_test(too_many_bytes_are_an_error),
        cmocka_unit_test(named_twice_it_is_watched_twice),
        cmocka_unit_test(an_operation_may_have_a_thousand_keys),
        cmocka_unit_test(a_key_may_have_ten_thousand_operations),
        cmocka_unit_test(keys_go_with_their_last_operation),
        cmocka_unit_test(close_ends_a_crowd),
        cmocka_unit_test(keys_that_are_gone_take_no_memory),
        cmocka_unit_test(any_number_of_shards_will_do),
        cmocka_unit_test(a_faulty_configuration_is_refused),
        cmocka_unit_test(a_good_configuration_has_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
