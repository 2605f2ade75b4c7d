/*
 * purgatory/memory_test.c - memory and timers that are not to be had: what
 * cannot be watched is yours as before, what is watched ends without any, and
 * every byte is accounted for.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/purgatory.h"

#include <stdio.h>

/* One call that fails, or all from there on. */
static const uint64_t spells[] = {1, FOR_EVER};

/* Whichever allocation fails: the error is told, and nothing is left. */
static void opening_without_memory_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spells); i++) {
        struct scene scene;
        struct account account;
        struct tkw_purgatory_config config = {.allocator = &account.allocator};
        int error = -ENOMEM;
        scene_open_tens(&scene, 0, TKW_DRIVER_NONE);
        account_init(&account);
        for (uint64_t skip = 0; error != 0; skip++) {
            struct tkw_purgatory *purgatory = NULL;
            account_fail(&account, skip, spells[i]);
            error = tkw_purgatory_open(&purgatory, scene.service, &config);
            account_fail(&account, 0, 0);
            assert_int_equal(error, purgatory == NULL ? -ENOMEM : 0);
            assert_true(error == 0 || skip < 10000);
            assert_true(error != 0 || skip > 0);
            assert_int_equal(account.blocks == 0, error != 0);
            assert_int_equal(tkw_purgatory_close(purgatory, NULL, NULL), 0);
            assert_int_equal(account.blocks, 0);
        }
        account_done(&account);
        scene_close(&scene);
    }
}

/* Texts and a number, some that others have too. */
static int watch_on_five(struct hall *hall, struct request *request,
                         unsigned number)
{
    char text[3][80];
    snprintf(text[0], sizeof text[0], "%u", number);
    snprintf(text[1], sizeof text[1], "%060u", number / 2);
    snprintf(text[2], sizeof text[2], "a text of all, but %u", number % 2);
    struct tkw_key keys[] = {tkw_key_text(text[0]), tkw_key_text(text[1]),
                             tkw_key_text(text[2]), tkw_key_number(number),
                             tkw_key_number(0)};
    return request_watch(hall, request, keys, COUNT_OF(keys));
}

/* So many that all that grows has to. */
#define GROWTH 400

static struct request requests[GROWTH];

static bool is_only_tried(struct request *request)
{
    return count_of(request, COMPLETE) + count_of(request, EXPIRE) +
               count_of(request, HAND_BACK) + count_of(request, RELEASE) ==
           0;
}

/* Each allocation of `account` fails in turn while each request comes in.
   Returns how often one was refused. */
static unsigned watch_all_with_failures(struct hall *hall,
                                        struct account *account, uint64_t spell)
{
    unsigned refused = 0;
    for (unsigned i = 0; i < GROWTH; i++) {
        struct tkw_purgatory_stats before =
            tkw_purgatory_read_stats(hall->purgatory);
        int answer = -ENOMEM;
        request_init(&requests[i], 100);
        for (uint64_t skip = 0; answer != 0; skip++, refused += answer != 0) {
            account_fail(account, skip, spell);
            answer = watch_on_five(hall, &requests[i], i);
            account_fail(account, 0, 0);
            assert_true(is_only_tried(&requests[i]));
            if (answer == 0)
                continue;
            assert_int_equal(answer, -ENOMEM);
            assert_holds(hall, before.watched, before.delayed, before.keys);
        }
        assert_int_equal(tkw_purgatory_read_stats(hall->purgatory).watched,
                         5 * (i + 1));
    }
    return refused;
}

/* Nothing has changed, and the operation can come in as soon as there is
   memory; the purgatory's as well as the service's. */
static void watching_without_memory_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(spells); i++) {
        struct hall hall;
        bool is_of_service = i % 2 != 0;
        hall_open_with(&hall,
                       (struct tkw_service_config){.tick_ns = 10,
                                                   .shards = 1,
                                                   .driver = TKW_DRIVER_NONE},
                       (struct tkw_purgatory_config){.shards = 2});
        unsigned refused = watch_all_with_failures(
            &hall, is_of_service ? &hall.scene.account : &hall.account,
            spells[i / 2]);
        /* A service survives a single refusal. */
        assert_true(refused >= (is_of_service ? spells[i / 2] > 1 : GROWTH));
        assert_ended(&hall, 0, 0, 0);
        hall_go(&hall, 1100);
        assert_holds(&hall, 0, 0, 0);
        assert_ended(&hall, GROWTH, GROWTH, 0);
        for (size_t k = 0; k < GROWTH; k++)
            assert_int_equal(count_of(&requests[k], RELEASE), 1);
        hall_close(&hall);
    }
}

/* A failure among many keys takes it off those it was on already. */
static void a_failure_at_the_last_key_leaves_the_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spells); i++) {
        struct hall hall;
        struct request request, other;
        int answer = -ENOMEM;
        hall_open(&hall, TKW_DRIVER_NONE);
        request_init(&request, 100);
        request_init(&other, 100);
        request_wait(&hall, &other, 20, 30);
        for (uint64_t skip = 0; answer != 0; skip++) {
            account_fail(&hall.account, skip, spells[i]);
            answer = request_watch_numbers(&hall, &request, 0, 60);
            account_fail(&hall.account, 0, 0);
            if (answer != 0)
                assert_holds(&hall, 30, 1, 30);
        }
        assert_holds(&hall, 90, 2, 60);
        request_set_ready(&request);
        assert_int_equal(check_number(&hall, 59), 1);
        assert_holds(&hall, 30, 1, 30);
        hall_close(&hall);
    }
}

/* The service has as many timers as it may: refused, after two tries, and taken
   off its keys; until one of the others has gone. */
static void as_many_timers_as_allowed_are_an_error(void **state)
{
    (void)state;
    struct hall hall;
    struct request first, second, third;
    hall_open_with(&hall,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = 1,
                                               .driver = TKW_DRIVER_NONE,
                                               .timers_max = 2},
                   (struct tkw_purgatory_config){0});
    request_init(&first, 100);
    request_init(&second, 200);
    request_init(&third, 300);
    request_wait(&hall, &first, 1, 2);
    request_wait(&hall, &second, 2, 2);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(request_watch_numbers(&hall, &third, 1, 5), -EAGAIN);
        assert_true(is_only_tried(&third));
        assert_holds(&hall, 4, 2, 3);
    }
    assert_true(complete(&first));
    request_wait(&hall, &third, 1, 5);
    assert_holds(&hall, 7, 2, 5);
    hall_go(&hall, 1300);
    assert_ended(&hall, 3, 2, 0);
    hall_close(&hall);
}

/* No timer is to be had, but the second try completes it: none is needed. */
static void completed_by_its_second_try_it_needs_no_timer(void **state)
{
    (void)state;
    struct hall hall;
    struct request first, second;
    hall_open_with(&hall,
                   (struct tkw_service_config){.tick_ns = 10,
                                               .shards = 1,
                                               .driver = TKW_DRIVER_NONE,
                                               .timers_max = 1},
                   (struct tkw_purgatory_config){0});
    request_init(&first, 100);
    request_init(&second, 100);
    request_wait(&hall, &first, 1, 2);
    second.ready_at = 2;
    assert_int_equal(request_watch_numbers(&hall, &second, 1, 2), 1);
    assert_story(&second, "ttcr");
    assert_holds(&hall, 2, 1, 2);
    hall_close(&hall);
}

/* Checking, completing, cancelling and expiring never ask for memory. */
static void whatever_is_inside_ends_without_memory(void **state)
{
    (void)state;
    struct hall hall;
    hall_open(&hall, TKW_DRIVER_NONE);
    for (unsigned i = 0; i < GROWTH; i++) {
        request_init(&requests[i], 100 + i % 7);
        assert_int_equal(watch_on_five(&hall, &requests[i], i), 0);
    }
    uint64_t calls = hall.account.calls;
    account_fail(&hall.account, 0, FOR_EVER);
    account_fail(&hall.scene.account, 0, FOR_EVER);
    for (unsigned i = 0; i < GROWTH; i += 4) {
        request_set_ready(&requests[i]);
        assert_int_equal(check_number(&hall, i), 1);
        assert_true(complete(&requests[i + 1]));
        assert_int_equal(cancel_number(&hall, i + 2), 1);
    }
    assert_holds(&hall, 5 * GROWTH / 4, GROWTH / 4, 3 * GROWTH / 4 + 2);
    hall_go(&hall, 1200);
    assert_holds(&hall, 0, 0, 0);
    assert_ended(&hall, 3 * GROWTH / 4, GROWTH / 4, GROWTH / 4);
    assert_int_equal(hall.account.calls, calls);
    account_fail(&hall.account, 0, 0);
    account_fail(&hall.scene.account, 0, 0);
    hall_close(&hall);
}

/* The same of what many were watched on, at once. */
static void a_crowd_on_one_key_ends_without_memory(void **state)
{
    (void)state;
    for (int cancels = 0; cancels < 2; cancels++) {
        struct hall hall;
        hall_open(&hall, TKW_DRIVER_NONE);
        for (unsigned i = 0; i < GROWTH; i++) {
            request_init(&requests[i], 100);
            assert_int_equal(watch_on_five(&hall, &requests[i], i), 0);
            request_set_ready(&requests[i]);
        }
        account_fail(&hall.account, 0, FOR_EVER);
        account_fail(&hall.scene.account, 0, FOR_EVER);
        assert_int_equal(
            cancels ? cancel_number(&hall, 0) : check_number(&hall, 0), GROWTH);
        assert_holds(&hall, 0, 0, 0);
        account_fail(&hall.account, 0, 0);
        account_fail(&hall.scene.account, 0, 0);
        hall_close(&hall);
    }
}

static uint64_t bytes_of(struct hall *hall)
{
    struct tkw_purgatory_stats stats =
        tkw_purgatory_read_stats(hall->purgatory);
    assert_int_equal(stats.bytes, account_bytes(&hall->account));
    return stats.bytes;
}

/* What it says that it has allocated is what it was given; and does not grow
   with what has ended. */
static void every_byte_is_counted(void **state)
{
    (void)state;
    struct hall hall;
    uint64_t first_full = 0;
    hall_open(&hall, TKW_DRIVER_NONE);
    for (int round = 0; round < 20; round++) {
        uint64_t empty = bytes_of(&hall);
        for (unsigned i = 0; i < GROWTH; i++) {
            request_init(&requests[i], 100);
            assert_int_equal(watch_on_five(&hall, &requests[i], i), 0);
            bytes_of(&hall);
        }
        uint64_t full = bytes_of(&hall);
        assert_true(full > empty || round > 0);
        if (round == 0)
            first_full = full;
        assert_true(full <= 2 * first_full);
        for (unsigned i = 0; i < GROWTH; i++) {
            assert_true(complete(&requests[i]));
            bytes_of(&hall);
        }
        assert_holds(&hall, 0, 0, 0);
    }
    hall_close(&hall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_without_memory_leaves_nothing),
        cmocka_unit_test(watching_without_memory_changes_nothing),
        cmocka_unit_test(a_failure_at_the_last_key_leaves_the_others),
        cmocka_unit_test(as_many_timers_as_allowed_are_an_error),
        cmocka_unit_test(completed_by_its_second_try_it_needs_no_timer),
        cmocka_unit_test(whatever_is_inside_ends_without_memory),
        cmocka_unit_test(a_crowd_on_one_key_ends_without_memory),
        cmocka_unit_test(every_byte_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
